// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <charconv>
#include <cmath>
#include <limits>
#include <sporades/core/matrix.hpp>
#include <sporades/formats/file.hpp>
#include <sporades/formats/ktensor_file.hpp>
#include <sporades/formats/tns_file/number.hpp>
#include <sporades/formats/tns_file/parse_block.hpp>

namespace sporades {

namespace {

/// Walks over a text token by token, and knows its line.
class TokenReader {
 public:
  TokenReader(std::string_view text, std::string const& name)
      : p_(text.data()), end_(p_ + text.size()), name_(name) {}

  template <class... Parts>
  [[noreturn]] void refuse(Parts const&... parts) const {
    fail(name_, ":", line_, ": ", parts...);
  }

  /// The next token, on whatever line; empty at the end.
  std::string_view next() {
    skip_to_token();
    auto const* const start = p_;
    while (p_ != end_ && !detail::ends_token(*p_)) ++p_;
    return {start, static_cast<std::size_t>(p_ - start)};
  }

  std::uint64_t integer(char const* what) {
    std::uint64_t result = 0;
    auto const token = next();
    if (detail::parse_integer(token, result) != detail::Number::good)
      refuse("expected ", what, ", found ", found(token));
    return result;
  }

  template <class Scalar>
  Scalar real(char const* what) {
    Scalar result = 0;
    auto const token = next();
    if (detail::parse_real(token, result) != detail::Number::good)
      refuse("expected ", what, ", a finite number, found ", found(token));
    return result;
  }

  /// Refuses what is left of the line, so that numbers are where they belong.
  void end_line(char const* after) {
    auto const line = line_;
    skip_to_token();
    if (p_ == end_ || line_ != line) return;
    refuse("expected the end of the line after ", after, ", found ", found(next()));
  }

  std::string found(std::string_view token) const {
    return token.empty() ? "the end of the file" : detail::quoted(token);
  }

  std::size_t bytes_left() const { return static_cast<std::size_t>(end_ - p_); }

 private:
  void skip_to_token() {
    for (; p_ != end_; ++p_) {
      if (*p_ == '\n')
        ++line_;
      else if (*p_ == '#' || (*p_ == '/' && end_ - p_ > 1 && p_[1] == '/'))
        skip_comment();
      else if (!detail::is_blank(*p_))
        return;
    }
  }

  /// To the last character before the line end.
  void skip_comment() {
    while (end_ - p_ > 1 && p_[1] != '\n') ++p_;
  }

