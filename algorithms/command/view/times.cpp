// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cctype>
#include <optional>
#include <sporades/algorithms/command/view/times.hpp>
#include <string_view>

namespace sporades::command {
namespace {

using Time = std::optional<double>;  // in days, years, or what the kind counts

/// Takes what a time consists of from the front of a name.
struct Parts {
  std::string_view rest;

  /// A number of so many digits, at least one; -1 if there is none, or it is not in range.
  int number(std::size_t least_digits, std::size_t most_digits, int least, int most) {
    std::size_t digits = 0;
    int value = 0;
    for (; digits < std::min(rest.size(), most_digits) && std::isdigit(rest[digits] & 0xFF);)
      value = 10 * value + (rest[digits++] - '0');
    if (digits < least_digits || value < least || value > most) return -1;
    rest.remove_prefix(digits);
    return value;
  }

  /// One of these characters; 0 if there is none.
  char one_of(std::string_view characters) {
    if (rest.empty() || characters.find(rest[0]) == characters.npos) return 0;
    char const taken = rest[0];
    rest.remove_prefix(1);
    return taken;
  }

  int year() { return number(4, 4, 1500, 2199); }
};

/// Days since a day long ago, by the calendar of today.
double days(int year, int month, int day) {
  int const y = month > 2 ? year : year - 1;  // years that begin in March
  int const m = month > 2 ? month - 3 : month + 9;
  return 365.0 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day;
}

/// All that is left as a time of the day, in days.
Time clock(Parts parts) {
  int const hour = parts.number(1, 2, 0, 24);
  int const minute = hour >= 0 && parts.one_of(":") != 0 ? parts.number(2, 2, 0, 59) : -1;
  if (minute < 0) return {};
  int const second = parts.one_of(":") != 0 ? parts.number(2, 2, 0, 60) : 0;
  if (second < 0) return {};
  double fraction = 0;
  if (parts.one_of(".") != 0)
    for (double unit = 0.1; !parts.rest.empty() && std::isdigit(parts.rest[0] & 0xFF); unit /= 10)
      fraction += unit * parts.number(1, 1, 0, 9);
  parts.one_of("Z");
  if (!parts.rest.empty()) return {};
  return (hour * 3600 + minute * 60 + second + fraction) / 86400;
}

/// A date, and after it a time of the day or nothing.
Time with_clock(int year, int month, int day, Parts parts) {
  if (year < 0 || month < 0 || day < 0) return {};
  double const date = days(year, month, day);
  if (parts.rest.empty()) return date;
  if (parts.one_of(" T") == 0) return {};
  auto const time = clock(parts);
  return time ? Time(date + *time) : Time();
}

Time year(std::string_view name) {
  Parts parts{name};
  int const year = parts.year();
  return year >= 0 && parts.rest.empty() ? Time(year) : Time();
}

Time year_first(std::string_view name) {
  Parts parts{name};
  int const year = parts.year();
  char const separator = parts.one_of("-/.");
  int const month = parts.number(2, 2, 1, 12);
  if (separator != 0 && parts.rest.empty()) return with_clock(year, month, 1, parts);
  if (separator != 0 && parts.one_of({&separator, 1}) == 0) return {};
  int const day = parts.number(2, 2, 1, 31);
  return with_clock(year, month, day, parts);
}

template <bool month_first>
Time year_last(std::string_view name) {
  Parts parts{name};
  int const first = parts.number(1, 2, 1, month_first ? 12 : 31);
  char const separator = parts.one_of("-/.");
  int const second = parts.number(1, 2, 1, month_first ? 31 : 12);
  if (separator == 0 || parts.one_of({&separator, 1}) == 0) return {};
  int const year = parts.year();
  return with_clock(year, month_first ? first : second, month_first ? second : first, parts);
}

Time time_of_day(std::string_view name) {
  return clock({name});
}

/// The place of a name among words, whole or their first three letters, in any case.
Time place_among(std::string_view name, std::vector<std::string_view> const& words) {
  auto const is_same = [](char a, char b) { return std::tolower(a & 0xFF) == b; };
  for (std::size_t k = 0; k < words.size(); ++k)
    for (auto const& word : {words[k], words[k].substr(0, 3)})
      if (std::equal(name.begin(), name.end(), word.begin(), word.end(), is_same))
        return static_cast<double>(k);
  return {};
}

Time month(std::string_view name) {
  return place_among(name, {"january", "february", "march", "april", "may", "june", "july",
                            "august", "september", "october", "november", "december"});
}

Time day_from_monday(std::string_view name) {
  return place_among(
      name, {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"});
}

Time day_from_sunday(std::string_view name) {
  return place_among(
      name, {"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"});
}

Time hour(std::string_view name) {
  Parts parts{name};
  int const hour = parts.number(1, 2, 0, 24);
  return hour >= 0 && parts.rest.empty() ? Time(hour) : Time();
}

std::vector<double> ascending(std::vector<std::string> const& names,
                              Time (*kind)(std::string_view)) {
  std::vector<double> times;
  for (auto const& name : names) {
    auto const time = kind(name);
    if (!time || (!times.empty() && *time <= times.back())) return {};
    times.push_back(*time);
  }
  return times;
}

}  // namespace

std::vector<double> times_of(std::vector<std::string> const& names) {
  if (names.size() < 3) return {};
  std::vector<double> times;
  for (auto const kind : {year, year_first, year_last<true>, year_last<false>, time_of_day, month,
                          day_from_monday, day_from_sunday})
    if (times.empty()) times = ascending(names, kind);
  if (times.empty() && names.size() == 24) times = ascending(names, hour);
  if (times.empty()) return {};
  double const first = times.front(), span = times.back() - first;
  for (double& time : times) time = (time - first) / span;
  return times;
}

}  // namespace sporades::command
