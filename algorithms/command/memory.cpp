// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <new>
#include <sporades/algorithms/command/memory.hpp>
#include <sporades/algorithms/command/runtime.hpp>
#include <sporades/core/detail/memory.hpp>
#include <sporades/core/detail/shortage.hpp>
#include <sporades/core/error.hpp>

namespace sporades::command {

std::string bytes_text(std::uint64_t bytes) {
  return sporades::detail::bytes_text(static_cast<double>(bytes));
}

std::uint64_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;  // Linux counts in KiB
}

MemoryWatch::MemoryWatch()
    : thread_([this] {
        std::unique_lock lock(mutex_);
        while (!has_ended_) {
          look();
          ends_.wait_for(lock, std::chrono::milliseconds(5));
        }
      }) {}

MemoryWatch::~MemoryWatch() {
  {
    std::lock_guard const lock(mutex_);
    has_ended_ = true;
  }
  ends_.notify_one();
  thread_.join();
}

std::uint64_t MemoryWatch::most() {
  std::lock_guard const lock(mutex_);
  look();
  return most_;
}

void MemoryWatch::look() {
  std::uint64_t all = 0, resident = 0, of_files = 0;  // pages
  std::ifstream("/proc/self/statm") >> all >> resident >> of_files;
  auto const page = static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  most_ = std::max(most_, (resident - std::min(resident, of_files)) * page);
}

std::string memory_sentence(std::exception const& error) {
  std::string const text = error.what();
  using Memory = Kokkos::DefaultExecutionSpace::memory_space;
  if (sporades::detail::is_gpu<Kokkos::DefaultExecutionSpace> &&
      text.find(Memory::name() + std::string(" memory space")) != std::string::npos) {
    std::string const before = "failed to allocate ";
    auto const begin = text.find(before) + before.size();
    return "of the " + bytes_text(device_memory_bytes()) + " that the GPU has, at most " +
           bytes_text(peak_device_bytes()) + " were in use, and " +
           text.substr(begin, text.find(" (", begin) - begin) + " more were asked for";
  }
  return sporades::detail::bytes_text(peak_resident_bytes()) + " were in use of the " +
         sporades::detail::bytes_text(sporades::detail::host_memory_bytes()) +
         " that this process may have";
}

void check_fits_memory(double bytes, double left, std::string const& what,
                       std::string const& advice) {
  if (bytes > left)
    throw RunError(what + " " + sporades::detail::shortage_text(bytes, left) + advice);
}

bool says_memory_ran_out(std::exception const& error) {
  return dynamic_cast<std::bad_alloc const*>(&error) != nullptr ||
         std::string(error.what()).find("failed to allocate") != std::string::npos;
}

}  // namespace sporades::command
