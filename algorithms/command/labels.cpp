// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sporades/algorithms/command/labels.hpp>

namespace sporades::command {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> label_files(std::string const& folder, int order) {
  expects(fs::is_directory(folder), "--labels ", folder, " is not a folder");
  std::vector<std::string> files;
  if (fs::exists(fs::path(folder) / "mode-0.txt")) {
    for (int n = 0; n < order; ++n)
      files.push_back((fs::path(folder) / ("mode-" + std::to_string(n) + ".txt")).string());
    return files;
  }
  for (auto const& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().filename().string().front() != '.')
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  expects(static_cast<int>(files.size()) == order, "--labels ", folder, " has ", files.size(),
          " files, the tensor has ", order, " modes (name them mode-0.txt to mode-", order - 1,
          ".txt to have other files there)");
  return files;
}

std::vector<std::string> read_lines(std::string const& path) {
  std::ifstream file(path);
  expects(file.is_open(), "--labels: ", path, " cannot be read");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

/// What a terminal shows as one place each: bytes that do not continue a UTF-8 character.
int width_of(std::string const& text) {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string cut_to(std::string text, int width) {
  if (width_of(text) <= width) return text;
  while (width_of(text) >= width) text.pop_back();
  while (!text.empty() && (text.back() & 0xC0) == 0x80) text.pop_back();
  return text + "~";
}

struct Entry {
  std::string name;
  std::string value;
};

template <class MatrixType>
std::vector<Entry> top_of_column(MatrixType const& A, int r, std::vector<std::string> const& names,
                                 int top) {
  std::vector<std::size_t> indices(A.extent(0));
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  auto const end = indices.begin() + std::min<std::ptrdiff_t>(top, A.extent(0));
  std::partial_sort(indices.begin(), end, indices.end(), [&](auto i, auto j) {
    auto const a = std::abs(A(i, r));
    auto const b = std::abs(A(j, r));
    return a > b || (a == b && i < j);
  });
  std::vector<Entry> entries;
  for (auto i = indices.begin(); i != end; ++i) {
    auto const magnitude = std::abs(A(*i, r));
    if (magnitude == 0 || magnitude < std::abs(A(indices.front(), r)) / 1000) break;
    char value[32];
    std::snprintf(value, sizeof value, "%#.3g", static_cast<double>(A(*i, r)));
    entries.push_back({cut_to(names[*i], 32), value});
  }
  return entries;
}

/// Entries under a heading.
struct Column {
  std::string heading;
  std::vector<Entry> entries;
};

std::string side_by_side(std::vector<Column> const& columns) {
  std::size_t used = 1;
  for (auto const& column : columns) used = std::max(used, column.entries.size() + 1);
  std::vector<std::string> lines(used);
  for (auto const& [heading, entries] : columns) {
    int name_width = width_of(heading);
    int value_width = 0;
    for (auto const& entry : entries) {
      name_width = std::max(name_width, width_of(entry.name));
      value_width = std::max(value_width, width_of(entry.value));
    }
    for (std::size_t k = 0; k < used; ++k) {
      Entry const entry = k == 0                   ? Entry{heading, ""}
                          : k - 1 < entries.size() ? entries[k - 1]
                                                   : Entry{};
      lines[k] += "  " + entry.name + std::string(name_width - width_of(entry.name), ' ') + " " +
                  std::string(value_width - width_of(entry.value), ' ') + entry.value + " ";
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

Labels read_labels(std::string const& folder, Dims const& dims) {
  Labels labels;
  auto const files = label_files(folder, static_cast<int>(dims.size()));
  for (std::size_t n = 0; n < dims.size(); ++n) {
    labels.push_back(read_lines(files[n]));
    expects(labels[n].size() == dims[n], "--labels: ", files[n], " has ", labels[n].size(),
            " lines, mode ", n, " of the tensor has length ", dims[n]);
  }
  return labels;
}

template <class Scalar>
std::string top_entries(Ktensor<Scalar> const& model, Labels const& labels, int top) {
  std::string text;
  for (int r = 0; r < model.rank(); ++r) {
    text += sporades::detail::concatenate("\ncomponent ", r + 1, " of ", model.rank());
    char weight[64];
    std::snprintf(weight, sizeof weight, ", weight %.6g\n", static_cast<double>(model.weights(r)));
    text += weight;
    std::vector<Column> columns;
    for (int n = 0; n < model.order(); ++n)
      columns.push_back(
          {"mode " + std::to_string(n), top_of_column(model.factors[n], r, labels[n], top)});
    text += side_by_side(columns);
  }
  return text;
}

template <class Scalar>
std::string top_entries(TuckerTensor<Scalar> const& model, Labels const& labels, int top) {
  constexpr int abreast = 4;
  std::vector<std::size_t> places(model.core.extent(0));
  std::iota(places.begin(), places.end(), std::size_t{0});
  auto const end = places.begin() + std::min<std::ptrdiff_t>(top, model.core.extent(0));
  std::partial_sort(places.begin(), end, places.end(), [&](auto a, auto b) {
    auto const x = std::abs(model.core(a));
    auto const y = std::abs(model.core(b));
    return x > y || (x == y && a < b);
  });
  auto const ranks = model.ranks();
  std::string text = "\ncore\n";
  for (auto place = places.begin(); place != end; ++place) {
    std::size_t rest = *place;
    text += " ";
    for (int rank : ranks) {
      text += " " + std::to_string(rest % rank + 1);
      rest /= rank;
    }
    char value[32];
    std::snprintf(value, sizeof value, "  %.6g\n", static_cast<double>(model.core(*place)));
    text += value;
  }
  for (int n = 0; n < model.order(); ++n)
    for (int first = 0; first < ranks[n]; first += abreast) {
      text += "\nmode " + std::to_string(n) + "\n";
      std::vector<Column> columns;
      for (int r = first; r < std::min(first + abreast, ranks[n]); ++r)
        columns.push_back({"column " + std::to_string(r + 1),
                           top_of_column(model.factors[n], r, labels[n], top)});
      text += side_by_side(columns);
    }
  return text;
}

template std::string top_entries(Ktensor<double> const&, Labels const&, int);
template std::string top_entries(Ktensor<float> const&, Labels const&, int);
template std::string top_entries(TuckerTensor<double> const&, Labels const&, int);
template std::string top_entries(TuckerTensor<float> const&, Labels const&, int);

}  // namespace sporades::command
