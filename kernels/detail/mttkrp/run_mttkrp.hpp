// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/mttkrp.hpp>
// First that, whose plans these products take.
#include <sporades/core/detail/region.hpp>
#include <sporades/kernels/detail/mttkrp/alto.hpp>
#include <sporades/kernels/detail/mttkrp/alto_pull.hpp>
#include <sporades/kernels/detail/mttkrp/baselines/atomic.hpp>
#include <sporades/kernels/detail/mttkrp/baselines/csf.hpp>
#include <sporades/kernels/detail/mttkrp/baselines/duplicated.hpp>
#include <sporades/kernels/detail/mttkrp/baselines/flycoo_blocks.hpp>
#include <sporades/kernels/detail/mttkrp/baselines/permuted.hpp>
#include <sporades/kernels/detail/mttkrp/bytes.hpp>
#include <sporades/kernels/detail/mttkrp/flycoo.hpp>
#include <sporades/kernels/detail/mttkrp/operands.hpp>
#include <sporades/kernels/detail/mttkrp/options.hpp>
#include <sporades/kernels/detail/mttkrp/packed.hpp>
#include <sporades/kernels/detail/mttkrp/rounded.hpp>
#include <sporades/kernels/detail/mttkrp/sorted.hpp>
#include <sporades/kernels/detail/processes/mttkrp.hpp>

/// The products of kernels/mttkrp.hpp, by buffers that the caller keeps from one to the next.

