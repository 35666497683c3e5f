// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/mttkrp_plan.hpp>
#include <sporades/kernels/phi.hpp>

namespace sporades {

/// What a plan of Phi is made for.
struct PhiOptions {
  PhiStrategy strategy = PhiStrategy::automatic;
  int rank = 16;  // columns that the buffers are made for; any other works and reallocates once
  Pi pi = Pi::on_the_fly;
};

/// The formats that Phi on every mode of one tensor wants, built once, and the buffers that its
/// kernels need, so that a call allocates nothing.
/// `pull`: a sorted copy a mode; `alto`, `alto_atomic`: one linear order; `automatic`: whichever
/// MTTKRP's rule takes. One pass over the nonzeros where a row is one tile (see phi_fused); else,
/// in two passes, the nonzeros are weighed by w_p = x_p / max(model_p, epsilon), one more number
/// each, and Phi is the MTTKRP of the weights. `atomic`: the tensor as it is.
template <class ScalarType, class IndexType, class MemorySpaceType>
struct PhiPlan {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  Dims dims;
  Position nnz = 0;
  PhiStrategy strategy = PhiStrategy::automatic;  // as it turned out, never `automatic`
  Pi pi_source = Pi::on_the_fly;
  MttkrpPlan<Scalar, Index, MemorySpace> products;         // `pull` and `alto`, pi on the fly
  std::vector<CooTensor<Scalar, Index, MemorySpace>> coo;  // per mode: `atomic`, stored pi
  Vector<Scalar, MemorySpace> weights;  // nnz: w of the mode at work, once two passes are needed
  Matrix<Scalar, MemorySpace> pi;       // nnz x R, where stored
  int pi_mode = -1;                     // that pi is of

  int order() const { return static_cast<int>(dims.size()); }

