// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense/blocks.hpp>
#include <sporades/core/detail/launch.hpp>
#include <sporades/kernels/ttm_chain.hpp>

namespace sporades::detail {

/// Y(rows(i), places(c)) = product(i, c)
template <class Scalar, class Index, class MemorySpace>
struct ScatterChainRows {
  RawMatrix<Scalar const, MemorySpace> product;       // rows x columns
  RawVector<Index const, MemorySpace> rows;           // rows
  RawVector<std::int64_t const, MemorySpace> places;  // columns
  RawMatrix<Scalar, MemorySpace> Y;                   // I_n x columns

  KOKKOS_FUNCTION void operator()(std::uint64_t item) const {
    std::uint64_t const i = item / places.extent(0), c = item % places.extent(0);
    if (places(c) >= 0) Y(rows(i), places(c)) = product(i, c);
  }
};

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void scatter_rows(ExecutionSpace const& exec,
                  TtmChainProduct<Scalar, Index, MemorySpace> const& product,
                  Vector<std::int64_t, MemorySpace> const& places,
                  Matrix<Scalar, MemorySpace> const& Y) {
  launch_items(exec, "sporades::ttm_chain::scatter_rows", product.rows.extent(0) * places.extent(0),
               ScatterChainRows<Scalar, Index, MemorySpace>{product.Y, product.rows, places, Y});
}

}  // namespace sporades::detail
