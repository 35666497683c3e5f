// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/detail/estimate_fiber_counts.hpp>
#include <sporades/kernels/detail/carry_count.hpp>
#include <sporades/kernels/sptv.hpp>

/// What plans for SpTV hold.

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
  double const others = static_cast<double>(modes.size() - 1);
  double const fibers = tuples.of(modes, modes.size() - 1);
  if (options.updatable) count.hold(X.value_bytes() + numbers_bytes(X.nnz));
  auto strategy = with_same_format(options.strategy);
  if (strategy == SptvStrategy::automatic)
    strategy = from_name<SptvStrategy>(choose_sptv<ExecutionSpace>(X.dims, X.count(), n).choice);
  double rows = 1;
  for (std::size_t k = 0; k + 1 < modes.size(); ++k) rows *= static_cast<double>(X.dims[modes[k]]);
  Position const chunks = chunks_of(X.count(), segment_length<ExecutionSpace>(X.count()));
  switch (strategy) {
    case SptvStrategy::hocoo:
      count.make(sorted_bytes(exec, X, modes));
      count.hold(8 * static_cast<double>(chunks) + carry_bytes<Scalar>(chunks, 1));
      break;
    case SptvStrategy::hocsr:
      count.make(compressed_fibers_bytes(exec, X, modes, fibers, 8 * (rows + 1)));
      count.hold(8 * std::ceil(rows / double{row_window}));
      count.pass(fibers * (8 + X.index_bytes * others));  // and the rows with nonzeros
      break;
    case SptvStrategy::cfb:
      count.make(compressed_fibers_bytes(exec, X, modes, fibers, 8 * (2 * fibers + 1)));
      break;
    default:
      count.make(hocfs_bytes(exec, X, modes, options.slices == HocfsSlices::ell, tuples));
  }
  count.hold(fibers * X.index_bytes * others);
  if (strategy != SptvStrategy::hocoo)
    count.hold(split_bytes<ExecutionSpace, Scalar>(X.nnz, fibers));
  if (options.updatable && !is_sorted_by(X, modes)) count.release(X.value_bytes());
}

}  // namespace sporades::detail
