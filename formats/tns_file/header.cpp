// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/core/error.hpp>
#include <sporades/formats/tns_file/header.hpp>
#include <sporades/formats/tns_file/number.hpp>
#include <sporades/formats/tns_file/parse_block.hpp>

namespace sporades::detail {

namespace {

constexpr int highest_order = 16;
constexpr std::string_view dims_comment = "# sporades dims:";

struct DataLine {
  Columns columns;
  std::uint64_t number;  // from 1
  std::size_t end;       // of the line, in the text
};

/// Refuses a line of the header.
template <class... Parts>
[[noreturn]] void refuse(std::string const& name, DataLine const& line, Parts const&... parts) {
  fail(name, ":", line.number, ": ", parts...);
}

/// The text's first data lines, at most count, and the dims that a comment before them says.
std::vector<DataLine> first_lines(std::string_view text, std::size_t count, TextHeader& header) {
  std::vector<DataLine> lines;
  auto number = header.lines + 1;
  for (std::size_t p = 0; p < text.size() && lines.size() < count; ++number) {
    auto const end = text.find('\n', p) + 1;
    if (is_data_line(text.data() + p)) {
      lines.push_back({split_columns(text.data() + p), number, end});
    } else if (lines.empty() && text.substr(p, dims_comment.size()) == dims_comment) {
      auto const columns = split_columns(text.data() + p + dims_comment.size());
      std::vector<std::uint64_t> dims(static_cast<std::size_t>(columns.count));
      bool good = !dims.empty();
      for (std::size_t n = 0; n < dims.size(); ++n)
        good = good && parse_integer(columns.tokens[n], dims[n]) == Number::good;
      if (good) header.dims = dims;
      header.dims_line = number;
    }
    p = end;
  }
  return lines;
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
  if (line.columns.count != 1 || parse_integer(line.columns.tokens[0], integer) != Number::good)
    refuse(name, line, "expected one integer, ", what, ", found ", quoted(line.columns.tokens[0]),
           line.columns.count > 1 ? " and more" : "");
  return integer;
}

/// The word of the first line of an "sptensor" file may be followed by the base.
void read_base(DataLine const& line, std::string const& name, TextHeader& header) {
  if (line.columns.count == 1) return;
  auto const base = line.columns.tokens[1];
  if (header.dialect == Dialect::sptensor && line.columns.count == 2) {
    if (base == "indices-start-at-zero") return void(header.stated_base = 0);
    if (base == "indices-start-at-one") return void(header.stated_base = 1);
  }
  refuse(name, line, "unknown tensor type \"", line.columns.tokens[0], ' ', base, '"');
}

/// "sptensor" or "tensor", the order, the dims and, for the first, nnz.
std::size_t read_typed_header(std::vector<DataLine> const& lines, std::string const& name,
                              TextHeader& header) {
  bool const is_sparse = header.dialect == Dialect::sptensor;
  read_base(lines[0], name, header);
  std::size_t const expected = is_sparse ? 4 : 3;
  if (lines.size() < expected)
    refuse(name, lines.back(), "the file ends inside its header, which has ", expected, " lines");
  header.order = order_of(one_integer("the order", name, lines[1]), name, lines[1]);
  std::vector<std::uint64_t> dims;
  if (lines[2].columns.count != header.order || !all_integers(lines[2].columns, dims))
    refuse(name, lines[2], "expected the lengths of ", header.order, " modes");
  header.dims = dims;
  header.dims_line = lines[2].number;
  if (is_sparse) {
    header.nnz = one_integer("the number of nonzeros", name, lines[3]);
    header.nnz_line = lines[3].number;
  }
  return expected;
}

bool is_parti_header(std::vector<DataLine> const& lines, bool pattern, TextHeader& header) {
  std::vector<std::uint64_t> order, dims;
  if (lines.size() < 2 || lines[0].columns.count != 1 || !all_integers(lines[0].columns, order))
    return false;
  if (order[0] < 1 || order[0] > highest_order || !all_integers(lines[1].columns, dims))
    return false;
  if (dims.size() != order[0] || (pattern && order[0] == 1)) return false;
  auto const columns = static_cast<int>(order[0]) + !pattern;
  if (lines.size() > 2 && lines[2].columns.count != columns) return false;
  header.dialect = Dialect::parti;
  header.order = static_cast<int>(order[0]);
  header.dims = dims;
  header.dims_line = lines[1].number;
  return true;
}

/// Lines of the header among the text's first data lines.
std::size_t read_first_lines(std::vector<DataLine> const& lines, bool pattern,
                             std::string const& name, TextHeader& header) {
  if (lines.empty()) return 0;
  auto const& first = lines[0];
  auto const word = first.columns.tokens[0];
  if (word == "sptensor" || word == "tensor") {
    header.dialect = word == "tensor" ? Dialect::tensor : Dialect::sptensor;
    return read_typed_header(lines, name, header);
  }
  if (word == "ktensor") refuse(name, first, "this is a Kruskal tensor, expected a sparse tensor");
  if (word == "matrix") refuse(name, first, "this is a dense matrix, expected a sparse tensor");
  std::uint64_t index = 0;
  if (first.columns.count == 1 && parse_integer(word, index) == Number::malformed)
    refuse(name, first, "unknown tensor type ", quoted(word));
  if (is_parti_header(lines, pattern, header)) return 2;
  if (first.columns.count < 1 + !pattern)
    refuse(name, first, "found one column, expected indices and a value");
  if (first.columns.count - !pattern > highest_order)
    refuse(name, first, "order ", first.columns.count - !pattern,
           first.columns.count == 19 ? " or more" : "", " is not in 1 to ", highest_order);
  header.order = first.columns.count - !pattern;
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
    default:
      return "FROSTT";
  }
}

TextHeader read_header(TextSource& source, TextBlock& block, bool pattern,
                       std::string const& name) {
  constexpr std::size_t longest_header = 4;
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  TextHeader header;
  std::vector<DataLine> lines;
  bool more = source.next(block);
  if (block.text().substr(0, 3) == byte_order_mark) block.remove_prefix(3);
  while (more) {
    lines = first_lines(block.text(), longest_header, header);
    TextBlock following;
    more = lines.size() < longest_header && source.next(following);
    if (!more) break;
    if (lines.empty()) {  // nothing but comments so far
      header.lines += count_block(block.text()).lines;
      block = std::move(following);
    } else {
      block.storage = std::string(block.text()).append(following.text());
      block.mapped = {};
    }
  }
  auto const taken = read_first_lines(lines, pattern, name, header);
  if (taken > 0) {
    auto const size = lines[taken - 1].end;
    header.lines += count_block(block.text().substr(0, size)).lines;
    block.remove_prefix(size);
  }
  return header;
}

}  // namespace sporades::detail
