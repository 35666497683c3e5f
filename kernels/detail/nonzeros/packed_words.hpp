// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/packed_tensor.hpp>
#include <sporades/kernels/detail/work_items.hpp>

/// The words of a PackedTensor, as kernels load them.

namespace sporades::detail {

/// Words of one width: GPUs.
template <class WordType, class MemorySpace>
struct OneWidth {
  using Word = WordType;

  RawVector<Word const, MemorySpace> words;  // nnz
  KOKKOS_FORCEINLINE_FUNCTION constexpr Word flag() const { return row_flag<Word>; }
  KOKKOS_FORCEINLINE_FUNCTION Word operator()(Position p) const { return words(p); }
  KOKKOS_FORCEINLINE_FUNCTION Word const* at(Position p) const { return words.data() + p; }
};

/// Words of 32 or 64 bits, told apart at each load: CPUs predict it, and half the code is enough.
template <class MemorySpace>
struct EitherWidth {
  using Word = std::uint64_t;

  std::uint32_t const* narrow;  // nnz, or null
  std::uint64_t const* wide;    // nnz, or null
  KOKKOS_FORCEINLINE_FUNCTION Word flag() const {
    return wide ? row_flag<Word> : Word{row_flag<std::uint32_t>};
  }
  KOKKOS_FORCEINLINE_FUNCTION Word operator()(Position p) const {
    return wide ? wide[p] : narrow[p];
  }
};

}  // namespace sporades::detail
