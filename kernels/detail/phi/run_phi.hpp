// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/region.hpp>
#include <sporades/kernels/detail/phi/baselines/atomic.hpp>
#include <sporades/kernels/detail/phi/build_phi_plan.hpp>
#include <sporades/kernels/detail/phi/pull.hpp>
#include <sporades/kernels/phi.hpp>

namespace sporades {
namespace detail {

/// The shapes of A's other factors and of V; see kernels/phi.hpp.
template <class Scalar, class MemorySpace>
void check_phi(Dims const& dims, PhiOperands<Scalar, MemorySpace> const& operands,
               char const* here = "") {
  auto const& [A, B, n, V, epsilon] = operands;
  int const N = static_cast<int>(dims.size());
  expects(n >= 0 && n < N, "phi: mode ", n, " of a tensor of order ", N);
  expects(static_cast<int>(A.size()) == N, "phi: ", A.size(), " factors for order ", N);
  expects(V.extent(0) == dims[n], "phi: V has ", V.extent(0), " rows, mode ", n, " has ", dims[n],
          here);
  expects(B.extent(0) == dims[n] && B.extent(1) == V.extent(1), "phi: B is ", B.extent(0), " x ",
          B.extent(1), ", V is ", V.extent(0), " x ", V.extent(1));
  expects(B.data() != V.data() || V.span() == 0, "phi: V is B");
  for (int m = 0; m < N; ++m) {
    if (m == n) continue;
    expects(A[m].extent(0) == dims[m], "phi: A[", m, "] has ", A[m].extent(0), " rows, mode ", m,
            " has ", dims[m], here);
    expects(A[m].extent(1) == V.extent(1), "phi: A[", m, "] has ", A[m].extent(1),
            " columns, V has ", V.extent(1));
    expects(A[m].data() != V.data() || V.span() == 0, "phi: V is A[", m, "]");
  }
  expects(epsilon > 0 && operands.least() > 0 && epsilon - epsilon == 0, "phi: epsilon ", epsilon,
          " is not a positive number of this precision");
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_update_pi(ExecutionSpace const& exec, PhiPlan<Scalar, Index, MemorySpace>& plan,
                   Factors<Scalar, MemorySpace> const& A, int n) {
  expects(n >= 0 && n < plan.order(), "update_pi: mode ", n, " of a tensor of order ",
          plan.order());
  if (plan.pi_source != Pi::stored) return;
  Region const region("sporades::update_pi, mode ", n);
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
  store_pi(exec, plan.coo[n], A, n, plan.pi);
  plan.pi_mode = n;
}

/// Both passes of Phi over packed nonzeros in the order of their rows; weights may be their values.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void walk_packed_twice(ExecutionSpace const& exec, PackedTensor<Scalar, Index, MemorySpace> X,
                       SortedRows<Scalar, Index, MemorySpace> const& rows,
                       PhiOperands<Scalar, MemorySpace> const& operands, MttkrpChoice const& choice,
                       Vector<Scalar, MemorySpace> const& weights) {
  weigh(exec, X, operands, weights);
  X.values = weights;
  walk_packed(exec, "sporades::phi::pull", X, rows, operands.of_product(),
              choice.strategy == MttkrpStrategy::fibers ? choice.split : 0);
}

/// Phi on mode n of COO nonzeros in the order of their rows: in one pass on GPUs where rows fit the
/// lanes, else in two, between which the weights hold w_p.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void walk_coo_rows(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> X,
                   SortedRows<Scalar, Index, MemorySpace> const& rows,
                   PhiOperands<Scalar, MemorySpace> const& operands,
                   Vector<Scalar, MemorySpace> const& weights) {
  auto const& A = operands.A;
  int const n = operands.n;
  with_unrolled_modes<Index>(X.order() - 1, [&](auto others) {
    if constexpr (is_gpu<ExecutionSpace>)
      if (rows_fit_lanes<ExecutionSpace>(operands)) {
        walk_row_lanes(exec, "sporades::phi::pull", coo_nonzeros<others()>(X, A, n), operands,
                       rows);
        return;
      }
    weigh(exec, X, operands, weights);
    X.values = weights;
    walk_rows<TileWidths::coarse>(exec, "sporades::phi::pull", coo_nonzeros<others()>(X, A, n),
                                  rows, operands.V.extent(1), all_rows_aligned(A, n, operands.V));
  });
}

/// Phi's rows of mode n, from nonzeros in their order: in one pass over them, or in two, between
/// which their weights take the room of the plan's, or where X is out of core of the window's
/// values. operands: with the rows that the nonzeros name. chunks: see row_chunks.hpp.
template <class ExecutionSpace, class Tensor, class Scalar, class Index, class MemorySpace,
          class Chunks>
void sum_phi(ExecutionSpace const& exec, Tensor const& X, PhiPlan<Scalar, Index, MemorySpace>& plan,
             PhiOperands<Scalar, MemorySpace> const& operands, Chunks const& chunks) {
  constexpr bool is_packed = is_instance<Tensor, PackedTensor>;
  auto const& choice = plan.products.choices[static_cast<std::size_t>(operands.n)];
  constexpr bool may_be_once = is_packed || is_gpu<ExecutionSpace>;
  bool const is_once = may_be_once && packed_takes_one_pass<ExecutionSpace>(operands);
  bool is_out_of_core = false;
  if constexpr (is_packed) is_out_of_core = X.out_of_core != nullptr;
  Vector<Scalar, MemorySpace> weights;
  if (!is_once && !is_out_of_core) {
    reserve_weights(exec, X.nnz(), plan);
    weights = Vector<Scalar, MemorySpace>(plan.weights.data(), X.nnz());
  }
  chunks.sum(exec, X, operands.V, plan.products.work.carry,
             [&](auto const& instance, auto const& part, auto const& rows) {
               if constexpr (!is_packed)
                 walk_coo_rows(instance, part, rows, operands, weights);
               else if (is_once)
                 walk_packed_once(instance, part, rows, operands, choice.split);
               else
                 walk_packed_twice(instance, part, rows, operands, choice,
                                   is_out_of_core ? part.values : weights);
             });
}

/// Phi on a linear order: in one pass where that is possible, or by two.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Chunks>
void sum_phi(ExecutionSpace const& exec, AltoTensor<Scalar, Index, MemorySpace> const& X,
             PhiPlan<Scalar, Index, MemorySpace>& plan,
             PhiOperands<Scalar, MemorySpace> const& operands, Chunks const&) {
  auto& carry = plan.products.work.carry;
  if (phi_fused(exec, X, operands, carry)) return;
  reserve_weights(exec, X.nnz(), plan);
  auto weighed = X;
  weighed.values = Vector<Scalar, MemorySpace>(plan.weights.data(), X.nnz());
  weigh(exec, X, operands, weighed.values);
  auto const& choice = plan.products.choices[static_cast<std::size_t>(operands.n)];
  run_linear(exec, weighed, operands.of_product(), choice.strategy, plan.products.work);
}

/// Phi with pi on the fly, by what MTTKRP has for mode n.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_phi_on_products(ExecutionSpace const& exec, PhiPlan<Scalar, Index, MemorySpace>& plan,
                         PhiOperands<Scalar, MemorySpace> const& operands) {
  auto& products = plan.products;
  int const n = operands.n;
  auto const& factors = gathered(exec, products, operands.A, n);
  auto const rows = gathered_rows(exec, products, n, operands.B);
  deliver(exec, products, n, operands.V, [&](auto const& chunks, auto const& sums) {
    PhiOperands<Scalar, MemorySpace> const here{factors, rows, n, sums, operands.epsilon};
    with_format(products, n, [&](auto const& X) { sum_phi(exec, X, plan, here, chunks); });
  });
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_phi(ExecutionSpace const& exec, PhiPlan<Scalar, Index, MemorySpace>& plan,
             PhiOperands<Scalar, MemorySpace> const& operands) {
  int const n = operands.n;
  std::size_t const R = operands.V.extent(1);
  Region const region("sporades::phi ", to_string(plan.strategy), ", mode ", n);
  bool const is_stored = plan.pi_source == Pi::stored;
  if (plan.coo.empty())
    return in_step(plan.products, [&] {
      if (plan.products.work.distributed)
        check_phi(plan.products.dims_here(), operands, " on this process");
      else
        check_phi(plan.dims, operands);
      run_phi_on_products(exec, plan, operands);
    });
  check_phi(plan.dims, operands);
  bool const is_atomic =
      plan.strategy == PhiStrategy::atomic || plan.strategy == PhiStrategy::coo_alto_atomic;
  expects(!is_stored || (plan.pi_mode == n && plan.pi.extent(1) == R),
          "phi: the stored pi is of mode ", plan.pi_mode, " and ", plan.pi.extent(1),
          " columns: update_pi comes first");
  auto const weights = [&] {
    reserve_weights(exec, plan.nnz, plan);
    return plan.weights;
  };
  if (is_atomic && is_stored) {
    phi_atomic(exec, stored_nonzeros(plan.coo[n], n, plan.pi), operands, rows_are_aligned(plan.pi),
               weights);
  } else if (is_atomic) {
    phi_atomic(exec, coo_nonzeros<any_number>(plan.coo[n], operands.A, n), operands,
               all_rows_aligned(operands.A, n, operands.V), weights);
  } else if (plan.strategy == PhiStrategy::coo_alto_pull) {
    if (!parts_take_one_pass<ExecutionSpace, Scalar>(R)) reserve_weights(exec, plan.nnz, plan);
    phi_coo_alto_pull(exec, plan.coo[n], plan.partitions[n], operands, plan.weights,
                      plan.products.work.carry);
  } else {
    phi_pull_stored(exec, plan.coo[n], plan.pi, operands, weights, plan.products.work.carry);
  }
}

}  // namespace detail

