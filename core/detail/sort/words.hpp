// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/bits.hpp>
#include <sporades/core/types.hpp>

namespace sporades::detail {

/// What is moved by a sort: bits of the key above, the number of the item below.
template <class MemorySpace>
using Words = Kokkos::View<std::uint64_t*, MemorySpace>;

/// The bits [begin, end) of a word, that a sort compares.
struct BitRange {
  int begin;
  int end;
  KOKKOS_INLINE_FUNCTION int width() const { return end - begin; }
};

/// Cuts bits into as few digits of at most `widest` bits as there can be, all about as wide, and
/// calls pass(BitRange) for each, least significant first.
template <class Pass>
void for_each_digit(BitRange bits, int widest, Pass const& pass) {
  int const passes = (bits.width() + widest - 1) / widest;
  for (int k = 0; k < passes; ++k)
    pass(BitRange{bits.begin + bits.width() * k / passes,
                  bits.begin + bits.width() * (k + 1) / passes});
}

}  // namespace sporades::detail
