// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>

namespace sporades::detail {

/// Throws Error, which begins with the function's name, unless Kokkos is initialised: its own
/// functions would crash, or end the program.
void expect_initialized(std::string_view function);

}  // namespace sporades::detail
