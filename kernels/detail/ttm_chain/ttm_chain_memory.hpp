// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <sporades/formats/detail/estimate_fiber_counts.hpp>
#include <sporades/kernels/detail/carry_count.hpp>
#include <sporades/kernels/detail/packed_windows.hpp>
#include <sporades/kernels/ttm_chain.hpp>

/// What plans for chains of TTMs hold. Counts are bounds: as if X were in no order, so that formats
/// share nothing with it.

namespace sporades::detail {

/// What of a chain's product the solver of HOOI asks for.
struct ChainProductShape {
  double rows, columns;
};

/// What all modes of a plan share.
struct ChainRooms {
  double carry = 0, scratch = 0;
  double entries = 0, between = 0;  // numbers of products, and of partial ones
  std::vector<double> carries;      // of the products of semi-sparse chains, in turn
};

/// Whether one semi-sparse product may have carry slots: unless all its fibers, which are no longer
/// than their mode, are surely short. Of an estimate of its items it has nine tenths at least.
template <class ExecutionSpace>
bool may_carry_fibers(double items, bool is_exact, std::uint64_t longest) {
  double const least = is_exact ? items : items < 4096 ? 0 : 0.9 * items;
  return !takes_whole_fibers<ExecutionSpace>(static_cast<Position>(least), longest);
}

/// make_semi_sparse_chain. Where it is streamed, each format is made in the memory of X before it
/// goes out of core; for a GPU that is the host's, which does not count here.
template <class Scalar, class ExecutionSpace, class Tuples>
void count_semi_sparse(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                       std::vector<int> const& modes, std::vector<int> const& ranks,
                       bool is_streamed, Tuples& tuples, ChainRooms& rooms) {
  double items = X.nnz, block = 1;
  std::size_t const products = modes.size() - 1;
  for (std::size_t k = products; k > 0; --k) {
    double const fibers = tuples.of(modes, k),
                 made = fibers_bytes(items, fibers, k + 1, X.index_bytes);
    auto const format = k == products ? hierarchical_bytes(exec, X.unordered(), modes, fibers)
                                      : MadeBytes{made, made};
    if (!is_streamed)
      count.make(format);
    else if (!is_gpu<ExecutionSpace>)
      count.pass(format.peak);
    int const rank = ranks[modes[k]];
    auto const item_bytes = static_cast<std::size_t>(block) * sizeof(Scalar);
    block *= rank;
    auto const columns = static_cast<std::size_t>(block);
    bool const is_merged = k == products && !is_streamed &&
                           may_choose_spttm<ExecutionSpace, Scalar>(SpttmStrategy::spmm_nonzeros,
                                                                    X.order(), items, fibers, rank);
    if (is_merged || may_carry_fibers<ExecutionSpace>(items, k == products, X.dims[modes[k]])) {
      Position chunks = 0;
      for (double share : {1.0, 0.9}) {  // fewer may be cut finer
        auto const steps = static_cast<Position>(share * (is_merged ? items + fibers : items));
        chunks = std::max(chunks, chunks_of(steps, carried_chunk_length<ExecutionSpace>(
                                                       steps, item_bytes, columns)));
      }
      rooms.carries.push_back(carry_bytes<Scalar>(chunks, columns));
      if (k < products) count.pass(rooms.carries.back());  // SspttmPlan's own, given back
    }
    // The last product is in the first memory, and partial ones alternate.
    double& most = (k - 1) % 2 == 0 ? rooms.entries : rooms.between;
    most = std::max(most, fibers * static_cast<double>(padded_columns(columns)));
    items = fibers;
  }
  if (is_streamed) count.hold(items * X.index_bytes);  // rows
}

/// What a streamed plan of strategy `fused` does for mode n: where ranks are padded depends on the
/// nonzeros, so that the widest columns and the longest row of the others are taken.
inline std::pair<std::size_t, std::size_t> widest_chain(std::vector<int> const& ranks, int n) {
  std::size_t product = 1, widest = padded_columns(1), row = 1;
  for (std::size_t m = 0; m < ranks.size(); ++m)
    if (static_cast<int>(m) != n) product *= static_cast<std::size_t>(ranks[m]);
  for (std::size_t m = 0; m < ranks.size(); ++m) {
    auto const rank = static_cast<std::size_t>(ranks[m]);
    if (static_cast<int>(m) == n) continue;
    widest = std::max(widest, product / rank * padded_columns(rank));
    row = std::max(row, product / rank);
  }
  return {widest, row};
}

/// make_ttm_chain_plan of a tensor without duplicates, handed over: the plan stays held. Where
/// options.streaming.always says so, the tensor is nowhere where exec computes, and windows are not
/// counted. Returns the products' shapes. Throws Error as make_ttm_chain_plan.
template <class Scalar, class ExecutionSpace, class Tensor, class Tuples>
std::vector<ChainProductShape> count_ttm_chain_plan(ExecutionSpace const& exec, MemoryCount& count,
                                                    Tensor const& tensor,
                                                    std::vector<int> const& ranks,
                                                    TtmChainOptions const& options,
                                                    Tuples& tuples) {
  auto const X = shape_of(tensor).unordered();
  int const N = X.order();
  bool const is_streamed = options.streaming.always;
  double const limit = options.memory_limit > 0 ? options.memory_limit : memory_bytes(exec);
  std::vector<ChainProductShape> shapes;
  ChainRooms rooms;
  double zeros = 0;  // factors of the first products, which size buffers
  std::optional<TupleCounts> estimates;
  if (N > 1) count.pass(fiber_count_bytes(X.count()));
  if (!is_streamed || (options.strategy == TtmChainStrategy::semi_sparse && N > 1))
    estimates.emplace(builder_of<typename Tensor::MemorySpace>(exec), tensor);
  for (int n = 0; n < N; ++n) {
    TtmChainChoice choice{TtmChainStrategy::fused, {}, 0, {}};
    if (estimates)
      choice = choose_chain<ExecutionSpace, Scalar>(*estimates, X.dims, ranks, n, options.strategy,
                                                    limit);
    auto const [widest, row] = widest_chain(ranks, n);
    auto shape = chain_shape<ExecutionSpace>(X.count(), choice.columns, choice.strategy);
    double const rows =
        estimates ? tuples.rows(n) : std::min(X.nnz, static_cast<double>(X.dims[n]));
    auto wide = choice.columns.count();
    auto modes = choice.columns.modes;
    modes.insert(modes.begin(), n);
    if (!estimates) {
      wide = widest;
      count.hold(packed_row_bytes(X, rows));
      shape.count = chunks_of(X.count(), chain_chunk_length<ExecutionSpace>(X.count(), wide));
      shape.scratch = is_gpu<ExecutionSpace> ? 0 : row;
    } else if (choice.strategy == TtmChainStrategy::fused) {
      count.make(sorted_packed_bytes(exec, X, modes, rows));
    } else if (choice.strategy == TtmChainStrategy::csf) {
      count.make(csf_bytes(exec, X, modes, tuples));
    } else {
      count_semi_sparse<Scalar>(exec, count, X, modes, ranks, is_streamed, tuples, rooms);
      if (!is_streamed) zeros = factors_bytes<Scalar>(X.dims, ranks);
      shape = {};
    }
    count.grow(rooms.carry, carry_bytes<Scalar>(shape.count, wide));
    count.grow(rooms.scratch, static_cast<double>(shape.count * shape.scratch) * sizeof(Scalar));
    double const columns = static_cast<double>(wide);
    rooms.entries = std::max(rooms.entries, rows * columns);
    count.hold(8 * columns);  // places
    shapes.push_back({rows, columns});
  }
  if (!is_streamed) count.release(X.bytes());
  count.hold((rooms.entries + rooms.between) * sizeof(Scalar) + zeros);
  double carry = 0;
  for (double const needed : rooms.carries) count.grow(carry, needed);
  count.release(zeros);
  return shapes;
}

}  // namespace sporades::detail
