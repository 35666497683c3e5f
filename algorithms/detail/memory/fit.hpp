// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>
#include <sporades/algorithms/fit_memory.hpp>
#include <sporades/algorithms/run.hpp>
#include <sporades/core/detail/shortage.hpp>
#include <sporades/kernels/detail/find_fit.hpp>
#include <sporades/kernels/mttkrp.hpp>

/// How decompositions take less memory. What each of them has for its Options:
///   resident_need(exec, shape, X, options)         memory_need where X is accessible
///   streamed_need(exec, shape, options, Numbers)   where X is streamed; without windows
///   can_stream(shape, options)
///   set_streaming(on_gpu, shape, options, bytes)   see find_fit.hpp
/// and where the defaults do not do, which are here and in find_fit.hpp:
///   copy_bytes(exec, shape, options, Numbers)      where a GPU may keep copies resident
///   possible_need(exec, shape, options, Numbers)   bytes that suffice, whatever the nonzeros are
///   lighten(on_gpu, shape, asked, options, streams)

namespace sporades::detail {

/// The types of a tensor's numbers, as an argument.
template <class Scalar, class Index>
struct Numbers {};

template <class ExecutionSpace, class MemorySpace>
inline constexpr bool is_accessible =
    Kokkos::SpaceAccessibility<ExecutionSpace, MemorySpace>::accessible;

/// Bytes of the sorted copies that a streamed run plans, where a GPU may keep them resident; else
/// infinity.
template <class ExecutionSpace, class Options, class Scalar, class Index>
double copy_bytes(ExecutionSpace const&, CooShape const&, Options const&, Numbers<Scalar, Index>) {
  return std::numeric_limits<double>::infinity();
}

template <class ExecutionSpace, class Options, class Scalar, class Index>
double possible_need(ExecutionSpace const&, CooShape const&, Options const&,
                     Numbers<Scalar, Index>) {
  return std::numeric_limits<double>::infinity();  // unknown without a look at the nonzeros
}

/// What a GPU does whose memory does not hold X and its sorted copies: copies of so many bytes, of
/// which so many may be resident.
inline std::string sorted_by_host(double copies, double bytes) {
  return bytes >= copies
             ? "the host sorts the nonzeros"
             : "the nonzeros stay in the host's memory, and what does not fit is streamed";
}

/// Whether the host's memory holds so many copies of X beside what it holds.
inline bool host_holds(CooShape const& X, int copies) {
  return copies * X.bytes() <= host_memory_left();
}

/// All bytes that a decomposition takes in the memory where it computes: on hosts vectors and
/// mirrors are in the same.
template <class ExecutionSpace>
double in_all(MemoryNeed const& need) {
  return need.peak + (is_gpu<ExecutionSpace> ? 0 : need.host);
}

/// The need with the windows of what is streamed.
template <class ExecutionSpace, class Options>
MemoryNeed with_windows(CooShape const& X, Options const& options, MemoryNeed need) {
  double const windows = window_bytes<ExecutionSpace>(options.streaming, X.bytes());
  need.kept += windows;
  need.peak += windows;
  return need;
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Options>
MemoryNeed need_of(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                   Options const& options) {
  expects(X.nnz() > 0, "memory_need: X has no nonzeros");
  auto const shape = shape_of(X);
  if constexpr (is_accessible<ExecutionSpace, MemorySpace>)
    return resident_need(exec, shape, X, options);
  else
    return with_windows<ExecutionSpace>(
        shape, options, streamed_need(exec, shape, options, Numbers<Scalar, Index>{}));
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Options>
FittedOptions<Options> fitted(ExecutionSpace const& exec,
                              CooTensor<Scalar, Index, MemorySpace> const& X, Options const& asked,
                              double beside) {
  constexpr bool accessible = is_accessible<ExecutionSpace, MemorySpace>;
  FittedOptions<Options> fit{asked, false, ""};
  auto const shape = shape_of(X);
  double const limit = static_cast<double>(asked.memory);
  bool const is_asked = asked.streaming.always || asked.streaming.memory > 0;
  if (X.nnz() == 0 || (is_asked && limit == 0)) return fit;  // what is wrong is said later
  double const free = memory_to_take(exec) + (accessible ? shape.bytes() : 0);
  double const left = (limit > 0 ? std::min(limit, free) : free) - beside;
  if (accessible && possible_need(exec, shape, asked, Numbers<Scalar, Index>{}) <= left) return fit;
  constexpr bool on_gpu = is_gpu<ExecutionSpace>;
  Numbers<Scalar, Index> const numbers{};
  double const stays = accessible && !on_gpu ? shape.bytes() : 0;
  FitQuestion<Options> question{shape, on_gpu, left};
  question.may_lighten = !is_asked;
  // Files take room on a disk: a host uses them only where a limit is asked for. On the host a
  // GPU's tensor is there twice for a moment, beside its lists.
  question.may_stream = can_stream(shape, asked) && (on_gpu || limit > 0) && !is_asked &&
                        (!on_gpu || !accessible || host_holds(shape, shape.order() + 3));
  if constexpr (accessible)
    question.resident = [&](Options const& with) {
      return in_all<ExecutionSpace>(need_of(exec, X, with));
    };
  question.streamed = [&](Options const& with) {
    return in_all<ExecutionSpace>(streamed_need(exec, shape, with, numbers)) + stays;
  };
  question.copies = [&](Options const& with) { return copy_bytes(exec, shape, with, numbers); };
  question.before = accessible ? looked_at_bytes(shape) : 0.0;
  auto const found = find_fit(question, asked);
  if (!found.fits)
    throw RunError(concatenate("a decomposition of ", to_string(X.dims), " with ", X.nnz(),
                               " nonzeros ",
                               shortage_text(found.least + beside, left + beside, " at least")));
  fit.options = found.options;
  fit.moves_to_host = found.streams && accessible && on_gpu;
  if ((found.streams || !found.lighter.empty()) && found.needs > 0)
    fit.note = shortage_text(found.needs + beside, left + beside) + ": ";
  fit.note += found.lighter;
  if (found.streams)
    fit.note += (found.lighter.empty() ? "" : "; ") +
                (on_gpu ? sorted_by_host(question.copies(fit.options), found.windows)
                        : "the nonzeros are streamed from files");
  return fit;
}

/// Bytes of an X that others hold, too, beside what a decomposition takes for it.
template <class Tensor>
double kept_bytes(Tensor const& X) {
  return is_last(X) ? 0 : static_cast<double>(X.storage_bytes());
}

/// A decomposition of X by options that fit: solve(X, options), with X where exec computes or on
/// the host. Where it moves to the host, it is freed here.
template <class ExecutionSpace, class Tensor, class Options, class Solve>
auto solve_within_memory(ExecutionSpace const& exec, Tensor& X, Options const& options,
                         Solve const& solve) {
  auto const fit = fitted(exec, X, options, kept_bytes(X));
  if constexpr (is_gpu<ExecutionSpace>)
    if (fit.moves_to_host) {
      auto on_host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
      X = {};
      return solve(on_host, fit.options);
    }
  return solve(X, fit.options);
}

/// X where exec can access it; else a tensor without nonzeros of its dims, for starts that ask for
/// no more.
template <class Accessible, class Tensor>
Accessible accessible_or_dims(Tensor const& X) {
  if constexpr (std::is_same_v<Accessible, Tensor>)
    return X;
  else
    return {X.dims, {}, {}, {}};
}

}  // namespace sporades::detail
