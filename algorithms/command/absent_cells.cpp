// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sporades/algorithms/command/absent_cells.hpp>
#include <sporades/algorithms/command/processes.hpp>
#include <sporades/core/detail/dense.hpp>
#include <sporades/core/detail/processes/exchange.hpp>

namespace sporades::command {
namespace {

/// What some values are like.
struct Sample {
  std::uint64_t values = 0;
  std::uint64_t zeros = 0;
  std::uint64_t wholes = 0;
  std::uint64_t ratings = 0;       // halves or wholes from 0.5 to 10
  std::uint64_t of_the_least = 0;  // have the least magnitude
  double least = std::numeric_limits<double>::infinity();

  void add_least(double magnitude, std::uint64_t count) {
    if (magnitude < least) of_the_least = 0;
    least = std::min(least, magnitude);
    if (magnitude == least) of_the_least += count;
  }

  void add(double value) {
    ++values;
    zeros += value == 0;
    wholes += value == std::floor(value);
    ratings += value > 0 && value <= 10 && 2 * value == std::floor(2 * value);
    add_least(std::abs(value), 1);
  }

  void add(Sample const& other) {
    values += other.values;
    zeros += other.zeros;
    wholes += other.wholes;
    ratings += other.ratings;
    add_least(other.least, other.of_the_least);
  }
};

/// The rule of absent_cells_note.
bool are_measurements(Sample const& sample, double density) {
  if (sample.values < 10 || sample.zeros > 0 || density >= 0.5) return false;
  if (2 * sample.of_the_least >= sample.values) return false;
  return sample.ratings == sample.values || (sample.wholes < sample.values && density >= 1e-4);
}

}  // namespace

std::string share_of_cells(double density) {
  return fmt::format("{:.3g} % of the cells have values", 100 * density);
}

template <class Tensor>
std::string absent_cells_note(Tensor const& X) {
  constexpr Position most = 1 << 20;
  Sample here, all;
  for (Position p = 0; p < X.nnz(); p += 1 + X.nnz() / most)
    here.add(static_cast<double>(X.values(p)));
  for (auto const& sample : sporades::detail::all_gather(processes(), "values", here))
    all.add(sample);
  double const density =
      static_cast<double>(sum_of_all(X.nnz())) / sporades::detail::dense_size(X.dims);
  if (!are_measurements(all, density)) return {};
  return share_of_cells(density) +
         ", which look like measurements; the others count as 0, not as unknown";
}

template std::string absent_cells_note(CooTensor<float, std::uint32_t> const&);
template std::string absent_cells_note(CooTensor<float, std::uint64_t> const&);
template std::string absent_cells_note(CooTensor<double, std::uint32_t> const&);
template std::string absent_cells_note(CooTensor<double, std::uint64_t> const&);

}  // namespace sporades::command
