// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace sporades {

/// How a mode's factor is improved: `mu`, multiplicative updates of the whole factor; or, row by
/// row, `pdnr`, projected damped Newton steps with second derivatives, or `pqnr`, projected
/// quasi-Newton steps with limited-memory BFGS.
enum class CpAprMethod { mu, pdnr, pqnr };

inline char const* to_string(CpAprMethod method) {
  constexpr char const* names[] = {"mu", "pdnr", "pqnr"};
  return names[static_cast<int>(method)];
}

}  // namespace sporades
