// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sporades/algorithms/components.hpp>
#include <sporades/algorithms/core_consistency.hpp>
#include <sporades/core/detail/lapack.hpp>
#include <sporades/core/detail/memory.hpp>
#include <sporades/formats/sort_coo.hpp>
#include <sporades/kernels/detail/core_product.hpp>
#include <sporades/kernels/detail/run_innerprod.hpp>
#include <sporades/kernels/mttkrp.hpp>

namespace sporades {
namespace detail {

/// How many columns are multiplied at once: some times the rank where that is small.
inline std::size_t core_columns_at_once(std::size_t R) {
  return std::max<std::size_t>(R, std::min<std::size_t>(4 * R, 32));
}

/// No fewer bytes than core_consistency without a plan allocates, for so many nonzeros.
template <class Scalar, class Index>
double core_consistency_bytes(Dims const& dims, double nnz, int rank) {
  auto const R = static_cast<std::size_t>(rank);
  double const rows = std::accumulate(dims.begin(), dims.end(), 0.0);
  double const columns =
      static_cast<double>(2 * padded_columns(R) + 2 * padded_columns(core_columns_at_once(R)));
  double const nonzero = static_cast<double>(dims.size() * sizeof(Index) + sizeof(Scalar));
  return rows * columns * sizeof(Scalar) + nnz * (2 * nonzero + 3 * sizeof(Position)) +
         3 * sizeof(double) * std::pow(rank, static_cast<double>(dims.size()));
}

/// H = X x_0 U_0^T ... x_{N-1} U_{N-1}^T of factors of R columns each, on the host, the index of
/// mode n slowest and of the others that of the last fastest. multiply(B, V): MTTKRP on mode n, of
/// factors whose columns are those of U, each with each, some at once. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace, class Multiply>
std::vector<double> project(ExecutionSpace const& exec, Factors<Scalar, MemorySpace> const& U,
                            std::size_t n, Multiply const& multiply) {
  std::size_t const R = U[0].extent(1);
  std::size_t columns = 1;
  for (std::size_t m = 1; m < U.size(); ++m) columns *= R;
  std::vector<double> H(R * columns);
  std::size_t const most = core_columns_at_once(R);
  for (std::size_t first = 0; first < columns; first += most) {
    std::size_t const count = std::min(most, columns - first);
    auto B = U;
    std::size_t stride = 1;
    for (std::size_t m = U.size(); m-- > 0;) {
      if (m == n) continue;
      ChosenColumns chosen;
      for (std::size_t c = first; c < first + count; ++c)
        chosen.from.push_back(static_cast<int>(c / stride % R));
      B[m] = chosen_columns(exec, U[m], chosen);
      stride *= R;
    }
    auto const V =
        make_matrix<Scalar>(exec, "sporades::core_consistency::V", U[n].extent(0), count);
    multiply(B, V);
    auto const part = factor_products<ExecutionSpace, Scalar, MemorySpace>(exec, {U[n]}, {V})[0];
    for (std::size_t r = 0; r < R; ++r)
      for (std::size_t c = 0; c < count; ++c) H[r * columns + first + c] = part[r * count + c];
  }
  return H;
}

/// core_consistency, of a model of these dims. multiply: see project.
template <class ExecutionSpace, class Scalar, class MemorySpace, class Multiply>
double core_consistency_by(ExecutionSpace const& exec, Dims const& dims,
                           KruskalTensor<Scalar, MemorySpace> const& model, std::size_t n,
                           Multiply const& multiply) {
  auto const N = dims.size();
  std::size_t const R = model.weights.extent(0);
  expects(R > 0, "core_consistency: the model has no components");
  double const numbers = std::pow(static_cast<double>(R), static_cast<double>(N));
  expects(3 * sizeof(double) * numbers <= host_memory_bytes(), "core_consistency: a core of ", R,
          "^", N, " numbers does not fit the memory");

  auto const chosen = normalized(exec, model, {});
  Factors<Scalar, MemorySpace> U;
  for (std::size_t m = 0; m < N; ++m)
    U.push_back(chosen_columns(exec, model.factors[m], chosen.columns[m]));
  auto const grams = factor_products(exec, U, U);
  auto G = project(exec, U, n, multiply);
  std::size_t const columns = G.size() / R;
  std::size_t place = 1, diagonal = 0;
  for (std::size_t m = N; m-- > 0;) {
    auto S = inverse_or_pseudo_inverse(grams[m], static_cast<int>(R), 0,
                                       std::numeric_limits<Scalar>::epsilon())
                 .inverse;
    for (std::size_t r = 0; r < R; ++r) {
      double const length = std::pow(chosen.weights[r], 1 / static_cast<double>(N));
      for (std::size_t s = 0; s < R; ++s) S[r * R + s] *= length > 0 ? 1 / length : 0;
    }
    std::size_t const stride = m == n ? columns : place;
    if (m != n) place *= R;
    diagonal += stride;
    G = core_product(G, S, stride, R);
  }
  double squares = 0;
  for (std::size_t g = 0; g < G.size(); ++g) {
    double const of_model = g % diagonal == 0 ? 1 : 0;
    squares += (G[g] - of_model) * (G[g] - of_model);
  }
  return 100 * (1 - squares / static_cast<double>(R));
}

/// The mode of fewest rows.
inline std::size_t shortest_mode(Dims const& dims) {
  return static_cast<std::size_t>(std::min_element(dims.begin(), dims.end()) - dims.begin());
}

struct NotOfOneType {
  template <class Given>
  NotOfOneType(Given const&) {
    static_assert(never<Given>,
                  "core_consistency takes a CooTensor or a MttkrpPlan, and a KruskalTensor of its "
                  "scalar type and memory space");
  }
};

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
double core_consistency(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan,
                        KruskalTensor<Scalar, MemorySpace> const& model) {
  detail::check_types<ExecutionSpace, MttkrpPlan<Scalar, Index, MemorySpace>>();
  detail::Region const region("sporades::core_consistency");
  detail::check_model(model, "core_consistency");
  detail::check_same_dims(plan.dims, model.dims(), "core_consistency");
  expects(!plan.work.distributed, "core_consistency: processes share the plan");
  auto const n = detail::shortest_mode(plan.dims);
  return detail::core_consistency_by(exec, plan.dims, model, n, [&](auto const& B, auto const& V) {
    mttkrp(exec, plan, B, static_cast<int>(n), V);
  });
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
double core_consistency(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                        KruskalTensor<Scalar, MemorySpace> const& model) {
  detail::check_types<ExecutionSpace, CooTensor<Scalar, Index, MemorySpace>>();
  detail::Region const region("sporades::core_consistency");
  detail::check_model(model, "core_consistency");
  detail::check_same_dims(X.dims, model.dims(), "core_consistency");
  check_coordinates(exec, X, "core_consistency");
  bool const has_order = !X.sorted_modes.empty();
  auto const n =
      has_order ? static_cast<std::size_t>(X.sorted_modes[0]) : detail::shortest_mode(X.dims);
  auto const sorted_X = has_order ? X : sorted(exec, X, {static_cast<int>(n)});
  return detail::core_consistency_by(exec, X.dims, model, n, [&](auto const& B, auto const& V) {
    mttkrp(exec, sorted_X, B, static_cast<int>(n), V, MttkrpStrategy::sorted);
  });
}

template <class ExecutionSpace>
double core_consistency(ExecutionSpace const&, detail::NotOfOneType, detail::NotOfOneType) {
  return 0;
}

}  // namespace sporades

#include <sporades/eti/core_consistency.hpp>
