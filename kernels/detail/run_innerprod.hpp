// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/core/detail/region.hpp>
#include <sporades/formats/detail/check_model.hpp>
#include <sporades/kernels/detail/core_product.hpp>
#include <sporades/kernels/detail/inner_product.hpp>
#include <sporades/kernels/detail/run_model_values.hpp>
#include <sporades/kernels/detail/tucker_inner_product.hpp>
#include <sporades/kernels/innerprod.hpp>

namespace sporades {
namespace detail {

/// What models use of one another: A[n]^T B[n] a mode, R_n x S_n, row by row, on the host. Fences
/// exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
std::vector<std::vector<double>> factor_products(ExecutionSpace const& exec,
                                                 Factors<Scalar, MemorySpace> const& A,
                                                 Factors<Scalar, MemorySpace> const& B) {
  std::vector<std::vector<double>> products;
  Workspace<MemorySpace> workspace;
  for (std::size_t n = 0; n < A.size(); ++n) {
    auto const C = uninitialized<Matrix<double, MemorySpace>>(exec, "sporades::innerprod::products",
                                                              A[n].extent(1), B[n].extent(1));
    transposed_product(exec, A[n], B[n], C, workspace);
    products.push_back(to_vector(exec, Kokkos::View<double*, MemorySpace, Kokkos::MemoryUnmanaged>(
                                           C.data(), C.extent(0) * C.extent(1))));
  }
  return products;
}

/// <X, M>; the shapes and X's indices have been checked. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
double run_innerprod(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                     KruskalTensor<Scalar, MemorySpace> const& M) {
  Workspace<MemorySpace> workspace;
  auto const weights = double_weights(exec, M.weights);
  return inner_product(exec, X, M.factors, weights.data(), weights.extent(0), workspace, 0);
}
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
double run_innerprod(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                     TuckerTensor<Scalar, MemorySpace> const& M) {
  return tucker_inner_product(exec, X, M.factors, numbers_on_host(exec, M.core),
                              sorted_modes_first(X.sorted_modes, X.order()),
                              chunk_length<ExecutionSpace>(X.nnz()));
}
template <class ExecutionSpace, class Scalar, class MemorySpace>
double run_innerprod(ExecutionSpace const& exec, KruskalTensor<Scalar, MemorySpace> const& A,
                     KruskalTensor<Scalar, MemorySpace> const& B) {
  auto const products = factor_products(exec, A.factors, B.factors);
  auto const a = numbers_on_host(exec, A.weights), b = numbers_on_host(exec, B.weights);
  double total = 0;
  for (std::size_t r = 0; r < a.size(); ++r)
    for (std::size_t s = 0; s < b.size(); ++s) {
      double term = a[r] * b[s];
      for (auto const& C : products) term *= C[r * b.size() + s];
      total += term;
    }
  return total;
}
template <class ExecutionSpace, class Scalar, class MemorySpace>
double run_innerprod(ExecutionSpace const& exec, KruskalTensor<Scalar, MemorySpace> const& A,
                     TuckerTensor<Scalar, MemorySpace> const& B) {
  auto const products = factor_products(exec, A.factors, B.factors);
  auto const weights = numbers_on_host(exec, A.weights), core = numbers_on_host(exec, B.core);
  double total = 0;
  for (std::size_t r = 0; r < weights.size(); ++r) {
    auto rest = core;  // the first mode that is left has stride 1
    for (auto const& C : products) {
      std::size_t const R = C.size() / weights.size();
      auto const row = C.begin() + static_cast<std::ptrdiff_t>(r * R);
      rest = core_product(rest, {row, row + static_cast<std::ptrdiff_t>(R)}, 1, R);
    }
    total += weights[r] * rest[0];
  }
  return total;
}
template <class ExecutionSpace, class Scalar, class MemorySpace>
double run_innerprod(ExecutionSpace const& exec, TuckerTensor<Scalar, MemorySpace> const& A,
                     TuckerTensor<Scalar, MemorySpace> const& B) {
  auto const products = factor_products(exec, A.factors, B.factors);
  auto const core = numbers_on_host(exec, A.core);
  auto image = numbers_on_host(exec, B.core);  // comes to have A's ranks
  std::size_t stride = 1;
  for (std::size_t n = 0; n < products.size(); ++n) {
    image = core_product(image, products[n], stride, B.factors[n].extent(1));
    stride *= A.factors[n].extent(1);
  }
  double total = 0;
  for (std::size_t g = 0; g < core.size(); ++g) total += core[g] * image[g];
  return total;
}

/// The norm of values. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
double norm_of_values(ExecutionSpace const& exec, Vector<Scalar, MemorySpace> const& x) {
  double const squares = norm_squared(exec, x);
  // A square that is denormal has lost digits, and one that overflowed all of them.
  constexpr double least = 1e-280, most = std::numeric_limits<double>::max();
  if (squares >= least && squares <= most) return std::sqrt(squares);
  double const largest = static_cast<double>(max_abs(exec, x));
  if (largest == 0 || !std::isfinite(largest)) return std::isnan(squares) ? squares : largest;
  int const exponent = binary_exponent(largest);
  auto const scaled = uninitialized<Vector<Scalar, MemorySpace>>(
      exec, "sporades::norm::scaled_values", x.extent(0));
  divide_by_power_of_two(exec, x, exponent, scaled);
  return std::ldexp(std::sqrt(norm_squared(exec, scaled)), exponent);
}

/// Checks shapes and indices of the tensors of an inner product.
template <class ExecutionSpace, class Left, class Right>
void check_innerprod(ExecutionSpace const& exec, Left const& X, Right const& Y) {
  check_model(Y, "innerprod");
  if constexpr (is_instance<Left, CooTensor>) {
    check_same_dims(X.dims, Y.dims(), "innerprod");
    check_coordinates(exec, X, "innerprod");
  } else {
    check_model(X, "innerprod");
    check_same_dims(X.dims(), Y.dims(), "innerprod");
  }
}

template <class T>
inline constexpr bool is_kruskal = is_instance<T, KruskalTensor>;
template <class T>
inline constexpr bool is_tucker = is_instance<T, TuckerTensor>;

}  // namespace detail

template <class ExecutionSpace, class Left, class Right>
double innerprod(ExecutionSpace const& exec, Left const& X, Right const& Y) {
  using namespace detail;
  constexpr bool is_left = is_instance<Left, CooTensor> || is_kruskal<Left> || is_tucker<Left>;
  constexpr bool is_right = is_instance<Right, CooTensor> || is_kruskal<Right> || is_tucker<Right>;
  constexpr bool are_known =
      is_left && is_right && !(is_instance<Left, CooTensor> && is_instance<Right, CooTensor>);
  static_assert(are_known,
                "innerprod takes a CooTensor and a model, or two models: KruskalTensors or "
                "TuckerTensors");
  if constexpr (are_known) {
    if constexpr (is_instance<Right, CooTensor> || (is_tucker<Left> && is_kruskal<Right>)) {
      return innerprod(exec, Y, X);
    } else if constexpr (check_types<ExecutionSpace, Left, decltype(Right::factors)>()) {
      Region const region("sporades::innerprod");
      check_innerprod(exec, X, Y);
      return run_innerprod(exec, X, Y);
    }
  }
  return 0;
}

template <class ExecutionSpace, class Tensor>
double norm(ExecutionSpace const& exec, Tensor const& X) {
  using namespace detail;
  constexpr bool is_model = is_kruskal<Tensor> || is_tucker<Tensor>;
  static_assert(is_instance<Tensor, CooTensor> || is_model,
                "norm takes a CooTensor, a KruskalTensor or a TuckerTensor");
  if constexpr (is_model || is_instance<Tensor, CooTensor>)
    if constexpr (check_types<ExecutionSpace, Tensor>()) {
      Region const region("sporades::norm");
      if constexpr (is_model) {
        check_model(X, "norm");
        double const squares = run_innerprod(exec, X, X);
        return squares < 0 ? 0 : std::sqrt(squares);
      } else {
        return norm_of_values(exec, X.values);
      }
    }
  return 0;
}

}  // namespace sporades

#include <sporades/eti/run_innerprod.hpp>
