// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// A program that was compiled for another processor, one with AMD's FMA4, which none has had since
/// 2017. Its main must not be reached.

#include <cstdio>
#include <sporades/algorithms/command/processor.hpp>

namespace sporades::command {
char const processor_flags[] = "-march=bdver4";
char const* const needed_instructions[] = {"sse3", "fma4", nullptr};
}  // namespace sporades::command

namespace {

struct Early {
  Early() { std::puts("a constructor was reached"); }
} const early;

}  // namespace

int main() {
  std::puts("main was reached");
}
