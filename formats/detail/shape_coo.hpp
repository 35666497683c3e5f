// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/launch.hpp>
#include <sporades/core/detail/region.hpp>
#include <sporades/core/detail/scan.hpp>
#include <sporades/formats/detail/modes.hpp>
#include <sporades/formats/shape_coo.hpp>

namespace sporades {
namespace detail {

/// before(p) <- 1 if the index of nonzero p is in [begin, end), else 0.
template <class Indices>
struct MarkRange {
  Indices indices;  // nnz
  Kokkos::View<Position*, typename Indices::memory_space> before;
  std::uint64_t begin, end;

  KOKKOS_FUNCTION void operator()(Position p) const {
    before(p) = indices(p) >= begin && indices(p) < end ? 1 : 0;
  }
};

/// Nonzeros whose index in mode n is in [begin, end) go to the place before(p), their index in mode
/// n counted from begin.
template <class Tensor>
struct TakeRange {
  typename Tensor::Coordinates from, to;                         // N x nnz
  typename Tensor::Values values_from, values_to;                // nnz
  Kokkos::View<Position*, typename Tensor::MemorySpace> before;  // nnz
  int n;
  std::uint64_t begin, end;

  KOKKOS_FUNCTION void operator()(Position p) const {
    using Index = typename Tensor::Index;
    std::uint64_t const index = from(n, p);
    if (index < begin || index >= end) return;
    Position const place = before(p);
    for (int m = 0; m < static_cast<int>(to.extent(0)); ++m) to(m, place) = from(m, p);
    to(n, place) = static_cast<Index>(index - begin);
    values_to(place) = values_from(p);
  }
};

/// to(p) = from(p) + offset
template <class From, class To>
struct ShiftIndices {
  From from;
  To to;
  std::uint64_t offset;

