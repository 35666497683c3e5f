// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/cp_als/cp_als_method.hpp>
#include <sporades/algorithms/detail/memory/fit.hpp>
#include <sporades/algorithms/detail/memory/hosvd.hpp>
#include <sporades/core/detail/dense/workspace_bytes.hpp>
#include <sporades/kernels/detail/mttkrp_all_modes/all_modes_memory.hpp>

namespace sporades::detail {

/// From cp_als_start, or a given start, to the model, with make_cp_als_problem of X between them.
/// repeats: coordinates of X may.
template <class Scalar, class ExecutionSpace, class Tuples>
MemoryNeed count_cp_als(ExecutionSpace const& exec, CooShape const& X, CpAlsOptions const& options,
                        bool is_streamed, bool repeats, Tuples& tuples) {
  int const R = options.rank, N = X.order();
  int const P = static_cast<int>(padded_columns(static_cast<std::size_t>(R)));
  auto const products = products_of(options);
  bool const misses = options.absent == AbsentEntries::missing;
  double const factors = factors_bytes<Scalar>(X.dims, R), square = double{1} * P * P;
  double const state = keeps_best(options) ? 2 * factors : factors;
  double const workspace = most_of(X.dims, [&](auto dim) {
    return std::max(product_workspace_bytes<ExecutionSpace>(dim, P, P),
                    column_workspace_bytes<ExecutionSpace>(dim, P));
  });
  MemoryCount count;
  count.hold(factors);
  if (is_streamed) {
    auto const fused = wanted_fused_modes<ExecutionSpace, Scalar>(X.dims, X.count(), products);
    auto const lists = options_for<Scalar>(products.products);
    count.pass(dot_bytes(X.nnz));
    if (misses) count.hold(X.value_bytes());  // scaled
    count_out_of_core_plan<Scalar, ExecutionSpace>(count, X, lists, tuples);
    if (!fused.empty()) {
      TreeDims const dims(X.dims, fused);
      count.hold(packed_row_bytes(X, std::min(static_cast<double>(dims.cells()), X.nnz)));
      count_grid<Scalar>(exec, count, X, dims, lists);
    }
  } else {
    count.hold(X.bytes());
    if (has_singular_start(options, N, X.count()))
      for (int n = 1; n < N; ++n) count_singular_vectors<Scalar>(exec, count, X, n, R, tuples);
    count.pass(workspace + 8 * square + dot_bytes(X.nnz));  // of the start
    if (!misses) count_sum_duplicates(exec, count, X, repeats);
    count.pass(X.value_bytes());  // scaled
    count_all_modes_plan<Scalar>(exec, count, X, products, tuples);
    if (has_cp_als_race(options, N, X.count())) count.hold(state);
  }
  if (options.starts > 1) count.hold(state + factors);  // the best state and its model
  // CpAlsSolver: products, all modes' and systems' small matrices, and their inverses.
  double inverse = 0;
  if (is_gpu<ExecutionSpace> && R <= 256)
    inverse =
        8 * static_cast<double>(InvertByTeam<ExecutionSpace>::doubles(static_cast<std::size_t>(R)));
  count.hold((options.non_negative ? 2 : 1) * matrix_bytes<Scalar>(longest(X.dims), R) +
             8 * (N + 3) * square + 40 * P + std::max(workspace, inverse) +
             (keeps_best(options) ? factors : 0));
  if (misses)
    count.hold(matrix_bytes<Scalar>(longest(X.dims), static_cast<int>(normal_columns(R))) +
               normal_solve_bytes(exec, R, static_cast<std::uint64_t>(longest(X.dims))));
  if (misses) count.pass(X.bytes());  // of the residual nonzero by nonzero
  count.pass(
      most_of(X.dims, [&](auto dim) { return sizeof(Scalar) * RowBlocks(dim, R).count * R; }));
  count.hold(factors + (8.0 + sizeof(Scalar)) * R);  // the model
  // The state's Gram matrices, and LAPACK's for one system.
  return {count.held(), with_small_views(count.peak()), (2.0 * N + 6) * 8 * R * R};
}

template <class ExecutionSpace, class Tensor>
double copy_bytes(ExecutionSpace const&, CooShape const& X, Tensor const&,
                  CpAlsOptions const& options) {
  using Scalar = typename Tensor::Scalar;
  auto const fused =
      wanted_fused_modes<ExecutionSpace, Scalar>(X.dims, X.count(), products_of(options));
  return sorted_list_bytes(fused.empty() ? X.dims : TreeDims(X.dims, fused).whole, X.count(),
                           sizeof(typename Tensor::Index), sizeof(Scalar));
}

template <class ExecutionSpace, class Tensor>
double possible_need(ExecutionSpace const& exec, CooShape const& X, Tensor const&,
                     CpAlsOptions const& options) {
  if (!is_accessible<ExecutionSpace, typename Tensor::MemorySpace>)
    return std::numeric_limits<double>::infinity();
  check_cp_als(options);
  FiberCountBound possible(X);
  return in_all<ExecutionSpace>(
      count_cp_als<typename Tensor::Scalar>(exec, X, options, false, true, possible));
}

template <class ExecutionSpace, class Tensor>
MemoryNeed run_need(ExecutionSpace const& exec, CooShape const& shape, Tensor const& X,
                    CpAlsOptions const& options, bool is_streamed) {
  using Scalar = typename Tensor::Scalar;
  check_cp_als(options);
  FiberCountBound possible(shape);
  if (is_streamed) return count_cp_als<Scalar>(exec, shape, options, true, false, possible);
  auto const builder = builder_of<typename Tensor::MemorySpace>(exec);
  FiberCountEstimate<std::decay_t<decltype(builder)>, Tensor> tuples(builder, X);
  return count_cp_als<Scalar>(exec, shape, options, false, may_repeat(builder, X), tuples);
}

inline bool can_stream(bool, CooShape const& X, CpAlsOptions const& options) {
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
  bool const has_choice = options.gather == GatherPrecision::full && options.slices == 1 &&
                          options.absent == AbsentEntries::zero;
  if (!streams && is_automatic && has_choice) {
    MttkrpOptions products{options.strategy};
    auto const less = lighten(on_gpu, X, MttkrpOptions{}, products, false);
    options.strategy = products.strategy;
    return less;
  }
  if (streams && options.dimension_tree && is_automatic) {
    options.dimension_tree = false;
    return "no modes are fused";
  }
  return "";
}

}  // namespace sporades::detail

#include <sporades/eti/cp_als_memory.hpp>
