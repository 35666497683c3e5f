// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace sporades {

/// How a mode's factor is improved: `mu`, multiplicative updates of the whole factor; or, row by
/// row, `pdnr`, projected damped Newton steps with second derivatives, or `pqnr`, projected
/// quasi-Newton steps with limited-memory BFGS. The default is pqnr: after equal processor time on
/// eight tensors of real counts and three made like others, at ranks 10 and 16, its log-likelihood
/// was the highest or within 0.3 % of it, that of pdnr within 0.5 %, that of mu up to 4.7 % below;
/// see perf/README.md. Method mu keeps one order of the nonzeros with strategy alto; else all keep
/// one a mode.
enum class CpAprMethod { mu, pdnr, pqnr };

inline char const* to_string(CpAprMethod method) {
  constexpr char const* names[] = {"mu", "pdnr", "pqnr"};
  return names[static_cast<int>(method)];
}

}  // namespace sporades
