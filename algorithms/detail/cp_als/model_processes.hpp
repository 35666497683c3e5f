// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/cp_als/problem.hpp>
#include <sporades/kernels/detail/processes/model_mttkrp.hpp>

/// What an iteration of CP-ALS would cost on any number of processes, from a tensor on one.

namespace sporades::detail {

/// What a connection between processes takes.
struct Network {
  double latency = 2e-6;    // seconds a message
  double bandwidth = 10e9;  // bytes a second, of one process
};

/// An iteration of CP-ALS on P processes.
struct IterationModel {
  std::vector<MttkrpChoice> choices;  // per mode
  Exchanges exchanges;
  std::vector<Position> nonzeros;    // per process: the most of a product
  std::vector<std::uint64_t> bytes;  // per process: what it holds for an iteration

  Volume all() const {
    Volume sum;
    for (auto const& [name, one] : exchanges) sum += one.all();
    return sum;
  }
  /// The volume of the process that sends most bytes.
  Volume largest() const {
    Volume most;
    for (std::size_t p = 0; p < nonzeros.size(); ++p) {
      Volume sum;
      for (auto const& [name, one] : exchanges) sum += one.sent[p];
      if (sum.bytes > most.bytes) most = sum;
    }
    return most;
  }
  /// Seconds that processes exchange. All send and receive at once, except for partial rows, which
  /// one process at a time adds to.
  double seconds(Network const& network) const {
    auto const of = [&](Volume const& volume) {
      return static_cast<double>(volume.messages) * network.latency +
             static_cast<double>(volume.bytes) / network.bandwidth;
    };
    double most = 0, in_turn = 0;
    for (std::size_t p = 0; p < nonzeros.size(); ++p) {
      double sent = 0, received = 0;
      for (auto const& [name, one] : exchanges) {
        if (name == "partial rows") continue;
        sent += of(one.sent[p]);
        received += of(one.received[p]);
      }
      most = std::max({most, sent, received});
    }
    if (auto const rows = exchanges.find("partial rows"); rows != exchanges.end())
      in_turn = of(rows->second.all());
    return most + in_turn;
  }
};

/// The sums of blocks of rows that processes tell one another: see share_blocks.
inline void add_sums(Exchanges& exchanges, RowMap const& rows, RowBlocks const& blocks,
                     std::uint64_t entries, std::uint64_t most) {
  std::uint64_t count = blocks.count, unit = blocks.rows_per_block;
  for (; add_groups(rows, unit, count, most); unit *= blocks_of_group)
    count = (count + blocks_of_group - 1) / blocks_of_group;
  auto const bounds = bounds_of_blocks(rows, unit, entries);
  std::vector<std::uint64_t> bytes;
  for (std::size_t p = 0; p + 1 < bounds.size(); ++p)
    bytes.push_back((bounds[p + 1] - bounds[p]) * sizeof(double));
  Exchanged sums{std::vector<Volume>(bytes.size()), std::vector<Volume>(bytes.size())};
  sums.add_to_all(bytes);
  exchanges["sums of rows"] += sums;
}

/// What processes send one another when each tells all others one value of so many bytes.
inline Exchanged told_to_all(int processes, std::uint64_t bytes) {
  auto const P = static_cast<std::size_t>(processes);
  Exchanged told{std::vector<Volume>(P), std::vector<Volume>(P)};
  for (int reach = 1; reach < processes; reach *= 2)  // as all_gather does
    for (std::size_t p = 0; p < P; ++p)
      told.add(p, (p + P - static_cast<std::size_t>(reach)) % P,
               static_cast<std::uint64_t>(std::min(reach, processes - reach)) * bytes);
  return told;
}

/// X: on the host, without duplicates. Its iterations after the first, in a run with an observer or
/// without. Throws as make_cp_als_problem of several processes. Fences.
template <class ExecutionSpace, class Scalar, class Index>
IterationModel model_iteration(CooTensor<Scalar, Index, Kokkos::HostSpace> const& X,
                               CpAlsOptions const& options, int processes, bool is_observed) {
  check_cp_als(options);
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const products = products_of(options);
  auto const P = static_cast<std::size_t>(processes);
  auto const columns = padded_columns(static_cast<std::size_t>(options.rank));
  std::size_t const N = X.dims.size();
  IterationModel model;
  model.nonzeros.resize(P);
  model.bytes.resize(P);
  std::vector<std::uint64_t> longest(P, 0);  // rows of products that are not lent
  auto const add = [&](DistributedPlanModel const& plan) {
    for (std::size_t n = 0; n < plan.rows.size(); ++n) {
      if (plan.rows.size() > 1) model.exchanges["rows of factors"] += plan.factors[n];
      for (auto const& [name, one] : plan.products[n]) model.exchanges[name] += one;
    }
    for (std::size_t p = 0; p < P; ++p) {
      model.nonzeros[p] = std::max(model.nonzeros[p], plan.nonzeros[p]);
      model.bytes[p] += plan.bytes[p];
    }
  };

  auto fused = wanted_fused_modes<ExecutionSpace, Scalar>(X.dims, X.nnz(), products);
  if constexpr (!is_gpu<ExecutionSpace>)
    if (!fused.empty() && scatters<ExecutionSpace, Scalar>(X.dims, TreeDims(X.dims, fused).whole,
                                                           X.nnz(), products.products))
      fused.clear();
  std::vector<RowMap> rows(N);  // per mode
  model.choices.resize(N);
  auto const take = [&](std::size_t mode, DistributedPlanModel const& plan, std::size_t of) {
    rows[mode] = plan.rows[of];
    model.choices[mode] = plan.choices[of];
    for (std::size_t p = 0; p < P; ++p)
      if (plan.choices[of].strategy == MttkrpStrategy::alto)
        longest[p] = std::max(longest[p], rows[mode].begins[p + 1] - rows[mode].begins[p]);
  };
  if (fused.empty()) {
    auto const plan = model_distributed_plan<ExecutionSpace>(X, products.products, processes);
    add(plan);
    for (std::size_t n = 0; n < N; ++n) take(n, plan, n);
  } else {
    TreeDims const dims(X.dims, fused);
    auto const whole = allocate_coo<Scalar, Index>(host, dims.whole, X.nnz());
    dims.fuse_indices(host, X.coordinates, whole.coordinates);
    copy_view(host, whole.values, X.values);
    auto const cells = dims.template grid_cells<Scalar, Index>(host, 0, dims.cells());
    fence(host, "sporades::cp_als::model_iteration");
    MttkrpPlanUse use_of_whole, use_of_grid;
    use_of_whole.first_is_read = true;
    auto const of_whole =
        model_distributed_plan<ExecutionSpace>(whole, products.products, processes, use_of_whole);
    use_of_grid.last = of_whole.rows[0];
    auto const of_grid = model_distributed_plan<ExecutionSpace>(
        cells, MttkrpOptions{products.products.strategy, options.rank}, processes, use_of_grid);
    add(of_whole);
    add(of_grid);
    for (std::size_t n = 0; n < N; ++n) {
      auto const place = place_of(static_cast<int>(n), fused);
      if (place < fused.size())
        take(n, of_grid, place);
      else
        take(n, of_whole, 1 + place_of(static_cast<int>(n), dims.others));
      if (place < fused.size()) model.choices[n] = of_whole.choices[0];
    }
  }

  constexpr bool gpu = is_gpu<ExecutionSpace>;
  std::uint64_t const most = gpu ? most_stored_blocks : 1;
  std::uint64_t partial = 0;
  for (std::size_t n = 0; n < N; ++n) {
    for (std::size_t p = 0; p < P; ++p)
      model.bytes[p] += (rows[n].begins[p + 1] - rows[n].begins[p]) * columns * sizeof(Scalar);
    std::uint64_t const dim = X.dims[n], entries = columns * columns;
    auto const blocks = gpu ? RowBlocks::of_products(dim, entries) : RowBlocks(dim, entries);
    partial = std::max(partial, (blocks.count + scratch_of_sum_blocks(blocks.count, 1)) * entries);
    if (processes == 1 || dim == 0) continue;
    add_sums(model.exchanges, rows[n], blocks, entries, most);
    if (n + 1 == N)
      add_sums(model.exchanges, rows[n],
               gpu ? RowBlocks::of_columns(dim, columns) : RowBlocks(dim, columns), columns, most);
  }
  if (is_observed && processes > 1)
    model.exchanges["answers of observers"] += told_to_all(processes, sizeof(double));
  for (std::size_t p = 0; p < P; ++p)
    model.bytes[p] += longest[p] * columns * sizeof(Scalar) + partial * sizeof(double);
  return model;
}

}  // namespace sporades::detail
