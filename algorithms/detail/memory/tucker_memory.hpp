// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/memory/fit.hpp>
#include <sporades/algorithms/detail/memory/hosvd.hpp>
#include <sporades/algorithms/detail/tucker/tucker_method.hpp>
#include <sporades/core/detail/dense/workspace_bytes.hpp>
#include <sporades/kernels/detail/ttm_chain/ttm_chain_memory.hpp>

namespace sporades::detail {

/// TallMatrices::orthonormalize of a rows x R matrix; workspace: what it shares with others.
/// Nothing stays held.
template <class Scalar>
void count_orthonormalize(MemoryCount& count, double rows, int R) {
  count.pass(8.0 * R * R + matrix_bytes<Scalar>(R + rows, R));
}

/// Blocks that Lanczos is taken to need: two or three as a rule.
inline constexpr int lanczos_blocks = 6;

/// LeftSingularVectors for a product of that shape, beside its workspace; returns the bytes that it
/// has on the host.
template <class ExecutionSpace, class Scalar>
double count_left_vectors(MemoryCount& count, ChainProductShape const& Y, std::uint64_t dim, int R,
                          SingularVectorMethod method, double& workspace) {
  auto const rows = static_cast<std::uint64_t>(Y.rows);
  auto const columns = static_cast<std::uint64_t>(Y.columns);
  int const wanted = static_cast<int>(std::min<std::uint64_t>({std::uint64_t(R), rows, columns}));
  double const before = count.held(), block = 8.0 * wanted * Y.columns;
  bool const by_lanczos = prefers_lanczos(method, rows, columns, wanted);
  double const panels =
      8.0 * 2 * Y.columns * static_cast<double>(padded_columns(static_cast<std::size_t>(wanted))) +
      (is_gpu<ExecutionSpace> ? matrix_bytes<Scalar>(Y.columns, wanted) : 0);
  double host = 0;
  if (method == SingularVectorMethod::svd) {
    auto const bytes = direct_svd_bytes<ExecutionSpace, Scalar>(Y.rows, Y.columns, wanted);
    count.hold(bytes.device);
    host = bytes.host;
  } else if (by_lanczos) {
    count.hold(panels + (lanczos_blocks + 1) * matrix_bytes<Scalar>(Y.rows, wanted));
    double const entries = 4 * std::floor((columns + 3) / 4.0) *
                           static_cast<double>(padded_columns(static_cast<std::size_t>(wanted)));
    workspace = std::max(
        workspace,
        is_gpu<ExecutionSpace>
            ? product_workspace_bytes<ExecutionSpace>(rows, wanted, static_cast<int>(columns))
            : partial_sums_bytes(RowBlocks(rows, static_cast<std::uint64_t>(4 * entries)),
                                 entries));
    host = (2 * lanczos_blocks + 4) * block;
  } else {
    auto const side = static_cast<int>(std::min(rows, columns));
    if (rows <= columns) count.pass(matrix_bytes<Scalar>(Y.columns, side) + 8.0 * side * side);
    workspace = std::max(
        workspace, product_workspace_bytes<ExecutionSpace>(std::max(rows, columns), side, side));
    count.hold(8.0 * side * side + matrix_bytes<Scalar>(Y.rows, wanted) +
               (rows <= columns ? 0 : panels));
    host = 4 * 8.0 * side * side;
  }
  // The vectors of the non-empty rows become those of all rows, which take the factor's place, and
  // are made orthonormal.
  double const rows_of_all = static_cast<double>(dim);
  count.hold_in_all(before + matrix_bytes<Scalar>(Y.rows, wanted));
  count.pass(matrix_bytes<Scalar>(rows_of_all, R));
  count.hold_in_all(before);
  count_orthonormalize<Scalar>(count, rows_of_all, R);
  workspace = std::max(workspace, product_workspace_bytes<ExecutionSpace>(dim, R, R));
  return host + 4 * 8.0 * R * R;
}

/// TuckerSolver's iterations.
template <class ExecutionSpace, class Scalar>
double count_tucker_solver(MemoryCount& count, Dims const& dims, TuckerOptions const& options,
                           std::vector<ChainProductShape> const& products) {
  double workspace = 0, host = 0, square = 0;
  auto const& last = products.back();
  int const R = options.ranks.back();
  for (std::size_t n = 0; n < dims.size(); ++n)
    square = std::max(square, 8.0 * options.ranks[n] * options.ranks[n]);
  for (std::size_t n = 0; n < dims.size(); ++n) {  // once for the workspace, once beside it
    MemoryCount aside;
    host = std::max(host, count_left_vectors<ExecutionSpace, Scalar>(
                              aside, products[n], dims[n], options.ranks[n],
                              options.singular_vectors, workspace));
  }
  workspace = std::max(
      workspace, product_workspace_bytes<ExecutionSpace>(static_cast<std::uint64_t>(last.rows), R,
                                                         static_cast<int>(last.columns)));
  count.hold(workspace + square);
  for (std::size_t n = 0; n < dims.size(); ++n) {
    double unused = 0;
    count_left_vectors<ExecutionSpace, Scalar>(count, products[n], dims[n], options.ranks[n],
                                               options.singular_vectors, unused);
  }
  count.pass(matrix_bytes<Scalar>(last.rows, R) + 8.0 * R * last.columns);
  return host;
}

/// What is in resident memory where X is streamed: make_tucker_problem(exec, X, options) and
/// run_from_starts from a random or a given start. Of windows it counts none.
template <class Scalar, class Index, class ExecutionSpace>
MemoryNeed streamed_need(ExecutionSpace const&, CooShape const& X, TuckerOptions const& options,
                         Numbers<Scalar, Index>) {
  auto const& dims = X.dims;
  check_tucker(options, dims);
  MemoryCount count;
  double core = 1, factors = 0;
  for (std::size_t n = 0; n < dims.size(); ++n) {
    core *= options.ranks[n];
    factors += matrix_bytes<Scalar>(static_cast<double>(dims[n]), options.ranks[n]);
  }
  count.hold(factors);
  count.pass(dot_bytes(X.nnz));
  auto const products = count_streamed_chain_plan<ExecutionSpace, Scalar>(count, X, options.ranks);
  double const host = count_tucker_solver<ExecutionSpace, Scalar>(count, dims, options, products);
  double const model = factors + core * sizeof(Scalar);
  count.pass(options.starts > 1 ? 2 * model + factors : model);
  return {count.held(), with_small_views(count.peak()), host + 4 * 8 * core};
}

inline bool can_stream(CooShape const& X, TuckerOptions const& options) {
  bool const is_fused = options.strategy == TtmChainStrategy::automatic ||
                        options.strategy == TtmChainStrategy::fused;
  return is_fused && options.init != TuckerInit::hosvd && fits_packed_words(X);
}

inline void set_streaming(bool, CooShape const&, TuckerOptions& options, double bytes) {
  options.streaming.always = true;
  options.streaming.memory = static_cast<std::uint64_t>(bytes);
}

/// Packed nonzeros take less than trees, and products without partial ones less than semi-sparse
/// ones.
inline std::string lighten(bool, CooShape const& X, TuckerOptions const&, TuckerOptions& options,
                           bool streams) {
  if (streams || options.strategy != TtmChainStrategy::automatic) return "";
  options.strategy = fits_packed_words(X) ? TtmChainStrategy::fused : TtmChainStrategy::csf;
  return std::string("chains have no partial products (strategy ") + to_string(options.strategy) +
         ")";
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MemoryNeed resident_need(ExecutionSpace const& exec, CooShape const& shape,
                         CooTensor<Scalar, Index, MemorySpace> const& X,
                         TuckerOptions const& options) {
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;
  check_tucker(options, X.dims);
  auto const& ranks = options.ranks;
  FiberCountEstimate<ExecutionSpace, Tensor> tuples(exec, X);
  MemoryCount count;
  count.hold(shape.bytes());
  double core = 1, factors = 0, workspace = 0;
  for (int n = 0; n < X.order(); ++n) {
    core *= ranks[n];
    if (options.init == TuckerInit::hosvd && n > 0) {
      count_singular_vectors<Scalar>(exec, count, shape, n, ranks[n], tuples);
    } else {
      count.hold(matrix_bytes<Scalar>(static_cast<double>(X.dims[n]), ranks[n]));
    }
    factors += matrix_bytes<Scalar>(static_cast<double>(X.dims[n]), ranks[n]);
  }
  for (int n = 0; n < X.order(); ++n) {  // the start is made orthonormal
    workspace =
        std::max(workspace, product_workspace_bytes<ExecutionSpace>(X.dims[n], ranks[n], ranks[n]));
    count.hold(workspace);
    count_orthonormalize<Scalar>(count, static_cast<double>(X.dims[n]), ranks[n]);
    count.release(workspace);
  }
  count.pass(dot_bytes(shape.nnz));
  auto const summed = count_sum_duplicates(exec, count, shape, may_repeat(exec, X));
  count.pass(summed.value_bytes());  // scaled
  auto const products =
      count_ttm_chain_plan<Scalar>(exec, count, X, summed, ranks,
                                   TtmChainOptions{options.strategy, options.memory_limit}, tuples);
  auto solver = count;
  double const host =
      count_tucker_solver<ExecutionSpace, Scalar>(solver, X.dims, options, products);
  double const model = factors + core * sizeof(Scalar);
  solver.pass(options.starts > 1 ? 2 * model + factors
                                 : model);  // the best one, and the next start
  count.take_larger(solver);
  return {count.held(), with_small_views(count.peak()), host + 4 * 8 * core};
}

}  // namespace sporades::detail

#include <sporades/eti/tucker_memory.hpp>
