// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/types.hpp>

namespace sporades::detail {

/// Rows of a factor of so many rows that nonzeros use at most.
inline double used_rows(std::uint64_t rows, Position nnz) {
  return static_cast<double>(std::min<std::uint64_t>(rows, nnz));
}

/// Bytes of the nonzeros of a tensor, an index a mode and a value each.
template <class Tensor>
double nonzero_bytes(Dims const& dims, Position nnz) {
  return static_cast<double>(nnz) *
         static_cast<double>(dims.size() * sizeof(typename Tensor::Index) +
                             sizeof(typename Tensor::Scalar));
}

/// Bytes of the used rows of one matrix of R columns a mode.
template <class Tensor>
double factor_row_bytes(Dims const& dims, Position nnz, int R) {
  double rows = 0;
  for (auto dim : dims) rows += used_rows(dim, nnz);
  return rows * R * static_cast<double>(sizeof(typename Tensor::Scalar));
}

}  // namespace sporades::detail
