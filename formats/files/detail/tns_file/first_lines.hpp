// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <deque>
#include <sporades/core/error.hpp>
#include <sporades/formats/files/detail/foreign_format.hpp>
#include <sporades/formats/files/detail/tns_file/header.hpp>
#include <sporades/formats/files/detail/tns_file/matrix_market.hpp>
#include <sporades/formats/files/detail/tns_file/number.hpp>
#include <sporades/formats/files/detail/tns_file/parse_block.hpp>

namespace sporades::detail {

struct DataLine {
  std::string text;      // with its line end
  std::uint64_t number;  // from 1
  Columns columns() const { return split_columns(text.c_str()); }
};

/// Throws Error for a line of the header.
template <class... Parts>
[[noreturn]] void refuse_line(std::string const& name, DataLine const& line,
                              Parts const&... parts) {
  fail(name, ":", line.number, ": ", parts...);
}

inline bool all_integers(Columns const& columns, std::vector<std::uint64_t>& integers) {
  integers.resize(static_cast<std::size_t>(columns.count));
  for (std::size_t n = 0; n < integers.size(); ++n)
    if (parse_integer(columns.tokens[n], integers[n]) != Number::good) return false;
  return true;
}

/// True for bytes that are in no text.
inline bool is_binary(char c) {
  return static_cast<unsigned char>(c) < 32 && (c < '\t' || c > '\r');
}

/// The first data lines of a text, which are taken from its source one by one as they are needed.
class FirstLines {
 public:
  /// block: receives the blocks of the source.
  FirstLines(TextSource& source, TextBlock& block, std::string const& name)
      : source_(source), block_(block), name_(name) {
    source_.next(block_);
    if (auto const* const what = foreign_format(block_.text())) fail(name_, ":1: this is ", what);
    if (block_.text().substr(0, byte_order_mark.size()) == byte_order_mark)
      block_.remove_prefix(byte_order_mark.size());
  }

  /// Takes lines until there are `count` of them; false if the text ends before.
  bool reach(std::size_t count, TextHeader& header) {
    while (lines_.size() < count)
      if (!take_line(header)) return false;
    return true;
  }

  DataLine const& operator[](std::size_t k) const { return lines_[k]; }
  DataLine const& back() const { return lines_.back(); }

  /// The first `taken` data lines, and the comments among them, are the header: counts them. Puts
  /// all later lines back into the block.
  void give_back(std::size_t taken, TextHeader& header) {
    header.lines = taken < lines_.size() ? lines_[taken].number - 1 : number_;
    std::string rest;
    auto next = header.lines + 1;
    for (auto k = taken; k < lines_.size(); ++k) {
      rest.append(lines_[k].number - next, '\n');  // in place of comments: lines keep their numbers
      rest += lines_[k].text;
      next = lines_[k].number + 1;
    }
    if (rest.empty()) return block_.remove_prefix(place_);
    rest += block_.text().substr(place_);
    block_ = {std::move(rest)};
  }

 private:
  /// Takes lines up to the next data line; false at the end of the text.
  bool take_line(TextHeader& header) {
    for (; !block_.text().empty(); place_ = 0) {
      while (place_ < block_.text().size()) {
        auto const text = block_.text().substr(place_);
        auto const line = text.substr(0, text.find('\n') + 1);
        place_ += line.size();
        ++number_;
        if (keep(line, header)) return true;
      }
      TextBlock following;
      if (!source_.next(following)) return false;
      block_ = std::move(following);
    }
    return false;
  }

  /// Keeps the line if it is a data line, else returns false.
  bool keep(std::string_view line, TextHeader& header) {
    constexpr std::string_view dims_comment = "# sporades dims:";
    if (lines_.empty() && std::any_of(line.begin(), line.end(), is_binary))
      fail(name_, ":", number_, ": this is binary data, and neither gzip nor .spt");
    if (has_lone_return(line)) fail(name_, ":", number_, ": ", lone_return);
    if (is_data_line(line.data()) || (lines_.empty() && is_matrix_market_banner(line))) {
      lines_.push_back({std::string(line), number_});
      return true;
    }
    if (lines_.empty() && line.substr(0, dims_comment.size()) == dims_comment)
      read_dims(line.data() + dims_comment.size(), header);
    return false;
  }

  void read_dims(char const* text, TextHeader& header) const {
    auto const columns = split_columns(text);
    std::vector<std::uint64_t> dims(static_cast<std::size_t>(columns.count));
    bool good = !dims.empty();
    for (std::size_t n = 0; n < dims.size(); ++n)
      good = good && parse_integer(columns.tokens[n], dims[n]) == Number::good;
    if (good) header.dims = dims;
    header.dims_line = number_;
  }

  TextSource& source_;
  TextBlock& block_;
  std::string const& name_;
  std::size_t place_ = 0;       // the place in the block after the last line that was taken
  std::uint64_t number_ = 0;    // the number of this line
  std::deque<DataLine> lines_;  // a deque does not move them: columns() points into them
};

}  // namespace sporades::detail
