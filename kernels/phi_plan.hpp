// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/mttkrp_plan.hpp>
#include <sporades/kernels/phi.hpp>

namespace sporades {

struct PhiOptions {
  PhiStrategy strategy = PhiStrategy::automatic;
  int rank = 16;  // columns that the buffers are made for; any other works and reallocates once
  Pi pi = Pi::on_the_fly;
};

/// The formats that Phi on every mode of one tensor wants, built once, and the buffers that its
/// kernels need, so that a call allocates nothing.
/// `pull`: a sorted copy a mode and one more number a nonzero: the nonzeros are weighed by
/// w_p = x_p / max(model_p, epsilon), and Phi is the MTTKRP of the weights. `atomic`: the tensor as
/// it is. `automatic`: `pull`.
template <class ScalarType, class IndexType, class MemorySpaceType>
struct PhiPlan {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  Dims dims;
  Position nnz = 0;
  PhiStrategy strategy = PhiStrategy::automatic;  // never `automatic` in a plan
  Pi pi_source = Pi::on_the_fly;
  MttkrpPlan<Scalar, Index, MemorySpace> products;           // `pull` on the fly: of the weights
  std::vector<CooTensor<Scalar, Index, MemorySpace>> lists;  // per mode: `atomic`, stored pi
  std::vector<Vector<Scalar, MemorySpace>> counts;           // per mode: x in the order of products
  Vector<Scalar, MemorySpace> weights;                       // nnz: w of the mode at work
  Matrix<Scalar, MemorySpace> pi;                            // nnz x R, where stored
  int pi_mode = -1;                                          // that pi is of

  int order() const { return static_cast<int>(dims.size()); }

  std::uint64_t storage_bytes() const {
    std::uint64_t bytes = pi.span() * sizeof(Scalar) + products.carry.bytes();
    if (!lists.empty())
      bytes += lists[0].storage_bytes() * (strategy == PhiStrategy::atomic ? 1 : lists.size());
    if (!counts.empty()) bytes += products.storage_bytes() - products.carry.bytes();
    if (strategy == PhiStrategy::pull) bytes += weights.span() * sizeof(Scalar);
    return bytes;
  }
};

namespace detail {

/// Where the values of mode n's nonzeros are that the product of a plan reads.
template <class Plan>
auto& product_values(Plan& products, int n) {
  if (products.packed[n].order() > 0) return products.packed[n].values;
  if (products.blocked[n].order() > 0) return products.blocked[n].nonzeros.values;
  return products.lists[n].values;
}

}  // namespace detail

/// Builds what the strategy wants for every mode. X may be in any order; duplicates are allowed,
/// each a nonzero of its own. Fences exec. Throws Error if the rank is not positive, or for
/// strategy `alto`.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
PhiPlan<Scalar, Index, MemorySpace> make_phi_plan(ExecutionSpace const& exec,
                                                  CooTensor<Scalar, Index, MemorySpace> const& X,
                                                  PhiOptions const& options = {}) {
  expects(options.rank > 0, "make_phi_plan: rank ", options.rank, " is not positive");
  expects(options.strategy != PhiStrategy::alto, "make_phi_plan: strategy ",
          to_string(options.strategy), " does not work on a CooTensor");
  PhiPlan<Scalar, Index, MemorySpace> plan;
  plan.dims = X.dims;
  plan.nnz = X.nnz();
  plan.strategy = options.strategy == PhiStrategy::automatic ? PhiStrategy::pull : options.strategy;
  plan.pi_source = options.pi;
  bool const pulls = plan.strategy == PhiStrategy::pull;
  if (pulls)
    plan.weights =
        uninitialized<Vector<Scalar, MemorySpace>>(exec, "sporades::phi::weights", X.nnz());
  if (options.pi == Pi::stored)
    plan.pi = make_matrix<Scalar>(exec, "sporades::phi::pi", X.nnz(), options.rank);
  if (pulls && options.pi == Pi::on_the_fly) {
    plan.products = make_mttkrp_plan(exec, X, {MttkrpStrategy::automatic, options.rank});
    for (int n = 0; n < X.order(); ++n) {
      auto& values = detail::product_values(plan.products, n);
      plan.counts.push_back(values);
      values = plan.weights;
    }
    return plan;
  }
  for (int n = 0; n < X.order(); ++n)
    plan.lists.push_back(pulls ? sorted(exec, X, mttkrp_mode_order(X.dims, n)) : X);
  if (pulls)
    plan.products.carry.reserve(
        exec, detail::chunks_of(X.nnz(), detail::chunk_length<ExecutionSpace>(X.nnz())),
        options.rank);
  fence(exec, "sporades::phi::make_plan");
  return plan;
}

/// Keeps pi of mode n for the calls of phi that follow, where the plan stores it; else does
/// nothing. To be called whenever an A[m], m != n, has changed. Enqueued on exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void update_pi(ExecutionSpace const& exec, PhiPlan<Scalar, Index, MemorySpace>& plan,
               Factors<Scalar, MemorySpace> const& A, int n) {
  expects(n >= 0 && n < plan.order(), "update_pi: mode ", n, " of a tensor of order ",
          plan.order());
  if (plan.pi_source != Pi::stored) return;
  expects(A.size() == plan.dims.size(), "update_pi: ", A.size(), " factors for order ",
          plan.order());
  std::size_t R = A[n].extent(1);  // where there is no other mode
  for (int m = 0; m < plan.order(); ++m) {
    if (m == n) continue;
    expects(A[m].extent(0) == plan.dims[m], "update_pi: A[", m, "] has ", A[m].extent(0),
            " rows, mode ", m, " has ", plan.dims[m]);
    R = A[m].extent(1);
  }
  if (plan.pi.extent(1) != R) plan.pi = make_matrix<Scalar>(exec, "sporades::phi::pi", plan.nnz, R);
  detail::store_pi(exec, plan.lists[n], A, n, plan.pi);
  plan.pi_mode = n;
}

