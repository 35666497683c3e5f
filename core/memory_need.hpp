// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace sporades {

/// Bytes that a plan or a decomposition will take, counted before anything is allocated: never
/// fewer than it then holds in Views, and at most 1.3 times as many, but for what comments name.
/// Counts may be far past 2^64.
struct MemoryNeed {
  double kept = 0;  // where it computes, once it is built; what it shares with a tensor that its
                    // maker keeps is not counted
  double peak =
      0;  // there, at most at one time: while it is built, and in use; the tensor included
  double host = 0;  // on the host, in addition, at most: what is streamed to a GPU, and small
                    // vectors and mirrors
};

}  // namespace sporades
