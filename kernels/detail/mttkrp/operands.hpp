// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/matrix.hpp>

namespace sporades::detail {

/// What MTTKRP on one mode takes and gives beside the nonzeros, for the time of a call: see
/// kernels/mttkrp.hpp.
template <class Scalar, class MemorySpace>
struct MttkrpOperands {
  Factors<Scalar, MemorySpace> const& A;  // A[n] is not read
  int n;
  Matrix<Scalar, MemorySpace> const& V;  // I_n x R
};

}  // namespace sporades::detail
