// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <limits>
#include <sporades/formats/alto_tensor.hpp>
#include <sporades/formats/packed_tensor.hpp>
#include <sporades/kernels/detail/mttkrp/choice.hpp>
#include <sporades/kernels/detail/mttkrp/options.hpp>
#include <sporades/kernels/detail/packed_windows.hpp>
#include <sporades/kernels/mttkrp_plan.hpp>

/// What a plan for MTTKRP gives each mode: decided here and nowhere else. Plans on one process and
/// on several are built by a Layout, and their bytes and messages are counted by it. It knows the
/// shape, the options and the machine; what only the nonzeros tell is decided after it, by
/// revert_to_rows and choose_split_of_runs.

namespace sporades::detail {

/// Where a plan computes, and of whose nonzeros.
struct PlanPlace {
  bool on_gpu = false;
  bool is_distributed = false;  // they are those of several processes
  bool is_on_host = false;      // they are on the host, and exec, a GPU, cannot access them
};

/// What a plan is built for, beside the options.
struct MttkrpPlanUse {
  TreeNode const* layouts = trees::mttkrp_layout_on_hosts;  // by which `automatic` chooses on hosts
  bool may_be_linear = true;                                // whether it may take a linear order
  /// Of a tree's X' on several processes: products get the rows of the first factor that this
  /// process reads, and not those that it owns.
  bool first_is_read = false;
  /// Of a tree's grid on several processes: the rows of the last mode that they own. All read all
  /// rows of the others.
  RowMap last = {};
};

/// What a plan does for one mode.
struct ModeLayout {
  MttkrpChoice choice;
  bool is_packed = true;        // a copy in the order of its rows has indices that fit words
  bool is_out_of_core = false;  // its copy is streamed
  bool may_revert = false;      // from a linear order to rows: see revert_to_rows
  double bytes = 0;             // of a copy of the nonzeros in the order of its rows
};

struct Layout {
  std::vector<ModeLayout> modes;
  int slices = 1, sliced_mode = 0;
  bool streams = false;  // copies in the order of rows exceed streaming.memory

