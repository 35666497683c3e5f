// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/algorithms/detail/decompose.hpp>
#include <sporades/algorithms/detail/scaled_tensor.hpp>
#include <sporades/algorithms/detail/tucker/left_singular_vectors.hpp>
#include <sporades/algorithms/tucker.hpp>
#include <sporades/core/detail/check_types.hpp>
#include <sporades/core/detail/out_of_core_memory.hpp>
#include <sporades/core/detail/region.hpp>
#include <sporades/kernels/ttm_chain.hpp>

namespace sporades::detail {

/// Throws Error where an option is out of its range.
inline void check_tucker(TuckerOptions const& options) {
  check_run("tucker", options);
  expects(options.memory_limit >= 0, "tucker: memory limit ", options.memory_limit,
          " is not 0 or a positive number of bytes");
  for (std::size_t n = 0; n < options.ranks.size(); ++n)
    expects(options.ranks[n] > 0 && options.ranks[n] < 65536, "tucker: rank ", options.ranks[n],
            " of mode ", n, " is not in 1 to 65535");
}

/// Throws Error where an option is out of its range, or the ranks do not fit a tensor of these
/// dims. There must be one rank a mode. None may be larger than its mode, or than the product of
/// the other ranks: X_(n) times the other factors' Kronecker product has that many columns, and so
/// no more singular vectors.
inline void check_tucker(TuckerOptions const& options, Dims const& dims) {
  check_tucker(options);
  auto const& ranks = options.ranks;
  expects(ranks.size() == dims.size(), "tucker: ", ranks.size(), " ranks for a tensor of order ",
          dims.size());
  for (std::size_t n = 0; n < dims.size(); ++n) {
    expects(static_cast<std::uint64_t>(ranks[n]) <= dims[n], "tucker: rank ", ranks[n], " of mode ",
            n, " is larger than the mode, ", dims[n]);
    double others = 1;
    for (std::size_t m = 0; m < dims.size(); ++m)
      if (m != n) others *= ranks[m];
    expects(others < std::ldexp(1.0, 48), "tucker: the product of all ranks but that of mode ", n,
            ", ", others, ", is more than 2^48");
    expects(ranks[n] <= others, "tucker: rank ", ranks[n], " of mode ", n,
            " is larger than the product of the other ranks, ", others);
  }
}

/// What Tucker alone has of what all processes of a call give alike.
inline NamedOptions named_options(TuckerOptions const& options) {
  return NamedOptions()
      .add("ranks", options.ranks)
      .add("strategy", options.strategy)
      .add("singular_vectors", options.singular_vectors)
      .add("memory_limit", options.memory_limit);
}

/// Where the rows of mode n's unfolding are, on several processes. Where there are no more rows
/// than columns, all are on every process: so many numbers are few, and the sums over columns are
/// in one process's order. So are they for an SVD. Else each process's rows begin where blocks do
/// whose sums LeftSingularVectors adds.
template <class ExecutionSpace, class Plan>
RowMap distribute_unfolding(Plan const& plan, int n, SingularVectorMethod method) {
  auto const mode = static_cast<std::size_t>(n);
  std::uint64_t const rows = plan.work.where[mode].used.begins.back();
  std::uint64_t const columns = plan.choices[mode].columns.count();
  if (rows <= columns || method == SingularVectorMethod::svd) return {};
  auto const wanted = static_cast<int>(std::min<std::uint64_t>(plan.ranks[mode], columns));
  bool const by_lanczos = prefers_lanczos(method, rows, columns, wanted);
  // No less than any sum of LeftSingularVectors has: of Y^T Y, and of Y^T U as normal_blocks
  // counts.
  std::uint64_t const entries = by_lanczos
                                    ? 4 * columns * padded_columns(static_cast<std::size_t>(wanted))
                                    : columns * columns;
  auto const begun = plan.work.distributed->begun(n);
  return make_row_map<ExecutionSpace>(begun.processes, rows,
                                      {begun.begins.begin(), begun.begins.end() - 1}, entries);
}

/// Gives the products of a chain of several processes their rows and their memory.
template <class ExecutionSpace, class Plan>
void distribute_products(ExecutionSpace const& exec, Plan& chain, TuckerOptions const& options) {
  for (int n = 0; n < chain.order(); ++n)
    chain.work.where[static_cast<std::size_t>(n)].product =
        distribute_unfolding<ExecutionSpace>(chain, n, options.singular_vectors);
  place_distributed_products(exec, chain,
                             options.memory_limit > 0 ? options.memory_limit : memory_bytes(exec));
}

/// make_tucker_problem. X: the nonzeros that the process brings.
template <class ExecutionSpace, class Scalar, class Index, class GivenSpace>
TuckerProblem<Scalar, Index, WorkSpace<ExecutionSpace, GivenSpace>> build_tucker_problem(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, GivenSpace> X, TuckerOptions const& options) {
  Region const region("sporades::make_tucker_problem");
  check_tucker(options, X.dims);
  auto const part_bytes = part_bytes_of<ExecutionSpace>(processes, X, options.streaming);
  auto scaled = summed_and_scaled(processes, builder_of<GivenSpace>(exec), hand_over(X), "tucker",
                                  part_bytes);
  auto& summed = scaled.tensor;
  auto const places = exclusive_scan_of_all(processes, summed.nnz());
  TuckerProblem<Scalar, Index, WorkSpace<ExecutionSpace, GivenSpace>> problem;
  problem.processes = processes;
  problem.dims = summed.dims;
  problem.exponent = scaled.exponent;
  problem.norm_squared = norm_squared_across(processes, exec, places, summed.values);
  problem.chain = build_ttm_chain_plan(
      processes, exec, hand_over(summed), options.ranks,
      TtmChainOptions{options.strategy, options.memory_limit, options.streaming});
  if (processes.size() > 1) distribute_products(exec, problem.chain, options);
  if (!is_out_of_core(problem.chain.formats, 0))  // else with copies of nonzeros
    problem.out_of_core = scaled.memory;
  return problem;
}

}  // namespace sporades::detail
