// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/processes/row_share.hpp>

/// A share whose own rows are summed last, while what it has for others' rows travels.

namespace sporades::detail {

/// Part of a share: its rows `first` to `last`, numbered as in the share, of which chunks `begin`
/// to end - 1 have nonzeros of no others.
struct OwnChunks {
  Position begin = 0, end = 0;
  std::uint64_t first = 0, last = 0;
};

/// Names of carry slots for the sums of a share's rows, except the own ones: slots of own rows
/// stand for row count + 2, which is not used. names <- the slots' rows.
template <class Index, class MemorySpace>
struct NameSlotsExceptOwn {
  RawVector<Index, MemorySpace> rows;
  Kokkos::View<Index*, MemorySpace> names;  // of the share's slots
  Position begin, end;                      // these
  OwnChunks own;
  Index count;

  KOKKOS_FUNCTION bool is_of_own_chunk(Position slot) const {
    return slot >= begin + 2 * own.begin && slot < begin + 2 * own.end;
  }
  KOKKOS_FUNCTION void operator()(Position slot) const {
    Index& row = rows(slot);
    if (slot < begin || slot >= end) {
      row = slot < begin ? 0 : count + 1;
    } else if (is_of_own_chunk(slot)) {
      row = count + 2;
    } else {
      names(slot - begin) = row;
      if (row >= own.first && row <= own.last) row = count + 2;
    }
  }
};

/// Names of carry slots for the sums of a share's own rows, once their chunks have named their
/// slots.
template <class Index, class MemorySpace>
struct NameOwnSlots {
  NameSlotsExceptOwn<Index, MemorySpace> others;

  KOKKOS_FUNCTION void operator()(Position slot) const {
    if (slot < others.begin || slot >= others.end || others.is_of_own_chunk(slot)) return;
    Index const row = others.names(slot - others.begin);
    others.rows(slot) = row < others.own.first ? 0 : row > others.own.last ? others.count + 1 : row;
  }
};

/// Chunks of those whose carry slots are here.
struct CarryWindow {
  Position begin = 0, end = 0;  // begin: a multiple of carry_chunk / 2

  template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
  void reserve(ExecutionSpace const& exec, CarryBuffers<Scalar, Index, MemorySpace>& carry,
               std::size_t columns, Position first) const {
    carry.reserve(exec, end - begin, columns, first + begin);
  }
  template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
  void reduce(ExecutionSpace const& exec, CarryBuffers<Scalar, Index, MemorySpace> const& carry,
              Matrix<Scalar, MemorySpace> const& V, Position first) const {
    reduce_carries(exec, V, carry, end - begin, first + begin, begin);
  }
};

/// The carry windows of a share: of its own rows, and of its rows in front of these and behind.
/// rows: the own ones, of `chunks` of the share, which are behind `before` of the `kept` that have
/// slots here. At both ends of a window there is a slot of other rows, where there are chunks.
struct CarryWindows {
  CarryWindow own, front, behind;

  CarryWindows(OwnChunks const& rows, Position chunks, Position before, Position kept) {
    constexpr Position unit = carry_chunk / 2;
    Position const begin = before + rows.begin, end = before + rows.end;
    own = {(begin > 1 ? begin - 2 : 0) / unit * unit, std::min(kept, end + 2)};
    Position const next = (end - 1) / unit * unit;
    if (next < begin) {  // own chunks so few that one window has all
      front = {0, kept};
      return;
    }
    if (rows.begin > 0) front = {0, begin + 1};
    if (rows.end < chunks) behind = {next, kept};
  }
};

/// The chunks of a share, its own rows last; see row_chunks.hpp. V: a row more than the share's,
/// all of this process. X: packed. `send` is called when all rows except the own ones are done; it
/// must not wait for others.
template <class Index, class MemorySpace, class Send>
struct OwnRowsLast {
  RowShare const& share;
  OwnChunks own;
  Kokkos::View<Index*, MemorySpace>& names;  // of carry slots; kept from one product to the next
  Send send;

  template <class ExecutionSpace, class Tensor, class Scalar, class Walk>
  void sum(ExecutionSpace const& exec, Tensor const& X, Matrix<Scalar, MemorySpace> const& V,
           CarryBuffers<Scalar, Index, MemorySpace>& carry, Walk const& walk) const {
    Position const first = share.first_kept(), kept = share.kept();
    Position const before = share.first_chunk - first;
    share.reserve(exec, carry, V.extent(1));
    CarryWindows const windows(own, share.chunks, before, kept);
    for (auto const& window : {windows.own, windows.front, windows.behind})
      window.reserve(exec, carry, V.extent(1), first);
    SortedRows<Scalar, Index, MemorySpace> const rows{share.length, kept, row_sums(V, carry, kept)};
    Position const slots = 2 * share.chunks;
    if (names.extent(0) < slots)
      names = uninitialized<Kokkos::View<Index*, MemorySpace>>(exec, "sporades::own_rows::names",
                                                               slots);
    auto const sum_chunks = [&](Position begin, Position end) {
      if (begin == end) return;
      if constexpr (is_instance<Tensor, PackedTensor>) {
        Position const nonzero = begin * share.length;
        Position const count = std::min(end * share.length, share.nnz) - nonzero;
        walk(exec, PackedWindow<Tensor>{X, nonzero, count}.resident(),
             rows.part(before + begin, end - begin));
      } else {
        fail("chunks of own rows are of packed nonzeros");
      }
    };
    NameSlotsExceptOwn<Index, MemorySpace> const others{
        RawVector<Index, MemorySpace>(carry.level(0).rows.data(), 2 * kept),
        names,
        2 * before,
        2 * before + slots,
        own,
        static_cast<Index>(share.count)};
    sum_chunks(0, own.begin);
    sum_chunks(own.end, share.chunks);
    launch_items(exec, "sporades::own_rows::name_others", others.rows.extent(0), others);
    windows.front.reduce(exec, carry, V, first);
    windows.behind.reduce(exec, carry, V, first);
    send();
    sum_chunks(own.begin, own.end);
    launch_items(exec, "sporades::own_rows::name_own", others.rows.extent(0),
                 NameOwnSlots<Index, MemorySpace>{others});
    windows.own.reduce(exec, carry, V, first);
  }
};

}  // namespace sporades::detail
