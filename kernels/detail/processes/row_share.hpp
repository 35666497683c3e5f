// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/communicator.hpp>
#include <sporades/formats/detail/sort_across.hpp>
#include <sporades/formats/packed_tensor.hpp>
#include <sporades/kernels/detail/processes/ghost_rows.hpp>
#include <sporades/kernels/detail/processes/share_rules.hpp>
#include <sporades/kernels/detail/row_chunks.hpp>
#include <sporades/kernels/detail/work_items.hpp>
#include <vector>

/// Rows in order on several processes: each has whole chunks of the nonzeros in the order of rows,
/// as a window of out-of-core nonzeros has. Chunks are those of the whole, and so are the levels
/// that add what chunks share: the product's bits do not depend on the number of processes.

namespace sporades::detail {

/// Words whose first nonzero goes on with a row of the process before.
template <class Words>
struct ContinueRow {
  Words words;
  typename Words::non_const_value_type flag;

  KOKKOS_FUNCTION void operator()(Position) const { words(0) &= ~flag; }
};

/// A process's chunks of the nonzeros of all. Its rows are numbered from 1, the row of its first
/// nonzero, to `count`, that of its last one; 0 and count + 1 stand for the rows before and behind,
/// whose sums are not used. The tensor of its nonzeros has these rows, and one nonzero more, of the
/// row behind.
struct RowShare {
  Communicator processes;
  Position chunks_before = 0;               // of zeros, of row 1, at the beginning of a CooTensor
  Position nnz = 0;                         // without these
  Position first_chunk = 0, chunks = 0;     // here
  Position all_chunks = 0, length = 0;      // of all processes
  std::uint64_t row = 0;                    // of the first nonzero
  std::uint64_t count = 0;                  // of rows
  bool continues = false;                   // the first row began on a process before
  bool is_full = false;                     // each of the rows has nonzeros here
  std::vector<std::uint64_t> begins, ends;  // rows begins[p] to ends[p] - 1 begin on process p
  // Carry slots of each process, from its first one on, that are of a row that began before, and
  // the process where it did.
  std::vector<Position> leading;
  std::vector<int> began;

  /// The chunks whose carry slots are here: those of this process, those that get others' carries,
  /// and one slot in front and behind at least, unless these are the first or the last of all.
  Position first_kept() const {
    Position const own = first_chunk - chunks_before;
    constexpr Position unit = carry_chunk / 2;
    return own > 1 ? (own - 2) / unit * unit : 0;  // two chunks at least, also where none is own
  }
  Position kept() const { return std::min(all_chunks, last_slot() / 2 + 2) - first_kept(); }
  /// Behind the carry slots of this process's rows.
  Position last_slot() const {
    Position end = 2 * (first_chunk + chunks);
    for (std::size_t p = 0; p < began.size(); ++p)
      if (began[p] == processes.rank()) end += leading[p];
    return end;
  }

  /// The rows of each process, 1 to `count` there: also the one that began before.
  RowRanges rows() const {
    RowRanges rows{begins, ends};
    for (std::size_t p = 0; p < begins.size(); ++p)
      if (leading[p] > 0) --rows.begins[p];
    return rows;
  }

  /// The number here of a row of all.
  std::uint64_t local(std::uint64_t of_all) const {
    if (of_all < row || count == 0) return 0;
    return std::min(of_all - row, count) + 1;
  }

  /// Room for the carries.
  template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
  void reserve(ExecutionSpace const& exec, CarryBuffers<Scalar, Index, MemorySpace>& carry,
               std::size_t columns) const {
    carry.reserve(exec, kept(), columns, first_kept());
  }

