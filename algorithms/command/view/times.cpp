// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cctype>
#include <sporades/algorithms/command/dates.hpp>
#include <sporades/algorithms/command/view/times.hpp>

namespace sporades::command {
namespace {

using Time = std::optional<double>;  // in days, years, or what the kind counts

using Parts = DateParts;

int year_of(Parts& parts) {
  return parts.number(4, 4, 1500, 2199);
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
  int const year = year_of(parts);
  return year >= 0 && parts.rest.empty() ? Time(year) : Time();
}

Time year_first(std::string_view name) {
  Parts parts{name};
  int const year = year_of(parts);
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
  int const year = year_of(parts);
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