  KOKKOS_FUNCTION void operator()(Position p) const {
    to(p) = static_cast<typename To::value_type>(from(p) + offset);
  }
};

/// The tensor of these modes of X, in this order, which shares its values. Fences exec.
template <class ExecutionSpace, class Tensor>
Tensor with_modes(ExecutionSpace const& exec, Tensor const& X, std::vector<int> const& modes) {
  Tensor Y{{},
           uninitialized<typename Tensor::Coordinates>(exec, "sporades::coo::coordinates",
                                                       modes.size(), X.nnz()),
           X.values,
           {}};
  for (std::size_t k = 0; k < modes.size(); ++k) {
    Y.dims.push_back(X.dims[static_cast<std::size_t>(modes[k])]);
    copy_view(exec, Kokkos::subview(Y.coordinates, k, Kokkos::ALL),
              Kokkos::subview(X.coordinates, modes[k], Kokkos::ALL));
  }
  for (int const m : X.sorted_modes) {  // modes that are gone have one index
    auto const place = std::find(modes.begin(), modes.end(), m);
    if (place != modes.end()) Y.sorted_modes.push_back(static_cast<int>(place - modes.begin()));
  }
  fence(exec, "sporades::coo::with_modes");
  return Y;
}

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> slice(ExecutionSpace const& exec,
                                            CooTensor<Scalar, Index, MemorySpace> const& X, int n,
                                            std::uint64_t begin, std::uint64_t end) {
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;
  detail::check_types<ExecutionSpace, Tensor>();
  detail::Region const region("sporades::slice");
  expects(n >= 0 && n < X.order(), "slice: mode ", n, " of a tensor of order ", X.order());
  auto const mode = static_cast<std::size_t>(n);
  expects(begin <= end && end <= X.dims[mode], "slice: indices ", begin, " to ", end, " of mode ",
          n, ", whose length is ", X.dims[mode]);
  auto const before = detail::uninitialized<Kokkos::View<Position*, MemorySpace>>(
      exec, "sporades::coo::places", X.nnz());
  auto const indices = Kokkos::subview(X.coordinates, n, Kokkos::ALL);
  detail::launch_items(
      exec, "sporades::coo::mark_range", X.nnz(),
      detail::MarkRange<std::decay_t<decltype(indices)>>{indices, before, begin, end});
  auto dims = X.dims;
  dims[mode] = end - begin;
  auto Y =
      detail::allocate_coo<Scalar, Index>(exec, dims, detail::exclusive_scan_total(exec, before));
  detail::launch_items(exec, "sporades::coo::take_range", X.nnz(),
                       detail::TakeRange<Tensor>{X.coordinates, Y.coordinates, X.values, Y.values,
                                                 before, n, begin, end});
  Y.sorted_modes = X.sorted_modes;
  detail::fence(exec, "sporades::coo::slice");
  return Y;
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> permute_modes(ExecutionSpace const& exec,
                                                    CooTensor<Scalar, Index, MemorySpace> const& X,
                                                    std::vector<int> const& modes) {
  detail::check_types<ExecutionSpace, CooTensor<Scalar, Index, MemorySpace>>();
  detail::Region const region("sporades::permute_modes");
  detail::check_modes(modes, X.order(), "permute_modes");
  expects(modes.size() == X.dims.size(), "permute_modes: a list of ", modes.size(),
          " modes for a tensor of order ", X.order());
  return detail::with_modes(exec, X, modes);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> squeeze(ExecutionSpace const& exec,
                                              CooTensor<Scalar, Index, MemorySpace> const& X) {
  detail::check_types<ExecutionSpace, CooTensor<Scalar, Index, MemorySpace>>();
  detail::Region const region("sporades::squeeze");
  std::vector<int> modes;
  for (int n = 0; n < X.order(); ++n)
    if (X.dims[static_cast<std::size_t>(n)] != 1) modes.push_back(n);
  if (modes.empty() && X.order() > 0) modes.push_back(0);
  return detail::with_modes(exec, X, modes);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> concatenate(
    ExecutionSpace const& exec, std::vector<CooTensor<Scalar, Index, MemorySpace>> const& tensors,
    int n) {
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;
  detail::check_types<ExecutionSpace, Tensor>();
  detail::Region const region("sporades::concatenate");
  expects(!tensors.empty(), "concatenate: there are no tensors");
  Dims dims = tensors.front().dims;
  expects(n >= 0 && static_cast<std::size_t>(n) < dims.size(), "concatenate: mode ", n,
          " of a tensor of order ", dims.size());
  auto const mode = static_cast<std::size_t>(n);
  dims[mode] = 0;
  Position nnz = 0;
  for (auto const& X : tensors) {
    auto expected = dims;
    expected[mode] = X.dims.size() == dims.size() ? X.dims[mode] : 0;
    expects(X.dims == expected, "concatenate: a tensor is ", to_string(X.dims),
            " and the first is ", to_string(tensors.front().dims), ": they may differ in mode ", n,
            " alone");
    expects(dims[mode] + X.dims[mode] >= dims[mode], "concatenate: mode ", n,
            " gets longer than 2^64");
    dims[mode] += X.dims[mode];
    nnz += X.nnz();
  }
  detail::check_dims<Index>(dims, "concatenate");
  auto const Y = detail::allocate_coo<Scalar, Index>(exec, dims, nnz);
  Position first = 0;
  std::uint64_t offset = 0;
  for (auto const& X : tensors) {
    auto const place = std::make_pair(first, first + X.nnz());
    for (int m = 0; m < X.order() && X.nnz() > 0; ++m) {
      auto const from = Kokkos::subview(X.coordinates, m, Kokkos::ALL);
      auto const to = Kokkos::subview(Y.coordinates, m, place);
      using Shift = detail::ShiftIndices<std::decay_t<decltype(from)>, std::decay_t<decltype(to)>>;
      detail::launch_items(exec, "sporades::coo::concatenate", X.nnz(),
                           Shift{from, to, m == n ? offset : 0});
    }
    detail::copy_view(exec, Kokkos::subview(Y.values, place), X.values);
    first += X.nnz();
    offset += X.dims[mode];
  }
  detail::fence(exec, "sporades::coo::concatenate");
  return Y;
}

// What is no CooTensor is refused.
template <class ExecutionSpace>
detail::SomeCoo<ExecutionSpace> slice(ExecutionSpace const&, detail::NotCoo, int, std::uint64_t,
                                      std::uint64_t) {
  return {};
}
template <class ExecutionSpace>
detail::SomeCoo<ExecutionSpace> permute_modes(ExecutionSpace const&, detail::NotCoo,
                                              std::vector<int> const&) {
  return {};
}
template <class ExecutionSpace>
detail::SomeCoo<ExecutionSpace> squeeze(ExecutionSpace const&, detail::NotCoo) {
  return {};
}

}  // namespace sporades

#include <sporades/eti/shape_coo.hpp>
