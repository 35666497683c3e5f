// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Ends the program with a sentence where the processor lacks instructions that it was compiled
/// with. CMake compiles this file for every x86-64 processor, and the dynamic linker calls it
/// before any other code of the program and its libraries, which might use such instructions.
/// Nothing of the C library is ready then but plain system calls.

#include <sporades/algorithms/command/processor.hpp>

#if defined(__x86_64__) && defined(__ELF__)
#include <unistd.h>

namespace sporades::command {
namespace {

bool equal(char const* a, char const* b) {
  for (; *a != '\0' && *a == *b; ++a) ++b;
  return *a == *b;
}

void say(char const* text) {
  int length = 0;
  while (text[length] != '\0') ++length;
  if (write(2, text, length) < 0) _exit(1);
}

struct Instructions {
  char const* name;
  int present;
};

void check_processor() {
  __builtin_cpu_init();
  Instructions const known[] = {
      {"sse3", __builtin_cpu_supports("sse3")},
      {"ssse3", __builtin_cpu_supports("ssse3")},
      {"sse4.1", __builtin_cpu_supports("sse4.1")},
      {"sse4.2", __builtin_cpu_supports("sse4.2")},
      {"popcnt", __builtin_cpu_supports("popcnt")},
      {"avx", __builtin_cpu_supports("avx")},
      {"fma", __builtin_cpu_supports("fma")},
      {"fma4", __builtin_cpu_supports("fma4")},
      {"avx2", __builtin_cpu_supports("avx2")},
      {"bmi", __builtin_cpu_supports("bmi")},
      {"bmi2", __builtin_cpu_supports("bmi2")},
      {"avx512f", __builtin_cpu_supports("avx512f")},
      {"avx512cd", __builtin_cpu_supports("avx512cd")},
      {"avx512bw", __builtin_cpu_supports("avx512bw")},
      {"avx512dq", __builtin_cpu_supports("avx512dq")},
      {"avx512vl", __builtin_cpu_supports("avx512vl")},
      {"avx512ifma", __builtin_cpu_supports("avx512ifma")},
      {"avx512vbmi", __builtin_cpu_supports("avx512vbmi")},
      {"avx512vbmi2", __builtin_cpu_supports("avx512vbmi2")},
      {"avx512vnni", __builtin_cpu_supports("avx512vnni")},
      {"avx512bitalg", __builtin_cpu_supports("avx512bitalg")},
      {"avx512vpopcntdq", __builtin_cpu_supports("avx512vpopcntdq")},
  };
  for (auto name = needed_instructions; *name != nullptr; ++name)
    for (auto const& one : known) {
      if (one.present != 0 || !equal(one.name, *name)) continue;
      say("sporades: error: this program was compiled with ");
      say(processor_flags);
      say(" for processors that have ");
      say(*name);
      say(", and this one has not: build it again for this processor\n");
      _exit(1);
    }
}

[[maybe_unused, gnu::section(".preinit_array"),
  gnu::used]] void (*const before_all)() = check_processor;

}  // namespace
}  // namespace sporades::command

#endif
