// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/nonzeros/factor_rows.hpp>
#include <sporades/kernels/detail/nonzeros/packed_words.hpp>
#include <sporades/kernels/detail/nonzeros/row_cursors.hpp>

namespace sporades::detail {

/// The nonzeros of a PackedTensor, whose rows are those of its row mode; see factor_rows.hpp.
template <class ScalarType, class Index, class MemorySpace, class Words, int Others,
          class Gathered = ScalarType>
struct PackedNonzeros
    : FactorRows<PackedNonzeros<ScalarType, Index, MemorySpace, Words, Others, Gathered>,
                 ScalarType, MemorySpace, Others, Gathered> {
  using Scalar = ScalarType;
  using Word = typename Words::Word;
  using Row = Index;
  static constexpr int capacity = Others == any_number ? max_order : Others;
  static constexpr bool has_words = true;
  struct Entry {
    Word word;
    Scalar value;
  };

  Words words;
  RawVector<Scalar const, MemorySpace> values;  // nnz
  RawVector<Index const, MemorySpace> row_names;
  RawVector<Position const, MemorySpace> marks;
  Kokkos::Array<int, capacity> shift;
  Kokkos::Array<Word, capacity> mask;

  KOKKOS_FORCEINLINE_FUNCTION Position size() const { return values.extent(0); }
  KOKKOS_FORCEINLINE_FUNCTION Entry fetch(Position p) const { return {words(p), values(p)}; }
  /// Whether batches of nonzeros that begin at multiples of their length are loaded 16 bytes at a
  /// time. In double that took registers of the walks over three modes and more, which were 7 to 26
  /// % slower for it on an H200.
  static constexpr bool loads_batches = sizeof(Scalar) == 4;

  /// Nonzeros p to p + count - 1.
  template <int count>
  KOKKOS_FORCEINLINE_FUNCTION void fetch(Position p, Entry (&entries)[count]) const {
    auto const word = load_tile<Word, count, true>(words.at(p));
    auto const value = load_tile<Scalar, count, true>(values.data() + p);
    for (int k = 0; k < count; ++k) entries[k] = {word[k], value[k]};
  }
  KOKKOS_FORCEINLINE_FUNCTION Word word(Position p) const { return words(p); }
  KOKKOS_FORCEINLINE_FUNCTION bool opens_row(Position p) const { return words(p) & words.flag(); }
  KOKKOS_FORCEINLINE_FUNCTION std::size_t index(Word word, int m) const {
    return static_cast<std::size_t>(word >> shift[m] & mask[m]);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::size_t index(Entry const& entry, int m) const {
    return index(entry.word, m);
  }
  /// Where in row_names the row of nonzero p stands; p is a multiple of the distance of marks.
  KOKKOS_FORCEINLINE_FUNCTION Position mark(Position p) const {
    return marks(p / PackedTensor<Scalar, Index, MemorySpace>::mark_distance);
  }
  /// The rows from that of nonzero p on; p as for mark.
  KOKKOS_FORCEINLINE_FUNCTION ListedRows<Row> rows(Position p) const {
    return {row_names, mark(p)};
  }
  /// Not to be asked of the nonzero that the cursor began at, whose row is entered.
  KOKKOS_FORCEINLINE_FUNCTION bool leaves(ListedRows<Row> const&, Entry const& entry) const {
    return entry.word & words.flag();
  }
  /// The bits of a word that hold modes 0 to split - 1.
  KOKKOS_FORCEINLINE_FUNCTION Word path_mask(int split) const {
    return split == 0 ? Word{0} : ~((Word{1} << (shift[split - 1])) - 1) & ~words.flag();
  }
  /// The bits of which any that differs from the path's ends a run.
  KOKKOS_FORCEINLINE_FUNCTION Word leave_mask(int split) const {
    return path_mask(split) | words.flag();
  }
  KOKKOS_FORCEINLINE_FUNCTION bool starts_row(Word word, Word) const { return word & words.flag(); }
  /// The word of a nonzero whose row is entered.
  KOKKOS_FORCEINLINE_FUNCTION Word entered(Word word) const { return word & ~words.flag(); }
};

/// What kernels read of X and A, N matrices.
template <int Others, class Words, class Scalar, class Index, class MemorySpace, class FactorType>
auto packed_nonzeros(PackedTensor<Scalar, Index, MemorySpace> const& X, Words const& words,
                     std::vector<FactorType> const& A, int split) {
  using Word = typename Words::Word;
  using Gathered = typename FactorType::non_const_value_type;
  PackedNonzeros<Scalar, Index, MemorySpace, Words, Others, Gathered> nonzeros;
  nonzeros.words = words;
  nonzeros.values = X.values;
  nonzeros.row_names = X.rows;
  nonzeros.marks = X.marks;
  nonzeros.others = X.order() - 1;
  nonzeros.split = split;
  for (int k = 0; k < nonzeros.others; ++k) {
    nonzeros.factors[k] = A[X.modes[k]];
    nonzeros.shift[k] = X.shifts[k];
    nonzeros.mask[k] = static_cast<Word>(low_bits(index_bits(X.dims[X.modes[k]])));
  }
  return nonzeros;
}

/// What kernels that are not unrolled read of X and A, N matrices. Words may have either width.
template <class Scalar, class Index, class MemorySpace>
auto packed_nonzeros(PackedTensor<Scalar, Index, MemorySpace> const& X,
                     Factors<Scalar, MemorySpace> const& A) {
  EitherWidth<MemorySpace> const words{X.narrow.data(), X.wide.data()};
  return packed_nonzeros<any_number>(X, words, A, 0);
}

/// Calls run(nonzeros, split constant) with types that fit X and the split, a number up to N - 2:
/// - where kernels unroll over the modes, a constant of that number;
/// - else 0 for 0, and any_number for all others, which the kernel reads at run time.
/// Where factors were rounded, kernels unroll over two to four modes.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class FactorType,
          class Run>
void with_packed_nonzeros(PackedTensor<Scalar, Index, MemorySpace> const& X,
                          std::vector<FactorType> const& A, int split, Run const& run) {
  constexpr bool is_rounded = !std::is_same_v<typename FactorType::non_const_value_type, Scalar>;
  auto with_words = [&](auto others, auto depth) {
    if constexpr (!is_gpu<ExecutionSpace>) {
      EitherWidth<MemorySpace> const words{X.narrow.data(), X.wide.data()};
      run(packed_nonzeros<others()>(X, words, A, split), depth);
    } else if (X.wide.extent(0) == 0) {
      OneWidth<std::uint32_t, MemorySpace> const words{X.narrow};
      run(packed_nonzeros<others()>(X, words, A, split), depth);
    } else {
      OneWidth<std::uint64_t, MemorySpace> const words{X.wide};
      run(packed_nonzeros<others()>(X, words, A, split), depth);
    }
  };
  with_unrolled_modes<Index, is_rounded ? 2 : 1>(X.order() - 1, [&](auto others) {
    auto const with_split = [&](auto depth) { with_words(others, depth); };
    if constexpr (others() == any_number) {
      if (!with_constant<0>(split, with_split))
        with_split(std::integral_constant<int, any_number>{});
    } else {
      with_constant_below<others()>(split, with_split);
    }
  });
}

}  // namespace sporades::detail