  char const* p_;
  char const* end_;
  std::string const& name_;
  std::uint64_t line_ = 1;
};

/// What comes first: the order, the dims and the rank.
struct Sizes {
  Dims dims;
  std::uint64_t rank;
};

/// Refuses sizes that the rest of the file is too short for: a number and a blank take two bytes.
void check_size(TokenReader const& in, Sizes const& sizes) {
  double numbers = static_cast<double>(sizes.rank);
  for (auto dim : sizes.dims) numbers += static_cast<double>(dim) * static_cast<double>(sizes.rank);
  if (2 * numbers > static_cast<double>(in.bytes_left()) + 1)
    in.refuse("a model of ", to_string(sizes.dims), " and rank ", sizes.rank, " has ", numbers,
              " numbers, too many for the ", in.bytes_left(), " bytes that are left");
}

Sizes read_sizes(TokenReader& in) {
  auto const type = in.next();
  if (type != "ktensor") in.refuse("expected \"ktensor\", found ", in.found(type));
  in.end_line("\"ktensor\"");
  auto const order = in.integer("the order");
  if (order < 1 || order > max_order) in.refuse("order ", order, " is not in 1 to ", max_order);
  in.end_line("the order");
  Sizes sizes;
  for (std::uint64_t n = 0; n < order; ++n)
    sizes.dims.push_back(in.integer("the length of a mode"));
  in.end_line("the dims");
  sizes.rank = in.integer("the rank");
  if (sizes.rank < 1 || sizes.rank > std::numeric_limits<int>::max())
    in.refuse("rank ", sizes.rank, " is not in 1 to ", std::numeric_limits<int>::max());
  in.end_line("the rank");
  check_size(in, sizes);
  return sizes;
}

template <class Scalar>
Matrix<Scalar, Kokkos::HostSpace> read_factor(TokenReader& in, int n, Sizes const& sizes) {
  auto const type = in.next();
  if (type != "matrix" && type != "facmatrix")
    in.refuse("expected \"matrix\", the factor of mode ", n, ", found ", in.found(type));
  in.end_line("\"matrix\"");
  auto const order = in.integer("the matrix's order, 2");
  if (order != 2) in.refuse("the factor of mode ", n, " has order ", order, ", expected 2");
  in.end_line("the matrix's order");
  auto const rows = in.integer("the number of rows");
  auto const columns = in.integer("the number of columns");
  if (rows != sizes.dims[n] || columns != sizes.rank)
    in.refuse("the factor of mode ", n, " is ", rows, " x ", columns, ", expected ", sizes.dims[n],
              " x ", sizes.rank);
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

/// Text that goes to a file in pieces, numbers in scientific form with all their digits.
template <class Scalar>
class NumberWriter {
 public:
  explicit NumberWriter(OutputFile& file) : file_(file) {}

  void text(std::string_view piece) {
    text_ += piece;
    if (text_.size() >= (std::size_t{1} << 20)) flush();
  }

  /// place names the number in the message for one that is not finite.
  template <class... Place>
  void number(Scalar number, Place const&... place) {
    expects(std::isfinite(number), "write_ktensor: ", place..., " is ", number);
    constexpr int decimals = std::numeric_limits<Scalar>::max_digits10 - 1;
    char digits[64];
    auto const end = std::to_chars(digits, digits + sizeof digits, number,
                                   std::chars_format::scientific, decimals);
    text({digits, static_cast<std::size_t>(end.ptr - digits)});
  }

  void flush() {
    file_.write(text_);
    text_.clear();
  }

 private:
  OutputFile& file_;
  std::string text_;
};

}  // namespace

template <class Scalar>
Ktensor<Scalar> parse_ktensor(std::string_view content, std::string const& name) {
  expects(!content.empty(), name, ": the file is empty");
  expects(content.substr(0, 2) != "\x1f\x8b", name, ": is gzipped, expected a model as plain text");
  TokenReader in(content, name);
  auto const sizes = read_sizes(in);
  Ktensor<Scalar> model;
  model.weights = Vector<Scalar, Kokkos::HostSpace>("sporades::weights", sizes.rank);
  for (std::uint64_t r = 0; r < sizes.rank; ++r) model.weights(r) = in.real<Scalar>("a weight");
  in.end_line("the weights");
  for (std::size_t n = 0; n < sizes.dims.size(); ++n)
    model.factors.push_back(read_factor<Scalar>(in, static_cast<int>(n), sizes));
  auto const rest = in.next();
  if (!rest.empty()) in.refuse("expected the end of the file, found ", in.found(rest));
  return model;
}

template <class Scalar>
Ktensor<Scalar> read_ktensor(std::string const& path) {
  MappedFile const file(path);
  return parse_ktensor<Scalar>(file.bytes(), path);
}

template <class Scalar>
void write_ktensor(std::string const& path, Ktensor<Scalar> const& model) {
  OutputFile file(path);
  NumberWriter<Scalar> out(file);
  auto const rank = static_cast<std::size_t>(model.rank());
  out.text("ktensor\n" + std::to_string(model.order()) + '\n');
  for (auto dim : model.dims()) out.text(std::to_string(dim) + ' ');
  out.text('\n' + std::to_string(rank) + '\n');
  for (std::size_t r = 0; r < rank; ++r) {
    out.number(model.weights(r), "weight ", r);
    out.text(r + 1 < rank ? " " : "\n");
  }
  for (int n = 0; n < model.order(); ++n) {
    auto const& A = model.factors[n];
    expects(A.extent(1) == rank, "write_ktensor: the factor of mode ", n, " has ", A.extent(1),
            " columns, the rank is ", rank);
    out.text("matrix\n2\n" + std::to_string(A.extent(0)) + ' ' + std::to_string(rank) + '\n');
    for (std::size_t i = 0; i < A.extent(0); ++i)
      for (std::size_t r = 0; r < rank; ++r) {
        out.number(A(i, r), "mode ", n, ", entry (", i, ", ", r, ")");
        out.text(r + 1 < rank ? " " : "\n");
      }
  }
  out.flush();
  file.commit();
}

template Ktensor<float> parse_ktensor(std::string_view, std::string const&);
template Ktensor<double> parse_ktensor(std::string_view, std::string const&);
template Ktensor<float> read_ktensor(std::string const&);
template Ktensor<double> read_ktensor(std::string const&);
template void write_ktensor(std::string const&, Ktensor<float> const&);
template void write_ktensor(std::string const&, Ktensor<double> const&);

}  // namespace sporades
