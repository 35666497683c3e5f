// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <sporades/formats/files/detail/input_file.hpp>
#include <string>
#include <string_view>

namespace sporades::detail {

/// Some whole lines of a text; at least one. Ends with a line end.
struct TextBlock {
  std::string storage;

  std::string_view text() const { return storage; }
  void remove_prefix(std::size_t size) { storage.erase(0, size); }
};

/// Where the text of a block is in the file.
struct TextRange {
  std::uint64_t place = 0;
  std::size_t size = 0;
  bool ends = true;  // with a line end; else it gets one
};

/// Text in blocks of whole lines. A last line without a line end gets one.
class TextSource {
 public:
  virtual ~TextSource() = default;

  /// Sets the next block; returns false at the end. Throws Error if the text cannot be read.
  virtual bool next(TextBlock& block) = 0;

  /// The file where the text of blocks lies, so that they can be had as ranges; null if the source
  /// makes its text.
  virtual InputFile const* file() const { return nullptr; }

  /// Sets the range of the next block in file(); returns false at the end.
  virtual bool next_range(TextRange&) { return false; }

  /// From now on gives only one of so many parts of what is left. Parts are whole lines and about
  /// equally long in the file; a part may be empty. first: the last block that was given, which
  /// belongs to part 0; it becomes empty in other parts.
  virtual void keep_part(int part, int parts, TextBlock& first) = 0;

  /// The number of lines in the parts before. Without a file: once there was a next block.
  virtual std::uint64_t lines_before() const = 0;
};

/// A source of the text in the file, which is uncompressed if its first two bytes are gzip's. A
/// block has at most block_size bytes (or one more, if a line end was added); Error is thrown for a
/// longer line. The file must outlive the source.
std::unique_ptr<TextSource> make_text_source(InputFile const& file, std::size_t block_size);

/// The text of a range, viewed in the file; `storage` holds one that gets a line end. Others may
/// write to the file after the range was found, so that there is no line end at the end any more.
std::string_view text_of(InputFile const& file, TextRange const& range, std::string& storage);

}  // namespace sporades::detail
