// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <sporades/algorithms/command/view/chart.hpp>
#include <sporades/algorithms/command/view/heat_map.hpp>
#include <sporades/algorithms/command/view/html.hpp>
#include <sporades/algorithms/command/view/page.hpp>
#include <sporades/formats/strongest.hpp>

namespace sporades::command {
namespace {

class TuckerPage {
 public:
  TuckerPage(TuckerTensor<double> const& model, PageContent const& content)
      : model_(model), content_(content) {
    for (auto const& strengths : column_strengths(model))
      shown_.push_back(strongest_in_order(strengths, content.components));
  }

  std::string html() const {
    std::string body = head() + guide() + core();
    for (auto const& mode : content_.modes) body += factor(mode);
    return whole_page(content_.file, body);
  }

 private:
  std::string head() const {
    auto const ranks = model_.ranks();
    return "<header>\n<h1>" + name_html(content_.file) + "</h1>\n<p>Tucker model of a tensor of " +
           sizes_html(model_.dims()) + ", with a core of " +
           sizes_html({ranks.begin(), ranks.end()}) + ".</p>\n" + run_html(content_) +
           "</header>\n";
  }

  std::string guide() const {
    return "<section class=\"guide\">\n<h2>How to read this page</h2>\n<ul>\n"
           "<li>Each mode has a factor, whose columns are groups of its indices. An entry of the "
           "core says how strongly groups, one of each mode, occur together. First comes the core, "
           "then the columns of each mode. If a column and a slice of the core both change their "
           "signs, the model stays the same.</li>\n" +
           panel_guide(content_.modes) + "</ul>\n</section>\n";
  }

  std::string core() const {
    return "<section class=\"core\">\n<h2>Core</h2>\n" + heat_maps_html(model_, shown_) +
           "</section>\n<section class=\"overview\">\n<h2>Strongest entries of the core</h2>\n"
           "<p>For each entry the column of every mode, in the order of the modes, the entry, and "
           "what is strongest in these columns.</p>\n<table>\n" +
           strongest_entries() + "</table>\n</section>\n";
  }

  std::string strongest_entries() const {
    auto const entries = strongest(model_, content_.top);
    Range range;
    for (auto const& entry : entries) range.include(entry.value);
    std::string rows;
    for (auto const& [columns, value] : entries) {
      if (value == 0) break;
      std::string numbers;
      for (int const column : columns)
        numbers += (numbers.empty() ? "" : ", ") + std::to_string(column + 1);
      rows += fmt::format("<tr><th>{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n", numbers,
                          bar_html(value, range), number_text(value),
                          strongest_names_html(model_, content_.modes, columns));
    }
    return rows;
  }

  std::string factor(ModePanels const& mode) const {
    auto const n = static_cast<std::size_t>(mode.n);
    auto const columns = model_.factors[n].extent(1);
    std::string panels;
    for (int const column : shown_[n])
      panels +=
          panel_html(model_, column, mode, content_.top, fmt::format("Column {}", column + 1));
    return fmt::format(
        "<section class=\"factor\">\n<h2>{}</h2>\n<p>{} of {}.{}</p>\n<div "
        "class=\"panels\">\n{}</div>\n</section>\n",
        title_html(mode), count_text(columns, "column", "columns"),
        count_text(model_.factors[n].extent(0), "entry", "entries"),
        left_out_text(columns - shown_[n].size(), "of smaller entries in the core"), panels);
  }

  TuckerTensor<double> const& model_;
  PageContent const& content_;
  std::vector<std::vector<int>> shown_;  // columns of each mode
};

}  // namespace

std::string page_of(TuckerTensor<double> const& model, PageContent const& content) {
  return TuckerPage(model, content).html();
}

}  // namespace sporades::command
