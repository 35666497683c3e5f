// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Included by kernels/detail/mttkrp/build_mttkrp_plan.hpp.

#include <sporades/kernels/detail/mttkrp/shared.hpp>
#include <sporades/kernels/detail/share_rows.hpp>

/// How the plan of a tensor is built whose nonzeros are those of several processes.

namespace sporades {
namespace detail {

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
  auto const cuts = even_cuts(processes.size(), nnz, block_length<ExecutionSpace>(nnz));
  plan.dims = X.dims;
  plan.nnz = nnz;
  plan.packed.resize(X.dims.size());
  plan.coo.resize(X.dims.size());
  plan.csf.resize(X.dims.size());
  auto shared = std::make_shared<SharedProducts<Scalar, Index, MemorySpace>>();
  shared->processes = processes;

  std::vector<std::vector<std::uint64_t>> read;
  shared->shares = share_rows(processes, exec, hand_over(X), cuts, length, mttkrp_mode_order, read);
  for (int n = 0; n < N; ++n) {
    auto const& made = shared->shares[static_cast<std::size_t>(n)];
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
                              read[static_cast<std::size_t>(m)]);
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
