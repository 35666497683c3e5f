// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/memory/fit.hpp>
#include <sporades/algorithms/detail/memory/hosvd.hpp>
#include <sporades/algorithms/detail/tucker/tucker_method.hpp>
#include <sporades/core/detail/dense/workspace_bytes.hpp>
#include <sporades/kernels/detail/ttm_chain/ttm_chain_memory.hpp>

namespace sporades::detail {

/// Blocks that Lanczos is taken to need: two or three as a rule.
inline constexpr int lanczos_blocks = 6;

/// TallMatrices::orthonormalize of a rows x R matrix, beside its workspace.
template <class Scalar>
double orthonormalize_bytes(double rows, int R) {
  return 8.0 * R * R + matrix_bytes<Scalar>(R + rows, R);
}

/// What LeftSingularVectors takes beside its workspace, that, and what it has on the host.
struct LeftVectorsBytes {
  double device = 0, workspace = 0, host = 0;
};

/// LeftSingularVectors of R vectors, for a product of that shape of a mode of length dim.
template <class ExecutionSpace, class Scalar>
LeftVectorsBytes left_vectors_bytes(ChainProductShape const& Y, std::uint64_t dim, int R,
                                    SingularVectorMethod method) {
  auto const rows = static_cast<std::uint64_t>(Y.rows);
  auto const columns = static_cast<std::uint64_t>(Y.columns);
  int const wanted = static_cast<int>(std::min<std::uint64_t>({std::uint64_t(R), rows, columns}));
  double const padded = static_cast<double>(padded_columns(static_cast<std::size_t>(wanted)));
  double const vectors = matrix_bytes<Scalar>(Y.rows, wanted);
  double const panels = 16 * Y.columns * padded +
                        (is_gpu<ExecutionSpace> ? matrix_bytes<Scalar>(Y.columns, wanted) : 0);
  LeftVectorsBytes bytes;
  if (method == SingularVectorMethod::svd) {
    auto const direct = direct_svd_bytes<ExecutionSpace, Scalar>(Y.rows, Y.columns, wanted);
    bytes = {direct.device, 0, direct.host};
  } else if (prefers_lanczos(method, rows, columns, wanted)) {
    double const entries = 4 * std::floor((columns + 3) / 4.0) * padded;
    bytes.device = panels + (lanczos_blocks + 1) * vectors;
    bytes.workspace =
        is_gpu<ExecutionSpace>
            ? product_workspace_bytes<ExecutionSpace>(rows, wanted, static_cast<int>(columns))
            : partial_sums_bytes(RowBlocks(rows, static_cast<std::uint64_t>(4 * entries)), entries);
    bytes.host = (2 * lanczos_blocks + 4) * 8.0 * wanted * Y.columns;
  } else {
    auto const side = static_cast<int>(std::min(rows, columns));
    double const square = 8.0 * side * side;
    bytes.device =
        square + (rows <= columns ? std::max(vectors, matrix_bytes<Scalar>(Y.columns, side))
                                  : vectors + panels);
    bytes.workspace = product_workspace_bytes<ExecutionSpace>(std::max(rows, columns), side, side);
    bytes.host = 4 * square;
  }
  // The vectors of the non-empty rows become those of all rows, which take the factor's place, and
  // are made orthonormal.
  double const all_rows = static_cast<double>(dim);
  bytes.device = std::max({bytes.device, vectors + matrix_bytes<Scalar>(all_rows, R),
                           orthonormalize_bytes<Scalar>(all_rows, R)});
  bytes.workspace = std::max(bytes.workspace, product_workspace_bytes<ExecutionSpace>(dim, R, R));
  bytes.host += 4 * 8.0 * R * R;
  return bytes;
}

/// From tucker_start, or a given start, to the model, with make_tucker_problem of X between them.
template <class ExecutionSpace, class Tensor>
MemoryNeed run_need(ExecutionSpace const& exec, CooShape const& shape, Tensor const& X,
                    TuckerOptions const& options, bool is_streamed) {
  using Scalar = typename Tensor::Scalar;
  check_tucker(options, X.dims);
  auto const& ranks = options.ranks;
  auto const builder = builder_of<typename Tensor::MemorySpace>(exec);
  FiberCountEstimate<std::decay_t<decltype(builder)>, Tensor> tuples(builder, X);
  double const factors = factors_bytes<Scalar>(X.dims, ranks);
  TtmChainOptions chain{options.strategy, options.memory_limit, {}};
  chain.streaming.always = is_streamed;
  double core = 1, start = 0, start_workspace = 0, square = 0;
  for (int n = 0; n < X.order(); ++n) {
    int const R = ranks[n];
    core *= R;
    square = std::max(square, 8.0 * R * R);
    start = std::max(start, orthonormalize_bytes<Scalar>(static_cast<double>(X.dims[n]), R));
    start_workspace =
        std::max(start_workspace, product_workspace_bytes<ExecutionSpace>(X.dims[n], R, R));
  }
  MemoryCount count;
  count.hold(factors);
  if (!is_streamed) {
    count.hold(shape.bytes());
    for (int n = 1; n < X.order() && options.init == TuckerInit::hosvd; ++n)
      count_singular_vectors<Scalar>(exec, count, shape, n, ranks[n], tuples);
    count.pass(start + start_workspace);
    count_sum_duplicates(exec, count, shape, may_repeat(builder, X));
    count.pass(shape.value_bytes());  // scaled
  }
  count.pass(dot_bytes(shape.nnz));
  auto const products = count_ttm_chain_plan<Scalar>(exec, count, X, ranks, chain, tuples);
  // TuckerSolver: the vectors of a mode at a time, and the last mode's product with its factor.
  auto const& last = products.back();
  LeftVectorsBytes most;
  most.device = matrix_bytes<Scalar>(last.rows, ranks.back()) + 8 * ranks.back() * last.columns;
  most.workspace = product_workspace_bytes<ExecutionSpace>(
      static_cast<std::uint64_t>(last.rows), ranks.back(), static_cast<int>(last.columns));
  for (std::size_t n = 0; n < products.size(); ++n) {
    auto const bytes = left_vectors_bytes<ExecutionSpace, Scalar>(products[n], X.dims[n], ranks[n],
                                                                  options.singular_vectors);
    most = {std::max(most.device, bytes.device), std::max(most.workspace, bytes.workspace),
            std::max(most.host, bytes.host)};
  }
  count.hold(most.workspace + square);
  count.pass(most.device);
  double const model = factors + core * sizeof(Scalar);
  count.pass(options.starts > 1 ? 2 * model + factors : model);  // the best one, and the next start
  return {count.held(), with_small_views(count.peak()), most.host + 4 * 8 * core};
}

inline bool can_stream(bool, CooShape const& X, TuckerOptions const& options) {
  if (options.init == TuckerInit::hosvd || options.strategy == TtmChainStrategy::csf) return false;
  bool const is_fused = options.strategy != TtmChainStrategy::semi_sparse || X.order() == 1;
  return !is_fused || fits_packed_words(X);
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

}  // namespace sporades::detail

#include <sporades/eti/tucker_memory.hpp>
