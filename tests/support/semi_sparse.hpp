// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// For the tests of semi-sparse tensors: finds blocks by their coordinates, and computes products
/// by their definition.

#include <limits>
#include <map>
#include <sporades/formats/scoo_tensor.hpp>
#include <support/tensors.hpp>

namespace sporades::test {

using Place = std::vector<std::uint64_t>;  // coordinates in all modes; 0 in dense ones

/// The number of each block of a semi-sparse tensor, by its place. Checks that all places differ.
template <class Scoo>
std::map<Place, Position> places_of(Scoo const& Y) {
  auto const coordinates = on_host(Y.coordinates);
  std::map<Place, Position> places;
  for (Position f = 0; f < Y.fibers(); ++f) {
    Place place(Y.dims.size());
    for (std::size_t k = 0; k < Y.sparse_modes.size(); ++k)
      place[Y.sparse_modes[k]] = coordinates(k, f);
    places[place] = f;
  }
  CHECK(places.size() == Y.fibers());
  return places;
}

/// True if the blocks come in the order that Y.sorted_modes says.
template <class Scoo>
bool is_in_order(Scoo const& Y) {
  auto const coordinates = on_host(Y.coordinates);
  for (Position f = 1; f < Y.fibers(); ++f)
    for (int mode : Y.sorted_modes) {
      auto const at = std::find(Y.sparse_modes.begin(), Y.sparse_modes.end(), mode);
      auto const k = at - Y.sparse_modes.begin();
      if (coordinates(k, f) > coordinates(k, f - 1)) break;
      if (coordinates(k, f) < coordinates(k, f - 1)) return false;
    }
  return true;
}

/// Sums in double, and the sums of their terms' magnitudes: rows x entries of a block.
struct Sums {
  std::size_t columns;
  std::vector<double> sum, magnitude;

  Sums(Position rows, std::size_t block) : columns(block), sum(rows * block), magnitude(sum) {}

  void add(Position row, std::size_t column, double term) {
    sum[row * columns + column] += term;
    magnitude[row * columns + column] += std::abs(term);
  }

  /// The number of entries of V that differ from the sums by more than `roundings` units of
  /// rounding of the terms.
  template <class MatrixType>
  Position wrong(MatrixType const& V, double roundings) const {
    using Scalar = typename MatrixType::non_const_value_type;
    auto const v = matrix_on_host(V);
    double const unit = roundings * std::numeric_limits<Scalar>::epsilon();
    Position wrong = 0;
    for (std::size_t f = 0; f < v.extent(0); ++f)
      for (std::size_t k = 0; k < columns; ++k) {
        std::size_t const at = f * columns + k;
        if (!(std::abs(v(f, k) - sum[at]) <= unit * magnitude[at])) ++wrong;
      }
    return wrong;
  }
};

}  // namespace sporades::test
