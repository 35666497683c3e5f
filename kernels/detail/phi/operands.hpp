// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/mttkrp/operands.hpp>

namespace sporades::detail {

/// What Phi on one mode takes and gives beside the nonzeros, for the time of a call: see
/// kernels/phi.hpp.
template <class Scalar, class MemorySpace>
struct PhiOperands {
  Factors<Scalar, MemorySpace> const& A;  // A[n] is not read
  Matrix<Scalar, MemorySpace> const& B;   // I_n x R
  int n;
  Matrix<Scalar, MemorySpace> const& V;  // I_n x R
  double epsilon;

  MttkrpOperands<Scalar, MemorySpace> of_product() const { return {A, n, V}; }
  Scalar least() const { return static_cast<Scalar>(epsilon); }  ///< that a model's value counts as
};

}  // namespace sporades::detail
