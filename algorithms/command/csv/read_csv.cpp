// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <limits>
#include <sporades/algorithms/command/csv/date_columns.hpp>
#include <sporades/algorithms/command/csv/names.hpp>
#include <sporades/algorithms/command/csv/read_csv.hpp>
#include <sporades/algorithms/command/memory.hpp>
#include <sporades/formats/files/detail/foreign_format.hpp>
#include <sporades/formats/files/detail/input_file.hpp>
#include <sporades/formats/files/detail/nonzero_order.hpp>
#include <sporades/formats/files/detail/tns_file/number.hpp>

namespace sporades::command {
namespace {

constexpr std::size_t longest_line = std::size_t{1} << 24;
constexpr std::uint64_t rows_between_checks = 1 << 16;  // of memory

/// Rows that were left out for want of a field.
struct Missing {
  std::uint64_t rows = 0;
  std::string first;  // place

  void count(CsvRecords const& record, std::size_t field) {
    if (rows++ == 0) first = record.place(std::min(field, record.size() - 1));
  }
  /// what: "no" or "a name that --names has not in".
  std::string note(std::string const& what, std::string const& column) const {
    bool const is_one = rows == 1;
    return sporades::detail::concatenate(
        rows, is_one ? " row has " : " rows have ", what, " '", column,
        is_one ? "' and was left out, at " : "' and were left out, the first at ", first);
  }
};

template <class Scalar>
class CsvReader {
 public:
  CsvReader(CsvColumns const& columns, CsvArguments const& csv, double memory)
      : columns_(columns),
        dates_(csv.bin, columns),
        memory_(memory),
        names_(columns.modes.size()),
        indices_(columns.modes.size()),
        missing_(columns.modes.size() + 1),
        unknown_(columns.modes.size()) {}

  /// Takes these names alone. Throws Error for a mode without names.
  void fix_names(Labels const& labels) {
    for (std::size_t n = 0; n < names_.size(); ++n) {
      expects(!labels.names[n].empty(), "--names has no names of mode ", n);
      names_[n].fix(labels.names[n]);
    }
    has_names_ = true;
  }

  void read(CsvRecords& records, std::string const& name) {
    for (std::uint64_t row = 1; records.next(); ++row) {
      check_length(records);
      add(records);
      if (row % rows_between_checks == 0) check_memory(records);
    }
    dates_.check_found();
    expects(!values_.empty(), name, ": there is no row with all that is asked for");
  }

  NamedTensor<Scalar> result() {
    NamedTensor<Scalar> result;
    result.labels.modes = columns_.names;
    auto const N = names_.size();
    std::vector<std::vector<std::uint32_t>> places(N);
    Dims dims;
    for (std::size_t n = 0; n < N; ++n) {
      result.labels.names.push_back(names_[n].ordered(places[n]));
      dims.push_back(result.labels.names[n].size());
      result.lines.push_back(line_of(n, result.labels.names[n]));
    }
    Kokkos::DefaultHostExecutionSpace const exec{};
    auto X = sporades::detail::allocate_coo<Scalar, std::uint32_t>(exec, dims, values_.size());
    exec.fence();
    for (std::size_t n = 0; n < N; ++n) {
      std::transform(indices_[n].begin(), indices_[n].end(), X.indices(static_cast<int>(n)),
                     [&](std::uint32_t k) { return places[n][k]; });
      indices_[n] = {};
    }
    std::copy(values_.begin(), values_.end(), X.values.data());
    values_ = {};
    result.read.tensor = std::move(X);
    for (std::size_t n = 0; n <= N; ++n)
      if (missing_[n].rows > 0)
        result.read.notes.push_back(
            missing_[n].note("no", n < N ? columns_.names[n] : columns_.value_name));
    for (std::size_t n = 0; n < N; ++n)
      if (unknown_[n].rows > 0)
        result.read.notes.push_back(
            unknown_[n].note("a name that --names has not in", columns_.names[n]));
    return result;
  }

 private:
  void check_length(CsvRecords const& record) const {
    for (std::size_t k = columns_.fields; k < record.size(); ++k)
      expects(record[k].empty(), record.place(), ": the row has ", record.size(),
              " fields, the header ", columns_.fields);
  }

  /// The row as a nonzero, unless something is missing.
  void add(CsvRecords const& record) {
    auto const N = columns_.modes.size();
    std::array<std::uint32_t, max_order> numbers{};
    for (std::size_t n = 0; n < N; ++n) {
      auto const k = columns_.modes[n];
      if (k >= record.size() || record[k].empty()) return missing_[n].count(record, k);
    }
    Scalar value = 1;
    if (columns_.value && !set_value(record, *columns_.value, value))
      return missing_[N].count(record, *columns_.value);
    for (std::size_t n = 0; n < N; ++n) {
      numbers[n] = names_[n].number(dates_.name(n, record[columns_.modes[n]], record));
      if (numbers[n] == Names::unknown) return unknown_[n].count(record, columns_.modes[n]);
    }
    for (std::size_t n = 0; n < N; ++n) indices_[n].push_back(numbers[n]);
    values_.push_back(value);
  }

  /// False for a value that is missing.
  bool set_value(CsvRecords const& record, std::size_t k, Scalar& value) const {
    using sporades::detail::Number;
    if (k >= record.size()) return false;
    auto const text = trimmed(record[k]);
    for (char const* missing : {"", "NA", "N/A", "NaN", "nan", "null", "NULL"})
      if (text == missing) return false;
    auto const number = sporades::detail::parse_real(text, value);
    if (number == Number::good) return true;
    bool const has_comma = text.find(',') != text.npos;
    fail(record.place(k), ": column '", columns_.value_name, "': '", std::string(text), "' ",
         has_comma                        ? "has a comma; numbers are written as 1234.5"
         : number == Number::out_of_range ? "is too large"
         : number == Number::not_finite   ? "is not finite"
                                          : "is not a number");
  }

