// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>
#include <sporades/algorithms/fit_memory.hpp>
#include <sporades/algorithms/run.hpp>
#include <sporades/core/detail/shortage.hpp>
#include <sporades/kernels/detail/find_fit.hpp>
#include <sporades/kernels/mttkrp.hpp>

/// How decompositions take less memory. Each has the functions of find_fit.hpp for its Options, and
/// those that follow where they do not do.

namespace sporades::detail {

template <class ExecutionSpace, class Tensor, class Options>
double copy_bytes(ExecutionSpace const&, CooShape const&, Tensor const&, Options const&) {
  return std::numeric_limits<double>::infinity();
}

template <class ExecutionSpace, class Tensor, class Options>
double possible_need(ExecutionSpace const&, CooShape const&, Tensor const&, Options const&) {
  return std::numeric_limits<double>::infinity();  // unknown without a look at the nonzeros
}

/// What a GPU does whose memory does not hold X and its sorted copies: copies of so many bytes, of
/// which so many may be resident.
inline std::string sorted_by_host(double copies, double bytes) {
  return bytes >= copies
             ? "the host sorts the nonzeros"
             : "the nonzeros stay in the host's memory, and what does not fit is streamed";
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Options>
MemoryNeed need_of(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                   Options const& options) {
  expects(X.nnz() > 0, "memory_need: X has no nonzeros");
  auto const shape = shape_of(X);
  bool const is_streamed = !is_accessible<ExecutionSpace, MemorySpace>;
  auto need = run_need(exec, shape, X, options, is_streamed);
  if (is_streamed) {
    double const windows = window_bytes<ExecutionSpace>(options.streaming, shape.bytes());
    need.kept += windows;
    need.peak += windows;
  }
  return need;
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Options>
FittedOptions<Options> fitted(ExecutionSpace const& exec,
                              CooTensor<Scalar, Index, MemorySpace> const& X, Options const& asked,
                              double beside) {
  FittedOptions<Options> fit{asked, false, ""};
  bool const is_asked = asked.streaming.always || asked.streaming.memory > 0;
  if (X.nnz() == 0 || (is_asked && asked.memory == 0)) return fit;  // what is wrong is said later
  auto const found = fit_within(exec, X, asked, beside, "a decomposition of ");
  fit = {found.options, found.moves_to_host, found.shortage};
  if (!fit.note.empty()) fit.note += ": ";
  fit.note += found.lighter;
  if (!found.streams) return fit;
  double const copies = copy_bytes(exec, shape_of(X), X, fit.options);
  fit.note += (found.lighter.empty() ? "" : "; ") +
              (is_gpu<ExecutionSpace> ? sorted_by_host(copies, found.windows)
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
