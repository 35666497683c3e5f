// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/region.hpp>
#include <sporades/kernels/detail/cost.hpp>
#include <sporades/kernels/detail/spttm/baselines/scratch.hpp>
#include <sporades/kernels/detail/spttm/baselines/thread_blocks.hpp>
#include <sporades/kernels/detail/spttm/lanes.hpp>
#include <sporades/kernels/detail/spttm/spmm_library.hpp>
#include <sporades/kernels/detail/spttm/spmm_nonzeros.hpp>
#include <sporades/kernels/detail/spttm/spmm_rows.hpp>
#include <sporades/kernels/spttm.hpp>

/// The products of kernels/spttm.hpp, by buffers that the caller keeps from one to the next.

namespace sporades {
namespace detail {

template <class Scalar, class Index, class MemorySpace>
void check_spttm(HierarchicalTensor<Scalar, Index, MemorySpace> const& X,
                 Matrix<Scalar, MemorySpace> const& U,
                 ScooTensor<Scalar, Index, MemorySpace> const& Y) {
  int const n = X.mode();
  expects(U.extent(0) == X.dims[n], "spttm: U has ", U.extent(0), " rows, mode ", n, " has ",
          X.dims[n]);
  expects(Y.order() == X.order(), "spttm: Y is of order ", Y.order(), ", X of order ", X.order());
  expects(Y.dense_modes == std::vector<int>{n}, "spttm: Y must have one dense mode, ", n);
  for (int m = 0; m < X.order(); ++m) {
    auto const length = m == n ? U.extent(1) : X.dims[m];
    expects(Y.dims[m] == length, "spttm: mode ", m, " of Y has length ", Y.dims[m], ", not ",
            length);
  }
  expects(Y.fibers() == X.fibers.count(), "spttm: Y has ", Y.fibers(), " fibers, X has ",
          X.fibers.count());
  expects(Y.coordinates.data() == X.fibers.coordinates.data(),
          "spttm: Y does not share X's coordinates; make it by make_spttm_output");
  expects(U.data() != Y.values.data() || U.span() == 0, "spttm: Y is U");
}

/// The strategies of Ma et al. that divide a row among threads.
inline bool takes_block(SpttmStrategy strategy) {
  return strategy >= SpttmStrategy::naive && strategy <= SpttmStrategy::scratch;
}

/// block: of the strategies that take one.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_spttm(ExecutionSpace const& exec, HierarchicalTensor<Scalar, Index, MemorySpace> const& X,
               Matrix<Scalar, MemorySpace> const& U,
               ScooTensor<Scalar, Index, MemorySpace> const& Y, SpttmStrategy strategy,
               CarryBuffers<Scalar, Position, MemorySpace>& carry, ThreadBlock const& block = {}) {
  check_spttm(X, U, Y);
  FiberProduct<Scalar, Index, MemorySpace> const product(X, U, Y.values);
  switch (strategy) {
    case SpttmStrategy::naive:  // Algorithm 2; on one thread, Algorithm 1
      return spttm_by_blocks<BlockOf::fibers>(exec, "sporades::spttm::naive", product, block);
    case SpttmStrategy::fine_grained:  // Algorithm 3
      return spttm_by_blocks<BlockOf::fibers_by_thread>(exec, "sporades::spttm::fine_grained",
                                                        product, block);
    case SpttmStrategy::coalesced:  // section 4.2.3: Algorithm 3 with its two dimensions exchanged
      return spttm_by_blocks<BlockOf::columns_by_thread>(exec, "sporades::spttm::coalesced",
                                                         product, block);
    case SpttmStrategy::rank_blocked:  // section 4.2.4: Algorithm 3 with its loops exchanged
      return spttm_by_blocks<BlockOf::columns_by_thread, true>(
          exec, "sporades::spttm::rank_blocked", product, block);
    case SpttmStrategy::scratch:
      return spttm_scratch(exec, product, block);
    case SpttmStrategy::spmm_rows:
      return spttm_spmm_rows(exec, X, U, Y.values);
    case SpttmStrategy::spmm_nonzeros:
      return spttm_spmm_nonzeros(exec, X, U, Y.values, carry);
    case SpttmStrategy::spmm_library:
      return spttm_spmm_library(exec, X, U, Y.values);
    default:
      return spttm_lanes(exec, X, U, Y, carry);
  }
}

/// U^T, I_n x R, in the plan's memory.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Matrix<Scalar, MemorySpace> transpose(ExecutionSpace const& exec,
                                      SpttmPlan<Scalar, Index, MemorySpace>& plan,
                                      Matrix<Scalar, MemorySpace> const& U) {
  std::size_t const stride = padded_columns(U.extent(0));
  if (plan.transposed.extent(0) < stride * U.extent(1))
    plan.transposed = uninitialized<Vector<Scalar, MemorySpace>>(
        exec, "sporades::spttm::transposed", stride * U.extent(1));
  auto const to = matrix_at<Matrix<Scalar, MemorySpace>>(plan.transposed.data(), U.extent(1),
                                                         U.extent(0), stride);
  launch_items(
      exec, "sporades::spttm::transpose", to.extent(0) * to.extent(1),
      TransposeMatrix<RawMatrix<Scalar const, MemorySpace>, RawMatrix<Scalar, MemorySpace>>{U, to});
  return to;
}

