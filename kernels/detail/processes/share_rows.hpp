// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/bits.hpp>
#include <sporades/core/detail/dense/blocks.hpp>
#include <sporades/core/detail/scan.hpp>
#include <sporades/kernels/detail/processes/row_share.hpp>

/// How nonzeros that processes bring become shares of rows in order, and who owns which rows.

namespace sporades::detail {

/// A set of indices of a mode, and the number of each among them, ascending.
template <class MemorySpace>
struct IndexSet {
  Kokkos::View<std::uint32_t*, MemorySpace> words;  // a bit for each index
  Kokkos::View<Position*, MemorySpace> before;      // indices of words before each, and of all

  IndexSet() = default;
  template <class ExecutionSpace>
  IndexSet(ExecutionSpace const& exec, std::uint64_t dim)
      : words(zeroed<decltype(words)>(exec, "sporades::share_rows::words", quotient_up(dim, 32))) {}

  KOKKOS_FUNCTION void insert(std::uint64_t index) const {
    std::uint32_t const one = std::uint32_t{1} << index % 32;
    if (!(words(index / 32) & one)) Kokkos::atomic_fetch_or(&words(index / 32), one);
  }
  /// The number of an index of the set, after `list`.
  KOKKOS_FUNCTION std::uint64_t number(std::uint64_t index) const {
    std::uint32_t const below = words(index / 32) & ((std::uint32_t{1} << index % 32) - 1);
    return before(index / 32) + static_cast<std::uint64_t>(count_ones(below));
  }
  /// The indices, ascending. None are inserted after. Fences exec.
  template <class ExecutionSpace>
  std::vector<std::uint64_t> list(ExecutionSpace const& exec);
};

/// Inserts the indices of one mode.
template <class Coordinates>
struct InsertIndices {
  IndexSet<typename Coordinates::memory_space> set;
  Coordinates coordinates;  // N x nnz
  int mode;

  KOKKOS_FUNCTION void operator()(Position p) const { set.insert(coordinates(mode, p)); }
};

/// Inserts the indices from `first` to end - 1. An item is a word.
template <class MemorySpace>
struct InsertRange {
  IndexSet<MemorySpace> set;
  std::uint64_t first, end;

  Position items() const { return first < end ? (end - 1) / 32 - first / 32 + 1 : 0; }

  KOKKOS_FUNCTION void operator()(Position item) const {
    Position const w = first / 32 + item;
    std::uint32_t bits = ~std::uint32_t{0};
    if (item == 0) bits <<= first % 32;
    if (w == (end - 1) / 32) bits &= ~std::uint32_t{0} >> (31 - (end - 1) % 32);
    set.words(w) |= bits;
  }
};

/// before(w) <- the number of indices of word w, and 0 behind the last one.
template <class MemorySpace>
struct CountIndices {
  IndexSet<MemorySpace> set;

  KOKKOS_FUNCTION void operator()(Position w) const {
    set.before(w) =
        w < set.words.extent(0) ? static_cast<Position>(count_ones(set.words(w))) : Position{0};
  }
};

/// all <- the indices, ascending.
template <class MemorySpace>
struct ListIndices {
  IndexSet<MemorySpace> set;
  Kokkos::View<std::uint64_t*, MemorySpace> all;

  KOKKOS_FUNCTION void operator()(Position w) const {
    Position place = set.before(w);
    for (std::uint32_t left = set.words(w); left != 0; left &= left - 1)
      all(place++) = 32 * w + static_cast<Position>(count_ones((left & (~left + 1)) - 1));
  }
};

template <class MemorySpace>
template <class ExecutionSpace>
std::vector<std::uint64_t> IndexSet<MemorySpace>::list(ExecutionSpace const& exec) {
  before =
      uninitialized<decltype(before)>(exec, "sporades::share_rows::before", words.extent(0) + 1);
  launch_items(exec, "sporades::share_rows::count", before.extent(0),
               CountIndices<MemorySpace>{*this});
  auto const all = uninitialized<Kokkos::View<std::uint64_t*, MemorySpace>>(
      exec, "sporades::share_rows::list", exclusive_scan_total(exec, before));
  launch_items(exec, "sporades::share_rows::list", words.extent(0),
               ListIndices<MemorySpace>{*this, all});
  return to_vector(exec, all);
}

/// to(mode, p) <- the number of from(mode, p) in the set; or, where that is empty, this index less
/// `first`.
template <class Coordinates>
struct NumberIndices {
  IndexSet<typename Coordinates::memory_space> set;
  Coordinates from, to;  // N x nnz
  int mode;
  std::uint64_t first;

