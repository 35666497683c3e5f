// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/packed_tensor.hpp>
#include <sporades/kernels/detail/mttkrp/coo_nonzeros.hpp>

namespace sporades::detail {

/// Words of one width.
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

/// The rows of PackedTensor one after another, each loaded while the one before it is summed.
template <class Index>
struct RowCursor {
  Index const* next;
  Index const* last;
  Index row, following;

  template <class Names>
  KOKKOS_FORCEINLINE_FUNCTION RowCursor(Names const& names, Position place)
      : next(names.data() + place),
        last(names.data() + names.extent(0) - 1),
        row(*next),
        following(*next) {
    load();
  }
  KOKKOS_FORCEINLINE_FUNCTION void advance() {
    row = following;
    load();
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void load() {
    if (next < last) ++next;
    following = *next;
  }
};

/// The same for a walk that enters a row at each flag past its first nonzero.
template <class Index, class Word>
struct FlaggedRows : RowCursor<Index> {
  Word flag;

  template <class Names>
  KOKKOS_FORCEINLINE_FUNCTION FlaggedRows(Names const& names, Position place, Word row_flag)
      : RowCursor<Index>(names, place), flag(row_flag) {}
  template <class Entry>
  KOKKOS_FORCEINLINE_FUNCTION bool leaves(Entry const& entry) const {
    return entry.word & flag;
  }
  template <class Entry>
  KOKKOS_FORCEINLINE_FUNCTION void enter(Entry const&) {
    this->advance();
  }
};

/// The nonzeros of a PackedTensor as MTTKRP on its row mode sees them.
template <class Scalar, class Index, class MemorySpace, class Words, int Others>
struct PackedNonzeros {
  using Word = typename Words::Word;
  using Memory = MemorySpace;
  using Row = Index;
  static constexpr int capacity = Others == any_number ? max_order - 1 : Others;
  static constexpr int other_modes = Others;
  struct Entry {
    Word word;
    Scalar value;
  };

  Words words;
  RawVector<Scalar const, MemorySpace> values;  // nnz
  RawVector<Index const, MemorySpace> row_names;
  RawVector<Position const, MemorySpace> marks;
  Kokkos::Array<RawMatrix<Scalar const, MemorySpace>, capacity> factors;  // of the other modes
  Kokkos::Array<int, capacity> shift;
  Kokkos::Array<Word, capacity> mask;
  int others;  // N - 1
  int split;   // modes multiplied once a run: read where kernels do not unroll over them

  KOKKOS_FORCEINLINE_FUNCTION Position size() const { return values.extent(0); }
  KOKKOS_FORCEINLINE_FUNCTION int modes() const { return Others == any_number ? others : Others; }
  KOKKOS_FORCEINLINE_FUNCTION Entry fetch(Position p) const { return {words(p), values(p)}; }
  /// Whether batches of nonzeros that begin at multiples of their length are loaded 16 bytes at a
  /// time. In double that took registers of the walks over three modes and more, which were 7 to 26
  /// % slower for it on an H200.
  static constexpr bool loads_batches = sizeof(Scalar) == 4;

