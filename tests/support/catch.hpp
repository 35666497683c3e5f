// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Catch2 2.13 and 3 under the names of 3, except Approx.

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;  // the name in Catch2 2
#else
#include <catch2/catch.hpp>
namespace Catch {
using Detail::Approx;
}  // namespace Catch
namespace Catch::Matchers {
inline auto ContainsSubstring(std::string const& text) {
  return Contains(text);
}
}  // namespace Catch::Matchers
#endif
