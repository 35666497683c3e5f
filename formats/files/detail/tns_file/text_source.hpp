// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace sporades::detail {

/// Some whole lines of a text; at least one. Ends with a line end.
struct TextBlock {
  std::string_view mapped;
  std::string storage;  // the text, if the source does not keep it; then mapped is empty

  std::string_view text() const { return storage.empty() ? mapped : std::string_view(storage); }

  void remove_prefix(std::size_t size) {
    if (storage.empty())
      mapped.remove_prefix(size);
    else
      storage.erase(0, size);
  }
};

/// Text in blocks of whole lines. A last line without a line end gets one.
class TextSource {
 public:
  virtual ~TextSource() = default;

  /// Sets the next block; returns false at the end. Throws Error if the text cannot be read.
  virtual bool next(TextBlock& block) = 0;

  /// True if blocks refer to memory that outlives them.
  virtual bool is_mapped() const = 0;

  /// From now on gives only one of so many parts of what is left, in whole lines, which are about
  /// equally long in the file: a part may be empty. first: the last block that was given, which
  /// belongs to part 0; empty after in other parts.
  virtual void keep_part(int part, int parts, TextBlock& first) = 0;

  /// The number of lines in the parts before. If blocks are not mapped: once there was a next one.
  virtual std::uint64_t lines_before() const = 0;
};

/// A source of the text in content, which is uncompressed if its first two bytes are gzip's. A
/// block has at most block_size bytes (or one more, if a line end was added); Error is thrown for a
/// longer line. name: how error messages call the file. content and name must outlive the source.
std::unique_ptr<TextSource> make_text_source(std::string_view content, std::string const& name,
                                             std::size_t block_size);

}  // namespace sporades::detail
