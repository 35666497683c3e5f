// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <sporades/algorithms/command/memory.hpp>
#include <sporades/core/detail/far_memory.hpp>
#include <sporades/core/detail/memory_count.hpp>
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
  /// limit: bytes that the run may have; 0: all that are left. is_far: the tensor lies in files.
  ModelMemory(Exec const& exec, std::uint64_t limit, bool is_far)
      : exec_(exec), limit_(static_cast<double>(limit)), is_far_(is_far) {}

  /// Bytes that were set by hand; 0: none.
  double limit() const { return limit_; }

  /// Refuses early, and with little work, what cannot fit: the factors twice (the state's and the
  /// model's) and the tensor. Where the tensor fits, it names the largest ranks that would.
  template <class Options>
  void check_least(HostTensor const& X, Options const& options) const {
    double const tensor = static_cast<double>(X.storage_bytes());
    double const left = memory_left(taken(X));
    double const bytes = (can_stay(options) ? 0 : tensor) +
                         2 * Kind::factor_numbers(options, X.dims) * sizeof(Scalar);
    if (tensor <= left && bytes > left) {
      auto const near = copy_to(exec_, X);
      double const all = needed(near, options);
      refuse(X.dims, near, options, all, memory_left(on_gpu ? tensor : taken(X)));
    }
    check_fits_memory(bytes, left, subject(X.dims, options), Method::streaming_refusal(options));
  }

  /// X where the run computes. Where it does not fit there, and can be streamed, it stays, and the
  /// options are set to stream it; else it is refused with the largest ranks that would fit.
  /// keeps_X: X stays where it is beside the run, which may not count on its memory then.
  template <class Options>
  PlacedTensor<Tensor> place(HostTensor const& X, Options& options, bool keeps_X = false) const {
    PlacedTensor<Tensor> placed;
    placed.bytes = static_cast<double>(X.storage_bytes());
    double left = memory_left(taken(X)) - (keeps_X ? taken(X) : 0);
    if (!can_stay(options) || placed.bytes <= left) {
      placed.X = copy_to(exec_, X);
      if (on_gpu) left = memory_left(placed.bytes);
      placed.bytes = needed(placed.X, options);
      if (placed.bytes <= left) return placed;
    }
    double const beside =
        can_stay(options) ? in_all(Method::streamed_memory(exec_, X.dims, X.nnz(), options)) : left;
    if (left - beside >= least_window_bytes) {
      options.streaming.memory = static_cast<std::uint64_t>(left - beside);
      options.streaming.always = true;
      placed.note = sporades::detail::concatenate(
          subject(X.dims, options), " needs ", sporades::detail::bytes_text(placed.bytes),
          " of memory, ", sporades::detail::bytes_text(left), " may be taken: the nonzeros stay ",
          where(X, options), " and are streamed; the rest takes ",
          sporades::detail::bytes_text(beside));
      placed.X = {};
      placed.is_streamed = true;
      placed.bytes = left;
      return placed;
    }
    refuse(X.dims, placed.X, options, placed.bytes, left,
           Method::streaming_refusal(options) + streaming_advice(X, options, left));
    return placed;
  }

 private:
  static constexpr double least_window_bytes = 1 << 20;  // of all windows together

  /// Bytes that the run may have where it computes, if `more` of those that are taken count, too.
  double memory_left(double more = 0) const {
    double const left = sporades::detail::memory_left(exec_) + more;
    return limit_ > 0 ? std::min(left, limit_) : left;
  }

  /// Bytes of that memory which the tensor takes before the run.
  double taken(HostTensor const& X) const {
    return on_gpu || is_far_ ? 0 : static_cast<double>(X.storage_bytes());
  }

  static double in_all(sporades::detail::MemoryNeed const& need) {
    return on_gpu ? need.views : need.views + need.host;
  }

  template <class Options>
  double needed(Tensor const& X, Options const& options) const {
    return in_all(Method::memory(exec_, X, options));
  }

  /// Where the nonzeros stay, in words.
  template <class Options>
  static std::string where(HostTensor const& X, Options const& options) {
    if (on_gpu) return "in the host's memory";
    double const files = Method::streamed_files(X.dims, X.nnz(), options);
    return "in files in " + sporades::detail::scratch_folder() + " (TMPDIR), of up to " +
           sporades::detail::bytes_text(files) + ",";
  }

  /// How a host without a limit by hand would stream the tensor, if it can; or empty.
  template <class Options>
  std::string streaming_advice(HostTensor const& X, Options const& options, double left) const {
    if (on_gpu || limit_ > 0 || !Method::streaming_refusal(options).empty()) return "";
    double const rest = in_all(Method::streamed_memory(exec_, X.dims, X.nnz(), options));
    return rest <= left / 2 ? "; with --memory it is streamed from files" : "";
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

  /// Throws where `bytes` are more than are left, with the largest ranks that would fit, unless X
  /// is empty, as it does not fit itself, and with `more`.
  template <class Options>
  void refuse(Dims const& dims, Tensor const& X, Options const& options, double bytes, double left,
              std::string const& more = {}) const {
    if (bytes <= left) return;
    int fits = 0, too_many = X.dims.empty() ? 0 : Kind::largest_rank(options);
    while (too_many - fits > 1 + fits / 16) {
      int const middle = fits + (too_many - fits) / 2;
      (needed(X, Kind::with_largest_rank(options, middle)) <= left ? fits : too_many) = middle;
    }
    check_fits_memory(bytes, left, subject(dims, options),
                      (fits == 0 ? ""
                                 : "; " + Kind::rank_text(Kind::with_largest_rank(options, fits)) +
                                       " would fit") +
                          more);
  }

  Exec exec_;
  double limit_;
  bool is_far_;
};

}  // namespace sporades::command