  /// See row_chunks.hpp. V: count + 2 rows; those that begin here are as in one process.
  /// Collective. Fences exec, or is enqueued: see enqueue_exchange.
  template <class ExecutionSpace, class Tensor, class Scalar, class Index, class MemorySpace,
            class Walk>
  void sum(ExecutionSpace const& exec, Tensor const& X, Matrix<Scalar, MemorySpace> const& V,
           CarryBuffers<Scalar, Index, MemorySpace>& carry, Walk const& walk) const;
};

/// How many carry slots of the chunks of nnz nonzeros, two each, are of their first row, which has
/// `count` of them.
inline Position leading_slots(Position count, Position nnz, Position length) {
  if (count == nnz) return 2 * chunks_of(nnz, length);
  return 2 * (count / length) + (count % length > 0 ? 1 : 0);
}

/// The rows of X's first and last nonzero in mode n. Fences exec.
template <class ExecutionSpace, class Tensor>
RowEnds row_ends(ExecutionSpace const& exec, Tensor const& X, int n) {
  if (X.nnz() == 0) return {};
  auto const rows = Kokkos::subview(X.coordinates, n, Kokkos::ALL);
  return {entry_at(exec, rows, 0), entry_at(exec, rows, X.nnz() - 1), true};
}

/// to <- `before` zeros of row 1; the nnz nonzeros of `from`, whose row `row` becomes 1; and a zero
/// of row `behind` where `to` has room for it.
template <class Tensor>
struct ExtendShare {
  using Index = typename Tensor::Index;
  using Scalar = typename Tensor::Scalar;

  typename Tensor::Coordinates from, to;  // N x nnz, N x to's nonzeros
  typename Tensor::Values values_from, values_to;
  Position before;
  std::uint64_t row;
  Index behind;
  int n;

  KOKKOS_FUNCTION void operator()(Position k) const {
    Position const p = k - before;
    bool const is_own = k >= before && p < values_from.extent(0);
    for (std::size_t m = 0; m < to.extent(0); ++m) to(m, k) = is_own ? from(m, p) : Index(0);
    to(n, k) = is_own ? static_cast<Index>(from(n, p) - row + 1) : k < before ? Index(1) : behind;
    values_to(k) = is_own ? values_from(p) : Scalar(0);
  }
};

/// The rows of carry slots that are not this process's: 0 before it, then its last one, `last`, in
/// as many slots as belong to it, and last + 1.
template <class Index, class MemorySpace>
struct NameOtherSlots {
  RawVector<Index, MemorySpace> rows;
  Position begin, end, last_end;
  Index last;

