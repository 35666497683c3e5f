// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fuzz/csv_table.hpp>
#include <fuzz/fuzzing.hpp>
#include <map>
#include <set>
#include <sporades/algorithms/command/csv/read_csv.hpp>
#include <sporades/algorithms/command/csv/records.hpp>
#include <sporades/algorithms/command/dates.hpp>
#include <sporades/algorithms/command/text.hpp>
#include <sporades/formats/files/detail/tns_file/number.hpp>

namespace sporades::fuzzing {

using command::Bin;
using command::bin_of;
using command::Labels;
using CsvTensor = CooTensor<double, std::uint32_t>;

/// Columns of the table by their places: what --columns, --value and --bin name.
struct CsvChoice {
  std::vector<std::size_t> modes;
  std::optional<std::size_t> value;
  std::optional<Bin> bin;
  bool bin_is_of_first = false;  // mode alone; else of all that are dates
};

/// The bin of every mode: those whose first field is a date, or the one that is named.
inline std::vector<std::optional<Bin>> bins_of(CsvChoice const& choice,
                                               std::vector<std::string> const& first) {
  std::vector<std::optional<Bin>> bins(first.size());
  if (choice.bin_is_of_first) return bins[0] = choice.bin, bins;
  for (std::size_t n = 0; n < first.size() && choice.bin; ++n)
    if (bin_of(command::trimmed(first[n]), *choice.bin)) bins[n] = choice.bin;
  return bins;
}

/// What a date says of its bins.
inline void check_date(std::string_view date) {
  auto const day = bin_of(date, Bin::day);
  auto const week = bin_of(date, Bin::week);
  require(day.has_value() == week.has_value());
  if (auto const month = bin_of(date, Bin::month)) {
    require(bin_of(date, Bin::year) == month->substr(0, 4));
    require(bin_of(*month, Bin::month) == month);
  }
  if (!day) return;
  require(bin_of(*day, Bin::day) == day && bin_of(*week, Bin::week) == week);
  require(bin_of(date, Bin::month) == day->substr(0, 7));
  auto const days = command::bins_between(*week, *day, Bin::day);
  require(1 <= days && days <= 7);
}

/// The fields of modes and the value that a row has; empty for a row that lacks one.
inline std::optional<std::pair<std::vector<std::string>, double>> nonzero_of(
    CsvTable::Record const& row, CsvChoice const& choice) {
  std::pair<std::vector<std::string>, double> nonzero{{}, 1.0};
  for (auto const k : choice.modes) {
    if (k >= row.size() || row[k].empty()) return {};
    nonzero.first.push_back(row[k]);
  }
  if (!choice.value) return nonzero;
  if (*choice.value >= row.size()) return {};
  auto const text = command::trimmed(row[*choice.value]);
  std::set<std::string_view> const missing{"", "NA", "N/A", "NaN", "nan", "null", "NULL"};
  if (missing.count(text) > 0) return {};
  require(detail::parse_real(text, nonzero.second) == detail::Number::good);
  return nonzero;
}

/// Each row is a nonzero, in order, or one that a note counts.
inline void check_rows(command::NamedTensor<double> const& result, CsvTable const& table,
                       CsvChoice const& choice, bool has_header) {
  auto const& X = std::get<CsvTensor>(result.read.tensor);
  auto const& names = result.labels.names;
  std::vector<std::optional<Bin>> bins;
  Position p = 0;
  std::uint64_t left_out = 0;
  for (std::size_t row = has_header; row < table.records.size(); ++row) {
    auto const nonzero = nonzero_of(table.records[row], choice);
    left_out += !nonzero;
    if (!nonzero) continue;
    if (p == 0) bins = bins_of(choice, nonzero->first);
    require(p < X.nnz() && X.values(p) == nonzero->second);
    for (std::size_t n = 0; n < names.size(); ++n) {
      auto const& field = nonzero->first[n];
      auto const& name = names[n][X.coordinates(n, p)];
      require(name ==
              (bins[n] ? *bin_of(command::trimmed(field), *bins[n]) : command::in_one_line(field)));
    }
    ++p;
  }
  require(p == X.nnz() && result.read.duplicates == 0);
  for (auto const& note : result.read.notes) left_out -= std::stoull(note);
  require(left_out == 0);
}

/// The rows of the tensor and those that notes count are all; --names told the names.
inline void check_counts(command::NamedTensor<double> const& result, std::size_t rows) {
  auto count = std::get<CsvTensor>(result.read.tensor).nnz();
  for (auto const& note : result.read.notes) count += std::stoull(note);
  require(count == rows);
}

/// Names are as many as indices, come once, are used, and are in order.
inline void check_labels(command::NamedTensor<double> const& result) {
  auto const& X = std::get<CsvTensor>(result.read.tensor);
  require(result.labels.names.size() == X.dims.size() && X.dims.size() <= max_order);
  for (std::size_t n = 0; n < X.dims.size(); ++n) {
    auto const& names = result.labels.names[n];
    require(names.size() == X.dims[n]);
    require(std::set(names.begin(), names.end()).size() == names.size());
    std::set<std::uint32_t> used;
    for (Position p = 0; p < X.nnz(); ++p) used.insert(X.coordinates(n, p));
    require(used.size() == names.size() && *used.rbegin() < names.size());
    std::vector<double> numbers(names.size());
    bool are_numbers = true;
    for (std::size_t k = 0; k < names.size() && are_numbers; ++k)
      are_numbers =
          detail::parse_real(std::string_view(names[k]), numbers[k]) == detail::Number::good;
    for (std::size_t k = 1; k < names.size(); ++k)
      require(are_numbers && numbers[k - 1] != numbers[k] ? numbers[k - 1] < numbers[k]
                                                          : names[k - 1] < names[k]);
  }
}

/// Values of equal coordinates, added in the order of the rows, are those of the sums.
inline void check_sums(CsvTensor const& rows, CsvTensor const& sums, Position duplicates) {
  auto const coordinates = [](CsvTensor const& X, Position p) {
    std::vector<std::uint32_t> at;
    for (int n = 0; n < X.order(); ++n) at.push_back(X.coordinates(n, p));
    return at;
  };
  std::map<std::vector<std::uint32_t>, double> expected;
  for (Position p = 0; p < rows.nnz(); ++p) expected[coordinates(rows, p)] += rows.values(p);
  require(rows.dims == sums.dims && expected.size() == sums.nnz());
  require(sums.nnz() + duplicates == rows.nnz());
  Position p = 0;
  for (auto const& [at, value] : expected) {
    require(coordinates(sums, p) == at && sums.values(p) == value);
    ++p;
  }
}

}  // namespace sporades::fuzzing
