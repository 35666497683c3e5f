// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <sporades/core/detail/memory.hpp>
#include <sporades/core/detail/memory_count.hpp>
#include <sporades/core/detail/shortage.hpp>
#include <sporades/core/error.hpp>
#include <sporades/formats/detail/estimate_fiber_counts.hpp>
#include <string>
#include <utility>

/// The search for options that need no more memory than may be taken: of plans, of decompositions,
/// and of the command. Each Options has members `strategy`, `streaming` and `memory`, and for an X
/// in memory of any space, of that shape, functions:
///   lighten(on_gpu, shape, asked, options, streams) sets options to the next ones that take less,
///     and returns what they do without, in words; "" where there are no more.
///   set_streaming(on_gpu, shape, options, bytes) lets windows and resident copies take so many
///     bytes.
///   can_stream(on_gpu, shape, options)
///   run_need(exec, shape, X, options, is_streamed): memory_need of an X that is handed over; where
///     it is streamed, without it and without windows.
///   copy_bytes(exec, shape, X, options): of sorted copies that a streamed run plans, where a GPU
///   may
///     keep them resident; infinity where it may not.
///   possible_need(exec, shape, X, options): bytes that suffice where exec computes, whatever the
///     nonzeros are; infinity where only they tell.

namespace sporades::detail {

/// X, while its tuples are counted.
inline double looked_at_bytes(CooShape const& X) {
  return with_small_views(X.bytes() + fiber_count_bytes(X.count()));
}

/// What the search is told.
template <class Options>
struct FitQuestion {
  using Bytes = std::function<double(Options const&)>;

