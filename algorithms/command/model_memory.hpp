// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <sporades/algorithms/command/memory.hpp>
#include <sporades/algorithms/detail/memory/fit.hpp>
#include <sporades/core/detail/out_of_core_memory.hpp>
#include <sporades/core/detail/shortage.hpp>
#include <sporades/formats/coo_tensor.hpp>
#include <string>

/// The memory of a run that makes a model: what it needs, what it may have, and whether the tensor
/// stays on the host, or in files, therefore.

namespace sporades::command {

/// A tensor where the run computes, or on the host or in files, from which it is streamed.
template <class Tensor>
struct PlacedTensor {
  Tensor X;  // empty where it is streamed
  bool is_streamed = false;
  double bytes = 0;  // that the run needs where it computes; all that it may take if it streams
  std::string note;  // for the user, or empty
};

/// Method: see model_run.hpp.
template <class Method>
class ModelMemory {
  using Exec = typename Method::ExecutionSpace;
  using Scalar = typename Method::Scalar;
  using Index = typename Method::Index;
  using Kind = typename Method::Kind;
  using HostTensor = CooTensor<Scalar, Index>;
  using Tensor = CooTensor<Scalar, Index, typename Exec::memory_space>;
  static constexpr bool on_gpu = sporades::detail::is_gpu<Exec>;

 public:
  /// limit: bytes that the run may have; 0: all that are left. is_out_of_core: the tensor lies in
  /// files. beside: bytes that the command holds on the host all the time. keeps_states: it copies
  /// the state, and the best one of several starts, to write them.
  ModelMemory(Exec const& exec, std::uint64_t limit, bool is_out_of_core, double beside,
              bool keeps_states)
      : exec_(exec),
        limit_(static_cast<double>(limit)),
        is_out_of_core_(is_out_of_core),
        beside_(beside),
        keeps_states_(keeps_states) {}

  /// Bytes that were set by hand; 0: none.
  double limit() const { return limit_; }

  /// Refuses early, and with little work, what cannot fit: the factors twice (the state's and the
  /// model's) and the tensor. It names the least that would do; where it can, it names the largest
  /// ranks that would fit, too. Nothing else is counted for modes of which no rank fits this
  /// machine: their lengths may be near 2^64.
  template <class Options>
  void check_least(HostTensor const& X, Options const& options) const {
    double const tensor = static_cast<double>(X.storage_bytes()), left = memory_left(taken(X));
    auto const least_of = [&](Options const& with) {
      return (can_stay(with) ? 0 : tensor) + own(X.dims, with) + 2 * factor_bytes(X.dims, with);
    };
    double const bytes = least_of(options);
    if (!on_gpu && 8 * bytes > left) sporades::detail::return_large_memory_at_once();
    if (bytes <= left) return;
    auto const refusal = streaming_refusal(X, options, left);
    bool const is_held = !on_gpu || tensor <= sporades::detail::memory_to_take(exec_);
    bool const some_rank_fits =
        least_of(Kind::with_largest_rank(options, 1)) <= sporades::detail::memory_bytes(exec_);
    if ((is_held || can_stay(options)) && some_rank_fits)
      refuse(X, is_held ? copy_to(exec_, X) : Tensor{}, options,
             memory_left(on_gpu && is_held ? tensor : taken(X)), refusal);
    check_fits_memory(bytes, left, subject(X.dims, options), refusal);
  }

  /// X where the run computes. Where it does not fit there, even by lighter options, and can be
  /// streamed, it stays where it is, and the options are set to stream it; else it is refused, and
  /// the message says the largest ranks that would fit. keeps_X: X stays where it is beside the
  /// run, which may not count on its memory then.
  template <class Options>
  PlacedTensor<Tensor> place(HostTensor const& X, Options& options, bool keeps_X = false) const {
    PlacedTensor<Tensor> placed;
    double const tensor = static_cast<double>(X.storage_bytes());
    double left = memory_left(taken(X)) - (keeps_X ? taken(X) : 0);
    if (!can_stay(options) || tensor <= left) {
      placed.X = copy_to(exec_, X);
      if (on_gpu) left = memory_left(tensor);
    }
    auto const asked = options;
    auto const found = find_fit(question(X, placed.X, asked, left), asked);
    if (!found.fits) {
      // A host has X anyway: a run in memory may take less than one that streams.
      if (!on_gpu && placed.X.dims.empty()) placed.X = copy_to(exec_, X);
      refuse(X, placed.X, asked, left,
             streaming_refusal(X, asked, left) + streaming_advice(X, asked, left));
    }
    bool const is_least = placed.X.dims.empty();  // what is known are the bytes of X alone
    placed.bytes = is_least ? tensor : found.needs;
    if (found.streams || !found.lighter.empty())
      placed.note = shortage(X.dims, asked, placed.bytes, left, is_least) + found.lighter;
    if (found.fits) options = found.options;
    if (found.streams) {
      placed.note += sporades::detail::concatenate(
          found.lighter.empty() ? "" : "; ", where(X, options, found.windows), "; the rest takes ",
          sporades::detail::bytes_text(left - found.windows));
      placed.X = {};
      placed.is_streamed = true;
      placed.bytes = left;
    } else if (found.fits) {
      placed.bytes = found.bytes;
    }
    return placed;
  }

 private:
  /// Bytes that the run may have where it computes, if `more` of those that are taken count, too.
  double memory_left(double more = 0) const {
    double const left = sporades::detail::memory_to_take(exec_) + more;
    return limit_ > 0 ? std::min(left, limit_) : left;
  }

  /// Bytes of that memory which the tensor takes before the run.
  double taken(HostTensor const& X) const {
    return on_gpu || is_out_of_core_ ? 0 : static_cast<double>(X.storage_bytes());
  }

