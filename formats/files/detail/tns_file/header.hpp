// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <sporades/formats/files/detail/tns_file/symmetry.hpp>
#include <sporades/formats/files/detail/tns_file/text_source.hpp>
#include <sporades/formats/files/tns_file.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sporades::detail {

enum class Dialect {
  frostt,
  frostt_with_sizes,  // after a line of dims and the number of nonzeros
  extended_frostt,    // after a line of the order and the number of nonzeros, and one of the dims
  sptensor,
  parti,
  tensor,
  matrix_market,
  tensor_market
};

char const* to_string(Dialect dialect);

/// What the first line of a text, or its first two, say if they are no nonzeros but a header of one
/// of the dialects frostt_with_sizes and extended_frostt.
struct SizesHeader {
  std::vector<std::uint64_t> dims;
  std::uint64_t nnz = 0;
  int lines = 1;
  bool is_certain = false;  // they have other columns than nonzeros
  std::string text;         // of the first line
};

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
  bool is_dense = false;                     // every entry follows, first mode fastest
  Symmetry symmetry = Symmetry::general;
  std::uint64_t lines = 0;           // of the header
  std::optional<SizesHeader> sizes;  // what the first nonzeros may be instead
};

/// Recognises the dialect by the first lines, and takes the lines of the header from the source.
/// block receives the first block of the rest, which may be empty. Reads no more lines than needed.
/// name: how error messages call the file. Throws Error for a header that is wrong. For a text of
/// no dialect the message says what it looks like.
TextHeader read_header(TextSource& source, TextBlock& block, ReadOptions const& options,
                       std::string const& name);

}  // namespace sporades::detail
