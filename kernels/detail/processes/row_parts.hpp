// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/scan.hpp>
#include <sporades/formats/detail/sort_across.hpp>
#include <sporades/kernels/detail/processes/ghost_rows.hpp>
#include <sporades/kernels/detail/processes/row_lists.hpp>

namespace sporades::detail {

/// A part of a row, or a sum of parts, whose first slice it has.
struct RowPart {
  std::uint64_t row;
  std::uint32_t slice;
};

/// The largest subtree of slices that has a part's, and of which all parts of the row are on this
/// process: its first slice.
struct WholeSubtrees {
  RowPart first, end;  // of this process's parts, and behind them

  KOKKOS_FUNCTION std::uint32_t operator()(RowPart const& part) const {
    std::uint32_t const from = first.slice + (part.row < first.row ? 1 : 0);
    std::uint32_t const past = end.slice + (part.row < end.row ? 1 : 0);
    int height = 0;
    for (;; ++height) {
      std::uint32_t const begin = part.slice >> (height + 1) << (height + 1);
      if (begin < from || begin + (2u << height) > past) break;
    }
    return part.slice >> height << height;
  }
};

/// joins(k): as of RowLists, where a list is the parts of a row in a whole subtree; begins(k) <- 1
/// where such a list begins, else 0, and 0 behind all parts.
template <class MemorySpace>
struct BeginSums {
  Kokkos::View<std::uint64_t*, MemorySpace> rows;    // of parts
  Kokkos::View<std::uint32_t*, MemorySpace> slices;  // of parts
  Kokkos::View<Position*, MemorySpace> order;        // by rows
  Kokkos::View<std::uint8_t*, MemorySpace> joins;
  Kokkos::View<Position*, MemorySpace> begins;
  WholeSubtrees subtree;

  KOKKOS_FUNCTION void operator()(Position k) const {
    begins(k) = 0;
    if (k == rows.extent(0)) return;
    RowPart const part{rows(order(k)), slices(order(k))};
    joins(k) = 0;
    if (k > 0) {
      RowPart const before{rows(order(k - 1)), slices(order(k - 1))};
      if (before.row == part.row && subtree(before) == subtree(part))
        joins(k) = join_height(before.slice, part.slice);
    }
    if (joins(k) == 0) begins(k) = 1;
  }
};

/// lists.begins, and the first part of each list. before(k): lists that begin before the k-th part.
template <class MemorySpace>
struct ListSums {
  Kokkos::View<std::uint64_t*, MemorySpace> rows;    // of parts
  Kokkos::View<std::uint32_t*, MemorySpace> slices;  // of parts
  RowLists<MemorySpace> lists;
  Kokkos::View<Position*, MemorySpace> before;
  Kokkos::View<RowPart*, MemorySpace> sums;

  KOKKOS_FUNCTION void operator()(Position k) const {
    bool const is_end = k == rows.extent(0);
    if (!is_end && lists.joins(k) > 0) return;
    lists.begins(before(k)) = k;
    if (!is_end) sums(before(k)) = {rows(lists.rows(k)), slices(lists.rows(k))};
  }
};

/// Parts in the order of rows.
template <class MemorySpace>
struct PartsByRow {
  Kokkos::View<RowPart*, MemorySpace> parts;

  KOKKOS_FUNCTION RowPart operator()(Position k) const { return parts(k); }
  KOKKOS_FUNCTION static bool less(RowPart const& a, RowPart const& b) { return a.row < b.row; }
};

/// Rows, counted from `first`, and slices of parts.
template <class MemorySpace>
struct SplitParts {
  Kokkos::View<RowPart*, MemorySpace> parts;
  Kokkos::View<std::uint64_t*, MemorySpace> rows;
  Kokkos::View<std::uint32_t*, MemorySpace> slices;
  std::uint64_t first;

