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
  explicit IndexSet(std::uint64_t dim) : words_((dim + 63) / 64, 0) {}

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

  std::vector<std::uint64_t> words_, before_;
};

/// The rows of a mode that processes own, of which process p's nonzeros begin begins[p] and later:
/// each owns about those that begin on it, so that few rows of a product travel. A process's rows
/// begin where a block does whose sums are added as one, of matrices of up to `columns` columns
/// (RowBlocks); where blocks are many, where a group of 64 does.
template <class ExecutionSpace>
RowDistribution distribute_rows(Communicator const& processes, std::uint64_t rows,
                                std::vector<std::uint64_t> const& begins, std::uint64_t columns) {
  std::uint64_t const entries = columns * columns;
  std::uint64_t unit = RowBlocks(rows, entries).rows_per_block;
  if constexpr (is_gpu<ExecutionSpace>)
    unit = std::max(unit, RowBlocks::of_products(rows, entries).rows_per_block);
  auto const P = static_cast<std::uint64_t>(processes.size());
  if (rows / (64 * unit) >= 16 * P) unit *= 64;
  RowDistribution result{processes, {0}};
  for (std::size_t p = 1; p < begins.size(); ++p)
    result.begins.push_back(std::max(result.begins.back(), begins[p] / unit * unit));
  result.begins.push_back(rows);
  return result;
}

/// This process's share of every mode's rows in order: the nonzeros in the order of the modes that
/// order_of(dims, n) says, cut at `cuts`. X: nonzeros that the process brings. read: per mode, the
/// indices of other modes' shares, ascending; their nonzeros have the numbers of these instead.
/// Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class ModeOrder>
std::vector<PackedShare<Scalar, Index, MemorySpace>> share_rows(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> X, std::vector<Position> const& cuts, Position length,
    ModeOrder const& order_of, std::vector<std::vector<std::uint64_t>>& read) {
  Kokkos::DefaultHostExecutionSpace const host{};
  Dims const dims = X.dims;
  auto const N = X.order();
  std::vector<CooTensor<Scalar, Index, Kokkos::HostSpace>> nonzeros;
  std::vector<IndexSet> used;
  for (auto dim : dims) used.emplace_back(dim);
  for (int n = 0; n < N; ++n) {
    nonzeros.push_back(copy_to(host, sorted_across(processes, exec, n + 1 < N ? X : hand_over(X),
                                                   order_of(dims, n), cuts)));
    auto const& share = nonzeros.back();
    for (int m = 0; m < N; ++m)
      if (m != n) used[static_cast<std::size_t>(m)].insert(share.indices(m), share.nnz());
  }
  X = {};
  read.clear();
  for (auto& mode : used) read.push_back(mode.list());

  std::vector<PackedShare<Scalar, Index, MemorySpace>> shares;
  for (int n = 0; n < N; ++n) {
    auto& share = nonzeros[static_cast<std::size_t>(n)];
    auto renumbered = allocate_coo<Scalar, Index>(host, dims, share.nnz());
    fence(host, "sporades::share_rows");
    for (int m = 0; m < N; ++m) {
      auto const mode = static_cast<std::size_t>(m);
      if (m != n) renumbered.dims[mode] = read[mode].size();
      Index const* const from = share.indices(m);
      Index* const to = renumbered.indices(m);
      for (Position p = 0; p < share.nnz(); ++p)
        to[p] = m == n ? from[p] : static_cast<Index>(used[mode].number(from[p]));
    }
    std::copy_n(share.values.data(), share.nnz(), renumbered.values.data());
    share = {};
    shares.push_back(make_packed_share(processes, exec, copy_to(exec, renumbered),
                                       order_of(dims, n), cuts, length));
  }
  return shares;
}

}  // namespace sporades::detail
