// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/gcp.hpp>

/// The public functions of gcp.hpp.

namespace sporades {
namespace detail {

/// check_call, and the library holds the calls of this loss, or they can be compiled here.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Loss>
constexpr bool check_gcp_call() {
  if constexpr (std::is_same_v<Loss, AnyLoss>) {
    return check_call<ExecutionSpace, Scalar, Index, MemorySpace>();
  } else {
    static_assert(
        is_loss<Loss>,
        "a loss is a trivially copyable type with the members value, derivative and those "
        "of LossDefaults (kernels/loss.hpp)");
    constexpr bool is_defined = is_complete<Definitions<ExecutionSpace, Scalar>>;
    static_assert(is_defined,
                  "gcp with a loss of your own: include <sporades/algorithms/definitions.hpp> "
                  "first, and link sporades::simd");
    if constexpr (is_loss<Loss> && is_defined)
      return check_call<ExecutionSpace, Scalar, Index, MemorySpace>();
    return false;
  }
}

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Loss>
GcpProblem<Scalar, Index, MemorySpace> make_gcp_problem(ExecutionSpace const& exec,
                                                        CooTensor<Scalar, Index, MemorySpace> X,
                                                        GcpOptionsOf<Loss> const& options) {
  if constexpr (detail::check_gcp_call<ExecutionSpace, Scalar, Index, MemorySpace, Loss>())
    return detail::make_problem<GcpProblem<Scalar, Index, MemorySpace>>(exec, hand_over(X),
                                                                        options);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Loss>
GcpState<Scalar, MemorySpace> gcp_start(ExecutionSpace const& exec,
                                        CooTensor<Scalar, Index, MemorySpace> const& X,
                                        GcpOptionsOf<Loss> const& options) {
  if constexpr (detail::check_gcp_call<ExecutionSpace, Scalar, Index, MemorySpace, Loss>())
    return detail::first_start<GcpProblem<Scalar, Index, MemorySpace>>(exec, X, options);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Loss>
GcpProblem<Scalar, Index, MemorySpace> make_gcp_problem(Communicator const& processes,
                                                        ExecutionSpace const& exec,
                                                        CooTensor<Scalar, Index, MemorySpace> X,
                                                        GcpOptionsOf<Loss> const& options) {
  if constexpr (detail::check_gcp_call<ExecutionSpace, Scalar, Index, MemorySpace, Loss>())
    return detail::make_problem<GcpProblem<Scalar, Index, MemorySpace>>(
        processes, exec, hand_over(X), options, nullptr);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Loss>
GcpState<Scalar, MemorySpace> gcp_start(ExecutionSpace const& exec,
                                        GcpProblem<Scalar, Index, MemorySpace> const& problem,
                                        GcpOptionsOf<Loss> const& options) {
  if constexpr (detail::check_gcp_call<ExecutionSpace, Scalar, Index, MemorySpace, Loss>())
    return detail::random_start(exec, problem, options);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class StartSpace,
          class Loss>
GcpState<Scalar, MemorySpace> gcp_start(ExecutionSpace const& exec,
                                        GcpProblem<Scalar, Index, MemorySpace> const& problem,
                                        GcpOptionsOf<Loss> const& options,
                                        KruskalTensor<Scalar, StartSpace> const& start) {
  if constexpr (detail::check_gcp_call<ExecutionSpace, Scalar, Index, MemorySpace, Loss>())
    return detail::start_of_model(exec, problem, options, start);
}

template <class ExecutionSpace, class Scalar, class StartSpace, class Loss>
GcpState<Scalar, typename ExecutionSpace::memory_space> gcp_start(
    ExecutionSpace const& exec, Dims const& dims, GcpOptionsOf<Loss> const& options,
    KruskalTensor<Scalar, StartSpace> const& start) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  if constexpr (detail::check_gcp_call<ExecutionSpace, Scalar, std::uint32_t, MemorySpace, Loss>())
    return detail::start_of_model<GcpProblem<Scalar, std::uint32_t, MemorySpace>>(exec, dims,
                                                                                  options, start);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Loss>
GcpResult<Scalar, MemorySpace> gcp(ExecutionSpace const& exec,
                                   GcpProblem<Scalar, Index, MemorySpace>& problem,
                                   GcpOptionsOf<Loss> const& options,
                                   GcpState<Scalar, MemorySpace>& state, Observer const& observer) {
  if constexpr (detail::check_gcp_call<ExecutionSpace, Scalar, Index, MemorySpace, Loss>())
    return detail::run_from(exec, problem, options, state, observer);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Loss>
GcpResult<Scalar, MemorySpace> gcp(ExecutionSpace const& exec,
                                   CooTensor<Scalar, Index, MemorySpace> X,
                                   GcpOptionsOf<Loss> const& options, Observer const& observer) {
  if constexpr (detail::check_gcp_call<ExecutionSpace, Scalar, Index, MemorySpace, Loss>())
    return detail::decompose<GcpProblem<Scalar, Index, MemorySpace>>(exec, hand_over(X), options,
                                                                     observer);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Loss>
GcpResult<Scalar, MemorySpace> gcp(Communicator const& processes, ExecutionSpace const& exec,
                                   CooTensor<Scalar, Index, MemorySpace> X,
                                   GcpOptionsOf<Loss> const& options, Observer const& observer) {
  if constexpr (detail::check_gcp_call<ExecutionSpace, Scalar, Index, MemorySpace, Loss>())
    return detail::decompose<GcpProblem<Scalar, Index, MemorySpace>>(processes, exec, hand_over(X),
                                                                     options, observer);
}

}  // namespace sporades
