// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

/// What is said, and done, where memory is short.

namespace sporades::detail {

/// bytes_text rounded down: so much is there. A need as enough_text and the room for it as this one
/// never look equal where the need is more.
std::string room_text(double bytes);

/// "needs 1.6 MB of memory, 1.5 MB may be taken", or with `more` = " at least" "needs 1.6 MB of
/// memory at least, ...".
std::string shortage_text(double needs, double may_take, char const* more = "");

/// Throws RunError where an array of so many bytes, called `label`, exceeds the memory that is
/// left.
void expect_room(std::string_view label, double bytes, double left);

/// From now on large arrays go back to the system when they are freed, where the C library can.
/// Otherwise it keeps up to 32 MB of them for reuse, in pieces, beside what a limit is compared
/// with; but arrays that come and go take longer.
void return_large_memory_at_once();

/// Calls LAPACK, for which it takes memory the first time. Throws RunError where that call would
/// never return: OpenBLAS maps 134 MB then, and asks for them for ever where the system gives no
/// more addresses.
void start_lapack();

}  // namespace sporades::detail
