// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/alto_tensor.hpp>
#include <sporades/formats/detail/estimate_fiber_counts.hpp>
#include <sporades/formats/packed_tensor.hpp>
#include <sporades/kernels/mttkrp.hpp>
// First that, whose plans use what follows.
#include <sporades/kernels/detail/carry_count.hpp>
#include <sporades/kernels/detail/find_fit.hpp>
#include <sporades/kernels/detail/mttkrp/decide_layout.hpp>
#include <sporades/kernels/detail/packed_windows.hpp>

/// What plans for MTTKRP hold, and which of them a limit leaves. All counts are bounds: what
/// formats may share is counted in each. `count` holds X at first, and X is freed on the way unless
/// it is kept. tuples: FiberCountEstimate or its like, of X.

namespace sporades::detail {

/// Carry slots for nonzeros in chunks of chunk_length.
template <class ExecutionSpace, class Scalar>
double chunk_carry_bytes(Position nnz, int columns) {
  return carry_bytes<Scalar>(chunks_of(nnz, chunk_length<ExecutionSpace>(nnz)),
                             static_cast<std::size_t>(columns));
}

/// Room for rounded factors.
template <class Scalar>
double rounded_bytes(Dims const& dims, MttkrpOptions const& options) {
  double entries = 0, bytes = 0;
  for (auto dim : dims)
    entries += static_cast<double>(dim) *
               static_cast<double>(rounded_stride(static_cast<std::size_t>(options.rank)));
  if (options.gather != GatherPrecision::full)
    with_rounded_type<Scalar>(options.gather,
                              [&](auto number) { bytes = entries * sizeof(number); });
  return bytes;
}

/// Bytes of the files in which a host keeps nonzeros while it makes so many sorted copies of them:
/// what was read, what is scaled, and a sort's runs and result.
template <class Scalar, class Index>
double out_of_core_copy_bytes(Dims const& dims, Position nnz, std::size_t copies) {
  return static_cast<double>(nnz * (dims.size() * sizeof(Index) + sizeof(Scalar))) *
         static_cast<double>(copies + 4);
}

/// Bytes of the files in which a host keeps nonzeros while it makes packed copies of them, one a
/// mode.
template <class Scalar, class Index>
double out_of_core_list_bytes(Dims const& dims, Position nnz) {
  return sorted_list_bytes(dims, nnz, sizeof(Index), sizeof(Scalar)) +
         out_of_core_copy_bytes<Scalar, Index>(dims, nnz, 0);
}

/// The most that windows take through which so many bytes are streamed at most, with the copies
/// that stay resident beside them.
template <class ExecutionSpace>
double window_bytes(Streaming const& streaming, double streamed) {
  if (streaming.memory > 0) return static_cast<double>(streaming.memory);
  auto const bytes = static_cast<std::uint64_t>(std::min(streamed, 1e18));
  return streaming.streams * static_cast<double>(wanted_window(streaming, bytes) + 256 +
                                                 instance_bytes<ExecutionSpace>);
}

/// What a plan with out-of-core lists holds where it computes, without windows.
template <class Scalar, class ExecutionSpace, class Tuples>
void count_out_of_core_plan(MemoryCount& count, CooShape const& X, MttkrpOptions const& options,
                            Tuples& tuples) {
  for (int n = 0; n < X.order(); ++n) count.hold(packed_row_bytes(X, tuples.rows(n)));
  count.hold(chunk_carry_bytes<ExecutionSpace, Scalar>(X.count(), options.rank) +
             rounded_bytes<Scalar>(X.dims, options));
}

/// build_sorted: a list a mode in the order of its rows, made of X in the order of all modes, or
/// along a curve. The last list is that order, and shares it. And build_sliced, which makes all but
/// one list of X with slices named, as one mode more, and has parts of rows.
template <class ExecutionSpace, class Tuples>
void count_sorted_lists(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                        MttkrpOptions const& options, Layout const& layout, Tuples& tuples) {
  bool const streams = layout.streams && layout.is_by_rows();
  bool const has_slices = layout.slices > 1 && layout.is_by_rows() && !streams;
  auto base = X.unordered();
  auto order = sorted_bytes(exec, base, {0});
  bool is_new = true;
  if (options.rows.order == RowOrder::morton) {
    auto const alto = alto_bytes(exec, X, 0);
    order.peak = std::max(alto.peak, alto.kept);
  } else if (!has_slices) {
    base.sorted_modes = modes_by_length(X.dims);
    is_new = !is_sorted_by(X, base.sorted_modes);
  }
  if (is_new) count.make(order, X.freed());
  if (has_slices) base.dims.push_back(static_cast<std::uint64_t>(layout.slices));
  count.hold(base.bytes() - X.bytes());
  double freed = base.bytes(), most_parts = 0;
  for (int n : order_of_lists(X.dims)) {
    auto const& mode = layout.modes[static_cast<std::size_t>(n)];
    if (!layout.is_by_rows() && !mode.may_revert) continue;
    double const rows = tuples.rows(n);
    bool const has_parts = has_slices && n != layout.sliced_mode;
    double const parts = has_parts ? std::min(X.nnz, layout.slices * rows) : 0;
    auto made = mode.is_packed ? sorted_packed_bytes(exec, base, {n}, std::max(rows, parts))
                               : sorted_bytes(exec, base, {n});
    if (streams)
      made.kept = packed_row_bytes(X, rows);
    else if (is_sorted_by(base, {n}))
      freed = mode.is_packed ? base.coordinate_bytes() : 0;
    if (has_parts) {  // they are numbered, and sorted, beside a sorted copy, and replace its rows
      made.kept += 9 * parts + 8 * (static_cast<double>(X.dims[n]) + 1);
      made.peak =
          made.kept + sorted_bytes(exec, base, {n}).peak + X.coordinate_bytes() + 30 * parts;
    }
    count.make(made);
    most_parts = std::max(most_parts, parts);
  }
  if (is_new || !X.is_kept) count.release(freed);
  count.hold(most_parts * X.scalar_bytes *
             static_cast<double>(padded_columns(static_cast<std::size_t>(options.rank))));
}

/// Strategy `alto`, with lists for the modes that may revert to rows in order.
template <class Scalar, class ExecutionSpace, class Tuples>
void count_alto(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                MttkrpOptions const& options, Layout const& layout, Tuples& tuples) {
  bool reverts = false;
  double rows = 0, sums = 0;
  for (int n = 0; n < X.order(); ++n) {
    bool const may_revert = layout.modes[static_cast<std::size_t>(n)].may_revert;
    reverts = reverts || may_revert;
    if (!may_revert) rows = std::max(rows, most_buffer_rows(X, n));
  }
  auto linear = X;
  linear.is_kept = X.is_kept || reverts;  // for the lists
  count.make(alto_bytes(exec, linear, rows), linear.freed());
  if (!is_gpu<ExecutionSpace>) {
    auto const width = static_cast<int>(copied_width<Scalar>(X.dims, X.count(), options.rank));
    count.hold(matrix_bytes<Scalar>(rows, options.rank) + factors_bytes<Scalar>(X.dims, width));
  } else if (layout.strategy() == MttkrpStrategy::alto) {
    for (int n = 0; n < X.order(); ++n) {
      count.make(alto_pull_bytes(exec, X, n));
      sums = std::max(sums, most_sums(X, n));
    }
    // Fewer sums than the most may be in shorter chunks, and so in more of them.
    Position const chunks = chunks_of(static_cast<Position>(sums), chunk_length<ExecutionSpace>(0));
    count.hold(matrix_bytes<Scalar>(sums, options.rank) +
               carry_bytes<Scalar>(chunks, static_cast<std::size_t>(options.rank)));
  }
  if (!reverts) return;
  count_sorted_lists(exec, count, X, options, layout, tuples);
  count.hold(chunk_carry_bytes<ExecutionSpace, Scalar>(X.count(), options.rank));
}

/// Arrays of values that a plan has at most.
inline int most_value_lists(Layout const& layout) {
  bool const is_one_a_mode = layout.is_by_rows() || layout.strategy() == MttkrpStrategy::csf;
  int lists = is_one_a_mode ? 0 : 1;
  for (auto const& mode : layout.modes) lists += is_one_a_mode || mode.may_revert ? 1 : 0;
  return lists;
}

/// make_mttkrp_plan of this layout. The plan stays held.
template <class Scalar, class ExecutionSpace, class Tuples>
void count_mttkrp_plan(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                       MttkrpOptions const& options, Layout const& layout, Tuples& tuples) {
  bool const has_windows = layout.is_by_rows() && layout.streams;
  if (options.updatable)  // numbers for values while it is built, and which are whose
    count.hold(X.value_bytes() + most_value_lists(layout) * numbers_bytes(X.nnz));
  if (has_windows)  // and copies that stay resident
    count.hold(window_bytes<ExecutionSpace>(options.streaming, layout.bytes() / X.order()));
  if (has_windows && !is_gpu<ExecutionSpace> && options.rows.order != RowOrder::morton) {
    count_out_of_core_plan<Scalar, ExecutionSpace>(count, X, options, tuples);
    double const nonzero = X.bytes() / std::max(1.0, X.nnz);  // as part_sort_bytes
    count.pass(std::min(static_cast<double>(sort_memory(options.streaming)),
                        X.bytes() + (8 + std::max(8.0, nonzero)) * X.nnz));
    return count.release(X.freed());
  }
  switch (layout.strategy()) {
    case MttkrpStrategy::atomic:
      break;
    case MttkrpStrategy::duplicated:  // a product's copies of V
      if (!is_gpu<ExecutionSpace>)
        count.pass(exec.concurrency() * matrix_bytes<Scalar>(longest(X.dims), options.rank));
      break;
    case MttkrpStrategy::permuted:
      for (int n = 0; n < X.order(); ++n) count.make(sort_bytes(exec, X.count()));
      break;
    case MttkrpStrategy::csf:
      for (int n = 0; n < X.order(); ++n)
        count.make(csf_bytes(exec, X.unordered(), mttkrp_mode_order(X.dims, n), tuples));
      count.release(X.freed());
      break;
    case MttkrpStrategy::alto:
    case MttkrpStrategy::alto_atomic:
      count_alto<Scalar>(exec, count, X, options, layout, tuples);
      break;
    case MttkrpStrategy::flycoo:
    case MttkrpStrategy::flycoo_blocks: {
      Position const partitions = options.flycoo.partitions > 0
                                      ? static_cast<Position>(options.flycoo.partitions)
                                      : default_partitions(exec, X.count());
      count.make(flycoo_bytes(exec, X, partitions), X.freed());
      if (layout.strategy() == MttkrpStrategy::flycoo)
        count.hold(carry_bytes<Scalar>(
            most_pieces(X.count(), partitions, piece_length<ExecutionSpace>(X.count())),
            static_cast<std::size_t>(options.rank)));
      break;
    }
    case MttkrpStrategy::automatic:
    case MttkrpStrategy::sorted:
    case MttkrpStrategy::fibers:
      count_sorted_lists(exec, count, X, options, layout, tuples);
  }
  if (facts_of(layout.strategy()).has_carries && !options.rows.atomic_flush)
    count.hold(chunk_carry_bytes<ExecutionSpace, Scalar>(X.count(), options.rank));
  count.hold(rounded_bytes<Scalar>(X.dims, options));
}

/// make_mttkrp_plan of an X that is handed over, in memory that exec works in, or else on the host,
/// where host_exec builds it.
template <class Scalar, class ExecutionSpace, class HostSpace, class Tuples>
MemoryNeed count_mttkrp(ExecutionSpace const& exec, HostSpace const& host_exec, bool is_accessible,
                        CooShape const& X, MttkrpOptions const& options, Tuples& tuples) {
  MemoryNeed need;
  MemoryCount count;
  auto layout = decide_layout(X, options, PlanPlace{is_gpu<ExecutionSpace>, false, !is_accessible});
  if (is_accessible) {
    count.hold(X.bytes());
    count_mttkrp_plan<Scalar>(exec, count, X, options, layout, tuples);
  } else {
    double longest_list = 0;
    for (auto const& mode : layout.modes) longest_list = std::max(longest_list, mode.bytes);
    layout.streams = false;
    MemoryCount host;  // packed lists are copied one by one to memory that a GPU can access
    host.hold(X.bytes());
    count_sorted_lists(host_exec, host, X, options, layout, tuples);
    need.host = with_small_views(host.peak() + longest_list);
    count_out_of_core_plan<Scalar, ExecutionSpace>(count, X, options, tuples);
    auto unlimited = options.streaming;
    unlimited.memory = 0;
    count.hold(std::min(window_bytes<ExecutionSpace>(options.streaming, longest_list),
                        layout.bytes() + 4096 * unlimited.streams +
                            window_bytes<ExecutionSpace>(unlimited, longest_list)));
  }
  need.kept = with_small_views(count.held());
  need.peak = with_small_views(count.peak());
  return need;
}

/// Where X is on the host and exec a GPU it is streamed in any case, and is_streamed leaves out the
/// windows.
template <class ExecutionSpace, class Tensor>
MemoryNeed run_need(ExecutionSpace const& exec, CooShape const& shape, Tensor const& X,
                    MttkrpOptions const& options, bool is_streamed) {
  using Scalar = typename Tensor::Scalar;
  auto const builder = builder_of<typename Tensor::MemorySpace>(exec);
  using Builder = std::decay_t<decltype(builder)>;
  if (is_streamed) {
    FiberCountBound possible(shape);
    MemoryCount count;
    count_out_of_core_plan<Scalar, ExecutionSpace>(count, shape, options, possible);
    return {0, with_small_views(count.peak()), 0};
  }
  FiberCountEstimate<Builder, Tensor> tuples(builder, X);
  return count_mttkrp<Scalar>(exec, builder, std::is_same_v<Builder, ExecutionSpace>, shape,
                              options, tuples);
}

template <class ExecutionSpace, class Tensor>
double possible_need(ExecutionSpace const& exec, CooShape const& shape, Tensor const&,
                     MttkrpOptions const& options) {
  auto const builder = builder_of<typename Tensor::MemorySpace>(exec);
  bool const is_accessible = std::is_same_v<std::decay_t<decltype(builder)>, ExecutionSpace>;
  FiberCountBound possible(shape);
  return count_mttkrp<typename Tensor::Scalar>(exec, builder, is_accessible, shape, options,
                                               possible)
      .peak;
}

template <class ExecutionSpace, class Tensor>
double copy_bytes(ExecutionSpace const&, CooShape const& X, Tensor const&, MttkrpOptions const&) {
  return sorted_list_bytes(X.dims, X.count(), sizeof(typename Tensor::Index),
                           sizeof(typename Tensor::Scalar));
}

/// memory_need of a plan for MTTKRP; is_last: nobody else holds X.
template <class ExecutionSpace, class Scalar, class Index, class GivenSpace>
MemoryNeed mttkrp_plan_memory(ExecutionSpace const& exec,
                              CooTensor<Scalar, Index, GivenSpace> const& X,
                              MttkrpOptions const& given, bool is_last) {
  auto const options = options_for<Scalar>(given);
  check_options(options, X.order());
  auto shape = shape_of(X);
  shape.is_kept = is_accessible<ExecutionSpace, GivenSpace> && !is_last;
  auto need = run_need(exec, shape, X, options, false);
  if (shape.is_kept && !facts_of(options.strategy).keeps_tensor) need.kept -= shape.bytes();
  return need;
}

/// One copy of the nonzeros for all modes instead of one a mode, from the fastest on: strategies
/// that `automatic` takes where it may take less memory.
inline std::vector<MttkrpStrategy> lighter_strategies(bool on_gpu, CooShape const& X) {
  std::vector<MttkrpStrategy> strategies;
  int bits = 0;
  for (auto dim : X.dims) bits += index_bits(dim);
  if (!on_gpu && bits <= AltoLayout::most_bits && !may_have_no_parts(X))
    strategies.push_back(MttkrpStrategy::alto);
  strategies.push_back(MttkrpStrategy::flycoo);
  return strategies;
}

/// Whether the indices fit the words of packed nonzeros for each mode of rows.
inline bool fits_packed_words(CooShape const& X) {
  for (int n = 0; n < X.order(); ++n)
    if (!fits_packed(X.dims, n)) return false;
  return true;
}

/// For find_fit.
inline std::string lighten(bool on_gpu, CooShape const& X, MttkrpOptions const& asked,
                           MttkrpOptions& options, bool streams) {
  if (streams || !chooses_layout(asked)) return "";
  auto const lighter = lighter_strategies(on_gpu, X);
  auto const now = std::find(lighter.begin(), lighter.end(), options.strategy);
  auto const next = now == lighter.end() ? lighter.begin() : now + 1;
  if (next == lighter.end()) return "";
  if (*next == MttkrpStrategy::flycoo && asked.rows.atomic_flush) return "";
  options.strategy = *next;
  return "one copy of the nonzeros serves all modes";
}
inline void set_streaming(bool on_gpu, CooShape const&, MttkrpOptions& options, double bytes) {
  options.streaming.always = !on_gpu;
  options.streaming.memory = static_cast<std::uint64_t>(bytes);
}
inline bool can_stream(bool on_gpu, CooShape const& X, MttkrpOptions const& options) {
  bool const by_parts = on_gpu || options.rows.order != RowOrder::morton;
  return !options.updatable && options.slices.count == 1 && may_be_by_rows(options.strategy) &&
         by_parts && fits_packed_words(X);
}

template <class ExecutionSpace, class Scalar, class Index, class GivenSpace>
FittedPlan fit_mttkrp_plan(ExecutionSpace const& exec,
                           CooTensor<Scalar, Index, GivenSpace> const& X,
                           MttkrpOptions const& given, bool is_last) {
  auto const options = options_for<Scalar>(given);
  check_options(options, X.order());
  bool const chooses = chooses_layout(options);
  // What is asked for by name is built, or fails, unless a limit is.
  if (options.memory == 0 && !chooses) return {options, false, ""};
  bool const stays = is_accessible<ExecutionSpace, GivenSpace> && !is_last;
  auto const found =
      fit_within(exec, X, options, stays ? shape_of(X).bytes() : 0, "make_mttkrp_plan: ");
  return {found.options, found.moves_to_host,
          found.shortage.empty() ? "" : (chooses ? "what is fastest " : "it ") + found.shortage};
}

}  // namespace sporades::detail

#include <sporades/eti/mttkrp_memory.hpp>
