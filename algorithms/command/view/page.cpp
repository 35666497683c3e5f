// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <sporades/algorithms/command/view/html.hpp>
#include <sporades/algorithms/command/view/page.hpp>
#include <sporades/formats/strongest.hpp>

namespace sporades::command {

std::vector<int> strongest_in_order(std::vector<double> const& strengths, int count) {
  auto const strength = [&](std::size_t place) { return strengths[place]; };
  auto const places = sporades::detail::strongest_places(strengths.size(), count, strength);
  std::vector<int> result(places.begin(), places.end());
  std::sort(result.begin(), result.end());
  return result;
}

std::string left_out_text(std::size_t left_out, char const* which) {
  return left_out == 0 ? "" : " Left out: " + count_text(left_out) + " " + which + ".";
}

std::string run_html(PageContent const& content) {
  std::string html;
  for (auto const& text : {content.run, content.note})
    if (!text.empty()) html += "<p>" + name_html(text) + "</p>\n";
  return html;
}

std::string sizes_html(std::vector<std::uint64_t> const& sizes) {
  std::string html;
  for (auto const size : sizes) html += (html.empty() ? "" : " × ") + count_text(size);
  return html;
}

template <class Model>
std::string strongest_names_html(Model const& model, std::vector<ModePanels> const& modes,
                                 std::vector<int> const& columns) {
  std::string html;
  for (auto const& mode : modes) {
    auto const column = columns[static_cast<std::size_t>(mode.n)];
    auto const entries = top_of_column(model, column, mode.n, mode.names, 1);
    auto const name = entries.empty() ? "–" : name_html(shown_name(entries[0]));
    html += (html.empty() ? "" : " · ") + name;
  }
  return html;
}

template std::string strongest_names_html(KruskalTensor<double> const&,
                                          std::vector<ModePanels> const&, std::vector<int> const&);
template std::string strongest_names_html(TuckerTensor<double> const&,
                                          std::vector<ModePanels> const&, std::vector<int> const&);

}  // namespace sporades::command
