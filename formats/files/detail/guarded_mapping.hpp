// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

namespace sporades::detail {

/// A file mapped into memory, to be read. Where another program cuts the file off, or its disk
/// fails, the system sends the signal SIGBUS to the thread that reads there, which ends the
/// process. While a guarded mapping lives, a handler of this signal puts zeros in place of what is
/// missing, and the mapping knows it. A SIGBUS from elsewhere goes to the handler that was there
/// before, or ends the process as before.
/// What others write to the file meanwhile appears in the mapping. A page of line ends follows the
/// file, so that a search for the end of a line ends there at last.
class GuardedMapping {
 public:
  /// Throws std::bad_alloc where there are no addresses left, RunError if the file cannot be mapped
  /// or 64 of them are.
  GuardedMapping(int descriptor, std::size_t size);
  ~GuardedMapping();
  GuardedMapping(GuardedMapping const&) = delete;
  GuardedMapping& operator=(GuardedMapping const&) = delete;

  char const* data() const { return begin_; }

  /// False once zeros are in place of a part of the file.
  bool is_whole() const;

 private:
  char* begin_;
  std::size_t size_;  // whole pages of the file
  int slot_;
};

}  // namespace sporades::detail
