// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense/shared_sums.hpp>
#include <sporades/formats/kruskal_tensor.hpp>

/// Rows that a process hands in and gets. While it runs, it has all of them.

namespace sporades::detail {

/// Leaves the rows of the model that `rows` says, copied. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
void take_own_rows(ExecutionSpace const& exec, std::vector<RowMap> const& rows,
                   KruskalTensor<Scalar, MemorySpace>& model) {
  for (std::size_t n = 0; n < rows.size(); ++n) {
    auto& A = model.factors[n];
    std::uint64_t const first = rows[n].first(), end = first + rows[n].here(A.extent(0));
    A = copy_matrix(exec, Kokkos::subview(A, std::make_pair(first, end), Kokkos::ALL));
  }
}

/// All rows of matrices of which each process has some. Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
Factors<Scalar, MemorySpace> take_all_rows(ExecutionSpace const& exec,
                                           std::vector<RowMap> const& rows,
                                           Factors<Scalar, MemorySpace> matrices) {
  for (std::size_t n = 0; n < rows.size(); ++n) {
    auto& A = matrices[n];
    std::uint64_t const first = rows[n].first(), here = A.extent(0);
    auto const all =
        make_matrix<Scalar>(exec, "sporades::gcp::rows", rows[n].all(here), A.extent(1));
    copy_view(exec, Kokkos::subview(all, std::make_pair(first, first + here), Kokkos::ALL), A);
    std::vector<std::size_t> bounds;
    for (auto const begin : rows[n].begins) bounds.push_back(begin * with_padding(all).extent(1));
    all_gather_parts(exec, rows[n].processes, "rows of a start", all.data(), bounds);
    fence(exec, "sporades::gcp::rows");
    A = all;
  }
  return matrices;
}

}  // namespace sporades::detail
