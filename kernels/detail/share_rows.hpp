// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense/blocks.hpp>
#include <sporades/kernels/detail/packed_share.hpp>

/// How nonzeros that processes bring become shares of rows in order, and who owns which rows.

namespace sporades::detail {

/// A set of indices of a mode, and the number of each among them, ascending.
class IndexSet {
 public:
  explicit IndexSet(std::uint64_t dim) : dim_(dim), words_((dim + 63) / 64, 0) {}

  std::uint64_t dim() const { return dim_; }

  template <class Index>
  void insert(Index const* indices, Position count) {
    for (Position p = 0; p < count; ++p)
      words_[indices[p] / 64] |= std::uint64_t{1} << indices[p] % 64;
  }
  /// The indices, ascending. None are inserted after.
  std::vector<std::uint64_t> list() {
    std::vector<std::uint64_t> all;
    before_.clear();
    for (std::uint64_t w = 0; w < words_.size(); ++w) {
      before_.push_back(all.size());
      for (std::uint64_t word = words_[w]; word != 0; word &= word - 1)
        all.push_back(64 * w + lowest_bit(word));
    }
    return all;
  }
  /// The number of an index of the list.
  std::uint64_t number(std::uint64_t index) const {
    std::uint64_t const below = words_[index / 64] & ((std::uint64_t{1} << index % 64) - 1);
    return before_[index / 64] + bit_count(below);
  }

 private:
  static std::uint64_t bit_count(std::uint64_t word) {
    return static_cast<std::uint64_t>(__builtin_popcountll(word));
  }
  static std::uint64_t lowest_bit(std::uint64_t word) { return bit_count((word & -word) - 1); }

  std::uint64_t dim_;
  std::vector<std::uint64_t> words_, before_;
};

/// The rows of a mode that processes own, of which process p's nonzeros begin begins[p] and later:
/// each owns about those that begin on it, so that few rows of a product travel. A process's rows
/// begin where a block does whose sums, of up to `entries` numbers, are added as one (RowBlocks);
/// where blocks are many, where a group of 64 does.
template <class ExecutionSpace>
RowDistribution distribute_rows(Communicator const& processes, std::uint64_t rows,
                                std::vector<std::uint64_t> const& begins, std::uint64_t entries) {
  std::uint64_t unit = RowBlocks(rows, entries).rows_per_block;
  if constexpr (is_gpu<ExecutionSpace>)
    unit = std::max(unit, RowBlocks::of_products(rows, entries).rows_per_block);
  std::uint64_t const P = begins.size();
  if (rows / (64 * unit) >= 16 * P) unit *= 64;
  RowDistribution result{processes, {0}};
  for (std::size_t p = 1; p < begins.size(); ++p)
    result.begins.push_back(std::max(result.begins.back(), begins[p] / unit * unit));
  result.begins.push_back(rows);
  return result;
}

/// The rows of factors that a process's nonzeros read, and nonzeros whose indices are the numbers
/// of these rows.
class ReadRows {
 public:
  explicit ReadRows(Dims const& dims) {
    for (auto dim : dims) sets_.emplace_back(dim);
  }

  /// X's indices, on the host, of all modes but one; of all for -1.
  template <class Tensor>
  void insert(Tensor const& X, int but = -1) {
    for (int m = 0; m < X.order(); ++m)
      if (m != but) sets_[static_cast<std::size_t>(m)].insert(X.indices(m), X.nnz());
  }
  /// Numbers the rows: nothing is inserted after.
  void finish() {
    for (auto& set : sets_) lists_.push_back(set.list());
  }
  /// Per mode: the rows, ascending.
  std::vector<std::vector<std::uint64_t>> const& lists() const { return lists_; }

  /// X with these numbers, but in one mode, whose indices become less by `first`; in all for -1. X:
  /// on the host.
  template <class Tensor>
  Tensor renumbered(Tensor const& X, int but = -1, std::uint64_t first = 0) const {
    Kokkos::DefaultHostExecutionSpace const host{};
    auto result =
        allocate_coo<typename Tensor::Scalar, typename Tensor::Index>(host, X.dims, X.nnz());
    fence(host, "sporades::share_rows");
    for (int m = 0; m < X.order(); ++m) {
      auto const mode = static_cast<std::size_t>(m);
      if (m != but) result.dims[mode] = lists_[mode].size();
      auto const* const from = X.indices(m);
      auto* const to = result.indices(m);
      for (Position p = 0; p < X.nnz(); ++p)
        to[p] = static_cast<typename Tensor::Index>(m == but ? from[p] - first
                                                             : sets_[mode].number(from[p]));
    }
    std::copy_n(X.values.data(), X.nnz(), result.values.data());
    return result;
  }

