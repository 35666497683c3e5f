// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace {

void* plugin = nullptr;

template <class Result>
Result call(char const* name, char const* argument) {
  void* const function = plugin == nullptr ? nullptr : dlsym(plugin, name);
  if (function == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  return reinterpret_cast<Result (*)(char const*)>(function)(argument);
}

}  // namespace

/// host PLUGIN TENSOR: loads the plug-in and prints what it does before Kokkos is initialised, the
/// fit that it computes, and what it does after Kokkos was finalised.
int main(int argc, char** argv) {
  if (argc != 3) return 2;
  plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  std::printf("%s\n", call<bool>("refuses_to_read", argv[2]) ? "refused" : "read");
  std::printf("fit %.6f\n", call<double>("fit_of", argv[2]));
  std::printf("%s\n", call<bool>("refuses_to_read", argv[2]) ? "refused" : "read");
  return 0;
}
