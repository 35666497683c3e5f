// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/command/processor.hpp>
#include <sporades/version.hpp>

namespace sporades::command {

char const processor_flags[] = SPORADES_PROCESSOR_FLAGS;

char const* const needed_instructions[] = {
#if defined(__SSE3__)
    "sse3",
#endif
#if defined(__SSSE3__)
    "ssse3",
#endif
#if defined(__SSE4_1__)
    "sse4.1",
#endif
#if defined(__SSE4_2__)
    "sse4.2",
#endif
#if defined(__POPCNT__)
    "popcnt",
#endif
#if defined(__AVX__)
    "avx",
#endif
#if defined(__FMA__)
    "fma",
#endif
#if defined(__FMA4__)
    "fma4",
#endif
#if defined(__AVX2__)
    "avx2",
#endif
#if defined(__BMI__)
    "bmi",
#endif
#if defined(__BMI2__)
    "bmi2",
#endif
#if defined(__AVX512F__)
    "avx512f",
#endif
#if defined(__AVX512CD__)
    "avx512cd",
#endif
#if defined(__AVX512BW__)
    "avx512bw",
#endif
#if defined(__AVX512DQ__)
    "avx512dq",
#endif
#if defined(__AVX512VL__)
    "avx512vl",
#endif
#if defined(__AVX512IFMA__)
    "avx512ifma",
#endif
#if defined(__AVX512VBMI__)
    "avx512vbmi",
#endif
#if defined(__AVX512VBMI2__)
    "avx512vbmi2",
#endif
#if defined(__AVX512VNNI__)
    "avx512vnni",
#endif
#if defined(__AVX512BITALG__)
    "avx512bitalg",
#endif
#if defined(__AVX512VPOPCNTDQ__)
    "avx512vpopcntdq",
#endif
    nullptr};

std::string version_text() {
  std::string const flags = processor_flags;
  std::string list;
  for (auto name = needed_instructions; *name != nullptr; ++name)
    list += std::string(list.empty() ? "" : ", ") + *name;
  std::string const program = std::string("sporades ") + version;
  if (flags.empty() && list.empty()) return program;
  return program + "\ncompiled " + (flags.empty() ? "" : "with " + flags + " ") +
         "for processors that have " + (list.empty() ? "the instructions of that one" : list);
}

}  // namespace sporades::command
