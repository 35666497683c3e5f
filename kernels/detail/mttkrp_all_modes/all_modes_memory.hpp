// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// First the front door, which includes this file where it belongs: hence a guard.
#include <sporades/kernels/mttkrp_all_modes.hpp>

#ifndef SPORADES_KERNELS_MTTKRP_ALL_MODES_ALL_MODES_MEMORY
#define SPORADES_KERNELS_MTTKRP_ALL_MODES_ALL_MODES_MEMORY

#include <sporades/kernels/detail/mttkrp/mttkrp_memory.hpp>
#include <sporades/kernels/detail/mttkrp_all_modes/dimension_tree.hpp>

/// What plans for MTTKRP on all modes hold.

namespace sporades::detail {

/// The modes that a plan fuses, unless they do not fit its memory or scatter its nonzeros. (Sums of
/// fused modes are not rounded: half may not hold them.)
template <class ExecutionSpace, class Scalar>
std::vector<int> wanted_fused_modes(Dims const& dims, Position nnz,
                                    MttkrpAllModesOptions const& options) {
  auto const products = options_for<Scalar>(options.products);
  bool const may = options.dimension_tree && products.strategy == MttkrpStrategy::automatic &&
                   products.gather == GatherPrecision::full && products.slices.count == 1;
  return may ? choose_fused_modes<ExecutionSpace, Scalar>(dims, nnz, products.rank)
             : std::vector<int>();
}

/// make_mttkrp_plan of an X that is handed over.
template <class Scalar, class ExecutionSpace, class Tuples>
void count_own_plan(ExecutionSpace const& exec, MemoryCount& count, CountedTensor const& X,
                    MttkrpOptions const& options, Tuples& tuples) {
  count_mttkrp_plan<Scalar>(exec, count, X, options, decide_layout<ExecutionSpace>(X, options),
                            tuples);
}

/// make_dimension_tree of these modes of an X that is handed over.
template <class Scalar, class ExecutionSpace, class Tuples>
void count_fused_tree(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                      std::vector<int> const& fused, MttkrpOptions const& options, Tuples& tuples) {
  TreeDims const dims(X.dims, fused);
  CooShape whole = X, grid = X;
  whole.dims = dims.whole;
  grid.dims = dims.grid;
  double const cells = static_cast<double>(dims.cells());
  grid.nnz = cells;
  whole.sorted_modes = grid.sorted_modes = {};
  count.hold(whole.coordinate_bytes());
  count.release(X.coordinate_bytes());
  auto const rows_of_whole = [&](int n) {
    return n == 0 ? tuples.of(fused, fused.size())
                  : tuples.rows(dims.others[static_cast<std::size_t>(n - 1)]);
  };
  count_own_plan<Scalar>(exec, count, {whole, true, rows_of_whole}, options, tuples);
  count.hold(grid.bytes());
  auto const rows_of_grid = [&](int n) { return static_cast<double>(grid.dims[n]); };
  count_own_plan<Scalar>(exec, count, {grid, true, rows_of_grid}, options, tuples);
  count.hold(grid.bytes() + 2 * matrix_bytes<Scalar>(cells, options.rank));
}

/// make_mttkrp_all_modes_plan of an X that is handed over.
template <class Scalar, class ExecutionSpace, class Tuples>
void count_all_modes_plan(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                          MttkrpAllModesOptions const& options, Tuples& tuples) {
  auto const products = options_for<Scalar>(options.products);
  auto const fused = wanted_fused_modes<ExecutionSpace, Scalar>(X.dims, X.count(), options);
  auto const layout = decide_layout<ExecutionSpace>(X, products);
  auto other = count;
  if (!fused.empty()) count_fused_tree<Scalar>(exec, count, X, fused, products, tuples);
  if (!fused.empty() && layout.strategy() != MttkrpStrategy::alto) return;
  count_own_plan<Scalar>(exec, other, counted(X, true, tuples), products, tuples);
  if (fused.empty())
    count = other;
  else  // it is plain where fused modes would scatter X
    count.take_larger(other);
}

/// memory_need of a plan on all modes, with X in memory that exec works in; is_last: nobody else
/// holds it.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MemoryNeed all_modes_plan_memory(ExecutionSpace const& exec,
                                 CooTensor<Scalar, Index, MemorySpace> const& X,
                                 MttkrpAllModesOptions const& options, bool is_last) {
  auto const shape = shape_of(X);
  FiberCountEstimate<ExecutionSpace, std::decay_t<decltype(X)>> tuples(exec, X);
  MemoryCount count;
  count.hold(shape.bytes());
  count_all_modes_plan<Scalar>(exec, count, shape, options, tuples);
  double const beside = is_last ? 0 : shape.bytes();
  return {with_small_views(count.held()), with_small_views(count.peak() + beside), 0};
}

/// Whether a plan with fused modes takes no more than it may. Looks at the nonzeros only where it
/// may matter.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
bool fused_modes_fit(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                     MttkrpAllModesOptions const& options) {
  auto const shape = shape_of(X);
  FiberCountBound possible(shape);
  MemoryCount count;
  count.hold(shape.bytes());
  count_all_modes_plan<Scalar>(exec, count, shape, options, possible);
  double const beside = is_last(X) ? 0 : shape.bytes();
  double const memory = static_cast<double>(options.products.memory);
  double const at_most = with_small_views(count.peak() + beside);
  if (memory == 0 && at_most < (64 << 20)) return true;
  double const left = memory > 0 ? memory : memory_to_take(exec) + shape.bytes();
  return at_most <= left || all_modes_plan_memory(exec, X, options, is_last(X)).peak <= left;
}

}  // namespace sporades::detail

#endif
