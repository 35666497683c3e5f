// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/core/error.hpp>
#include <sporades/formats/files/detail/tns_file/first_lines.hpp>
#include <sporades/formats/files/detail/tns_file/number.hpp>
#include <sporades/formats/files/detail/tns_file/parse_block.hpp>

namespace sporades::detail {

namespace {

constexpr int highest_order = 16;

/// Throws Error for a line of the header.
template <class... Parts>
[[noreturn]] void refuse(std::string const& name, DataLine const& line, Parts const&... parts) {
  fail(name, ":", line.number, ": ", parts...);
}

int order_of(std::uint64_t order, std::string const& name, DataLine const& line) {
  if (order < 1 || order > highest_order)
    refuse(name, line, "order ", order, " is not in 1 to ", highest_order);
  return static_cast<int>(order);
}

bool all_integers(Columns const& columns, std::vector<std::uint64_t>& integers) {
  integers.resize(static_cast<std::size_t>(columns.count));
  for (std::size_t n = 0; n < integers.size(); ++n)
    if (parse_integer(columns.tokens[n], integers[n]) != Number::good) return false;
  return true;
}

std::uint64_t one_integer(char const* what, std::string const& name, DataLine const& line) {
  std::uint64_t integer = 0;
  auto const columns = line.columns();
  if (columns.count != 1 || parse_integer(columns.tokens[0], integer) != Number::good)
    refuse(name, line, "expected one integer, ", what, ", found ", quoted(columns.tokens[0]),
           columns.count > 1 ? " and more" : "");
  return integer;
}

/// Reads the base that may follow the word "sptensor" in the first line.
void read_base(DataLine const& line, std::string const& name, TextHeader& header) {
  auto const columns = line.columns();
  if (columns.count == 1) return;
  auto const base = columns.tokens[1];
  if (header.dialect == Dialect::sptensor && columns.count == 2) {
    if (base == "indices-start-at-zero") return void(header.stated_base = 0);
    if (base == "indices-start-at-one") return void(header.stated_base = 1);
  }
  refuse(name, line, "unknown tensor type ",
         quoted(std::string(columns.tokens[0]) + ' ' + std::string(base)));
}

/// Reads the lines "sptensor" or "tensor", the order, the dims and, after "sptensor", nnz.
std::size_t read_typed_header(FirstLines& lines, std::string const& name, TextHeader& header) {
  bool const is_sparse = header.dialect == Dialect::sptensor;
  read_base(lines[0], name, header);
  std::size_t const expected = is_sparse ? 4 : 3;
  if (!lines.reach(expected, header))
    refuse(name, lines.back(), "the file ends inside its header, which has ", expected, " lines");
  header.order = order_of(one_integer("the order", name, lines[1]), name, lines[1]);
  std::vector<std::uint64_t> dims;
  auto const columns = lines[2].columns();
  if (columns.count != header.order || !all_integers(columns, dims))
    refuse(name, lines[2], "expected the lengths of ", header.order, " modes");
  header.dims = dims;
  header.dims_line = lines[2].number;
  if (is_sparse) {
    header.nnz = one_integer("the number of nonzeros", name, lines[3]);
    header.nnz_line = lines[3].number;
  }
  return expected;
}

/// Reads the lines "%%MatrixMarket matrix coordinate FIELD SYMMETRY", comments, and the numbers of
/// rows, columns and entries: Boisvert, Pozo & Remington, The Matrix Market Exchange Formats,
/// NISTIR 5935, 1996.
std::size_t read_matrix_market(FirstLines& lines, std::string const& name, TextHeader& header) {
  auto const banner = lines[0].columns();
  auto const word = [&](int k) {
    std::string text(k < banner.count ? banner.tokens[k] : "");
    for (char& c : text)
      if (c >= 'A' && c <= 'Z') c += 'a' - 'A';
    return text;
  };
  header.dialect = Dialect::matrix_market;
  if (word(1) != "matrix" || word(2) != "coordinate")
    refuse(name, lines[0], "a MatrixMarket ", quoted(word(1) + ' ' + word(2)),
           ", expected \"matrix coordinate\"");
  if (word(3) != "real" && word(3) != "integer" && word(3) != "pattern")
    refuse(name, lines[0], "a MatrixMarket file of ", quoted(word(3)),
           " values, expected real, integer or pattern");
  header.pattern = word(3) == "pattern";
  if (word(4) == "symmetric")
    header.symmetry = Symmetry::symmetric;
  else if (word(4) == "skew-symmetric")
    header.symmetry = Symmetry::skew_symmetric;
  else if (word(4) != "general")
    refuse(name, lines[0], "a MatrixMarket file of symmetry ", quoted(word(4)),
           ", expected general, symmetric or skew-symmetric");
  lines.skip_percent_comments();
  if (!lines.reach(2, header))
    refuse(name, lines.back(), "the file ends before its line of rows, columns and entries");
  std::vector<std::uint64_t> sizes;
  if (lines[1].columns().count != 3 || !all_integers(lines[1].columns(), sizes))
    refuse(name, lines[1], "expected the numbers of rows, columns and entries");
  if (header.symmetry != Symmetry::general && sizes[0] != sizes[1])
    refuse(name, lines[1], "a ", word(4), " matrix of ", sizes[0], " x ", sizes[1]);
  header.order = 2;
  header.dims = {sizes[0], sizes[1]};
  header.nnz = sizes[2];
  header.dims_line = header.nnz_line = lines[1].number;
  header.stated_base = 1;
  return 2;
}

bool is_parti_header(FirstLines& lines, bool pattern, TextHeader& header) {
  std::vector<std::uint64_t> order, dims;
  if (lines[0].columns().count != 1 || !all_integers(lines[0].columns(), order)) return false;
  if (order[0] < 1 || order[0] > highest_order || (pattern && order[0] == 1)) return false;
  if (!lines.reach(2, header) || !all_integers(lines[1].columns(), dims)) return false;
  if (dims.size() != order[0]) return false;
  auto const columns = static_cast<int>(order[0]) + !pattern;
  if (lines.reach(3, header) && lines[2].columns().count != columns) return false;
  header.dialect = Dialect::parti;
  header.order = static_cast<int>(order[0]);
  header.dims = dims;
  header.dims_line = lines[1].number;
  return true;
}

/// Throws Error for a first line that shows another kind of file.
void refuse_other_files(DataLine const& line, std::string const& name) {
  auto const columns = line.columns();
  auto const word = columns.tokens[0];
  if (word == "ktensor")
    refuse(name, line, "this is a Kruskal tensor, expected a sparse tensor; --init takes models");
  if (word == "ttensor")
    refuse(name, line, "this is a Tucker tensor, expected a sparse tensor; --init takes models");
  if (word == "matrix") refuse(name, line, "this is a dense matrix, expected a sparse tensor");
  if (word.find_first_of(",;") != std::string_view::npos)
    refuse(name, line, "this looks like CSV (", quoted(word),
           "), expected columns with blanks between them: tr ',;' '  ' makes them");
  std::uint64_t index = 0;
  if (columns.count == 1 && parse_integer(word, index) == Number::malformed)
    refuse(name, line, "unknown tensor type ", quoted(word));
}

/// Reads the header. Returns how many of the text's first data lines belong to it.
std::size_t read_first_lines(FirstLines& lines, bool pattern, std::string const& name,
                             TextHeader& header) {
  if (!lines.reach(1, header)) return 0;
  auto const first = lines[0];
  auto const columns = first.columns();
  auto const word = columns.tokens[0];
  if (word == "sptensor" || word == "tensor") {
    header.dialect = word == "tensor" ? Dialect::tensor : Dialect::sptensor;
    return read_typed_header(lines, name, header);
  }
  if (word == "%%MatrixMarket") return read_matrix_market(lines, name, header);
  refuse_other_files(first, name);
  if (is_parti_header(lines, pattern, header)) return 2;
  if (columns.count < 1 + !pattern)
    refuse(name, first, "found one column, expected indices and a value");
  if (columns.count - !pattern > highest_order)
    refuse(name, first, "order ", columns.count - !pattern, columns.count == 19 ? " or more" : "",
           " is not in 1 to ", highest_order);
  header.order = columns.count - !pattern;
  return 0;
}

}  // namespace

char const* to_string(Dialect dialect) {
  switch (dialect) {
    case Dialect::sptensor:
      return "sptensor";
    case Dialect::parti:
      return "ParTI";
    case Dialect::tensor:
      return "tensor";
    case Dialect::matrix_market:
      return "MatrixMarket";
    default:
      return "FROSTT";
  }
}

TextHeader read_header(TextSource& source, TextBlock& block, bool pattern,
                       std::string const& name) {
  TextHeader header;
  FirstLines lines(source, block, name);
  lines.give_back(read_first_lines(lines, pattern, name, header), header);
  return header;
}

}  // namespace sporades::detail
