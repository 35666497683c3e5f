// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/types.hpp>
#include <utility>

namespace sporades {

/// Coordinate format: N coordinate arrays (a structure of arrays) and the values.
/// Nonzero p is X(coordinates(0, p), ..., coordinates(N-1, p)) = values(p). Indices count from 0,
/// and each is below its mode's length. The readers, the plans and the problems of algorithms check
/// that (check_coordinates); conversions, sorts and single kernels trust whoever calls them.
template <class ScalarType, class IndexType = std::uint32_t,
          class MemorySpaceType = Kokkos::HostSpace>
struct CooTensor {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;
  using Coordinates = Kokkos::View<Index**, Kokkos::LayoutRight, MemorySpace>;
  using Values = Kokkos::View<Scalar*, MemorySpace>;

  Dims dims;                      // I_0 ... I_{N-1}
  Coordinates coordinates;        // N x nnz, perhaps a part of a larger View
  Values values;                  // nnz
  std::vector<int> sorted_modes;  // lexicographic by these modes, slowest first; empty: no order

  int order() const { return static_cast<int>(dims.size()); }
  Position nnz() const { return values.extent(0); }

  /// The indices of mode n, one after another.
  Index* indices(int n) const {
    return coordinates.data() + static_cast<std::size_t>(n) * coordinates.stride(0);
  }

  /// (N + 1) nnz
  std::uint64_t storage_words() const { return (dims.size() + 1) * nnz(); }
  std::uint64_t storage_bytes() const {
    return (dims.size() * sizeof(Index) + sizeof(Scalar)) * nnz();
  }
};

/// X for a function that takes it by value, so that it may give its memory back early: X is empty
/// afterwards. (Moving does not do: a View that is moved from may keep its memory.)
template <class Tensor>
Tensor hand_over(Tensor& X) {
  return std::exchange(X, Tensor{});
}

namespace detail {

/// Whether X alone holds its nonzeros, so that their memory is given back with X.
template <class Tensor>
bool is_last(Tensor const& X) {
  return X.coordinates.use_count() == 1 && X.values.use_count() == 1;
}

/// An unsorted tensor of these dims with room for nnz nonzeros, contents undefined.
/// Allocates on exec. Throws Error if the order or a mode does not fit.
template <class Scalar, class Index, class ExecutionSpace>
CooTensor<Scalar, Index, typename ExecutionSpace::memory_space> allocate_coo(
    ExecutionSpace const& exec, Dims const& dims, Position nnz) {
  check_dims<Index>(dims, "CooTensor");
  using Tensor = CooTensor<Scalar, Index, typename ExecutionSpace::memory_space>;
  return {dims,
          uninitialized<typename Tensor::Coordinates>(exec, "sporades::coo::coordinates",
                                                      dims.size(), nnz),
          uninitialized<typename Tensor::Values>(exec, "sporades::coo::values", nnz),
          {}};
}

/// The first nonzero that has an index past its mode.
template <class Coordinates>
struct FirstPastMode {
  Coordinates coordinates;  // N x nnz
  int order;
  std::uint64_t dims[max_order];

  KOKKOS_FUNCTION void operator()(Position p, Position& first) const {
    for (int n = 0; n < order; ++n)
      if (coordinates(n, p) >= dims[n] && p < first) first = p;
  }
};

}  // namespace detail

/// Throws Error unless X's dims fit its indices, there is a coordinate of every mode for every
/// value, and each is below its mode's length; it names the first nonzero for which that fails.
/// One pass over the coordinates. Fences exec. where begins the message.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void check_coordinates(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                       char const* where) {
  detail::check_dims<Index>(X.dims, where);
  if (X.nnz() == 0) return;
  expects(X.coordinates.extent(0) == X.dims.size() && X.coordinates.extent(1) == X.nnz(), where,
          ": coordinates are ", X.coordinates.extent(0), " x ", X.coordinates.extent(1),
          ", expected ", X.dims.size(), " x ", X.nnz());
  using Coordinates = typename CooTensor<Scalar, Index, MemorySpace>::Coordinates;
  detail::FirstPastMode<Coordinates> past{X.coordinates, X.order(), {}};
  for (int n = 0; n < X.order(); ++n) past.dims[n] = X.dims[n];
  Position first = X.nnz();
  Kokkos::parallel_reduce(
      "sporades::coo::check_coordinates",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>(exec, 0, X.nnz()), past,
      Kokkos::Min<Position>(first));
  if (first >= X.nnz()) return;
  for (int n = 0; n < X.order(); ++n) {
    Index const index =
        detail::entry_at(exec, Kokkos::subview(X.coordinates, n, Kokkos::ALL), first);
    expects(index < X.dims[n], where, ": nonzero ", first, ", mode ", n, ": the index ", index,
            " (from 0) is past the mode's length ", X.dims[n]);
  }
}

/// A copy of the caller's nonzeros as a CooTensor in the memory space of exec, unsorted.
/// dims: I_0 ... I_{N-1}. coordinates: from 0, of any integer type, signed or not, either
///   - one View of N x nnz, a mode a row;
///   - columns_of(table) of a View of nnz x N, a nonzero a row; or
///   - a vector or an array of N Views of nnz, one a mode.
/// values: a View of nnz; integers become double. All are Views of any layout, of the host or the
/// device, managed or not, const or not; what is enqueued on exec is done before they are read.
///   auto const X = make_coo(exec, {40, 30, 20}, columns_of(table), values);
/// The scalar type of the result is that of the values. Its indices are std::uint64_t where the
/// coordinates have 64 bits, as std::int64_t and std::size_t have, else std::uint32_t;
/// make_coo<std::uint32_t> asks for 32 bits, which take half the memory and time. Every index is
/// checked on the device. One pass over the coordinates and values. Fences exec.
/// Throws Error if the shapes disagree, a mode is too long for the indices, or an index is negative
/// or past its mode: the message names the first such nonzero.
template <class Index = void, class ExecutionSpace, class Coordinates, class Values>
auto make_coo(ExecutionSpace const& exec, Dims const& dims, Coordinates const& coordinates,
              Values const& values);

/// The columns of a table, a rank-2 View of nnz x N of any layout and memory space, as make_coo
/// takes them: a vector of N Views of nnz of the same memory. Copies nothing.
template <class Table>
auto columns_of(Table const& table);

/// The tensor in the memory space of exec; the same Views where it is there already. A copy fences
/// exec, and one from a GPU to the host waits first for all that was enqueued on any instance.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, typename ExecutionSpace::memory_space> copy_to(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X) {
  using Target = typename ExecutionSpace::memory_space;
  if constexpr (std::is_same_v<Target, MemorySpace>) {
    return X;
  } else {
    detail::fence_source<MemorySpace>(exec, "sporades::coo::source");
    auto Y = detail::allocate_coo<Scalar, Index>(exec, X.dims, X.nnz());
    for (int n = 0; n < X.order(); ++n)  // one copy takes only what has no gaps
      detail::copy_view(exec, Kokkos::subview(Y.coordinates, n, Kokkos::ALL),
                        Kokkos::subview(X.coordinates, n, Kokkos::ALL));
    detail::copy_view(exec, Y.values, X.values);
    Y.sorted_modes = X.sorted_modes;
    detail::fence(exec, "sporades::coo::copy_to");
    return Y;
  }
}

}  // namespace sporades

#include <sporades/formats/detail/make_coo.hpp>
#include <sporades/formats/detail/refuse_types.hpp>
