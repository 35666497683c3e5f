// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <sporades/algorithms/command/csv/columns.hpp>
#include <sporades/core/types.hpp>

namespace sporades::command {
namespace {

/// The fields of the first record, or where that is no header their numbers, from 1.
std::vector<std::string> header_of(std::string_view text, std::string const& name, char separator,
                                   bool has_header) {
  auto header = first_record(text, name, separator);
  for (std::size_t k = 0; k < header.size(); ++k)
    header[k] = has_header ? std::string(trimmed(header[k])) : std::to_string(k + 1);
  return header;
}

std::string quoted_list(std::vector<std::string> const& names) {
  constexpr std::size_t most = 40;
  std::string text;
  for (std::size_t k = 0; k < std::min(names.size(), most); ++k)
    text += (k == 0 ? "'" : ", '") + names[k] + "'";
  return names.size() > most ? text + " and others" : text;
}

/// The place of a column in the header.
std::size_t place_of(std::string const& column, std::vector<std::string> const& header,
                     char const* option, std::string const& name, char separator) {
  auto const count = std::count(header.begin(), header.end(), column);
  expects(count > 0, option, ": ", name, " has no column '", column, "'; with the separator ",
          separator_text(separator), " its columns are ", quoted_list(header));
  expects(count == 1, option, ": the header of ", name, " has ", count, " columns '", column, "'");
  return static_cast<std::size_t>(std::find(header.begin(), header.end(), column) - header.begin());
}

char separator_of(std::string const& text) {
  if (text == "tab" || text == "\\t") return '\t';
  expects(text.size() == 1 && text != "\"" && text != "\n" && text != "\r", "--separator '", text,
          "': expected one character of one byte, or tab");
  return text[0];
}

/// That with which the header has most of the columns, and then most fields. A header may be no CSV
/// with the others.
char guessed_separator(std::string_view text, std::string const& name, bool has_header,
                       std::vector<std::string> const& wanted) {
  char best = ',';
  std::pair<std::ptrdiff_t, std::size_t> most{0, 0};
  for (char const separator : {',', ';', '\t', '|'}) try {
      auto const header = header_of(text, name, separator, has_header);
      auto const found = std::count_if(wanted.begin(), wanted.end(), [&](auto const& column) {
        return std::find(header.begin(), header.end(), column) != header.end();
      });
      std::pair const these{found, header.size()};
      if (these > most) best = separator;
      most = std::max(most, these);
    } catch (Error const&) {
    }
  return best;
}

}  // namespace

std::string separator_text(char separator) {
  return separator == '\t' ? "tab" : std::string("'") + separator + "'";
}

CsvColumns find_columns(std::string_view text, std::string const& name, CsvArguments const& csv) {
  std::vector<std::string> wanted;
  if (!csv.columns.empty()) wanted = first_record(csv.columns, "--columns", ',');
  if (csv.value) wanted.push_back(*csv.value);
  for (auto& column : wanted) column = trimmed(column);
  CsvColumns columns;
  columns.separator = csv.separator.empty() ? guessed_separator(text, name, csv.has_header, wanted)
                                            : separator_of(csv.separator);
  auto const header = header_of(text, name, columns.separator, csv.has_header);
  expects(!csv.columns.empty(), name, ": a CSV file becomes a tensor with --columns, which names ",
          "columns of it: ", quoted_list(header));
  columns.fields = header.size();
  if (csv.value) {
    columns.value_name = wanted.back();
    columns.value = place_of(wanted.back(), header, "--value", name, columns.separator);
    wanted.pop_back();
  }
  expects(wanted.size() <= static_cast<std::size_t>(max_order), "--columns names ", wanted.size(),
          " columns; a tensor has at most ", max_order, " modes");
  for (auto const& column : wanted) {
    auto const place = place_of(column, header, "--columns", name, columns.separator);
    expects(std::count(columns.modes.begin(), columns.modes.end(), place) == 0, "--columns has '",
            column, "' twice");
    columns.modes.push_back(place);
  }
  columns.names = wanted;
  return columns;
}

}  // namespace sporades::command
