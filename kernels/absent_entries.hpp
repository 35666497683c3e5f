// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/names.hpp>

namespace sporades {

/// What the cells of a tensor are that no entry is given for.
enum class AbsentEntries {
  /// Zeros: each cell counts.
  zero,
  /// Unknown: only the entries that are given count.
  missing
};

namespace detail {
template <>
struct Names<AbsentEntries> {
  static constexpr char const* kind = "kind of absent entries";
  static constexpr char const* list[] = {"zero", "missing"};
};
}  // namespace detail

}  // namespace sporades
