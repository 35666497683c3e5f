// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <optional>
#include <sporades/algorithms/command/arguments.hpp>
#include <sporades/algorithms/command/csv/records.hpp>

namespace sporades::command {

/// The columns of a CSV file that become modes, and that of the values.
struct CsvColumns {
  char separator = ',';
  std::size_t fields = 0;          // of the header
  std::vector<std::string> names;  // of the modes
  std::vector<std::size_t> modes;  // place of each mode's column in a record
  std::optional<std::size_t> value;
  std::string value_name;
};

/// Finds the columns that --columns and --value name in the header, the first record of this text,
/// or where there is no header by their numbers, from 1. Without --separator it is that of , ; tab
/// and | with which the header has these columns. Throws Error for columns that the header does not
/// have or has twice, or that are named twice.
CsvColumns find_columns(std::string_view text, std::string const& name, CsvArguments const& csv);

/// "','" or "tab".
std::string separator_text(char separator);

}  // namespace sporades::command
