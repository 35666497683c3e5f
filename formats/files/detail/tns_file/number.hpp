// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

namespace sporades::detail {

inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}
inline bool ends_token(char c) {
  return is_blank(c) || c == '\n';
}
inline unsigned digit(char c) {
  return static_cast<unsigned char>(c) - unsigned{'0'};
}

enum class Number { good, malformed, negative, fractional, out_of_range, not_finite };

/// The decimal exponent of the first nonzero digit of a token that from_chars accepted.
inline std::int64_t decimal_exponent(std::string_view token) {
  std::int64_t exponent = 0, point = 0;
  bool significant = false, after_point = false;
  std::size_t p = token.front() == '-';
  for (; p < token.size() && token[p] != 'e' && token[p] != 'E'; ++p) {
    if (token[p] == '.') {
      after_point = true;
      continue;
    }
    significant = significant || token[p] != '0';
    if (significant && !after_point) ++point;
    if (!significant && after_point) --point;
  }
  if (p < token.size()) {
    ++p;
    bool const negative = token[p] == '-';
    if (token[p] == '-' || token[p] == '+') ++p;
    for (; p < token.size() && exponent < 1'000'000'000'000; ++p)
      exponent = exponent * 10 + digit(token[p]);
    if (negative) exponent = -exponent;
  }
  return point + exponent;
}

/// The token with an e before its exponent where Fortran writes d or q, or nothing if the exponent
/// has three digits: 1.5D+01, 1.5-101.
inline std::string with_exponent_letter(std::string_view token) {
  std::string text(token);
  auto const p = text.find_first_not_of("0123456789.", 1);
  if (p == std::string::npos) return text;
  bool const is_letter = std::string_view("dDqQ").find(text[p]) != std::string_view::npos;
  bool const is_sign = text[p] == '+' || text[p] == '-';
  if (is_letter)
    text[p] = 'e';
  else if (is_sign && text.size() - p == 4 && text.find('.') < p)
    text.insert(p, 1, 'e');
  return text;
}

/// Parses a decimal number, with an optional '+', that is the whole token. Rounds to the nearest
/// Scalar, numbers that are too small to zero.
template <class Scalar>
Number parse_real(std::string_view token, Scalar& result) {
  if (token.size() > 1 && token.front() == '+' && token[1] != '-') token.remove_prefix(1);
  auto const* const end = token.data() + token.size();
  auto const [rest, error] = std::from_chars(token.data(), end, result);
  if (error == std::errc::invalid_argument) return Number::malformed;
  if (rest != end) {
    auto const text = with_exponent_letter(token);
    return text == token ? Number::malformed : parse_real(text, result);
  }
  if (error == std::errc::result_out_of_range) {
    if (decimal_exponent(token) > 0) return Number::out_of_range;
    result = token.front() == '-' ? -Scalar{0} : Scalar{0};
    return Number::good;
  }
  auto const largest = std::numeric_limits<Scalar>::max();
  return result >= -largest && result <= largest ? Number::good : Number::not_finite;
}

/// Parses a decimal number that is whole and not negative, such as 1.000e+00, without rounding.
inline Number parse_whole_real(std::string_view token, std::uint64_t& result) {
  if (!token.empty() && token.front() == '+') return Number::malformed;
  double real = 0;
  auto const number = parse_real(token, real);
  if (number == Number::not_finite) return real < 0 ? Number::negative : Number::fractional;
  if (number != Number::good) return number;
  if (real < 0) return Number::negative;
  auto const text = with_exponent_letter(token);
  auto places = decimal_exponent(text);  // of the digits before the point, without leading zeros
  std::string digits;
  for (char const c : std::string_view(text).substr(0, text.find_first_of("eE")))
    if (digit(c) < 10 && (c != '0' || !digits.empty())) digits += c;
  while (!digits.empty() && digits.back() == '0') digits.pop_back();
  if (digits.empty()) places = 0;
  if (places < static_cast<std::int64_t>(digits.size())) return Number::fractional;
  if (places > std::numeric_limits<std::uint64_t>::digits10 + 1) return Number::out_of_range;
  digits.append(static_cast<std::size_t>(places) - digits.size(), '0');
  result = 0;
  auto const error = std::from_chars(digits.data(), digits.data() + digits.size(), result).ec;
  return error == std::errc::result_out_of_range ? Number::out_of_range : Number::good;
}

/// Parses an unsigned integer of at most 64 bits, with an optional '+', that is the whole token. It
/// may be written as a real number, such as 1.000e+00.
inline Number parse_integer(std::string_view token, std::uint64_t& result) {
  if (!token.empty() && token.front() == '+') token.remove_prefix(1);
  auto const* const end = token.data() + token.size();
  auto const [rest, error] = std::from_chars(token.data(), end, result);
  if (error == std::errc::result_out_of_range && rest == end) return Number::out_of_range;
  if (error == std::errc{} && rest == end) return Number::good;
  return parse_whole_real(token, result);
}

/// What a token says and the number that parse_real made of it does not hold.
enum class Loss { none, integer, underflow };

