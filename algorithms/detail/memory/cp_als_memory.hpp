// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/detail/memory/hosvd.hpp>

namespace sporades::detail {
/// make_mttkrp_plan of an X that is handed over.
template <class Scalar, class ExecutionSpace, class Tuples, class Rows>
void count_own_plan(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                    MttkrpOptions const& options, Tuples& tuples, Rows const& rows_of) {
  auto const strategy = first_strategy<ExecutionSpace>(X, options, trees::mttkrp_layout_on_hosts);
  count_mttkrp_plan<Scalar>(exec, count, X, true, options, strategy, tuples, rows_of);
}

/// make_dimension_tree of these modes of an X that is handed over.
template <class Scalar, class ExecutionSpace, class Tuples>
void count_fused_tree(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                      std::vector<int> const& fused, MttkrpOptions const& options, Tuples& tuples) {
  CooShape whole = X, grid = X;
  whole.dims = {1};
  grid.dims = {};
  std::vector<int> modes{-1};  // of whole
  for (int n : fused) {
    whole.dims[0] *= X.dims[n];
    grid.dims.push_back(X.dims[n]);
  }
  for (int n = 0; n < X.order(); ++n)
    if (std::find(fused.begin(), fused.end(), n) == fused.end()) {
      whole.dims.push_back(X.dims[n]);
      modes.push_back(n);
    }
  double const cells = static_cast<double>(whole.dims[0]);
  grid.dims.push_back(whole.dims[0]);
  grid.nnz = cells;
  whole.sorted_modes = grid.sorted_modes = {};
  count.hold(whole.coordinate_bytes());
  count.release(X.coordinate_bytes());
  count_own_plan<Scalar>(exec, count, whole, options, tuples, [&](int n) {
    return n == 0 ? tuples.of(fused, fused.size()) : tuples.rows(modes[n]);
  });
  count.hold(grid.bytes());
  count_own_plan<Scalar>(exec, count, grid, options, tuples,
                         [&](int n) { return static_cast<double>(grid.dims[n]); });
  count.hold(2 * matrix_bytes<Scalar>(cells, options.rank));
}

/// make_dimension_tree for the choice of make_cp_als_problem.
template <class Scalar, class ExecutionSpace, class Tuples>
void count_products(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                    CpAlsOptions const& options, Tuples& tuples) {
  MttkrpOptions products{options.strategy, options.rank};
  products.streaming = options.streaming;
  products.gather = options.gather;
  products = options_for<Scalar>(products);
  auto const fused =
      fuses_modes({products, options.dimension_tree})
          ? choose_fused_modes<ExecutionSpace, Scalar>(X.dims, X.count(), options.rank)
          : std::vector<int>();
  auto const strategy = first_strategy<ExecutionSpace>(X, products, trees::mttkrp_layout_on_hosts);
  auto other = count;
  if (!fused.empty()) count_fused_tree<Scalar>(exec, count, X, fused, products, tuples);
  if (!fused.empty() && strategy != MttkrpStrategy::alto) return;
  count_own_plan<Scalar>(exec, other, X, products, tuples, [&](int n) { return tuples.rows(n); });
  if (fused.empty())
    count = other;
  else  // it is plain where fused modes would scatter X
    count.take_larger(other);
}

/// CpAlsSolver, and the model that it leaves.
template <class ExecutionSpace, class Scalar>
void count_cp_als_solver(MemoryCount& count, Dims const& dims, CpAlsOptions const& options) {
  int const R = options.rank, P = static_cast<int>(padded_columns(static_cast<std::size_t>(R)));
  double const N = static_cast<double>(dims.size()), square = double{1} * P * P;
  double workspace = column_workspace_bytes<ExecutionSpace>(dims.back(), P);
  for (auto dim : dims)
    workspace = std::max(workspace, product_workspace_bytes<ExecutionSpace, Scalar>(dim, P, P));
  if (is_gpu<ExecutionSpace> && R <= 256)
    workspace =
        std::max(workspace, 8 * static_cast<double>(InvertByTeam<ExecutionSpace, Scalar>::doubles(
                                    static_cast<std::size_t>(R))));
  count.hold(8 * (N * square + 3 * P + N) + 2 * 8 * square + sizeof(Scalar) * (square + P) +
             (options.non_negative ? 2 : 1) * matrix_bytes<Scalar>(longest(dims), R) + workspace);
  double extremes = 0;
  for (auto dim : dims)
    extremes =
        std::max(extremes, static_cast<double>(RowBlocks(dim, R).count) * R * sizeof(Scalar));
  count.pass(extremes);
  count.hold(factors_bytes<Scalar>(dims, R) + (8.0 + sizeof(Scalar)) * R);
}

/// The memory that CP-ALS holds at its peak: cp_als_start(exec, X, options), or a given start, then
/// make_cp_als_problem(exec, hand_over(X), options), then cp_als, while nobody else holds X. Never
/// less than that, and where X's values of equal coordinates need no adding at most a tenth more,
/// unless its order hangs on the nonzeros in ways that only sorting shows. (A fit so near 1 that
/// the residual is computed nonzero by nonzero takes their coordinates beside the plan.) Some
/// passes over the nonzeros at most. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MemoryNeed cp_als_memory(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                         CpAlsOptions const& options) {
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;
  int const R = options.rank, N = X.order();
  auto const shape = shape_of(X);
  MostTuples<ExecutionSpace, Tensor> tuples(exec, X);
  MemoryCount count;
  count.hold(shape.bytes());
  count.hold(factors_bytes<Scalar>(X.dims, R));
  bool const races = has_cp_als_race(options, N, X.nnz());
  if (options.init == CpAlsInit::hosvd || races)
    for (int n = 1; n < N; ++n) {
      double const before = count.held();
      count_singular_vectors<Scalar>(exec, count, shape, n, R, tuples);
      count.hold_in_all(before);  // in place of the random factor
    }
  double start = 0;
  for (auto dim : X.dims)
    start = std::max(start, product_workspace_bytes<ExecutionSpace, Scalar>(dim, R, R));
  count.pass(start + 8.0 * R * R);
  count.pass(dot_bytes<ExecutionSpace, Scalar>(shape.nnz));
  auto const summed = count_sum_duplicates(exec, count, shape, may_repeat(exec, X));
  count.pass(summed.value_bytes());  // scaled
  count_products<Scalar>(exec, count, summed, options, tuples);
  if (races || options.starts > 1) count.hold(factors_bytes<Scalar>(X.dims, R));
  count_cp_als_solver<ExecutionSpace, Scalar>(count, X.dims, options);
  // The state's Gram matrices, and LAPACK's for one system.
  double const square = 8.0 * R * R;
  return {with_small_views(count.peak()), (2 * N + 6) * square};
}

