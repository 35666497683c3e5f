// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/check_types.hpp>
#include <sporades/formats/coo_tensor.hpp>
#include <variant>

/// How the methods refuse arguments of other types. Each function of theirs has an overload for any
/// type, which is chosen where nothing else fits, and says in one sentence what was expected.

namespace sporades::detail {

template <class T>
inline constexpr bool is_variant = false;
template <class... Types>
inline constexpr bool is_variant<std::variant<Types...>> = true;

/// A type, where Tensor is no CooTensor.
template <class Tensor>
using NoCooTensor = std::enable_if_t<!is_instance<std::remove_const_t<Tensor>, CooTensor>>;

/// The sentence for a tensor that is no CooTensor.
template <class Tensor>
constexpr void refuse_tensor() {
  if constexpr (is_variant<Tensor>)
    static_assert(
        never<Tensor>,
        "the tensor is a std::variant, as read_tensor gives it: pass std::visit a function "
        "that takes the CooTensor in it");
  else
    static_assert(never<Tensor>,
                  "decompositions take a CooTensor: make_coo makes one of Views, to_coo of another "
                  "format");
}

/// The sentence for a state that does not fit the problem, or a problem of another method.
template <class Problem, class State, bool is_problem, bool is_state>
constexpr void refuse_problem() {
  if constexpr (std::is_const_v<Problem>)
    static_assert(never<Problem>, "the problem must not be const: its buffers are written");
  else if constexpr (!is_problem)
    static_assert(
        never<Problem>,
        "the second argument must be a CooTensor, or the problem that make_cp_als_problem, "
        "make_cp_apr_problem or make_tucker_problem made for this method");
  else if constexpr (!is_state)
    static_assert(never<State>,
                  "the state must be one of this method: CpAlsState, CpAprState or TuckerState");
  else
    static_assert(never<State>,
                  "the problem and the state must have the same scalar type and memory space");
}

}  // namespace sporades::detail
