// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sporades/algorithms/command/view/chart.hpp>
#include <sporades/algorithms/command/view/html.hpp>
#include <sporades/algorithms/command/view/panel.hpp>
#include <sporades/algorithms/command/view/times.hpp>

namespace sporades::command {
namespace {

/// Modes of more indices than this get a profile.
constexpr std::size_t longest_without_profile = 100;

/// Entries that are named under a line.
constexpr int named_under_line = 3;

std::string name_of(ModePanels const& mode, std::size_t i) {
  return mode.names.empty() ? std::to_string(i + 1) : mode.names[i];
}

/// What is under a drawing of a whole column: where it begins and ends.
std::string ends_html(ModePanels const& mode, std::size_t length) {
  return fmt::format("<div class=\"ends\">{}{}</div>\n", name_html(name_of(mode, 0)),
                     length > 1 ? name_html(name_of(mode, length - 1)) : "");
}

std::string drawing_html(ModePanels const& mode, std::vector<double> const& column,
                         TopEntry const& strongest) {
  bool const is_line = mode.kind == PanelKind::line;
  auto const what = fmt::format(
      "{} of {}, from {} to {}; the strongest is {} with {}", is_line ? "Line" : "Profile",
      count_text(column.size(), "entry", "entries"), name_of(mode, 0),
      name_of(mode, column.size() - 1), shown_name(strongest), number_text(strongest.value));
  return (is_line ? line_svg(column, mode.places, what) : profile_svg(column, what)) +
         ends_html(mode, column.size());
}

std::string bars_html(std::vector<TopEntry> const& entries) {
  Range range;
  for (auto const& entry : entries) range.include(entry.value);
  std::string rows;
  for (auto const& entry : entries)
    rows += fmt::format("<dt>{}</dt><dd>{}</dd><dd>{}</dd>\n", name_html(shown_name(entry)),
                        bar_html(entry.value, range), number_text(entry.value));
  return "<dl>\n" + rows + "</dl>\n";
}

/// Says in a few words which of a column's entries a panel shows.
std::string caption(ModePanels const& mode, std::size_t length, std::size_t shown, int top) {
  bool const is_bars = mode.kind == PanelKind::bars;
  if (is_bars && shown == length) return count_text(length, "entry", "entries, strongest first");
  bool const has_small = shown < length && shown < static_cast<std::size_t>(top);
  auto const of_all = is_bars ? " of " + count_text(length) : "";
  auto const strongest =
      shown == 1  ? "the strongest" + of_all + (has_small ? "; no other reaches 0.1% of it" : "")
      : has_small ? fmt::format("the {}{} above 0.1% of the strongest", shown, of_all)
                  : fmt::format("the {} strongest{}", shown, of_all);
  if (is_bars) return strongest;
  bool const is_line = mode.kind == PanelKind::line;
  auto const step = entries_of_step(length, is_line ? most_line_steps : most_profile_steps);
  auto const of_step = fmt::format(", {} a {}", count_text(step), is_line ? "point" : "step");
  return "all " + count_text(length) + (step > 1 ? of_step : "") + ", and " + strongest;
}

}  // namespace

std::string shown_name(TopEntry const& entry) {
  return entry.name.empty() ? "(" + std::to_string(entry.index) + ")" : entry.name;
}

std::string title_html(ModePanels const& mode) {
  auto const number = "Mode " + std::to_string(mode.n);
  return mode.title.empty() ? number : number + ": " + name_html(mode.title);
}

std::vector<ModePanels> choose_panels(Dims const& dims, Labels labels,
                                      std::vector<int> const& lines, bool automatic_lines) {
  std::vector<ModePanels> modes(dims.size());
  for (std::size_t n = 0; n < dims.size(); ++n) {
    auto& mode = modes[n];
    mode.n = static_cast<int>(n);
    if (!labels.modes.empty()) mode.title = labels.modes[n];
    if (!labels.empty()) mode.names = std::move(labels.names[n]);
    mode.places = times_of(mode.names);
    bool const is_asked_for = std::count(lines.begin(), lines.end(), mode.n) > 0;
    if (automatic_lines ? !mode.places.empty() : is_asked_for)
      mode.kind = PanelKind::line;
    else if (dims[n] > longest_without_profile)
      mode.kind = PanelKind::profile;
  }
  return modes;
}

template <class Model>
std::string panel_html(Model const& model, int r, ModePanels const& mode, int top,
                       std::string const& heading) {
  auto const& A = model.factors[static_cast<std::size_t>(mode.n)];
  std::size_t const length = A.extent(0);
  if (mode.kind == PanelKind::line) top = std::min(top, named_under_line);
  auto const entries = top_of_column(model, r, mode.n, mode.names, top);
  auto const html = "<figure class=\"panel\">\n<figcaption><b>" + heading + ":</b> ";
  if (entries.empty())
    return html + (length > 0 ? "all entries are 0" : "no entries") + ".</figcaption>\n</figure>\n";
  std::string drawing;
  if (mode.kind != PanelKind::bars) {
    std::vector<double> column(length);
    for (std::size_t i = 0; i < length; ++i) column[i] = A(i, static_cast<std::size_t>(r));
    drawing = drawing_html(mode, column, entries[0]);
  }
  return html + caption(mode, length, entries.size(), top) + ".</figcaption>\n" + drawing +
         bars_html(entries) + "</figure>\n";
}

std::string panel_guide(std::vector<ModePanels> const& modes) {
  auto const item = [&](PanelKind kind, std::string const& sample, char const* text) {
    auto const is_kind = [&](auto const& mode) { return mode.kind == kind; };
    bool const is_here =
        kind == PanelKind::bars || std::any_of(modes.begin(), modes.end(), is_kind);
    return is_here ? "<li><span class=\"sample\" aria-hidden=\"true\">" + sample + "</span>" +
                         text + "</li>\n"
                   : "";
  };
  std::vector<double> const example{0.1, 0.4, 1, 0.5, 0.2, -0.1, -0.6, -0.3, 0.1, 0.3, 0.2, 0.1};
  Range const both{-1, 1};
  return item(PanelKind::bars, bar_html(1, both) + bar_html(-0.7, both),
              "A bar is an entry, its name before it and its value after it. Solid bars to the "
              "right are positive, hatched bars to the left negative. In a panel all bars have "
              "one scale; other panels have their own.") +
         item(PanelKind::profile, profile_svg(example, "Example of a profile"),
              "A profile shows a long mode whole, its first index at the left, its last at the "
              "right. Each step is as high as the strongest of its entries: up is positive, down "
              "is negative, the thin line is zero.") +
         item(PanelKind::line, line_svg(example, {}, "Example of a line"),
              "A line shows a mode that is time, or that was asked for, from its first index to "
              "its last. A point of it is the strongest of its entries. The dot is the strongest "
              "of all, the thin line is zero.");
}

template std::string panel_html(KruskalTensor<double> const&, int, ModePanels const&, int,
                                std::string const&);
template std::string panel_html(TuckerTensor<double> const&, int, ModePanels const&, int,
                                std::string const&);

}  // namespace sporades::command
