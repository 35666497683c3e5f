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
  int order = 0;  // 0: the text has no data line
  std::optional<std::vector<std::uint64_t>> dims;
  std::uint64_t dims_line = 0;  // from 1
  std::optional<std::uint64_t> nnz;
  std::uint64_t nnz_line = 0;
  std::optional<std::uint64_t> stated_base;  // 0 or 1, if the header states it
  bool pattern = false;                      // the header says that lines have no value
  Symmetry symmetry = Symmetry::general;
  std::uint64_t lines = 0;  // of the header
};

/// Recognises the dialect by the first lines, and takes the lines of the header from the source.
/// block receives the first block of the rest, which may be empty. Reads no more lines than needed.
/// pattern: lines of nonzeros have no value. name: how error messages call the file.
/// Throws Error for a header that is wrong. For a text of no dialect the message says what it looks
/// like.
TextHeader read_header(TextSource& source, TextBlock& block, bool pattern, std::string const& name);

}  // namespace sporades::detail
