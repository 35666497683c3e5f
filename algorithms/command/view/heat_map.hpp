// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/tucker_tensor.hpp>
#include <string>
#include <vector>

namespace sporades::command {

/// The greatest magnitude in the core for each column of each mode: [n][column].
std::vector<std::vector<double>> column_strengths(TuckerTensor<double> const& model);

/// The core as heat maps, with a sentence that says how to read them. Only these columns of each
/// mode are drawn, at least one of each. A map is a slice: the two modes with most columns are its
/// rows and columns, the others are fixed. Where there are too many slices those with the greatest
/// entries are drawn, and the sentence says so.
std::string heat_maps_html(TuckerTensor<double> const& model,
                           std::vector<std::vector<int>> const& columns);

}  // namespace sporades::command
