// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/detail/estimate_fiber_counts.hpp>
#include <sporades/kernels/detail/carry_count.hpp>
#include <sporades/kernels/detail/packed_windows.hpp>
#include <sporades/kernels/ttm_chain.hpp>

/// What plans for chains of TTMs hold.

namespace sporades::detail {

/// Carry slots of a product of semi-sparse chains some of whose fibers may be long.
struct ChainCarry {
  Position chunks;
  std::size_t columns;
};

/// make_semi_sparse_chain; numbers: of the results' two memories; carries: of its products.
template <class Scalar, class ExecutionSpace, class Tuples>
void count_semi_sparse(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                       std::vector<int> const& modes, std::vector<int> const& ranks, Tuples& tuples,
                       double (&numbers)[2], std::vector<ChainCarry>& carries) {
  double items = X.nnz, block = 1;
  int const products = static_cast<int>(modes.size()) - 1;
  for (int k = products; k > 0; --k) {
    double const fibers = tuples.of(modes, static_cast<std::size_t>(k));
    if (k == products)
      count.make(hierarchical_bytes(exec, X, modes, fibers));
    else
      count.hold(fibers_bytes(items, fibers, k + 1, X.index_bytes));
    auto const item_bytes = static_cast<std::size_t>(block) * sizeof(Scalar);
    block *= ranks[modes[k]];
    auto const columns = static_cast<std::size_t>(block);
    // Fibers are no longer than their mode. Where all are surely short, chunks share none, unless
    // SpTTM takes steps of fibers, too.
    double const least = k == products ? items : items < 4096 ? 0 : 0.9 * items;
    bool const is_merged = k == products && may_choose_spttm<ExecutionSpace, Scalar>(
                                                SpttmStrategy::spmm_nonzeros, X.order(), items,
                                                fibers, ranks[modes[k]]);
    if (is_merged ||
        !takes_whole_fibers<ExecutionSpace>(static_cast<Position>(least), X.dims[modes[k]])) {
      auto const chunks = [&](double steps) {
        auto const count = static_cast<Position>(steps);
        return chunks_of(count, carried_chunk_length<ExecutionSpace>(count, item_bytes, columns));
      };
      double const steps = is_merged ? items + fibers : items;  // fewer may be cut finer
      carries.push_back({std::max(chunks(steps), chunks(0.9 * steps)), columns});
      if (k < products) {  // SspttmPlan's own, given back
        double const held = count.held();
        CarryCount().reserve<Scalar>(count, carries.back().chunks, columns, sizeof(Position));
        count.hold_in_all(held);
      }
    }
    double& most = numbers[(k - 1) % 2];  // the last product is in the first memory
    most = std::max(most, fibers * static_cast<double>(padded_columns(columns)));
    items = fibers;
  }
}

/// What of a chain's product the solver of HOOI asks for.
struct ChainProductShape {
  double rows, columns;
};

/// make_ttm_chain_plan of an X that is handed over and has no duplicates: the plan stays held.
/// Returns the products' shapes. Throws Error as make_ttm_chain_plan.
template <class Scalar, class ExecutionSpace, class Tensor, class Tuples>
std::vector<ChainProductShape> count_ttm_chain_plan(ExecutionSpace const& exec, MemoryCount& count,
                                                    Tensor const& tensor, CooShape const& X,
                                                    std::vector<int> const& ranks,
                                                    TtmChainOptions const& options,
                                                    Tuples& tuples) {
  int const N = X.order();
  double const limit = options.memory_limit > 0 ? options.memory_limit : memory_bytes(exec);
  if (N > 1) count.pass(fiber_count_bytes(X.count()));
  TupleCounts const estimates(exec, tensor);
  std::vector<ChainProductShape> shapes;
  CarryCount carry;
  std::vector<ChainCarry> semi_sparse_carries;
  double scratch = 0, entries = 0, between = 0;
  bool keeps_values = false, is_semi_sparse = false;
  for (int n = 0; n < N; ++n) {
    auto const choice =
        choose_chain<ExecutionSpace, Scalar>(estimates, X.dims, ranks, n, options.strategy, limit);
    auto modes = choice.columns.modes;
    modes.insert(modes.begin(), n);
    auto const wide = choice.columns.count();
    double const rows = tuples.rows(n), columns = static_cast<double>(wide);
    keeps_values = keeps_values || is_sorted_by(X, modes);
    if (choice.strategy == TtmChainStrategy::semi_sparse) {
      double numbers[2] = {0, 0};
      count_semi_sparse<Scalar>(exec, count, X, modes, ranks, tuples, numbers, semi_sparse_carries);
      entries = std::max(entries, numbers[0]);
      between = std::max(between, numbers[1]);
      is_semi_sparse = true;
    } else {
      if (choice.strategy == TtmChainStrategy::fused) {
        count.make(sorted_packed_bytes(exec, X, modes, rows));
      } else {
        count.make(csf_bytes(exec, X, modes, tuples));
      }
      auto const shape = chain_shape<ExecutionSpace>(X.count(), choice.columns, choice.strategy);
      carry.reserve<Scalar>(count, shape.count, wide, X.index_bytes);
      double const needed = static_cast<double>(shape.count * shape.scratch) * sizeof(Scalar);
      if (scratch < needed) {
        count.hold(needed);
        count.release(scratch);
        scratch = needed;
      }
    }
    entries = std::max(entries, rows * columns);
    count.hold(8 * columns);  // places
    shapes.push_back({rows, columns});
  }
  count.release(keeps_values ? X.coordinate_bytes() : X.bytes());
  count.hold((entries + between) * sizeof(Scalar));
  double zeros = 0;  // factors of the first products, which size buffers
  for (int m = 0; m < N; ++m)
    zeros += matrix_bytes<Scalar>(static_cast<double>(X.dims[m]), ranks[m]);
  CarryCount semi_sparse_carry;
  if (is_semi_sparse) count.hold(zeros);
  for (auto const& product : semi_sparse_carries)
    semi_sparse_carry.reserve<Scalar>(count, product.chunks, product.columns, sizeof(Position));
  if (is_semi_sparse) count.release(zeros);
  return shapes;
}

/// make_ttm_chain_plan of an X that stays on the host: the most that the plan holds on the GPU,
/// windows not counted. Returns the products' shapes. Where ranks are padded depends on the
/// nonzeros; the widest product is counted.
template <class ExecutionSpace, class Scalar>
std::vector<ChainProductShape> count_streamed_chain_plan(MemoryCount& count, CooShape const& X,
                                                         std::vector<int> const& ranks) {
  std::vector<ChainProductShape> shapes;
  CarryCount carry;
  double entries = 0, scratch = 0;
  if (X.order() > 1) count.pass(fiber_count_bytes(X.count()));
  for (int n = 0; n < X.order(); ++n) {
    std::size_t product = 1, widest = padded_columns(1), row = 1;
    for (int m = 0; m < X.order(); ++m)
      if (m != n) product *= static_cast<std::size_t>(ranks[m]);
    for (int m = 0; m < X.order(); ++m) {
      auto const rank = static_cast<std::size_t>(ranks[m]);
      if (m == n) continue;
      widest = std::max(widest, product / rank * padded_columns(rank));
      row = std::max(row, product / rank);
    }
    double const rows = std::min(static_cast<double>(X.dims[n]), X.nnz);
    double const columns = static_cast<double>(widest);
    count.hold(packed_row_bytes(X, rows));
    Position const chunks =
        chunks_of(X.count(), chain_chunk_length<ExecutionSpace>(X.count(), widest));
    carry.reserve<Scalar>(count, chunks, widest, X.index_bytes);
    if (!is_gpu<ExecutionSpace>) scratch = std::max(scratch, static_cast<double>(chunks * row));
    entries = std::max(entries, rows * columns);
    count.hold(8 * columns);  // places
    shapes.push_back({rows, columns});
  }
  count.hold((entries + scratch) * sizeof(Scalar));
  return shapes;
}

}  // namespace sporades::detail