  std::uint64_t storage_bytes() const {
    std::uint64_t bytes = pi.span() * sizeof(Scalar) + products.carry.bytes();
    if (!coo.empty())
      bytes += coo[0].storage_bytes() * (strategy == PhiStrategy::atomic ? 1 : coo.size());
    else
      bytes += products.storage_bytes() - products.carry.bytes();
    bytes += weights.span() * sizeof(Scalar);
    return bytes;
  }
};

/// Builds what the strategy wants for every mode. X may be in any order; duplicates are allowed,
/// each a nonzero of its own. Fences exec. Throws Error if the rank is not positive, an index is
/// past its mode, pi is to be stored for strategy `alto` or `alto_atomic`, or strategy `alto` needs
/// atomics.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
PhiPlan<Scalar, Index, MemorySpace> make_phi_plan(ExecutionSpace const& exec,
                                                  CooTensor<Scalar, Index, MemorySpace> const& X,
                                                  PhiOptions const& options = {}) {
  bool const is_stored = options.pi == Pi::stored;
  expects(options.rank > 0, "make_phi_plan: rank ", options.rank, " is not positive");
  bool const asks_linear =
      options.strategy == PhiStrategy::alto || options.strategy == PhiStrategy::alto_atomic;
  expects(!is_stored || !asks_linear, "make_phi_plan: pi is not stored for strategy ",
          to_string(options.strategy));
  if (is_stored || options.strategy == PhiStrategy::atomic)  // else make_mttkrp_plan checks
    check_coordinates(exec, X, "make_phi_plan");
  PhiPlan<Scalar, Index, MemorySpace> plan;
  plan.dims = X.dims;
  plan.nnz = X.nnz();
  plan.strategy = options.strategy;
  plan.pi_source = options.pi;
  if (is_stored) plan.pi = make_matrix<Scalar>(exec, "sporades::phi::pi", X.nnz(), options.rank);
  if (plan.strategy == PhiStrategy::atomic) {
    plan.coo.assign(X.order(), X);
  } else if (is_stored) {
    plan.strategy = PhiStrategy::pull;
    for (int n = 0; n < X.order(); ++n)
      plan.coo.push_back(sorted(exec, X, detail::mttkrp_mode_order(X.dims, n)));
    plan.weights =
        detail::uninitialized<Vector<Scalar, MemorySpace>>(exec, "sporades::phi::weights", X.nnz());
    plan.products.carry.reserve(
        exec, detail::chunks_of(X.nnz(), detail::chunk_length<ExecutionSpace>(X.nnz())),
        options.rank);
  } else {
    MttkrpOptions products{MttkrpStrategy::automatic, options.rank};
    if (asks_linear) products.strategy = MttkrpStrategy::alto_atomic;
    if (options.strategy == PhiStrategy::pull) products.order = RowOrder::lexicographic;
    plan.products = make_mttkrp_plan(exec, X, products);
    bool const is_alto = plan.products.alto.order() > 0;
    if (options.strategy == PhiStrategy::alto)
      for (int n = 0; n < X.order(); ++n)
        detail::refuse_atomics<ExecutionSpace>("make_phi_plan", plan.products.alto, n,
                                               "pull works");
    if (!asks_linear) plan.strategy = is_alto ? PhiStrategy::alto : PhiStrategy::pull;
    auto const columns = padded_columns(static_cast<std::size_t>(options.rank));
    if ((detail::is_gpu<ExecutionSpace> && is_alto) ||
        !detail::rows_are_one_tile<ExecutionSpace, Scalar>(columns))
      plan.weights = detail::uninitialized<Vector<Scalar, MemorySpace>>(
          exec, "sporades::phi::weights", X.nnz());
  }
  detail::fence(exec, "sporades::phi::make_plan");
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
    if (m == (n == 0 ? 1 : 0)) R = A[m].extent(1);
    expects(A[m].extent(1) == R, "update_pi: A[", m, "] has ", A[m].extent(1),
            " columns, others have ", R);
  }
  if (plan.pi.extent(1) != R) plan.pi = make_matrix<Scalar>(exec, "sporades::phi::pi", plan.nnz, R);
  detail::store_pi(exec, plan.coo[n], A, n, plan.pi);
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
    auto const& X = plan.coo[n];
    if (is_stored)
      return detail::phi_atomic(exec, X, detail::StoredPi<Scalar, MemorySpace>{plan.pi}, n, B,
                                least, V);
    return detail::phi_atomic(exec, X, detail::coo_pi(X, A, n), n, B, least, V);
  }
  auto const weights = [&]() -> auto const& {
    if (plan.weights.extent(0) != plan.nnz)
      plan.weights = detail::uninitialized<Vector<Scalar, MemorySpace>>(
          exec, "sporades::phi::weights", plan.nnz);
    return plan.weights;
  };
  if (is_stored)
    return detail::phi_pull_stored(exec, plan.coo[n], n, plan.pi, weights(), B, least, V,
                                   plan.products.carry);
  auto& products = plan.products;
  auto const& choice = products.choices[n];
  if (detail::is_linear(choice.strategy)) {
    auto const& X = products.alto;
    if (detail::phi_fused(exec, X, A, n, B, least, V, products.carry)) return;
    auto weighed = X;
    weighed.values = weights();
    detail::weigh_alto(exec, X, A, n, weighed.values, B, least);
    mttkrp(exec, weighed, A, n, V, choice.strategy, products.carry);
  } else if (products.packed[n].order() > 0) {
    auto const& X = products.packed[n];
    if (detail::phi_fused(exec, X, A, B, least, V, choice.split, products.carry)) return;
    auto weighed = X;
    weighed.values = weights();
    detail::weigh_packed(exec, X, A, weighed.values, B, least);
    mttkrp(exec, weighed, A, n, V, choice.strategy, products.carry, choice.split);
  } else {
    auto const& X = products.coo[n];
    if (detail::phi_fused(exec, X, A, n, B, least, V, products.carry)) return;
    auto weighed = X;
    detail::CooRows<Index, MemorySpace> const rows{detail::mode_indices(weighed, n)};
    weighed.values = weights();
    detail::weigh_nonzeros(exec, detail::coo_pi(weighed, A, n), rows, X.values, weighed.values, B,
                           least);
    mttkrp(exec, weighed, A, n, V, choice.strategy, products.carry);
  }
}

}  // namespace sporades

#include <sporades/eti/phi_plan.hpp>