  KOKKOS_FUNCTION void operator()(Position k) const {
    rows(k) = parts(k).row - first;
    slices(k) = parts(k).slice;
  }
};

/// rows(k) <- the row of the matrix of this process's parts and, behind them, of those of others
/// that the k-th in a list is, where rows(k) counts all that are added here.
template <class MemorySpace>
struct NumberInPlace {
  Kokkos::View<Position*, MemorySpace> rows;
  Position own_first, own_end;  // of this process's among those that are added here
  Position first_part, others;  // the first of these, and of those of others

  KOKKOS_FUNCTION void operator()(Position k) const {
    Position const i = rows(k);
    if (i < own_first)
      rows(k) = others + i;
    else if (i < own_end)
      rows(k) = first_part + (i - own_first);
    else
      rows(k) = others + i - (own_end - own_first);
  }
};

/// Rows that are sums of parts, at most one of each slice, which a binary tree over slices adds. So
/// a process can add up what it has of whole subtrees: of two processes each sends one sum a row.
template <class Scalar, class MemorySpace>
class RowParts {
  using MatrixType = Matrix<Scalar, MemorySpace>;
  using Rows = Kokkos::View<std::uint64_t*, MemorySpace>;
  using Slices = Kokkos::View<std::uint32_t*, MemorySpace>;

 public:
  RowParts() = default;

  /// owned: process p owns rows owned[p] to owned[p + 1] - 1. rows, of_slices: of the parts that
  /// begin on this process; all of them, in the order of slices and then of rows, are those of one
  /// process after another. slices: how many there are. Collective. Fences exec.
  template <class ExecutionSpace>
  RowParts(Communicator const& processes, ExecutionSpace const& exec,
           std::vector<std::uint64_t> const& owned, Rows const& rows, Slices const& of_slices,
           std::uint32_t slices)
      : parts_(rows.extent(0)), slices_(slices), processes_(processes) {
    if (processes.size() == 1) {
      of_rows_ = lists_of(exec, rows, of_slices, owned.back());
      Kokkos::parallel_reduce("sporades::row_parts::count",
                              Range<ExecutionSpace>(exec, 0, owned.back()),
                              CountLists<MemorySpace>{of_rows_.begins}, rows_);
      fence(exec, "sporades::row_parts::make");
      return;
    }
    auto const me = static_cast<std::size_t>(processes.rank());
    struct Begin {
      RowPart first;
      bool any;
    };
    auto const begins =
        all_gather(processes, "lists of rows",
                   parts_ > 0 ? Begin{{entry_at(exec, rows, 0), entry_at(exec, of_slices, 0)}, true}
                              : Begin{{0, 0}, false});
    WholeSubtrees subtrees{begins[me].first, {0, slices}};
    for (auto p = begins.size(); p-- > me + 1;)
      if (begins[p].any) subtrees.end = begins[p].first;

    of_subtrees_.rows = sort_permutation(exec, rows, index_bits(owned.back()));
    of_subtrees_.joins =
        uninitialized<decltype(of_subtrees_.joins)>(exec, "sporades::row_parts::joins", parts_);
    auto const before =
        uninitialized<Permutation<MemorySpace>>(exec, "sporades::row_parts::before", parts_ + 1);
    launch_items(exec, "sporades::row_parts::begin_sums", parts_ + 1,
                 BeginSums<MemorySpace>{rows, of_slices, of_subtrees_.rows, of_subtrees_.joins,
                                        before, subtrees});
    Position const count = exclusive_scan_total(exec, before);
    of_subtrees_.begins = uninitialized<decltype(of_subtrees_.begins)>(
        exec, "sporades::row_parts::begins", count + 1);
    using Parts = Kokkos::View<RowPart*, MemorySpace>;
    auto const sums = uninitialized<Parts>(exec, "sporades::row_parts::sums", count);
    launch_items(exec, "sporades::row_parts::list_sums", parts_ + 1,
                 ListSums<MemorySpace>{rows, of_slices, of_subtrees_, before, sums});

    std::vector<RowPart> firsts;
    for (auto const row : owned) firsts.push_back({row, 0});
    sent_ = count_below(exec, PartsByRow<MemorySpace>{sums}, count, firsts);
    std::vector<Position> counts;
    for (std::size_t p = 0; p + 1 < sent_.size(); ++p) counts.push_back(sent_[p + 1] - sent_[p]);
    received_.assign(1, 0);
    for (Position length : all_to_all(processes, "lists of rows", counts))
      received_.push_back(received_.back() + length);
    auto const arrived =
        uninitialized<Parts>(exec, "sporades::row_parts::arrived", received_.back());
    exchange_parts_on<ExecutionSpace, RowPart>(exec, processes, "lists of rows", sums.data(), sent_,
                                               arrived.data(), received_, 1);
    auto const own_rows = uninitialized<Rows>(exec, "sporades::row_parts::rows", arrived.extent(0));
    auto const own_slices =
        uninitialized<Slices>(exec, "sporades::row_parts::slices", arrived.extent(0));
    launch_items(exec, "sporades::row_parts::split", arrived.extent(0),
                 SplitParts<MemorySpace>{arrived, own_rows, own_slices, owned[me]});
    of_rows_ = lists_of(exec, own_rows, own_slices, owned[me + 1] - owned[me]);
    // Parts of one slice are the sums themselves, in the order of rows.
    is_one_slice_ =
        parts_ > 0 && entry_at(exec, of_slices, 0) == entry_at(exec, of_slices, parts_ - 1);
    if (is_one_slice_) {
      Position const own = received_[me + 1] - received_[me];
      launch_items(exec, "sporades::row_parts::number_in_place", of_rows_.rows.extent(0),
                   NumberInPlace<MemorySpace>{of_rows_.rows, received_[me], received_[me + 1],
                                              sent_[me], parts_ + spare_rows});
      for (std::size_t p = me + 1; p < received_.size(); ++p) received_[p] -= own;
      of_subtrees_ = {};
    }
    is_registered_ = is_so_on_all(processes, "lists of rows", is_one_slice_) &&
                     registers_memory(exec, processes, rows_of_parts());
    fence(exec, "sporades::row_parts::make");
  }

