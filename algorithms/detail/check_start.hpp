// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/error.hpp>
#include <sporades/core/matrix.hpp>
#include <sporades/core/types.hpp>
#include <vector>

namespace sporades::detail {

/// Throws Error where factors of this rank do not fit X's dims and the rank that the options say.
template <class Scalar, class MemorySpace>
void check_start(char const* name, Dims const& dims, int rank,
                 Factors<Scalar, MemorySpace> const& factors, int rank_of_factors) {
  expects(rank_of_factors == rank, name, ": the start has rank ", rank_of_factors,
          ", the options say ", rank);
  expects(factors.size() == dims.size(), name, ": the start has order ", factors.size(), ", X has ",
          dims.size());
  auto const columns = static_cast<std::size_t>(rank);
  for (std::size_t n = 0; n < dims.size(); ++n) {
    auto const& A = factors[n];
    expects(A.extent(0) == dims[n], name, ": the start's factor of mode ", n, " has ", A.extent(0),
            " rows, X has ", dims[n]);
    expects(is_padded(A, columns), name, ": the start's factor of mode ", n, " has ", A.extent(1),
            " columns and a row stride of ", A.stride(0), ", expected ", rank, " and ",
            padded_columns(columns), ", as make_matrix makes them and copy_matrix copies them");
  }
}

}  // namespace sporades::detail