/// Bytes that a strategy reads of X's fibers.
template <class Scalar, class Index, class MemorySpace>
double fiber_bytes(HierarchicalTensor<Scalar, Index, MemorySpace> const& X,
                   SpttmStrategy strategy) {
  bool const is_lanes = strategy == SpttmStrategy::automatic || strategy == SpttmStrategy::lanes;
  return fiber_bytes(X.fibers, is_lanes && sums_windows(X.fibers));
}

/// Whether the types of a product's tensors agree.
template <class Tensor, class Output>
constexpr bool check_output() {
  using Index = typename Tensor::Index;
  constexpr bool fits =
      std::is_same_v<Output,
                     ScooTensor<typename Tensor::Scalar, Index, typename Tensor::MemorySpace>>;
  static_assert(fits,
                "the product must be a ScooTensor of the tensor's types: make_spttm_output and "
                "make_sspttm_output make it");
  return fits;
}

}  // namespace detail

template <class ExecutionSpace, class Tensor, class Input, class Output>
void spttm(ExecutionSpace const& exec, Tensor const& X, Input const& U, Output const& Y,
           SpttmStrategy strategy) {
  static_assert(detail::is_instance<Tensor, HierarchicalTensor>,
                "spttm takes an SpttmPlan that is not const, or a HierarchicalTensor");
  if constexpr (detail::is_instance<Tensor, HierarchicalTensor>)
    if constexpr (detail::check_types<ExecutionSpace, Tensor, Input>())
      if constexpr (detail::check_output<Tensor, Output>()) {
        detail::Region const region("sporades::spttm ", to_string(strategy), ", mode ", X.mode());
        detail::MatrixOf<Tensor> const& matrix = U;
        detail::CarryBuffers<typename Tensor::Scalar, Position, typename Tensor::MemorySpace> carry;
        detail::run_spttm(exec, X, matrix, Y, strategy, carry);
      }
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Input,
          class Output>
void spttm(ExecutionSpace const& exec, SpttmPlan<Scalar, Index, MemorySpace>& plan, Input const& U,
           int n, Output const& Y, TtmMatrix layout) {
  using Plan = SpttmPlan<Scalar, Index, MemorySpace>;
  if constexpr (detail::check_types<ExecutionSpace, Plan, Input>())
    if constexpr (detail::check_output<Plan, Output>()) {
      expects(n >= 0 && n < plan.order(), "spttm: mode ", n, " of a tensor of order ",
              plan.order());
      auto const strategy = plan.choices[n].strategy;
      detail::Region const region("sporades::spttm ", to_string(strategy), ", mode ", n);
      auto const& X = plan.tensors[n];
      Matrix<Scalar, MemorySpace> const& matrix = U;
      if (layout == TtmMatrix::mode_by_rank)
        return detail::run_spttm(exec, X, matrix, Y, strategy, plan.carry);
      expects(U.extent(1) == X.dims[n], "spttm: U has ", U.extent(1), " columns, mode ", n, " has ",
              X.dims[n]);
      expects(U.data() != Y.values.data() || U.span() == 0, "spttm: Y is U");
      detail::run_spttm(exec, X, detail::transpose(exec, plan, matrix), Y, strategy, plan.carry);
    }
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Cost spttm_cost(ExecutionSpace const& exec, HierarchicalTensor<Scalar, Index, MemorySpace> const& X,
                int R, SpttmStrategy strategy) {
  double const nnz = static_cast<double>(X.nnz()), fibers = static_cast<double>(X.fibers.count());
  double const rows = detail::used_rows(
      exec, X.dims[X.mode()], X.nnz(), detail::RawVector<Index const, MemorySpace>(X.fibers.index));
  return {2 * nnz * R, detail::fiber_bytes(X, strategy) +
                           (nnz + (rows + fibers) * R) * static_cast<double>(sizeof(Scalar))};
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Cost spttm_cost(ExecutionSpace const& exec, SpttmPlan<Scalar, Index, MemorySpace> const& plan,
                int R, int n) {
  expects(n >= 0 && n < plan.order(), "spttm_cost: mode ", n, " of a tensor of order ",
          plan.order());
  return spttm_cost(exec, plan.tensors[n], R, plan.choices[n].strategy);
}

}  // namespace sporades

#include <sporades/eti/run_spttm.hpp>
