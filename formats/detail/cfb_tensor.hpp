// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/cfb_tensor.hpp>
#include <sporades/formats/detail/ranges.hpp>
#include <sporades/formats/detail/row_major.hpp>
#include <sporades/formats/hierarchical_tensor.hpp>

namespace sporades {

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CfbTensor<Scalar, Index, MemorySpace> make_cfb(ExecutionSpace const& exec,
                                               CooTensor<Scalar, Index, MemorySpace> const& X,
                                               int n) {
  auto const modes = detail::cyclic_modes(n, X.order(), "make_cfb");
  std::vector<int> const other_modes(modes.begin(), modes.end() - 1);
  detail::check_fiber_numbers(X.dims, other_modes, n, "make_cfb");
  auto const S = sorted(exec, X, modes);
  auto const fibers = detail::make_fibers(exec, S.coordinates, modes, modes);
  auto const number = detail::uninitialized<Kokkos::View<std::uint64_t*, MemorySpace>>(
      exec, "sporades::cfb::number", fibers.count());
  detail::RowMajor const shape(X.dims, other_modes);
  auto const coordinates = S.coordinates;
  auto const begin = fibers.begin;
  detail::launch_items(
      exec, "sporades::cfb::number", fibers.count(),
      KOKKOS_LAMBDA(Position b) { number(b) = shape.place(coordinates, begin(b)); });
  detail::fence(exec, "sporades::cfb::make");
  return {X.dims, other_modes, n, number, begin, fibers.index, S.values};
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             CfbTensor<Scalar, Index, MemorySpace> const& C) {
  auto X = detail::allocate_coo<Scalar, Index>(exec, C.dims, C.nnz());
  detail::copy_view(exec, X.values, C.values);
  detail::copy_view(exec, Kokkos::subview(X.coordinates, C.mode, Kokkos::ALL), C.index);
  X.sorted_modes = C.other_modes;
  X.sorted_modes.push_back(C.mode);
  detail::RowMajor const shape(C.dims, C.other_modes);
  auto const number = C.number;
  auto const coordinates = X.coordinates;
  detail::for_items(
      exec, "sporades::cfb::expand", C.begin, C.nnz(),
      KOKKOS_LAMBDA(Position b, Position p) { shape.unplace(number(b), coordinates, p); });
  return X;
}

// What is no CooTensor is refused.
template <class ExecutionSpace>
CfbTensor<double, std::uint32_t, typename ExecutionSpace::memory_space> make_cfb(
    ExecutionSpace const&, detail::NotCoo, int) {
  return {};
}

}  // namespace sporades
