// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <vector>

namespace sporades::detail {

/// For each of the columns of C, rows x columns with rows >= columns, stored row by row, a row that
/// no other column has. Greedy: the largest entry first, of equal ones the first by column and then
/// by row; its row and column are taken, and so on. Exact: the sum of the entries is as large as
/// can be.
std::vector<int> match_greedily(std::vector<double> C, std::size_t rows, std::size_t columns);
std::vector<int> match_exactly(std::vector<double> const& C, std::size_t rows, std::size_t columns);

}  // namespace sporades::detail
