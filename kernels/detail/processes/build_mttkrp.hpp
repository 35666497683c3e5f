// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Included by kernels/detail/mttkrp/build_mttkrp_plan.hpp, whose instantiations are of this file,
// too.

#include <sporades/kernels/detail/processes/home_order.hpp>
#include <sporades/kernels/detail/processes/mttkrp.hpp>
#include <sporades/kernels/detail/processes/share_linear_order.hpp>
#include <sporades/kernels/detail/processes/share_rows.hpp>
#include <sporades/kernels/detail/processes/slices.hpp>

/// How the plan of a tensor is built whose nonzeros are those of several processes.

namespace sporades {
namespace detail {

/// The modes that take a linear order with so many parts each: where `automatic` took it, those
/// without parts revert to rows in order; else they are refused.
inline void choose_linear_modes(std::vector<Position> const& parts, MttkrpOptions const& options,
                                Dims const& dims, Position nnz,
                                std::vector<MttkrpChoice>& choices) {
  for (std::size_t n = 0; n < parts.size(); ++n) {
    if (parts[n] > 0 || nnz == 0) continue;
    expects(chooses_layout(options), "make_mttkrp_plan: strategy alto needs atomics on mode ", n,
            ", whose rows are used too seldom (", dims[n], " rows, ", nnz,
            " nonzeros): sorted and fibers work");
    revert_to_rows(choices[n]);
  }
}

/// The chunks of the process's nonzeros that are of parts of its own rows alone; none where parts
/// are of several slices, or none is another's. X: in the order of parts.
template <class ExecutionSpace, class Tensor, class Parts>
OwnChunks own_chunks(ExecutionSpace const& exec, Tensor const& X, int n, Parts const& parts,
                     Position length) {
  auto const [first, end] = parts.own_parts();
  if (!parts.is_one_slice() || first == end || (first == 0 && end == parts.count())) return {};
  std::uint64_t const number = row_ends(exec, X, n).first;
  IndexTuples<typename Tensor::Coordinates> const numbers{{X.coordinates, {n}}};
  std::vector<IndexTuple> const bounds{{{number + first}}, {{number + end}}};
  auto const places = count_below(exec, numbers, X.nnz(), bounds);
  OwnChunks own{(places[0] + length - 1) / length, places[1] / length, first + 1, end};
  if (end == parts.count()) own.end = chunks_of(X.nnz(), length);
  return own.begin < own.end ? own : OwnChunks{};
}

/// What else a shared plan is for.
struct DistributedPlanUse {
  bool may_be_linear = true;  // whether `automatic` may take a linear order
  /// Of a tree's X': products get the rows of the first factor that this process reads, and not
  /// those that it owns.
  bool first_is_read = false;
  /// Of a tree's grid: the rows of the last mode that processes own. All read all rows of the
  /// others.
  RowMap last = {};
};

/// Throws Error where processes cannot share the plan.
template <class ExecutionSpace, class Scalar, class Index>
Layout distributed_layout(Dims const& dims, Position nnz, MttkrpOptions const& options,
                          DistributedPlanUse const& use) {
  check_options(options, static_cast<int>(dims.size()));
  CooShape const X{dims, static_cast<double>(nnz), {}, sizeof(Scalar), sizeof(Index)};
  auto place = place_of<ExecutionSpace>(true);
  place.may_be_linear = use.may_be_linear;
  auto const layout = decide_layout(X, options, place, trees::mttkrp_layout_on_hosts);
  check_layout(layout, X, options, place);
  return layout;
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MttkrpPlan<Scalar, Index, MemorySpace> build_distributed_plan(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> X, MttkrpOptions const& given,
    DistributedPlanUse const& use) {
  char const* const where = "make_mttkrp_plan";
  auto const options = options_for<Scalar>(given);
  expect_same_dims(processes, X, where);
  Position const nnz = exclusive_scan_of_all(processes, X.nnz()).back();
  MttkrpPlan<Scalar, Index, MemorySpace> plan;
  auto const layout = distributed_layout<ExecutionSpace, Scalar, Index>(X.dims, nnz, options, use);
  check_coordinates(exec, X, where);
  plan.choices = layout.choices();
  bool const is_alto = layout.is_linear();
  int const N = X.order();
  auto const me = static_cast<std::size_t>(processes.rank());
  Position const length = chunk_length<ExecutionSpace>(nnz);
  auto const cuts = even_cuts(processes.size(), nnz, block_length<ExecutionSpace>(nnz));
  plan.dims = X.dims;
  plan.nnz = nnz;
  plan.packed.resize(X.dims.size());
  plan.coo.resize(X.dims.size());
  plan.csf.resize(X.dims.size());
  auto distributed = std::make_shared<DistributedProducts<Scalar, Index, MemorySpace>>();
  distributed->processes = processes;
  distributed->shares.resize(X.dims.size());
  distributed->chains.resize(X.dims.size());
  distributed->own.resize(X.dims.size());

  ReadRows<MemorySpace> read(exec, X.dims);
  LinearShare<Scalar, Index> linear;
  if constexpr (!is_gpu<ExecutionSpace>)
    if (is_alto) {
      linear = share_linear_order(processes, exec, X);
      read.insert(exec, linear.nonzeros);
      choose_linear_modes(linear.parts, options, plan.dims, nnz, plan.choices);
    }
  std::vector<bool> in_order;
  for (auto const& choice : plan.choices)
    in_order.push_back(choice.strategy != MttkrpStrategy::alto);
  std::vector<ShareOrder> orders;
  for (int n = 0; n < N; ++n) orders.push_back({mttkrp_mode_order(plan.dims, n), cuts, length});
  int const slices = layout.slices, sliced = layout.sliced_mode;
  std::vector<NumberedParts<Scalar, Index, MemorySpace>> parts(slices > 1 ? plan.dims.size() : 0);
  std::vector<CooTensor<Scalar, Index, MemorySpace>> nonzeros;
  if (slices > 1) {
    plan.parts.resize(plan.dims.size());
    X = sorted_across(processes, exec, hand_over(X), orders[static_cast<std::size_t>(sliced)].modes,
                      cuts);
    nonzeros.resize(plan.dims.size());
    nonzeros[static_cast<std::size_t>(sliced)] = X;
    read.insert(exec, X, sliced);
    auto const named = with_slices(exec, X, slice_cuts<ExecutionSpace>(slices, nnz), cuts[me]);
    X = {};
    for (int n = 0; n < N; ++n) {
      if (n == sliced) continue;
      auto& share = parts[static_cast<std::size_t>(n)];
      share = share_parts(processes, exec, named, n, cuts);
      read.insert(exec, share.nonzeros, n);
      nonzeros[static_cast<std::size_t>(n)] = hand_over(share.nonzeros);
    }
  } else {
    nonzeros = sorted_shares(processes, exec, hand_over(X), orders, in_order, read);
  }

  auto const columns = padded_columns(static_cast<std::size_t>(options.rank));
  plan.rows.resize(plan.dims.size());
  bool const is_grid = !use.last.is_whole();
  auto const own_rows = [&](int n, std::vector<std::uint64_t> const& begins) {
    auto const mode = static_cast<std::size_t>(n);
    plan.rows[mode] =
        is_grid && n + 1 == N
            ? use.last
            : make_row_map<ExecutionSpace>(processes, plan.dims[mode], begins, columns * columns);
  };
  for (int n = 0; n < N; ++n) {
    auto const mode = static_cast<std::size_t>(n);
    if (!in_order[mode]) continue;
    auto begins = even_cuts(processes.size(), plan.dims[mode]);
    begins.pop_back();
    if (slices > 1 && n != sliced && !options.slice_rows.empty()) {
      auto const& rows = options.slice_rows[mode];
      expects(rows.size() == static_cast<std::size_t>(slices) + 1 &&
                  rows.back() == plan.dims[mode] && std::is_sorted(rows.begin(), rows.end()),
              where, ": slice_rows of mode ", n, " are not where the rows of ", slices,
              " slices begin, and end");
      begins = begins_of_slice_rows(processes.size(), rows);
    }
    if (slices == 1 || n == sliced)
      begins =
          CutRows(all_gather(processes, "rows at cuts", row_ends(exec, nonzeros[mode], n))).begins;
    own_rows(n, begins);
    // All that is its own is read: GhostRows then finds it in one place.
    std::uint64_t const first = plan.rows[mode].first();
    read.insert_rows(exec, mode, first, first + plan.rows[mode].here(plan.dims[mode]));
  }
  for (int n = 0; is_grid && n + 1 < N; ++n)
    read.insert_rows(exec, static_cast<std::size_t>(n), 0, plan.dims[static_cast<std::size_t>(n)]);
  read.finish(exec);
  distributed->first_is_read = use.first_is_read;
  if (use.first_is_read) distributed->cells = read.lists().front();

  if constexpr (!is_gpu<ExecutionSpace>)
    if (is_alto) {
      distributed->alto = make_linear_share(exec, linear, read, nnz);
      distributed->parts = most_parts(nnz);
    }
  for (int n = 0; n < N; ++n) {
    auto const mode = static_cast<std::size_t>(n);
    if constexpr (!is_gpu<ExecutionSpace>)
      if (!in_order[mode]) {
        auto const added = read.subset(exec, linear.nonzeros, n);
        own_rows(n, begins_of_added_rows(processes, plan.dims[mode], added.rows));
        distributed->chains[mode] = RowChain<Scalar, MemorySpace>(
            processes, exec, plan.rows[mode].begins, added.rows, added.numbers);
        plan.carry.buffer_rows(exec, distributed->alto.partitions[mode].buffer_rows, options.rank);
        continue;
      }
    auto& made = distributed->shares[mode];
    bool const fits = layout.modes[mode].is_packed;
    if (slices > 1 && n != sliced) {
      plan.choices[mode].slices = slices;
      plan.parts[mode] =
          RowParts<Scalar, MemorySpace>(processes, exec, plan.rows[mode].begins, parts[mode].rows,
                                        parts[mode].slices, static_cast<std::uint32_t>(slices));
      parts[mode] = {};
    }
    auto const own = slices > 1 && n != sliced && fits
                         ? own_chunks(exec, nonzeros[mode], n, plan.parts[mode], length)
                         : OwnChunks{};
    made = make_packed_share(processes, exec, read.renumbered(exec, hand_over(nonzeros[mode]), n),
                             orders[mode].modes, cuts, length, fits);
    // Rows that go on from one process to the next have carries to exchange first.
    if (std::all_of(made.leading.begin(), made.leading.end(),
                    [](Position slots) { return slots == 0; }))
      distributed->own[mode] = own;
    auto& choice = plan.choices[mode];
    choice.gather = options.gather;
    choose_split_of_runs<ExecutionSpace, Scalar>(options, N, fits, choice, [&](int k) {
      RunSample sample;
      for (auto const& part :
           all_gather(processes, "samples of runs",
                      sample_runs(exec, made.packed, k, cuts[me + 1] - cuts[me], cuts[me], nnz))) {
        sample.pairs += part.pairs;
        sample.breaks += part.breaks;
      }
      return sample.length();
    });
  }
  for (int m = 0; m < N; ++m)
    distributed->read.emplace_back(processes, exec, plan.rows[static_cast<std::size_t>(m)].begins,
                                   read.lists()[static_cast<std::size_t>(m)]);
  distributed->sums = {processes,
                       std::any_of(plan.parts.begin(), plan.parts.end(),
                                   [](auto const& mode) { return mode.is_registered(); })};
  for (auto const& share : distributed->shares)
    if (share.all_chunks > 0)
      reserve_carries(processes, exec, share, plan.carry, static_cast<std::size_t>(options.rank));
  plan.distributed = distributed;
  fence(exec, "sporades::mttkrp::build_distributed_plan");
  return plan;
}

/// The plan that processes share, or of one process that which it has alone.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MttkrpPlan<Scalar, Index, MemorySpace> build_plan_of_all(Communicator const& processes,
                                                         ExecutionSpace const& exec,
                                                         CooTensor<Scalar, Index, MemorySpace> X,
                                                         MttkrpOptions const& options,
                                                         DistributedPlanUse const& use) {
  if constexpr (has_mpi)
    if (processes.size() > 1)
      return build_distributed_plan(processes, exec, hand_over(X), options, use);
  return make_mttkrp_plan(exec, hand_over(X), options);
}

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MttkrpPlan<Scalar, Index, MemorySpace> make_mttkrp_plan(Communicator const& processes,
                                                        ExecutionSpace const& exec,
                                                        CooTensor<Scalar, Index, MemorySpace> X,
                                                        MttkrpOptions const& options) {
  auto const named = [&] { return detail::named_options<Scalar, Index>(options); };
  return detail::together(processes, "make_mttkrp_plan", named, [&] {
    return detail::build_plan_of_all(processes, exec, hand_over(X), options, {});
  });
}

}  // namespace sporades

#include <sporades/eti/build_mttkrp_plan.hpp>
