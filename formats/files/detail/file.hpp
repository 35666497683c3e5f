// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sporades::detail {

/// The file that a path leads to through symbolic links, which need not exist yet: the path itself
/// where it is no link. Throws Error where there are more than 40 links.
std::string link_target(std::string const& path);

/// What messages call the file of that path: "-" is the standard input.
std::string input_name(std::string const& path);

/// The number of the open file that a path stands for, as 1 for /dev/stdout, or /dev/fd/1: it is
/// used as it is, at its position, since its name may lead elsewhere or be another user's. -1 for
/// any other path.
int inherited_descriptor(std::string const& path);

/// A file's bytes. A regular file is mapped into memory; pages come in as they are touched, and it
/// must not shrink meanwhile. A pipe, a socket or a terminal is read to its end first.
/// "-" is the standard input; see inherited_descriptor.
class MappedFile {
 public:
  /// Throws Error where path is absent, unreadable, a folder or a device that is no terminal;
  /// RunError where a pipe holds more than half the memory.
  explicit MappedFile(std::string const& path);
  ~MappedFile();
  MappedFile(MappedFile const&) = delete;
  MappedFile& operator=(MappedFile const&) = delete;

  std::string_view bytes() const { return {data_, size_}; }

 private:
  void read_to_end(int descriptor, std::string const& name);

  char const* data_ = nullptr;  // mapped, also where it was read
  std::size_t size_ = 0;
};

/// A file that appears whole or not at all: written in the same folder without a name, where the
/// file system can, and else under a temporary one; commit() gives it the name asked for. Without a
/// commit, or where the process is killed before (with a temporary name: by what it can catch),
/// nothing is left behind, and a file that had the name before stays as it was. A file whose name
/// cannot be given to another, as one that is mounted or another user's in a folder like /tmp, is
/// overwritten by commit(). Through a symbolic link, the file that it leads to is written, also
/// where that does not exist yet. A pipe, a device or an inherited_descriptor is written straight.
class OutputFile {
 public:
  /// Throws Error where the folder is absent or not writable, or path is a folder, or a file that
  /// this user may not write.
  explicit OutputFile(std::string const& path);
  ~OutputFile();
  OutputFile(OutputFile const&) = delete;
  OutputFile& operator=(OutputFile const&) = delete;

  /// Throws RunError where the bytes cannot be stored, for one because the disk is full.
  void write(void const* bytes, std::size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }

  /// Waits until all is on the disk, then renames. Throws RunError where that fails; if the file
  /// was to be overwritten and could not, what was written stays, and the message names it.
  void commit();

 private:
  [[noreturn]] void fail_with(char const* doing, int error) const;
  void open_temporary();
  void give_name();
  bool overwrite() const;

  std::string path_;       // as asked for
  std::string target_;     // path_ with symbolic links followed
  std::string temporary_;  // in the folder of target_
  bool is_direct_ = true;  // target_ is written straight
  bool has_name_ = false;  // the temporary one, by now
  int descriptor_ = -1;
  std::uint64_t written_ = 0;
};

}  // namespace sporades::detail
