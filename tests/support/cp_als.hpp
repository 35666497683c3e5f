// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// For the tests of CP-ALS: its definition in dense arithmetic, and tensors.

#include <cmath>
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/core/detail/dense.hpp>
#include <sporades/core/random.hpp>
#include <sporades/formats/files/tns_file.hpp>
#include <string>
#include <support/catch.hpp>
#include <support/tensors.hpp>
#include <vector>

namespace sporades::test {

inline CpAlsOptions options_of(int rank, int iterations, double tolerance = 0) {
  CpAlsOptions options;
  options.init = CpAlsInit::random;
  options.rank = rank;
  options.iterations = iterations;
  options.tolerance = tolerance;
  return options;
}

/// A tensor and its model as dense arrays of double, and one iteration by the definition, in the
/// plainest loops.
struct Dense {
  Dims dims;
  std::vector<double> values;                // row-major
  std::vector<std::vector<double>> factors;  // I_n x R
  std::vector<double> weights;

  std::size_t rank() const { return weights.size(); }

  std::vector<std::uint64_t> coordinates(std::size_t entry) const {
    std::vector<std::uint64_t> i(dims.size());
    for (std::size_t n = dims.size(); n-- > 0; entry /= dims[n]) i[n] = entry % dims[n];
    return i;
  }

  /// The product of the factors' entries at one place, except that of mode `skip`.
  double term(std::vector<std::uint64_t> const& i, std::size_t r, std::size_t skip) const {
    double product = 1;
    for (std::size_t n = 0; n < dims.size(); ++n)
      if (n != skip) product *= factors[n][i[n] * rank() + r];
    return product;
  }

  double residual() const {
    double sum = 0;
    for (std::size_t e = 0; e < values.size(); ++e) {
      auto const i = coordinates(e);
      double model = 0;
      for (std::size_t r = 0; r < rank(); ++r) model += weights[r] * term(i, r, dims.size());
      sum += (values[e] - model) * (values[e] - model);
    }
    return std::sqrt(sum);
  }

  double norm() const {
    double sum = 0;
    for (double x : values) sum += x * x;
    return std::sqrt(sum);
  }

  double fit() const { return 1 - residual() / norm(); }

  void iterate(double ridge) {
    std::size_t const R = rank();
    for (std::size_t n = 0; n < dims.size(); ++n) {
      std::vector<double> V(dims[n] * R), H(R * R, 0.0);
      for (std::size_t e = 0; e < values.size(); ++e) {
        auto const i = coordinates(e);
        for (std::size_t r = 0; r < R; ++r) {
          V[i[n] * R + r] += values[e] * term(i, r, n);
          if (i[n] == 0)  // each row of the Khatri-Rao product once
            for (std::size_t s = 0; s < R; ++s) H[r * R + s] += term(i, r, n) * term(i, s, n);
        }
      }
      auto const inverse =
          sporades::detail::inverse_or_pseudo_inverse(H, static_cast<int>(R), ridge).inverse;
      for (std::size_t r = 0; r < R; ++r) {
        double length = 0;
        for (std::size_t i = 0; i < dims[n]; ++i) {
          double sum = 0;
          for (std::size_t k = 0; k < R; ++k) sum += V[i * R + k] * inverse[k * R + r];
          factors[n][i * R + r] = sum;
          length += sum * sum;
        }
        weights[r] = std::sqrt(length);
        for (std::size_t i = 0; i < dims[n]; ++i)
          if (length > 0) factors[n][i * R + r] /= weights[r];
      }
    }
  }
};

template <class Scalar, class Index, class Memory>
Dense to_dense(CooTensor<Scalar, Index, Memory> const& X) {
  auto const i = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, X.coordinates);
  auto const x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, X.values);
  Dense dense{X.dims,
              std::vector<double>(static_cast<std::size_t>(sporades::detail::dense_size(X.dims))),
              {},
              {}};
  for (Position p = 0; p < X.nnz(); ++p) {
    std::size_t entry = 0;
    for (int n = 0; n < X.order(); ++n) entry = entry * X.dims[n] + i(n, p);
    dense.values[entry] += static_cast<double>(x(p));
  }
  return dense;
}

template <class Scalar, class Memory>
void set_model(Dense& dense, std::vector<double> const& weights,
               Factors<Scalar, Memory> const& factors) {
  dense.weights = weights;
  dense.factors.clear();
  for (auto const& A : factors) {
    auto const host = matrix_on_host(A);
    dense.factors.emplace_back();
    for (std::size_t i = 0; i < host.extent(0); ++i)
      for (std::size_t r = 0; r < host.extent(1); ++r)
        dense.factors.back().push_back(static_cast<double>(host(i, r)));
  }
}

template <class Scalar, class Memory>
void set_model(Dense& dense, KruskalTensor<Scalar, Memory> const& model) {
  auto const w = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, model.weights);
  set_model(dense, std::vector<double>(w.data(), w.data() + w.extent(0)), model.factors);
}

/// A tensor in which every entry is a nonzero; a function of the coordinates gives the values.
template <class Scalar, class ExecutionSpace, class Function>
auto full_tensor(ExecutionSpace const& exec, Dims const& dims, Function const& value) {
  Kokkos::DefaultHostExecutionSpace const host{};
  Dense const index{dims, {}, {}, {}};
  auto const size = static_cast<std::size_t>(sporades::detail::dense_size(dims));
  auto const X = sporades::detail::allocate_coo<Scalar, std::uint32_t>(host, dims, size);
  host.fence();
  for (std::size_t e = 0; e < size; ++e) {
    auto const i = index.coordinates(e);
    for (std::size_t n = 0; n < dims.size(); ++n)
      X.coordinates(n, e) = static_cast<std::uint32_t>(i[n]);
    X.values(e) = static_cast<Scalar>(value(i));
  }
  return copy_to(exec, X);
}

/// The sum of R rank-one tensors of random factors, some entries made negative if is_signed.
template <class Scalar, class ExecutionSpace>
auto planted(ExecutionSpace const& exec, Dims const& dims, std::size_t R, bool is_signed = true) {
  return full_tensor<Scalar>(exec, dims, [&](auto const& i) {
    double sum = 0;
    for (std::size_t r = 0; r < R; ++r) {
      double product = 1;
      for (std::size_t n = 0; n < dims.size(); ++n)
        product *= sporades::detail::random_entry<double>(77, n, i[n], r) - (is_signed ? 0.5 : 0);
      sum += product;
    }
    return sum;
  });
}

template <class Scalar>
KruskalTensor<Scalar> host_ktensor(std::vector<Scalar> const& weights,
                                   std::vector<std::vector<std::vector<Scalar>>> const& rows) {
  KruskalTensor<Scalar> M;
  M.weights = Vector<Scalar, Kokkos::HostSpace>("sporades::test::weights", weights.size());
  std::copy(weights.begin(), weights.end(), M.weights.data());
  for (auto const& factor : rows) {
    Matrix<Scalar, Kokkos::HostSpace> const A("sporades::test::factor", factor.size(),
                                              weights.size());
    for (std::size_t i = 0; i < factor.size(); ++i)
      std::copy(factor[i].begin(), factor[i].end(), &A(i, 0));
    M.factors.push_back(A);
  }
  return M;
}

template <class Scalar, class ExecutionSpace>
auto read(ExecutionSpace const& exec, std::string const& path) {
  auto const tensor = read_tensor<Scalar>(path).tensor;
  return copy_to(exec, std::get<CooTensor<Scalar, std::uint32_t>>(tensor));
}

}  // namespace sporades::test
