// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/tucker.hpp>

/// The public functions of tucker.hpp.

namespace sporades {

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerProblem<Scalar, Index, detail::WorkSpace<ExecutionSpace, MemorySpace>> make_tucker_problem(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> X,
    TuckerOptions const& options) {
  using Problem = TuckerProblem<Scalar, Index, detail::WorkSpace<ExecutionSpace, MemorySpace>>;
  if constexpr (detail::check_maker<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::make_problem<Problem>(exec, hand_over(X), options);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerProblem<Scalar, Index, MemorySpace> make_tucker_problem(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> X, TuckerOptions const& options,
    TuckerState<Scalar, MemorySpace>* start) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::make_problem<TuckerProblem<Scalar, Index, MemorySpace>>(
        processes, exec, hand_over(X), options, start);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerState<Scalar, MemorySpace> tucker_start(ExecutionSpace const& exec,
                                              CooTensor<Scalar, Index, MemorySpace> const& X,
                                              TuckerOptions const& options) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::first_start<TuckerProblem<Scalar, Index, MemorySpace>>(exec, X, options);
}

template <class ExecutionSpace, class Scalar, class StartSpace>
TuckerState<Scalar, typename ExecutionSpace::memory_space> tucker_start(
    ExecutionSpace const& exec, Dims const& dims, TuckerOptions const& options,
    TuckerTensor<Scalar, StartSpace> const& start) {
  using Problem = TuckerProblem<Scalar, std::uint32_t, typename ExecutionSpace::memory_space>;
  if constexpr (detail::check_held<ExecutionSpace, Scalar, std::uint32_t, StartSpace>())
    return detail::start_of_model<Problem>(exec, dims, options, start);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class StartSpace>
TuckerState<Scalar, MemorySpace> tucker_start(
    ExecutionSpace const& exec, TuckerProblem<Scalar, Index, MemorySpace> const& problem,
    TuckerOptions const& options, TuckerTensor<Scalar, StartSpace> const& start) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>() &&
                detail::check_held<ExecutionSpace, Scalar, Index, StartSpace>())
    return detail::start_of_model(exec, problem, options, start);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerResult<Scalar, MemorySpace> tucker(ExecutionSpace const& exec,
                                         TuckerProblem<Scalar, Index, MemorySpace>& problem,
                                         TuckerOptions const& options,
                                         TuckerState<Scalar, MemorySpace>& state,
                                         Observer const& observer) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::run_from(exec, problem, options, state, observer);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerResult<Scalar, MemorySpace> tucker(ExecutionSpace const& exec,
                                         CooTensor<Scalar, Index, MemorySpace> X,
                                         TuckerOptions const& options, Observer const& observer) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::decompose<TuckerProblem<Scalar, Index, MemorySpace>>(exec, hand_over(X), options,
                                                                        observer);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerResult<Scalar, MemorySpace> tucker(Communicator const& processes, ExecutionSpace const& exec,
                                         CooTensor<Scalar, Index, MemorySpace> X,
                                         TuckerOptions const& options, Observer const& observer) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::decompose<TuckerProblem<Scalar, Index, MemorySpace>>(
        processes, exec, hand_over(X), options, observer);
}

}  // namespace sporades
