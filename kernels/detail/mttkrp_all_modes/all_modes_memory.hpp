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

/// A tree's grid, the plan for its products, and K and T.
template <class Scalar, class ExecutionSpace>
void count_grid(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                TreeDims const& dims, MttkrpOptions const& options) {
  auto grid = X.with_dims(dims.grid);
  grid.nnz = static_cast<double>(dims.cells());
  FiberCountBound tuples(grid);
  MttkrpOptions const products{options.strategy, options.rank};
  count.hold(grid.bytes());
  count_mttkrp_plan<Scalar>(exec, count, grid, products,
                            decide_layout<ExecutionSpace>(grid, products), tuples);
  count.hold(grid.bytes() + 2 * matrix_bytes<Scalar>(grid.nnz, options.rank));
}

/// make_mttkrp_all_modes_plan of an X that is handed over, and that `count` holds.
template <class Scalar, class ExecutionSpace, class Tuples>
void count_all_modes_plan(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                          MttkrpAllModesOptions const& options, Tuples& tuples) {
  auto const products = options_for<Scalar>(options.products);
  auto const fused = wanted_fused_modes<ExecutionSpace, Scalar>(X.dims, X.count(), options);
  auto const layout = decide_layout<ExecutionSpace>(X, products);
  MemoryCount plain = count;
  if (!fused.empty()) {
    TreeDims const dims(X.dims, fused);
    auto const whole = X.with_dims(dims.whole);
    FiberCountBound whole_tuples(whole);
    count.hold(whole.coordinate_bytes());
    count.release(X.coordinate_bytes());
    count_mttkrp_plan<Scalar>(exec, count, whole, products,
                              decide_layout<ExecutionSpace>(whole, products), whole_tuples);
    count_grid<Scalar>(exec, count, X, dims, products);
    if (layout.strategy() != MttkrpStrategy::alto) return;
  }
  count_mttkrp_plan<Scalar>(exec, plain, X, products, layout, tuples);
  count.take_larger(plain);  // it is plain where fused modes would scatter X
}

/// Whether a plan with fused modes takes no more than it may, whatever the nonzeros are.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
bool fused_modes_fit(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                     MttkrpAllModesOptions const& options) {
  auto const shape = shape_of(X);
  FiberCountBound possible(shape);
  MemoryCount count;
  count.hold(shape.bytes());
  count_all_modes_plan<Scalar>(exec, count, shape, options, possible);
  double const at_most = with_small_views(count.peak()) + (is_last(X) ? 0 : shape.bytes());
  double const memory = static_cast<double>(options.products.memory);
  if (memory == 0 && at_most < (64 << 20)) return true;
  return at_most <= (memory > 0 ? memory : memory_to_take(exec) + shape.bytes());
}

}  // namespace sporades::detail

#endif