  /// The parts of this process.
  Position count() const { return parts_; }
  /// Whether the parts here are of one slice: they are sent as they are, and those of others arrive
  /// behind them, and behind spare_rows.
  bool is_one_slice() const { return is_one_slice_; }
  static constexpr Position spare_rows = 2;
  /// If there is one slice on all processes: whether the matrix of parts is to be registered
  /// memory.
  bool is_registered() const { return is_registered_; }
  /// Rows of the matrix of parts that sum() takes.
  Position rows_of_parts() const {
    return parts_ + (is_one_slice_ ? spare_rows + received_.back() : 0);
  }
  /// If there is one slice: the parts here of rows that this process owns.
  std::pair<Position, Position> own_parts() const {
    auto const me = static_cast<std::size_t>(processes_.rank());
    return {sent_[me], sent_[me + 1]};
  }
  /// In one process: rows that have parts.
  std::uint64_t rows() const { return rows_; }

  /// Sums the parts of all processes to `to`, the rows that this process owns. With several
  /// processes `parts` and `to` have the same columns, without gaps. parts: rows_of_parts() rows,
  /// of which those behind count() are overwritten. Collective. Fences exec, or is enqueued: see
  /// enqueue_exchange.
  template <class ExecutionSpace>
  void sum(ExecutionSpace const& exec, MatrixType const& parts, MatrixType const& to) {
    if (processes_.size() == 1) return sum_lists(exec, parts, of_rows_, to);
    if (is_one_slice_) {
      send_parts(exec, parts, false);
      return sum_sent_parts(exec, parts, to);
    }
    std::size_t const columns = to.extent(1);
    int const rank = processes_.rank();
    auto const sums = matrix_in(exec, sums_, sent_.back(), columns);
    auto const arrived = matrix_in(exec, arrived_, received_.back(), columns);
    auto const sum_some = [&](Position begin, Position end, MatrixType const& into, Position at) {
      auto lists = of_subtrees_;
      lists.begins = Kokkos::subview(lists.begins, std::make_pair(begin, end + 1));
      sum_lists(exec, parts, lists, MatrixType(into.data() + at * columns, end - begin, columns));
    };
    auto const me = static_cast<std::size_t>(rank);
    sum_some(0, sent_[me], sums, 0);
    sum_some(sent_[me], sent_[me + 1], arrived, received_[me]);
    sum_some(sent_[me + 1], sent_.back(), sums, sent_[me + 1]);
    exchange_with_others(exec, sums.data(), arrived.data(), columns, {});
    sum_lists(exec, arrived, of_rows_, to);
  }

