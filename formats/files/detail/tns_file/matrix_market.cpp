// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/formats/files/detail/tns_file/first_lines.hpp>

namespace sporades::detail {

namespace {

/// What a banner says, in small letters.
struct Banner {
  bool has_two_signs = false;  // %% and no blank after them
  std::string name, object, format, field, symmetry;
};

Banner read_banner(std::string_view line) {
  Banner banner;
  std::string* const words[] = {&banner.name, &banner.object, &banner.format, &banner.field,
                                &banner.symmetry};
  auto const begin = std::min(line.find_first_not_of("% \t"), line.size());
  banner.has_two_signs = begin >= 2 && line[begin - 1] == '%' && line[begin - 2] == '%';
  auto const columns = split_columns(line.data() + begin);
  for (int k = 0; k < std::min(columns.count, 5); ++k)
    for (char c : columns.tokens[k]) *words[k] += c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
  return banner;
}

bool is_object(std::string const& word) {
  return word == "matrix" || word == "tensor" || word == "vector";
}

void read_field(Banner const& banner, std::string const& name, DataLine const& line,
                TextHeader& header) {
  header.pattern = banner.field == "pattern";
  bool const is_known = header.pattern || banner.field == "real" || banner.field == "double" ||
                        banner.field == "integer" || banner.field == "unsigned" ||
                        banner.field == "unsigned-integer";
  if (!is_known || (header.pattern && header.is_dense))
    refuse_line(name, line, "a MatrixMarket file of ", quoted(banner.field), " values",
                header.is_dense ? " in an array, expected real, integer or unsigned"
                                : ", expected real, integer, unsigned or pattern");
}

void read_symmetry(Banner const& banner, std::string const& name, DataLine const& line,
                   TextHeader& header) {
  auto const& symmetry = banner.symmetry;
  // Real matrices are Hermitian if they are symmetric.
  if (symmetry == "symmetric" || symmetry == "hermitian")
    header.symmetry = Symmetry::symmetric;
  else if (symmetry == "skew-symmetric")
    header.symmetry = Symmetry::skew_symmetric;
  else if (symmetry != "general")
    refuse_line(name, line, "a MatrixMarket file of symmetry ", quoted(symmetry),
                ", expected general, symmetric or skew-symmetric");
}

void read_sizes(Banner const& banner, std::string const& name, DataLine const& line,
                TextHeader& header) {
  std::vector<std::uint64_t> sizes;
  bool const is_read = all_integers(line.columns(), sizes);
  std::size_t const order = banner.object == "matrix"   ? 2
                            : banner.object == "vector" ? 1
                            : header.is_dense           ? sizes.size()
                                              : std::max<std::size_t>(sizes.size(), 1) - 1;
  if (!is_read || order == 0 || sizes.size() != order + !header.is_dense) {
    auto const* const dims = banner.object == "matrix"   ? "the numbers of rows, columns"
                             : banner.object == "vector" ? "the length"
                                                         : "the dims";
    refuse_line(name, line, "expected ", dims, header.is_dense ? "" : " and entries");
  }
  if (order > max_order) refuse_line(name, line, "order ", order, " is not in 1 to ", max_order);
  if (!header.is_dense) {
    header.nnz = sizes.back();
    header.nnz_line = line.number;
    sizes.pop_back();
  }
  if (header.symmetry != Symmetry::general && (order != 2 || sizes[0] != sizes[1]))
    refuse_line(name, line, "a ", banner.symmetry, " ", banner.object, " of ",
                sporades::to_string(Dims(sizes)));
  header.order = static_cast<int>(order);
  header.dims = sizes;
  header.dims_line = line.number;
}

}  // namespace

bool is_matrix_market_banner(std::string_view line) {
  auto const begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos || line[begin] != '%') return false;
  auto const banner = read_banner(line);
  return (banner.name == "matrixmarket" || banner.name == "tensormarket") &&
         (banner.has_two_signs || is_object(banner.object));
}

std::size_t read_matrix_market(FirstLines& lines, std::string const& name, TextHeader& header) {
  auto const banner = read_banner(lines[0].text);
  header.dialect = banner.object == "tensor" ? Dialect::tensor_market : Dialect::matrix_market;
  header.is_dense = banner.format == "array";
  if (!is_object(banner.object) || (banner.format != "coordinate" && !header.is_dense))
    refuse_line(name, lines[0], "a MatrixMarket ", quoted(banner.object + ' ' + banner.format),
                ", expected \"matrix\", \"tensor\" or \"vector\", and \"coordinate\" or \"array\"");
  read_field(banner, name, lines[0], header);
  read_symmetry(banner, name, lines[0], header);
  if (!lines.reach(2, header))
    refuse_line(name, lines.back(), "the file ends before its line of ",
                header.is_dense ? "dims" : "dims and the number of entries");
  read_sizes(banner, name, lines[1], header);
  header.stated_base = 1;
  return 2;
}

}  // namespace sporades::detail
