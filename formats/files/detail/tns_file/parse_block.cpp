// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <cstring>
#include <limits>
#include <sporades/core/error.hpp>
#include <sporades/formats/files/detail/tns_file/number.hpp>
#include <sporades/formats/files/detail/tns_file/parse_block.hpp>

namespace sporades::detail {

namespace {

bool begins_comment(char const* p) {
  return *p == '#' || *p == '%' || (*p == '/' && p[1] == '/');
}

/// The begin of the next line, or `end`. (Others may have overwritten the last line end.)
char const* next_line(char const* p, char const* end) {
  auto const* const found =
      static_cast<char const*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
  return found ? found + 1 : end;
}

template <class Scalar>
struct Line {
  std::uint64_t indices[16];
  Scalar value = 1;
  Loss loss = Loss::none;  // set by parse_line
};

template <class... Parts>
[[noreturn]] void refuse(Parts const&... parts) {
  throw LineProblem{0, concatenate(parts...)};
}

char const* why(Number number) {
  switch (number) {
    case Number::negative:
      return "is negative";
    case Number::fractional:
      return "is not an integer";
    case Number::out_of_range:
      return "is out of range";
    case Number::not_finite:
      return "is not finite";
    default:
      return "is not a number";
  }
}

/// The careful way: parses every line that is right, and finds the message for one that is not.
template <class Scalar>
void parse_line(char const* text, LineShape const& shape, Line<Scalar>& line) {
  auto const columns = split_columns(text);
  int const expected = shape.order + shape.has_value;
  if (columns.count != expected)
    refuse("found ", columns.count, columns.count == 1 ? " column" : " columns", ", expected ",
           shape.order, shape.order == 1 ? " index" : " indices",
           shape.has_value ? " and a value" : " and no value");
  for (int n = 0; n < shape.order; ++n) {
    auto const token = columns.tokens[n];
    auto const number = parse_integer(token, line.indices[n]);
    if (number == Number::good) continue;
    refuse("column ", n + 1, " (mode ", n, "): the index ", quoted(token), ' ',
           number == Number::out_of_range ? "is past 64 bits" : why(number));
  }
  if (!shape.has_value) return;
  auto const token = columns.tokens[shape.order];
  auto const number = parse_real(token, line.value);
  if (number != Number::good)
    refuse("column ", expected, " (the value): ", quoted(token), ' ', why(number));
  line.loss = loss_of(token, line.value);
}

/// True for characters that separate columns; a carriage return does not.
bool is_gap(char c) {
  return c == ' ' || c == '\t';
}

/// The fast way for most lines. For all others returns false, and p is anywhere in the line.
template <class Scalar>
bool parse_line_fast(char const*& p, LineShape const& shape, Line<Scalar>& line) {
  for (int n = 0; n < shape.order; ++n) {
    while (is_gap(*p)) ++p;
    if (!parse_index_fast(p, line.indices[n])) return false;
  }
  if (shape.has_value) {
    while (is_gap(*p)) ++p;
    if (!parse_real_fast(p, line.value)) return false;
  }
  while (is_blank(*p)) ++p;
  return *p++ == '\n';
}

/// Notes an index 0 that may come; throws LineProblem for one that may not, and for one that is
/// past the mode, as all are of a mode of length 0.
void handle_unusual_index(std::uint64_t index, int n, std::uint64_t line, LineShape const& shape,
                          BlockSummary& summary) {
  if (index == 0 && shape.base == 1 && shape.limits[n] > 0) {
    if (!shape.zero_may_come)
      refuse("column ", n + 1, " (mode ", n, "): the index 0, where indices count from 1; a file ",
             "that counts from 0 is read with --index-base zero, or per-mode where some modes do");
    if (!summary.any_zero[n]) summary.zero_line[n] = line;
    summary.any_zero[n] = true;
  } else {
    if (shape.limits[n] == std::numeric_limits<std::uint64_t>::max())
      refuse("column ", n + 1, " (mode ", n, "): the index ", index, " is past 64-bit dims");
    refuse("column ", n + 1, " (mode ", n, "): the index ", index, " is past the mode's length ",
           shape.limits[n], shape.base == 0 ? ", counted from 0" : "");
  }
}

/// Throws LineProblem for a value that the shape does not allow.
void check_value(char const* line, LineShape const& shape, double value) {
  char const* const what = why_refused(shape.values, value);
  if (what)
    refuse("column ", shape.order + 1,
           " (the value): ", quoted(split_columns(line).tokens[shape.order]), ' ', what);
}

}  // namespace

char const* why_refused(Values allowed, double value) {
  if (allowed == Values::any) return nullptr;
  if (value < 0) return "is negative, where counts are expected";
  if (allowed == Values::counts && value != std::floor(value))
    return "is not a whole number, where counts are expected";
  return nullptr;
}

bool is_data_line(char const* line) {
  while (is_blank(*line)) ++line;
  return *line != '\n' && !begins_comment(line);
}

bool has_lone_return(std::string_view line) {
  for (auto p = line.find('\r'); p != std::string_view::npos; p = line.find('\r', p)) {
    while (p < line.size() && is_blank(line[p])) ++p;
    if (p < line.size() && line[p] != '\n') return true;
  }
  return false;
}

BlockCount count_block(std::string_view text) {
  BlockCount count;
  auto const* const end = text.data() + text.size();
  for (auto const* p = text.data(); p != end; p = next_line(p, end)) {
    ++count.lines;
    count.nonzeros += is_data_line(p);
  }
  return count;
}

template <class Scalar, class Index>
BlockSummary parse_block(std::string_view text, LineShape const& shape,
                         BlockOutput<Scalar, Index> const& output) {
  BlockSummary summary;
  Line<Scalar> line;
  auto const* const end = text.data() + text.size();
  std::uint64_t line_number = 0;
  std::size_t p = 0;
  try {
    for (auto const* next = text.data(); next < end; ++line_number) {
      auto const* const start = next;
      if (!parse_line_fast(next, shape, line)) {
        next = next_line(start, end);
        if (has_lone_return({start, static_cast<std::size_t>(next - start)})) refuse(lone_return);
        if (!is_data_line(start)) continue;
        parse_line(start, shape, line);
        summary.losses.add(line.loss);
      }
      if (p == output.nonzeros) throw OtherText{};
      for (int n = 0; n < shape.order; ++n) {
        auto const coordinate = line.indices[n] - shape.base;
        if (coordinate >= shape.limits[n])
          handle_unusual_index(line.indices[n], n, line_number, shape, summary);
        else if (coordinate >= summary.largest[n])
          summary.largest[n] = coordinate, summary.any_index[n] = true;
        output.coordinates[n * output.stride + p] = static_cast<Index>(coordinate);
      }
      if (shape.values != Values::any && shape.has_value)
        check_value(start, shape, static_cast<double>(line.value));
      output.values[p++] = line.value;
    }
  } catch (LineProblem& problem) {
    problem.line = line_number;
    throw;
  }
  if (p != output.nonzeros) throw OtherText{};
  return summary;
}

std::vector<std::string> loss_notes(Losses const& losses, int bits) {
  std::vector<std::string> notes;
  auto const values = [](std::uint64_t count, char const* what) {
    return std::to_string(count) + ' ' + what + (count == 1 ? " was" : "s were") + " rounded";
  };
  if (losses.integers > 0)
    notes.push_back(concatenate(values(losses.integers, "integer"), ": past 2^", bits, " = ",
                                std::uint64_t{1} << bits, " the type of values holds not all"));
  if (losses.underflows > 0)
    notes.push_back(values(losses.underflows, "value") +
                    " to 0: the type of values holds none as small");
  return notes;
}

Columns split_columns(char const* line) {
  Columns columns;
  while (columns.count < 19) {
    while (is_blank(*line)) ++line;
    if (*line == '\n' || begins_comment(line)) break;
    auto const* const start = line;
    while (!ends_token(*line)) ++line;
    columns.tokens[columns.count++] = {start, static_cast<std::size_t>(line - start)};
  }
  return columns;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 40;
  static char const hex[] = "0123456789abcdef";
  std::string result = "\"";
  for (char const c : text.substr(0, longest)) {
    auto const byte = static_cast<unsigned char>(c);
    if (byte < 32 || byte > 126)
      result += std::string("\\x") + hex[byte / 16] + hex[byte % 16];
    else
      result += c;
  }
  return result + (text.size() > longest ? "...\"" : "\"");
}

template BlockSummary parse_block(std::string_view, LineShape const&,
                                  BlockOutput<float, std::uint32_t> const&);
template BlockSummary parse_block(std::string_view, LineShape const&,
                                  BlockOutput<float, std::uint64_t> const&);
template BlockSummary parse_block(std::string_view, LineShape const&,
                                  BlockOutput<double, std::uint32_t> const&);
template BlockSummary parse_block(std::string_view, LineShape const&,
                                  BlockOutput<double, std::uint64_t> const&);

}  // namespace sporades::detail
