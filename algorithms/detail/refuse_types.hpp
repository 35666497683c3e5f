// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/detail/refuse_types.hpp>

/// How the methods refuse problems and states of other types: as functions of formats do. See
/// formats/detail/refuse_types.hpp.

namespace sporades::detail {

/// The sentence for what is no observer.
template <class Given>
constexpr void refuse_observer() {
  static_assert(never<Given>,
                "the last argument is an observer: a function that takes an IterationInfo and "
                "returns a bool, true to go on");
}

/// The sentence for an observer of another type, a state that does not fit the problem, or a
/// problem of another method. State: a reference where the argument was a variable.
template <class Problem, class State, bool is_problem, bool is_state>
constexpr void refuse_problem() {
  if constexpr (is_instance<std::remove_const_t<Problem>, CooTensor>)
    refuse_observer<std::decay_t<State>>();
  else if constexpr (std::is_const_v<Problem>)
    static_assert(never<Problem>, "the problem must not be const: its buffers are written");
  else if constexpr (!is_problem)
    static_assert(
        never<Problem>,
        "the second argument must be a CooTensor, or the problem that make_cp_als_problem, "
        "make_cp_apr_problem, make_gcp_problem, make_tucker_problem or make_complete_problem made "
        "for this method");
  else if constexpr (!is_state)
    static_assert(never<State>,
                  "the state must be one of this method: CpAlsState, CpAprState, GcpState, "
                  "TuckerState or CompleteState");
  else if constexpr (!std::is_lvalue_reference_v<State> ||
                     std::is_const_v<std::remove_reference_t<State>>)
    static_assert(never<State>, "the state must be a variable that is not const: it is written");
  else
    static_assert(never<State>,
                  "the problem and the state must have the same scalar type and memory space");
}

}  // namespace sporades::detail
