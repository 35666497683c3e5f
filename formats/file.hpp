// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sporades {

/// A regular file, mapped into memory to be read; pages come in as they are touched.
/// The file must not shrink while it is mapped.
class MappedFile {
 public:
  /// Throws Error where path is absent, unreadable or no regular file.
  explicit MappedFile(std::string const& path);
  ~MappedFile();
  MappedFile(MappedFile const&) = delete;
  MappedFile& operator=(MappedFile const&) = delete;

  std::string_view bytes() const { return {data_, size_}; }

 private:
  char const* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A file that appears whole or not at all: written under a temporary name in the same folder,
/// which commit() gives the name asked for. Without a commit the temporary is removed, and a file
/// that had the name before stays as it was. A pipe or a device is written straight.
class OutputFile {
 public:
  /// Throws Error where the folder is absent or not writable, or path is a folder.
  explicit OutputFile(std::string const& path);
  ~OutputFile();
  OutputFile(OutputFile const&) = delete;
  OutputFile& operator=(OutputFile const&) = delete;

  /// Throws RunError where the bytes cannot be stored, for one because the disk is full.
  void write(void const* bytes, std::size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }

  /// Waits until all is on the disk, then renames. Throws RunError where that fails.
  void commit();

 private:
  [[noreturn]] void fail_with(char const* doing, int error) const;
  bool is_direct() const { return temporary_.empty(); }

  std::string path_;       // as asked for
  std::string target_;     // path_ with symbolic links followed
  std::string temporary_;  // empty: target_ is written straight
  int descriptor_ = -1;
  std::uint64_t written_ = 0;
};

}  // namespace sporades
