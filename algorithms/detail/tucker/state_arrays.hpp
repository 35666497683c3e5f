// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/tucker.hpp>

namespace sporades::detail {

template <class Scalar, class MemorySpace>
struct StateArrays<TuckerState<Scalar, MemorySpace>> {
  static constexpr char const* name = "tucker";

  template <class State, class Arrays>
  static void visit(State& state, Arrays& arrays) {
    arrays.matrices("factor", state.factors);
    arrays.numbers("core", state.core, core_size(arrays.shape().ranks));
    arrays.any_numbers("fits", state.fits);
    arrays.numbers("seconds", state.seconds, state.fits.size());
  }
};

}  // namespace sporades::detail
