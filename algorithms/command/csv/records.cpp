// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <sporades/algorithms/command/csv/records.hpp>
#include <sporades/core/error.hpp>

namespace sporades::command {

namespace {

/// A field of more bytes is taken for one whose quotation mark is missing.
constexpr std::size_t longest_field = std::size_t{1} << 20;

}  // namespace

CsvRecords::CsvRecords(sporades::detail::TextSource* source, sporades::detail::TextBlock first,
                       std::string const& name, char separator)
    : source_(source),
      block_(std::move(first)),
      rest_(block_.text()),
      name_(name),
      separator_(separator) {}

template <class... Parts>
void CsvRecords::refuse(Parts const&... parts) const {
  fail(name_, ":", line_, ": ", parts...);
}

bool CsvRecords::has_more() {
  while (rest_.empty()) {
    if (!source_ || !source_->next(block_)) return false;
    rest_ = block_.text();
  }
  return true;
}

/// Appends so many bytes to the field.
void CsvRecords::take(std::size_t count) {
  auto const piece = rest_.substr(0, count);
  auto const before_zero = piece.substr(0, piece.find('\0'));
  line_ += static_cast<std::uint64_t>(std::count(before_zero.begin(), before_zero.end(), '\n'));
  if (before_zero.size() < piece.size())
    refuse("a zero byte, which no CSV has; text in UTF-16 has to be saved as UTF-8");
  text_ += piece;
  rest_.remove_prefix(piece.size());
}

bool CsvRecords::next() {
  text_.clear();
  ends_.clear();
  while (has_more()) {
    if (ends_.empty()) record_line_ = line_;
    if (rest_[0] == '"')
      read_quoted();
    else
      read_plain();
    ends_.push_back(text_.size());
    if (!ends_record()) continue;
    if (ends_.size() > 1 || !text_.empty()) return true;
    ends_.clear();  // an empty line
  }
  return false;
}

void CsvRecords::read_plain() {
  char const ends[] = {separator_, '\n', '\r'};
  take(rest_.find_first_of({ends, sizeof ends}));  // a block ends with a line end
}

void CsvRecords::read_quoted() {
  auto const begin = text_.size();
  auto const first_line = line_;
  rest_.remove_prefix(1);
  while (true) {
    if (!has_more() || text_.size() - begin > longest_field)
      fail(name_, ":", first_line, ": a quotation mark begins a field here, and none ends it",
           rest_.empty() ? "" : " within a mebibyte");
    auto const quote = rest_.find('"');
    take(quote);
    if (quote == rest_.npos) continue;
    rest_.remove_prefix(1);
    if (!has_more() || rest_[0] != '"') return;
    take(1);
  }
}

/// Takes what comes after a field: a separator, or the end of the record, for which it returns
/// true.
bool CsvRecords::ends_record() {
  if (!has_more()) return true;  // not after a line end, which every text has
  char const next = rest_[0];
  if (next == separator_) {
    rest_.remove_prefix(1);
    return false;
  }
  if (next == '\r') {
    if (rest_.substr(1, 1) != "\n")
      refuse("a carriage return inside a line; lines end in LF or CRLF");
    rest_.remove_prefix(1);
  } else if (next != '\n') {
    refuse("'", std::string(rest_.substr(0, 1)), "' follows the quotation mark that ends field ",
           ends_.size(), ", which begins at ", place(ends_.size() - 1),
           "; inside a quoted field a quotation mark is doubled");
  }
  rest_.remove_prefix(1);
  ++line_;
  return true;
}

std::string_view CsvRecords::operator[](std::size_t k) const {
  auto const begin = k == 0 ? 0 : ends_[k - 1];
  return std::string_view(text_).substr(begin, ends_[k] - begin);
}

std::vector<std::string> CsvRecords::fields() const {
  std::vector<std::string> all;
  for (std::size_t k = 0; k < size(); ++k) all.emplace_back((*this)[k]);
  return all;
}

std::string CsvRecords::place(std::size_t k) const {
  auto const end = text_.begin() + static_cast<std::ptrdiff_t>(k == 0 ? 0 : ends_[k - 1]);
  auto const lines = static_cast<std::uint64_t>(std::count(text_.begin(), end, '\n'));
  return sporades::detail::concatenate(name_, ":", record_line_ + lines);
}

std::string_view trimmed(std::string_view text) {
  auto const begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::vector<std::string> first_record(std::string_view text, std::string const& name,
                                      char separator) {
  sporades::detail::TextBlock block{std::string(text)};
  if (text.empty() || text.back() != '\n') block.storage += '\n';
  CsvRecords records(nullptr, std::move(block), name, separator);
  expects(records.next(), name, ": there is no line with text");
  return records.fields();
}

}  // namespace sporades::command