  struct Subset {
    std::vector<std::uint64_t> rows;  // ascending
    std::vector<Position> numbers;
  };
  /// Those of a mode that these indices name.
  template <class Index>
  Subset subset(std::size_t mode, Index const* indices, Position count) const {
    IndexSet set(sets_[mode].dim());
    set.insert(indices, count);
    Subset result{set.list(), {}};
    for (auto row : result.rows) result.numbers.push_back(sets_[mode].number(row));
    return result;
  }

 private:
  std::vector<IndexSet> sets_;
  std::vector<std::vector<std::uint64_t>> lists_;
};

/// How processes share the nonzeros in the order of a mode's rows.
struct ShareOrder {
  std::vector<int> modes;      // of the order: the rows' first
  std::vector<Position> cuts;  // see sorted_across: multiples of `length`
  Position length;             // of chunks
};

/// numbers(p): the number of row rows(p) among all rows that have nonzeros on any process,
/// ascending, from 0. rows: of the `count` nonzeros here, which follow those of the process before.
/// Returns the rows that begin here. Collective.
template <class Row, class Index>
std::vector<std::uint64_t> number_rows(Communicator const& processes, Row const* rows,
                                       Position count, Index* numbers) {
  std::vector<std::uint64_t> mine;
  for (Position p = 0; p < count; ++p)
    if (p == 0 || rows[p] != rows[p - 1]) mine.push_back(rows[p]);
  struct Rows {
    std::uint64_t first, last, count;
  };
  auto const all =
      all_gathered(processes, "rows at cuts",
                   mine.empty() ? Rows{0, 0, 0} : Rows{mine.front(), mine.back(), mine.size()});
  std::uint64_t begun = 0;  // rows of processes before
  Rows before{0, 0, 0};
  auto const goes_on = [&](Rows const& with) {
    return before.count > 0 && with.count > 0 && with.first == before.last;
  };
  auto const me = static_cast<std::size_t>(processes.rank());
  for (std::size_t p = 0; p < me; ++p) {
    begun += all[p].count - (goes_on(all[p]) ? 1 : 0);
    if (all[p].count > 0) before = all[p];
  }
  bool const continues = goes_on(all[me]);
  std::uint64_t number = begun - (continues ? 1 : 0);
  for (Position p = 0; p < count; ++p) {
    if (p > 0 && rows[p] != rows[p - 1]) ++number;
    numbers[p] = static_cast<Index>(number);
  }
  if (continues) mine.erase(mine.begin());
  return mine;
}

/// This process's nonzeros of the shares of modes that `serves` names; others have none. X:
/// nonzeros that the process brings. read gets the rows that they read. Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
std::vector<CooTensor<Scalar, Index, Kokkos::HostSpace>> sorted_shares(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> X, std::vector<ShareOrder> const& orders,
    std::vector<bool> const& serves, ReadRows& read) {
  std::vector<CooTensor<Scalar, Index, Kokkos::HostSpace>> nonzeros(orders.size());
  auto left = std::count(serves.begin(), serves.end(), true);
  for (std::size_t n = 0; left > 0; ++n) {
    if (!serves[n]) continue;
    nonzeros[n] = copy_to(Kokkos::DefaultHostExecutionSpace{},
                          sorted_across(processes, exec, --left > 0 ? X : hand_over(X),
                                        orders[n].modes, orders[n].cuts));
    read.insert(nonzeros[n], static_cast<int>(n));
  }
  return nonzeros;
}

/// This process's share of every mode's rows in order. X: nonzeros that the process brings. read:
/// per mode, the indices of other modes' shares, ascending; their nonzeros have the numbers of
/// these instead. used: null, or gets the rows of each mode that have nonzeros and begin here; then
/// rows of shares are numbered among all such rows. Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
std::vector<PackedShare<Scalar, Index, MemorySpace>> share_rows(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> X, std::vector<ShareOrder> const& orders,
    std::vector<std::vector<std::uint64_t>>& read,
    std::vector<std::vector<std::uint64_t>>* used = nullptr) {
  ReadRows rows(X.dims);
  auto nonzeros = sorted_shares(processes, exec, hand_over(X), orders,
                                std::vector<bool>(orders.size(), true), rows);
  rows.finish();
  read = rows.lists();
  if (used != nullptr) used->clear();
  std::vector<PackedShare<Scalar, Index, MemorySpace>> shares;
  for (int n = 0; n < static_cast<int>(orders.size()); ++n) {
    auto& share = nonzeros[static_cast<std::size_t>(n)];
    auto const renumbered = rows.renumbered(share, n);
    if (used != nullptr)
      used->push_back(number_rows(processes, share.indices(n), share.nnz(), renumbered.indices(n)));
    auto const& order = orders[static_cast<std::size_t>(n)];
    share = {};
    shares.push_back(make_packed_share(processes, exec, copy_to(exec, renumbered), order.modes,
                                       order.cuts, order.length));
  }
  return shares;
}

}  // namespace sporades::detail
