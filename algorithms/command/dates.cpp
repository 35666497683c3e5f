// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sporades/algorithms/command/dates.hpp>

namespace sporades::command {
namespace {

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

int days_of_month(int year, int month) {
  return month == 12 ? 31 : days(year, month + 1, 1) - days(year, month, 1);
}

/// The date of the Monday of this day's week.
std::string monday_of(int year, int month, int day) {
  int const since_monday = (days(year, month, day) - days(2024, 1, 1)) % 7;  // that was a Monday
  day -= since_monday < 0 ? since_monday + 7 : since_monday;
  if (day < 1) {
    year -= month == 1;
    month = month == 1 ? 12 : month - 1;
    day += days_of_month(year, month);
  }
  return fmt::format("{:04}-{:02}-{:02}", year, month, day);
}

/// Without Z or an offset as +01:00, +0100 or +01 at the end of a time of the day.
std::string_view without_offset(std::string_view time) {
  auto const sign = time.find_first_of("+-");
  if (sign == time.npos) return time;
  DateParts parts{time.substr(sign + 1)};
  bool is_offset = parts.number(2, 2, 0, 23) >= 0;
  if (!parts.rest.empty()) {
    parts.one_of(":");
    is_offset = is_offset && parts.number(2, 2, 0, 59) >= 0;
  }
  return is_offset && parts.rest.empty() ? time.substr(0, sign) : std::string_view();
}

}  // namespace

int DateParts::number(std::size_t least_digits, std::size_t most_digits, int least, int most) {
  std::size_t digits = 0;
  int value = 0;
  while (digits < std::min(rest.size(), most_digits) && is_digit(rest[digits]))
    value = 10 * value + (rest[digits++] - '0');
  if (digits < least_digits || value < least || value > most) return -1;
  rest.remove_prefix(digits);
  return value;
}

char DateParts::one_of(std::string_view characters) {
  if (rest.empty() || characters.find(rest[0]) == characters.npos) return 0;
  char const taken = rest[0];
  rest.remove_prefix(1);
  return taken;
}

int days(int year, int month, int day) {
  int const y = month > 2 ? year : year - 1;  // years that begin in March
  int const m = month > 2 ? month - 3 : month + 9;
  return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day;
}

std::optional<double> clock(DateParts parts) {
  int const hour = parts.number(1, 2, 0, 24);
  int const minute = hour >= 0 && parts.one_of(":") != 0 ? parts.number(2, 2, 0, 59) : -1;
  if (minute < 0) return {};
  int const second = parts.one_of(":") != 0 ? parts.number(2, 2, 0, 60) : 0;
  if (second < 0) return {};
  double fraction = 0;
  if (parts.one_of(".") != 0)
    for (double unit = 0.1; !parts.rest.empty() && is_digit(parts.rest[0]); unit /= 10)
      fraction += unit * parts.number(1, 1, 0, 9);
  parts.one_of("Z");
  if (!parts.rest.empty()) return {};
  return (hour * 3600 + minute * 60 + second + fraction) / 86400;
}

std::optional<std::string> bin_of(std::string_view date, Bin bin) {
  DateParts parts{date};
  int const year = parts.number(4, 4, 1, 9999);
  if (year < 0) return {};
  auto const of_year = fmt::format("{:04}", year);
  if (parts.rest.empty() && bin == Bin::year) return of_year;
  int const month = parts.one_of("-") != 0 ? parts.number(2, 2, 1, 12) : -1;
  if (month < 0) return {};
  auto const of_month = fmt::format("{}-{:02}", of_year, month);
  if (parts.rest.empty()) {
    if (bin == Bin::year) return of_year;
    return bin == Bin::month ? std::optional(of_month) : std::nullopt;
  }
  int const day = parts.one_of("-") != 0 ? parts.number(2, 2, 1, days_of_month(year, month)) : -1;
  if (day < 0) return {};
  if (!parts.rest.empty() && (parts.one_of(" T") == 0 || !clock({without_offset(parts.rest)})))
    return {};
  switch (bin) {
    case Bin::day:
      return fmt::format("{}-{:02}", of_month, day);
    case Bin::week:
      return monday_of(year, month, day);
    case Bin::month:
      return of_month;
    case Bin::year:
      return of_year;
  }
  return {};
}

int bins_between(std::string_view first, std::string_view last, Bin bin) {
  auto const place = [&](std::string_view name) {
    DateParts parts{name};
    int const year = parts.number(4, 4, 1, 9999);
    if (bin == Bin::year) return year;
    parts.one_of("-");
    int const month = parts.number(2, 2, 1, 12);
    if (bin == Bin::month) return 12 * year + month;
    parts.one_of("-");
    return days(year, month, parts.number(2, 2, 1, 31));
  };
  return (place(last) - place(first)) / (bin == Bin::week ? 7 : 1) + 1;
}

}  // namespace sporades::command
