// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/detail/estimate_fiber_counts.hpp>
#include <sporades/kernels/mttkrp.hpp>
// First that, whose plans use what follows.
#include <sporades/kernels/detail/carry_count.hpp>
#include <sporades/kernels/detail/find_fit.hpp>
#include <sporades/kernels/detail/mttkrp/decide_layout.hpp>
#include <sporades/kernels/detail/mttkrp/sorted_memory.hpp>
#include <sporades/kernels/detail/packed_windows.hpp>

/// What plans for MTTKRP hold, and which of them a limit leaves.

namespace sporades::detail {

/// X, whose tuples are these.
template <class Tuples>
CountedTensor counted(CooShape const& X, bool is_last, Tuples& tuples) {
  return {X, is_last, [&tuples](int n) { return tuples.rows(n); }};
}

/// Carry slots for nonzeros in chunks of chunk_length.
template <class ExecutionSpace, class Scalar>
double carry_bytes_of(Position nnz, int columns, double index_bytes) {
  Position const length = chunk_length<ExecutionSpace>(nnz);
  MemoryCount count;
  CarryCount().reserve<Scalar>(count, chunks_of(nnz, length), static_cast<std::size_t>(columns),
                               index_bytes);
  return count.held();
}

/// Room for rounded factors, held.
template <class Scalar>
void count_rounded_rows(MemoryCount& count, Dims const& dims, MttkrpOptions const& options) {
  if (options.gather == GatherPrecision::full) return;
  auto const columns = rounded_stride(static_cast<std::size_t>(options.rank));
  for (auto dim : dims)
    with_rounded_type<Scalar>(options.gather, [&](auto number) {
      count.hold(static_cast<double>(dim) * static_cast<double>(columns * sizeof(number)));
    });
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
template <class Scalar, class ExecutionSpace>
void count_out_of_core_plan(MemoryCount& count, CountedTensor const& X,
                            MttkrpOptions const& options) {
  for (int n = 0; n < X.order(); ++n) count.hold(packed_row_bytes(X, X.rows_of(n)));
  count.hold(carry_bytes_of<ExecutionSpace, Scalar>(X.count(), options.rank, X.index_bytes));
  count_rounded_rows<Scalar>(count, X.dims, options);
}

/// What `alto` holds on GPUs beside the linear order.
template <class Scalar, class ExecutionSpace>
void count_alto_pulls(ExecutionSpace const& exec, MemoryCount& count, CountedTensor const& X,
                      int rank) {
  double sums = 0;
  for (int n = 0; n < X.order(); ++n) {
    count.make(alto_pull_bytes(exec, X, n));
    sums = std::max(sums, most_sums(X, n));
  }
  count.hold(matrix_bytes<Scalar>(sums, rank));
  // Fewer sums than the most may be in shorter chunks, and so in more of them.
  CarryCount().reserve<Scalar>(
      count, chunks_of(static_cast<Position>(sums), chunk_length<ExecutionSpace>(0)),
      static_cast<std::size_t>(rank), X.index_bytes);
}

/// The formats and buffers of count_mttkrp_plan.
template <class Scalar, class ExecutionSpace, class Tuples>
void count_mttkrp_formats(ExecutionSpace const& exec, MemoryCount& count, CountedTensor const& X,
                          MttkrpOptions const& options, Layout const& layout, Tuples& tuples) {
  int const N = X.order();
  bool needs_carry = facts_of(layout.strategy()).has_carries, shares_values = false;
  std::vector<bool> const all(static_cast<std::size_t>(N), true);
  double buffer_rows = 0;
  switch (layout.strategy()) {
    case MttkrpStrategy::atomic:
      return;
    case MttkrpStrategy::duplicated:  // a product's copies of V
      if (!is_gpu<ExecutionSpace>)
        count.pass(exec.concurrency() * matrix_bytes<Scalar>(longest(X.dims), options.rank));
      return;
    case MttkrpStrategy::permuted:
      for (int n = 0; n < N; ++n) count.make(sort_bytes(exec, X.count()));
      break;
    case MttkrpStrategy::csf:
      for (int n = 0; n < N; ++n) {
        auto const modes = mttkrp_mode_order(X.dims, n);
        shares_values = shares_values || is_sorted_by(X, modes);
        count.make(csf_bytes(exec, X, modes, tuples));
      }
      if (X.is_last) count.release(shares_values ? X.coordinate_bytes() : X.bytes());
      break;
    case MttkrpStrategy::alto:
    case MttkrpStrategy::alto_atomic: {
      std::vector<bool> unfit;
      for (int n = 0; n < N; ++n) {
        unfit.push_back(layout.modes[static_cast<std::size_t>(n)].may_revert);
        if (!unfit.back()) buffer_rows = std::max(buffer_rows, most_buffer_rows(X, n));
      }
      needs_carry = std::find(unfit.begin(), unfit.end(), true) != unfit.end();
      bool const is_freed = X.is_last && !needs_carry;
      count.make(alto_bytes(exec, X, is_freed, buffer_rows), is_freed ? X.bytes() : 0);
      if (!is_gpu<ExecutionSpace>) {
        count.hold(matrix_bytes<Scalar>(buffer_rows, options.rank));
        for (auto dim : X.dims)
          count.hold(matrix_bytes<Scalar>(
              static_cast<double>(dim),
              static_cast<int>(copied_width<Scalar>(X.dims, X.count(), options.rank))));
      } else if (layout.strategy() == MttkrpStrategy::alto) {
        count_alto_pulls<Scalar>(exec, count, X, options.rank);
      }
      if (needs_carry) count_sorted_lists(exec, count, X, false, false, unfit);
      break;
    }
    case MttkrpStrategy::flycoo:
    case MttkrpStrategy::flycoo_blocks: {
      Position const partitions = options.flycoo.partitions > 0
                                      ? static_cast<Position>(options.flycoo.partitions)
                                      : default_partitions(exec, X.count());
      count.make(flycoo_bytes(exec, X, X.is_last, partitions), X.is_last ? X.bytes() : 0);
      if (options.strategy == MttkrpStrategy::flycoo_blocks) break;
      CarryCount().reserve<Scalar>(
          count, most_pieces(X.count(), partitions, piece_length<ExecutionSpace>(X.count())),
          static_cast<std::size_t>(options.rank), X.index_bytes);
      break;
    }
    case MttkrpStrategy::automatic:
    case MttkrpStrategy::sorted:
    case MttkrpStrategy::fibers:
      bool const is_out_of_core = layout.streams;
      if (is_out_of_core && !is_gpu<ExecutionSpace> && options.rows.order != RowOrder::morton) {
        count_out_of_core_plan<Scalar, ExecutionSpace>(count, X, options);
        double const nonzero = X.bytes() / std::max(1.0, X.nnz);  // as part_sort_bytes
        count.pass(std::min(static_cast<double>(sort_memory(options.streaming)),
                            X.bytes() + (8 + std::max(8.0, nonzero)) * X.nnz));
        if (X.is_last) count.release(X.bytes());
        count.hold(window_bytes<ExecutionSpace>(options.streaming, layout.bytes() / N));
        return;
      }
      if (is_out_of_core)
        count.hold(window_bytes<ExecutionSpace>(options.streaming,
                                                layout.bytes() / N));  // and resident copies
      if (layout.slices > 1 && !is_out_of_core) {
        int const slices = layout.slices, sliced = layout.sliced_mode;
        count_sliced_lists(exec, count, X, slices, sliced);
        for (int n = 0; n < N; ++n)
          buffer_rows =
              std::max(buffer_rows, n == sliced ? 0 : std::min(X.nnz, slices * X.rows_of(n)));
        count.hold(matrix_bytes<Scalar>(buffer_rows, options.rank));
        break;
      }
      count_sorted_lists(exec, count, X, options.rows.order == RowOrder::morton, is_out_of_core,
                         all);
  }
  if (needs_carry && !options.rows.atomic_flush)
    count.hold(carry_bytes_of<ExecutionSpace, Scalar>(X.count(), options.rank, X.index_bytes));
  count_rounded_rows<Scalar>(count, X.dims, options);
}

/// Arrays of values that a plan has at most.
inline int most_value_lists(Layout const& layout) {
  if (layout.is_by_rows() || layout.strategy() == MttkrpStrategy::csf)
    return static_cast<int>(layout.modes.size());
  int lists = 1;
  for (auto const& mode : layout.modes) lists += mode.may_revert ? 1 : 0;
  return lists;
}

/// make_mttkrp_plan of this layout. The plan stays held; an X that is the last only where it is
/// part of the plan. tuples: of X.
template <class Scalar, class ExecutionSpace, class Tuples>
void count_mttkrp_plan(ExecutionSpace const& exec, MemoryCount& count, CountedTensor const& X,
                       MttkrpOptions const& options, Layout const& layout, Tuples& tuples) {
  if (options.updatable) count.hold(X.value_bytes());  // numbers, beside the values
  count_mttkrp_formats<Scalar>(exec, count, X, options, layout, tuples);
  if (!options.updatable) return;
  count.hold(most_value_lists(layout) * numbers_bytes(X.nnz));
  if (X.is_last || !facts_of(layout.strategy()).shares_values) count.release(X.value_bytes());
}

/// What make_mttkrp_plan takes for an X in memory that exec works in, or else on the host, where it
/// is counted by host_exec.
template <class Scalar, class ExecutionSpace, class HostSpace, class Tuples>
MemoryNeed count_mttkrp(ExecutionSpace const& exec, HostSpace const& host_exec, bool is_accessible,
                        CountedTensor const& X, MttkrpOptions const& options, Tuples& tuples) {
  MemoryNeed need;
  MemoryCount count;
  if (is_accessible) {
    count.hold(X.bytes());
    auto const layout = decide_layout<ExecutionSpace>(X, options);
    count_mttkrp_plan<Scalar>(exec, count, X, options, layout, tuples);
  } else {
    std::vector<bool> const all(X.dims.size(), true);
    double longest_list = 0;
    for (int n = 0; n < X.order(); ++n) {
      longest_list = std::max(longest_list, packed_word_bytes(X, n) + X.value_bytes());
    }
    MemoryCount host;  // packed lists are copied one by one to memory that a GPU can access
    host.hold(X.bytes());
    count_sorted_lists(host_exec, host, X, options.rows.order == RowOrder::morton, false, all);
    need.host = with_small_views(host.peak() + longest_list);
    count_out_of_core_plan<Scalar, ExecutionSpace>(count, X, options);
    double const window = static_cast<double>(
        wanted_window(options.streaming, static_cast<std::uint64_t>(longest_list)));
    double const lists = sorted_list_bytes(X.dims, X.count(),
                                           static_cast<std::size_t>(X.index_bytes), sizeof(Scalar));
    count.hold(std::min(
        window_bytes<ExecutionSpace>(options.streaming, longest_list),
        lists + options.streaming.streams * (window + 4096 + instance_bytes<ExecutionSpace>)));
  }
  bool const shares_X = is_accessible && facts_of(options.strategy).keeps_tensor;
  need.kept =
      with_small_views(count.held() - (is_accessible && !X.is_last && !shares_X ? X.bytes() : 0));
  need.peak = with_small_views(count.peak());
  return need;
}

/// memory_need of a plan for MTTKRP; is_last: nobody else holds X.
template <class ExecutionSpace, class Scalar, class Index, class GivenSpace>
MemoryNeed mttkrp_plan_memory(ExecutionSpace const& exec,
                              CooTensor<Scalar, Index, GivenSpace> const& X,
                              MttkrpOptions const& given, bool is_last) {
  auto const options = options_for<Scalar>(given);
  check_options(options, X.order());
  auto const builder = builder_of<GivenSpace>(exec);
  using Builder = std::decay_t<decltype(builder)>;
  constexpr bool is_accessible = std::is_same_v<Builder, ExecutionSpace>;
  FiberCountEstimate<Builder, std::decay_t<decltype(X)>> tuples(builder, X);
  return count_mttkrp<Scalar>(exec, builder, is_accessible, counted(shape_of(X), is_last, tuples),
                              options, tuples);
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

/// X, while its tuples are counted.
inline double looked_at_bytes(CooShape const& X) {
  return with_small_views(X.bytes() + fiber_count_bytes(X.count()));
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
  auto const lighter = lighter_strategies(on_gpu, X);
  auto const now = std::find(lighter.begin(), lighter.end(), options.strategy);
  auto const next = now == lighter.end() ? lighter.begin() : now + 1;
  if (streams || next == lighter.end()) return "";
  if (*next == MttkrpStrategy::flycoo && asked.rows.atomic_flush) return "";
  options.strategy = *next;
  return "one copy of the nonzeros serves all modes";
}
inline void set_streaming(bool on_gpu, CooShape const&, MttkrpOptions& options, double bytes) {
  options.streaming.always = !on_gpu;
  options.streaming.memory = static_cast<std::uint64_t>(bytes);
}

template <class ExecutionSpace, class Scalar, class Index, class GivenSpace>
FittedPlan fit_mttkrp_plan(ExecutionSpace const& exec,
                           CooTensor<Scalar, Index, GivenSpace> const& X,
                           MttkrpOptions const& given, bool is_last) {
  auto const builder = builder_of<GivenSpace>(exec);
  using Builder = std::decay_t<decltype(builder)>;
  constexpr bool is_accessible = std::is_same_v<Builder, ExecutionSpace>;
  auto const shape = shape_of(X);
  FittedPlan fitted{options_for<Scalar>(given), false, ""};
  auto& options = fitted.options;
  check_options(options, X.order());
  // What is asked for by name is built, or fails, unless a limit is.
  if (options.memory == 0 && !chooses_layout(options)) return fitted;
  FiberCountBound possible(shape);
  auto const at_most = count_mttkrp<Scalar>(exec, builder, is_accessible,
                                            counted(shape, is_last, possible), options, possible);
  if (options.memory == 0 && at_most.peak < (64 << 20)) return fitted;
  double const free = memory_to_take(exec) + (is_accessible ? shape.bytes() : 0);
  double const left =
      options.memory > 0 ? std::min(free, static_cast<double>(options.memory)) : free;
  if (at_most.peak <= left) return fitted;
  FiberCountEstimate<Builder, CooTensor<Scalar, Index, GivenSpace>> tuples(builder, X);
  constexpr bool on_gpu = is_gpu<ExecutionSpace>;
  bool const is_asked = options.streaming.always || options.streaming.memory > 0;
  bool const by_parts = on_gpu || options.rows.order != RowOrder::morton;
  FitQuestion<MttkrpOptions> question{shape, on_gpu, left};
  question.may_lighten = is_accessible && chooses_layout(options) && !is_asked;
  // Files take room on a disk: a host uses them only where a limit is asked for.
  question.may_stream = !options.updatable && options.slices.count == 1 &&
                        may_be_by_rows(options.strategy) && by_parts && fits_packed_words(shape) &&
                        !is_asked && (on_gpu || options.memory > 0);
  auto const count = [&](bool here, MttkrpOptions const& with) {
    return count_mttkrp<Scalar>(exec, builder, here, counted(shape, is_last, tuples), with, tuples);
  };
  if (on_gpu && question.may_stream)
    question.may_stream = count(false, options).host <= host_memory_left();
  question.resident = [&](MttkrpOptions const& with) { return count(is_accessible, with).peak; };
  bool const keeps_X = is_accessible && (!on_gpu || !is_last);
  question.streamed = [&](MttkrpOptions const& with) {
    MemoryCount beside;  // the windows
    count_out_of_core_plan<Scalar, ExecutionSpace>(beside, counted(shape, is_last, tuples), with);
    return with_small_views(beside.peak()) + (keeps_X ? shape.bytes() : 0);
  };
  question.copies = [&](MttkrpOptions const&) {
    return sorted_list_bytes(X.dims, X.nnz(), sizeof(Index), sizeof(Scalar));
  };
  question.before = is_accessible ? looked_at_bytes(shape) : 0.0;
  auto const found = find_fit(question, options);
  if (!found.fits)
    throw RunError(concatenate("make_mttkrp_plan: ", to_string(X.dims), " with ", X.nnz(),
                               " nonzeros ", shortage_text(found.least, left, " at least")));
  if (found.needs > left)
    fitted.reason =
        (chooses_layout(options) ? "what is fastest " : "it ") + shortage_text(found.needs, left);
  options = found.options;
  fitted.moves_to_host = found.streams && on_gpu && is_accessible;
  return fitted;
}

}  // namespace sporades::detail

#include <sporades/eti/mttkrp_memory.hpp>
