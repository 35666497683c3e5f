// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/core/detail/initialized.hpp>
#include <sporades/core/detail/kokkos.hpp>
#include <sporades/core/error.hpp>

namespace sporades::detail {

void expect_initialized(std::string_view function) {
  constexpr std::string_view prefix = "sporades::";  // of labels
  if (function.substr(0, prefix.size()) == prefix) function.remove_prefix(prefix.size());
  expects(Kokkos::is_initialized(), function,
          ": Kokkos is not initialised, or finalised already; Kokkos::initialize or a "
          "Kokkos::ScopeGuard comes first, and what Sporades made is gone before Kokkos::finalize");
}

}  // namespace sporades::detail