  /// Nonzeros p to p + count - 1.
  template <int count>
  KOKKOS_FORCEINLINE_FUNCTION void fetch(Position p, Entry (&entries)[count]) const {
    if constexpr (loads_batches) {
      auto const word = load_tile<Word, count, true>(words.at(p));
      auto const value = load_tile<Scalar, count, true>(values.data() + p);
      for (int k = 0; k < count; ++k) entries[k] = {word[k], value[k]};
    } else {
      for (int k = 0; k < count; ++k) entries[k] = fetch(p + k);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION bool opens_row(Position p) const { return words(p) & words.flag(); }
  KOKKOS_FORCEINLINE_FUNCTION std::size_t index(Word word, int m) const {
    return static_cast<std::size_t>(word >> shift[m] & mask[m]);
  }
  /// Where in row_names the row of nonzero p stands; p is a multiple of the distance of marks.
  KOKKOS_FORCEINLINE_FUNCTION Position mark(Position p) const {
    return marks(p / PackedTensor<Scalar, Index, MemorySpace>::mark_distance);
  }
  /// The rows from that of nonzero p on; p as for mark.
  KOKKOS_FORCEINLINE_FUNCTION FlaggedRows<Row, Word> rows(Position p) const {
    return {row_names, mark(p), words.flag()};
  }
  /// The bits of a word that hold modes 0 to split - 1.
  KOKKOS_FORCEINLINE_FUNCTION Word path_mask(int split) const {
    return split == 0 ? Word{0} : ~((Word{1} << (shift[split - 1])) - 1) & ~words.flag();
  }

  /// product *= the factor rows of modes first to last - 1.
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(typename Columns::T& product, Word word,
                                            Columns const& columns, int first, int last) const {
    for (int m = first; m < last; ++m) product.multiply(columns.load(factors[m], index(word, m)));
  }
  /// The product of the factor rows of modes split and up.
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto product(Word word, Columns const& columns, int split) const {
    typename Columns::T product;
    if (modes() == 0) {
      product.fill(Scalar(1));
      return product;
    }
    product = columns.load(factors[split], index(word, split));
    multiply(product, word, columns, split + 1, modes());
    return product;
  }
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto product(Entry const& entry, Columns const& columns) const {
    return product(entry.word, columns, 0);
  }
  /// x_p times the factor rows of modes split and up.
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto term(Entry const& entry, Columns const& columns,
                                        int split) const {
    typename Columns::T product;
    if (modes() == 0) {
      product.fill(entry.value);
      return product;
    }
    product = columns.load(factors[split], index(entry.word, split));
    product.multiply(entry.value);
    multiply(product, entry.word, columns, split + 1, modes());
    return product;
  }
};

/// The terms of MTTKRP: x_p times the factor rows of the modes past a run's.
struct ProductTerms {
  template <class Nonzeros, class Columns, class Index>
  KOKKOS_FORCEINLINE_FUNCTION void enter(Nonzeros const&, Columns const&, Index,
                                         typename Nonzeros::Word, int) {}
  template <class Nonzeros, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(Nonzeros const& nonzeros, Columns const& columns,
                                              typename Nonzeros::Entry const& entry,
                                              int split) const {
    return nonzeros.term(entry, columns, split);
  }
};

/// Adds up the terms of nonzeros begin to end - 1, and hands over the sum of each row but the last
/// by close(row, sum); the last one's is returned. Runs of nonzeros that agree in the first `split`
/// modes, fibers or whole subtrees, are summed without these modes' factors, and multiplied by
/// them once: split = 0 sums term by term, N - 2 fiber by fiber; any_number takes nonzeros.split.
/// terms enters every run, and gives the term of each nonzero in it.
template <int split, int Batch, class Nonzeros, class Columns, class Rows, class Close,
          class Terms = ProductTerms>
KOKKOS_FORCEINLINE_FUNCTION auto sum_packed_rows(Nonzeros const& nonzeros, Columns const& tile,
                                                 Position begin, Position end, Rows& rows,
                                                 Close const& close, Terms terms = {}) {
  static_assert(Batch == 1 || std::is_same_v<Terms, ProductTerms>,
                "A batch's terms are made before their runs are entered.");
  using T = typename Columns::T;
  using Word = typename Nonzeros::Word;
  constexpr bool has_path = split != 0;
  constexpr bool begins_with_batch = Batch > 1 && Nonzeros::loads_batches;
  int const depth = split == any_number ? nonzeros.split : split;
  Word const flag = nonzeros.words.flag();
  Word const path_mask = nonzeros.path_mask(depth);
  T sum, run;  // of the row, less what the run holds; of the run
  typename Nonzeros::Entry entry;
  Word path;
  Position p = begin;
  if constexpr (!begins_with_batch) {
    entry = nonzeros.fetch(p);
    path = entry.word & path_mask;
    terms.enter(nonzeros, tile, rows.row, path, depth);
    run = terms(nonzeros, tile, entry, depth);
    ++p;
  } else {
    path = nonzeros.words(p) & path_mask;
    terms.enter(nonzeros, tile, rows.row, path, depth);
    run.fill(0);
  }
  if (has_path) sum.fill(0);
  // A new row has a flag where a path has none, so it is a new path too.
  auto leaves = [&](Word word) { return (word & (path_mask | flag)) != path; };
  auto next_run = [&](auto const& first) {
    if (has_path) {
      nonzeros.multiply(run, path, tile, 0, depth);
      sum.add(run);
      path = first.word & path_mask;
    }
    if (first.word & flag) {
      close(rows.row, has_path ? sum : run);
      rows.advance();
      if (has_path) sum.fill(0);
    }
    terms.enter(nonzeros, tile, rows.row, path, depth);
    run.fill(0);
  };
  if constexpr (Batch > 1) {
    for (; p + Batch <= end; p += Batch) {  // a batch's loads are all under way before any is used
      typename Nonzeros::Entry entries[Batch];
      nonzeros.fetch(p, entries);
      T term[Batch];
      for (int b = 0; b < Batch; ++b) term[b] = terms(nonzeros, tile, entries[b], depth);
      if (begins_with_batch && p == begin) entries[0].word &= ~flag;  // its row is entered
      for (int b = 0; b < Batch; ++b) {
        if (leaves(entries[b].word)) next_run(entries[b]);
        run.add(term[b]);
      }
    }
  }
  while (p < end) {
    entry = nonzeros.fetch(p);
    if (begins_with_batch && p == begin) entry.word &= ~flag;
    if (leaves(entry.word)) next_run(entry);
    do {  // the run, in a loop of its own
      run.add(terms(nonzeros, tile, entry, depth));
      if (++p == end) break;
      entry = nonzeros.fetch(p);
    } while (!leaves(entry.word));
  }
  if (!has_path) return run;
  nonzeros.multiply(run, path, tile, 0, depth);
  sum.add(run);
  return sum;
}

/// What MTTKRP on the row mode reads of X and A.
template <int Others, class Words, class Scalar, class Index, class MemorySpace>
auto packed_nonzeros(PackedTensor<Scalar, Index, MemorySpace> const& X, Words const& words,
                     Factors<Scalar, MemorySpace> const& A, int split) {
  using Word = typename Words::Word;
  PackedNonzeros<Scalar, Index, MemorySpace, Words, Others> nonzeros;
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

/// Calls run(nonzeros, split constant) with types that fit X and the split, a number up to N - 2: a
/// constant of that number where kernels unroll over the modes; else of 0 for 0, and of any_number
/// for all others, which the kernel reads at run time.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Run>
void for_packed_nonzeros(PackedTensor<Scalar, Index, MemorySpace> const& X,
                         Factors<Scalar, MemorySpace> const& A, int split, Run const& run) {
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
  for_other_modes<Index>(X.order() - 1, [&](auto others) {
    if constexpr (others() == any_number) {
      if (split > 0)
        with_words(others, std::integral_constant<int, any_number>{});
      else
        with_words(others, std::integral_constant<int, 0>{});
    } else {
      for_each_constant(std::make_integer_sequence<int, others()>{}, [&](auto depth) {
        if (depth == split) with_words(others, depth);
      });
    }
  });
}

}  // namespace sporades::detail
