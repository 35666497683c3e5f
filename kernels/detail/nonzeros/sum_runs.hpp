// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/nonzeros/packed.hpp>

namespace sporades::detail {

/// The terms of MTTKRP: x_p times the factor rows of the modes that a run does not agree in.
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
  template <class Nonzeros, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(Nonzeros const& nonzeros, Columns const& columns,
                                              typename Nonzeros::Entry const& entry) const {
    return nonzeros.term(entry, columns);
  }
};

/// Adds up the terms of nonzeros begin to end - 1, which have words, and hands over the sum
/// of each row except the last by close(row, sum); the last one's is returned. Runs of nonzeros
/// that agree in the first `split` modes, fibers or whole subtrees, are summed without these modes'
/// factors, and multiplied by them once: split = 0 sums term by term, N - 2 fiber by fiber;
/// any_number takes nonzeros.split. terms enters every run, and gives the term of each nonzero in
/// it. Batch: nonzeros that are loaded together, Group: whose factor rows are.
template <int split, int Batch, int Group = Batch, class Nonzeros, class Columns, class Rows,
          class Close, class Terms = ProductTerms>
KOKKOS_FORCEINLINE_FUNCTION auto sum_runs(Nonzeros const& nonzeros, Columns const& tile,
                                          Position begin, Position end, Rows& rows,
                                          Close const& close, Terms terms = {}) {
  static_assert(Batch == 1 || std::is_same_v<Terms, ProductTerms>,
                "A batch's terms are made before their runs are entered.");
  using T = typename Columns::T;
  using Word = typename Nonzeros::Word;
  constexpr bool has_path = split != 0;
  constexpr bool loads_batches = Batch > 1 && Nonzeros::loads_batches;
  int const depth = split == any_number ? nonzeros.split : split;
  Word const &path_mask = nonzeros.path_mask(depth), &leave_mask = nonzeros.leave_mask(depth);
  T sum, run;  // of the row, less what the run holds; of the run
  typename Nonzeros::Entry entry;
  Word path;
  Position p = begin;
  if constexpr (!loads_batches) {
    entry = nonzeros.fetch(p);
    path = entry.word & path_mask;
    terms.enter(nonzeros, tile, rows.row, path, depth);
    run = terms(nonzeros, tile, entry, depth);
    ++p;
  } else {
    path = nonzeros.word(p) & path_mask;
    terms.enter(nonzeros, tile, rows.row, path, depth);
    run.fill(0);
  }
  if (has_path) sum.fill(0);
  auto leaves = [&](Word word) { return (word & leave_mask) != path; };  // also for a new row
  auto next_run = [&](auto const& first) {
    bool const is_new_row = nonzeros.starts_row(first.word, path);
    if (has_path) {
      nonzeros.multiply(run, path, tile, 0, depth);
      sum.add(run);
    }
    path = first.word & path_mask;
    if (is_new_row) {
      close(rows.row, has_path ? sum : run);
      rows.enter(first);
      if (has_path) sum.fill(0);
    }
    terms.enter(nonzeros, tile, rows.row, path, depth);
    run.fill(0);
  };
  if constexpr (Batch > 1) {
    for (; p + Batch <= end; p += Batch) {  // a batch's loads are all under way before any is used
      typename Nonzeros::Entry entries[Batch];
      if constexpr (loads_batches)
        nonzeros.fetch(p, entries);
      else
        for (int b = 0; b < Batch; ++b) entries[b] = nonzeros.fetch(p + b);
      if constexpr (loads_batches)
        if (p == begin) entries[0].word = nonzeros.entered(entries[0].word);
      for (int first = 0; first < Batch; first += Group) {
        T term[Group];
        for (int b = 0; b < Group; ++b) term[b] = terms(nonzeros, tile, entries[first + b], depth);
        for (int b = 0; b < Group; ++b) {
          if (leaves(entries[first + b].word)) next_run(entries[first + b]);
          run.add(term[b]);
        }
      }
    }
  }
  while (p < end) {
    entry = nonzeros.fetch(p);
    if constexpr (loads_batches)
      if (p == begin) entry.word = nonzeros.entered(entry.word);
    if (leaves(entry.word)) next_run(entry);
    do {  // the run, in a loop of its own
      if constexpr (Nonzeros::rows_ahead > 0) {
        Position const later = p + Nonzeros::rows_ahead;
        nonzeros.prefetch_rows(nonzeros.word(later < end ? later : end - 1), tile, depth);
      }
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

}  // namespace sporades::detail
