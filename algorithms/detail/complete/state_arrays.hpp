// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/complete.hpp>

namespace sporades::detail {

template <class Scalar, class MemorySpace>
struct StateArrays<CompleteState<Scalar, MemorySpace>> {
  static constexpr char const* name = "complete";

  template <class State, class Arrays>
  static void visit(State& state, Arrays& arrays) {
    arrays.matrices("factor", state.factors);
    arrays.any_numbers("errors", state.errors);
    arrays.any_numbers("held-errors", state.held_errors);
    arrays.numbers("seconds", state.seconds, state.errors.size());
    arrays.number("kept-iteration", state.kept_iteration);
    if (state.kept_iteration > 0) arrays.matrices("kept-factor", state.kept_factors);
  }
};

}  // namespace sporades::detail
