// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Included by formats/coo_tensor.hpp.

#include <sporades/core/detail/check_types.hpp>
#include <sporades/formats/coo_tensor.hpp>
#include <variant>

/// How functions that take tensors of certain types refuse others: each has an overload for any
/// type, which is chosen where nothing else fits, and says in one sentence what was expected.

namespace sporades {
namespace detail {

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
        "the tensor is a std::variant, as read_tensor<double> gives it: read_tensor<double, "
        "std::uint32_t> gives a CooTensor, and std::visit takes the one out that it holds");
  else
    static_assert(never<Tensor>,
                  "the tensor must be a CooTensor: make_coo makes one of Views, to_coo of another "
                  "format, and what read_tensor gives holds one");
}

}  // namespace detail

template <class ExecutionSpace, class Tensor, class = detail::NoCooTensor<Tensor>>
void check_coordinates(ExecutionSpace const&, Tensor const&, char const*) {
  detail::refuse_tensor<Tensor>();
}

template <class ExecutionSpace, class Tensor>
CooTensor<double, std::uint32_t, typename ExecutionSpace::memory_space> to_coo(
    ExecutionSpace const&, Tensor const&) {
  static_assert(detail::never<Tensor>,
                "to_coo takes a tensor of another format than CooTensor, an MttkrpPlan, or a "
                "TtmChainPlan and a mode");
  return {};
}

template <class ExecutionSpace, class Given>
Given copy_to(ExecutionSpace const&, Given const& given) {
  if constexpr (Kokkos::is_view<Given>::value)
    static_assert(detail::never<Given>,
                  "copy_to takes a CooTensor, a ScooTensor or a model: make_factor copies a matrix "
                  "to the memory space of exec, copy_factor to any View");
  else if constexpr (detail::is_variant<Given>)
    detail::refuse_tensor<Given>();
  else
    static_assert(detail::never<Given>,
                  "copy_to takes a CooTensor, a ScooTensor, a KruskalTensor or a TuckerTensor");
  return given;
}

}  // namespace sporades
