// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Tensors of a known model, of which all or some cells are given, for the tests of GCP.

#include <cmath>
#include <random>
#include <sporades/formats/files/tns_file.hpp>
#include <sporades/kernels/loss_value.hpp>
#include <string>
#include <vector>

namespace sporades::test {

/// A model with normally distributed entries.
struct Planted {
  Dims dims;
  std::size_t rank = 0;
  std::vector<std::vector<double>> factors;  // I_n x R

  double at(std::vector<std::uint64_t> const& i) const {
    double sum = 0;
    for (std::size_t r = 0; r < rank; ++r) {
      double product = 1;
      for (std::size_t n = 0; n < dims.size(); ++n) product *= factors[n][i[n] * rank + r];
      sum += product;
    }
    return sum;
  }
};

inline Planted planted(Dims const& dims, std::size_t rank) {
  std::mt19937_64 engine(7);
  std::normal_distribution<double> normal;
  Planted model{dims, rank, {}};
  for (auto const dim : dims) {
    auto& entries = model.factors.emplace_back();
    for (std::size_t e = 0; e < dim * rank; ++e) entries.push_back(normal(engine));
  }
  return model;
}

/// Each cell is given with this probability, and held out otherwise, all with noise.
template <class Scalar>
std::pair<CooTensor<Scalar, std::uint32_t>, CooTensor<Scalar, std::uint32_t>> seen(
    Planted const& model, double probability, double noise) {
  std::mt19937_64 engine(11);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0, 1);
  std::size_t const order = model.dims.size();
  std::vector<std::vector<std::uint64_t>> cells[2];
  std::vector<double> values[2];
  std::vector<std::uint64_t> i(order, 0);
  for (bool is_done = false; !is_done;) {
    int const which = uniform(engine) < probability ? 0 : 1;
    cells[which].push_back(i);
    values[which].push_back(model.at(i) + noise * normal(engine));
    std::size_t n = 0;
    while (n < order && ++i[n] == model.dims[n]) i[n++] = 0;
    is_done = n == order;
  }
  CooTensor<Scalar, std::uint32_t> parts[2];
  for (int which : {0, 1}) {
    auto& X = parts[which];
    X = sporades::detail::allocate_coo<Scalar, std::uint32_t>(Kokkos::DefaultHostExecutionSpace{},
                                                              model.dims, values[which].size());
    for (Position p = 0; p < X.nnz(); ++p) {
      for (std::size_t m = 0; m < order; ++m)
        X.coordinates(m, p) = static_cast<std::uint32_t>(cells[which][p][m]);
      X.values(p) = static_cast<Scalar>(values[which][p]);
    }
  }
  return {parts[0], parts[1]};
}

/// All cells of a model, with noise.
template <class Scalar>
CooTensor<Scalar, std::uint32_t> all_cells(Planted const& model, double noise) {
  return seen<Scalar>(model, 1, noise).first;
}

/// The root of the mean square of X - model over the entries of X.
template <class ExecutionSpace, class Tensor, class Model>
double root_mean_square(ExecutionSpace const& exec, Tensor const& X, Model const& model) {
  double const squares = loss_value(exec, X, model, GaussianLoss{}, AbsentEntries::missing);
  return std::sqrt(squares / static_cast<double>(X.nnz()));
}

/// Real counts of three modes.
template <class Scalar, class ExecutionSpace>
auto police_deaths(ExecutionSpace const& exec) {
  auto const file = SPORADES_TEST_DATA "/police-deaths-3d.tns.gz";
  return copy_to(exec, read_tensor<Scalar, std::uint32_t>(file).tensor);
}

}  // namespace sporades::test
