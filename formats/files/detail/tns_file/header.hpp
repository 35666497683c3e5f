// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <sporades/formats/files/detail/tns_file/symmetry.hpp>
#include <sporades/formats/files/detail/tns_file/text_source.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sporades::detail {

enum class Dialect { frostt, sptensor, parti, tensor, matrix_market };

char const* to_string(Dialect dialect);

/// What the first lines of a text say.
struct TextHeader {
  Dialect dialect = Dialect::frostt;
  int order = 0;  // 0: the text holds no data line at all
  std::optional<std::vector<std::uint64_t>> dims;
  std::uint64_t dims_line = 0;  // from 1
  std::optional<std::uint64_t> nnz;
  std::uint64_t nnz_line = 0;
  std::optional<std::uint64_t> stated_base;  // 0 or 1, where the header states it
  bool pattern = false;                      // the header says that lines have no value
  Symmetry symmetry = Symmetry::general;     // the header says that entries stand for two
  std::uint64_t lines = 0;                   // lines of the header, which are taken from the text
};

/// Tells the dialect by the first lines and takes the header's lines from the source: block is
/// then the first block of the rest, perhaps empty. Reads no more lines than it needs for that.
/// pattern: lines of nonzeros have no value. name stands for the file in messages. Throws Error for
/// a header that is wrong, and for what is no text of these dialects, saying what it looks like.
TextHeader read_header(TextSource& source, TextBlock& block, bool pattern, std::string const& name);

}  // namespace sporades::detail