/// Only integers that are written with all their digits are meant to be exact: numbers with
/// an exponent or a fraction are not.
template <class Scalar>
Loss loss_of(std::string_view token, Scalar value) {
  if (value == 0)
    return token.substr(0, token.find_first_of("eEdDqQ+-", 1)).find_first_of("123456789") ==
                   std::string_view::npos
               ? Loss::none
               : Loss::underflow;
  constexpr auto exact_integers = std::uint64_t{1} << std::numeric_limits<Scalar>::digits;
  if (value < static_cast<Scalar>(exact_integers) && value > -static_cast<Scalar>(exact_integers))
    return Loss::none;
  token.remove_prefix(std::min(token.find_first_of("123456789"), token.size()));
  auto const point = token.find('.');
  if (token.find_first_not_of("0123456789.") != std::string_view::npos) return Loss::none;
  if (point != std::string_view::npos &&
      token.find_first_not_of('0', point + 1) != std::string_view::npos)
    return Loss::none;
  char exact[std::numeric_limits<Scalar>::max_exponent10 + 2];
  auto const* const end = std::to_chars(exact, exact + sizeof exact, value < 0 ? -value : value,
                                        std::chars_format::fixed, 0)
                              .ptr;
  return token.substr(0, point) == std::string_view(exact, static_cast<std::size_t>(end - exact))
             ? Loss::none
             : Loss::integer;
}

/// The fast way for most indices: fewer than 19 digits, then a blank or a line end. Moves p to the
/// end of the token. For all other tokens returns false, and p is anywhere in the token. The text
/// must end with a line end.
inline bool parse_index_fast(char const*& p, std::uint64_t& result) {
  auto const* const start = p;
  std::uint64_t sum = 0;
  for (unsigned d = digit(*p); d < 10; d = digit(*++p)) sum = sum * 10 + d;
  result = sum;
  return p != start && p - start < 19 && ends_token(*p);
}

/// What a value of another type does not hold of this one, which was rounded to it.
template <class To, class From>
Loss loss_of_conversion(From value) {
  if (sizeof(To) >= sizeof(From)) return Loss::none;
  auto const held = static_cast<To>(value);
  if (value != 0 && held == 0) return Loss::underflow;
  // Larger numbers are whole because they are rounded.
  constexpr auto exact_integers = std::uint64_t{1} << std::numeric_limits<From>::digits;
  bool const is_integer = value >= -static_cast<From>(exact_integers) &&
                          value <= static_cast<From>(exact_integers) && std::trunc(value) == value;
  return is_integer && static_cast<From>(held) != value ? Loss::integer : Loss::none;
}

inline constexpr double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                           1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                           1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// m * 10^e, correctly rounded, if m and 10^|e| are numbers of the type, so that only one operation
/// rounds (Clinger 1990). Else returns false.
template <class Scalar>
bool exact_product(std::uint64_t m, int e, Scalar& result) {
  constexpr std::uint64_t exact_integers = std::uint64_t{1} << std::numeric_limits<Scalar>::digits;
  constexpr int exact_powers = std::is_same_v<Scalar, float> ? 10 : 22;
  if (m > exact_integers || e < -exact_powers || e > exact_powers) return false;
  auto const integer = static_cast<Scalar>(m);
  auto const power = static_cast<Scalar>(powers_of_ten[e < 0 ? -e : e]);
  result = e < 0 ? integer / power : integer * power;
  return true;
}

/// The fast way for most values. Moves p to the end of the token. For all other tokens returns
/// false, and p is anywhere in the token. The text must end with a line end.
template <class Scalar>
bool parse_real_fast(char const*& p, Scalar& result) {
  bool const negative = *p == '-';
  if (negative) ++p;
  auto const* const start = p;
  std::uint64_t m = 0;
  for (unsigned d = digit(*p); d < 10; d = digit(*++p)) m = m * 10 + d;
  auto digits = p - start;
  int e = 0;
  if (*p == '.') {
    auto const* const point = ++p;
    for (unsigned d = digit(*p); d < 10; d = digit(*++p)) m = m * 10 + d;
    digits += p - point;
    e = digits < 20 ? -static_cast<int>(p - point) : 0;
  }
  if (digits == 0 || digits > 19) return false;
  if ((*p | 32) == 'e' || (*p | 32) == 'd') {  // or Fortran's D
    bool const minus = *++p == '-';
    if (*p == '-' || *p == '+') ++p;
    auto const* const exponent = p;
    int sum = 0;
    for (unsigned d = digit(*p); d < 10 && p - exponent < 4; d = digit(*++p)) sum = sum * 10 + d;
    if (p == exponent) return false;
    e += minus ? -sum : sum;
  }
  if (!ends_token(*p)) return false;
  if (!exact_product(m, e, result)) {
    while (e < 0 && m % 10 == 0) m /= 10, ++e;  // as in 1.0000000000000000e+00
    if (!exact_product(m, e, result)) return false;
  }
  if (negative) result = -result;
  return true;
}

}  // namespace sporades::detail
