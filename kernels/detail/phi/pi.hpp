// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense/blocks.hpp>
#include <sporades/kernels/detail/mttkrp/coo_nonzeros.hpp>
#include <sporades/kernels/detail/mttkrp/packed_nonzeros.hpp>

/// Where Phi takes pi_p(r) = prod_{m != n} A_m(i_m, r) from. Each source gives a tile of it:
///   at<width>(p, first, product): product[c] = pi_p(first + c), c < width.

namespace sporades::detail {

/// product(c) = prod over m < modes of A_m(row(m), first + c), where row(m) is A_m's.
template <int width, class Scalar, class FactorList, class Row>
KOKKOS_FORCEINLINE_FUNCTION void multiply_rows(FactorList const& factors, int modes,
                                               std::uint64_t first, Scalar (&product)[width],
                                               Row const& row) {
  for (int c = 0; c < width; ++c) product[c] = 1;
  for (int m = 0; m < modes; ++m) {
    Scalar const* const a = factors[m].data() + row(m) * factors[m].stride_0() + first;
#pragma omp simd
    for (int c = 0; c < width; ++c) product[c] *= a[c];
  }
}

/// Computed from the coordinates of a COO tensor.
template <class Scalar, class Index, class MemorySpace>
struct CooPi {
  Kokkos::Array<RawVector<Index const, MemorySpace>, max_order> indices;  // of the other modes
  Kokkos::Array<RawMatrix<Scalar const, MemorySpace>, max_order> factors;
  int others;

  template <int width>
  KOKKOS_FORCEINLINE_FUNCTION void at(Position p, std::uint64_t first,
                                      Scalar (&product)[width]) const {
    multiply_rows(factors, others, first, product, [&](int m) { return indices[m](p); });
  }
};

/// Computed from the words of packed nonzeros.
template <class Nonzeros>
struct PackedPi {
  Nonzeros nonzeros;  // PackedNonzeros

  template <int width, class Scalar>
  KOKKOS_FORCEINLINE_FUNCTION void at(Position p, std::uint64_t first,
                                      Scalar (&product)[width]) const {
    auto const word = nonzeros.words(p);
    multiply_rows(nonzeros.factors, nonzeros.modes(), first, product,
                  [&](int m) { return nonzeros.index(word, m); });
  }
};

/// Computed from linear indices.
template <class Nonzeros>
struct AltoPi {
  Nonzeros nonzeros;  // AltoNonzeros

  template <int width, class Scalar>
  KOKKOS_FORCEINLINE_FUNCTION void at(Position p, std::uint64_t first,
                                      Scalar (&product)[width]) const {
    auto const entry = nonzeros.fetch(p);
    multiply_rows(nonzeros.factors, nonzeros.modes(), first, product,
                  [&](int m) { return nonzeros.bits[m].of(entry); });
  }
};

/// Read from a matrix.
template <class Scalar, class MemorySpace>
struct StoredPi {
  RawMatrix<Scalar const, MemorySpace> pi;  // nnz x R

  template <int width>
  KOKKOS_FORCEINLINE_FUNCTION void at(Position p, std::uint64_t first,
                                      Scalar (&product)[width]) const {
    Scalar const* const from = pi.data() + p * pi.stride_0() + first;
    for (int c = 0; c < width; ++c) product[c] = from[c];
  }
};

/// w_p = x_p / max(sum_s b(s) pi_p(s), epsilon), of a nonzero whose row of B is b.
template <class ExecutionSpace, class Source, class Scalar>
KOKKOS_FORCEINLINE_FUNCTION Scalar phi_weight(Source const& pi, Position p, Scalar x,
                                              Scalar const* b, std::uint64_t R, Scalar epsilon) {
  Scalar model = 0;
  for_tiles<ExecutionSpace>(0, R, [&](auto width_constant, std::uint64_t first) {
    constexpr int width = decltype(width_constant)::value;
    Scalar product[width];
    pi.template at<width>(p, first, product);
    Scalar sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int c = 0; c < width; ++c) sum += product[c] * b[first + c];
    model += sum;
  });
  return x / (model < epsilon ? epsilon : model);
}

template <class Scalar, class Index, class MemorySpace>
CooPi<Scalar, Index, MemorySpace> coo_pi(CooTensor<Scalar, Index, MemorySpace> const& X,
                                         Factors<Scalar, MemorySpace> const& A, int n) {
  CooPi<Scalar, Index, MemorySpace> pi{{}, {}, 0};
  for (int m = 0; m < X.order(); ++m) {
    if (m == n) continue;
    pi.indices[pi.others] = mode_indices(X, m);
    pi.factors[pi.others++] = A[m];
  }
  return pi;
}

/// to(p, :) = pi_p
template <class ExecutionSpace, class Source, class Scalar>
struct StorePi {
  Source pi;
  RawMatrix<Scalar, typename ExecutionSpace::memory_space> to;  // nnz x R

  KOKKOS_FUNCTION void operator()(Position p) const {
    for_tiles<ExecutionSpace>(0, to.extent(1), [&](auto width_constant, std::uint64_t first) {
      constexpr int width = decltype(width_constant)::value;
      Scalar product[width];
      pi.template at<width>(p, first, product);
      for (int c = 0; c < width; ++c) to(p, first + c) = product[c];
    });
  }
};

/// pi(p, :) of every nonzero of X for mode n. pi: nnz x R. Enqueued on exec. N R nnz flops.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void store_pi(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
              Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& pi) {
  using Source = CooPi<Scalar, Index, MemorySpace>;
  launch_items(exec, "sporades::pi::stored", X.nnz(),
               StorePi<ExecutionSpace, Source, Scalar>{coo_pi(X, A, n), pi});
}

}  // namespace sporades::detail
