// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/core/error.hpp>
#include <sporades/formats/files/detail/tns_file/first_lines.hpp>
#include <sporades/formats/files/detail/tns_file/number.hpp>
#include <sporades/formats/files/detail/tns_file/parse_block.hpp>
#include <sporades/formats/files/detail/tns_file/sizes_header.hpp>

namespace sporades::detail {

namespace {

constexpr int highest_order = 16;

int order_of(std::uint64_t order, std::string const& name, DataLine const& line) {
  if (order < 1 || order > highest_order)
    refuse_line(name, line, "order ", order, " is not in 1 to ", highest_order);
  return static_cast<int>(order);
}

std::uint64_t one_integer(char const* what, std::string const& name, DataLine const& line) {
  std::uint64_t integer = 0;
  auto const columns = line.columns();
  if (columns.count != 1 || parse_integer(columns.tokens[0], integer) != Number::good)
    refuse_line(name, line, "expected one integer, ", what, ", found ", quoted(columns.tokens[0]),
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
  refuse_line(name, line, "unknown tensor type ",
              quoted(std::string(columns.tokens[0]) + ' ' + std::string(base)));
}

/// Reads the lines "sptensor" or "tensor", the order, the dims and, after "sptensor", nnz.
std::size_t read_typed_header(FirstLines& lines, std::string const& name, TextHeader& header) {
  bool const is_sparse = header.dialect == Dialect::sptensor;
  read_base(lines[0], name, header);
  std::size_t const expected = is_sparse ? 4 : 3;
  if (!lines.reach(expected, header))
    refuse_line(name, lines.back(), "the file ends inside its header, which has ", expected,
                " lines");
  header.order = order_of(one_integer("the order", name, lines[1]), name, lines[1]);
  std::vector<std::uint64_t> dims;
  auto const columns = lines[2].columns();
  if (columns.count != header.order || !all_integers(columns, dims))
    refuse_line(name, lines[2], "expected the lengths of ", header.order, " modes");
  header.dims = dims;
  header.dims_line = lines[2].number;
  header.is_dense = !is_sparse;
  if (is_sparse) {
    header.nnz = one_integer("the number of nonzeros", name, lines[3]);
    header.nnz_line = lines[3].number;
  }
  return expected;
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
  if (word == "ktensor" || word == "ttensor")
    refuse_line(name, line, "this is a ", word == "ktensor" ? "Kruskal" : "Tucker",
                " tensor, expected a sparse tensor; models go to --init, info, view, evaluate and "
                "predict");
  if (word == "matrix") refuse_line(name, line, "this is a dense matrix, expected a sparse tensor");
  if (word.find_first_of(",;") != std::string_view::npos)
    refuse_line(name, line, "this looks like CSV (", quoted(word),
                "), expected columns with blanks between them: tr ',;' '  ' makes them");
  std::uint64_t index = 0;
  if (columns.count == 1 && parse_integer(word, index) == Number::malformed)
    refuse_line(name, line, "unknown tensor type ", quoted(word));
}

/// Throws Error if the first lines look like the sizes of nonzeros without values, and are no
/// nonzeros with values.
void refuse_pattern(FirstLines& lines, std::string const& name, TextHeader& header) {
  auto const sizes = find_sizes(lines, false, header);
  if (!sizes || !sizes->is_certain) return;
  auto const next = static_cast<std::size_t>(sizes->lines);
  std::vector<std::uint64_t> indices;
  if (!lines.reach(next + 1, header) || !all_integers(lines[next].columns(), indices)) return;
  for (std::size_t n = 0; n < indices.size(); ++n)
    if (indices[n] > sizes->dims[n]) return;
  auto const found = indices.size(), expected = sizes->lines == 1 ? found : std::size_t{1};
  refuse_line(name, lines[next], "found ", found, found == 1 ? " column" : " columns",
              ", expected ", expected, expected == 1 ? " index" : " indices",
              " and a value; after a header of dims and number of nonzeros, --pattern reads lines "
              "without values");
}

/// Reads the header of a text that begins with numbers. Returns how many of its first data lines
/// belong to it.
std::size_t read_numbers(FirstLines& lines, ReadOptions const& options, std::string const& name,
                         TextHeader& header) {
  bool const pattern = options.pattern;
  auto const columns = lines[0].columns();
  if (options.first_line != FirstLine::nonzero) {
    if (is_parti_header(lines, pattern, header)) return 2;
    auto const sizes = header.dims ? std::nullopt : find_sizes(lines, !pattern, header);
    bool const is_asked = options.first_line == FirstLine::header;
    if (sizes && (sizes->is_certain || is_asked)) return take_sizes(*sizes, lines, header);
    if (is_asked)
      refuse_line(name, lines[0], "expected a header: the dims and the number of nonzeros, or the ",
                  "order, the number of nonzeros and in the next line the dims");
    if (options.dims.empty() || (sizes && options.dims == Dims(sizes->dims))) header.sizes = sizes;
  }
  if (columns.count < 1 + !pattern)
    refuse_line(name, lines[0], "found one column, expected indices and a value");
  if (columns.count - !pattern > highest_order)
    refuse_line(name, lines[0], "order ", columns.count - !pattern,
                columns.count == 19 ? " or more" : "", " is not in 1 to ", highest_order);
  if (!pattern) refuse_pattern(lines, name, header);
  header.order = columns.count - !pattern;
  return 0;
}

/// Reads the header. Returns how many of the text's first data lines belong to it.
std::size_t read_first_lines(FirstLines& lines, ReadOptions const& options, std::string const& name,
                             TextHeader& header) {
  if (!lines.reach(1, header)) return 0;
  auto const& first = lines[0];
  if (is_matrix_market_banner(first.text)) return read_matrix_market(lines, name, header);
  auto const word = first.columns().tokens[0];
  if (word == "sptensor" || word == "tensor") {
    header.dialect = word == "tensor" ? Dialect::tensor : Dialect::sptensor;
    return read_typed_header(lines, name, header);
  }
  refuse_other_files(first, name);
  return read_numbers(lines, options, name, header);
}

}  // namespace

char const* to_string(Dialect dialect) {
  switch (dialect) {
    case Dialect::frostt_with_sizes:
      return "FROSTT with a header";
    case Dialect::extended_frostt:
      return "extended FROSTT";
    case Dialect::sptensor:
      return "sptensor";
    case Dialect::parti:
      return "ParTI";
    case Dialect::tensor:
      return "tensor";
    case Dialect::matrix_market:
      return "MatrixMarket";
    case Dialect::tensor_market:
      return "TensorMarket";
    default:
      return "FROSTT";
  }
}

TextHeader read_header(TextSource& source, TextBlock& block, ReadOptions const& options,
                       std::string const& name) {
  TextHeader header;
  FirstLines lines(source, block, name);
  lines.give_back(read_first_lines(lines, options, name, header), header);
  return header;
}

}  // namespace sporades::detail
