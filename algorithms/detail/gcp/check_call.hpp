// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/calls.hpp>
#include <sporades/kernels/loss.hpp>

namespace sporades::detail {

/// check_call, and the library holds the calls of this loss, or they can be compiled here.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Loss>
constexpr bool check_gcp_call() {
  if constexpr (std::is_same_v<Loss, AnyLoss>) {
    return check_call<ExecutionSpace, Scalar, Index, MemorySpace>();
  } else {
    static_assert(
        is_loss<Loss>,
        "a loss is a trivially copyable type with the members value, derivative and those "
        "of LossDefaults (kernels/loss.hpp)");
    constexpr bool is_defined = is_complete<Definitions<ExecutionSpace, Scalar>>;
    static_assert(is_defined,
                  "gcp with a loss of your own: include <sporades/algorithms/definitions.hpp> "
                  "first, and link sporades::simd");
    if constexpr (is_loss<Loss> && is_defined)
      return check_call<ExecutionSpace, Scalar, Index, MemorySpace>();
    return false;
  }
}

}  // namespace sporades::detail
