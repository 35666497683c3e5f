// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/command/view/panel.hpp>

namespace sporades::command {

/// The page of a CP model: its weights, and for each component a row of panels, one a mode.
std::string page_of(KruskalTensor<double> const& model, PageContent const& content);

/// The page of a Tucker model: its core, and for each mode the panels of its columns.
std::string page_of(TuckerTensor<double> const& model, PageContent const& content);

/// The `count` places whose strength is greatest, in ascending order.
std::vector<int> strongest_in_order(std::vector<double> const& strengths, int count);

/// " Left out: 3 of smaller weight."; empty if none is left out.
std::string left_out_text(std::size_t left_out, char const* which);

/// What is known of the model's run, and what was changed for the page: paragraphs, or empty.
std::string run_html(PageContent const& content);

/// "36 × 199 × 60".
std::string sizes_html(std::vector<std::uint64_t> const& sizes);

/// The names of what is strongest in a column of each mode, one after another.
template <class Model>
std::string strongest_names_html(Model const& model, std::vector<ModePanels> const& modes,
                                 std::vector<int> const& columns);

}  // namespace sporades::command