  CooShape X;
  bool on_gpu = false;
  double left = 0;          // bytes that may be taken
  bool may_lighten = true;  // whether options may become lighter while X is resident
  bool may_stream = false;
  Bytes resident = {};            // all bytes with X resident; empty: it cannot be
  Bytes streamed = {};            // all bytes but those of windows and resident copies
  Bytes copies = {};              // of sorted copies that a GPU may keep resident
  double before = 0;              // bytes that are taken before X is streamed
  bool host_holds_copies = true;  // whether a GPU's host has room for all sorted copies
};

/// What it finds.
template <class Options>
struct FitAnswer {
  Options options;
  bool fits = false, streams = false;
  double needs = 0;    // bytes of what was asked for, if X is resident
  double bytes = 0;    // that the options need, if X is resident
  double windows = 0;  // bytes for windows and resident copies, where it streams
  double least = std::numeric_limits<double>::infinity();  // bytes that would do
  std::string lighter = {};    // what the options do without, in words; or ""
  bool moves_to_host = false;  // a GPU wants X there
  std::string shortage = {};   // where what was asked for does not fit: both numbers
};

/// Makes the options lighter, step by step, until they need at most `most`; if none do, leaves
/// those that need least. Returns what they need and, in words, what they do without.
template <class Options>
std::pair<double, std::string> lightened(FitQuestion<Options> const& question, Options& options,
                                         bool streams, double most,
                                         typename FitQuestion<Options>::Bytes const& need) {
  double bytes = need(options);
  std::string changed, all;
  Options const asked = options;
  Options lighter = options;
  while (bytes > most && (streams || question.may_lighten)) {
    auto const less = lighten(question.on_gpu, question.X, asked, lighter, streams);
    if (less.empty()) break;
    if (all.find(less) == std::string::npos) all += (all.empty() ? "" : ", and ") + less;
    double const with = need(lighter);
    if (with >= bytes) continue;
    bytes = with;
    options = lighter;
    changed = all;
  }
  return {bytes, changed};
}

/// The least that windows take in all. What a host streams it sorts in as many bytes, by parts of a
/// thousandth of the nonzeros or more, and with a sample of them.
inline double least_windows(bool on_gpu, CooShape const& X) {
  double const nonzero = X.bytes() / std::max(1.0, X.nnz);
  double const part = X.nnz / 1000 * (nonzero + 8 + std::max(8.0, nonzero));
  return std::max(double{1 << 20}, on_gpu ? 0 : 2 * part);
}

/// The fastest way that fits: as asked for; else lighter with X resident, but on a GPU, where that
/// changes the strategy, rather copies that the host sorts, all resident; else streamed.
template <class Options>
FitAnswer<Options> find_fit(FitQuestion<Options> const& question, Options const& asked) {
  FitAnswer<Options> answer{asked};
  auto const try_streaming = [&](bool keeps_copies) {
    if (!question.may_stream || (keeps_copies && !question.host_holds_copies)) return false;
    auto options = asked;
    auto const [bytes, lighter] =
        lightened<Options>(question, options, true, question.left, [&](Options const& with) {
          return question.streamed(with) + (keeps_copies
                                                ? question.copies(with)
                                                : least_windows(question.on_gpu, question.X));
        });
    double const enough = std::max(bytes, question.before);
    answer.least = std::min(answer.least, enough);
    if (enough > question.left) return false;
    answer.windows = question.left - question.streamed(options);
    set_streaming(question.on_gpu, question.X, options, answer.windows);
    answer.options = options;
    answer.lighter = lighter;
    answer.fits = answer.streams = true;
    return true;
  };
  if (question.resident) {
    auto options = asked;
    auto const [bytes, lighter] =
        lightened<Options>(question, options, false, question.left, [&](Options const& with) {
          double const all = question.resident(with);
          if (answer.needs == 0) answer.needs = all;
          return all;
        });
    answer.least = answer.bytes = bytes;
    if (bytes <= question.left) {
      if (question.on_gpu && options.strategy != asked.strategy && try_streaming(true))
        return answer;
      answer.options = options;
      answer.lighter = lighter;
      answer.fits = true;
      return answer;
    }
  }
  try_streaming(false);
  return answer;
}

template <class ExecutionSpace, class MemorySpace>
inline constexpr bool is_accessible =
    Kokkos::SpaceAccessibility<ExecutionSpace, MemorySpace>::accessible;

/// All bytes that a computation takes in the memory where it computes: on hosts vectors and mirrors
/// are in the same.
template <class ExecutionSpace>
double in_all(MemoryNeed const& need) {
  return need.peak + (is_gpu<ExecutionSpace> ? 0 : need.host);
}

/// Whether the host's memory holds so many copies of X beside what it holds.
inline bool host_holds(CooShape const& X, int copies) {
  return copies * X.bytes() <= host_memory_left();
}

/// find_fit for an X beside which so many bytes stay taken, within asked.memory or what is left.
/// Looks at the nonzeros only where it may matter. Throws RunError where nothing fits; `who` begins
/// the message.
template <class ExecutionSpace, class Tensor, class Options>
FitAnswer<Options> fit_within(ExecutionSpace const& exec, Tensor const& X, Options const& asked,
                              double beside, char const* who) {
  constexpr bool on_gpu = is_gpu<ExecutionSpace>;
  constexpr bool accessible = is_accessible<ExecutionSpace, typename Tensor::MemorySpace>;
  auto const shape = shape_of(X);
  double const limit = static_cast<double>(asked.memory);
  double const possible = possible_need(exec, shape, X, asked) + beside;
  FitAnswer<Options> answer{asked};
  if (limit == 0 && possible < (64 << 20)) return answer;
  double const free = memory_to_take(exec) + (accessible ? shape.bytes() : 0);
  double const left = (limit > 0 ? std::min(limit, free) : free) - beside;
  if (possible <= left + beside) return answer;
  bool const is_asked = asked.streaming.always || asked.streaming.memory > 0;
  FitQuestion<Options> question{shape, on_gpu, left};
  question.may_lighten = !is_asked;
  // Files take room on a disk: a host uses them only where a limit is asked for. On the host a
  // GPU's tensor is there twice for a moment, beside its lists.
  question.may_stream = can_stream(on_gpu, shape, asked) && (on_gpu || limit > 0) && !is_asked &&
                        (!on_gpu || !accessible || host_holds(shape, shape.order() + 3));
  if constexpr (accessible)
    question.resident = [&](Options const& with) {
      return in_all<ExecutionSpace>(run_need(exec, shape, X, with, false));
    };
  question.streamed = [&](Options const& with) {
    double const stays = accessible && !on_gpu && beside == 0 ? shape.bytes() : 0;
    return in_all<ExecutionSpace>(run_need(exec, shape, X, with, true)) + stays;
  };
  question.copies = [&](Options const& with) { return copy_bytes(exec, shape, X, with); };
  question.before = accessible ? looked_at_bytes(shape) : 0.0;
  answer = find_fit(question, asked);
  if (!answer.fits)
    throw RunError(concatenate(who, to_string(X.dims), " with ", X.nnz(), " nonzeros ",
                               shortage_text(answer.least + beside, left + beside, " at least")));
  answer.moves_to_host = answer.streams && accessible && on_gpu;
  if (answer.needs > left) answer.shortage = shortage_text(answer.needs + beside, left + beside);
  return answer;
}

}  // namespace sporades::detail
