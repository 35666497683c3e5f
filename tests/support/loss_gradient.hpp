// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Tensors and models that losses are defined for, and gradients beside their definition.

#include <set>
#include <sporades/kernels/loss_gradient.hpp>
#include <support/losses.hpp>
#include <support/models.hpp>

namespace sporades::test {

/// Factors that keep all values of the model where the loss is defined, with weights that are not
/// 1 (or are, where `ones`).
template <class Scalar, class ExecutionSpace>
auto model_for(ExecutionSpace const& exec, Dims const& dims, std::size_t R, bool is_bounded,
               bool ones, bool padded) {
  Kokkos::DefaultHostExecutionSpace const host{};
  KruskalTensor<Scalar, typename ExecutionSpace::memory_space> model;
  for (std::size_t n = 0; n < dims.size(); ++n) {
    Matrix<Scalar, Kokkos::HostSpace> const A("A", dims[n], R);
    for (std::size_t i = 0; i < dims[n]; ++i)
      for (std::size_t r = 0; r < R; ++r) {
        double const u = example_fraction(31 * i + 7 * r + 101 * n);
        A(i, r) = static_cast<Scalar>(is_bounded ? 0.2 + u : 2 * u - 1);
      }
    Matrix<Scalar, typename ExecutionSpace::memory_space> const B("B", dims[n], R);
    Kokkos::deep_copy(B, A);
    model.factors.push_back(padded ? copy_matrix(exec, A) : B);
  }
  std::vector<Scalar> weights;
  for (std::size_t r = 0; r < R; ++r)
    weights.push_back(static_cast<Scalar>(ones                       ? 1
                                          : is_bounded || r % 2 == 0 ? 0.25 + example_fraction(r)
                                                                     : -0.5));
  model.weights = sporades::detail::to_view(exec, "weights", weights);
  host.fence();
  return model;
}

/// Different cells in no order, about nnz of them, with entries that the loss allows.
template <class Scalar, class Index, class ExecutionSpace, class Loss>
auto tensor_for(ExecutionSpace const& exec, Dims const& dims, Position nnz, Loss const& loss) {
  auto const drawn = random_coo<Scalar, Index>(Kokkos::DefaultHostExecutionSpace{}, dims, nnz, 3);
  std::set<std::vector<std::uint64_t>> cells;
  std::vector<Position> kept;
  for (Position p = 0; p < nnz; ++p)
    if (cells.insert(coordinates_at(drawn, p)).second) kept.push_back(p);
  auto X = sporades::detail::allocate_coo<Scalar, Index>(Kokkos::DefaultHostExecutionSpace{}, dims,
                                                         kept.size());
  Kokkos::fence();
  for (Position q = 0; q < kept.size(); ++q) {
    for (int n = 0; n < X.order(); ++n) X.coordinates(n, q) = drawn.coordinates(n, kept[q]);
    X.values(q) = static_cast<Scalar>(example_entry(loss, q));
  }
  return copy_to(exec, X);
}

template <class Scalar, class Memory>
auto room_for(KruskalTensor<Scalar, Memory> const& model) {
  Factors<Scalar, Memory> V;
  for (auto const& A : model.factors) {
    V.emplace_back("V", A.extent(0), A.extent(1));
    Kokkos::deep_copy(V.back(), std::numeric_limits<Scalar>::quiet_NaN());
  }
  return V;
}

/// The loss and its gradient by their definitions, over all cells or over the entries, in double,
/// and the sums of the magnitudes of what is added up.
struct LossDefinition {
  double value = 0, magnitude = 0;
  std::vector<std::vector<double>> gradient, magnitudes;  // per mode, row by row
};

template <class Tensor, class Model, class Loss>
LossDefinition loss_definition(Tensor const& given, Model const& given_model, Loss const& loss,
                               AbsentEntries absent) {
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const X = copy_to(host, given);
  auto const model = copy_to(host, given_model);
  auto const weights = on_host(model.weights);
  std::size_t const R = weights.extent(0);
  PlainModel<typename Tensor::Scalar> const plain(model);
  LossDefinition sums;
  for (auto const dim : X.dims) {
    sums.gradient.emplace_back(dim * R, 0);
    sums.magnitudes.emplace_back(dim * R, 0);
  }
  auto const add = [&](std::vector<std::uint64_t> const& i, double x, double sign) {
    double const m = plain.at(i).value;
    double const value = loss.value(x, m), slope = loss.derivative(x, m);
    sums.value += sign * value;
    sums.magnitude += std::abs(value);
    for (std::size_t n = 0; n < i.size(); ++n)
      for (std::size_t r = 0; r < R; ++r) {
        double term = slope * static_cast<double>(weights(r));
        for (std::size_t k = 0; k < i.size(); ++k)
          if (k != n) term *= static_cast<double>(model.factors[k](i[k], r));
        sums.gradient[n][i[n] * R + r] += sign * term;
        sums.magnitudes[n][i[n] * R + r] += std::abs(term);
      }
  };
  if (absent == AbsentEntries::zero) for_each_cell(X.dims, [&](auto const& i) { add(i, 0, 1); });
  for (Position p = 0; p < X.nnz(); ++p) {
    auto const i = coordinates_at(X, p);
    add(i, static_cast<double>(X.values(p)), 1);
    if (absent == AbsentEntries::zero) add(i, 0, -1);
  }
  return sums;
}

/// Entries of a gradient that differ from the definition by more than rounding explains: each of
/// the terms rounds a few times, and each addition once. floor: what magnitudes count at least as.
template <class List>
Position wrong_entries(LossDefinition const& expected, Position nnz, List const& V,
                       double floor = 1e-3) {
  using Scalar = typename List::value_type::non_const_value_type;
  Position wrong = 0;
  for (std::size_t n = 0; n < V.size(); ++n) {
    auto const host = matrix_on_host(V[n]);
    double const unit = static_cast<double>(nnz + 16 + host.extent(1)) *
                        double{std::numeric_limits<Scalar>::epsilon()};
    for (std::size_t i = 0; i < host.extent(0); ++i)
      for (std::size_t r = 0; r < host.extent(1); ++r) {
        std::size_t const e = i * host.extent(1) + r;
        wrong += !(std::abs(static_cast<double>(host(i, r)) - expected.gradient[n][e]) <=
                   unit * (floor + expected.magnitudes[n][e]));
      }
  }
  return wrong;
}

}  // namespace sporades::test
