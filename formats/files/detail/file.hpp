// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <sporades/core/detail/descriptor.hpp>
#include <string>
#include <string_view>

namespace sporades::detail {

/// The file that a path leads to through symbolic links; the path itself if it is no link. The file
/// need not exist yet. Throws Error for more than 40 links.
std::string link_target(std::string const& path);

/// The descriptor of an open file that a path names: 1 for /dev/stdout and /dev/fd/1; -1 for paths
/// of other kinds. Such a file is used as it is open, at its position, and not opened again, since
/// the file's own name may lead elsewhere or belong to another user.
int inherited_descriptor(std::string const& path);

/// Duplicates the inherited_descriptor of a path, or that of the standard input for "-", or opens
/// the file. Without success it is -1, and errno says why.
Descriptor open_descriptor(std::string const& path, int flags);

/// A file that appears as a whole or not at all. It is written in the folder of its name, but
/// without a name if the file system can do that, and else under a temporary name; commit() gives
/// it its name. Until then an older file of this name stays as it was, and an end of the process
/// leaves nothing behind. (One exception: a temporary name is left behind by a signal that cannot
/// be caught.) Special cases:
/// - A file that another cannot replace is overwritten by commit(): one that is mounted, or that is
///   another user's in a folder like /tmp.
/// - If the path is a symbolic link, the file that it leads to is written; it need not exist yet.
/// - A pipe, a device or an inherited_descriptor is written directly.
class OutputFile {
 public:
  /// Throws Error if the folder does not exist or cannot be written, or if path is a folder or a
  /// file that this user may not write.
  explicit OutputFile(std::string const& path);
  ~OutputFile();
  OutputFile(OutputFile const&) = delete;
  OutputFile& operator=(OutputFile const&) = delete;

  /// Throws RunError if the bytes cannot be stored, for example because the disk is full.
  void write(void const* bytes, std::size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }

  /// Waits until all bytes are on the disk, then gives the file its name. Throws RunError if that
  /// fails. If an older file was to be overwritten and could not be, the bytes stay in a file that
  /// the message names.
  void commit();

 private:
  [[noreturn]] void fail_with(char const* doing, int error) const;
  void open_temporary();
  void give_name();
  bool overwrite() const;

  std::string path_;       // as asked for
  std::string target_;     // path_ with symbolic links followed
  std::string temporary_;  // in the folder of target_
  bool is_direct_ = true;  // target_ is written directly
  bool has_name_ = false;  // the file has its temporary name
  int descriptor_ = -1;
  std::uint64_t written_ = 0;
};

}  // namespace sporades::detail
