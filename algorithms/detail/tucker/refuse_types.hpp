// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/refuse_types.hpp>
#include <sporades/algorithms/tucker.hpp>

namespace sporades {

template <class ExecutionSpace>
TuckerProblem<double, std::uint32_t, typename ExecutionSpace::memory_space> make_tucker_problem(
    ExecutionSpace const&, detail::NotCoo, TuckerOptions const&) {
  return {};
}

template <class ExecutionSpace>
TuckerState<double, typename ExecutionSpace::memory_space> tucker_start(ExecutionSpace const&,
                                                                        detail::NotCoo,
                                                                        TuckerOptions const&) {
  return {};
}

template <class ExecutionSpace>
TuckerResult<double, typename ExecutionSpace::memory_space> tucker(ExecutionSpace const&,
                                                                   detail::NotCoo,
                                                                   TuckerOptions const&,
                                                                   Observer const& = {}) {
  return {};
}

template <class ExecutionSpace, class Problem, class State,
          class = std::enable_if_t<!std::is_convertible_v<State, Observer>>>
TuckerResult<double, typename ExecutionSpace::memory_space> tucker(ExecutionSpace const&, Problem&,
                                                                   TuckerOptions const&, State&&,
                                                                   Observer const& = {}) {
  detail::refuse_problem<Problem, State,
                         detail::is_instance<std::remove_const_t<Problem>, TuckerProblem>,
                         detail::is_instance<std::decay_t<State>, TuckerState>>();
  return {};
}

template <class ExecutionSpace, class Problem, class State, class Given,
          class = std::enable_if_t<!std::is_convertible_v<Given, Observer>>>
TuckerResult<double, typename ExecutionSpace::memory_space> tucker(ExecutionSpace const&, Problem&,
                                                                   TuckerOptions const&, State&,
                                                                   Given const&) {
  detail::refuse_observer<Given>();
  return {};
}

}  // namespace sporades
