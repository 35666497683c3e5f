// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/cp_apr.hpp>

/// The public functions of cp_apr.hpp.

namespace sporades {

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprProblem<Scalar, Index, detail::WorkSpace<ExecutionSpace, MemorySpace>> make_cp_apr_problem(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> X,
    CpAprOptions const& options) {
  using Problem = CpAprProblem<Scalar, Index, detail::WorkSpace<ExecutionSpace, MemorySpace>>;
  if constexpr (detail::check_maker<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::make_problem<Problem>(exec, hand_over(X), options);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprProblem<Scalar, Index, MemorySpace> make_cp_apr_problem(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> X, CpAprOptions const& options) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::make_problem<CpAprProblem<Scalar, Index, MemorySpace>>(
        processes, exec, hand_over(X), options, nullptr);
}

template <class Scalar, class ExecutionSpace>
CpAprState<Scalar, typename ExecutionSpace::memory_space> cp_apr_start(
    ExecutionSpace const& exec, Dims const& dims, CpAprOptions const& options) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  if constexpr (detail::check_call<ExecutionSpace, Scalar, std::uint32_t, MemorySpace>())
    return detail::random_apr_start<Scalar>(exec, dims, {}, options);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprState<Scalar, MemorySpace> cp_apr_start(
    ExecutionSpace const& exec, CpAprProblem<Scalar, Index, MemorySpace> const& problem,
    CpAprOptions const& options) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::random_apr_start(exec, problem, options);
}

template <class ExecutionSpace, class Scalar, class StartSpace>
CpAprState<Scalar, typename ExecutionSpace::memory_space> cp_apr_start(
    ExecutionSpace const& exec, Dims const& dims, CpAprOptions const& options,
    KruskalTensor<Scalar, StartSpace> const& start) {
  using Problem = CpAprProblem<Scalar, std::uint32_t, typename ExecutionSpace::memory_space>;
  if constexpr (detail::check_held<ExecutionSpace, Scalar, std::uint32_t, StartSpace>())
    return detail::start_of_model<Problem>(exec, dims, options, start);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class StartSpace>
CpAprState<Scalar, MemorySpace> cp_apr_start(
    ExecutionSpace const& exec, CpAprProblem<Scalar, Index, MemorySpace> const& problem,
    CpAprOptions const& options, KruskalTensor<Scalar, StartSpace> const& start) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>() &&
                detail::check_held<ExecutionSpace, Scalar, Index, StartSpace>())
    return detail::start_of_model(exec, problem, options, start);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprResult<Scalar, MemorySpace> cp_apr(ExecutionSpace const& exec,
                                        CpAprProblem<Scalar, Index, MemorySpace>& problem,
                                        CpAprOptions const& options,
                                        CpAprState<Scalar, MemorySpace>& state,
                                        Observer const& observer) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::run_from(exec, problem, options, state, observer);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprResult<Scalar, MemorySpace> cp_apr(ExecutionSpace const& exec,
                                        CooTensor<Scalar, Index, MemorySpace> X,
                                        CpAprOptions const& options, Observer const& observer) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::decompose<CpAprProblem<Scalar, Index, MemorySpace>>(exec, hand_over(X), options,
                                                                       observer);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprResult<Scalar, MemorySpace> cp_apr(Communicator const& processes, ExecutionSpace const& exec,
                                        CooTensor<Scalar, Index, MemorySpace> X,
                                        CpAprOptions const& options, Observer const& observer) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::decompose<CpAprProblem<Scalar, Index, MemorySpace>>(
        processes, exec, hand_over(X), options, observer);
}

}  // namespace sporades
