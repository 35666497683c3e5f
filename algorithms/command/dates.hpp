// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sporades::command {

/// Takes what a time consists of from the front of a name.
struct DateParts {
  std::string_view rest;

  /// A number of so many digits, at least one; -1 if there is none, or it is not in range.
  int number(std::size_t least_digits, std::size_t most_digits, int least, int most);

  /// One of these characters; 0 if there is none.
  char one_of(std::string_view characters);
};

/// Days since a day long ago, by the calendar of today. A day that its month does not have is one
/// of the next month.
int days(int year, int month, int day);

/// All that is left as a time of the day, in days: hours and minutes, perhaps seconds, perhaps with
/// a fraction, perhaps Z.
std::optional<double> clock(DateParts parts);

/// How dates are put together.
enum class Bin { day, week, month, year };

/// The bin of a date in ISO 8601's form, as 2024-03-01: "2024-03-01", the Monday of its week,
/// "2024-03" or "2024". After a blank or T there may be a time of the day, and after that Z or an
/// offset such as +01:00; they are checked and do not change the bin. Where the bin is as coarse,
/// 2024-03 and 2024 are dates, too. Empty for all else.
std::optional<std::string> bin_of(std::string_view date, Bin bin);

/// How many bins there are from one to another, both of them included.
int bins_between(std::string_view first, std::string_view last, Bin bin);

}  // namespace sporades::command
