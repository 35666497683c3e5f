// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <sporades/core/error.hpp>
#include <sporades/formats/files/detail/guarded_mapping.hpp>
#include <string>

namespace sporades::detail {

namespace {

/// The mappings that live, as the handler of the signal finds them.
struct Slot {
  std::atomic<std::uintptr_t> begin{0}, end{0};  // begin is 0 in a slot that is free
  std::atomic<bool> is_whole{true};
};
constexpr int slots_size = 64;
Slot slots[slots_size];

std::mutex mutex;  // of what follows, and of the choice of slots
int living = 0;
bool is_installed = false;
struct sigaction before = {};  // what SIGBUS did before

std::size_t page_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Puts zeros in place of the mapped file from the page of an address on. Calls what a handler of a
/// signal may call, and mmap, which on the systems that there are is one call of the system.
bool put_zeros(std::uintptr_t address) {
  for (auto& slot : slots) {
    auto const begin = slot.begin.load(), end = slot.end.load();
    if (begin == 0 || address < begin || address >= end) continue;
    auto const page = address - (address - begin) % page_bytes();
    int const flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    slot.is_whole = false;
    return mmap(reinterpret_cast<void*>(page), end - page, PROT_READ, flags, -1, 0) != MAP_FAILED;
  }
  return false;
}

void handle_bus_error(int signal, siginfo_t* info, void* context) {
  int const error = errno;
  bool const is_ours =
      info->si_code > 0 && put_zeros(reinterpret_cast<std::uintptr_t>(info->si_addr));
  errno = error;
  if (is_ours) return;
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    return before.sa_handler(signal);
  // The access is repeated after this, and the signal does what it does by default; one that was
  // sent by a process is sent again.
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  if (info->si_code <= 0) raise(signal);
}

/// Installs the handler. To be called with the mutex locked.
void install() {
  if (living++ > 0 || is_installed) return;
  struct sigaction action = {};
  action.sa_sigaction = handle_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  is_installed = sigaction(SIGBUS, &action, &before) == 0;
}

/// Removes the handler. To be called with the mutex locked. If another handler has come on top,
/// ours stays below it.
void uninstall() {
  if (--living > 0 || !is_installed) return;
  struct sigaction now = {};
  sigaction(SIGBUS, nullptr, &now);
  bool const is_on_top = (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == handle_bus_error;
  if (is_on_top) is_installed = sigaction(SIGBUS, &before, nullptr) != 0;
}

}  // namespace

GuardedMapping::GuardedMapping(int descriptor, std::size_t size) {
  auto const page = page_bytes();
  size_ = (size + page - 1) / page * page;
  // One page more, past the end of the file, which that of line ends takes the place of.
  void* const all = mmap(nullptr, size_ + page, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (all == MAP_FAILED && errno == ENOMEM) throw std::bad_alloc();
  auto const refuse = [&](std::string const& why) {
    if (all != MAP_FAILED) munmap(all, size_ + page);
    throw RunError("cannot map a file into memory: " + why);
  };
  if (all == MAP_FAILED) refuse(std::strerror(errno));
  begin_ = static_cast<char*>(all);
  int const flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  if (mmap(begin_ + size_, page, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
    refuse(std::strerror(errno));
  std::memset(begin_ + size_, '\n', page);
  std::lock_guard const lock(mutex);
  for (slot_ = 0; slot_ < slots_size && slots[slot_].begin != 0; ++slot_) continue;
  if (slot_ == slots_size) refuse("64 are mapped already");
  auto& slot = slots[slot_];
  slot.is_whole = true;
  slot.end = reinterpret_cast<std::uintptr_t>(begin_) + size_;
  slot.begin = reinterpret_cast<std::uintptr_t>(begin_);
  install();
}

GuardedMapping::~GuardedMapping() {
  {
    std::lock_guard const lock(mutex);
    slots[slot_].begin = 0;
    uninstall();
  }
  munmap(begin_, size_ + page_bytes());
}

bool GuardedMapping::is_whole() const {
  return slots[slot_].is_whole;
}

}  // namespace sporades::detail
