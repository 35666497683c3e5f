// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/complete.hpp>
#include <sporades/algorithms/detail/refuse_types.hpp>

namespace sporades {

template <class ExecutionSpace>
CompleteProblem<double, std::uint32_t, typename ExecutionSpace::memory_space> make_complete_problem(
    ExecutionSpace const&, detail::NotCoo, CompleteOptions const&) {
  return {};
}

template <class ExecutionSpace>
CompleteState<double, typename ExecutionSpace::memory_space> complete_start(
    ExecutionSpace const&, detail::NotCoo, CompleteOptions const&) {
  return {};
}

template <class ExecutionSpace>
CompleteResult<double, typename ExecutionSpace::memory_space> complete(ExecutionSpace const&,
                                                                       detail::NotCoo,
                                                                       CompleteOptions const&,
                                                                       Observer const& = {}) {
  return {};
}

template <class ExecutionSpace, class Problem, class State,
          class = std::enable_if_t<!std::is_convertible_v<State, Observer>>>
CompleteResult<double, typename ExecutionSpace::memory_space> complete(
    ExecutionSpace const&, Problem&, CompleteOptions const&, State&&, Observer const& = {}) {
  detail::refuse_problem<Problem, State,
                         detail::is_instance<std::remove_const_t<Problem>, CompleteProblem>,
                         detail::is_instance<std::decay_t<State>, CompleteState>>();
  return {};
}

template <class ExecutionSpace, class Problem, class State, class Given,
          class = std::enable_if_t<!std::is_convertible_v<Given, Observer>>>
CompleteResult<double, typename ExecutionSpace::memory_space> complete(ExecutionSpace const&,
                                                                       Problem&,
                                                                       CompleteOptions const&,
                                                                       State&, Given const&) {
  detail::refuse_observer<Given>();
  return {};
}

}  // namespace sporades
