// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Text forms of models: what the readers and writers of ktensor and ttensor files have in common.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <sporades/core/detail/processes/row_pieces.hpp>
#include <sporades/core/matrix.hpp>
#include <sporades/formats/files/detail/file.hpp>
#include <sporades/formats/files/detail/foreign_format.hpp>
#include <sporades/formats/files/detail/input_file.hpp>
#include <sporades/formats/files/detail/tns_file/number.hpp>
#include <sporades/formats/files/detail/tns_file/parse_block.hpp>
#include <sporades/formats/files/model_facts.hpp>
#include <sporades/formats/kruskal_tensor.hpp>
#include <sporades/formats/tucker_tensor.hpp>
#include <string_view>

namespace sporades::detail {

/// Reads the text of a file token by token, and counts the lines. Holds a piece of the text.
class TokenReader {
 public:
  /// begin: the place of the text in the file.
  explicit TokenReader(InputFile const& file, std::uint64_t begin = 0)
      : file_(file), name_(file.name()), loaded_(begin) {}

  template <class... Parts>
  [[noreturn]] void refuse(Parts const&... parts) const {
    fail(name_, ":", line_, ": ", parts...);
  }

  /// The next token, which may be on a later line; empty at the end of the text. It holds until
  /// the next call.
  std::string_view next() {
    skip_to_token();
    std::size_t size = 0;
    while (has(size + 1) && !ends_token(piece_[p_ + size])) ++size;
    p_ += size;
    return std::string_view(piece_).substr(p_ - size, size);
  }

  std::uint64_t integer(char const* what) {
    std::uint64_t result = 0;
    auto const token = next();
    if (parse_integer(token, result) != Number::good)
      refuse("expected ", what, ", found ", found(token));
    return result;
  }

  template <class Scalar>
  Scalar real(char const* what) {
    Scalar result = 0;
    auto const token = next();
    if (parse_real(token, result) != Number::good)
      refuse("expected ", what, ", a finite number, found ", found(token));
    return result;
  }

  /// Throws Error if a token is left in this line.
  void end_line(char const* after) {
    auto const line = line_;
    skip_to_token();
    if (!has(1) || line_ != line) return;
    refuse("expected the end of the line after ", after, ", found ", found(next()));
  }

  std::string found(std::string_view token) const {
    return token.empty() ? "the end of the file" : quoted(token);
  }

  std::uint64_t bytes_left() const { return file_.size() - loaded_ + piece_.size() - p_; }

 private:
  /// Whether so many bytes follow; they are then in the piece.
  bool has(std::size_t size) { return size <= piece_.size() - p_ || load(size); }

  /// Takes a piece that begins with the next byte.
  bool load(std::size_t size) {
    loaded_ -= piece_.size() - p_;
    piece_ = file_.text(loaded_, std::max(2 * size, std::size_t{1} << 16));
    loaded_ += piece_.size();
    p_ = 0;
    return size <= piece_.size();
  }

  void skip_to_token() {
    for (; has(1); ++p_) {
      if (piece_[p_] == '\n')
        ++line_;
      else if (piece_[p_] == '#' || (piece_[p_] == '/' && has(2) && piece_[p_ + 1] == '/'))
        skip_comment();
      else if (!is_blank(piece_[p_]))
        return;
    }
  }

  /// Skips to the last character of the line.
  void skip_comment() {
    while (has(2) && piece_[p_ + 1] != '\n') ++p_;
  }

  InputFile const& file_;
  std::string const& name_;
  std::string piece_;     // of the text
  std::size_t p_ = 0;     // the place of the next byte in the piece
  std::uint64_t loaded_;  // the place in the file after the piece
  std::uint64_t line_ = 1;
};

/// read_ktensor and read_ttensor for a file that is open.
template <class Scalar>
KruskalTensor<Scalar> parse_ktensor(InputFile const& file);
template <class Scalar>
TuckerTensor<Scalar> parse_ttensor(InputFile const& file);

/// A reader of the text of a model, without a byte-order mark. Throws Error if the file is empty or
/// no text.
inline TokenReader model_reader(InputFile const& file) {
  auto const begin = file.text(0, 300);
  expects(!begin.empty(), file.name(), ": the file is empty");
  expects(begin.substr(0, 2) != "\x1f\x8b", file.name(),
          ": is gzipped, expected a model as plain text");
  if (auto const* const what = foreign_format(begin))
    fail(file.name(), ": expected a model as plain text, and this is ", what);
  bool const is_marked = begin.substr(0, byte_order_mark.size()) == byte_order_mark;
  return TokenReader(file, is_marked ? byte_order_mark.size() : 0);
}

/// Reads the order and the dims, which follow the first line.
inline Dims read_dims(TokenReader& in) {
  auto const order = in.integer("the order");
  if (order < 1 || order > max_order) in.refuse("order ", order, " is not in 1 to ", max_order);
  in.end_line("the order");
  Dims dims;
  for (std::uint64_t n = 0; n < order; ++n) dims.push_back(in.integer("the length of a mode"));
  in.end_line("the dims");
  return dims;
}

/// Throws Error if the rest of the file is too short for this many numbers: each takes at least two
/// bytes, a digit and a blank. model: describes the model in the message.
template <class... Parts>
void check_size(TokenReader const& in, double numbers, Parts const&... model) {
  if (2 * numbers > static_cast<double>(in.bytes_left()) + 1)
    in.refuse("a model of ", model..., " has ", numbers, " numbers, too many for the ",
              in.bytes_left(), " bytes that are left");
}

/// Throws Error if anything follows the model.
inline void end_file(TokenReader& in) {
  auto const rest = in.next();
  if (!rest.empty()) in.refuse("expected the end of the file, found ", in.found(rest));
}

/// Reads the "matrix" block of mode n's factor, dim x rank.
template <class Scalar>
Matrix<Scalar, Kokkos::HostSpace> read_factor(TokenReader& in, int n, std::uint64_t dim,
                                              std::uint64_t rank) {
  auto const type = in.next();
  if (type != "matrix" && type != "facmatrix")
    in.refuse("expected \"matrix\", the factor of mode ", n, ", found ", in.found(type));
  in.end_line("\"matrix\"");
  auto const order = in.integer("the matrix's order, 2");
  if (order != 2) in.refuse("the factor of mode ", n, " has order ", order, ", expected 2");
  in.end_line("the matrix's order");
  auto const rows = in.integer("the number of rows");
  auto const columns = in.integer("the number of columns");
  if (rows != dim || columns != rank)
    in.refuse("the factor of mode ", n, " is ", rows, " x ", columns, ", expected ", dim, " x ",
              rank);
  in.end_line("the matrix's size");
  auto const A =
      make_matrix<Scalar>(Kokkos::DefaultHostExecutionSpace(), "sporades::factor", rows, columns);
  Kokkos::DefaultHostExecutionSpace().fence();
  for (std::uint64_t i = 0; i < rows; ++i) {
    for (std::uint64_t r = 0; r < columns; ++r) A(i, r) = in.real<Scalar>("an entry of a factor");
    in.end_line("a row");
  }
  return A;
}

/// How a line with a fact begins.
inline constexpr std::string_view fact_mark = "// sporades ";

/// The lines of a model's facts.
std::string fact_lines(ModelFacts const& facts);

/// Writes text to a file in large pieces, and numbers in scientific form with all their digits.
template <class Scalar>
class NumberWriter {
 public:
  /// where: the beginning of error messages.
  NumberWriter(std::string path, char const* where) : path_(std::move(path)), where_(where) {}