  KOKKOS_FUNCTION void operator()(Position slot) const {
    if (slot < begin)
      rows(slot) = 0;
    else if (slot >= end)
      rows(slot) = slot < last_end ? last : last + 1;
  }
};

/// How processes share the nonzeros in the order of a mode's rows.
struct ShareOrder {
  std::vector<int> modes;      // of the order: the rows' first
  std::vector<Position> cuts;  // see sorted_across: multiples of `length`
  Position length;             // of chunks
};

/// The share of mode modes[0] of nonzeros in this order. X: the process's nonzeros, with indices as
/// they are read here, except those of rows; it becomes the share's tensor, for pack_share if
/// `packs`. Collective. Fences exec.
template <class ExecutionSpace, class Tensor>
RowShare make_row_share(Communicator const& processes, ExecutionSpace const& exec, Tensor& X,
                        ShareOrder const& order, bool packs) {
  auto const& [modes, cuts, length] = order;
  using Scalar = typename Tensor::Scalar;
  using Index = typename Tensor::Index;
  using Coordinates = typename Tensor::Coordinates;
  int const n = modes.front();
  auto const me = static_cast<std::size_t>(processes.rank());
  RowShare share;
  share.processes = processes;
  share.length = length;
  share.first_chunk = cuts[me] / length;
  share.chunks = chunks_of(cuts[me + 1] - cuts[me], length);
  share.all_chunks = chunks_of(cuts.back(), length);
  Position const nnz = share.nnz = X.nnz();
  auto const ends = all_gather(processes, "rows at cuts", row_ends(exec, X, n));
  CutRows rows(ends);
  share.continues = nnz > 0 && rows.begins[me] > ends[me].first;
  Position leading = 0;
  if (share.continues) {
    IndexTuples<Coordinates> const rows_of{{X.coordinates, {n}}};
    std::vector<IndexTuple> const next{{{ends[me].first + 1}}};
    leading = leading_slots(count_below(exec, rows_of, nnz, next).front(), nnz, length);
  }
  share.leading = all_gather(processes, "rows at cuts", leading);
  share.begins = std::move(rows.begins);
  share.ends = std::move(rows.ends);
  share.began = std::move(rows.began);
  if (nnz == 0) return share;
  share.row = ends[me].first;
  share.count = ends[me].last - share.row + 1;
  share.is_full = share.count == count_runs(exec, "sporades::row_share::count_rows",
                                            CompareNonzeros<Coordinates>(X.coordinates, {n}), nnz);
  auto behind = me + 1;
  while (behind < ends.size() && !ends[behind].any) ++behind;
  bool const goes_on = behind < ends.size();
  // In coordinates a row is seen to have begun before where the nonzero in front is of it, too.
  share.chunks_before = !packs && share.continues ? 1 : 0;
  Position const before = share.chunks_before * length;
  auto extended = allocate_coo<Scalar, Index>(exec, X.dims, before + nnz + (goes_on ? 1 : 0));
  extended.dims[static_cast<std::size_t>(n)] = share.count + 2;
  extended.sorted_modes = modes;
  auto const row_behind = goes_on ? static_cast<Index>(share.local(ends[behind].first)) : Index(0);
  launch_items(exec, "sporades::row_share::extend", extended.nnz(),
               ExtendShare<Tensor>{X.coordinates, extended.coordinates, X.values, extended.values,
                                   before, share.row, row_behind, n});
  X = extended;
  fence(exec, "sporades::row_share::make");
  return share;
}

/// The share's tensor, packed. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
PackedTensor<Scalar, Index, MemorySpace> pack_share(
    ExecutionSpace const& exec, RowShare const& share, int n,
    CooTensor<Scalar, Index, MemorySpace> const& X) {
  if (share.nnz == 0) return {};
  auto packed = make_packed(exec, X, n);
  if (share.continues) {
    auto const go_on = [&](auto const& words) {
      using Words = std::decay_t<decltype(words)>;
      using Word = typename Words::non_const_value_type;
      if (words.extent(0) > 0)
        launch_items(exec, "sporades::row_share::continue_row", 1,
                     ContinueRow<Words>{words, row_flag<Word>});
    };
    go_on(packed.narrow);
    go_on(packed.wide);
  }
  fence(exec, "sporades::row_share::pack");
  return packed;
}

/// Each process gets the carries of its last row from those that go on with it, and names the slots
/// of others. Fences exec, or is enqueued: see enqueue_exchange.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void share_carries(ExecutionSpace const& exec, RowShare const& share,
                   CarryBuffers<Scalar, Index, MemorySpace> const& carry) {
  int const me = share.processes.rank();
  auto const sums = carry.level(0).sums;
  std::size_t const columns = sums.stride(0);  // with padding
  Position const first = 2 * share.first_kept();
  Position const begin = 2 * share.first_chunk - first, end = begin + 2 * share.chunks;
  Position const mine = share.leading[static_cast<std::size_t>(me)];
  auto const slots = [&](Position place) {
    return reinterpret_cast<std::byte*>(sums.data() + place * columns);
  };
  std::vector<Sent> sent;
  std::vector<Received> received;
  if (mine > 0)
    sent.push_back(
        {share.began[static_cast<std::size_t>(me)], slots(begin), mine * columns * sizeof(Scalar)});
  auto* to = slots(end);
  for (std::size_t p = 0; p < share.began.size(); ++p) {
    if (share.began[p] != me || share.leading[p] == 0) continue;
    std::size_t const bytes = share.leading[p] * columns * sizeof(Scalar);
    received.push_back({static_cast<int>(p), to, bytes});
    to += bytes;
  }
  enqueue_exchange(exec, share.processes, "carries", sent, received);
  RawVector<Index, MemorySpace> const rows(carry.level(0).rows.data(), 2 * share.kept());
  launch_items(exec, "sporades::row_share::name_slots", rows.extent(0),
               NameOtherSlots<Index, MemorySpace>{rows, begin, end, share.last_slot() - first,
                                                  static_cast<Index>(share.count)});
}

template <class ExecutionSpace, class Tensor, class Scalar, class Index, class MemorySpace,
          class Walk>
void RowShare::sum(ExecutionSpace const& exec, Tensor const& X,
                   Matrix<Scalar, MemorySpace> const& V,
                   CarryBuffers<Scalar, Index, MemorySpace>& carry, Walk const& walk) const {
  if (!is_full) fill_view(exec, V, Scalar(0));
  Position const first = first_kept();
  reserve(exec, carry, V.extent(1));
  SortedRows<Scalar, Index, MemorySpace> const rows{length, kept(), row_sums(V, carry, kept())};
  if (chunks > 0)
    walk(exec, X, rows.part(first_chunk - chunks_before - first, chunks_before + chunks));
  if (all_chunks <= 1) return;
  share_carries(exec, *this, carry);
  reduce_carries(exec, V, carry, kept(), first);
}

}  // namespace sporades::detail
