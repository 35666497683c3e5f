// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <sporades/algorithms/command/name_search.hpp>
#include <sporades/algorithms/command/view/heat_map.hpp>

namespace sporades::command {
namespace {

/// A place in a model: an index of a mode.
struct Place {
  std::size_t n;
  std::uint64_t index;
};

std::vector<std::string> const& names_of(Labels const& labels, std::size_t n) {
  static std::vector<std::string> const none;
  return labels.empty() ? none : labels.names[n];
}

std::vector<Place> places_of(Dims const& dims, Labels const& labels, std::string const& name) {
  std::uint64_t number = 0;
  auto const [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  bool const is_number = error == std::errc() && end == name.data() + name.size() && number > 0;
  std::vector<Place> places;
  for (std::size_t n = 0; n < dims.size(); ++n) {
    auto const& names = names_of(labels, n);
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] == name) places.push_back({n, i});
    if (names.empty() && is_number && number <= dims[n]) places.push_back({n, number - 1});
  }
  return places;
}

std::string in_small_letters(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// "; there are libc-bin and libc6", or empty.
std::string similar_names(Labels const& labels, std::string const& name) {
  constexpr int most = 5;
  std::string text;
  int found = 0;
  auto const wanted = in_small_letters(name);
  for (auto const& names : labels.names)
    for (auto const& other : names)
      if (in_small_letters(other).find(wanted) != std::string::npos && ++found <= most)
        text += (text.empty() ? "'" : ", '") + other + "'";
  if (found == 0) return "";
  return (found == 1 ? "; a name that contains it is " : "; names that contain it are ") + text +
         (found > most ? " and others" : "");
}

/// What a component, or a column of the mode, has of an index.
struct Holding {
  std::size_t column = 0;
  double entry = 0;         // of the column with length 1
  double strength = 0;      // logarithm of what it makes in the model
  std::uint64_t place = 0;  // among the entries of the column, by magnitude, from 1
};

/// lengths: logarithms of the columns' lengths. strengths: logarithms of what they make with all
/// else.
template <class Factor>
std::vector<Holding> holdings(Factor const& A, std::uint64_t index,
                              std::vector<double> const& lengths,
                              std::vector<double> const& strengths) {
  std::vector<Holding> all;
  for (std::size_t r = 0; r < A.extent(1); ++r) {
    double const entry = A(index, r), magnitude = std::abs(entry);
    if (magnitude == 0 || !std::isfinite(strengths[r])) continue;
    double const relative = std::log(magnitude) - lengths[r];
    Holding holding{r, std::copysign(std::exp(relative), entry), strengths[r] + relative, 1};
    for (std::size_t i = 0; i < A.extent(0); ++i) holding.place += std::abs(A(i, r)) > magnitude;
    all.push_back(holding);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](auto const& a, auto const& b) { return a.strength > b.strength; });
  return all;
}

std::string lines_of(char const* what, std::vector<Holding> const& all, std::uint64_t entries) {
  if (all.empty()) return fmt::format("  no {} holds it\n", what);
  double sum = 0;
  auto const relative = [&](Holding const& one) {
    return std::exp(one.strength - all[0].strength);
  };
  for (auto const& one : all) sum += relative(one);
  std::string text;
  std::size_t small = 0;
  for (auto const& one : all)
    if (relative(one) >= 1e-3)
      text += fmt::format("  {} {}: {:.1f} % of it, with {:#.3g}, place {} of {}\n", what,
                          one.column + 1, 100 * relative(one) / sum, one.entry, one.place, entries);
    else
      ++small;
  if (small > 0) text += fmt::format("  {} others hold less than a thousandth of that\n", small);
  return text;
}

std::string lines_at(KruskalTensor<double> const& model, Place const& place) {
  auto const lengths = column_lengths(model);
  auto const& A = model.factors[place.n];
  return lines_of("component",
                  holdings(A, place.index, lengths.columns[place.n], lengths.components),
                  A.extent(0));
}

std::string lines_at(TuckerTensor<double> const& model, Place const& place) {
  auto strengths = column_strengths(model)[place.n];
  for (double& strength : strengths) strength = std::log(strength);
  auto const& A = model.factors[place.n];  // its columns have length 1
  return lines_of("column",
                  holdings(A, place.index, std::vector<double>(strengths.size()), strengths),
                  A.extent(0));
}

}  // namespace

std::string holders_text(AnyModel const& model, Labels const& labels, std::string const& name) {
  auto const dims = std::visit([](auto const& M) { return M.dims(); }, model);
  auto const places = places_of(dims, labels, name);
  expects(!places.empty(), "--name: no mode has the name '", name, "'",
          similar_names(labels, name));
  std::string text;
  for (auto const& place : places) {
    text += mode_text(labels.modes, place.n) + ", '" + name + "'";
    if (!names_of(labels, place.n).empty()) text += ", index " + std::to_string(place.index + 1);
    text += "\n" + std::visit([&](auto const& M) { return lines_at(M, place); }, model);
  }
  return text;
}

}  // namespace sporades::command
