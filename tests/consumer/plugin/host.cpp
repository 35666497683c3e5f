// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <dlfcn.h>

#include <cstdio>

/// host PLUGIN TENSOR: loads the plug-in and prints the fit that it computes.
int main(int argc, char** argv) {
  void* const plugin = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  void* const function = plugin == nullptr ? nullptr : dlsym(plugin, "fit_of");
  if (function == nullptr) {
    std::fprintf(stderr, "%s\n", argc == 3 ? dlerror() : "host PLUGIN TENSOR");
    return 1;
  }
  std::printf("fit %.6f\n", reinterpret_cast<double (*)(char const*)>(function)(argv[2]));
  return 0;
}