  /// The strategy that all modes begin with.
  MttkrpStrategy strategy() const { return modes.front().choice.strategy; }
  bool is_linear() const { return detail::is_linear(strategy()); }
  bool is_by_rows() const { return detail::is_by_rows(strategy()); }
  bool is_resident() const {
    return std::none_of(modes.begin(), modes.end(),
                        [](ModeLayout const& mode) { return mode.is_out_of_core; });
  }
  std::vector<MttkrpChoice> choices() const {
    std::vector<MttkrpChoice> all;
    for (auto const& mode : modes) all.push_back(mode.choice);
    return all;
  }
  /// Of one copy a mode, in the order of rows.
  double bytes() const {
    double all = 0;
    for (auto const& mode : modes) all += mode.bytes;
    return all;
  }
};

/// What the trees ask about that lay tensors out.
inline Features layout_features(Dims const& dims, Position nnz, double row_bytes) {
  Features features;
  double rows = 0, longest = 0;
  for (auto dim : dims) {
    rows += static_cast<double>(dim);
    longest = std::max(longest, static_cast<double>(dim));
  }
  features[Feature::order] = static_cast<double>(dims.size());
  features[Feature::nonzeros] = static_cast<double>(nnz);
  features[Feature::row_bytes] = row_bytes;
  features[Feature::second_level_share] = rows * row_bytes / host_caches().second_level;
  features[Feature::longest_share] = longest / rows;
  return features;
}

/// How `automatic` lays a tensor out for all modes: on hosts by the tree `layouts`. On GPUs, and
/// where there are no nonzeros or no linear order has room for them, by rows.
inline MttkrpChoice automatic_layout(CooShape const& X, int rank, bool on_gpu,
                                     TreeNode const* layouts) {
  MttkrpChoice choice;
  choice.strategy = MttkrpStrategy::sorted;
  int bits = 0;
  for (auto dim : X.dims) bits += index_bits(dim);
  if (on_gpu || X.count() == 0 || bits > AltoLayout::most_bits) return choice;
  double const row_bytes =
      static_cast<double>(padded_columns(static_cast<std::size_t>(rank))) * X.scalar_bytes;
  auto const decision = decide(layouts, layout_features(X.dims, X.count(), row_bytes));
  if (decision.choice == "alto") choice.strategy = MttkrpStrategy::alto;
  choice.reason = decision.path;
  return choice;
}

/// Whether a linear order fits the memory where rows in order do not.
inline bool linear_order_fits(CooShape const& X, Streaming const& streaming) {
  double const word = AltoLayout(X.dims).has_two_words() ? 16 : 8;
  return !streaming.always &&
         X.nnz * (word + X.scalar_bytes) <= static_cast<double>(streaming.memory);
}

/// What is done for every mode. streams: whether rows in order are streamed; a linear order never
/// is.
inline MttkrpChoice common_choice(CooShape const& X, MttkrpOptions const& options,
                                  PlanPlace const& place, bool streams, MttkrpPlanUse const& use) {
  int const deepest = std::max(0, X.order() - 2);
  MttkrpChoice choice{options.strategy, options.rows.order,
                      options.rows.split < 0 ? deepest : options.rows.split, "asked for"};
  if (chooses_layout(options))
    choice = automatic_layout(X, options.rank, place.on_gpu, use.layouts);
  else if (options.strategy == MttkrpStrategy::automatic)
    choice = {MttkrpStrategy::sorted, options.rows.order, 0,
              options.slices.count > 1                  ? "slices were asked for"
              : options.gather == GatherPrecision::full ? "this order was asked for"
                                                        : "this precision was asked for"};
  if (chooses_layout(options) && choice.strategy == MttkrpStrategy::alto) {
    if (streams && !linear_order_fits(X, options.streaming))
      choice = {MttkrpStrategy::sorted, options.rows.order, 0,
                "rows in order are what is streamed"};
    else if (!use.may_be_linear)
      choice = {MttkrpStrategy::sorted, options.rows.order, 0,
                "rows in order are what processes share"};
  }
  if (choice.order == RowOrder::automatic) choice.order = RowOrder::lexicographic;
  return choice;
}

/// Sets which copies in the order of rows are out of core. Where all together take more than
/// streaming.memory,
/// - a GPU keeps as many resident as leave room for windows, the largest first;
/// - a host keeps none, since the system keeps what it can of files.
///
/// Of an X on the host a GPU keeps copies resident only as far as streaming.memory says so.
inline void place_copies(Streaming const& streaming, PlanPlace const& place, Layout& layout) {
  bool const are_out = layout.streams || (place.is_on_host && streaming.memory == 0);
  for (auto& mode : layout.modes) mode.is_out_of_core = are_out;
  if (!are_out || !place.on_gpu || streaming.always) return;
  std::vector<ModeLayout*> modes;
  for (auto& mode : layout.modes) modes.push_back(&mode);
  std::stable_sort(modes.begin(), modes.end(),
                   [](auto const* a, auto const* b) { return a->bytes > b->bytes; });
  auto const window = wanted_window(streaming, static_cast<std::uint64_t>(modes[0]->bytes));
  double left = static_cast<double>(streaming.memory) -
                streaming.streams * static_cast<double>(window + 4096 + gpu_instance_bytes);
  for (auto* const mode : modes) {
    if (mode->bytes > left) continue;
    mode->is_out_of_core = false;
    left -= mode->bytes;
  }
}

inline Layout decide_layout(CooShape const& X, MttkrpOptions const& options, PlanPlace const& place,
                            MttkrpPlanUse const& use = {}) {
  Layout layout;
  for (int n = 0; n < X.order(); ++n) {
    ModeLayout mode;
    mode.is_packed = fits_packed(X.dims, n);
    mode.bytes = sorted_list_bytes(X.dims, X.count(), static_cast<std::size_t>(X.index_bytes),
                                   static_cast<std::size_t>(X.scalar_bytes), n);
    layout.modes.push_back(mode);
  }
  layout.streams = is_streamed(options.streaming, layout.bytes());
  auto const common = common_choice(X, options, place, layout.streams, use);
  for (int n = 0; n < X.order(); ++n) {
    auto& mode = layout.modes[static_cast<std::size_t>(n)];
    mode.choice = common;
    mode.may_revert =
        is_linear(common.strategy) && chooses_layout(options) && may_have_no_parts(X, n);
  }
  if (layout.is_by_rows()) place_copies(options.streaming, place, layout);
  // None for less than three modes or no nonzeros, and where parts of rows might be too many for an
  // index.
  bool const may_be_sliced =
      X.order() > 2 && X.order() < max_order && X.count() > 0 &&
      (X.index_bytes > 4 || X.count() < std::numeric_limits<std::uint32_t>::max());
  if (may_be_sliced) layout.slices = options.slices.count;
  layout.sliced_mode = options.slices.mode < 0 ? longest_mode(X.dims) : options.slices.mode;
  return layout;
}

/// The layout of a plan that a process makes alone, of nonzeros where it computes.
template <class ExecutionSpace>
Layout decide_layout(CooShape const& X, MttkrpOptions const& options,
                     MttkrpPlanUse const& use = {}) {
  return decide_layout(X, options, PlanPlace{is_gpu<ExecutionSpace>}, use);
}

/// Throws Error where processes cannot share a plan with these options.
inline void check_processes(MttkrpOptions const& options, PlanPlace const& place,
                            MttkrpStrategy strategy) {
  char const* const where = "make_mttkrp_plan";
  expects(!options.streaming.always && options.streaming.memory == 0, where,
          ": nonzeros that processes share are not streamed");
  expects(options.memory == 0, where, ": options.memory is for one process");
  expects(!options.updatable, where, ": values are updated on one process");
  expects(!options.rows.atomic_flush && options.rows.order != RowOrder::morton, where,
          ": nonzeros that processes share are in lexicographic order, and their sums take no "
          "atomics");
  bool const is_alto = strategy == MttkrpStrategy::alto && !place.on_gpu;
  expects(is_alto || is_by_rows(strategy), where, ": strategy ", to_string(strategy),
          " works on one process: sorted", place.on_gpu ? " and fibers" : ", fibers and alto",
          " on several");
}

/// Throws Error if mode n's nonzeros cannot be in the order of rows as they are asked for: out of
/// core, or for factors that are gathered in fewer bits, where indices do not fit a word.
inline void check_rows(Dims const& dims, int n, ModeLayout const& mode,
                       MttkrpOptions const& options, PlanPlace const& place) {
  int const bits = packed_bits(dims, n) - 1;
  expects(mode.is_packed || mode.choice.strategy == MttkrpStrategy::sorted,
          "make_mttkrp_plan: strategy fibers: the indices of all modes but ", n, " take ", bits,
          " bits, a word has 63");
  expects(mode.is_packed || !(mode.is_out_of_core || place.is_on_host),
          "make_mttkrp_plan: nonzeros whose indices take over 63 bits (of all modes but ", n,
          " they take ", bits, ") cannot be streamed, and do not fit memory");
  expects(mode.is_packed || options.gather == GatherPrecision::full,
          "make_mttkrp_plan: factors are gathered in full precision where the indices of all "
          "modes but ",
          n, " take over 63 bits (", bits, ")");
}

/// Throws Error where no plan has this layout.
inline void check_layout(Layout const& layout, CooShape const& X, MttkrpOptions const& options,
                         PlanPlace const& place) {
  if (place.is_distributed) check_processes(options, place, layout.strategy());
  bool const is_linear_in_memory =
      layout.strategy() == MttkrpStrategy::alto && linear_order_fits(X, options.streaming);
  expects(layout.is_by_rows() || (!place.is_on_host && (!layout.streams || is_linear_in_memory)),
          "make_mttkrp_plan: strategy ", to_string(layout.strategy()),
          " cannot stream, and the nonzeros would have to be: sorted and fibers can");
  expects(!options.updatable || layout.is_resident(),
          "make_mttkrp_plan: values are updated where nothing is streamed, and the nonzeros would "
          "have to be");
  expects(layout.slices == 1 || (!place.is_on_host && !layout.streams),
          "make_mttkrp_plan: nonzeros in slices are not streamed, and these would have to be");
  for (int n = 0; n < X.order() && layout.is_by_rows(); ++n)
    check_rows(X.dims, n, layout.modes[static_cast<std::size_t>(n)], options, place);
}

/// The layout of a plan. Throws Error where no plan has it.
inline Layout checked_layout(CooShape const& X, MttkrpOptions const& options,
                             PlanPlace const& place, MttkrpPlanUse const& use) {
  auto const layout = decide_layout(X, options, place, use);
  check_layout(layout, X, options, place);
  return layout;
}

/// A mode of a linear order that `automatic` took, and in which it would need atomics, because its
/// parts would have too many rows of buffers, gets rows in order.
inline void revert_to_rows(MttkrpChoice& choice) {
  choice = {MttkrpStrategy::sorted, RowOrder::lexicographic, 0,
            "a linear order would need atomics"};
}

/// How many modes are multiplied once a run of nonzeros, where `automatic` has a copy in the order
/// of rows. length_of(k): the mean length of runs that agree in k modes.
template <class ExecutionSpace, class Scalar, class LengthOf>
void choose_split_of_runs(MttkrpOptions const& options, int order, bool is_packed,
                          MttkrpChoice& choice, LengthOf const& length_of) {
  if (options.strategy != MttkrpStrategy::automatic) return;
  if (!is_packed) {
    choice.reason = "indices do not fit 63 bits";
    return;
  }
  choice.split =
      measured_split<ExecutionSpace, Scalar>(order, options.rank, choice.reason, length_of);
  if (choice.split > 0) choice.strategy = MttkrpStrategy::fibers;
}

}  // namespace sporades::detail
