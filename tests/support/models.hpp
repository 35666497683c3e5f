// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Random models, and their values by definition, in the plainest loops.

#include <sporades/formats/kruskal_tensor.hpp>
#include <sporades/formats/tucker_tensor.hpp>
#include <support/tensors.hpp>

namespace sporades::test {

/// Random factors, padded or not, and weights of both signs.
template <class Scalar, class ExecutionSpace>
KruskalTensor<Scalar, typename ExecutionSpace::memory_space> random_kruskal(
    ExecutionSpace const& exec, Dims const& dims, std::size_t R, unsigned seed = 1,
    bool padded = true) {
  KruskalTensor<Scalar, typename ExecutionSpace::memory_space> model;
  for (std::size_t n = 0; n < dims.size(); ++n)
    model.factors.push_back(
        random_matrix<Scalar>(exec, dims[n], R, 100 * seed + static_cast<unsigned>(n), padded));
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(-1, 2);
  std::vector<Scalar> weights(R);
  for (auto& weight : weights) weight = static_cast<Scalar>(uniform(engine));
  model.weights = sporades::detail::to_view(exec, "sporades::test::weights", weights);
  return model;
}

/// Random factors of these ranks and a random core.
template <class Scalar, class ExecutionSpace>
TuckerTensor<Scalar, typename ExecutionSpace::memory_space> random_tucker(
    ExecutionSpace const& exec, Dims const& dims, std::vector<int> const& ranks,
    unsigned seed = 1) {
  TuckerTensor<Scalar, typename ExecutionSpace::memory_space> model;
  std::size_t size = 1;
  for (std::size_t n = 0; n < dims.size(); ++n) {
    model.factors.push_back(random_matrix<Scalar>(exec, dims[n], static_cast<std::size_t>(ranks[n]),
                                                  100 * seed + static_cast<unsigned>(n)));
    size *= static_cast<std::size_t>(ranks[n]);
  }
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Scalar> core(size);
  for (auto& g : core) g = static_cast<Scalar>(uniform(engine));
  model.core = sporades::detail::to_view(exec, "sporades::test::core", core);
  return model;
}

/// use(i) of the indices of each cell, the first index fastest.
template <class Use>
void for_each_cell(Dims const& dims, Use const& use) {
  std::uint64_t size = 1;
  for (auto const dim : dims) size *= dim;
  for (std::uint64_t cell = 0; cell < size; ++cell) {
    std::vector<std::uint64_t> i;
    std::uint64_t rest = cell;
    for (auto const dim : dims) {
      i.push_back(rest % dim);
      rest /= dim;
    }
    use(i);
  }
}

/// A value, and the sum of the magnitudes of its terms, of which rounding errors are a part.
struct ModelValue {
  double value = 0, magnitude = 0;
};

/// A model on the host, cell by cell.
template <class Scalar>
class PlainModel {
 public:
  template <class Memory>
  explicit PlainModel(KruskalTensor<Scalar, Memory> const& model)
      : PlainModel(model.factors, model.weights, true) {}
  template <class Memory>
  explicit PlainModel(TuckerTensor<Scalar, Memory> const& model)
      : PlainModel(model.factors, model.core, false) {}

  ModelValue at(std::vector<std::uint64_t> const& i) const {
    ModelValue sum;
    for (std::size_t g = 0; g < numbers_.extent(0); ++g) {
      double term = static_cast<double>(numbers_(g));
      std::size_t rest = g;
      for (std::size_t n = 0; n < factors_.size(); ++n) {
        std::size_t const R = factors_[n].extent(1);
        term *= static_cast<double>(factors_[n](i[n], is_kruskal_ ? g : rest % R));
        rest /= R;
      }
      sum.value += term;
      sum.magnitude += std::abs(term);
    }
    return sum;
  }

  Dims dims() const {
    Dims lengths;
    for (auto const& A : factors_) lengths.push_back(A.extent(0));
    return lengths;
  }

  /// All cells, the first index fastest.
  std::vector<ModelValue> cells() const {
    std::vector<ModelValue> all;
    for_each_cell(dims(), [&](auto const& i) { all.push_back(at(i)); });
    return all;
  }

 private:
  template <class Factors, class Numbers>
  PlainModel(Factors const& factors, Numbers const& numbers, bool is_kruskal)
      : numbers_(on_host(numbers)), is_kruskal_(is_kruskal) {
    for (auto const& A : factors) factors_.push_back(matrix_on_host(A));
  }

  std::vector<Matrix<Scalar, Kokkos::HostSpace>> factors_;
  Kokkos::View<Scalar*, Kokkos::HostSpace> numbers_;
  bool is_kruskal_;
};

/// The coordinates of a nonzero of a tensor on the host.
template <class Tensor>
std::vector<std::uint64_t> coordinates_at(Tensor const& X, Position p) {
  std::vector<std::uint64_t> i;
  for (int n = 0; n < X.order(); ++n) i.push_back(X.coordinates(n, p));
  return i;
}

}  // namespace sporades::test
