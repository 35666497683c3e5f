// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/detail/ranges.hpp>
#include <sporades/formats/detail/row_major.hpp>
#include <sporades/formats/hierarchical_tensor.hpp>
#include <sporades/formats/hocsr_tensor.hpp>

namespace sporades {

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
HocsrTensor<Scalar, Index, MemorySpace> make_hocsr(ExecutionSpace const& exec,
                                                   CooTensor<Scalar, Index, MemorySpace> const& X,
                                                   int n) {
  auto const modes = detail::cyclic_modes(n, X.order(), "make_hocsr");
  std::vector<int> const row_modes(modes.begin(), modes.end() - 1);
  detail::check_fiber_numbers(X.dims, row_modes, n, "make_hocsr");
  Position rows = 1;
  double row_count = 1;  // of 2^64 rows, too, whose bytes no memory has
  for (int mode : row_modes) {
    rows *= X.dims[mode];
    row_count *= static_cast<double>(X.dims[mode]);
  }
  double const bytes = (row_count + 1) * sizeof(Position), left = detail::memory_left(exec);
  expects(bytes <= left, "make_hocsr: mode ", n, " has ", row_count,
          " fibers, empty ones included; their positions take ", detail::enough_text(bytes),
          ", and ", detail::room_text(left), " of memory are free");

  auto const S = sorted(exec, X, modes);
  auto const fibers = detail::make_fibers(exec, S.coordinates, modes, modes);
  auto const begin = detail::zeroed<Kokkos::View<Position*, MemorySpace>>(
      exec, "sporades::hocsr::begin", rows + 1);
  detail::RowMajor const shape(X.dims, row_modes);
  auto const coordinates = S.coordinates;
  auto const first = fibers.begin;
  detail::launch_items(
      exec, "sporades::hocsr::count", fibers.count(), KOKKOS_LAMBDA(Position f) {
        begin(shape.place(coordinates, first(f))) = first(f + 1) - first(f);
      });
  detail::exclusive_scan(exec, begin);
  detail::fence(exec, "sporades::hocsr::make");
  return {X.dims, row_modes, n, begin, fibers.index, S.values};
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             HocsrTensor<Scalar, Index, MemorySpace> const& H) {
  auto X = detail::allocate_coo<Scalar, Index>(exec, H.dims, H.nnz());
  detail::copy_view(exec, X.values, H.values);
  detail::copy_view(exec, Kokkos::subview(X.coordinates, H.mode, Kokkos::ALL), H.index);
  X.sorted_modes = H.row_modes;
  X.sorted_modes.push_back(H.mode);
  detail::RowMajor const shape(H.dims, H.row_modes);
  auto const coordinates = X.coordinates;
  detail::for_items(
      exec, "sporades::hocsr::expand", H.begin, H.nnz(),
      KOKKOS_LAMBDA(Position r, Position p) { shape.unplace(r, coordinates, p); });
  return X;
}

// What is no CooTensor is refused.
template <class ExecutionSpace>
HocsrTensor<double, std::uint32_t, typename ExecutionSpace::memory_space> make_hocsr(
    ExecutionSpace const&, detail::NotCoo, int) {
  return {};
}

}  // namespace sporades
