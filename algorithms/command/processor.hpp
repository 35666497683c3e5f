// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Which processors the command was compiled for. processor_check.cpp ends it with a sentence, not
/// with an illegal instruction, on those that lack what it needs.

#include <string>

namespace sporades::command {

/// Names of the instruction sets beyond those of every x86-64 processor that the compiler was
/// allowed to use, as __builtin_cpu_supports has them; the last one is null.
extern char const* const needed_instructions[];

/// The compiler's flags that allow them, as "-march=native"; "" for none.
extern char const processor_flags[];

/// "sporades 0.1.0", and on a second line what processors it is for, if it is not for all.
std::string version_text();

}  // namespace sporades::command
