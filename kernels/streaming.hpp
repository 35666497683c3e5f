// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace sporades {

/// How much memory a plan's nonzeros may take, and how those that take more are streamed. They stay
/// in out-of-core memory then: page-locked memory of the host for a GPU; for a host files in the
/// folder that the environment variable TMPDIR names, else in /tmp. Every call of a kernel copies
/// the nonzeros to resident memory window by window, while it works on the windows before. Bits are
/// those of the same strategy without streaming. A call that streams fences. Plans throw Error
/// where `streams` is out of range. Yang, Li & Li, ACM Trans. Knowl. Discov. Data 13(6), 2019,
/// Section 6.2.
/// - Windows take at most `memory` together, unless one chunk of nonzeros takes more.
/// - A plan on a host is made part by part, so that sorting takes no more than `memory`, either;
///   those of SpTTM, SspTTM, chains `semi_sparse` and the pipelines of SpTV are sorted whole.
/// - Plans of MTTKRP and Phi on a GPU stream only the sorted copies that do not fit `memory` beside
///   windows, unless `always` is set or, for an X on the host, `memory` is 0.
struct Streaming {
  std::uint64_t memory = 0;  // bytes that all copies of the nonzeros may take; 0: what they need
  int streams = 3;           // windows in flight at once, 1 to 64; with 1 nothing overlaps
  std::uint64_t window = 0;  // bytes of a window; 0: an eighth of what is streamed, but at least 4
                             // and at most 32 MiB
  bool always = false;       // stream nonzeros that would fit, too
};

}  // namespace sporades