namespace sporades {
namespace detail {

/// dims: of the rows that this process has; here: " on this process", if there are others.
template <class Scalar, class MemorySpace>
void check_mttkrp(Dims const& dims, MttkrpOperands<Scalar, MemorySpace> const& operands,
                  char const* here = "") {
  auto const& [A, n, V] = operands;
  int const N = static_cast<int>(dims.size());
  expects(n >= 0 && n < N, "mttkrp: mode ", n, " of a tensor of order ", N);
  expects(static_cast<int>(A.size()) == N, "mttkrp: ", A.size(), " factors for order ", N);
  expects(V.extent(0) == dims[n], "mttkrp: V has ", V.extent(0), " rows, mode ", n, " has ",
          dims[n], here);
  for (int m = 0; m < N; ++m) {
    if (m == n) continue;
    expects(A[m].extent(0) == dims[m], "mttkrp: A[", m, "] has ", A[m].extent(0), " rows, mode ", m,
            " has ", dims[m], here);
    expects(A[m].extent(1) == V.extent(1), "mttkrp: A[", m, "] has ", A[m].extent(1),
            " columns, V has ", V.extent(1));
    expects(A[m].data() != V.data() || V.span() == 0, "mttkrp: V is A[", m, "]");
  }
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_mttkrp(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                MttkrpOperands<Scalar, MemorySpace> const& operands, MttkrpStrategy strategy,
                CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  check_mttkrp(X.dims, operands);
  auto const& A = operands.A;
  auto const& V = operands.V;
  int const n = operands.n;
  bool const is_sorted = !X.sorted_modes.empty() && X.sorted_modes[0] == n;
  if (strategy == MttkrpStrategy::automatic)
    strategy = is_sorted ? MttkrpStrategy::sorted : MttkrpStrategy::atomic;
  switch (strategy) {
    case MttkrpStrategy::sorted:
      expects(is_sorted, "mttkrp: strategy sorted needs a tensor sorted by mode ", n, " first");
      return all_chunks<ExecutionSpace>(X).sum(
          exec, X, V, carry, [&](auto const& instance, auto const& part, auto const& rows) {
            walk_coo(instance, part, rows, A, n, V);
          });
    case MttkrpStrategy::atomic:
      return mttkrp_atomic(exec, X, A, n, V);
    case MttkrpStrategy::duplicated:
      return mttkrp_duplicated(exec, X, A, n, V);
    default:
      fail("mttkrp: strategy ", to_string(strategy), " does not work on a CooTensor");
  }
}

/// Of kernels on packed nonzeros.
inline char const* list_label(MttkrpStrategy strategy) {
  return strategy == MttkrpStrategy::fibers ? "sporades::mttkrp::fibers"
                                            : "sporades::mttkrp::sorted";
}

/// split: the modes, of X.modes, whose factors are multiplied once a run of nonzeros that agree in
/// them; -1: all except the last of X.modes.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_mttkrp(ExecutionSpace const& exec, PackedTensor<Scalar, Index, MemorySpace> const& X,
                MttkrpOperands<Scalar, MemorySpace> const& operands, MttkrpStrategy strategy,
                CarryBuffers<Scalar, Index, MemorySpace>& carry, int split = -1) {
  check_mttkrp(X.dims, operands);
  int const deepest = X.order() > 1 ? X.order() - 2 : 0;
  expects(-1 <= split && split <= deepest, "mttkrp: split ", split, " of ", X.order() - 1,
          " modes");
  expects(X.row_mode == operands.n, "mttkrp: the tensor is packed for mode ", X.row_mode,
          ", the product is on mode ", operands.n);
  expects(strategy == MttkrpStrategy::automatic || is_by_rows(strategy), "mttkrp: strategy ",
          to_string(strategy), " does not work on a PackedTensor");
  int const kept = strategy != MttkrpStrategy::fibers ? 0 : split < 0 ? deepest : split;
  all_chunks<ExecutionSpace>(X).sum(
      exec, X, operands.V, carry, [&](auto const& instance, auto const& part, auto const& rows) {
        walk_packed(instance, list_label(strategy), part, rows, operands, kept);
      });
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_mttkrp(ExecutionSpace const& exec, PermutedTensor<Scalar, Index, MemorySpace> const& X,
                MttkrpOperands<Scalar, MemorySpace> const& operands, MttkrpStrategy strategy,
                CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  check_mttkrp(X.tensor.dims, operands);
  expects(strategy == MttkrpStrategy::automatic || strategy == MttkrpStrategy::permuted,
          "mttkrp: strategy ", to_string(strategy), " does not work on a PermutedTensor");
  mttkrp_permuted(exec, X, operands.A, operands.n, operands.V, carry);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_mttkrp(ExecutionSpace const& exec, CsfTensor<Scalar, Index, MemorySpace> const& X,
                MttkrpOperands<Scalar, MemorySpace> const& operands, MttkrpStrategy strategy,
                CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  check_mttkrp(X.dims, operands);
  expects(X.mode_order[0] == operands.n, "mttkrp: the tree's root is mode ", X.mode_order[0],
          ", the product is on mode ", operands.n);
  expects(strategy == MttkrpStrategy::automatic || strategy == MttkrpStrategy::csf,
          "mttkrp: strategy ", to_string(strategy), " does not work on a CsfTensor");
  mttkrp_csf(exec, X, operands.A, operands.V, carry);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_mttkrp(ExecutionSpace const& exec, AltoTensor<Scalar, Index, MemorySpace> const& X,
                MttkrpOperands<Scalar, MemorySpace> const& operands, MttkrpStrategy strategy,
                CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  check_mttkrp(X.dims, operands);
  expects(strategy == MttkrpStrategy::automatic || is_linear(strategy), "mttkrp: strategy ",
          to_string(strategy), " does not work on an AltoTensor");
  if (strategy != MttkrpStrategy::alto_atomic)
    refuse_atomics<ExecutionSpace>(
        "mttkrp", X, operands.n,
        is_gpu<ExecutionSpace> ? "a plan works" : "sorted, fibers, csf and permuted work");
  mttkrp_alto(exec, X, operands, carry);
}

/// The product of a plan's linear order, with X's values.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_linear(ExecutionSpace const& exec, AltoTensor<Scalar, Index, MemorySpace> const& X,
                MttkrpOperands<Scalar, MemorySpace> const& operands, MttkrpStrategy strategy,
                MttkrpWork<Scalar, Index, MemorySpace>& work) {
  if constexpr (is_gpu<ExecutionSpace>) {
    if (!work.pulls.empty())
      return mttkrp_alto_pull(exec, X, work.pulls[static_cast<std::size_t>(operands.n)], operands,
                              work.carry);
  }
  run_mttkrp(exec, X, operands, strategy, work.carry);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_mttkrp(ExecutionSpace const& exec, FlycooTensor<Scalar, Index, MemorySpace> const& X,
                MttkrpOperands<Scalar, MemorySpace> const& operands, MttkrpStrategy strategy,
                CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  check_mttkrp(X.dims, operands);
  expects(X.mode == operands.n, "mttkrp: the tensor is in the order of mode ", X.mode,
          ", the product is on mode ", operands.n, ": remap moves it");
  expects(strategy == MttkrpStrategy::automatic || facts_of(strategy).is_flycoo,
          "mttkrp: strategy ", to_string(strategy), " does not work on a FlycooTensor");
  if (strategy == MttkrpStrategy::flycoo_blocks)
    return mttkrp_flycoo_blocks(exec, X, operands.A, operands.V, false);
  mttkrp_flycoo(exec, X, operands.A, operands.V, 0, carry);
}

/// The product on mode n of a plan's tensor, which is left in the order of the next mode.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_and_remap(ExecutionSpace const& exec, FlycooTensor<Scalar, Index, MemorySpace>& X,
                   MttkrpOperands<Scalar, MemorySpace> const& operands, MttkrpChoice const& choice,
                   CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  check_mttkrp(X.dims, operands);
  while (X.mode != operands.n) remap(exec, X);
  bool const moves = X.order() > 1;
  if (choice.strategy == MttkrpStrategy::flycoo_blocks) {
    mttkrp_flycoo_blocks(exec, X, operands.A, operands.V, moves);
    if (moves) take_next_order(X);
  } else {
    mttkrp_flycoo(exec, X, operands.A, operands.V, choice.split, carry);
    remap(exec, X);
  }
}

/// V's rows of mode n, or the parts of them, that are summed here, from the factor rows that the
/// nonzeros name. chunks: see row_chunks.hpp.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Chunks>
void sum_product(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan,
                 MttkrpOperands<Scalar, MemorySpace> const& operands, Chunks const& chunks) {
  auto const& A = operands.A;
  auto const& V = operands.V;
  int const n = operands.n;
  auto const& choice = plan.choices[static_cast<std::size_t>(n)];
  auto& work = plan.work;
  int const split = choice.strategy == MttkrpStrategy::fibers ? choice.split : 0;
  bool const is_rounded = choice.gather != GatherPrecision::full;
  plan.formats.visit(n, [&](auto& X) {
    using Format = std::decay_t<decltype(X)>;
    if constexpr (is_instance<Format, PackedTensor>) {
      if (is_rounded) work.rounded.round(exec, choice.gather, A, static_cast<std::size_t>(n));
      chunks.sum(
          exec, X, V, work.carry, [&](auto const& instance, auto const& part, auto const& rows) {
            if (is_rounded)
              walk_rounded(instance, part, rows, work.rounded, choice.gather, V, split);
            else
              walk_packed(instance, list_label(choice.strategy), part, rows, operands, split);
          });
    } else if constexpr (is_instance<Format, FlycooTensor>) {
      run_and_remap(exec, X, operands, choice, work.carry);
    } else {
      if constexpr (is_instance<Format, CooTensor>)
        if (is_by_rows(choice.strategy))
          return chunks.sum(exec, X, V, work.carry,
                            [&](auto const& instance, auto const& part, auto const& rows) {
                              walk_coo(instance, part, rows, A, n, V);
                            });
      if constexpr (is_instance<Format, AltoTensor>)
        run_linear(exec, X, operands, choice.strategy, work);
      else
        run_mttkrp(exec, X, operands, choice.strategy, work.carry);
    }
  });
}

/// The product of a plan.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_mttkrp(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan,
                Factors<Scalar, MemorySpace> const& A, int n,
                Matrix<Scalar, MemorySpace> const& V) {
  expects(n >= 0 && n < plan.order(), "mttkrp: mode ", n, " of a tensor of order ", plan.order());
  Region const region("sporades::mttkrp ",
                      to_string(plan.choices[static_cast<std::size_t>(n)].strategy), ", mode ", n);
  in_step(plan, [&] {
    if (plan.work.distributed)
      check_mttkrp<Scalar, MemorySpace>(product_dims(plan, n), {A, n, V}, " on this process");
    else
      check_mttkrp<Scalar, MemorySpace>(plan.dims, {A, n, V});
    auto const& factors = gathered(exec, plan, A, n);
    deliver(exec, plan, n, V, [&](auto const& chunks, auto const& sums) {
      sum_product(exec, plan, {factors, n, sums}, chunks);
    });
  });
}

}  // namespace detail

template <class ExecutionSpace, class Tensor, class FactorsType, class Output>
void mttkrp(ExecutionSpace const& exec, Tensor const& X, FactorsType const& A, int n,
            Output const& V, MttkrpStrategy strategy) {
  using AnyPlan = MttkrpPlan<double, std::uint32_t, Kokkos::HostSpace>;
  constexpr bool is_known = decltype(AnyPlan::formats)::template holds<Tensor>;
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
      detail::run_mttkrp(exec, X, {detail::as_factors<Tensor>(A), n, product}, strategy, carry);
    }
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class FactorsType,
          class Output>
void mttkrp(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan,
            FactorsType const& A, int n, Output const& V) {
  using Plan = MttkrpPlan<Scalar, Index, MemorySpace>;
  if constexpr (detail::check_types<ExecutionSpace, Plan, FactorsType, Output>()) {
    Matrix<Scalar, MemorySpace> const& product = V;
    detail::run_mttkrp(exec, plan, detail::as_factors<Plan>(A), n, product);
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
  if (!plan.work.pulls.empty()) rows += 2 * static_cast<double>(plan.work.pulls[n].sums());
  for (int m = 0; m < plan.order(); ++m)
    if (m != n)
      rows += is_rounded ? static_cast<double>(plan.dims[m]) : detail::used_rows(exec, plan, m);
  return {static_cast<double>(plan.nnz) * plan.order() * R,
          detail::bytes_read(plan, n) + rows * R * static_cast<double>(sizeof(Scalar))};
}

}  // namespace sporades

#include <sporades/eti/run_mttkrp.hpp>
