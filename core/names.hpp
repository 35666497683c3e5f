// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <iterator>
#include <sporades/core/error.hpp>
#include <string>
#include <vector>

namespace sporades {
namespace detail {

/// The names of an enumeration's values, specialised beside each enumeration that has names:
///   template <>
///   struct Names<Colour> {
///     static constexpr char const* kind = "colour";
///     static constexpr char const* list[] = {"red", "green"};  // in the order of the values
///   };
template <class Enum>
struct Names;

}  // namespace detail

/// The name of an enumeration's value, as options of the command spell it.
template <class Enum, class = decltype(detail::Names<Enum>::kind)>
char const* to_string(Enum value) {
  auto const number = static_cast<std::size_t>(value);
  return number < std::size(detail::Names<Enum>::list) ? detail::Names<Enum>::list[number] : "?";
}

/// All names of an enumeration, in the order of its values: names_of<MttkrpStrategy>().
template <class Enum>
std::vector<std::string> names_of() {
  using Names = detail::Names<Enum>;
  return {std::begin(Names::list), std::end(Names::list)};
}

/// The value of that name: from_name<MttkrpStrategy>("csf"). Throws Error where there is none.
template <class Enum>
Enum from_name(std::string const& name) {
  std::string known;
  auto const names = names_of<Enum>();
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (name == names[k]) return static_cast<Enum>(k);
    known += (k > 0 ? ", " : "") + names[k];
  }
  fail("there is no ", detail::Names<Enum>::kind, " ", name, "; there are ", known);
}

}  // namespace sporades
