// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/cp_als.hpp>
#include <sporades/core/matrix.hpp>
#include <sporades/kernels/mttkrp.hpp>

/// Factors in the order of homes (HomeOrder), and back in that of X.

namespace sporades::detail {

/// The places of a mode's rows here, ascending, and the processes that own these.
template <class Scalar, class MemorySpace>
struct SortedPlaces {
  Permutation<MemorySpace> rows;  // in the order of their places
  GhostRows<Scalar, MemorySpace> shared;

  template <class ExecutionSpace>
  SortedPlaces(ExecutionSpace const& exec, HomeOrder<MemorySpace> const& order, std::size_t n,
               RowMap const& at_home)
      : rows(sort_permutation(exec, order.places[n], index_bits(order.begins[n].back()))),
        shared(at_home.processes, exec, at_home.begins,
               to_vector(exec, in_order(exec, order.places[n], rows))) {}
};

/// The rows here of mode n of a factor, given in the order of X, in that of homes; at_home: of the
/// result. Padded as A is. Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
Matrix<Scalar, MemorySpace> to_homes(ExecutionSpace const& exec,
                                     HomeOrder<MemorySpace> const& order, std::size_t n,
                                     Matrix<Scalar, MemorySpace> const& A, RowMap const& at_home) {
  auto const to = make_matrix<Scalar>(exec, "sporades::home_order::factor",
                                      at_home.here(order.begins[n].back()), A.extent(1));
  auto const put = [&](auto const& from, auto const& rows) {
    copy_rows<true>(exec, "sporades::home_order::put", from, rows, with_padding(to));
  };
  if (!at_home.is_whole()) {
    SortedPlaces<Scalar, MemorySpace> const places(exec, order, n, at_home);
    auto const ordered = make_matrix<Scalar>(exec, "sporades::home_order::ordered", A.extent(0),
                                             with_padding(A).extent(1));
    copy_rows<false>(exec, "sporades::home_order::take", with_padding(A), places.rows, ordered);
    places.shared.give_back(exec, "rows in order", ordered, put);
    return to;
  }
  put(with_padding(A), order.places[n]);
  fence(exec, "sporades::home_order::to_homes");
  return to;
}

/// The other way round.
template <class ExecutionSpace, class Scalar, class MemorySpace>
Matrix<Scalar, MemorySpace> from_homes(ExecutionSpace const& exec,
                                       HomeOrder<MemorySpace> const& order, std::size_t n,
                                       Matrix<Scalar, MemorySpace> const& A,
                                       RowMap const& at_home) {
  auto const& rows = order.places[n];
  auto const to =
      make_matrix<Scalar>(exec, "sporades::home_order::factor", rows.extent(0), A.extent(1));
  if (!at_home.is_whole()) {
    SortedPlaces<Scalar, MemorySpace> places(exec, order, n, at_home);
    copy_rows<true>(exec, "sporades::home_order::put",
                    places.shared.gather(exec, "rows in order", with_padding(A)), places.rows,
                    with_padding(to));
    fence(exec, "sporades::home_order::from_homes");
    return to;
  }
  copy_rows<false>(exec, "sporades::home_order::take", with_padding(A), rows, with_padding(to));
  fence(exec, "sporades::home_order::from_homes");
  return to;
}

}  // namespace sporades::detail