/// Phi on mode n with what the plan holds for it; see kernels/phi.hpp. The plan is changed only in
/// its buffers: one call of a plan at a time. Throws Error where pi is stored and is not of mode n.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void phi(ExecutionSpace const& exec, PhiPlan<Scalar, Index, MemorySpace>& plan,
         Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& B,
         double epsilon, Matrix<Scalar, MemorySpace> const& V) {
  detail::check_phi(plan.dims, A, n, B, epsilon, V);
  auto const least = static_cast<Scalar>(epsilon);
  bool const is_stored = plan.pi_source == Pi::stored;
  expects(!is_stored || (plan.pi_mode == n && plan.pi.extent(1) == V.extent(1)),
          "phi: the stored pi is of mode ", plan.pi_mode, " and ", plan.pi.extent(1),
          " columns: update_pi comes first");
  if (plan.strategy == PhiStrategy::atomic) {
    auto const& X = plan.lists[n];
    if (is_stored)
      return detail::phi_atomic(exec, X, detail::StoredPi<Scalar, MemorySpace>{plan.pi}, n, B,
                                least, V);
    return detail::phi_atomic(exec, X, detail::coo_pi(X, A, n), n, B, least, V);
  }
  if (is_stored)
    return detail::phi_pull_stored(exec, plan.lists[n], n, plan.pi, plan.weights, B, least, V,
                                   plan.products.carry);
  auto const& products = plan.products;
  if (products.packed[n].order() > 0) {
    detail::weigh_packed(exec, products.packed[n], A, plan.counts[n], B, least);
  } else if (products.blocked[n].order() > 0) {
    detail::weigh_packed(exec, products.blocked[n].nonzeros, A, plan.counts[n], B, least);
  } else {
    auto const& X = products.lists[n];
    detail::CooRows<Index, MemorySpace> const rows{detail::mode_indices(X, n)};
    detail::weigh_nonzeros(exec, detail::coo_pi(X, A, n), rows, plan.counts[n], plan.weights, B,
                           least);
  }
  mttkrp(exec, plan.products, A, n, V);
}

}  // namespace sporades

#include <sporades/eti/phi_plan.hpp>
