// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/core/detail/processes/exchange.hpp>
#include <sporades/core/row_map.hpp>
#include <sporades/formats/coo_tensor.hpp>
#include <support/tensors.hpp>
#include <tuple>
#include <vector>

#include "all_processes.hpp"

/// What one process makes for all, what processes bring of a tensor, and whether what they own is
/// the whole's.

namespace sporades::test {

template <class T>
void hand_out(Communicator const& processes, T& x);
template <class Scalar, class Index, class Memory>
void hand_out(Communicator const& processes, CooTensor<Scalar, Index, Memory>& X);

template <class... T>
void hand_out(Communicator const& processes, std::tuple<T...>& all) {
  std::apply([&](auto&... x) { (hand_out(processes, x), ...); }, all);
}

template <class Scalar, class Index, class Memory>
void hand_out(Communicator const& processes, CooTensor<Scalar, Index, Memory>& X) {
  Kokkos::DefaultHostExecutionSpace const host{};
  auto shape = std::tuple(X.dims, X.sorted_modes, X.nnz());
  hand_out(processes, shape);
  auto const& [dims, sorted_modes, nnz] = shape;
  auto all = processes.rank() == 0 ? copy_to(host, X)
                                   : sporades::detail::allocate_coo<Scalar, Index>(host, dims, nnz);
  host.fence();
  for (int n = 0; n < all.order(); ++n)
    sporades::detail::broadcast(processes, "test", all.indices(n), nnz * sizeof(Index));
  sporades::detail::broadcast(processes, "test", all.values.data(), nnz * sizeof(Scalar));
  all.sorted_modes = sorted_modes;
  X = copy_to(typename Memory::execution_space{}, all);
}

/// x of the first process to all: a number or a struct of numbers, a list, a tuple, or a tensor.
template <class T>
void hand_out(Communicator const& processes, T& x) {
  if constexpr (std::is_trivially_copyable_v<T>) {
    sporades::detail::broadcast(processes, "test", &x, sizeof x);
  } else {
    auto length = x.size();
    hand_out(processes, length);
    x.resize(length);
    if constexpr (std::is_trivially_copyable_v<typename T::value_type>)
      sporades::detail::broadcast(processes, "test", x.data(), length * sizeof x[0]);
    else
      for (auto& item : x) hand_out(processes, item);
  }
}

/// make() of the first process. The others wait for it, and do not compute the same beside it. No
/// GENERATE or SECTION stands in make: the processes would go on with different cases.
template <class Make>
auto made_once(Communicator const& processes, Make const& make) {
  return sporades::detail::together(processes, [&] {
    decltype(make()) made{};
    if (processes.rank() == 0) made = make();
    hand_out(processes, made);
    return made;
  });
}

/// The part of X that this process brings: every (P - 1)-th nonzero; the second brings none.
template <class Exec, class Scalar, class Memory>
CooTensor<Scalar, std::uint32_t, Memory> part_of(Exec const& exec,
                                                 CooTensor<Scalar, std::uint32_t, Memory> const& X,
                                                 Communicator const& processes) {
  if (processes.size() == 1) return X;
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const all = copy_to(host, X);
  auto const me = static_cast<Position>(processes.rank());
  auto const parts = static_cast<Position>(processes.size()) - 1;
  std::vector<Position> mine;
  for (Position p = 0; p < X.nnz() && me != 1; ++p)
    if (p % parts == (me == 0 ? 0 : me - 1)) mine.push_back(p);
  auto const part =
      sporades::detail::allocate_coo<Scalar, std::uint32_t>(host, X.dims, mine.size());
  host.fence();
  for (Position q = 0; q < mine.size(); ++q) {
    for (int n = 0; n < X.order(); ++n) part.coordinates(n, q) = all.coordinates(n, mine[q]);
    part.values(q) = all.values(mine[q]);
  }
  return copy_to(exec, part);
}

/// The sum of two outer products, on the host: a model of rank 2 fits it.
template <class Scalar>
auto two_outer_products(Dims const& dims) {
  Kokkos::DefaultHostExecutionSpace const host{};
  Position nnz = 1;
  for (auto dim : dims) nnz *= dim;
  auto const X = sporades::detail::allocate_coo<Scalar, std::uint32_t>(host, dims, nnz);
  host.fence();
  for (Position p = 0; p < nnz; ++p) {
    double one = 1, two = 1;
    Position rest = p;
    for (std::size_t n = 0; n < dims.size(); ++n) {
      auto const i = X.coordinates(n, p) = static_cast<std::uint32_t>(rest % dims[n]);
      rest /= dims[n];
      one *= 1 + i % 7;
      two *= std::sin(i + 1.);
    }
    X.values(p) = static_cast<Scalar>(one + two);
  }
  return X;
}

/// The entries of a vector, or of a matrix, row by row.
template <class ViewType>
auto entries_of(ViewType const& view) {
  std::vector<typename ViewType::non_const_value_type> entries;
  entries.reserve(view.size());
  if constexpr (int(ViewType::rank) == 1) {
    auto const x = on_host(view);
    for (std::size_t i = 0; i < x.extent(0); ++i) entries.push_back(x(i));
  } else {
    auto const A = matrix_on_host(view);
    for (std::size_t i = 0; i < A.extent(0); ++i)
      for (std::size_t r = 0; r < A.extent(1); ++r) entries.push_back(A(i, r));
  }
  return entries;
}

/// The entries of each matrix, row by row.
template <class MatrixType>
auto entries_of(std::vector<MatrixType> const& matrices) {
  std::vector<decltype(entries_of(matrices[0]))> entries;
  for (auto const& A : matrices) entries.push_back(entries_of(A));
  return entries;
}

/// Entries of `own`, this process's rows, that are not those of the matrix of all rows; more than
/// there are where it has not as many rows as it should.
template <class Own, class Scalar>
std::uint64_t wrong_entries(Own const& own, std::vector<Scalar> const& all,
                            RowMap const& rows = {}) {
  auto const mine = entries_of(own);
  auto const columns = mine.empty() ? own.extent(1) : mine.size() / own.extent(0);
  if (own.extent(0) != rows.here(own.extent(0)) || rows.all(own.extent(0)) * columns != all.size())
    return mine.size() + 1;
  std::uint64_t wrong = 0;
  for (std::size_t k = 0; k < mine.size(); ++k) wrong += mine[k] != all[rows.first() * columns + k];
  return wrong;
}

}  // namespace sporades::test
