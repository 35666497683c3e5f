// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/generate/cells.hpp>
#include <sporades/core/detail/launch.hpp>

namespace sporades::detail {

/// The cell's number in row-major order.
template <class Key>
struct CellNumbers {
  KeyFields fields;
  std::uint64_t dims[max_order];

  KOKKOS_INLINE_FUNCTION std::uint64_t number(Key const& key) const {
    std::uint64_t result = 0;
    for (int n = 0; n < fields.order; ++n) result = result * dims[n] + fields.get(key, n);
    return result;
  }
  KOKKOS_INLINE_FUNCTION Key key(std::uint64_t number) const {
    Key packed{};
    for (int n = fields.order - 1; n >= 0; --n) {
      fields.put(packed, n, number % dims[n]);
      number /= dims[n];
    }
    return packed;
  }
};

/// Picks among the cells that were never drawn: they are cut into as many strata as cells are
/// wanted, and each gives one.
template <class Key, class MemorySpace>
struct FillCells {
  CellNumbers<Key> cells;
  typename DrawnCells<Key, MemorySpace>::Keys drawn;
  DrawnCells<Key, MemorySpace> fill;
  std::uint64_t absent;
  std::uint64_t seed;

  KOKKOS_INLINE_FUNCTION std::uint64_t stratum(Position i) const {
    Position const wanted = fill.keys.extent(0);
    return absent / wanted * i + multiply_divide(i, absent % wanted, wanted);
  }
  KOKKOS_FUNCTION void operator()(Position i) const {
    std::uint64_t const first = stratum(i);
    std::uint64_t const ordinal = first + generate_bits(seed, i, 300) % (stratum(i + 1) - first);
    // The drawn cells that come before the absent cell of this ordinal.
    Position const before = bisect<Position>(
        0, drawn.extent(0), [&](Position k) { return cells.number(drawn(k)) - k <= ordinal; });
    fill.keys(i) = cells.key(ordinal + before);
    fill.counts(i) = 1;
  }
};

/// The drawn cells and as many others, spread evenly, as make `wanted` of them. The tensor has
/// fewer than 2^64 cells. Fences exec.
template <class ExecutionSpace, class Key, class MemorySpace>
DrawnCells<Key, MemorySpace> fill_cells(ExecutionSpace const& exec,
                                        DrawnCells<Key, MemorySpace> const& drawn, Dims const& dims,
                                        Position wanted, std::uint64_t seed) {
  FillCells<Key, MemorySpace> fill{{KeyFields(dims), {}}, drawn.keys, {}, 1, seed};
  for (std::size_t n = 0; n < dims.size(); ++n) {
    fill.cells.dims[n] = dims[n];
    fill.absent *= dims[n];
  }
  fill.absent -= drawn.size();
  fill.fill = allocate_cells<Key>(exec, wanted - drawn.size());
  launch_items(exec, "sporades::generate::fill", fill.fill.size(), fill);
  return merge_cells(exec, drawn, fill.fill);
}

}  // namespace sporades::detail
