// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <sporades/algorithms/command/labels.hpp>
#include <sporades/algorithms/command/text.hpp>
#include <sporades/core/detail/processes/exchange.hpp>
#include <sporades/formats/files/detail/foreign_format.hpp>
#include <sporades/formats/files/detail/input_file.hpp>
#include <sporades/formats/strongest.hpp>

namespace sporades::command {
namespace {

namespace fs = std::filesystem;

/// Paths of the files of a folder that have names of indices, in their order; without those whose
/// names begin with a dot.
std::vector<std::string> files_in(std::string const& folder) {
  std::vector<std::string> files;
  std::error_code ignored;
  for (auto const& entry : fs::directory_iterator(folder, ignored))
    if (auto const name = entry.path().filename().string();
        entry.is_regular_file(ignored) && name.front() != '.' && name != modes_file)
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

/// The file of every mode, "" for none.
std::vector<std::string> label_files(std::string const& folder, int order) {
  expects(fs::is_directory(folder), "--labels ", folder, " is not a folder");
  std::vector<std::string> named(order);
  for (int n = 0; n < order; ++n) {
    auto const path = fs::path(folder) / ("mode-" + std::to_string(n) + ".txt");
    if (fs::exists(path)) named[n] = path.string();
  }
  if (std::any_of(named.begin(), named.end(), [](auto const& path) { return !path.empty(); }))
    return named;
  auto const others = files_in(folder);
  expects(static_cast<int>(others.size()) == order, "--labels ", folder, " has ", others.size(),
          " files, the tensor has ", order, " modes (name them mode-0.txt to mode-", order - 1,
          ".txt to have other files there, or none for some modes)");
  return others;
}

std::vector<std::string> read_lines(std::string const& path) {
  sporades::detail::InputFile const file(path);
  auto const text = sporades::detail::read_unchanged(
      file, [&] { return file.text(0, static_cast<std::size_t>(file.size())); });
  using sporades::detail::byte_order_mark;
  bool const is_marked = text.compare(0, byte_order_mark.size(), byte_order_mark) == 0;
  std::vector<std::string> lines;
  for (auto begin = is_marked ? byte_order_mark.size() : 0; begin < text.size();) {
    auto const end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(std::move(line));
    begin = end + 1;
  }
  lines.shrink_to_fit();
  return lines;
}

std::string text_of(char const* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// Entries under a heading.
struct Column {
  std::string heading;
  std::vector<TopEntry> const& entries;
};

std::string side_by_side(std::vector<Column> const& columns) {
  constexpr int widest = 32;
  std::size_t used = 1;
  for (auto const& column : columns) used = std::max(used, column.entries.size() + 1);
  std::vector<std::string> lines(used);
  for (auto const& [heading, entries] : columns) {
    std::vector<std::pair<std::string, std::string>> cells{{heading, ""}};
    for (auto const& entry : entries)
      cells.emplace_back(cut_to(entry.name, widest), text_of("%#.3g", entry.value));
    cells.resize(used);
    int name_width = 0;
    int value_width = 0;
    for (auto const& [name, value] : cells) {
      name_width = std::max(name_width, width_of(name));
      value_width = std::max(value_width, width_of(value));
    }
    for (std::size_t k = 0; k < used; ++k) {
      auto const& [name, value] = cells[k];
      lines[k] += "  " + name + std::string(name_width - width_of(name), ' ') + " " +
                  std::string(value_width - width_of(value), ' ') + value + " ";
    }
  }
  std::string text;
  for (auto& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::vector<std::string> label_candidates(std::string const& folder) {
  auto files = files_in(folder);
  auto const numbered = std::stable_partition(files.begin(), files.end(), [](auto const& path) {
    return fs::path(path).filename().string().compare(0, 5, "mode-") == 0;
  });
  if (numbered != files.begin()) files.erase(numbered, files.end());
  std::error_code ignored;
  auto const modes = fs::path(folder) / modes_file;
  if (fs::is_regular_file(modes, ignored)) files.push_back(modes.string());
  return files;
}

std::string mode_text(std::vector<std::string> const& modes, std::size_t n) {
  return "mode " + std::to_string(n) + (modes.empty() ? "" : ": " + modes[n]);
}

Labels read_labels(std::string const& folder, int order) {
  auto const N = static_cast<std::size_t>(order);
  Labels labels;
  labels.names.resize(N);
  auto const files = label_files(folder, order);
  for (std::size_t n = 0; n < N; ++n)
    if (!files[n].empty()) labels.names[n] = read_lines(files[n]);
  std::error_code ignored;
  auto const modes = (fs::path(folder) / modes_file).string();
  if (!fs::is_regular_file(modes, ignored)) return labels;
  labels.modes = read_lines(modes);
  expects(labels.modes.size() == N, "--labels: ", modes, " has ", labels.modes.size(),
          " lines, the tensor has ", N, " modes");
  return labels;
}

Labels read_labels(std::string const& folder, Dims const& dims) {
  auto labels = read_labels(folder, static_cast<int>(dims.size()));
  auto const files = label_files(folder, static_cast<int>(dims.size()));
  for (std::size_t n = 0; n < dims.size(); ++n)
    expects(files[n].empty() || labels.names[n].size() == dims[n], "--labels: ", files[n], " has ",
            labels.names[n].size(), " lines, mode ", n, " of the tensor has length ", dims[n]);
  return labels;
}

Labels printable(Labels labels) {
  for (auto& names : labels.names)
    for (auto& name : names) name = printable(name);
  for (auto& mode : labels.modes) mode = printable(mode);
  return labels;
}

namespace {

/// The first `top` entries that are not below a thousandth of the greatest, with their names.
template <class Entries>
std::vector<TopEntry> named(Entries const& entries, std::vector<std::string> const& names,
                            std::size_t top) {
  std::vector<TopEntry> result;
  double greatest = 0;
  for (auto const& [i, value] : entries) {
    double const magnitude = std::abs(static_cast<double>(value));
    greatest = std::max(greatest, magnitude);
    if (magnitude == 0 || magnitude < greatest / 1000 || result.size() == top) break;
    result.push_back(
        {i + 1, names.empty() ? std::to_string(i + 1) : names[i], static_cast<double>(value)});
  }
  return result;
}

/// top_of_column of each of mode n's columns, of the rows of all processes.
template <class Model>
std::vector<std::vector<TopEntry>> top_of_columns(Model const& model, int n,
                                                  std::vector<std::string> const& names, int top,
                                                  RowMap const& rows) {
  struct Entry {
    std::uint64_t column, index;
    double value;
  };
  auto const columns = model.factors[static_cast<std::size_t>(n)].extent(1);
  std::vector<Entry> entries;
  for (std::uint64_t r = 0; r < columns; ++r)
    for (auto const& [i, value] : strongest(model, static_cast<int>(r), n, top))
      entries.push_back({r, rows.first() + i, static_cast<double>(value)});
  entries = sporades::detail::all_gather(rows.processes, "strongest entries", entries);
  std::stable_sort(entries.begin(), entries.end(), [](Entry const& a, Entry const& b) {
    return a.column != b.column ? a.column < b.column : std::abs(a.value) > std::abs(b.value);
  });
  std::vector<std::vector<std::pair<std::uint64_t, double>>> sorted(columns);
  for (auto const& entry : entries) sorted[entry.column].emplace_back(entry.index, entry.value);
  std::vector<std::vector<TopEntry>> result;
  for (auto const& column : sorted)
    result.push_back(named(column, names, static_cast<std::size_t>(top)));
  return result;
}

template <class Model>
auto top_of_factors(Model const& model, Labels const& labels, int top,
                    std::vector<RowMap> const& rows) {
  decltype(TopEntries::factors) all;
  for (std::size_t n = 0; n < model.factors.size(); ++n)
    all.push_back(top_of_columns(model, static_cast<int>(n), labels.names[n], top,
                                 rows.empty() ? RowMap{} : rows[n]));
  return all;
}

}  // namespace

template <class Model>
std::vector<TopEntry> top_of_column(Model const& model, int r, int n,
                                    std::vector<std::string> const& names, int top) {
  return named(strongest(model, r, n, top), names, static_cast<std::size_t>(top));
}

template <class Scalar>
TopEntries top_entries(KruskalTensor<Scalar> const& model, Labels const& labels, int top,
                       std::vector<RowMap> const& rows) {
  TopEntries entries;
  for (int r = 0; r < model.rank(); ++r)
    entries.weights.push_back(static_cast<double>(model.weights(r)));
  entries.modes = labels.modes;
  entries.factors = top_of_factors(model, labels, top, rows);
  return entries;
}

template <class Scalar>
TopEntries top_entries(TuckerTensor<Scalar> const& model, Labels const& labels, int top,
                       std::vector<RowMap> const& rows) {
  TopEntries entries;
  for (auto const& [columns, value] : strongest(model, top)) {
    TopCell cell{columns, static_cast<double>(value)};
    for (int& column : cell.columns) ++column;  // people count from 1
    entries.core.push_back(cell);
  }
  entries.modes = labels.modes;
  entries.factors = top_of_factors(model, labels, top, rows);
  return entries;
}

std::string to_text(TopEntries const& top) {
  std::string text;
  auto const R = top.weights.size();
  for (std::size_t r = 0; r < R; ++r) {
    text += sporades::detail::concatenate("\ncomponent ", r + 1, " of ", R, ", weight ") +
            text_of("%.6g\n", top.weights[r]);
    std::vector<Column> columns;
    for (std::size_t n = 0; n < top.factors.size(); ++n)
      columns.push_back({mode_text(top.modes, n), top.factors[n][r]});
    text += side_by_side(columns);
  }
  if (top.core.empty()) return text;
  text += "\ncore\n";
  for (auto const& cell : top.core) {
    text += " ";
    for (int column : cell.columns) text += " " + std::to_string(column);
    text += text_of("  %.6g\n", cell.value);
  }
  constexpr std::size_t abreast = 4;
  for (std::size_t n = 0; n < top.factors.size(); ++n)
    for (std::size_t first = 0; first < top.factors[n].size(); first += abreast) {
      text += "\n" + mode_text(top.modes, n) + "\n";
      std::vector<Column> columns;
      for (std::size_t r = first; r < std::min(first + abreast, top.factors[n].size()); ++r)
        columns.push_back({"column " + std::to_string(r + 1), top.factors[n][r]});
      text += side_by_side(columns);
    }
  return text;
}

template std::vector<TopEntry> top_of_column(KruskalTensor<double> const&, int, int,
                                             std::vector<std::string> const&, int);
template std::vector<TopEntry> top_of_column(TuckerTensor<double> const&, int, int,
                                             std::vector<std::string> const&, int);
template TopEntries top_entries(KruskalTensor<double> const&, Labels const&, int,
                                std::vector<RowMap> const&);
template TopEntries top_entries(KruskalTensor<float> const&, Labels const&, int,
                                std::vector<RowMap> const&);
template TopEntries top_entries(TuckerTensor<double> const&, Labels const&, int,
                                std::vector<RowMap> const&);
template TopEntries top_entries(TuckerTensor<float> const&, Labels const&, int,
                                std::vector<RowMap> const&);

}  // namespace sporades::command
