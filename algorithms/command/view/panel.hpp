// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/command/labels.hpp>
#include <string>
#include <vector>

namespace sporades::command {

/// How the columns of a mode are shown.
enum class PanelKind {
  bars,     // the strongest entries with their names
  profile,  // all in their order, and the strongest
  line      // all in their order as a line, and the strongest
};

struct ModePanels {
  int n = 0;
  std::string title;               // the mode's name, or none
  std::vector<std::string> names;  // of the indices, or none
  PanelKind kind = PanelKind::bars;
  std::vector<double> places;  // of a line, 0 to 1, for each index; none: at equal distances
};

/// What a page shows, and where from.
struct PageContent {
  std::string file;                // the model's name
  std::string run;                 // what the model's file says of the run that made it, or empty
  std::string note;                // what was changed for the page, or empty
  std::vector<double> shares;      // of the components of a CP model
  bool shares_are_of_sum = false;  // of all entries; else of squares
  std::vector<ModePanels> modes;
  int top = 0;         // entries of a column
  int components = 0;  // most components, or columns of a mode, that are shown
};

/// How each mode of a model of these dims is shown. lines: the modes that are drawn as lines, or
/// where automatic_lines is set those whose names are times.
std::vector<ModePanels> choose_panels(Dims const& dims, Labels labels,
                                      std::vector<int> const& lines, bool automatic_lines);

/// A panel for column r of a mode, under a heading, which is HTML.
template <class Model>
std::string panel_html(Model const& model, int r, ModePanels const& mode, int top,
                       std::string const& heading);

/// "Mode 2: month".
std::string title_html(ModePanels const& mode);

/// The name of an entry; its index in parentheses where the name is empty.
std::string shown_name(TopEntry const& entry);

/// Sentences that say how to read panels of the kinds that there are.
std::string panel_guide(std::vector<ModePanels> const& modes);

}  // namespace sporades::command