  KOKKOS_FUNCTION void operator()(Position p) const {
    std::uint64_t const index = from(mode, p);
    to(mode, p) = static_cast<typename Coordinates::non_const_value_type>(
        set.words.extent(0) > 0 ? set.number(index) : index - first);
  }
};

/// The rows of a mode that processes own, of which process p's nonzeros begin begins[p] and later:
/// each owns about those that begin on it, so that few rows of a product travel. A process's rows
/// begin where a block does whose sums, of up to `entries` numbers, are added as one (RowBlocks);
/// where blocks are many, where a group of 64 does.
template <class ExecutionSpace>
RowMap make_row_map(Communicator const& processes, std::uint64_t rows,
                    std::vector<std::uint64_t> const& begins, std::uint64_t entries) {
  std::uint64_t unit = RowBlocks(rows, entries).rows_per_block;
  if constexpr (is_gpu<ExecutionSpace>)
    unit = std::max(unit, RowBlocks::of_products(rows, entries).rows_per_block);
  std::uint64_t const P = begins.size();
  if (rows / (64 * unit) >= 16 * P) unit *= 64;
  RowMap result{processes, {0}};
  for (std::size_t p = 1; p < begins.size(); ++p)
    result.begins.push_back(std::max(result.begins.back(), begins[p] / unit * unit));
  result.begins.push_back(rows);
  return result;
}

/// The rows of factors that a process's nonzeros read, and nonzeros whose indices are the numbers
/// of these rows.
template <class MemorySpace>
class ReadRows {
 public:
  template <class ExecutionSpace>
  ReadRows(ExecutionSpace const& exec, Dims const& dims) : dims_(dims) {
    for (auto dim : dims) sets_.emplace_back(exec, dim);
  }

  /// Inserts X's indices of all modes except `but`; of all modes for -1. Enqueued on exec.
  template <class ExecutionSpace, class Tensor>
  void insert(ExecutionSpace const& exec, Tensor const& X, int but = -1) {
    for (int m = 0; m < X.order(); ++m)
      if (m != but) insert(exec, sets_[static_cast<std::size_t>(m)], X, m);
  }
  /// Rows `first` to end - 1 of mode n. Enqueued on exec.
  template <class ExecutionSpace>
  void insert_rows(ExecutionSpace const& exec, std::size_t n, std::uint64_t first,
                   std::uint64_t end) {
    InsertRange<MemorySpace> const kernel{sets_[n], first, end};
    launch_items(exec, "sporades::share_rows::insert_rows", kernel.items(), kernel);
  }
  /// Numbers the rows: nothing is inserted after. Fences exec.
  template <class ExecutionSpace>
  void finish(ExecutionSpace const& exec) {
    for (auto& set : sets_) lists_.push_back(set.list(exec));
  }
  /// Per mode: the rows, ascending.
  std::vector<std::vector<std::uint64_t>> const& lists() const { return lists_; }

