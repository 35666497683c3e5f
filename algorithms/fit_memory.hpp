// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/calls.hpp>
#include <sporades/core/memory_need.hpp>
#include <sporades/formats/coo_tensor.hpp>
#include <string>

/// The memory of decompositions before they are run, and options with which they take less.

namespace sporades {

/// Options within a limit, and how they got there.
template <class Options>
struct FittedOptions {
  Options options;
  bool moves_to_host = false;  // a GPU wants X on the host then: copy it there and hand it over
  std::string note;            // what is done without, with both numbers, or ""
};

namespace detail {

/// memory_need.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Options>
MemoryNeed need_of(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                   Options const& options);

/// fit_memory of an X beside which as many bytes stay taken.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Options>
FittedOptions<Options> fitted(ExecutionSpace const& exec,
                              CooTensor<Scalar, Index, MemorySpace> const& X, Options const& asked,
                              double beside);

}  // namespace detail

/// What a decomposition takes by CpAlsOptions, CpAprOptions, GcpOptions, TuckerOptions or
/// CompleteOptions: the start, make_..._problem(exec, hand_over(X), options) and all iterations,
/// while nobody else holds X. X may be on the host and exec a GPU that streams it; `host` does not
/// count X then. The count is at most 1.3 times what is taken, except where
/// - the order of X depends on the nonzeros in ways that only sorting shows, or
/// - the singular vectors of HOOI take more than six blocks of Lanczos vectors, which take more.
///
/// (A fit of CP-ALS so near 1 that the residual is computed nonzero by nonzero takes their
/// coordinates beside the plan.) Some passes over the nonzeros at most. Fences exec. Throws Error
/// where X has no nonzeros, the options are out of range, or a product of HOOI exceeds the memory
/// limit.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Options,
          class = std::enable_if_t<std::is_base_of_v<RunOptions, Options>>>
MemoryNeed memory_need(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                       Options const& options) {
  if constexpr (detail::check_maker<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::need_of(exec, X, options);
}

/// The options with which the decomposition of X takes no more memory than it may where exec
/// computes: options.memory or, if that is 0, what is left there and X's own bytes. The given
/// options if they fit, else the fastest that fit. CP-ALS with strategy `automatic` tries, in this
/// order:
/// - no singular vectors for a start (init automatic),
/// - on a GPU: a sorted copy a mode, made by the host,
/// - one copy of the nonzeros for all modes: strategy `alto` on hosts, then `flycoo`,
/// - sorted copies in the host's memory, of which a GPU keeps as many as fit and streams the
///   others; or on a host, but only where options.memory is set, all in files.
///
/// CP-APR and HOOI stream all copies. HOOI of strategy `automatic` tries chains without partial
/// products first (`fused`, or `csf` where indices take over 63 bits). On a host the fibers of
/// `semi_sparse` are made in memory, a mode at a time, before they are streamed.
///
/// GCP and complete stream nothing: GCP with strategy `automatic` tries one copy of the nonzeros
/// for all modes.
///
/// cp_als, cp_apr, gcp, tucker and complete call this where they are given a tensor; who makes a
/// problem calls it before. The model's bits depend on the fitted options alone. Streaming that is
/// set by hand stays as it is; it is refused where it exceeds options.memory. Takes a few passes
/// over the nonzeros, of CP-ALS only where memory may be short. Fences exec. Throws RunError where
/// nothing fits, with both numbers and the least that would do.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Options>
FittedOptions<Options> fit_memory(ExecutionSpace const& exec,
                                  CooTensor<Scalar, Index, MemorySpace> const& X,
                                  Options const& options) {
  if constexpr (detail::check_maker<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::fitted(exec, X, options, 0);
}

}  // namespace sporades
