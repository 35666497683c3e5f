// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

namespace sporades::command {

/// "12.3 GB"
std::string bytes_text(std::uint64_t bytes);

/// Most memory that this process has had resident so far, in bytes.
std::uint64_t peak_resident_bytes();

/// While it lives, a thread looks every few milliseconds how much memory this process has that is
/// no file's: those that are mapped can be dropped.
class MemoryWatch {
 public:
  MemoryWatch();
  ~MemoryWatch();
  MemoryWatch(MemoryWatch const&) = delete;
  MemoryWatch& operator=(MemoryWatch const&) = delete;

  /// Bytes: the most that was seen.
  std::uint64_t most();

 private:
  void look();

  std::mutex mutex_;
  std::condition_variable ends_;
  bool has_ended_ = false;
  std::uint64_t most_ = 0;
  std::thread thread_;
};

/// "2.1 GB were in use of the 24.7 GB that this process may have"; of the GPU, where `error` says
/// that its memory ran out.
std::string memory_sentence(std::exception const& error);

/// Throws RunError if `bytes` for `what` are more than are left; advice: what would fit, "; rank 3
/// would fit".
void check_fits_memory(double bytes, double left, std::string const& what,
                       std::string const& advice = {});

/// Whether an exception says that memory ran out, as Kokkos or the standard library has it.
bool says_memory_ran_out(std::exception const& error);

}  // namespace sporades::command
