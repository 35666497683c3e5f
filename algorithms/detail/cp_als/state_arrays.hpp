// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/cp_als.hpp>

namespace sporades::detail {

template <class Scalar, class MemorySpace>
struct StateArrays<CpAlsState<Scalar, MemorySpace>> {
  static constexpr char const* name = "cp_als";

  template <class State, class Arrays>
  static void visit(State& state, Arrays& arrays) {
    auto const R = static_cast<std::size_t>(arrays.shape().ranks[0]);
    arrays.matrices("factor", state.factors);
    arrays.numbers("weights", state.weights, R);
    arrays.lists("gram", state.grams, R * R);
    arrays.any_numbers("fits", state.fits);
    arrays.numbers("seconds", state.seconds, state.fits.size());
    arrays.number("row-order", state.row_order);
    arrays.number("system-kinds", state.system_kinds);
    arrays.number("kept-iteration", state.kept_iteration);
    if (state.kept_iteration == 0) return;
    arrays.matrices("kept-factor", state.kept_factors);
    arrays.numbers("kept-weights", state.kept_weights, R);
  }
};

}  // namespace sporades::detail
