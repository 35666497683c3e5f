// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/matrix.hpp>
#include <sporades/formats/kruskal_tensor.hpp>

namespace sporades::detail {

/// Of the columns of a factor those that come from these, scaled: column k is
/// factors[k] A(:, from[k]) / divisors[k]. No divisors or factors: 1.
struct ChosenColumns {
  std::vector<int> from;
  std::vector<double> divisors = {}, factors = {};
};

/// B(i, k) = factor(k) A(i, from(k)) / divisor(k), computed in double.
template <class MatrixType>
struct ChooseColumns {
  using Memory = typename MatrixType::memory_space;
  using Scalar = typename MatrixType::non_const_value_type;

  MatrixType A, B;                   // I x R, I x columns
  Kokkos::View<int*, Memory> from;   // columns
  Kokkos::View<double*, Memory> by;  // 2 x columns: divisors and factors

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    std::uint64_t const columns = B.extent(1);
    for (std::uint64_t k = 0; k < columns; ++k)
      B(i, k) = static_cast<Scalar>(by(columns + k) * (static_cast<double>(A(i, from(k))) / by(k)));
  }
};

/// The chosen columns, copied. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
Matrix<Scalar, MemorySpace> chosen_columns(ExecutionSpace const& exec,
                                           Matrix<Scalar, MemorySpace> const& A,
                                           ChosenColumns const& chosen) {
  std::size_t const columns = chosen.from.size();
  auto const B =
      make_matrix<Scalar>(exec, "sporades::chosen_columns::factor", A.extent(0), columns);
  std::vector<double> by(2 * columns, 1.0);
  std::copy(chosen.divisors.begin(), chosen.divisors.end(), by.begin());
  std::copy(chosen.factors.begin(), chosen.factors.end(),
            by.begin() + static_cast<std::ptrdiff_t>(columns));
  ChooseColumns<Matrix<Scalar, MemorySpace>> const kernel{
      A, B, to_view(exec, "sporades::chosen_columns::from", chosen.from),
      to_view(exec, "sporades::chosen_columns::by", by)};
  launch_items(exec, "sporades::chosen_columns::copy", A.extent(0), kernel);
  fence(exec, "sporades::chosen_columns::copy");
  return B;
}

/// The numbers 0 to R - 1.
inline std::vector<int> all_components(std::size_t R) {
  std::vector<int> all(R);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// The components by descending weight, equal ones in their order.
inline std::vector<int> components_by_weight(std::vector<double> const& weights) {
  auto order = all_components(weights.size());
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return weights[static_cast<std::size_t>(a)] > weights[static_cast<std::size_t>(b)];
  });
  return order;
}

/// entries[order[k]] for every k.
template <class Entry>
std::vector<Entry> in_order(std::vector<Entry> const& entries, std::vector<int> const& order) {
  std::vector<Entry> result;
  for (int const k : order) result.push_back(entries[static_cast<std::size_t>(k)]);
  return result;
}

/// Weights and columns of a model, before they are copied: of each component its weight, and of
/// each mode the columns.
struct ChosenComponents {
  std::vector<double> weights;
  std::vector<ChosenColumns> columns;
};

/// The components of these weights, columns as they are.
inline ChosenComponents unchanged(std::vector<double> const& weights, std::size_t order) {
  return {weights, std::vector<ChosenColumns>(order, {all_components(weights.size())})};
}

/// The chosen components in another order; order: some of their numbers.
inline ChosenComponents in_order(ChosenComponents const& chosen, std::vector<int> const& order) {
  ChosenComponents result{in_order(chosen.weights, order), {}};
  for (auto const& columns : chosen.columns) {
    result.columns.push_back({in_order(columns.from, order)});
    if (!columns.divisors.empty())
      result.columns.back().divisors = in_order(columns.divisors, order);
    if (!columns.factors.empty()) result.columns.back().factors = in_order(columns.factors, order);
  }
  return result;
}

/// Columns of mode n of the chosen components change the sign where flips[n].
inline void flip(ChosenComponents& chosen, std::vector<std::vector<bool>> const& flips) {
  for (std::size_t n = 0; n < flips.size(); ++n) {
    auto& divisors = chosen.columns[n].divisors;
    divisors.resize(chosen.weights.size(), 1.0);
    for (std::size_t r = 0; r < divisors.size(); ++r)
      if (flips[n][r]) divisors[r] = -divisors[r];
  }
}

/// The Kruskal tensor of these weights and columns of factors, copied. Fences exec. Throws RunError
/// if a weight is past the range of Scalar.
template <class ExecutionSpace, class Scalar, class MemorySpace>
KruskalTensor<Scalar, MemorySpace> kruskal_of(ExecutionSpace const& exec,
                                              Factors<Scalar, MemorySpace> const& factors,
                                              ChosenComponents const& chosen) {
  for (double const weight : chosen.weights)
    if (!(std::abs(weight) <= double{std::numeric_limits<Scalar>::max()}))
      throw RunError(concatenate("a weight of the model is ", weight,
                                 ", past the range of its numbers of ", 8 * sizeof(Scalar),
                                 " bits: scale the tensor's values down"));
  KruskalTensor<Scalar, MemorySpace> model;
  for (std::size_t n = 0; n < factors.size(); ++n)
    model.factors.push_back(chosen_columns(exec, factors[n], chosen.columns[n]));
  std::vector<Scalar> weights;
  for (double const weight : chosen.weights) weights.push_back(static_cast<Scalar>(weight));
  model.weights = to_view(exec, "sporades::kruskal::weights", weights);
  return model;
}

}  // namespace sporades::detail