  template <class Options>
  static double factor_bytes(Dims const& dims, Options const& options) {
    return Kind::factor_numbers(options, dims) * sizeof(Scalar);
  }

  /// What the command itself holds in that memory.
  template <class Options>
  double own(Dims const& dims, Options const& options) const {
    if (on_gpu) return 0;
    bool const has_starts = options.starts > 1;
    int const states = !keeps_states_ ? 0 : has_starts ? 2 : 1;
    int const models = has_starts && Kind::is_cp ? options.starts + 1 : 0;  // that are compared
    return beside_ + (states + models) * factor_bytes(dims, options);
  }

  /// All of a need, and of what the command holds.
  template <class Options>
  double in_all(Dims const& dims, Options const& options, MemoryNeed const& need) const {
    return sporades::detail::in_all<Exec>(need) + own(dims, options);
  }

  /// What find_fit is asked for a run that may take `left` bytes. resident: X where it computes, or
  /// empty. The question refers to X and to it.
  template <class Options>
  sporades::detail::FitQuestion<Options> question(HostTensor const& X, Tensor const& resident,
                                                  Options const& asked, double left) const {
    auto const shape = sporades::detail::shape_of(X);
    sporades::detail::FitQuestion<Options> asks{shape, on_gpu, left};
    asks.may_stream = can_stay(asked);
    asks.host_holds_copies = sporades::detail::host_holds(shape, shape.order() + 2);
    if (!resident.dims.empty())
      asks.resident = [this, &resident](Options const& with) {
        return in_all(resident.dims, with, memory_need(exec_, resident, with));
      };
    asks.streamed = [this, shape, &X](Options const& with) {
      return in_all(shape.dims, with, run_need(exec_, shape, X, with, true));
    };
    asks.copies = [this, shape, &X](Options const& with) {
      return copy_bytes(exec_, shape, X, with);
    };
    return asks;
  }

  /// The least that a run takes, in memory or streamed. resident: X there, or empty.
  template <class Options>
  double least(HostTensor const& X, Tensor const& resident, Options const& asked) const {
    return find_fit(question(X, resident, asked, 0), asked).least;
  }

  /// "cp-als: rank 16 for 20 x 30 x 40 needs 3 MB of memory, 2 MB may be taken: ", or "at least"
  template <class Options>
  static std::string shortage(Dims const& dims, Options const& options, double needs, double left,
                              bool is_least = false) {
    return subject(dims, options) + " " +
           sporades::detail::shortage_text(needs, left, is_least ? " at least" : "") + ": ";
  }

  /// Where the nonzeros are, of whose copies so many bytes may be resident, in words.
  template <class Options>
  std::string where(HostTensor const& X, Options const& options, double resident) const {
    if constexpr (on_gpu)
      return sporades::detail::sorted_by_host(
          copy_bytes(exec_, sporades::detail::shape_of(X), X, options), resident);
    double const files = Method::streamed_files(X.dims, X.nnz(), options);
    return "the nonzeros stay in files in " + sporades::detail::scratch_folder() +
           " (TMPDIR), of up to " + sporades::detail::bytes_text(files) + ", and are streamed";
  }

  /// With what options the tensor would be streamed, where these cannot; empty where the factors
  /// alone are too large.
  template <class Options>
  std::string streaming_refusal(HostTensor const& X, Options const& options, double left) const {
    bool const has_room = own(X.dims, options) + 2 * factor_bytes(X.dims, options) <= left;
    return has_room ? Method::streaming_refusal(options) : "";
  }

  /// How a host without a limit by hand would stream the tensor, if it can; or empty.
  template <class Options>
  std::string streaming_advice(HostTensor const& X, Options const& options, double left) const {
    if (on_gpu || limit_ > 0 || !Method::streaming_refusal(options).empty()) return "";
    double const bytes =
        in_all(X.dims, options, run_need(exec_, sporades::detail::shape_of(X), X, options, true));
    return bytes <= left / 2 ? "; with --memory it is streamed from files" : "";
  }

  /// "cp-als: rank 16 for 20 x 30 x 40"
  template <class Options>
  static std::string subject(Dims const& dims, Options const& options) {
    return std::string(Method::name) + ": " + Kind::rank_text(options) + " for " + to_string(dims);
  }

  /// Whether a tensor that does not fit may stay where it is. Files take room on a disk: only where
  /// a limit is asked for.
  template <class Options>
  bool can_stay(Options const& options) const {
    return (on_gpu || limit_ > 0) && Method::streaming_refusal(options).empty();
  }

  /// Throws where a run needs more than is left, with the largest ranks that would fit, and with
  /// `more`. resident: X where the run computes, or empty, if it does not fit there.
  template <class Options>
  void refuse(HostTensor const& X, Tensor const& resident, Options const& options, double left,
              std::string const& more = {}) const {
    double const bytes = least(X, resident, options);
    if (bytes <= left) return;
    int fits = 0, too_many = Kind::largest_rank(options);
    while (too_many - fits > 1 + fits / 16) {
      int const middle = fits + (too_many - fits) / 2;
      (least(X, resident, Kind::with_largest_rank(options, middle)) <= left ? fits : too_many) =
          middle;
    }
    check_fits_memory(bytes, left, subject(X.dims, options),
                      (fits == 0 ? ""
                                 : "; " + Kind::rank_text(Kind::with_largest_rank(options, fits)) +
                                       " would fit") +
                          more);
  }

  Exec exec_;
  double limit_;
  bool is_out_of_core_;
  double beside_;
  bool keeps_states_;
};

}  // namespace sporades::command
