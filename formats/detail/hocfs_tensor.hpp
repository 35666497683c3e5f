// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/csf_tensor.hpp>
#include <sporades/formats/detail/pad_slices.hpp>
#include <sporades/formats/hocfs_tensor.hpp>

namespace sporades {

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
HocfsTensor<Scalar, Index, MemorySpace> make_hocfs(ExecutionSpace const& exec,
                                                   CooTensor<Scalar, Index, MemorySpace> const& X,
                                                   int n, HocfsSlices slices, double least_fill) {
  using Tensor = HocfsTensor<Scalar, Index, MemorySpace>;
  int const N = X.order();
  auto const modes = detail::cyclic_modes(n, N, "make_hocfs");
  expects(least_fill >= 0 && least_fill <= 1, "make_hocfs: least_fill is ", least_fill,
          "; it may be from 0 to 1");
  bool const takes_ell = slices == HocfsSlices::ell;
  expects(!takes_ell || X.dims[n] <= Tensor::no_index, "make_hocfs: mode ", n, " has length ",
          X.dims[n], "; ELL slices mark padding by the index ", Tensor::no_index,
          " (from 0), so the length may be ", Tensor::no_index, " at most");
  // With CSR slices it is a tree of compressed sparse fibers whose leaves are entries.
  auto T = make_csf(exec, X, modes);
  Tensor H;
  H.dims = T.dims;
  H.mode_order = modes;
  H.index = T.indices.back();
  H.values = T.values;
  H.nonzeros = T.nnz();
  // One fiber has all nonzeros of a vector, one slice all fibers of a matrix or a vector.
  auto const whole = [&](Position items) {
    std::vector<Position> const begin = {0, items};
    return detail::to_view(exec, "sporades::hocfs::whole",
                           T.nnz() > 0 ? begin : std::vector<Position>{0});
  };
  H.begin = N > 1 ? T.first_child.back() : whole(T.nnz());
  T.indices.pop_back();
  if (N > 1) T.first_child.pop_back();
  H.indices = T.indices;
  H.first_child = T.first_child;
  H.first_fiber = N > 2 ? T.first_child.back() : whole(H.fibers());
  H.formats = detail::zeroed<decltype(H.formats)>(exec, "sporades::hocfs::formats",
                                                  H.first_fiber.extent(0) - 1);
  if (N > 1 && takes_ell) detail::pad_slices(exec, H, least_fill);
  detail::fence(exec, "sporades::hocfs::make");
  return H;
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             HocfsTensor<Scalar, Index, MemorySpace> const& H) {
  auto const own = detail::without_padding(exec, H);
  CsfTensor<Scalar, Index, MemorySpace> T;
  T.dims = H.dims;
  T.mode_order = H.mode_order;
  T.indices = H.indices;
  T.indices.push_back(own.index);
  T.first_child = H.first_child;
  if (H.order() > 1) T.first_child.push_back(own.begin);
  T.values = own.values;
  return to_coo(exec, T);
}

// What is no CooTensor is refused.
template <class ExecutionSpace>
HocfsTensor<double, std::uint32_t, typename ExecutionSpace::memory_space> make_hocfs(
    ExecutionSpace const&, detail::NotCoo, int, HocfsSlices = HocfsSlices::automatic, double = 0) {
  return {};
}

}  // namespace sporades