  /// X with these numbers, but in one mode, whose indices become less by `first`; in all for -1.
  /// Shares X's values. Enqueued on exec.
  template <class ExecutionSpace, class Tensor>
  Tensor renumbered(ExecutionSpace const& exec, Tensor const& X, int but = -1,
                    std::uint64_t first = 0) const {
    using Coordinates = typename Tensor::Coordinates;
    Tensor result{X.dims,
                  uninitialized<Coordinates>(exec, "sporades::share_rows::coordinates",
                                             X.dims.size(), X.nnz()),
                  X.values,
                  {}};
    for (int m = 0; m < X.order(); ++m) {
      auto const mode = static_cast<std::size_t>(m);
      if (m != but) result.dims[mode] = lists_[mode].size();
      launch_items(exec, "sporades::share_rows::renumber", X.nnz(),
                   NumberIndices<Coordinates>{m == but ? IndexSet<MemorySpace>{} : sets_[mode],
                                              X.coordinates, result.coordinates, m, first});
    }
    return result;
  }

  struct Subset {
    std::vector<std::uint64_t> rows;  // ascending
    std::vector<Position> numbers;
  };
  /// The rows of mode n that X names. For the memory of hosts. Fences exec.
  template <class ExecutionSpace, class Tensor>
  Subset subset(ExecutionSpace const& exec, Tensor const& X, int n) const {
    auto const mode = static_cast<std::size_t>(n);
    IndexSet<MemorySpace> set(exec, dims_[mode]);
    insert(exec, set, X, n);
    Subset result{set.list(exec), {}};
    for (auto row : result.rows) result.numbers.push_back(sets_[mode].number(row));
    return result;
  }

 private:
  template <class ExecutionSpace, class Tensor>
  static void insert(ExecutionSpace const& exec, IndexSet<MemorySpace> const& set, Tensor const& X,
                     int mode) {
    launch_items(exec, "sporades::share_rows::insert", X.nnz(),
                 InsertIndices<typename Tensor::Coordinates>{set, X.coordinates, mode});
  }

  Dims dims_;
  std::vector<IndexSet<MemorySpace>> sets_;
  std::vector<std::vector<std::uint64_t>> lists_;
};

/// The runs of a process's nonzeros, those of all processes numbered from 0.
template <class MemorySpace>
struct DistributedRuns {
  RunNumbers<MemorySpace> here;
  std::uint64_t first;  // the number of the first one here
  bool continues;       // that one began on a process before
};

/// The runs of equal indices in these modes. X: sorted by them first, after the nonzeros of the
/// process before; an index below the product of their lengths fits 64 bits. Collective. Fences
/// exec.
template <class ExecutionSpace, class Tensor>
DistributedRuns<typename Tensor::MemorySpace> number_distributed_runs(
    Communicator const& processes, ExecutionSpace const& exec, Tensor const& X,
    std::vector<int> const& modes) {
  auto const here = number_runs(
      exec, CompareNonzeros<typename Tensor::Coordinates>(X.coordinates, modes), X.nnz());
  struct Runs {
    std::uint64_t first, last, count;
  };
  Runs mine{0, 0, here.count};
  for (int const m : modes) {
    auto const ends = row_ends(exec, X, m);
    std::uint64_t const dim = X.dims[static_cast<std::size_t>(m)];
    mine.first = mine.first * dim + ends.first;
    mine.last = mine.last * dim + ends.last;
  }
  auto const all = all_gather(processes, "rows at cuts", mine);
  std::uint64_t begun = 0;  // on processes before
  Runs before{0, 0, 0};
  auto const goes_on = [&](Runs const& with) {
    return before.count > 0 && with.count > 0 && with.first == before.last;
  };
  auto const me = static_cast<std::size_t>(processes.rank());
  for (std::size_t p = 0; p < me; ++p) {
    begun += all[p].count - (goes_on(all[p]) ? 1 : 0);
    if (all[p].count > 0) before = all[p];
  }
  bool const continues = goes_on(all[me]);
  return {here, begun - (continues ? 1 : 0), continues};
}

/// to(n, p) <- the number of nonzero p's row among all that have nonzeros on any process. rows <-
/// the rows here.
template <class Coordinates>
struct NumberUsedRows {
  CompareNonzeros<Coordinates> compare;
  DistributedRuns<typename Coordinates::memory_space> runs;
  Coordinates to;  // N x nnz
  Kokkos::View<std::uint64_t*, typename Coordinates::memory_space> rows;
  int n;

