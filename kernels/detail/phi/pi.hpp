// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense/blocks.hpp>
#include <sporades/kernels/detail/nonzeros/coo.hpp>

/// Where Phi takes pi_p(r) = prod_{m != n} A_m(i_m, r) from. Each source gives a tile of it for an
/// entry of the nonzeros:
///   tile<width>(nonzeros, entry, first, pi): pi[c] = pi_p(first + c), c < width.

namespace sporades::detail {

/// Computed from the factor rows that the entry names.
struct ComputedPi {
  template <int width, class Nonzeros, class Scalar>
  KOKKOS_FORCEINLINE_FUNCTION void tile(Nonzeros const& nonzeros,
                                        typename Nonzeros::Entry const& entry, std::uint64_t first,
                                        Scalar (&pi)[width]) const {
    for (int c = 0; c < width; ++c) pi[c] = 1;
    for (int m = 0; m < nonzeros.modes(); ++m) {
      auto const& A = nonzeros.factors[m];
      Scalar const* const row = A.data() + nonzeros.index(entry, m) * A.stride_0() + first;
#pragma omp simd
      for (int c = 0; c < width; ++c) pi[c] *= row[c];
    }
  }
};

/// Read from a matrix; the nonzeros are a COO tensor's.
template <class Scalar, class MemorySpace>
struct StoredPi {
  RawMatrix<Scalar const, MemorySpace> pi_;  // nnz x R

  template <int width, class Nonzeros>
  KOKKOS_FORCEINLINE_FUNCTION void tile(Nonzeros const&, typename Nonzeros::Entry const& entry,
                                        std::uint64_t first, Scalar (&pi)[width]) const {
    Scalar const* const from = pi_.data() + entry.place * pi_.stride_0() + first;
    for (int c = 0; c < width; ++c) pi[c] = from[c];
  }
};

/// sum_s b(s) pi(s), pi the product of so many rows, in eight sums that are added at the end.
template <int modes, class Scalar>
KOKKOS_FUNCTION Scalar dot_of_rows(Scalar const* const* rows, Scalar const* b, std::uint64_t R) {
  constexpr int lanes = 8;
  Scalar const *const first = rows[0], *const second = rows[modes > 1 ? 1 : 0],
                      *const third = rows[modes > 2 ? 2 : 0],
                      *const fourth = rows[modes > 3 ? 3 : 0];
  auto const term = [=](std::uint64_t s) {
    Scalar pi = first[s];
    if constexpr (modes > 1) pi *= second[s];
    if constexpr (modes > 2) pi *= third[s];
    if constexpr (modes > 3) pi *= fourth[s];
    return pi * b[s];
  };
  Scalar sums[lanes] = {};
  std::uint64_t s = 0;
  for (; s + lanes <= R; s += lanes) {
#pragma omp simd
    for (int k = 0; k < lanes; ++k) sums[k] += term(s + k);
  }
  for (int k = 0; s < R; ++s, ++k) sums[k] += term(s);
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int k = 0; k < half; ++k) sums[k] += sums[k + half];
  return sums[0];
}

/// sum_s b(s) pi_p(s)
template <class ExecutionSpace, class Nonzeros, class Source, class Scalar>
KOKKOS_FORCEINLINE_FUNCTION Scalar phi_model(Nonzeros const& nonzeros, Source const& source,
                                             typename Nonzeros::Entry const& entry, Scalar const* b,
                                             std::uint64_t R) {
  if constexpr (!is_gpu<ExecutionSpace> && std::is_same_v<Source, ComputedPi>) {
    int const modes = nonzeros.modes();
    if (1 <= modes && modes <= 4) {  // indices are taken apart once, not once a tile
      Scalar const* rows[4];
      for (int m = 0; m < modes; ++m)
        rows[m] =
            nonzeros.factors[m].data() + nonzeros.index(entry, m) * nonzeros.factors[m].stride_0();
      if (modes == 1) return dot_of_rows<1>(rows, b, R);
      if (modes == 2) return dot_of_rows<2>(rows, b, R);
      if (modes == 3) return dot_of_rows<3>(rows, b, R);
      return dot_of_rows<4>(rows, b, R);
    }
  }
  Scalar model = 0;
  for_tiles<ExecutionSpace>(0, R, [&](auto width_constant, std::uint64_t first) {
    constexpr int width = decltype(width_constant)::value;
    Scalar pi[width];
    source.template tile<width>(nonzeros, entry, first, pi);
    Scalar sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int c = 0; c < width; ++c) sum += pi[c] * b[first + c];
    model += sum;
  });
  return model;
}

/// w_p = x_p / max(sum_s b(s) pi_p(s), epsilon), of a nonzero whose row of B is b.
template <class ExecutionSpace, class Nonzeros, class Source, class Scalar>
KOKKOS_FORCEINLINE_FUNCTION Scalar phi_weight(Nonzeros const& nonzeros, Source const& source,
                                              typename Nonzeros::Entry const& entry,
                                              Scalar const* b, std::uint64_t R, Scalar epsilon) {
  Scalar const model = phi_model<ExecutionSpace>(nonzeros, source, entry, b, R);
  return entry.value / (model < epsilon ? epsilon : model);
}

/// to(p, :) = pi_p
template <class ExecutionSpace, class Nonzeros>
struct StorePi {
  using Scalar = typename Nonzeros::Scalar;

  Nonzeros nonzeros;
  RawMatrix<Scalar, typename ExecutionSpace::memory_space> to;  // nnz x R

  KOKKOS_FUNCTION void operator()(Position p) const {
    auto const entry = nonzeros.fetch(p);
    for_tiles<ExecutionSpace>(0, to.extent(1), [&](auto width_constant, std::uint64_t first) {
      constexpr int width = decltype(width_constant)::value;
      Scalar pi[width];
      ComputedPi{}.template tile<width>(nonzeros, entry, first, pi);
      for (int c = 0; c < width; ++c) to(p, first + c) = pi[c];
    });
  }
};

/// pi(p, :) of every nonzero of X for mode n. pi: nnz x R. Enqueued on exec. N R nnz flops.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void store_pi(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
              Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& pi) {
  auto const nonzeros = coo_nonzeros<any_number>(X, A, n);
  launch_items(exec, "sporades::pi::stored", X.nnz(),
               StorePi<ExecutionSpace, std::decay_t<decltype(nonzeros)>>{nonzeros, pi});
}

}  // namespace sporades::detail
