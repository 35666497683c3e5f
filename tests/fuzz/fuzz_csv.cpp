// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unistd.h>

#include <filesystem>
#include <fuzz/csv_checks.hpp>
#include <fuzz/texts.hpp>
#include <sporades/algorithms/command/csv/columns.hpp>
#include <sporades/algorithms/command/csv/date_columns.hpp>
#include <sporades/algorithms/command/labels_output.hpp>
#include <sporades/formats/files/detail/foreign_format.hpp>

/// Reads the input as a CSV file, a row a nonzero; they must be those of the table. Then with sums,
/// in small blocks, gzipped, by the separator that is guessed, with the names that it wrote itself,
/// and with others.

using namespace sporades;
using namespace sporades::command;
using namespace sporades::fuzzing;

namespace {

struct Outcome {
  std::string message;  // of the error; empty: there is a result
  NamedTensor<double> result;

  CsvTensor const& tensor() const { return std::get<CsvTensor>(result.read.tensor); }
};

Outcome outcome(std::string_view content, CsvArguments const& csv, std::string const& names = {},
                Duplicates duplicates = Duplicates::keep,
                std::size_t block_size = std::size_t{1} << 20) {
  Outcome it;
  try {
    it.result = parse_csv<double>(content, "x", csv, names, duplicates, block_size);
  } catch (Error const& error) {
    it.message = error.what();
    require(!it.message.empty());
  }
  return it;
}

void require_equal(Outcome const& one, Outcome const& other) {
  require(one.message == other.message);
  require(one.result.labels.names == other.result.labels.names);
  require(one.result.labels.modes == other.result.labels.modes);
  require(one.result.read.notes == other.result.read.notes);
  std::visit(RequireEqual{}, one.result.read.tensor, other.result.read.tensor);
}

/// Whether the message says that the text is no CSV, or no text.
bool refuses_text(std::string_view message) {
  for (std::string_view const what :
       {"a quotation mark", "a carriage return", "a zero byte", "'", "the gzip data is"})
    if (auto const place = message.substr(0, message.find(what));
        place.size() < message.size() && place.find_first_not_of("x:0123456789 ") == place.npos)
      return true;
  return false;
}

/// A folder of labels, gone with this.
struct Folder {
  std::string path =
      (std::filesystem::temp_directory_path() / ("fuzz_csv." + std::to_string(getpid()))).string();

  explicit Folder(Labels const& labels) { LabelsOutput(path, labels).commit(); }
  ~Folder() { std::filesystem::remove_all(path); }
};

/// Files of the tensor and of its names give it again.
void check_files(std::string_view content, CsvArguments const& csv, Outcome const& rows,
                 AnyCooTensor<double> const& sums) {
  Folder const folder(rows.result.labels);
  require_equal(rows, outcome(content, csv, folder.path));
  auto const file = folder.path + "/x.tns";
  write_tns(file, sums);
  std::visit(RequireEqual{}, sums, read_tensor<double>(file).tensor);
}

/// With its names in reverse order and without the last of them, rows are counted or left out.
void check_other_names(std::string_view content, CsvArguments const& csv, Labels labels,
                       std::size_t rows) {
  for (auto& names : labels.names) std::reverse(names.begin(), names.end());
  if (labels.names[0].size() > 1) labels.names[0].pop_back();
  Folder const folder(labels);
  auto const other = outcome(content, csv, folder.path);
  if (!other.message.empty()) return;
  require(other.result.labels.names == labels.names);
  check_counts(other.result, rows);
}

/// The columns of this table that the bits of mask tell, column value - 1 and a bin from 1 to 8; 0
/// for none.
CsvChoice choose(CsvTable const& table, unsigned bin, unsigned mask, unsigned value,
                 CsvArguments& csv) {
  CsvChoice choice;
  auto const header = table.records.empty() ? CsvTable::Record{} : table.records[0];
  auto const name = [&](std::size_t k) {
    return csv.has_header ? std::string(trimmed(header[k])) : std::to_string(k + 1);
  };
  for (std::size_t k = 0; k < header.size() && k < 8; ++k)
    if ((mask >> k & 1) != 0) choice.modes.push_back(k);
  for (auto const k : choice.modes)
    csv.columns += (csv.columns.empty() ? "" : ",") + in_quotes(name(k));
  if (0 < value && value <= header.size()) choice.value = value - 1;
  if (choice.value) csv.value = name(*choice.value);
  if (bin == 0 || choice.modes.empty()) return choice;
  choice.bin = static_cast<Bin>(bin % 4);
  choice.bin_is_of_first = bin > 4;
  csv.bin = to_string(*choice.bin);
  if (choice.bin_is_of_first) csv.bin = in_quotes(name(choice.modes[0]) + "=" + csv.bin);
  return choice;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  start_kokkos();
  Choices choices(data, size);
  auto const flags = choices.next(), bin = choices.next(), mask = choices.next();
  auto const value = choices.next();
  auto const content = choices.rest();
  bool const is_marked = content.substr(0, 3) == sporades::detail::byte_order_mark;
  auto const text = content.substr(is_marked ? 3 : 0);
  CsvArguments csv;
  csv.has_header = (flags & 1) == 0;
  csv.separator = std::string(1, ",;\t|"[flags / 2 % 4]);
  CsvTable const table(text, csv.separator[0]);
  auto const choice = choose(table, bin % 9, mask, value % 9, csv);

  auto const rows = outcome(content, csv);
  if (content.empty() || content[0] == '\x1f') return 0;  // gzipped already
  require(!table.is_valid || !refuses_text(rows.message));
  auto const sums = outcome(content, csv, {}, Duplicates::sum);
  if (rows.message.empty()) {
    require(table.is_valid);
    auto const count = table.records.size() - csv.has_header;
    check_labels(rows.result);
    check_rows(rows.result, table, choice, csv.has_header);
    if (sums.message.empty())
      check_sums(rows.tensor(), sums.tensor(), sums.result.read.duplicates);
    else
      require(sums.message == "x: values of the same coordinates add to more than the type holds");
    if ((flags & 32) != 0 && sums.message.empty())
      check_files(content, csv, rows, sums.result.read.tensor);
    if ((flags & 64) != 0) check_other_names(content, csv, rows.result.labels, count);
    for (auto const& record : table.records)
      for (auto const& field : record) check_date(trimmed(field));
  }
  auto const block_size = std::max(longest_line(content), table.end_of_first + 3);
  if (block_size < content.size())
    require_equal(rows, outcome(content, csv, {}, Duplicates::keep, block_size));
  if ((flags & 16) != 0) require_equal(rows, outcome(zipped(content), csv));
  if ((flags & 8) == 0 || !rows.message.empty()) return 0;
  auto guessed = csv;
  guessed.separator.clear();
  auto const guess = outcome(content, guessed);
  guessed.separator = find_columns(text, "x", guessed).separator;
  require_equal(guess, outcome(content, guessed));
  return 0;
}
