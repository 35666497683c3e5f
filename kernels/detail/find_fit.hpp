// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <sporades/formats/detail/coo_shape.hpp>
#include <string>
#include <utility>

/// The search for options that need no more memory than may be taken: of plans, of decompositions,
/// and of the command. Each Options has a member `strategy`, and for X's shape two functions:
///   lighten(on_gpu, X, asked, options, streams) sets options to the next ones that take less, and
///     returns what they do without, in words; "" where there are no more.
///   set_streaming(on_gpu, X, options, bytes) lets windows and resident copies take so many bytes.

namespace sporades::detail {

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
  std::string lighter = {};  // what the options do without, in words; or ""
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

}  // namespace sporades::detail