/// The same, on the GPU, of an X that stays on the host: make_cp_als_problem(exec, X, options) and
/// cp_als from a random or a given start. Of windows it counts none.
template <class Scalar, class Index, class ExecutionSpace>
MemoryNeed streamed_cp_als_memory(ExecutionSpace const& exec, Dims const& dims, Position nnz,
                                  CpAlsOptions const& options) {
  int const R = options.rank;
  MttkrpOptions products{options.strategy, R};
  products.gather = options.gather;
  products = options_for<Scalar>(products);
  auto const fused = fuses_modes({products, options.dimension_tree})
                         ? choose_fused_modes<ExecutionSpace, Scalar>(dims, nnz, R)
                         : std::vector<int>();
  MemoryCount count;
  count.hold(factors_bytes<Scalar>(dims, R));
  count.pass(dot_bytes<ExecutionSpace, Scalar>(static_cast<double>(nnz)));
  auto const rows_of = [&](std::uint64_t dim) {
    return std::min(static_cast<double>(dim), static_cast<double>(nnz));
  };
  CooShape const X{dims, static_cast<double>(nnz), {}, sizeof(Scalar), sizeof(Index)};
  for (auto dim : dims) count.hold(packed_row_bytes(X, rows_of(dim)));
  count.hold(carry_bytes_of<ExecutionSpace, Scalar>(nnz, R, sizeof(Index)));
  count_rounded_rows<Scalar>(count, dims, products);
  if (!fused.empty()) {
    CooShape grid = X;
    grid.dims = {};
    double cells = 1;
    for (int n : fused) {
      grid.dims.push_back(dims[n]);
      cells *= static_cast<double>(dims[n]);
    }
    grid.dims.push_back(static_cast<std::uint64_t>(cells));
    grid.nnz = cells;
    CooTensor<Scalar, Index, typename ExecutionSpace::memory_space> const none;
    MostTuples<ExecutionSpace, std::decay_t<decltype(none)>> tuples(exec, none);
    count.hold(packed_row_bytes(X, rows_of(grid.dims.back())) + grid.bytes());
    count_own_plan<Scalar>(exec, count, grid, {options.strategy, R}, tuples,
                           [&](int n) { return static_cast<double>(grid.dims[n]); });
    count.hold(2 * matrix_bytes<Scalar>(cells, R));
  }
  if (options.starts > 1) count.hold(factors_bytes<Scalar>(dims, R));
  count_cp_als_solver<ExecutionSpace, Scalar>(count, dims, options);
  double const square = 8.0 * R * R;
  return {with_small_views(count.peak()), (2.0 * static_cast<double>(dims.size()) + 6) * square};
}

}  // namespace sporades::detail

#include <sporades/eti/cp_als_memory.hpp>
