// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>
#include <sporades/core/types.hpp>

namespace sporades::detail {

/// The place of an entry in a row-major array over some modes of a tensor, from the entry's
/// coordinates, and back: a mixed-radix number, the last mode is the fastest.
struct RowMajor {
  int modes = 0;
  int mode[max_order] = {};
  std::uint64_t dim[max_order] = {};

  RowMajor(Dims const& dims, std::vector<int> const& listed)
      : modes(static_cast<int>(listed.size())) {
    for (int k = 0; k < modes; ++k) {
      mode[k] = listed[k];
      dim[k] = dims[mode[k]];
    }
  }

  template <class Coordinates>
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t place(Coordinates const& coordinates,
                                                  Position p) const {
    std::uint64_t at = 0;
    for (int k = 0; k < modes; ++k) at = at * dim[k] + coordinates(mode[k], p);
    return at;
  }
  template <class Coordinates>
  KOKKOS_FORCEINLINE_FUNCTION void unplace(std::uint64_t at, Coordinates const& coordinates,
                                           Position p) const {
    using Index = typename Coordinates::non_const_value_type;
    for (int k = modes - 1; k >= 0; --k) {
      coordinates(mode[k], p) = static_cast<Index>(at % dim[k]);
      at /= dim[k];
    }
  }
};

/// Throws Error, with `where` as the message's beginning, if the fibers of mode n, of which there
/// is one for every tuple of indices of these other modes, are more than 64 bits can number.
inline void check_fiber_numbers(Dims const& dims, std::vector<int> const& other_modes, int n,
                                char const* where) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t last = 0;  // number of the last fiber
  double fibers = 1;
  bool fits = true;
  for (int mode : other_modes) {
    fibers *= static_cast<double>(dims[mode]);
    if (dims[mode] == 0) return;
    fits = fits && last <= (most - (dims[mode] - 1)) / dims[mode];
    if (fits) last = last * dims[mode] + (dims[mode] - 1);
  }
  expects(fits, where, ": mode ", n, " has ", fibers,
          " fibers, empty ones included, more than the 2^64 = 18446744073709551616 that 64 bits "
          "number");
}

}  // namespace sporades::detail
