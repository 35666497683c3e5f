// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/cp_als/cp_als_method.hpp>
#include <sporades/algorithms/detail/memory/fit.hpp>
#include <sporades/algorithms/detail/memory/hosvd.hpp>
#include <sporades/core/detail/dense/workspace_bytes.hpp>
#include <sporades/kernels/detail/mttkrp_all_modes/all_modes_memory.hpp>

namespace sporades::detail {

/// The factors of so many states, each with those of its best iterate.
template <class Scalar>
double state_factors_bytes(Dims const& dims, CpAlsOptions const& options) {
  return (keeps_best(options) ? 2 : 1) * factors_bytes<Scalar>(dims, options.rank);
}

/// What follows a plan: the best of several starts, CpAlsSolver, and the model that it leaves.
template <class ExecutionSpace, class Scalar>
MemoryNeed count_cp_als_solver(MemoryCount& count, Dims const& dims, CpAlsOptions const& options) {
  if (options.starts > 1)  // its state and model
    count.hold(state_factors_bytes<Scalar>(dims, options) +
               factors_bytes<Scalar>(dims, options.rank));
  int const R = options.rank, P = static_cast<int>(padded_columns(static_cast<std::size_t>(R)));
  double const N = static_cast<double>(dims.size()), square = double{1} * P * P;
  double workspace = column_workspace_bytes<ExecutionSpace>(dims.back(), P);
  for (auto dim : dims)
    workspace = std::max(workspace, product_workspace_bytes<ExecutionSpace>(dim, P, P));
  if (is_gpu<ExecutionSpace> && R <= 256)
    workspace = std::max(workspace, 8 * static_cast<double>(InvertByTeam<ExecutionSpace>::doubles(
                                            static_cast<std::size_t>(R))));
  double const system = options.non_negative ? sizeof(Scalar) : sizeof(double);
  count.hold(8 * (N * square + 3 * P + N) + 2 * 8 * square + system * square + sizeof(Scalar) * P +
             (options.non_negative ? 2 : 1) * matrix_bytes<Scalar>(longest(dims), R) + workspace);
  if (keeps_best(options)) count.hold(factors_bytes<Scalar>(dims, R));
  double extremes = 0;
  for (auto dim : dims)
    extremes =
        std::max(extremes, static_cast<double>(RowBlocks(dim, R).count) * R * sizeof(Scalar));
  count.pass(extremes);
  count.hold(factors_bytes<Scalar>(dims, R) + (8.0 + sizeof(Scalar)) * R);
  // The state's Gram matrices, and LAPACK's for one system.
  return {count.held(), with_small_views(count.peak()), (2 * N + 6) * 8.0 * R * R};
}

/// From cp_als_start, or a given start, to the model. repeats: coordinates of X may.
template <class Scalar, class ExecutionSpace, class Tuples>
MemoryNeed count_cp_als(ExecutionSpace const& exec, CooShape const& shape,
                        CpAlsOptions const& options, Tuples& tuples, bool repeats) {
  int const R = options.rank, N = shape.order();
  auto const& dims = shape.dims;
  MemoryCount count;
  count.hold(shape.bytes());
  double const without_factors = count.held();
  if (has_singular_start(options, N, shape.count()))
    for (int n = 1; n < N; ++n) count_singular_vectors<Scalar>(exec, count, shape, n, R, tuples);
  count.hold_in_all(without_factors + factors_bytes<Scalar>(dims, R));
  double start = 0;
  for (auto dim : dims) start = std::max(start, product_workspace_bytes<ExecutionSpace>(dim, R, R));
  count.pass(start + 8.0 * R * R);
  count.pass(dot_bytes(shape.nnz));
  auto const summed = count_sum_duplicates(exec, count, shape, repeats);
  count.pass(summed.value_bytes());  // scaled
  count_all_modes_plan<Scalar>(exec, count, summed, products_of(options), tuples);
  if (has_cp_als_race(options, N, shape.count()))
    count.hold(state_factors_bytes<Scalar>(dims, options));
  return count_cp_als_solver<ExecutionSpace, Scalar>(count, dims, options);
}

template <class ExecutionSpace, class Scalar, class Index>
double copy_bytes(ExecutionSpace const&, CooShape const& X, CpAlsOptions const& options,
                  Numbers<Scalar, Index>) {
  auto const fused =
      wanted_fused_modes<ExecutionSpace, Scalar>(X.dims, X.count(), products_of(options));
  Dims dims;
  for (int n = 0; n < X.order(); ++n)
    if (std::find(fused.begin(), fused.end(), n) == fused.end()) dims.push_back(X.dims[n]);
  if (!fused.empty()) dims.push_back(1);
  for (int n : fused) dims.back() *= X.dims[n];
  return sorted_list_bytes(dims, X.count(), sizeof(Index), sizeof(Scalar));
}

/// The memory of CP-ALS where exec computes, for an X that stays on the host or in files:
/// make_cp_als_problem(exec, X, options) and cp_als from a random or a given start. Windows are not
/// counted.
template <class Scalar, class Index, class ExecutionSpace>
MemoryNeed streamed_need(ExecutionSpace const& exec, CooShape const& X, CpAlsOptions const& options,
                         Numbers<Scalar, Index>) {
  check_cp_als(options);
  auto const& dims = X.dims;
  int const R = options.rank;
  auto const products = options_for<Scalar>(products_of(options).products);
  auto const fused =
      wanted_fused_modes<ExecutionSpace, Scalar>(dims, X.count(), products_of(options));
  MemoryCount count;
  count.hold(factors_bytes<Scalar>(dims, R));
  count.pass(dot_bytes(X.nnz));
  FiberCountBound const possible(X);
  count_out_of_core_plan<Scalar, ExecutionSpace>(count, counted(X, false, possible), products);
  if (!fused.empty()) {
    CooShape grid = X;
    grid.dims = {};
    grid.sorted_modes = {};
    double cells = 1;
    for (int n : fused) {
      grid.dims.push_back(dims[n]);
      cells *= static_cast<double>(dims[n]);
    }
    grid.dims.push_back(static_cast<std::uint64_t>(cells));
    grid.nnz = cells;
    CooTensor<Scalar, Index, typename ExecutionSpace::memory_space> const none;
    FiberCountEstimate<ExecutionSpace, std::decay_t<decltype(none)>> tuples(exec, none);
    count.hold(packed_row_bytes(X, std::min(cells, X.nnz)) + grid.bytes());
    auto const rows_of = [&](int n) { return static_cast<double>(grid.dims[n]); };
    count_own_plan<Scalar>(exec, count, {grid, true, rows_of}, {options.strategy, R}, tuples);
    count.hold(grid.bytes() + 2 * matrix_bytes<Scalar>(cells, R));
  }
  return count_cp_als_solver<ExecutionSpace, Scalar>(count, dims, options);
}

template <class ExecutionSpace, class Scalar, class Index>
double possible_need(ExecutionSpace const& exec, CooShape const& X, CpAlsOptions const& options,
                     Numbers<Scalar, Index>) {
  check_cp_als(options);
  FiberCountBound possible(X);
  return in_all<ExecutionSpace>(count_cp_als<Scalar>(exec, X, options, possible, true));
}

inline bool can_stream(CooShape const& X, CpAlsOptions const& options) {
  return may_be_by_rows(options.strategy) && options.slices == 1 &&
         options.init != CpAlsInit::hosvd && fits_packed_words(X);
}

/// Singular vectors would need X resident.
inline void set_streaming(bool on_gpu, CooShape const&, CpAlsOptions& options, double bytes) {
  options.streaming.always = !on_gpu;
  options.streaming.memory = static_cast<std::uint64_t>(bytes);
  if (options.init == CpAlsInit::automatic) options.init = CpAlsInit::random;
}

inline std::string lighten(bool on_gpu, CooShape const& X, CpAlsOptions const& asked,
                           CpAlsOptions& options, bool streams) {
  if (!streams && options.init == CpAlsInit::automatic) {
    options.init = CpAlsInit::random;
    return "no singular vectors are computed for a start (init random)";
  }
  bool const is_automatic = asked.strategy == MttkrpStrategy::automatic;
  bool const has_choice = options.gather == GatherPrecision::full && options.slices == 1;
  if (!streams && is_automatic && has_choice) {
    MttkrpOptions products{options.strategy};
    auto const less = lighten(on_gpu, X, products, products, false);
    options.strategy = products.strategy;
    return less;
  }
  if (streams && options.dimension_tree && is_automatic) {
    options.dimension_tree = false;
    return "no modes are fused";
  }
  return "";
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MemoryNeed resident_need(ExecutionSpace const& exec, CooShape const& shape,
                         CooTensor<Scalar, Index, MemorySpace> const& X,
                         CpAlsOptions const& options) {
  check_cp_als(options);
  FiberCountEstimate<ExecutionSpace, CooTensor<Scalar, Index, MemorySpace>> tuples(exec, X);
  return count_cp_als<Scalar>(exec, shape, options, tuples, may_repeat(exec, X));
}

}  // namespace sporades::detail

#include <sporades/eti/cp_als_memory.hpp>
