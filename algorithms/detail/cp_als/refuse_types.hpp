// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/detail/refuse_types.hpp>

namespace sporades {

template <class ExecutionSpace>
CpAlsProblem<double, std::uint32_t, typename ExecutionSpace::memory_space> make_cp_als_problem(
    ExecutionSpace const&, detail::NotCoo, CpAlsOptions const&) {
  return {};
}

template <class ExecutionSpace>
CpAlsState<double, typename ExecutionSpace::memory_space> cp_als_start(ExecutionSpace const&,
                                                                       detail::NotCoo,
                                                                       CpAlsOptions const&) {
  return {};
}

template <class ExecutionSpace>
CpAlsResult<double, typename ExecutionSpace::memory_space> cp_als(ExecutionSpace const&,
                                                                  detail::NotCoo,
                                                                  CpAlsOptions const&,
                                                                  Observer const& = {}) {
  return {};
}

template <class ExecutionSpace, class Problem, class State,
          class = std::enable_if_t<!std::is_convertible_v<State, Observer>>>
CpAlsResult<double, typename ExecutionSpace::memory_space> cp_als(ExecutionSpace const&, Problem&,
                                                                  CpAlsOptions const&, State&&,
                                                                  Observer const& = {}) {
  detail::refuse_problem<Problem, State,
                         detail::is_instance<std::remove_const_t<Problem>, CpAlsProblem>,
                         detail::is_instance<std::decay_t<State>, CpAlsState>>();
  return {};
}

template <class ExecutionSpace, class Problem, class State, class Given,
          class = std::enable_if_t<!std::is_convertible_v<Given, Observer>>>
CpAlsResult<double, typename ExecutionSpace::memory_space> cp_als(ExecutionSpace const&, Problem&,
                                                                  CpAlsOptions const&, State&,
                                                                  Given const&) {
  detail::refuse_observer<Given>();
  return {};
}

}  // namespace sporades
