// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/complete.hpp>

/// The public functions of complete.hpp.

namespace sporades {

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CompleteProblem<Scalar, Index, detail::WorkSpace<ExecutionSpace, MemorySpace>>
make_complete_problem(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> X,
                      CompleteOptions const& options) {
  using Problem = CompleteProblem<Scalar, Index, detail::WorkSpace<ExecutionSpace, MemorySpace>>;
  if constexpr (detail::check_maker<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::make_problem<Problem>(exec, hand_over(X), options);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CompleteProblem<Scalar, Index, MemorySpace> make_complete_problem(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> X, CompleteOptions const& options,
    CompleteState<Scalar, MemorySpace>* start) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::make_problem<CompleteProblem<Scalar, Index, MemorySpace>>(
        processes, exec, hand_over(X), options, start);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CompleteState<Scalar, MemorySpace> complete_start(ExecutionSpace const& exec,
                                                  CooTensor<Scalar, Index, MemorySpace> const& X,
                                                  CompleteOptions const& options) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::first_start<CompleteProblem<Scalar, Index, MemorySpace>>(exec, X, options);
}

template <class ExecutionSpace, class Scalar, class StartSpace>
CompleteState<Scalar, typename ExecutionSpace::memory_space> complete_start(
    ExecutionSpace const& exec, Dims const& dims, CompleteOptions const& options,
    KruskalTensor<Scalar, StartSpace> const& start) {
  using Problem = CompleteProblem<Scalar, std::uint32_t, typename ExecutionSpace::memory_space>;
  if constexpr (detail::check_held<ExecutionSpace, Scalar, std::uint32_t, StartSpace>())
    return detail::start_of_model<Problem>(exec, dims, options, start);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class StartSpace>
CompleteState<Scalar, MemorySpace> complete_start(
    ExecutionSpace const& exec, CompleteProblem<Scalar, Index, MemorySpace> const& problem,
    CompleteOptions const& options, KruskalTensor<Scalar, StartSpace> const& start) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>() &&
                detail::check_held<ExecutionSpace, Scalar, Index, StartSpace>())
    return detail::start_of_model(exec, problem, options, start);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CompleteResult<Scalar, MemorySpace> complete(ExecutionSpace const& exec,
                                             CompleteProblem<Scalar, Index, MemorySpace>& problem,
                                             CompleteOptions const& options,
                                             CompleteState<Scalar, MemorySpace>& state,
                                             Observer const& observer) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::run_from(exec, problem, options, state, observer);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CompleteResult<Scalar, MemorySpace> complete(ExecutionSpace const& exec,
                                             CooTensor<Scalar, Index, MemorySpace> X,
                                             CompleteOptions const& options,
                                             Observer const& observer) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::decompose<CompleteProblem<Scalar, Index, MemorySpace>>(exec, hand_over(X),
                                                                          options, observer);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CompleteResult<Scalar, MemorySpace> complete(Communicator const& processes,
                                             ExecutionSpace const& exec,
                                             CooTensor<Scalar, Index, MemorySpace> X,
                                             CompleteOptions const& options,
                                             Observer const& observer) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::decompose<CompleteProblem<Scalar, Index, MemorySpace>>(
        processes, exec, hand_over(X), options, observer);
}

}  // namespace sporades
