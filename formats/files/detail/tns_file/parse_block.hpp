// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <sporades/formats/files/detail/tns_file/number.hpp>
#include <sporades/formats/files/tns_file.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sporades::detail {

/// What a line of a nonzero must look like.
struct LineShape {
  int order = 0;
  bool has_value = true;
  Values values = Values::any;
  std::uint64_t base = 1;         // the number that indices count from
  bool zero_may_come = false;     // base is 1, but an index 0 is allowed: it shows that base is 0
  std::uint64_t limits[16] = {};  // lengths of the modes; the largest integer if unknown
};

/// The first thing that is wrong in a block.
struct LineProblem {
  std::uint64_t line = 0;  // from 0, in the block
  std::string what;
};

struct BlockCount {
  std::uint64_t nonzeros = 0;
  std::uint64_t lines = 0;
};

/// Memory for the nonzeros of a block, of which so many were counted: the index of nonzero p in
/// mode n goes to coordinates[n * stride + p].
template <class Scalar, class Index>
struct BlockOutput {
  Index* coordinates;
  std::size_t stride;
  Scalar* values;
  std::uint64_t nonzeros;
};

/// Values that the type of the tensor's does not hold as they are written; see loss_of.
struct Losses {
  std::uint64_t integers = 0;    // were rounded
  std::uint64_t underflows = 0;  // became 0
  void add(Loss loss) {
    integers += loss == Loss::integer;
    underflows += loss == Loss::underflow;
  }
  void add(Losses const& others) {
    integers += others.integers;
    underflows += others.underflows;
  }
};

/// A sentence for the user of each kind of loss that there is. bits: those of the type's integers.
std::vector<std::string> loss_notes(Losses const& losses, int bits);

/// Thrown if a block has more or fewer nonzeros than were counted: it is not the text that it was.
struct OtherText {};

struct BlockSummary {
  std::uint64_t largest[16] = {};  // the largest coordinate of each mode, if any_index
  bool any_index[16] = {};
  bool any_zero[16] = {};            // there is an index 0 although base is 1: stored as Index(-1)
  std::uint64_t zero_line[16] = {};  // the first such line, from 0, in the block
  Losses losses;
};

/// What is wrong with a value, such as "is negative, where counts are expected"; null if it is
/// allowed.
char const* why_refused(Values allowed, double value);

/// False for comments, which begin with #, // or %, and for lines of blanks only.
bool is_data_line(char const* line);

/// True if anything except blanks follows a carriage return in its line: the carriage return was
/// meant to end the line.
bool has_lone_return(std::string_view line);
inline constexpr char lone_return[] = "a carriage return inside the line: lines end in LF or CRLF";

/// Counts the lines of a block, and those that hold nonzeros.
BlockCount count_block(std::string_view text);

/// Parses the lines of a block and stores the coordinates, which are the indices minus shape.base.
/// An index that does not fit Index loses its high bits; the summary has the largest one whole.
/// Throws LineProblem or OtherText, and then has stored no more than there is memory for.
template <class Scalar, class Index>
BlockSummary parse_block(std::string_view text, LineShape const& shape,
                         BlockOutput<Scalar, Index> const& output);

/// The text in quotation marks, for messages: shortened, and with characters escaped unless they
/// are printable ASCII.
std::string quoted(std::string_view text);

/// The first 19 columns of a line, without a comment at its end.
struct Columns {
  std::string_view tokens[19];
  int count = 0;
};
Columns split_columns(char const* line);

}  // namespace sporades::detail
