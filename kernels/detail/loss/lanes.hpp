// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/launch.hpp>
#include <sporades/core/types.hpp>
#include <sporades/kernels/loss.hpp>

namespace sporades::detail {

/// What entries are summed in: blocks of 32 lanes of 64. A block leaves the sums of its lanes, then
/// how many entries of each lane the loss does not allow.
struct LossBlocks {
  static constexpr int lanes = 32, sums = 2 * lanes;
  static constexpr Position length = 64 * lanes;

  static Position count(Position nnz) { return nnz / length + (nnz % length != 0); }
};

/// Calls use(row, column) for a number of an entry, which counts row by row. GPUs divide numbers of
/// 64 bits in more time than they take for an entry.
template <class Use>
KOKKOS_FORCEINLINE_FUNCTION void with_entry(std::uint64_t number, std::size_t columns,
                                            Use const& use) {
  if (number >> 32 == 0) {
    auto const small = static_cast<std::uint32_t>(number), R = static_cast<std::uint32_t>(columns);
    use(small / R, small % R);
  } else {
    use(number / columns, number % columns);
  }
}

/// The only kernel of generalised CP that depends on the loss: of each entry f(x, m) - P(m), and
/// its derivative where that is wanted. P: what the sum over all cells counts of it.
template <class ExecutionSpace, class Scalar, class Loss>
struct LossLanes {
  static constexpr int lanes = LossBlocks::lanes;

  Loss loss;
  double c0, c1, c2, c3;  // of P
  Scalar const* x;
  double const* m;
  Scalar* derivatives;  // null: not wanted
  double* out;          // LossBlocks::sums a block
  Position count;

  std::uint64_t items() const {
    return LossBlocks::count(count) * (is_gpu<ExecutionSpace> ? lanes : 1);
  }

  KOKKOS_FUNCTION void operator()(std::uint64_t item) const {
    if constexpr (is_gpu<ExecutionSpace>)
      sum<1>(item / lanes, static_cast<int>(item % lanes));
    else
      sum<lanes>(item, 0);
  }

  /// The lanes from `lane` on, `width` of them.
  template <int width>
  KOKKOS_INLINE_FUNCTION void sum(Position b, int lane) const {
    double terms[width] = {}, refused[width] = {};
    Position const begin = b * LossBlocks::length;
    Position const end = begin + LossBlocks::length < count ? begin + LossBlocks::length : count;
    for (Position p = begin + lane; p < end; p += lanes)
      for (int l = 0; l < width && p + l < end; ++l) {
        terms[l] += term(p + l);
        if (!loss.allows(static_cast<double>(x[p + l]))) refused[l] += 1;
      }
    double* const sums = out + b * LossBlocks::sums + lane;
    for (int l = 0; l < width; ++l) {
      sums[l] = terms[l];
      sums[lanes + l] = refused[l];
    }
  }

  KOKKOS_INLINE_FUNCTION double term(Position p) const {
    auto const entry = static_cast<double>(x[p]);
    double const model = m[p];
    if (derivatives != nullptr) {
      double const of_cells = c1 + model * (2 * c2 + model * (3 * c3));
      derivatives[p] =
          static_cast<Scalar>(static_cast<double>(loss.derivative(entry, model)) - of_cells);
    }
    double const of_cells = c0 + model * (c1 + model * (c2 + model * c3));
    return static_cast<double>(loss.value(entry, model)) - of_cells;
  }
};

}  // namespace sporades::detail
