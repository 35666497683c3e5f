// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace sporades {

/// How much memory a plan's nonzeros may take, and how those that take more are streamed. They stay
/// in far memory then: page-locked memory of the host for a GPU; for a host files in the folder
/// that the environment variable TMPDIR names, else in /tmp. A plan on a host is made part by part,
/// so that sorting takes no more than `memory`, either. Every call of a kernel copies the nonzeros
/// to near memory window by window, while it works on the windows before. Bits are the same as
/// without streaming. A call that streams fences.
/// Yang, Li & Li, ACM Trans. Knowl. Discov. Data 13(6), 2019, Section 6.2.
struct Streaming {
  std::uint64_t memory = 0;  // bytes that the nonzeros may take; 0: as many as they need
  int streams = 3;           // windows in flight at once
  std::uint64_t window = 0;  // bytes of a window; 0: 4 to 32 MiB, an eighth of what is streamed
  bool always = false;       // stream nonzeros that would fit, too
};

}  // namespace sporades
