// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <limits>
#include <sporades/algorithms/detail/match.hpp>

namespace sporades::detail {

std::vector<int> match_greedily(std::vector<double> C, std::size_t rows, std::size_t columns) {
  constexpr double taken = -std::numeric_limits<double>::infinity();
  std::vector<int> row_of(columns, -1);
  for (std::size_t k = 0; k < columns; ++k) {
    std::size_t row = rows, column = columns;
    double largest = taken;
    for (std::size_t s = 0; s < columns; ++s)
      for (std::size_t r = 0; r < rows; ++r)
        if (C[r * columns + s] > largest) {
          largest = C[r * columns + s];
          row = r;
          column = s;
        }
    row_of[column] = static_cast<int>(row);
    for (std::size_t r = 0; r < rows; ++r) C[r * columns + column] = taken;
    for (std::size_t s = 0; s < columns; ++s) C[row * columns + s] = taken;
  }
  return row_of;
}

// Shortest augmenting paths by potentials (Jonker & Volgenant, Computing 38, 1987), at costs of
// -C. Number 0 of the rows is a place for the column that is being matched; real ones count from 1.
std::vector<int> match_exactly(std::vector<double> const& C, std::size_t rows,
                               std::size_t columns) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> of_column(columns + 1, 0), of_row(rows + 1, 0);  // potentials
  std::vector<std::size_t> column_of(rows + 1, 0), before(rows + 1, 0);
  for (std::size_t column = 1; column <= columns; ++column) {
    column_of[0] = column;
    std::vector<double> slack(rows + 1, infinity);
    std::vector<bool> is_reached(rows + 1, false);
    std::size_t row = 0;
    while (column_of[row] != 0) {
      is_reached[row] = true;
      std::size_t const s = column_of[row];
      std::size_t next = 0;
      double least = infinity;
      for (std::size_t r = 1; r <= rows; ++r) {
        if (is_reached[r]) continue;
        double const cost = -C[(r - 1) * columns + s - 1] - of_column[s] - of_row[r];
        if (cost < slack[r]) {
          slack[r] = cost;
          before[r] = row;
        }
        if (slack[r] < least) {
          least = slack[r];
          next = r;
        }
      }
      for (std::size_t r = 0; r <= rows; ++r)
        if (is_reached[r]) {
          of_column[column_of[r]] += least;
          of_row[r] -= least;
        } else {
          slack[r] -= least;
        }
      row = next;
    }
    for (; row != 0; row = before[row]) column_of[row] = column_of[before[row]];
  }
  std::vector<int> row_of(columns, -1);
  for (std::size_t r = 1; r <= rows; ++r)
    if (column_of[r] != 0) row_of[column_of[r] - 1] = static_cast<int>(r - 1);
  return row_of;
}

}  // namespace sporades::detail