template <class ExecutionSpace, class Plan, class FactorsType>
void update_pi(ExecutionSpace const& exec, Plan& plan, FactorsType const& A, int n) {
  static_assert(detail::is_instance<Plan, PhiPlan>, "update_pi takes a PhiPlan that is not const");
  if constexpr (detail::is_instance<Plan, PhiPlan>)
    if constexpr (detail::check_types<ExecutionSpace, Plan, FactorsType>())
      detail::run_update_pi(exec, plan, detail::as_factors<Plan>(A), n);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class FactorsType,
          class Input, class Output>
void phi(ExecutionSpace const& exec, PhiPlan<Scalar, Index, MemorySpace>& plan,
         FactorsType const& A, Input const& B, int n, Output const& V, double epsilon) {
  using Plan = PhiPlan<Scalar, Index, MemorySpace>;
  if constexpr (detail::check_types<ExecutionSpace, Plan, FactorsType, Input, Output>()) {
    Matrix<Scalar, MemorySpace> const &factor = B, &result = V;
    auto const& factors = detail::as_factors<Plan>(A);
    detail::run_phi(exec, plan,
                    detail::PhiOperands<Scalar, MemorySpace>{factors, factor, n, result, epsilon});
  }
}

template <class ExecutionSpace, class Tensor, class FactorsType, class Input, class Output>
void phi(ExecutionSpace const& exec, Tensor const& X, FactorsType const& A, Input const& B, int n,
         Output const& V, double epsilon) {
  static_assert(detail::is_instance<Tensor, CooTensor>,
                "phi takes a PhiPlan that is not const, or a CooTensor");
  if constexpr (detail::is_instance<Tensor, CooTensor>)
    if constexpr (detail::check_types<ExecutionSpace, Tensor, FactorsType, Input, Output>()) {
      detail::MatrixOf<Tensor> const &factor = B, &result = V;
      auto const& factors = detail::as_factors<Tensor>(A);
      using Operands = detail::PhiOperands<typename Tensor::Scalar, typename Tensor::MemorySpace>;
      Operands const operands{factors, factor, n, result, epsilon};
      detail::check_phi(X.dims, operands);
      detail::Region const region("sporades::phi atomic, mode ", n);
      using Weights = Vector<typename Tensor::Scalar, typename Tensor::MemorySpace>;
      detail::phi_atomic(
          exec, detail::coo_nonzeros<detail::any_number>(X, factors, n), operands,
          detail::all_rows_aligned(factors, n, result),
          [&] { return detail::uninitialized<Weights>(exec, "sporades::phi::weights", X.nnz()); });
    }
}

namespace detail {

/// Rows of mode n that the plan's nonzeros use. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
double used_rows(ExecutionSpace const& exec, PhiPlan<Scalar, Index, MemorySpace> const& plan,
                 int n) {
  return plan.coo.empty() ? used_rows(exec, plan.products, n) : used_rows(exec, plan.coo[n], n);
}

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Cost phi_cost(ExecutionSpace const& exec, PhiPlan<Scalar, Index, MemorySpace> const& plan, int R,
              int n) {
  expects(n >= 0 && n < plan.order(), "phi_cost: mode ", n, " of a tensor of order ", plan.order());
  expects(!plan.products.work.distributed, "phi_cost: the plan is one of several processes");
  bool const is_stored = plan.pi_source == Pi::stored;
  double const nnz = static_cast<double>(plan.nnz);
  double rows = static_cast<double>(plan.dims[n]) + detail::used_rows(exec, plan, n);  // V, B
  for (int m = 0; m < plan.order() && !is_stored; ++m)
    if (m != n) rows += detail::used_rows(exec, plan, m);
  double const nonzeros = is_stored          ? nnz * (sizeof(Index) + sizeof(Scalar))
                          : plan.coo.empty() ? detail::bytes_read(plan.products, n)
                                             : detail::bytes_read(plan.coo[n], n);
  return {(is_stored ? 4 : 2 * plan.order() + 2) * R * nnz,
          nonzeros + (rows + (is_stored ? nnz : 0)) * R * static_cast<double>(sizeof(Scalar))};
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Cost update_pi_cost(ExecutionSpace const& exec, PhiPlan<Scalar, Index, MemorySpace> const& plan,
                    int R, int n) {
  expects(n >= 0 && n < plan.order(), "update_pi_cost: mode ", n, " of a tensor of order ",
          plan.order());
  if (plan.pi_source != Pi::stored) return {};
  double const nnz = static_cast<double>(plan.nnz), others = plan.order() - 1;
  double rows = nnz;  // of pi
  for (int m = 0; m < plan.order(); ++m)
    if (m != n) rows += detail::used_rows(exec, plan, m);
  return {others * R * nnz,
          nnz * others * sizeof(Index) + rows * R * static_cast<double>(sizeof(Scalar))};
}

}  // namespace sporades

#include <sporades/eti/run_phi.hpp>