  KOKKOS_FUNCTION void operator()(Position p) const {
    bool const begins = compare.begins_run(p);
    Position const run = runs.here.before(p) - (begins ? 0 : 1);
    to(n, p) = static_cast<typename Coordinates::non_const_value_type>(runs.first + run);
    if (begins) rows(run) = compare.coordinates(n, p);
  }
};

/// to(n, p) <- the number of nonzero p's row in X among all rows that have nonzeros on any process,
/// ascending, from 0. X: in the order of mode n's rows, after the nonzeros of the process before.
/// Returns the rows that begin here. Collective. Fences exec.
template <class ExecutionSpace, class Tensor>
std::vector<std::uint64_t> number_used_rows(Communicator const& processes,
                                            ExecutionSpace const& exec, Tensor const& X, int n,
                                            typename Tensor::Coordinates const& to) {
  using Coordinates = typename Tensor::Coordinates;
  auto const runs = number_distributed_runs(processes, exec, X, {n});
  auto const rows = uninitialized<Kokkos::View<std::uint64_t*, typename Tensor::MemorySpace>>(
      exec, "sporades::share_rows::used", runs.here.count);
  launch_items(exec, "sporades::share_rows::number_used", X.nnz(),
               NumberUsedRows<Coordinates>{{X.coordinates, {n}}, runs, to, rows, n});
  auto begun = to_vector(exec, rows);
  if (runs.continues) begun.erase(begun.begin());
  return begun;
}

/// This process's nonzeros of the shares of modes that `serves` names; others have none. X:
/// nonzeros that the process brings. read gets the rows that they read. Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
std::vector<CooTensor<Scalar, Index, MemorySpace>> sorted_shares(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> X, std::vector<ShareOrder> const& orders,
    std::vector<bool> const& serves, ReadRows<MemorySpace>& read) {
  std::vector<CooTensor<Scalar, Index, MemorySpace>> nonzeros(orders.size());
  auto left = std::count(serves.begin(), serves.end(), true);
  for (std::size_t n = 0; left > 0; ++n) {
    if (!serves[n]) continue;
    nonzeros[n] = sorted_across(processes, exec, --left > 0 ? X : hand_over(X), orders[n].modes,
                                orders[n].cuts);
    read.insert(exec, nonzeros[n], static_cast<int>(n));
  }
  return nonzeros;
}

/// A share and its nonzeros.
template <class Scalar, class Index, class MemorySpace>
struct PackedShare {
  RowShare share;
  PackedTensor<Scalar, Index, MemorySpace> packed;
};

/// This process's share of every mode's rows in order. X: nonzeros that the process brings. read:
/// per mode, the indices of other modes' shares, ascending; their nonzeros have the numbers of
/// these instead. used: the rows of each mode that have nonzeros and begin here; rows of shares are
/// numbered among all such rows. Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
std::vector<PackedShare<Scalar, Index, MemorySpace>> share_rows(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> X, std::vector<ShareOrder> const& orders,
    std::vector<std::vector<std::uint64_t>>& read, std::vector<std::vector<std::uint64_t>>& used) {
  ReadRows<MemorySpace> rows(exec, X.dims);
  auto nonzeros = sorted_shares(processes, exec, hand_over(X), orders,
                                std::vector<bool>(orders.size(), true), rows);
  rows.finish(exec);
  read = rows.lists();
  used.clear();
  std::vector<PackedShare<Scalar, Index, MemorySpace>> shares;
  for (int n = 0; n < static_cast<int>(orders.size()); ++n) {
    auto& mine = nonzeros[static_cast<std::size_t>(n)];
    auto list = rows.renumbered(exec, mine, n);
    used.push_back(number_used_rows(processes, exec, mine, n, list.coordinates));
    mine = {};
    auto const& order = orders[static_cast<std::size_t>(n)];
    auto const share = make_row_share(processes, exec, list, order, true);
    shares.push_back({share, pack_share(exec, share, n, list)});
  }
  return shares;
}

}  // namespace sporades::detail
