// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/bits.hpp>
#include <sporades/core/types.hpp>

namespace sporades::detail {

/// What a sort moves: in each word the bits of an item's key, above the item's number.
template <class MemorySpace>
using Words = Kokkos::View<std::uint64_t*, MemorySpace>;

/// The bits [begin, end) of a word or a key.
struct BitRange {
  int begin;
  int end;
  KOKKOS_INLINE_FUNCTION int width() const { return end - begin; }
};

/// Cuts bits into the smallest number of digits of at most `widest` bits, all of about the same
/// width, and calls pass(BitRange) for each, least significant first.
template <class Pass>
void for_each_digit(BitRange bits, int widest, Pass const& pass) {
  int const passes = (bits.width() + widest - 1) / widest;
  for (int k = 0; k < passes; ++k)
    pass(BitRange{bits.begin + bits.width() * k / passes,
                  bits.begin + bits.width() * (k + 1) / passes});
}

}  // namespace sporades::detail
