// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/memory.hpp>
#include <sporades/formats/packed_tensor.hpp>
#include <sporades/kernels/detail/selector/trees.hpp>
#include <sporades/kernels/detail/spttm/sum_fibers.hpp>
#include <sporades/kernels/detail/ttm_chain/mode_order.hpp>
#include <sporades/kernels/ttm_chain_plan.hpp>

/// The strategy and the order of modes that a plan of chains takes for a mode.

namespace sporades::detail {

inline TtmChainColumns columns_of(std::vector<int> const& tree_modes,
                                  std::vector<int> const& ranks) {
  TtmChainColumns columns;
  for (std::size_t k = 1; k < tree_modes.size(); ++k) {
    columns.modes.push_back(tree_modes[k]);
    columns.ranks.push_back(ranks[tree_modes[k]]);
  }
  return columns;
}

/// Numbers of the carry slots of one product of a semi-sparse chain, at most.
template <class ExecutionSpace, class Scalar>
double carried_numbers(TupleCounts const& tuples, std::vector<int> const& ranks,
                       std::vector<int> const& modes) {
  double most = 0;
  std::size_t block = 1;
  std::uint32_t left = (std::uint32_t{1} << modes.size()) - 1;
  for (std::size_t k = modes.size() - 1; k > 0; --k) {
    std::size_t const item_bytes = block * sizeof(Scalar);
    block *= static_cast<std::size_t>(ranks[modes[k]]);
    auto const items = static_cast<Position>(tuples(left));
    Position const chunks =
        chunks_of(items, carried_chunk_length<ExecutionSpace>(items, item_bytes, block));
    most = std::max(most, 2 * static_cast<double>(chunks) * static_cast<double>(block));
    left &= ~(std::uint32_t{1} << modes[k]);
  }
  return most;
}

/// The part of the memory limit that partial products of semi_sparse may take where they were not
/// asked for. The other strategies need none.
template <class ExecutionSpace>
inline constexpr double automatic_share = is_gpu<ExecutionSpace> ? 1 : 0.125;

/// The choice for nonzeros with which `fused` alone can do that.
inline TtmChainChoice fused_chain(TupleCounts const& tuples, Dims const& dims,
                                  std::vector<int> const& ranks, int n, char const* reason,
                                  char const* that) {
  expects(fits_packed(dims, n),
          "make_ttm_chain_plan: nonzeros whose indices take over 63 bits (of all modes but ", n,
          " they take ", packed_bits(dims, n) - 1, ") cannot be ", that);
  auto const cost =
      dims.size() < 3 ? cheapest_tree(tuples, ranks, n) : fused_cost(tuples, dims, ranks, n);
  return {TtmChainStrategy::fused, columns_of(cost.modes, ranks), cost.flops, reason};
}

/// Throws Error where mode n's product with these columns takes more than so many bytes.
inline void check_product(TupleCounts const& tuples, TtmChainColumns const& columns, int n,
                          std::size_t scalar_bytes, double limit) {
  double const rows = std::ceil(tuples(std::uint32_t{1} << n));
  double const bytes = rows * static_cast<double>(columns.count() * scalar_bytes);
  expects(bytes <= limit, "make_ttm_chain_plan: Y of mode ", n, " has about ", rows, " rows x ",
          columns.count(), " columns and needs ", enough_text(bytes), ", the memory limit is ",
          room_text(limit));
}

/// Picks a strategy and the order of modes for mode n. limit: bytes of the partial products.
template <class ExecutionSpace, class Scalar>
TtmChainChoice choose_chain(TupleCounts const& tuples, Dims const& dims,
                            std::vector<int> const& ranks, int n, TtmChainStrategy strategy,
                            double limit) {
  auto const tree = cheapest_tree(tuples, ranks, n);
  TtmChainChoice choice{TtmChainStrategy::csf, columns_of(tree.modes, ranks), tree.flops,
                        "asked for"};
  bool const is_automatic = strategy == TtmChainStrategy::automatic, fits = fits_packed(dims, n);
  if (dims.size() < 3 && strategy == TtmChainStrategy::fused && fits) {
    choice.strategy = strategy;
    return choice;
  }
  if (dims.size() == 1) {
    choice.reason = "a vector is its own product";
    return choice;
  }
  if (is_automatic && dims.size() > 2) {
    auto const decision =
        decide(is_gpu<ExecutionSpace> ? trees::ttm_chain_on_gpus : trees::ttm_chain_on_hosts,
               chain_features(tuples, dims, ranks, n));
    strategy = from_name<TtmChainStrategy>(decision.choice);
    choice.reason = decision.path;
  } else if (is_automatic) {
    strategy = is_gpu<ExecutionSpace> ? TtmChainStrategy::semi_sparse : TtmChainStrategy::csf;
    choice.reason = "a matrix has no partial products";
  }
  if (strategy == TtmChainStrategy::semi_sparse) {
    double const bytes = (numbers_between(tuples, ranks, tree.modes) +
                          carried_numbers<ExecutionSpace, Scalar>(tuples, ranks, tree.modes)) *
                         sizeof(Scalar);
    expects(is_automatic || bytes <= limit, "make_ttm_chain_plan: strategy semi_sparse on mode ", n,
            " needs about ", enough_text(bytes), " for its partial products, the memory limit is ",
            room_text(limit));
    double factors = 0;  // of zeros, with which the plan's first product runs
    for (std::size_t m = 0; m < dims.size(); ++m)
      factors += static_cast<double>(dims[m]) * ranks[m] * sizeof(Scalar);
    double const share = automatic_share<ExecutionSpace> * limit;
    if (!is_automatic || bytes + factors <= share) {
      choice.strategy = TtmChainStrategy::semi_sparse;
      choice.columns.pads_tiles = false;
      return choice;
    }
    choice.reason = concatenate("semi_sparse needs about ", enough_text(bytes),
                                " for its partial products and ", enough_text(factors),
                                " for factors, and may take ", room_text(share));
  }
  expects(is_automatic || strategy != TtmChainStrategy::fused || dims.size() < 3 || fits,
          "make_ttm_chain_plan: strategy fused: the indices of all modes but ", n, " take ",
          packed_bits(dims, n) - 1, " bits, a word has 63");
  if (strategy == TtmChainStrategy::csf) return choice;
  if (dims.size() < 3 || !fits) {
    choice.reason = fits ? "a matrix has no partial products" : "indices do not fit 63 bits";
    return choice;
  }
  auto const fused = fused_cost(tuples, dims, ranks, n);
  if (strategy == TtmChainStrategy::semi_sparse && !is_gpu<ExecutionSpace> &&
      tree.weight <= fused.weight)
    return choice;
  choice.strategy = TtmChainStrategy::fused;
  choice.columns = columns_of(fused.modes, ranks);
  choice.flops = fused.flops;
  return choice;
}

}  // namespace sporades::detail
