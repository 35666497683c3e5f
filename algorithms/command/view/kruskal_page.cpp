// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <sporades/algorithms/command/view/chart.hpp>
#include <sporades/algorithms/command/view/html.hpp>
#include <sporades/algorithms/command/view/page.hpp>

namespace sporades::command {
namespace {

class KruskalPage {
 public:
  KruskalPage(KruskalTensor<double> const& model, PageContent const& content)
      : model_(model), content_(content) {
    std::vector<double> weights;
    for (int r = 0; r < model.rank(); ++r) {
      weights.push_back(model.weights(r));
      range_.include(weights.back());
    }
    shown_ = strongest_in_order(weights, content.components);
  }

  std::string html() const {
    std::string body = head() + guide();
    if (model_.rank() > 1) body += overview();
    for (int const r : shown_) body += row(r);
    return whole_page(content_.file, body);
  }

 private:
  std::string head() const {
    auto const left_out = static_cast<std::size_t>(model_.rank()) - shown_.size();
    return fmt::format(
        "<header>\n<h1>{}</h1>\n<p>CP model of a tensor of {}: {}.{}</p>\n{}</header>\n",
        name_html(content_.file), sizes_html(model_.dims()),
        count_text(static_cast<std::uint64_t>(model_.rank()), "component", "components"),
        left_out_text(left_out, "of smaller weight"), run_html(content_));
  }

  std::string guide() const {
    return "<section class=\"guide\">\n<h2>How to read this page</h2>\n<ul>\n"
           "<li>The model is the sum of its components. Each has a row below: its weight at the "
           "side, and a panel for each mode. What is strong in the panels of one row occurs "
           "together in the tensor. The bar of a weight compares it with the largest.</li>\n" +
           panel_guide(content_.modes) + "</ul>\n</section>\n";
  }

  std::string weight_bar(int r) const { return bar_html(model_.weights(r), range_); }

  std::string share(int r) const {
    return fmt::format("{:.1f} %", 100 * content_.shares[static_cast<std::size_t>(r)]);
  }

  std::string overview() const {
    std::string rows;
    for (int const r : shown_)
      rows += fmt::format(
          "<tr><th><a "
          "href=\"#c{0}\">{0}</a></th><td>{1}</td><td>{2}</td><td>{3}</td><td>{4}</td></tr>"
          "\n",
          r + 1, weight_bar(r), number_text(model_.weights(r)), share(r),
          strongest_names_html(model_, content_.modes, std::vector<int>(content_.modes.size(), r)));
    return "<section class=\"overview\">\n<h2>Weights</h2>\n<p>The weight of each component, its "
           "share of the " +
           std::string(content_.shares_are_of_sum ? "sum of all entries of the model"
                                                  : "components' squared norms") +
           ", and what is strongest in it, mode by mode. Its number leads to its "
           "row.</p>\n<table>\n" +
           rows + "</table>\n</section>\n";
  }

  std::string row(int r) const {
    std::string panels;
    for (auto const& mode : content_.modes)
      panels += panel_html(model_, r, mode, content_.top, title_html(mode));
    return fmt::format(
        "<section class=\"row\" id=\"c{}\">\n<div class=\"side\"><h2>Component {}</h2>\n"
        "<p>weight {}</p>{}{}</div>\n<div class=\"panels\">\n{}</div>\n</section>\n",
        r + 1, r + 1, number_text(model_.weights(r)), weight_bar(r),
        model_.weights(r) == 0 ? "" : "<p>" + share(r) + "</p>", panels);
  }

  KruskalTensor<double> const& model_;
  PageContent const& content_;
  Range range_;  // of the weights
  std::vector<int> shown_;
};

}  // namespace

std::string page_of(KruskalTensor<double> const& model, PageContent const& content) {
  return KruskalPage(model, content).html();
}

}  // namespace sporades::command
