// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/check_types.hpp>
#include <sporades/formats/coo_tensor.hpp>
#include <variant>

/// How functions that take tensors of certain types refuse others. See check_types.hpp.

namespace sporades {
namespace detail {

template <class T>
inline constexpr bool is_variant = false;
template <class... Types>
inline constexpr bool is_variant<std::variant<Types...>> = true;

/// The sentence for what read_tensor<double> gives, where a tensor was expected.
template <class Given>
constexpr void refuse_variant() {
  static_assert(
      !is_variant<Given>,
      "the tensor is a std::variant, as read_tensor<double> gives it: read_tensor<double, "
      "std::uint32_t> gives a CooTensor, and std::visit takes the one out that it holds");
}

struct NotCoo {
  template <class Given>
  NotCoo(Given const&) {
    refuse_variant<Given>();
    static_assert(is_variant<Given>,
                  "the tensor must be a CooTensor: make_coo makes one of Views, to_coo of another "
                  "format, and what read_tensor gives holds one");
  }
};

struct NotConvertible {
  template <class Given>
  NotConvertible(Given const&) {
    static_assert(never<Given>,
                  "to_coo takes a tensor of another format than CooTensor, an MttkrpPlan, or a "
                  "TtmChainPlan and a mode");
  }
};

struct NotCopied {
  template <class Given>
  NotCopied(Given const&) {
    refuse_variant<Given>();
    static_assert(!Kokkos::is_view<Given>::value,
                  "copy_to takes a CooTensor, a ScooTensor or a model: make_factor copies a matrix "
                  "to the memory space of exec, copy_factor to any View");
    static_assert(is_variant<Given> || Kokkos::is_view<Given>::value,
                  "copy_to takes a CooTensor, a ScooTensor, a KruskalTensor or a TuckerTensor");
  }
};

/// What such an overload gives: the type that most callers expect.
template <class ExecutionSpace>
using SomeCoo = CooTensor<double, std::uint32_t, typename ExecutionSpace::memory_space>;

}  // namespace detail

template <class ExecutionSpace>
void check_coordinates(ExecutionSpace const&, detail::NotCoo, char const*) {}

template <class ExecutionSpace>
detail::SomeCoo<ExecutionSpace> to_coo(ExecutionSpace const&, detail::NotConvertible) {
  return {};
}

template <class ExecutionSpace>
detail::SomeCoo<ExecutionSpace> copy_to(ExecutionSpace const&, detail::NotCopied) {
  return {};
}

}  // namespace sporades
