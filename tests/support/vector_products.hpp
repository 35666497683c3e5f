// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// For the tests of sparse tensors times vectors: products by their definition.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <sporades/kernels/sptv.hpp>
#include <support/tensors.hpp>

namespace sporades::test {

/// A strategy of SpTV, and what the slices of HOCFS are.
struct SptvWay {
  char const* name;
  SptvOptions options;
};

inline std::vector<SptvWay> sptv_ways() {
  return {{"automatic", {}},
          {"hocoo", {SptvStrategy::hocoo}},
          {"hocsr", {SptvStrategy::hocsr}},
          {"cfb", {SptvStrategy::cfb}},
          {"hocfs", {SptvStrategy::hocfs}},
          {"hocfs of csr slices", {SptvStrategy::hocfs, HocfsSlices::csr}},
          {"hocfs of ell slices", {SptvStrategy::hocfs, HocfsSlices::ell}},
          {"hocoo by warps", {SptvStrategy::hocoo_warps}},
          {"cfb by threads", {SptvStrategy::cfb_threads}},
          {"hocfs by blocks", {SptvStrategy::hocfs_blocks}},
          {"hocfs by blocks of ell slices", {SptvStrategy::hocfs_blocks, HocfsSlices::ell}},
          {"hocfs by blocks of full ell slices",
           {SptvStrategy::hocfs_blocks, HocfsSlices::ell, false, 0.75}}};
}

template <class Scalar, class ExecutionSpace>
using VectorOn = Vector<Scalar, typename ExecutionSpace::memory_space>;

template <class Scalar, class ExecutionSpace>
VectorOn<Scalar, ExecutionSpace> vector_of(ExecutionSpace const& exec,
                                           std::vector<Scalar> const& entries) {
  return sporades::detail::to_view(exec, "v", entries);
}

/// Random numbers in [-0.5, 0.5).
template <class Scalar, class ExecutionSpace>
VectorOn<Scalar, ExecutionSpace> random_vector(ExecutionSpace const& exec, std::size_t length,
                                               unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(-0.5, 0.5);
  std::vector<Scalar> entries(length);
  for (auto& entry : entries) entry = static_cast<Scalar>(uniform(engine));
  return vector_of(exec, entries);
}

/// Whole numbers from 1 to `most`, irregular ones.
template <class Scalar, class ExecutionSpace>
VectorOn<Scalar, ExecutionSpace> whole_vector(ExecutionSpace const& exec, std::size_t length,
                                              unsigned most) {
  std::mt19937_64 engine(most);
  std::vector<Scalar> entries(length);
  for (auto& entry : entries) entry = static_cast<Scalar>(1 + (engine() >> 32) % most);
  return vector_of(exec, entries);
}

/// X's nonzeros with whole numbers from 1 to `most` as values. X is on the host.
template <class Tensor>
Tensor with_whole_values(Tensor X, unsigned most) {
  X.values =
      whole_vector<typename Tensor::Scalar>(Kokkos::DefaultHostExecutionSpace{}, X.nnz(), most);
  return X;
}

/// X times a vector in each of some modes, in long double: a value for each tuple of indices in the
/// other modes that nonzeros have.
struct VectorProduct {
  struct Value {
    long double sum = 0, magnitude = 0;
    double terms = 0;
  };

  Dims dims;  // of the other modes, ascending
  double vectors;
  std::map<std::vector<std::uint64_t>, Value> values;

  /// X is on the host; factors[k] is the vector of modes[k], anywhere.
  template <class Tensor, class VectorType>
  VectorProduct(Tensor const& X, std::vector<int> const& modes,
                std::vector<VectorType> const& factors)
      : vectors(static_cast<double>(modes.size())) {
    std::vector<int> others;
    for (int m = 0; m < X.order(); ++m)
      if (std::find(modes.begin(), modes.end(), m) == modes.end()) others.push_back(m);
    for (int m : others) dims.push_back(X.dims[m]);
    std::vector<decltype(on_host(factors[0]))> v;
    for (auto const& factor : factors) v.push_back(on_host(factor));
    std::vector<std::uint64_t> place(others.size());
    for (Position p = 0; p < X.nnz(); ++p) {
      for (std::size_t k = 0; k < others.size(); ++k) place[k] = X.coordinates(others[k], p);
      long double term = X.values(p);
      for (std::size_t k = 0; k < modes.size(); ++k) term *= v[k](X.coordinates(modes[k], p));
      Value& value = values[place];
      value.sum += term;
      value.magnitude += std::abs(term);
      value.terms += 1;
    }
  }

  /// Whether a value is the right one. In a sum of n terms with k vectors each term is rounded
  /// n + k times at most, by half an epsilon; the bound is twice that. exact: without any rounding,
  /// as it must be where all are small whole numbers.
  template <class Scalar>
  bool is_right(Scalar found, Value const& value, bool exact) const {
    if (std::isnan(value.sum)) return std::isnan(found);
    if (std::isinf(value.sum) || exact) return static_cast<long double>(found) == value.sum;
    double const bound = (value.terms + vectors) * std::numeric_limits<Scalar>::epsilon();
    return std::abs(static_cast<long double>(found) - value.sum) <= bound * value.magnitude;
  }

  /// Tests that Y has just these values, each at its place, sorted by these modes.
  template <class Tensor>
  void check(Tensor const& Y, std::vector<int> const& modes, bool exact = false) const {
    CHECK(Y.dims == dims);
    CHECK(Y.sorted_modes == modes);
    REQUIRE(Y.nnz() == values.size());
    REQUIRE(Y.coordinates.extent(0) == dims.size());
    if (!dims.empty()) REQUIRE(Y.coordinates.extent(1) == Y.nnz());
    auto const coordinates = on_host(Y.coordinates);
    auto const found = on_host(Y.values);
    Position lost = 0, wrong = 0, out_of_order = 0;
    std::vector<std::uint64_t> place(dims.size()), key(dims.size()), before;
    for (Position f = 0; f < Y.nnz(); ++f) {
      for (std::size_t m = 0; m < dims.size(); ++m) place[m] = coordinates(m, f);
      for (std::size_t l = 0; l < modes.size(); ++l) key[l] = place[modes[l]];
      if (f > 0 && !(before < key)) ++out_of_order;  // so none comes twice
      before = key;
      auto const at = values.find(place);
      if (at == values.end())
        ++lost;
      else if (!is_right(found(f), at->second, exact))
        ++wrong;
    }
    CHECK(lost == 0);
    CHECK(wrong == 0);
    CHECK(out_of_order == 0);
  }
};

}  // namespace sporades::test
