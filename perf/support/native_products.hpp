// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <sporades/core/error.hpp>
#include <sporades/formats/coo_tensor.hpp>
#include <sporades/kernels/detail/column_tiles.hpp>

/// MTTKRP and Phi of CP-APR without Kokkos, on plain arrays, to compare with: CUDA or HIP kernels
/// where their compiler is at work, OpenMP loops elsewhere. They compute what mttkrp and phi do
/// (kernels/mttkrp.hpp, kernels/phi.hpp) on coordinates of any order and any rank:
///   MTTKRP `atomic`   nonzeros in any order; runs of equal rows are summed in registers, and each
///                     sum is added atomically
///   Phi `atomic`      the same, with pi computed on the fly
///   Phi `pull`        nonzeros sorted by row: a row that one worker has to itself is stored; of
///                     the others, OpenMP keeps two sums a thread that are added at the end, and
///                     CUDA adds atomically
/// Loops over the other modes (2 to 4) and over columns (16 and 32 in OpenMP; 16 or 32 bytes a lane
/// in CUDA) are unrolled, others counted at run time. Anderson & Choi 2021 compare with such codes
/// (PASTA, ALTO); these have what is known to be fast on top: rows in vector registers, the rows of
/// CUDA's nonzeros in lanes next to one another.

namespace sporades::perf {

/// A product on one mode. Rows of the factors, B and V are `stride` entries apart, and have R
/// columns.
template <class ScalarType>
struct NativeProduct {
  using Scalar = ScalarType;
  static constexpr int most_others = max_order - 1;

  std::size_t nnz, rows;  // nonzeros; rows of V
  int others;             // modes, except that of V's rows
  int R;
  std::size_t stride;
  std::uint32_t const* row_of;                // nnz
  std::uint32_t const* indices[most_others];  // nnz, of each other mode
  Scalar const* values;                       // nnz
  Scalar const* factors[most_others];         // of each other mode
  Scalar const* B;                            // of Phi only
  Scalar epsilon;
  Scalar* V;
};

/// Which of the products is wanted.
enum class NativeLoop { mttkrp_atomic, phi_atomic, phi_pull };

template <NativeLoop loop>
inline constexpr bool is_phi = loop != NativeLoop::mttkrp_atomic;

}  // namespace sporades::perf

#if defined(__CUDACC__) || defined(__HIPCC__)
#include "native_products_cuda.hpp"
#else
#include "native_products_openmp.hpp"
#endif

namespace sporades::perf {

/// The product on mode n of X, whose nonzeros are sorted by that mode where the loop is phi_pull. B
/// is read for Phi only. Throws Error if the matrices' strides differ.
template <class Tensor, class FactorList, class MatrixType>
NativeProduct<typename Tensor::Scalar> native_product(Tensor const& X, FactorList const& A,
                                                      MatrixType const& B, int n,
                                                      MatrixType const& V, double epsilon) {
  using Scalar = typename Tensor::Scalar;
  NativeProduct<Scalar> product{};
  product.nnz = X.nnz();
  product.rows = V.extent(0);
  product.R = static_cast<int>(V.extent(1));
  product.stride = V.stride(0);
  product.row_of = X.indices(n);
  product.values = X.values.data();
  product.B = B.data();
  product.epsilon = static_cast<Scalar>(epsilon);
  product.V = V.data();
  bool is_equal = B.extent(0) < 2 || B.stride(0) == product.stride;
  for (int m = 0; m < X.order(); ++m) {
    if (m == n) continue;
    is_equal = is_equal && (A[m].extent(0) < 2 || A[m].stride(0) == product.stride);
    product.indices[product.others] = X.indices(m);
    product.factors[product.others++] = A[m].data();
  }
  expects(is_equal, "native_product: rows of the matrices are not equally far apart");
  return product;
}

}  // namespace sporades::perf
