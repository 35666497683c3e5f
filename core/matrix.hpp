// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <iterator>
#include <sporades/core/types.hpp>

namespace sporades {

/// Columns rounded up to whole tiles of four, the row stride of make_matrix.
constexpr std::size_t padded_columns(std::size_t columns) {
  return (columns + 3) / 4 * 4;
}

/// A rows x columns matrix of zeros. Its row stride is padded_columns(columns), so that kernels
/// load aligned tiles whatever the number of columns; the padding stays zero. Allocates and sets it
/// on exec, does not fence.
template <class Scalar, class ExecutionSpace>
Matrix<Scalar, typename ExecutionSpace::memory_space> make_matrix(ExecutionSpace const& exec,
                                                                  std::string const& label,
                                                                  std::size_t rows,
                                                                  std::size_t columns) {
  using Result = Matrix<Scalar, typename ExecutionSpace::memory_space>;
  auto const padded = detail::zeroed<Result>(exec, label, rows, padded_columns(columns));
  return Kokkos::subview(padded, Kokkos::ALL, std::make_pair(std::size_t{0}, columns));
}

namespace detail {

/// True where A has so many columns, and rows padded as make_matrix pads them.
template <class MatrixType>
bool is_padded(MatrixType const& A, std::size_t columns) {
  return A.extent(1) == columns && (A.extent(0) < 2 || A.stride(0) == padded_columns(columns));
}

/// A with its padding as columns. Only for what make_matrix gave. Does not own the memory.
template <class MatrixType>
MatrixType with_padding(MatrixType const& A) {
  return MatrixType(A.data(), A.extent(0), padded_columns(A.extent(1)));
}

/// to(i, r) = from(r, i). An item is an entry of `to`, in its order.
template <class From, class To = From>
struct TransposeMatrix {
  From from;
  To to;
  KOKKOS_FUNCTION void operator()(std::uint64_t item) const {
    std::uint64_t const i = item / to.extent(1), r = item % to.extent(1);
    to(i, r) = static_cast<typename To::value_type>(from(r, i));
  }
};

}  // namespace detail

/// A copy of A, a rank-2 View of any layout and memory space, in the memory space of exec, padded
/// as make_matrix does. Fences exec.
template <class ExecutionSpace, class Source>
auto copy_matrix(ExecutionSpace const& exec, Source const& A) {
  using Scalar = typename Source::non_const_value_type;
  using SourceSpace = typename Source::memory_space;
  auto const target = make_matrix<Scalar>(exec, "sporades::matrix::copy", A.extent(0), A.extent(1));
  if constexpr (Kokkos::SpaceAccessibility<ExecutionSpace, SourceSpace>::accessible) {
    detail::copy_view(exec, target, A);
  } else {  // strided rows cross memory spaces only as a contiguous block
    detail::fence_source<SourceSpace>(exec, "sporades::matrix::source");
    using Contiguous = Matrix<Scalar, SourceSpace>;
    typename SourceSpace::execution_space const there{};
    auto const packed = detail::uninitialized<Contiguous>(there, "sporades::matrix::pack",
                                                          A.extent(0), A.extent(1));
    detail::copy_view(there, packed, A);
    there.fence();
    auto const arrived =
        detail::uninitialized<Matrix<Scalar, typename ExecutionSpace::memory_space>>(
            exec, "sporades::matrix::unpack", A.extent(0), A.extent(1));
    detail::copy_view(exec, arrived, packed);
    detail::copy_view(exec, target, arrived);
  }
  exec.fence();
  return target;
}

/// A matrix of the caller's as the kernels take factors: a rank-2 View of any layout and memory
/// space, managed or not, const or not. It is used without a copy where it is row-major
/// (Kokkos::LayoutRight), not const and in the memory space of exec; then it must outlive its use.
/// Anything else is copied as copy_matrix does, which fences exec. The kernels take both. Padded
/// rows, as a copy has them, are faster where R is not a multiple of four, and ttm_chain needs
/// them.
template <class ExecutionSpace, class Given>
auto make_factor(ExecutionSpace const& exec, Given const& A) {
  static_assert(Kokkos::is_view<Given>::value, "make_factor takes a Kokkos::View of rank 2");
  if constexpr (Kokkos::is_view<Given>::value) {
    static_assert(int(Given::rank) == 2, "make_factor takes a Kokkos::View of rank 2");
    using Factor =
        Matrix<typename Given::non_const_value_type, typename ExecutionSpace::memory_space>;
    if constexpr (int(Given::rank) != 2)
      return Factor();
    else if constexpr (std::is_same_v<typename Given::memory_space,
                                      typename Factor::memory_space> &&
                       std::is_same_v<typename Given::array_layout, Kokkos::LayoutRight> &&
                       std::is_same_v<typename Given::value_type, typename Factor::value_type>)
      return Factor(A);
    else
      return Factor(copy_matrix(exec, A));
  }
}

/// make_factor of each matrix of a list: a vector or an array of Views, one a mode. Gives a
/// std::vector, as the kernels take factors. Fences exec where it copies.
template <class ExecutionSpace, class List>
auto make_factors(ExecutionSpace const& exec, List const& matrices) {
  static_assert(!Kokkos::is_view<List>::value,
                "make_factors takes a list of matrices, one a mode: make_factor takes one matrix");
  if constexpr (!Kokkos::is_view<List>::value) {
    using Factor = decltype(make_factor(exec, *std::begin(matrices)));
    std::vector<Factor> factors;
    for (auto const& A : matrices) factors.push_back(make_factor(exec, A));
    return factors;
  }
}

/// Copies a factor into a rank-2 View of the caller's, of any layout and memory space. Fences exec.
/// Throws Error if the shapes differ.
template <class ExecutionSpace, class Factor, class Target>
void copy_factor(ExecutionSpace const& exec, Factor const& A, Target const& target) {
  constexpr bool are_views = Kokkos::is_view<Target>::value && Kokkos::is_view<Factor>::value;
  static_assert(are_views, "copy_factor takes a factor and a Kokkos::View of rank 2");
  if constexpr (are_views) {
    constexpr bool is_target = int(Target::rank) == 2 && int(Factor::rank) == 2 &&
                               !std::is_const_v<typename Target::value_type>;
    static_assert(is_target,
                  "copy_factor takes a factor and a Kokkos::View of rank 2 that is not const");
    if constexpr (is_target) {
      expects(A.extent(0) == target.extent(0) && A.extent(1) == target.extent(1),
              "copy_factor: ", A.extent(0), " x ", A.extent(1), " numbers into a View of ",
              target.extent(0), " x ", target.extent(1));
      using Space = typename Target::memory_space;
      if constexpr (Kokkos::SpaceAccessibility<ExecutionSpace, Space>::accessible &&
                    Kokkos::SpaceAccessibility<ExecutionSpace,
                                               typename Factor::memory_space>::accessible) {
        detail::copy_view(exec, target, A);
      } else {
        exec.fence();
        typename Space::execution_space const there{};
        detail::copy_view(there, target, copy_matrix(there, A));
        there.fence();
      }
      exec.fence();
    }
  }
}

namespace detail {

/// A contiguous matrix itself where the host can reach it, else one of its shape on the host, its
/// entries undefined.
template <class MatrixType>
auto mirror_on_host(MatrixType const& A) {
  using Host = Matrix<typename MatrixType::non_const_value_type, Kokkos::HostSpace>;
  using Space = typename MatrixType::memory_space;
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible)
    return Host(A.data(), A.extent(0), A.extent(1));
  else
    return Host(Kokkos::view_alloc(Kokkos::WithoutInitializing, "sporades::matrix::on_host"),
                A.extent(0), A.extent(1));
}

/// A copy of a contiguous vector, and copies of matrices, in the memory space of exec. Fence exec.
template <class ExecutionSpace, class Source>
auto copy_vector(ExecutionSpace const& exec, std::string const& label, Source const& x) {
  using Result =
      Vector<typename Source::non_const_value_type, typename ExecutionSpace::memory_space>;
  fence_source<typename Source::memory_space>(exec, label);
  auto const copy = uninitialized<Result>(exec, label, x.extent(0));
  copy_view(exec, copy, x);
  fence(exec, label);
  return copy;
}
template <class ExecutionSpace, class Scalar, class MemorySpace>
auto copy_matrices(ExecutionSpace const& exec, Factors<Scalar, MemorySpace> const& matrices) {
  Factors<Scalar, typename ExecutionSpace::memory_space> copies;
  for (auto const& A : matrices) copies.push_back(copy_matrix(exec, A));
  return copies;
}

/// The entries of A on the host, row by row, without padding. Only for what make_matrix gave.
/// Fences exec.
template <class ExecutionSpace, class MatrixType>
auto entries_of(ExecutionSpace const& exec, MatrixType const& A) {
  auto const padded = with_padding(A);
  auto const host = mirror_on_host(padded);
  copy_view(exec, host, padded);
  fence(exec, "sporades::matrix::entries_of");
  std::vector<typename MatrixType::non_const_value_type> entries;
  entries.reserve(A.extent(0) * A.extent(1));
  for (std::size_t i = 0; i < A.extent(0); ++i)
    entries.insert(entries.end(), &host(i, 0), &host(i, 0) + A.extent(1));
  return entries;
}

/// The rows x columns matrix (see make_matrix) of these entries, row by row. Fences exec.
/// Throws Error if there are not that many.
template <class ExecutionSpace, class Scalar>
auto matrix_of(ExecutionSpace const& exec, std::string const& label,
               std::vector<Scalar> const& entries, std::size_t rows, std::size_t columns) {
  expects(entries.size() == rows * columns, label, ": ", entries.size(), " entries are not ", rows,
          " x ", columns);
  auto const A = make_matrix<Scalar>(exec, label, rows, columns);
  auto const padded = with_padding(A);
  auto const host = mirror_on_host(padded);
  fence(exec, "sporades::matrix::matrix_of");  // the host may be the device
  for (std::size_t i = 0; i < rows; ++i) {
    std::copy_n(entries.data() + i * columns, columns, &host(i, 0));
    std::fill(&host(i, 0) + columns, &host(i, 0) + padded.extent(1), Scalar{0});
  }
  copy_view(exec, padded, host);
  fence(exec, "sporades::matrix::matrix_of");
  return A;
}

}  // namespace detail
}  // namespace sporades
