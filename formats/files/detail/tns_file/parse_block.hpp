// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <sporades/formats/files/tns_file.hpp>
#include <string>
#include <string_view>

namespace sporades::detail {

/// What a line of a nonzero must look like.
struct LineShape {
  int order = 0;
  bool has_value = true;
  Values values = Values::any;
  std::uint64_t base = 1;         // what indices count from, as far as known
  bool zero_may_come = false;     // base is 1 and may turn out to be 0
  std::uint64_t limits[16] = {};  // lengths of the modes; the largest integer where unknown
};

/// The first thing wrong in a block.
struct LineProblem {
  std::uint64_t line = 0;  // from 0, in the block
  std::string what;
};

struct BlockCount {
  std::uint64_t nonzeros = 0;
  std::uint64_t lines = 0;
};

/// Where the nonzeros of a block go: nonzero p, mode n to coordinates[n * stride + p].
template <class Scalar, class Index>
struct BlockOutput {
  Index* coordinates;
  std::size_t stride;
  Scalar* values;
};

struct BlockSummary {
  std::uint64_t largest[16] = {};  // of what was stored, a mode, where any_index
  bool any_index[16] = {};
  bool any_zero[16] = {};            // an index 0 where it may come: stored as Index(-1)
  std::uint64_t zero_line[16] = {};  // the first such line, from 0, in the block
};

/// What is wrong with a value, "is negative, where counts are expected"; null where nothing is.
char const* why_refused(Values allowed, double value);

/// True for lines that hold neither blanks only nor a comment.
bool is_data_line(char const* line);

/// True where a carriage return has more than blanks behind it in its line: it was meant to end it.
bool has_lone_return(std::string_view line);
inline constexpr char lone_return[] = "a carriage return inside the line: lines end in LF or CRLF";

/// Lines of a block, and those that hold data.
BlockCount count_block(std::string_view text);

/// Parses the lines of a block and stores coordinates minus shape.base. Throws LineProblem.
/// An index that does not fit Index loses its high bits; the summary holds all of the largest.
template <class Scalar, class Index>
BlockSummary parse_block(std::string_view text, LineShape const& shape,
                         BlockOutput<Scalar, Index> const& output);

/// "text" shortened and with all but ASCII's printable characters escaped, for messages.
std::string quoted(std::string_view text);

/// The columns of a line, without a comment at its end; at most 19 of them.
struct Columns {
  std::string_view tokens[19];
  int count = 0;
};
Columns split_columns(char const* line);

}  // namespace sporades::detail