  /// sum() in two steps, of one slice: send_parts, then sum_sent_parts. Between them the rows that
  /// this process owns may be summed. beside: see enqueue_exchange.
  template <class ExecutionSpace>
  void send_parts(ExecutionSpace const& exec, MatrixType const& parts, bool beside) const {
    std::size_t const columns = parts.extent(1);
    exchange_with_others(exec, parts.data(), parts.data() + (parts_ + spare_rows) * columns,
                         columns, {beside, is_registered_});
  }
  template <class ExecutionSpace>
  void sum_sent_parts(ExecutionSpace const& exec, MatrixType const& parts,
                      MatrixType const& to) const {
    join_exchange(processes_);
    sum_lists(exec, parts, of_rows_, to);
  }

  std::uint64_t bytes() const {
    return of_rows_.bytes() + of_subtrees_.bytes() +
           (sums_.extent(0) + arrived_.extent(0)) * sizeof(Scalar);
  }

 private:
  template <class ExecutionSpace>
  void exchange_with_others(ExecutionSpace const& exec, Scalar const* from, Scalar* to,
                            std::size_t columns, ExchangeWay way) const {
    int const rank = processes_.rank();
    all_to_all_parts<Scalar>(from, sent_, to, received_, columns,
                             [&](auto const& out, auto const& in) {
                               enqueue_exchange(exec, processes_, "partial rows",
                                                of_others(out, rank), of_others(in, rank), way);
                             });
  }

  /// A list for each of `count` rows.
  template <class ExecutionSpace>
  static RowLists<MemorySpace> lists_of(ExecutionSpace const& exec, Rows const& rows,
                                        Slices const& slices, std::uint64_t count) {
    RowLists<MemorySpace> lists;
    lists.rows = sort_permutation(exec, rows, index_bits(count));
    lists.begins =
        uninitialized<decltype(lists.begins)>(exec, "sporades::row_parts::begins", count + 1);
    lists.joins =
        uninitialized<decltype(lists.joins)>(exec, "sporades::row_parts::joins", rows.extent(0));
    launch_items(exec, "sporades::row_parts::list", rows.extent(0) + 1,
                 ListParts<MemorySpace>{rows, slices, lists});
    return lists;
  }

  template <class ExecutionSpace>
  void sum_lists(ExecutionSpace const& exec, MatrixType const& from,
                 RowLists<MemorySpace> const& lists, MatrixType const& to) const {
    auto const with_heights = [&](auto heights) {
      SumLists<ExecutionSpace, Scalar, MemorySpace, heights()> const kernel{from, to, lists};
      launch_items(exec, "sporades::row_parts::sum", kernel.items(), kernel);
    };
    if (slices_ <= 2)
      with_heights(std::integral_constant<int, 1>{});
    else if (slices_ <= 8)
      with_heights(std::integral_constant<int, 3>{});
    else
      with_heights(std::integral_constant<int, 6>{});
  }

  Position parts_ = 0;
  std::uint32_t slices_ = 1;
  std::uint64_t rows_ = 0;
  RowLists<MemorySpace> of_rows_;

  Communicator processes_;                 // what follows: where there are several
  RowLists<MemorySpace> of_subtrees_;      // of the parts here: a list is a sum that is sent
  std::vector<Position> sent_, received_;  // where the sums of each process begin
  bool is_one_slice_ = false;              // the parts here are; received_ is without them
  bool is_registered_ = false;
  Vector<Scalar, MemorySpace> sums_, arrived_;
};

}  // namespace sporades::detail