  /// What the rows take, and then the tensor and the sort of it: see exceeds_memory.
  void check_memory(CsvRecords const& record) const {
    double names = 0;
    for (auto const& mode : names_) names += static_cast<double>(mode.bytes());
    auto const one = static_cast<double>(names_.size() * sizeof(std::uint32_t) + sizeof(Scalar));
    double const need = names + static_cast<double>(values_.size()) * (2 * one + 16);
    if (need > memory_)
      throw RunError(
          sporades::detail::concatenate(record.place(), ": the rows so far and their names need ",
                                        sporades::detail::bytes_text(need), ", and may have ",
                                        sporades::detail::bytes_text(memory_)));
  }

  std::string line_of(std::size_t n, std::vector<std::string> const& names) const {
    auto const count = [](std::uint64_t number, std::string const& what) {
      return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
    };
    auto const line = sporades::detail::concatenate("mode ", n, ": ", columns_.names[n], ", ");
    auto const bin = dates_.bin(n);
    if (!bin || has_names_) return line + count(names.size(), "name");
    auto const text = line + count(names.size(), to_string(*bin));
    if (names.empty()) return text;
    auto const all = static_cast<std::uint64_t>(bins_between(names.front(), names.back(), *bin));
    return text + " from " + names.front() + " to " + names.back() +
           (all > names.size() ? "; " + std::to_string(all - names.size()) + " between have no rows"
                               : "");
  }

  CsvColumns const& columns_;
  DateColumns dates_;
  double memory_;
  bool has_names_ = false;                          // those of --names, which may be no bins
  std::vector<Names> names_;                        // of each mode
  std::vector<std::deque<std::uint32_t>> indices_;  // of each mode: numbers of names
  std::deque<Scalar> values_;
  std::vector<Missing> missing_;  // of each mode, and of the values
  std::vector<Missing> unknown_;  // of each mode: names that are not those of --names
};

/// Throws Error for what begins as another kind of file, such as a spreadsheet's.
void check_format(std::string_view text, std::string const& name) {
  if (auto const* const what = sporades::detail::foreign_format(text))
    fail(name, ": expected a CSV file, and this is ", what);
}

template <class Scalar>
NamedTensor<Scalar> read_file(sporades::detail::InputFile const& file, CsvArguments const& csv,
                              std::string const& names, Duplicates duplicates, std::uint64_t memory,
                              std::size_t block_size) {
  auto const& name = file.name();
  expects(file.size() > 0, name, ": the file is empty");
  check_format(file.text(0, 512), name);
  auto const source = sporades::detail::make_text_source(file, block_size);
  sporades::detail::TextBlock first;
  expects(source->next(first), name, ": there is no text");
  // A last line without a line end is a block of its own, and the first record may end there.
  if (sporades::detail::TextBlock next; file.size() <= block_size && source->next(next))
    first.storage += next.storage;
  check_format(first.text(), name);
  auto const& mark = sporades::detail::byte_order_mark;
  if (first.text().substr(0, mark.size()) == mark) first.remove_prefix(mark.size());
  auto const columns = find_columns(first.text(), name, csv);
  CsvRecords records(source.get(), std::move(first), name, columns.separator);
  if (csv.has_header) records.next();
  CsvReader<Scalar> reader(
      columns, csv,
      memory > 0 ? static_cast<double>(memory) : sporades::detail::host_memory_left());
  if (!names.empty()) reader.fix_names(read_labels(names, static_cast<int>(columns.modes.size())));
  reader.read(records, name);
  auto result = reader.result();
  result.read.dialect = "CSV, separator " + separator_text(columns.separator) +
                        (csv.separator.empty() ? " by the header" : "");
  ReadOptions options;
  options.duplicates = duplicates;
  sporades::detail::handle_duplicates({}, result.read, name, options);
  if (!columns.value && result.read.duplicates > 0)  // rows are counted
    result.read.notes.pop_back();
  return result;
}

}  // namespace

template <class Scalar>
NamedTensor<Scalar> read_csv(std::string const& path, CsvArguments const& csv,
                             std::string const& names, Duplicates duplicates,
                             std::uint64_t memory) {
  sporades::detail::InputFile const file(path, memory);
  return sporades::detail::read_unchanged(
      file, [&] { return read_file<Scalar>(file, csv, names, duplicates, memory, longest_line); });
}

template <class Scalar>
NamedTensor<Scalar> parse_csv(std::string_view content, std::string const& name,
                              CsvArguments const& csv, std::string const& names,
                              Duplicates duplicates, std::size_t block_size) {
  constexpr auto unlimited = std::numeric_limits<std::uint64_t>::max();
  return read_file<Scalar>({content, name}, csv, names, duplicates, unlimited, block_size);
}

template NamedTensor<double> read_csv(std::string const&, CsvArguments const&, std::string const&,
                                      Duplicates, std::uint64_t);
template NamedTensor<float> read_csv(std::string const&, CsvArguments const&, std::string const&,
                                     Duplicates, std::uint64_t);
template NamedTensor<double> parse_csv(std::string_view, std::string const&, CsvArguments const&,
                                       std::string const&, Duplicates, std::size_t);

}  // namespace sporades::command
