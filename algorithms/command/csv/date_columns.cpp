// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <sporades/algorithms/command/csv/date_columns.hpp>
#include <sporades/core/error.hpp>

namespace sporades::command {
namespace {

constexpr Bin all_bins[] = {Bin::day, Bin::week, Bin::month, Bin::year};

Bin bin_from(std::string_view name) {
  for (auto const bin : all_bins)
    if (name == to_string(bin)) return bin;
  fail("--bin ", std::string(name), ": expected day, week, month or year, or COLUMN=month");
}

char const* form_of(Bin bin) {
  return bin == Bin::year    ? "2024, 2024-03, 2024-03-01 or 2024-03-01T12:00"
         : bin == Bin::month ? "2024-03, 2024-03-01 or 2024-03-01T12:00"
                             : "2024-03-01 or 2024-03-01T12:00";
}

}  // namespace

std::string to_string(Bin bin) {
  return bin == Bin::day ? "day" : bin == Bin::week ? "week" : bin == Bin::month ? "month" : "year";
}

DateColumns::DateColumns(std::string const& bin, CsvColumns const& columns)
    : columns_(columns), bins_(columns.modes.size()), decided_(columns.modes.size(), true) {
  if (bin.empty()) return;
  if (bin.find('=') == bin.npos) {
    automatic_ = bin_from(bin);
    decided_.assign(decided_.size(), false);
    return;
  }
  for (auto const& item : first_record(bin, "--bin", ',')) {
    auto const at = item.rfind('=');
    auto const column = item.substr(0, at);
    auto const& names = columns.names;
    auto const mode = std::find(names.begin(), names.end(), column) - names.begin();
    expects(at != item.npos && mode < static_cast<std::ptrdiff_t>(names.size()), "--bin ", bin,
            ": '", column, "' is none of --columns");
    bins_[static_cast<std::size_t>(mode)] = bin_from(std::string_view(item).substr(at + 1));
  }
}

std::string_view DateColumns::name(std::size_t mode, std::string_view field,
                                   CsvRecords const& record) {
  if (!decided_[mode]) {
    decided_[mode] = true;
    if (bin_of(trimmed(field), *automatic_)) {
      bins_[mode] = automatic_;
    } else {
      seen_ += (seen_.empty() ? "'" : ", '") + std::string(field) + "'";
      place_ = record.place(columns_.modes[mode]);
    }
    if (std::count(decided_.begin(), decided_.end(), true) ==
        static_cast<std::ptrdiff_t>(decided_.size()))
      check_found();
  }
  if (!bins_[mode]) return field;
  auto const bin = bin_of(trimmed(field), *bins_[mode]);
  expects(bin.has_value(), record.place(columns_.modes[mode]), ": column '", columns_.names[mode],
          "': '", std::string(field), "' is no date as ", form_of(*bins_[mode]));
  held_ = *bin;
  return held_;
}

void DateColumns::check_found() const {
  auto const is_date = [](auto const& bin) { return bin.has_value(); };
  if (!automatic_ || std::any_of(bins_.begin(), bins_.end(), is_date)) return;
  fail(place_, place_.empty() ? "" : ": ", "--bin ", to_string(*automatic_),
       ": no column has dates as ", form_of(*automatic_), place_.empty() ? "" : "; there are ",
       seen_);
}

}  // namespace sporades::command
