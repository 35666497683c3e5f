// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Included by kernels/detail/mttkrp/build_mttkrp_plan.hpp.

#include <sporades/core/detail/dense/blocks.hpp>
#include <sporades/formats/detail/sort_across.hpp>
#include <sporades/kernels/detail/mttkrp/shared.hpp>

/// How the plan of a tensor is built whose nonzeros are those of several processes.

namespace sporades {
namespace detail {

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

/// last: the rows of the last mode that processes own, where that is settled.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MttkrpPlan<Scalar, Index, MemorySpace> build_shared_plan(Communicator const& processes,
                                                         ExecutionSpace const& exec,
                                                         CooTensor<Scalar, Index, MemorySpace> X,
                                                         MttkrpOptions const& given,
                                                         RowDistribution const& last = {}) {
  char const* const where = "make_mttkrp_plan";
  auto const options = options_for<Scalar>(given);
  expect_same_dims(processes, X, where);
  Position const nnz = first_places(processes, X.nnz()).back();
  MttkrpPlan<Scalar, Index, MemorySpace> plan;
  check_options(options, X.order());
  check_coordinates(exec, X, where);
  expects(!options.streaming.always && options.streaming.memory == 0, where,
          ": nonzeros that processes share are not streamed");
  expects(!options.atomic_flush && options.order != RowOrder::morton, where,
          ": nonzeros that processes share are in lexicographic order, and their sums take no "
          "atomics");
  auto common = first_choice<ExecutionSpace, Scalar>(X.dims, nnz, options, false,
                                                     trees::mttkrp_layout_on_hosts);
  if (options.strategy == MttkrpStrategy::automatic && common.strategy == MttkrpStrategy::alto)
    common = {MttkrpStrategy::sorted, RowOrder::lexicographic, 0,
              "rows in order are what processes share"};
  plan.choices.assign(X.dims.size(), common);
  for (int n = 0; n < X.order(); ++n) {
    auto const strategy = common.strategy;
    expects(strategy == MttkrpStrategy::sorted || strategy == MttkrpStrategy::fibers, where,
            ": strategy ", to_string(strategy),
            " works on one process: sorted and fibers on several");
    expects(fits_packed(X.dims, n), where, ": the indices of all modes but ", n, " take ",
            packed_bits(X.dims, n) - 1, " bits: 63 where processes share nonzeros");
  }
  int const N = X.order();
  auto const me = static_cast<std::size_t>(processes.rank());
  Position const length = chunk_length<ExecutionSpace>(nnz);
  auto const cuts = even_cuts(processes.size(), nnz, length);
  plan.dims = X.dims;
  plan.nnz = nnz;
  plan.packed.resize(X.dims.size());
  plan.coo.resize(X.dims.size());
  plan.csf.resize(X.dims.size());
  auto shared = std::make_shared<SharedProducts<Scalar, Index, MemorySpace>>();
  shared->processes = processes;

  // The nonzeros of every share, and the indices of each mode that they have.
  Kokkos::DefaultHostExecutionSpace const host{};
  using OnHost = CooTensor<Scalar, Index, Kokkos::HostSpace>;
  std::vector<OnHost> nonzeros;
  std::vector<IndexSet> used;
  for (int m = 0; m < N; ++m) used.emplace_back(X.dims[static_cast<std::size_t>(m)]);
  for (int n = 0; n < N; ++n) {
    auto const modes = mttkrp_mode_order(X.dims, n);
    nonzeros.push_back(
        copy_to(host, sorted_across(processes, exec, n + 1 < N ? X : hand_over(X), modes, cuts)));
    auto const& share = nonzeros.back();
    for (int m = 0; m < N; ++m)
      if (m != n) used[static_cast<std::size_t>(m)].insert(share.indices(m), share.nnz());
  }
  X = {};
  std::vector<std::vector<std::uint64_t>> lists;
  for (auto& mode : used) lists.push_back(mode.list());

  for (int n = 0; n < N; ++n) {
    auto& share = nonzeros[static_cast<std::size_t>(n)];
    auto const modes = mttkrp_mode_order(plan.dims, n);
    auto renumbered = allocate_coo<Scalar, Index>(host, plan.dims, share.nnz());
    fence(host, "sporades::mttkrp::renumber");
    for (int m = 0; m < N; ++m) {
      auto const mode = static_cast<std::size_t>(m);
      if (m != n) renumbered.dims[mode] = lists[mode].size();
      Index const* const from = share.indices(m);
      Index* const to = renumbered.indices(m);
      for (Position p = 0; p < share.nnz(); ++p)
        to[p] = m == n ? from[p] : static_cast<Index>(used[mode].number(from[p]));
    }
    std::copy_n(share.values.data(), share.nnz(), renumbered.values.data());
    share = {};
    shared->shares.push_back(
        make_packed_share(processes, exec, copy_to(exec, renumbered), modes, cuts, length));
    auto const& made = shared->shares.back();
    plan.rows.push_back(n + 1 == N && !last.is_whole()
                            ? last
                            : distribute_rows<ExecutionSpace>(
                                  processes, plan.dims[static_cast<std::size_t>(n)], made.begins,
                                  padded_columns(static_cast<std::size_t>(options.rank))));
    auto& choice = plan.choices[static_cast<std::size_t>(n)];
    choice.gather = options.gather;
    if (options.strategy != MttkrpStrategy::automatic) continue;
    choice.split =
        measured_split<ExecutionSpace, Scalar>(N, options.rank, choice.reason, [&](int k) {
          RunSample sample;
          for (auto const& part : all_gathered(
                   processes, "samples of runs",
                   sample_runs(exec, made.packed, k, cuts[me + 1] - cuts[me], cuts[me], nnz))) {
            sample.pairs += part.pairs;
            sample.breaks += part.breaks;
          }
          return sample.length();
        });
    if (choice.split > 0) choice.strategy = MttkrpStrategy::fibers;
  }
  for (int m = 0; m < N; ++m)
    shared->read.emplace_back(processes, exec, plan.rows[static_cast<std::size_t>(m)].begins,
                              lists[static_cast<std::size_t>(m)]);
  plan.carry.reserve(exec, chunks_of(nnz, length), options.rank);
  plan.shared = shared;
  fence(exec, "sporades::mttkrp::build_shared_plan");
  return plan;
}

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MttkrpPlan<Scalar, Index, MemorySpace> make_mttkrp_plan(Communicator const& processes,
                                                        ExecutionSpace const& exec,
                                                        CooTensor<Scalar, Index, MemorySpace> X,
                                                        MttkrpOptions const& options) {
  if constexpr (detail::has_mpi)
    if (processes.size() > 1)
      return detail::together(processes, [&] {
        return detail::build_shared_plan(processes, exec, hand_over(X), options);
      });
  return make_mttkrp_plan(exec, hand_over(X), options);
}

}  // namespace sporades
