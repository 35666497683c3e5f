// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/matrix.hpp>
#include <sporades/core/types.hpp>

namespace sporades::detail {

/// A number for each entry of all factors, in one array: mode after mode, each mode's as
/// make_matrix has them. Copies share the memory.
template <class Scalar, class MemorySpace>
struct FlatFactors {
  Vector<Scalar, MemorySpace> entries;   // holds the memory; padding is 0
  Factors<Scalar, MemorySpace> factors;  // A[n]: I_n x R, its place in entries

  std::uint64_t size() const { return entries.extent(0); }
};

/// The length of such an array.
inline std::uint64_t flat_size(Dims const& dims, int rank) {
  std::uint64_t size = 0;
  for (auto const dim : dims) size += dim * padded_columns(static_cast<std::size_t>(rank));
  return size;
}

/// Zeros. Enqueued on exec.
template <class Scalar, class ExecutionSpace>
auto make_flat_factors(ExecutionSpace const& exec, std::string const& label, Dims const& dims,
                       int rank) {
  using Memory = typename ExecutionSpace::memory_space;
  std::size_t const columns = static_cast<std::size_t>(rank), padded = padded_columns(columns);
  FlatFactors<Scalar, Memory> flat;
  flat.entries = zeroed<Vector<Scalar, Memory>>(exec, label, flat_size(dims, rank));
  Scalar* place = flat.entries.data();
  for (auto const dim : dims) {
    Matrix<Scalar, Memory> const all(place, dim, padded);
    flat.factors.push_back(
        Kokkos::subview(all, Kokkos::ALL, std::make_pair(std::size_t{0}, columns)));
    place += dim * padded;
  }
  return flat;
}

}  // namespace sporades::detail
