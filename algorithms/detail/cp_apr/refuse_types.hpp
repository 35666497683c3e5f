// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/cp_apr.hpp>
#include <sporades/algorithms/detail/refuse_types.hpp>

namespace sporades {

template <class ExecutionSpace>
CpAprProblem<double, std::uint32_t, typename ExecutionSpace::memory_space> make_cp_apr_problem(
    ExecutionSpace const&, detail::NotCoo, CpAprOptions const&) {
  return {};
}

template <class ExecutionSpace>
CpAprResult<double, typename ExecutionSpace::memory_space> cp_apr(ExecutionSpace const&,
                                                                  detail::NotCoo,
                                                                  CpAprOptions const&,
                                                                  Observer const& = {}) {
  return {};
}

template <class ExecutionSpace, class Problem, class State,
          class = std::enable_if_t<!std::is_convertible_v<State, Observer>>>
CpAprResult<double, typename ExecutionSpace::memory_space> cp_apr(ExecutionSpace const&, Problem&,
                                                                  CpAprOptions const&, State&&,
                                                                  Observer const& = {}) {
  detail::refuse_problem<Problem, State,
                         detail::is_instance<std::remove_const_t<Problem>, CpAprProblem>,
                         detail::is_instance<std::decay_t<State>, CpAprState>>();
  return {};
}

template <class ExecutionSpace, class Problem, class State, class Given,
          class = std::enable_if_t<!std::is_convertible_v<Given, Observer>>>
CpAprResult<double, typename ExecutionSpace::memory_space> cp_apr(ExecutionSpace const&, Problem&,
                                                                  CpAprOptions const&, State&,
                                                                  Given const&) {
  detail::refuse_observer<Given>();
  return {};
}

}  // namespace sporades
