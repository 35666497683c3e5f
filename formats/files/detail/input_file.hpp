// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <sporades/core/detail/descriptor.hpp>
#include <sporades/core/error.hpp>
#include <sporades/formats/files/detail/guarded_mapping.hpp>
#include <string>
#include <string_view>
#include <type_traits>

namespace sporades::detail {

/// How messages call the file of this path: "standard input" for "-", else the path.
std::string input_name(std::string const& path);

/// A file that is read, and that other programs may change meanwhile. Whoever reads it calls
/// check_unchanged in the end: see read_unchanged.
class InputFile {
 public:
  /// A pipe, a socket or a terminal is read to its end first: into memory, but where `memory` is
  /// positive and it has more than 1 MiB, into a file in scratch_folder(). "-" is the standard
  /// input; see inherited_descriptor. Throws Error if path does not exist, cannot be read, or is a
  /// folder or a device that is no terminal; RunError if a pipe holds more than half of the memory.
  explicit InputFile(std::string const& path, std::uint64_t memory = 0);

  /// Bytes in memory, which must outlive this. name: how messages call them.
  InputFile(std::string_view bytes, std::string name);

  virtual ~InputFile() = default;

  std::string const& name() const { return name_; }
  std::uint64_t size() const { return size_; }

  /// Copies the bytes from `place` on. Threads may call it at once. Throws RunError if the file has
  /// become too short or cannot be read. (It is virtual for tests, which change the file there.)
  virtual void read(std::uint64_t place, void* to, std::size_t size) const;

  /// Copies so many bytes from `place` on, or fewer at the end.
  std::string text(std::uint64_t place, std::size_t size) const;

  /// The bytes from `place` on, which is faster than to copy them. Other programs may change them
  /// meanwhile; they are zeros where they cannot be loaded, and a page of line ends follows the
  /// last (except for bytes in memory, which do not change). Threads may call it at once.
  virtual std::string_view view(std::uint64_t place, std::size_t size) const;

  /// Throws RunError if the file has another size or time of modification than when it was opened,
  /// or could not be loaded to be viewed.
  void check_unchanged() const;

  /// Throws RunError: what was read shows that the file has changed.
  [[noreturn]] void fail_changed() const;

 private:
  void check_status() const;
  void read_to_end(int descriptor, std::uint64_t memory);
  void move_to_scratch_file(int descriptor, std::string_view begin);

  std::string name_;
  std::uint64_t size_ = 0;
  Descriptor file_;
  struct stat opened_ = {};          // of a file that others may change
  std::shared_ptr<void> held_;       // the memory of a pipe's bytes
  char const* in_memory_ = nullptr;  // the bytes, where there is no file
  mutable std::once_flag is_viewed_;
  mutable std::unique_ptr<GuardedMapping> mapping_;  // once the file is viewed
};

/// What `read` gives. Throws RunError if the file has changed meanwhile, also where read throws
/// another Error, which the change may have caused.
template <class Read>
auto read_unchanged(InputFile const& file, Read const& read) {
  try {
    if constexpr (std::is_void_v<decltype(read())>) {
      read();
      file.check_unchanged();
    } else {
      auto result = read();
      file.check_unchanged();
      return result;
    }
  } catch (Error const&) {
    file.check_unchanged();
    throw;
  }
}

}  // namespace sporades::detail
