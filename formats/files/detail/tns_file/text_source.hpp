// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace sporades::detail {

/// Whole lines of a text. Never empty, ends with a line end.
struct TextBlock {
  std::string_view mapped;
  std::string storage;  // holds the text where the source does not; mapped is empty then

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

  /// Gives the next block; false at the end. Throws Error where the text cannot be had.
  virtual bool next(TextBlock& block) = 0;

  /// True where blocks are parts of memory that outlives them.
  virtual bool is_mapped() const = 0;
};

/// Blocks of text, or of the text that content is the gzip of (told by its first two bytes).
/// Blocks have block_size bytes at most (but one that was given its line end); a longer line is
/// refused. name stands for the file in messages; content and name outlive the source.
std::unique_ptr<TextSource> make_text_source(std::string_view content, std::string const& name,
                                             std::size_t block_size);

}  // namespace sporades::detail
