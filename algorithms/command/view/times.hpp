// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace sporades::command {

/// The moments that the names of a mode tell, from 0 for the first to 1 for the last; none unless
/// there are three names or more, all of one of these kinds, and in ascending order:
/// - years of four digits, 1500 to 2199;
/// - dates: 2014-04, 2014-04-30, 20140430, 4/30/2014 or 30.4.2014 (-, / and . do all), each with or
///   without a time of the day after a blank or T;
/// - times of the day: 8:30, 08:30:00;
/// - the 24 hours of the day as numbers, 0 to 23 or 1 to 24;
/// - English names of months, or of days of the week from Monday or Sunday on, or their first three
///   letters.
std::vector<double> times_of(std::vector<std::string> const& names);

}  // namespace sporades::command
