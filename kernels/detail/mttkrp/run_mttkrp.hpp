// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/mttkrp.hpp>
// First that, whose plans these products take.
#include <sporades/core/detail/region.hpp>
#include <sporades/kernels/detail/mttkrp/alto.hpp>
#include <sporades/kernels/detail/mttkrp/baselines/atomic.hpp>
#include <sporades/kernels/detail/mttkrp/baselines/csf.hpp>
#include <sporades/kernels/detail/mttkrp/baselines/duplicated.hpp>
#include <sporades/kernels/detail/mttkrp/baselines/permuted.hpp>
#include <sporades/kernels/detail/mttkrp/bytes.hpp>
#include <sporades/kernels/detail/mttkrp/flycoo.hpp>
#include <sporades/kernels/detail/mttkrp/options.hpp>
#include <sporades/kernels/detail/mttkrp/packed.hpp>
#include <sporades/kernels/detail/mttkrp/rounded.hpp>
#include <sporades/kernels/detail/mttkrp/sorted.hpp>
#include <sporades/kernels/detail/processes/mttkrp.hpp>

/// The products of kernels/mttkrp.hpp, by buffers that the caller keeps from one to the next.

namespace sporades {
namespace detail {

template <class Scalar, class MemorySpace>
void check_mttkrp(Dims const& dims, Factors<Scalar, MemorySpace> const& A, int n,
                  Matrix<Scalar, MemorySpace> const& V) {
  int const N = static_cast<int>(dims.size());
  expects(n >= 0 && n < N, "mttkrp: mode ", n, " of a tensor of order ", N);
  expects(static_cast<int>(A.size()) == N, "mttkrp: ", A.size(), " factors for order ", N);
  expects(V.extent(0) == dims[n], "mttkrp: V has ", V.extent(0), " rows, mode ", n, " has ",
          dims[n]);
  for (int m = 0; m < N; ++m) {
    if (m == n) continue;
    expects(A[m].extent(0) == dims[m], "mttkrp: A[", m, "] has ", A[m].extent(0), " rows, mode ", m,
            " has ", dims[m]);
    expects(A[m].extent(1) == V.extent(1), "mttkrp: A[", m, "] has ", A[m].extent(1),
            " columns, V has ", V.extent(1));
    expects(A[m].data() != V.data() || V.span() == 0, "mttkrp: V is A[", m, "]");
  }
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_mttkrp(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& V,
                MttkrpStrategy strategy, CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  check_mttkrp(X.dims, A, n, V);
  bool const is_sorted = !X.sorted_modes.empty() && X.sorted_modes[0] == n;
  if (strategy == MttkrpStrategy::automatic)
    strategy = is_sorted ? MttkrpStrategy::sorted : MttkrpStrategy::atomic;
  switch (strategy) {
    case MttkrpStrategy::sorted:
      expects(is_sorted, "mttkrp: strategy sorted needs a tensor sorted by mode ", n, " first");
      return mttkrp_sorted(exec, X, A, n, V, carry);
    case MttkrpStrategy::atomic:
      return mttkrp_atomic(exec, X, A, n, V);
    case MttkrpStrategy::duplicated:
      return mttkrp_duplicated(exec, X, A, n, V);
    default:
      fail("mttkrp: strategy ", to_string(strategy), " does not work on a CooTensor");
  }
}

/// split: the modes, of X.modes, whose factors are multiplied once a run of nonzeros that agree in
/// them; -1: all except the last of X.modes.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_mttkrp(ExecutionSpace const& exec, PackedTensor<Scalar, Index, MemorySpace> const& X,
                Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& V,
                MttkrpStrategy strategy, CarryBuffers<Scalar, Index, MemorySpace>& carry,
                int split = -1) {
  check_mttkrp(X.dims, A, n, V);
  int const deepest = X.order() > 1 ? X.order() - 2 : 0;
  expects(-1 <= split && split <= deepest, "mttkrp: split ", split, " of ", X.order() - 1,
          " modes");
  expects(X.row_mode == n, "mttkrp: the tensor is packed for mode ", X.row_mode,
          ", the product is on mode ", n);
  switch (strategy) {
    case MttkrpStrategy::automatic:
    case MttkrpStrategy::sorted:
      return mttkrp_packed(exec, "sporades::mttkrp::sorted", X, A, V, 0, carry);
    case MttkrpStrategy::fibers:
      return mttkrp_packed(exec, "sporades::mttkrp::fibers", X, A, V, split < 0 ? deepest : split,
                           carry);
    default:
      fail("mttkrp: strategy ", to_string(strategy), " does not work on a PackedTensor");
  }
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_mttkrp(ExecutionSpace const& exec, PermutedTensor<Scalar, Index, MemorySpace> const& X,
                Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& V,
                MttkrpStrategy strategy, CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  check_mttkrp(X.tensor.dims, A, n, V);
  expects(strategy == MttkrpStrategy::automatic || strategy == MttkrpStrategy::permuted,
          "mttkrp: strategy ", to_string(strategy), " does not work on a PermutedTensor");
  mttkrp_permuted(exec, X, A, n, V, carry);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_mttkrp(ExecutionSpace const& exec, CsfTensor<Scalar, Index, MemorySpace> const& X,
                Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& V,
                MttkrpStrategy strategy, CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  check_mttkrp(X.dims, A, n, V);
  expects(X.mode_order[0] == n, "mttkrp: the tree's root is mode ", X.mode_order[0],
          ", the product is on mode ", n);
  expects(strategy == MttkrpStrategy::automatic || strategy == MttkrpStrategy::csf,
          "mttkrp: strategy ", to_string(strategy), " does not work on a CsfTensor");
  mttkrp_csf(exec, X, A, V, carry);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_mttkrp(ExecutionSpace const& exec, AltoTensor<Scalar, Index, MemorySpace> const& X,
                Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& V,
                MttkrpStrategy strategy, CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  check_mttkrp(X.dims, A, n, V);
  expects(strategy == MttkrpStrategy::automatic || is_linear(strategy), "mttkrp: strategy ",
          to_string(strategy), " does not work on an AltoTensor");
  if (strategy != MttkrpStrategy::alto_atomic)
    refuse_atomics<ExecutionSpace>("mttkrp", X, n, "sorted, fibers, csf and permuted work");
  mttkrp_alto(exec, X, A, n, V, carry);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_mttkrp(ExecutionSpace const& exec, FlycooTensor<Scalar, Index, MemorySpace> const& X,
                Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& V,
                MttkrpStrategy strategy, CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  check_mttkrp(X.dims, A, n, V);
  expects(X.mode == n, "mttkrp: the tensor is in the order of mode ", X.mode,
          ", the product is on mode ", n, ": remap moves it");
  expects(strategy == MttkrpStrategy::automatic || strategy == MttkrpStrategy::flycoo,
          "mttkrp: strategy ", to_string(strategy), " does not work on a FlycooTensor");
  mttkrp_flycoo(exec, X, A, V, 0, carry);
}

/// The product on mode n of a plan's tensor, which is left in the order of the next mode.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_and_remap(ExecutionSpace const& exec, FlycooTensor<Scalar, Index, MemorySpace>& X,
                   Factors<Scalar, MemorySpace> const& A, int n,
                   Matrix<Scalar, MemorySpace> const& V, int split,
                   CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  check_mttkrp(X.dims, A, n, V);
  while (X.mode != n) remap(exec, X);
  mttkrp_flycoo(exec, X, A, V, split, carry);
  remap(exec, X);
}

/// V's rows from the sums of their parts in mode n.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void sum_parts(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan, int n,
               Matrix<Scalar, MemorySpace> const& parts, Matrix<Scalar, MemorySpace> const& V) {
  plan.work.parts[static_cast<std::size_t>(n)].sum(exec, parts, V);
}

/// The product that a plan chose for mode n, on a format that it holds for that, or on one like it
/// with other values.
template <class ExecutionSpace, class Tensor, class Scalar, class Index, class MemorySpace>
void run_mttkrp(ExecutionSpace const& exec, Tensor const& X, Factors<Scalar, MemorySpace> const& A,
                int n, Matrix<Scalar, MemorySpace> const& V, MttkrpChoice const& choice,
                CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  if constexpr (is_instance<Tensor, PackedTensor>)
    run_mttkrp(exec, X, A, n, V, choice.strategy, carry, choice.split);
  else
    run_mttkrp(exec, X, A, n, V, choice.strategy, carry);
}

}  // namespace detail

template <class ExecutionSpace, class Tensor, class FactorsType, class Output>
void mttkrp(ExecutionSpace const& exec, Tensor const& X, FactorsType const& A, int n,
            Output const& V, MttkrpStrategy strategy) {
  constexpr bool is_known =
      detail::is_instance<Tensor, CooTensor> || detail::is_instance<Tensor, PackedTensor> ||
      detail::is_instance<Tensor, PermutedTensor> || detail::is_instance<Tensor, CsfTensor> ||
      detail::is_instance<Tensor, AltoTensor> || detail::is_instance<Tensor, FlycooTensor>;
  static_assert(is_known,
                "mttkrp takes an MttkrpPlan that is not const, or a CooTensor, PackedTensor, "
                "PermutedTensor, CsfTensor, AltoTensor or FlycooTensor");
  if constexpr (is_known)
    if constexpr (detail::check_types<ExecutionSpace, Tensor, FactorsType, Output>()) {
      detail::Region const region("sporades::mttkrp ", to_string(strategy), ", mode ", n);
      detail::MatrixOf<Tensor> const& product = V;
      detail::CarryBuffers<typename Tensor::Scalar, typename Tensor::Index,
                           typename Tensor::MemorySpace>
          carry;
      detail::run_mttkrp(exec, X, detail::as_factors<Tensor>(A), n, product, strategy, carry);
    }
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class FactorsType,
          class Output>
void mttkrp(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan,
            FactorsType const& A, int n, Output const& V) {
  using Plan = MttkrpPlan<Scalar, Index, MemorySpace>;
  if constexpr (detail::check_types<ExecutionSpace, Plan, FactorsType, Output>()) {
    expects(n >= 0 && n < plan.order(), "mttkrp: mode ", n, " of a tensor of order ", plan.order());
    MttkrpChoice const& choice = plan.choices[n];
    detail::Region const region("sporades::mttkrp ", to_string(choice.strategy), ", mode ", n);
    Matrix<Scalar, MemorySpace> const& product = V;
    if constexpr (detail::has_mpi)
      if (plan.work.distributed)
        return detail::together(plan.work.distributed->processes, [&] {
          detail::mttkrp_distributed(exec, plan, detail::as_factors<Plan>(A), n, product);
        });
    bool const has_parts = choice.slices > 1;
    if (has_parts) detail::check_mttkrp(plan.dims, detail::as_factors<Plan>(A), n, product);
    Matrix<Scalar, MemorySpace> const sums =
        has_parts ? plan.work.carry.part_rows(exec, plan.work.parts[n].count(), product.extent(1))
                  : product;
    plan.formats.visit(n, [&](auto& X) {
      auto const& factors = detail::as_factors<Plan>(A);
      using Format = std::decay_t<decltype(X)>;
      if constexpr (detail::is_instance<Format, FlycooTensor>)
        return detail::run_and_remap(exec, X, factors, n, product, choice.split, plan.work.carry);
      if constexpr (detail::is_instance<Format, PackedTensor>)
        if (choice.gather != GatherPrecision::full) {
          detail::check_mttkrp(X.dims, factors, n, sums);
          int const split = choice.strategy == MttkrpStrategy::fibers ? choice.split : 0;
          return detail::mttkrp_rounded(exec, X, factors, sums, split, choice.gather,
                                        plan.work.rounded, plan.work.carry);
        }
      detail::run_mttkrp(exec, X, factors, n, sums, choice, plan.work.carry);
    });
    if (has_parts) detail::sum_parts(exec, plan, n, sums, product);
  }
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Cost mttkrp_cost(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace> const& plan,
                 int R, int n) {
  expects(n >= 0 && n < plan.order(), "mttkrp_cost: mode ", n, " of a tensor of order ",
          plan.order());
  expects(!plan.work.distributed, "mttkrp_cost: the plan is one of several processes");
  bool const is_rounded = plan.choices[n].gather != GatherPrecision::full;
  double rows = static_cast<double>(plan.dims[n]);
  if (plan.choices[n].slices > 1) rows += 2 * static_cast<double>(plan.work.parts[n].count());
  for (int m = 0; m < plan.order(); ++m)
    if (m != n)
      rows += is_rounded ? static_cast<double>(plan.dims[m]) : detail::used_rows(exec, plan, m);
  return {static_cast<double>(plan.nnz) * plan.order() * R,
          detail::bytes_read(plan, n) + rows * R * static_cast<double>(sizeof(Scalar))};
}

}  // namespace sporades

#include <sporades/eti/run_mttkrp.hpp>
