// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/command/csv/columns.hpp>
#include <sporades/algorithms/command/dates.hpp>

namespace sporades::command {

/// Which modes of a CSV file are dates that --bin puts into bins: those that it names, or where it
/// names none those whose first field is a date.
class DateColumns {
 public:
  /// Throws Error for what is no bin, or no column among the modes.
  DateColumns(std::string const& bin, CsvColumns const& columns);

  /// The name of a mode's field: its bin, or the field. Throws Error naming the place of a date
  /// that is none. record: the field is one of it.
  std::string_view name(std::size_t mode, std::string_view field, CsvRecords const& record);

  /// The bin of a mode, or none.
  std::optional<Bin> bin(std::size_t mode) const { return bins_[mode]; }

  /// Throws Error where --bin names no column and no column has dates.
  void check_found() const;

 private:
  CsvColumns const& columns_;
  std::vector<std::optional<Bin>> bins_;
  std::optional<Bin> automatic_;  // the bin of columns that are not decided
  std::vector<bool> decided_;
  std::string seen_;   // fields that are no dates
  std::string place_;  // of the last of them
  std::string held_;   // the name
};

/// "day".
std::string to_string(Bin bin);

}  // namespace sporades::command
