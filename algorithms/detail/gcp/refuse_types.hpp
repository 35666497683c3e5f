// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/refuse_types.hpp>
#include <sporades/algorithms/gcp.hpp>

namespace sporades {

template <class ExecutionSpace, class Loss>
GcpProblem<double, std::uint32_t, typename ExecutionSpace::memory_space> make_gcp_problem(
    ExecutionSpace const&, detail::NotCoo, GcpOptionsOf<Loss> const&) {
  return {};
}

template <class ExecutionSpace, class Loss>
GcpState<double, typename ExecutionSpace::memory_space> gcp_start(ExecutionSpace const&,
                                                                  detail::NotCoo,
                                                                  GcpOptionsOf<Loss> const&) {
  return {};
}

template <class ExecutionSpace, class Loss>
GcpResult<double, typename ExecutionSpace::memory_space> gcp(ExecutionSpace const&, detail::NotCoo,
                                                             GcpOptionsOf<Loss> const&,
                                                             Observer const& = {}) {
  return {};
}

template <class ExecutionSpace, class Problem, class Loss, class State,
          class = std::enable_if_t<!std::is_convertible_v<State, Observer>>>
GcpResult<double, typename ExecutionSpace::memory_space> gcp(ExecutionSpace const&, Problem&,
                                                             GcpOptionsOf<Loss> const&, State&&,
                                                             Observer const& = {}) {
  detail::refuse_problem<Problem, State,
                         detail::is_instance<std::remove_const_t<Problem>, GcpProblem>,
                         detail::is_instance<std::decay_t<State>, GcpState>>();
  return {};
}

template <class ExecutionSpace, class Problem, class Loss, class State, class Given,
          class = std::enable_if_t<!std::is_convertible_v<Given, Observer>>>
GcpResult<double, typename ExecutionSpace::memory_space> gcp(ExecutionSpace const&, Problem&,
                                                             GcpOptionsOf<Loss> const&, State&,
                                                             Given const&) {
  detail::refuse_observer<Given>();
  return {};
}

}  // namespace sporades
