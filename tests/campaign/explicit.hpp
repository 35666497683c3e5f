// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <campaign/source.hpp>
#include <map>
#include <sporades/formats/kruskal_tensor.hpp>
#include <sporades/formats/tucker_tensor.hpp>

/// Fits and likelihoods of models by their definitions, in extended precision.

namespace sporades::campaign {

using Real = long double;

/// The sums of the values of equal coordinates.
inline std::map<std::vector<std::uint64_t>, Real> summed(Drawn const& X) {
  std::map<std::vector<std::uint64_t>, Real> sums;
  std::size_t const N = X.dims.size();
  for (std::size_t p = 0; p < X.nnz(); ++p) {
    auto const at = X.coordinates.begin() + static_cast<std::ptrdiff_t>(p * N);
    sums[{at, at + static_cast<std::ptrdiff_t>(N)}] += X.values[p];
  }
  return sums;
}

/// A model as the core of a Tucker tensor, or the weights of a Kruskal tensor, and the entries of
/// its factors, row by row.
struct PlainModel {
  bool is_tucker = false;
  std::vector<int> ranks;  // a mode
  std::vector<Real> core;  // or the weights
  std::vector<std::vector<Real>> factors;

  Real entry(int n, std::uint64_t i, std::size_t r) const { return factors[n][i * ranks[n] + r]; }

  /// Column of factor n that entry k of the core weighs, of which `rest` modes are left.
  std::size_t column(int n, std::size_t& rest) const {
    if (!is_tucker) return rest;
    std::size_t const r = rest % ranks[n];
    rest /= ranks[n];
    return r;
  }

  Real at(std::vector<std::uint64_t> const& i) const {
    Real sum = 0;
    for (std::size_t k = 0; k < core.size(); ++k) {
      Real term = core[k];
      std::size_t rest = k;
      for (std::size_t n = 0; n < i.size(); ++n) term *= entry(n, i[n], column(n, rest));
      sum += term;
    }
    return sum;
  }

  /// sum over pairs of the core's entries, each times the inner products of its columns.
  Real norm_squared() const {
    std::size_t const N = factors.size();
    std::vector<std::vector<Real>> grams(N);
    for (std::size_t n = 0; n < N; ++n) {
      std::size_t const R = ranks[n];
      grams[n].resize(R * R);
      for (std::size_t i = 0; i < factors[n].size() / R; ++i)
        for (std::size_t r = 0; r < R; ++r)
          for (std::size_t s = 0; s < R; ++s)
            grams[n][r * R + s] += entry(n, i, r) * entry(n, i, s);
    }
    Real sum = 0;
    for (std::size_t k = 0; k < core.size(); ++k)
      for (std::size_t l = 0; l < core.size(); ++l) {
        Real term = core[k] * core[l];
        std::size_t left = k, right = l;
        for (std::size_t n = 0; n < N; ++n) {
          std::size_t const r = column(n, left);
          term *= grams[n][r * ranks[n] + column(n, right)];
        }
        sum += term;
      }
    return sum;
  }

  /// Sum of all entries.
  Real mass() const {
    Real sum = 0;
    for (std::size_t r = 0; r < core.size(); ++r) {
      Real term = core[r];
      for (std::size_t n = 0; n < factors.size(); ++n) {
        Real column_sum = 0;
        for (std::size_t i = 0; i < factors[n].size() / ranks[n]; ++i) column_sum += entry(n, i, r);
        term *= column_sum;
      }
      sum += term;
    }
    return sum;
  }

  /// Sum of the magnitudes of its parts: of the core or the weights, as columns have length 1.
  Real magnitude() const {
    Real sum = 0;
    for (Real part : core) sum += std::abs(part);
    return is_tucker ? std::sqrt(norm_squared()) : sum;
  }
};

/// On the host; of a KruskalTensor or a TuckerTensor.
template <class ExecutionSpace, class View, class Factors>
PlainModel plain_model(ExecutionSpace const& exec, bool is_tucker, View const& core,
                       Factors const& factors) {
  PlainModel plain;
  plain.is_tucker = is_tucker;
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, core);
  plain.core.assign(host.data(), host.data() + host.extent(0));
  for (auto const& A : factors) {
    auto const entries = sporades::detail::entries_of(exec, A);
    plain.ranks.push_back(static_cast<int>(A.extent(1)));
    plain.factors.emplace_back(entries.begin(), entries.end());
  }
  return plain;
}
template <class ExecutionSpace, class Scalar, class Memory>
PlainModel plain(ExecutionSpace const& exec, KruskalTensor<Scalar, Memory> const& model) {
  return plain_model(exec, false, model.weights, model.factors);
}
template <class ExecutionSpace, class Scalar, class Memory>
PlainModel plain(ExecutionSpace const& exec, TuckerTensor<Scalar, Memory> const& model) {
  return plain_model(exec, true, model.core, model.factors);
}

}  // namespace sporades::campaign
