// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/cp_als.hpp>

/// The public functions of cp_als.hpp.

namespace sporades {

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAlsProblem<Scalar, Index, detail::WorkSpace<ExecutionSpace, MemorySpace>> make_cp_als_problem(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> X,
    CpAlsOptions const& options) {
  using Problem = CpAlsProblem<Scalar, Index, detail::WorkSpace<ExecutionSpace, MemorySpace>>;
  if constexpr (detail::check_maker<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::make_problem<Problem>(exec, hand_over(X), options);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAlsProblem<Scalar, Index, MemorySpace> make_cp_als_problem(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> X, CpAlsOptions const& options,
    CpAlsState<Scalar, MemorySpace>* start) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::make_problem<CpAlsProblem<Scalar, Index, MemorySpace>>(
        processes, exec, hand_over(X), options, start);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAlsState<Scalar, MemorySpace> cp_als_start(ExecutionSpace const& exec,
                                             CooTensor<Scalar, Index, MemorySpace> const& X,
                                             CpAlsOptions const& options) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::first_start<CpAlsProblem<Scalar, Index, MemorySpace>>(exec, X, options);
}

template <class ExecutionSpace, class Scalar, class StartSpace>
CpAlsState<Scalar, typename ExecutionSpace::memory_space> cp_als_start(
    ExecutionSpace const& exec, Dims const& dims, CpAlsOptions const& options,
    KruskalTensor<Scalar, StartSpace> const& start) {
  using Problem = CpAlsProblem<Scalar, std::uint32_t, typename ExecutionSpace::memory_space>;
  if constexpr (detail::check_held<ExecutionSpace, Scalar, std::uint32_t, StartSpace>())
    return detail::start_of_model<Problem>(exec, dims, options, start);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class StartSpace>
CpAlsState<Scalar, MemorySpace> cp_als_start(
    ExecutionSpace const& exec, CpAlsProblem<Scalar, Index, MemorySpace> const& problem,
    CpAlsOptions const& options, KruskalTensor<Scalar, StartSpace> const& start) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>() &&
                detail::check_held<ExecutionSpace, Scalar, Index, StartSpace>())
    return detail::start_of_model(exec, problem, options, start);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAlsResult<Scalar, MemorySpace> cp_als(ExecutionSpace const& exec,
                                        CpAlsProblem<Scalar, Index, MemorySpace>& problem,
                                        CpAlsOptions const& options,
                                        CpAlsState<Scalar, MemorySpace>& state,
                                        Observer const& observer) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::run_from(exec, problem, options, state, observer);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAlsResult<Scalar, MemorySpace> cp_als(ExecutionSpace const& exec,
                                        CooTensor<Scalar, Index, MemorySpace> X,
                                        CpAlsOptions const& options, Observer const& observer) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::decompose<CpAlsProblem<Scalar, Index, MemorySpace>>(exec, hand_over(X), options,
                                                                       observer);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAlsResult<Scalar, MemorySpace> cp_als(Communicator const& processes, ExecutionSpace const& exec,
                                        CooTensor<Scalar, Index, MemorySpace> X,
                                        CpAlsOptions const& options, Observer const& observer) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::decompose<CpAlsProblem<Scalar, Index, MemorySpace>>(
        processes, exec, hand_over(X), options, observer);
}

}  // namespace sporades