  /// Makes the file.
  void open() { file_.emplace(path_); }

  void text(std::string_view piece) {
    text_ += piece;
    if (text_.size() >= (std::size_t{1} << 20)) flush();
  }

  /// Throws Error if the number is not finite; place names it in the message.
  template <class... Place>
  void number(Scalar number, Place const&... place) {
    expects(std::isfinite(number), where_, ": ", place..., " is ", number);
    constexpr int decimals = std::numeric_limits<Scalar>::max_digits10 - 1;
    char digits[64];
    auto const end = std::to_chars(digits, digits + sizeof digits, number,
                                   std::chars_format::scientific, decimals);
    text({digits, static_cast<std::size_t>(end.ptr - digits)});
  }

  /// Gives the file its name.
  void commit() {
    flush();
    file_->commit();
  }

 private:
  void flush() {
    file_->write(text_);
    text_.clear();
  }

  std::string path_;
  std::optional<OutputFile> file_;
  char const* where_;
  std::string text_;
};

/// Writes the "matrix" block of mode n's factor, whose rows here `rows` says. Collective.
template <class Scalar>
void write_factor(FirstProcess& first, NumberWriter<Scalar>& out, int n,
                  Matrix<Scalar, Kokkos::HostSpace> const& A, RowMap const& rows) {
  std::size_t const rank = A.extent(1);
  first([&] {
    out.text("matrix\n2\n" + std::to_string(rows.all(A.extent(0))) + ' ' + std::to_string(rank) +
             '\n');
  });
  for_all_rows<Scalar>(
      rows, A.extent(0), rank, [&](std::uint64_t i) { return &A(i, 0); },
      [&](Scalar const* numbers, std::uint64_t begin, std::uint64_t count) {
        first([&] {
          for (std::uint64_t i = 0; i < count; ++i)
            for (std::size_t r = 0; r < rank; ++r) {
              out.number(numbers[i * rank + r], "mode ", n, ", entry (", begin + i, ", ", r, ")");
              out.text(r + 1 < rank ? " " : "\n");
            }
        });
      });
}

/// Writes a model as text: its kind, as "ktensor", order and dims, what write_head(out) writes, the
/// factors and the facts. rows: of each factor, those that are here; or none, where all are.
/// Collective.
template <class Scalar, class WriteHead>
void write_model(std::string const& path, std::string const& kind,
                 Factors<Scalar, Kokkos::HostSpace> const& factors, std::vector<RowMap> rows,
                 ModelFacts const& facts, WriteHead const& write_head) {
  auto const N = factors.size();
  auto const where = "write_" + kind;
  if (rows.empty()) rows.resize(N);
  expects(rows.size() == N, where, ": ", rows.size(), " distributions of rows, the order is ", N);
  FirstProcess first(N == 0 ? Communicator() : rows.front().processes);
  NumberWriter<Scalar> out(path, where.c_str());
  first([&] {
    out.open();
    out.text(kind + '\n' + std::to_string(N) + '\n');
    for (std::size_t n = 0; n < N; ++n)
      out.text(std::to_string(rows[n].all(factors[n].extent(0))) + ' ');
    out.text("\n");
    write_head(out);
  });
  for (std::size_t n = 0; n < N; ++n)
    write_factor(first, out, static_cast<int>(n), factors[n], rows[n]);
  first([&] {
    out.text(fact_lines(facts));
    out.commit();
  });
  first.end();
}

}  // namespace sporades::detail
