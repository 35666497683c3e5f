// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sporades/algorithms/command/view/heat_map.hpp>
#include <sporades/algorithms/command/view/html.hpp>
#include <sporades/algorithms/command/view/page.hpp>

namespace sporades::command {
namespace {

constexpr std::size_t most_cells = 4096;  // of all maps, about 150 KB
constexpr std::size_t most_slices = 12;

/// Calls use(columns) for each choice of one column from each of these sets, the first fastest.
template <class Use>
void for_each_choice(std::vector<std::vector<int>> const& sets, Use const& use) {
  std::vector<std::size_t> places(sets.size(), 0);
  std::vector<int> columns;
  for (auto const& set : sets) columns.push_back(set[0]);
  for (std::size_t n = 0; n < sets.size();) {
    use(columns);
    for (n = 0; n < sets.size(); ++n) {
      places[n] = (places[n] + 1) % sets[n].size();
      columns[n] = sets[n][places[n]];
      if (places[n] != 0) break;
    }
  }
}

class HeatMaps {
 public:
  HeatMaps(TuckerTensor<double> const& model, std::vector<std::vector<int>> const& shown)
      : model_(model), shown_(shown) {
    for (std::size_t g = 0; g < model.core.extent(0); ++g)
      largest_ = std::max(largest_, std::abs(model.core(g)));
    std::vector<std::size_t> modes(shown.size());
    std::iota(modes.begin(), modes.end(), std::size_t{0});
    std::stable_sort(modes.begin(), modes.end(),
                     [&](auto a, auto b) { return shown[a].size() > shown[b].size(); });
    across_ = modes[0];
    down_ = modes[shown.size() > 1 ? 1 : 0];
    if (down_ > across_) std::swap(down_, across_);
    auto fixed = shown;  // in a slice, of which this is the first cell
    fixed[down_].resize(1);
    fixed[across_].resize(1);
    for_each_choice(fixed, [&](auto const& columns) { slices_.push_back(columns); });
  }

  std::string html() const {
    std::vector<double> strengths;
    for (auto const& slice : slices_) strengths.push_back(strength(slice));
    std::size_t const fit = most_cells / (down().size() * across().size());
    auto const most = static_cast<int>(std::clamp<std::size_t>(fit, 1, most_slices));
    auto const drawn = strongest_in_order(strengths, most);
    std::string maps;
    for (int const place : drawn) maps += map(slices_[static_cast<std::size_t>(place)]);
    return "<p>" + guide(drawn.size()) + "</p>\n<div class=\"maps\">\n" + maps + "</div>\n";
  }

 private:
  /// The columns along the rows and columns of a map; a core of order 1 has one row.
  std::vector<int> const& across() const { return shown_[across_]; }
  std::vector<int> down() const { return down_ == across_ ? std::vector<int>{0} : shown_[down_]; }

  /// An entry of the core in a slice.
  double at(std::vector<int> const& slice, int row, int column) const {
    std::size_t place = 0;
    for (std::size_t n = slice.size(); n-- > 0;) {
      int const own = n == across_ ? column : n == down_ ? row : slice[n];
      place = place * model_.factors[n].extent(1) + static_cast<std::size_t>(own);
    }
    return model_.core(place);
  }

  double strength(std::vector<int> const& slice) const {
    double greatest = 0;
    for (int const row : down())
      for (int const column : across())
        greatest = std::max(greatest, std::abs(at(slice, row, column)));
    return greatest;
  }

  std::string guide(std::size_t drawn) const {
    std::string text =
        "Entries of the core in percent of the largest magnitude, " + number_text(largest_) +
        ". The stronger a cell is shaded, the larger its magnitude; hatched cells are negative; a "
        "dot is less than half a percent. ";
    if (down_ != across_)
      text += fmt::format("Downwards are the columns of mode {}, across those of mode {}.", down_,
                          across_);
    if (shown_.size() > 3)
      text += " Above each map are the columns of all modes, ↓ and → for these two.";
    if (slices_.size() > drawn)
      text += fmt::format(" The {} of {} slices with the largest entries are drawn.", drawn,
                          count_text(slices_.size()));
    return text;
  }

  /// The columns that are fixed in a slice.
  std::string name(std::vector<int> const& slice) const {
    std::string columns;
    for (std::size_t n = 0; n < slice.size(); ++n) {
      bool const is_fixed = n != down_ && n != across_;
      auto const column = is_fixed ? std::to_string(slice[n] + 1) : n == down_ ? "↓" : "→";
      if (slice.size() > 3)
        columns += (n > 0 ? ", " : "") + column;
      else if (is_fixed)
        columns = fmt::format("Column {} of mode {}", column, n);
    }
    return columns.empty() ? "" : "<figcaption>" + columns + "</figcaption>\n";
  }

  std::string map(std::vector<int> const& slice) const {
    std::string rows = "<tr><td></td>";
    for (int const column : across()) rows += fmt::format("<th>{}</th>", column + 1);
    rows += "</tr>\n";
    for (int const row : down()) {
      rows += down_ == across_ ? "<tr><td></td>" : fmt::format("<tr><th>{}</th>", row + 1);
      for (int const column : across()) rows += cell(at(slice, row, column));
      rows += "</tr>\n";
    }
    return "<figure class=\"map\">\n" + name(slice) + "<table>\n" + rows + "</table>\n</figure>\n";
  }

  std::string cell(double value) const {
    double const part = largest_ > 0 ? value / largest_ : 0;
    auto const percent = std::lround(100 * part);
    if (percent == 0) return "<td>·</td>";
    return fmt::format("<td{} style=\"--part:{:.2f}\">{}</td>", value < 0 ? " class=\"minus\"" : "",
                       std::abs(part), percent);
  }

  TuckerTensor<double> const& model_;
  std::vector<std::vector<int>> const& shown_;
  double largest_ = 0;
  std::size_t down_ = 0;  // the modes along a map; the same in a core of order 1
  std::size_t across_ = 0;
  std::vector<std::vector<int>> slices_;
};

}  // namespace

std::vector<std::vector<double>> column_strengths(TuckerTensor<double> const& model) {
  std::vector<std::vector<double>> strengths;
  std::vector<std::vector<int>> all;
  for (int const rank : model.ranks()) {
    strengths.emplace_back(rank, 0.0);
    all.emplace_back(rank);
    std::iota(all.back().begin(), all.back().end(), 0);
  }
  std::size_t place = 0;
  for_each_choice(all, [&](auto const& columns) {
    double const magnitude = std::abs(model.core(place++));
    for (std::size_t n = 0; n < columns.size(); ++n) {
      auto& greatest = strengths[n][static_cast<std::size_t>(columns[n])];
      greatest = std::max(greatest, magnitude);
    }
  });
  return strengths;
}

std::string heat_maps_html(TuckerTensor<double> const& model,
                           std::vector<std::vector<int>> const& columns) {
  return HeatMaps(model, columns).html();
}

}  // namespace sporades::command
