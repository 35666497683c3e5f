// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Starting and stopping Kokkos, without Kokkos' headers.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sporades::command {

struct SplitArguments {
  std::vector<std::string> own;
  std::vector<std::string> kokkos;  // those that begin --kokkos-
};

/// argv without the program's name, parted. Throws Error for a Kokkos option that is unknown, or
/// a number of threads that is none.
SplitArguments split_arguments(int argc, char** argv);

/// Kokkos' option for so many threads of the host. Throws Error for more than it can have.
std::string threads_option(int threads);

/// Kokkos is initialised while this lives. Throws Error where it does not take the options.
class KokkosScope {
 public:
  KokkosScope(char* program, std::vector<std::string> options);
  ~KokkosScope();
  KokkosScope(KokkosScope const&) = delete;
  KokkosScope& operator=(KokkosScope const&) = delete;

 private:
  struct Guard;
  std::unique_ptr<Guard> guard_;
};

/// Most bytes of Views outside the host's memory so far; 0 on host backends, and while a Kokkos
/// tool is loaded, which has these events to itself.
std::uint64_t peak_device_bytes();

/// Bytes of the GPU's memory; 0 on host backends.
std::uint64_t device_memory_bytes();

}  // namespace sporades::command
