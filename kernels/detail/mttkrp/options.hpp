// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/processes/same_options.hpp>
#include <sporades/kernels/mttkrp_plan.hpp>
#include <string>

/// What options of plans for MTTKRP say.

namespace sporades::detail {

/// The options for tensors of Scalar: float is gathered in full where `single` is asked for.
template <class Scalar>
MttkrpOptions options_for(MttkrpOptions options) {
  if (sizeof(Scalar) == sizeof(float) && options.gather == GatherPrecision::single)
    options.gather = GatherPrecision::full;
  return options;
}

/// What plans have to know of a strategy.
struct StrategyFacts {
  bool is_by_rows = false;     // a copy of the nonzeros a mode, in the order of its rows
  bool is_linear = false;      // one copy in the linear order
  bool is_flycoo = false;      // one copy that is moved from mode to mode
  bool has_carries = false;    // rows that chunks share are summed by carry slots
  bool keeps_tensor = false;   // the plan holds X as it is given
  bool shares_values = false;  // the plan's values are those of X
};

inline StrategyFacts facts_of(MttkrpStrategy strategy) {
  StrategyFacts facts;
  switch (strategy) {
    case MttkrpStrategy::automatic:
      break;
    case MttkrpStrategy::flycoo:
    case MttkrpStrategy::flycoo_blocks:
      facts.is_flycoo = true;
      break;
    case MttkrpStrategy::atomic:
    case MttkrpStrategy::duplicated:
      facts.keeps_tensor = facts.shares_values = true;
      break;
    case MttkrpStrategy::permuted:
      facts.has_carries = facts.shares_values = true;
      break;
    case MttkrpStrategy::sorted:
    case MttkrpStrategy::fibers:
      facts.is_by_rows = facts.has_carries = true;
      break;
    case MttkrpStrategy::csf:
      facts.has_carries = true;
      break;
    case MttkrpStrategy::alto:
    case MttkrpStrategy::alto_atomic:
      facts.is_linear = true;
      break;
  }
  return facts;
}

inline bool is_by_rows(MttkrpStrategy strategy) {
  return facts_of(strategy).is_by_rows;
}
inline bool is_linear(MttkrpStrategy strategy) {
  return facts_of(strategy).is_linear;
}

/// Whether nonzeros may be in the order of rows.
inline bool may_be_by_rows(MttkrpStrategy strategy) {
  return strategy == MttkrpStrategy::automatic || is_by_rows(strategy);
}

inline void check_options(MttkrpOptions const& options, int order) {
  int const deepest = std::max(0, order - 2);
  expects(options.rank > 0, "make_mttkrp_plan: rank ", options.rank, " is not positive");
  expects(options.rows.split == -1 || options.strategy == MttkrpStrategy::fibers,
          "make_mttkrp_plan: split ", options.rows.split, " is for strategy fibers, not ",
          to_string(options.strategy));
  expects(-1 <= options.rows.split && options.rows.split <= deepest, "make_mttkrp_plan: split ",
          options.rows.split, " of a tensor of order ", order, ": -1 to ", deepest);
  expects(1 <= options.slices.count && options.slices.count <= 64,
          "make_mttkrp_plan: ", options.slices.count, " slices: 1 to 64");
  expects(-1 <= options.slices.mode && options.slices.mode < order,
          "make_mttkrp_plan: slices of mode ", options.slices.mode, " of a tensor of order ",
          order);
  expects(
      options.slices.rows.empty() || options.slices.rows.size() == static_cast<std::size_t>(order),
      "make_mttkrp_plan: slices.rows has ", options.slices.rows.size(), " modes, X is of order ",
      order);
  expects(
      options.slices.count == 1 ||
          (may_be_by_rows(options.strategy) && options.rows.order != RowOrder::morton &&
           !options.rows.atomic_flush),
      "make_mttkrp_plan: slices are for strategies sorted and fibers, in lexicographic order and "
      "without atomics");
  check_streaming("make_mttkrp_plan", options.streaming);
  check_options(options.flycoo, "make_mttkrp_plan");
  expects(!options.rows.atomic_flush || !facts_of(options.strategy).is_flycoo,
          "make_mttkrp_plan: rows.atomic_flush is not for strategy ", to_string(options.strategy),
          ", which has no rows that chunks share");
  expects(options.gather == GatherPrecision::full || may_be_by_rows(options.strategy),
          "make_mttkrp_plan: strategy ", to_string(options.strategy),
          " gathers factors in full precision: sorted and fibers can in ",
          to_string(options.gather));
}

/// What all processes of a call give alike.
template <class Scalar, class Index>
NamedOptions named_options(MttkrpOptions const& options) {
  return types_of_call<Scalar, Index>()
      .add("rank", options.rank)
      .add("strategy", options.strategy)
      .add("rows.order", options.rows.order)
      .add("rows.atomic_flush", options.rows.atomic_flush)
      .add("rows.split", options.rows.split)
      .add("gather", options.gather)
      .add("memory", options.memory)
      .add("slices.count", options.slices.count)
      .add("slices.mode", options.slices.mode)
      .add("slices.rows", options.slices.rows);
}

/// Whether `automatic` chooses the order of the nonzeros as well.
inline bool chooses_layout(MttkrpOptions const& options) {
  return options.strategy == MttkrpStrategy::automatic &&
         options.rows.order == RowOrder::automatic && options.gather == GatherPrecision::full &&
         options.slices.count == 1;
}

/// Options that take no more than a limit, and why they differ from those given; or "".
struct FittedPlan {
  MttkrpOptions options;
  bool moves_to_host = false;  // X does, and is sorted there
  std::string reason;
};

/// The fastest options that `automatic` may take for a plan of X within options.memory, or what is
/// left. Throws RunError where none does. Looks at the nonzeros only where it may matter.
template <class ExecutionSpace, class Scalar, class Index, class GivenSpace>
FittedPlan fit_mttkrp_plan(ExecutionSpace const& exec,
                           CooTensor<Scalar, Index, GivenSpace> const& X,
                           MttkrpOptions const& given, bool is_last);

}  // namespace sporades::detail
