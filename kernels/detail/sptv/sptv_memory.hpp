// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/detail/format_memory.hpp>
#include <sporades/kernels/detail/carry_count.hpp>
#include <sporades/kernels/sptv.hpp>

/// What plans for SpTV hold: as formats/detail/format_memory.hpp.

namespace sporades::detail {

/// split_fibers: long fibers, of which a host may have one in 2 blocks of entries, or windows.
template <class ExecutionSpace, class Scalar>
double split_bytes(double entries, double fibers) {
  using Split = FiberSplit<Scalar, Kokkos::HostSpace>;
  double const longs = std::floor(entries / double{Split::template longest_alone<ExecutionSpace>});
  double const blocks = entries / double{Split::block} + longs;
  double bytes = longs * sizeof(typename Split::LongFiber) + blocks * sizeof(Scalar);
  if (is_gpu<ExecutionSpace>)
    bytes +=
        std::ceil(entries / double{Split::window_length}) * sizeof(typename Split::Window) + fibers;
  return bytes;
}

/// make_sptv_plan of an X that is kept: the plan stays held. Padding of HocfsSlices::ell, which
/// depends on the longest fibers, is not counted.
template <class Scalar, class ExecutionSpace, class Tuples>
void count_sptv_plan(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X, int n,
                     SptvOptions const& options, Tuples& tuples) {
  auto const modes = cyclic_modes(n, X.order(), "memory_need");
  std::size_t const others = modes.size() - 1;
  if (options.updatable) {
    count.hold(
        X.value_bytes());  // numbers, while it is built; the format of an X in order keeps them
    count.hold(numbers_bytes(X.nnz));
    if (plan_reordering(X.sorted_modes, modes).compared > 0) count.release(X.value_bytes());
  }
  double const fibers = tuples.of(modes, others);
  double const indices = X.nnz * X.index_bytes;
  auto strategy = options.strategy;
  if (strategy == SptvStrategy::automatic)
    strategy = from_name<SptvStrategy>(choose_sptv<ExecutionSpace>(X.dims, X.count(), n).choice);
  if (strategy == SptvStrategy::hocfs) {
    double const before = count.held();
    bool const is_new = plan_reordering(X.sorted_modes, modes).compared > 0;
    count_csf(exec, count, X, modes, tuples);
    double const slices = others > 1 ? tuples.of(modes, others - 1) : 1;
    count.pass(8 * (slices + fibers + 1) + slices);  // to see which are even
    double tree = indices + (is_new ? X.value_bytes() : 0) + 8 * (fibers + 2) + 9 * slices;
    for (std::size_t l = 1; l <= others; ++l)
      tree += tuples.of(modes, l) * (X.index_bytes + (l < others ? 8 : 0)) + 8;
    count.hold_in_all(before + tree);
  } else {
    bool is_new = false;
    count_sorted(exec, count, X, modes, is_new);
    if (strategy != SptvStrategy::hocoo) {
      double rows = 1;
      for (std::size_t k = 0; k < others; ++k) rows *= static_cast<double>(X.dims[modes[k]]);
      double const all = fibers_bytes(X.nnz, fibers, X.order(), X.index_bytes);
      double const kept = strategy == SptvStrategy::hocsr ? 8 * (rows + 1) + indices
                                                          : 8 * (2 * fibers + 1) + indices;
      count.hold(all);
      count.hold(kept - indices);
      count.release(all - indices + (is_new ? X.coordinate_bytes() : 0));
      if (strategy == SptvStrategy::hocsr) {
        count.hold(8 * std::ceil(rows / double{row_window}));
        count.pass(8 * fibers + fibers * X.index_bytes * static_cast<double>(others));
      }
    }
  }
  count.hold(fibers * X.index_bytes * static_cast<double>(others));
  if (strategy == SptvStrategy::hocoo) {
    Position const chunks = chunks_of(X.count(), segment_length<ExecutionSpace>(X.count()));
    count.hold(8 * static_cast<double>(chunks));
    CarryCount().reserve<Scalar>(count, chunks, 1, sizeof(Position));
  } else {
    count.hold(split_bytes<ExecutionSpace, Scalar>(X.nnz, fibers));
  }
}

}  // namespace sporades::detail
