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
  std::size_t const others = modes.size() - 1;
  if (options.updatable) {
    count.hold(
        X.value_bytes());  // numbers, while it is built; the format of an X in order keeps them
    count.hold(numbers_bytes(X.nnz));
    if (!is_sorted_by(X, modes)) count.release(X.value_bytes());
  }
  double const fibers = tuples.of(modes, others);
  double const indices = X.nnz * X.index_bytes;
  auto strategy = with_same_format(options.strategy);
  if (strategy == SptvStrategy::automatic)
    strategy = from_name<SptvStrategy>(choose_sptv<ExecutionSpace>(X.dims, X.count(), n).choice);
  double const values = is_sorted_by(X, modes) ? 0 : X.value_bytes();
  auto const list = sorted_bytes(exec, X, modes);
  if (strategy == SptvStrategy::hocfs) {
    auto const csf = csf_bytes(exec, X, modes, tuples);
    double const slices = others > 1 ? tuples.of(modes, others - 1) : 1;
    double tree = indices + values + 8 * (fibers + 2) + 9 * slices;
    for (std::size_t l = 1; l <= others; ++l)
      tree += tuples.of(modes, l) * (X.index_bytes + (l < others ? 8 : 0)) + 8;
    // ELL slices have entries of their own; those in rows stay until they are copied.
    bool const is_ell = options.slices == HocfsSlices::ell;
    double const peak = tree + indices + X.value_bytes() + 8 * (slices + fibers + 1);
    count.make({is_ell ? tree - values + X.value_bytes() : tree,
                std::max(csf.peak, is_ell ? peak : tree)});
  } else if (strategy == SptvStrategy::hocoo) {
    count.make(list);
  } else {
    double rows = 1;
    for (std::size_t k = 0; k < others; ++k) rows *= static_cast<double>(X.dims[modes[k]]);
    bool const has_rows = strategy == SptvStrategy::hocsr;
    double const begins = has_rows ? 8 * (rows + 1) : 8 * (2 * fibers + 1);
    double const all = fibers_bytes(X.nnz, fibers, X.order(), X.index_bytes);
    count.make({indices + begins + values, std::max(list.peak, list.kept + all + begins)});
    if (has_rows) {
      count.hold(8 * std::ceil(rows / double{row_window}));
      count.pass(8 * fibers + fibers * X.index_bytes * static_cast<double>(others));
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
