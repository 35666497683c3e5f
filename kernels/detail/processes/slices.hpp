// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/mttkrp/choice.hpp>
#include <sporades/kernels/detail/processes/row_parts.hpp>
#include <sporades/kernels/detail/processes/share_rows.hpp>
#include <sporades/kernels/mttkrp_plan.hpp>

/// Slices: equally many nonzeros each, consecutive in the order of one mode's rows. The nonzeros of
/// the other modes are sorted by slices first and then by rows. What a slice adds to a row is a
/// part of it; a binary tree adds the parts. So processes that have whole slices read few rows of
/// the sliced mode, and move rows of the others instead, as in the medium-grained distribution of
/// Smith & Karypis (IPDPS 2016). It depends on the tensor alone, so that one process has the same
/// bits.

namespace sporades::detail {

inline constexpr int most_slices = 64;

/// Where slices begin and end in the order of the sliced mode's rows: as even_cuts of as many
/// processes.
template <class ExecutionSpace>
std::vector<Position> slice_cuts(int slices, Position nnz) {
  return even_cuts(slices, nnz, block_length<ExecutionSpace>(nnz));
}

/// to <- from with one mode more, which is the slice of the nonzero.
template <class Coordinates>
struct NameSlices {
  Coordinates from, to;  // N x nnz, N + 1 x nnz
  Kokkos::Array<Position, most_slices + 1> cuts;
  Position first;  // of all nonzeros in that order, that one here

  KOKKOS_FUNCTION void operator()(Position p) const {
    std::size_t const N = from.extent(0);
    for (std::size_t m = 0; m < N; ++m) to(m, p) = from(m, p);
    int slice = 0;
    while (cuts[slice + 1] <= first + p) ++slice;
    to(N, p) = static_cast<typename Coordinates::non_const_value_type>(slice);
  }
};

/// X with the slices of its nonzeros as one mode more. X: in the order of the sliced mode's rows;
/// its nonzeros are those from number `first` on of all. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> with_slices(ExecutionSpace const& exec,
                                                  CooTensor<Scalar, Index, MemorySpace> const& X,
                                                  std::vector<Position> const& cuts,
                                                  Position first) {
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;
  Dims dims = X.dims;
  dims.push_back(cuts.size() - 1);
  Tensor result{dims,
                uninitialized<typename Tensor::Coordinates>(exec, "sporades::slices::coordinates",
                                                            dims.size(), X.nnz()),
                X.values,
                {}};
  NameSlices<typename Tensor::Coordinates> kernel{X.coordinates, result.coordinates, {}, first};
  std::copy(cuts.begin(), cuts.end(), &kernel.cuts[0]);
  launch_items(exec, "sporades::slices::name", X.nnz(), kernel);
  fence(exec, "sporades::slices::name");
  return result;
}

/// Where the rows begin that each of so many processes owns, from where those begin that are best
/// owned with each slice, and end: the processes share the slices evenly.
inline std::vector<std::uint64_t> begins_of_slice_rows(int processes,
                                                       std::vector<std::uint64_t> const& slices) {
  auto const P = static_cast<std::uint64_t>(processes), S = slices.size() - 1;
  std::vector<std::uint64_t> begins;
  for (std::uint64_t p = 0; p < P; ++p) {
    std::uint64_t const s = p * S / P, part = p * S % P;
    begins.push_back(slices[s] + (slices[s + 1] - slices[s]) / P * part);
  }
  return begins;
}

/// The order of mode n's nonzeros: by slices, rows, and the other modes.
inline std::vector<int> sliced_order(Dims const& dims, int n) {
  auto modes = mttkrp_mode_order(dims, n);
  modes.insert(modes.begin(), static_cast<int>(dims.size()));
  return modes;
}

/// to <- from without its last mode, the slice, and with the number of the part in mode n.
template <class Coordinates>
struct NumberParts {
  CompareNonzeros<Coordinates> compare;
  DistributedRuns<typename Coordinates::memory_space> parts;
  Coordinates from, to;
  Kokkos::View<std::uint64_t*, typename Coordinates::memory_space> rows;    // of parts
  Kokkos::View<std::uint32_t*, typename Coordinates::memory_space> slices;  // of parts
  int n;

  KOKKOS_FUNCTION void operator()(Position p) const {
    bool const begins = compare.begins_run(p);
    Position const number = parts.here.before(p) - (begins ? 0 : 1);
    for (std::size_t m = 0; m < to.extent(0); ++m) to(m, p) = from(m, p);
    to(n, p) = static_cast<typename Coordinates::non_const_value_type>(parts.first + number);
    if (!begins) return;
    rows(number) = from(n, p);
    slices(number) = static_cast<std::uint32_t>(from(to.extent(0), p));
  }
};

/// Nonzeros in the order of mode n's parts, which are numbered among those of all processes.
template <class Scalar, class Index, class MemorySpace>
struct NumberedParts {
  CooTensor<Scalar, Index, MemorySpace> nonzeros;    // with the parts' numbers in mode n
  Kokkos::View<std::uint64_t*, MemorySpace> rows;    // of the parts that begin here
  Kokkos::View<std::uint32_t*, MemorySpace> slices;  // of the parts that begin here
};

/// X: of with_slices and in sliced_order for mode n; `parts` are its runs by slice and row.
/// Enqueued on exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
NumberedParts<Scalar, Index, MemorySpace> number_parts(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X, int n,
    DistributedRuns<MemorySpace> const& parts) {
  using Coordinates = typename CooTensor<Scalar, Index, MemorySpace>::Coordinates;
  NumberedParts<Scalar, Index, MemorySpace> result;
  result.rows =
      uninitialized<decltype(result.rows)>(exec, "sporades::slices::rows", parts.here.count);
  result.slices =
      uninitialized<decltype(result.slices)>(exec, "sporades::slices::slices", parts.here.count);
  Dims const dims(X.dims.begin(), X.dims.end() - 1);
  result.nonzeros = {
      dims, uninitialized<Coordinates>(exec, "sporades::slices::coordinates", dims.size(), X.nnz()),
      X.values, std::vector<int>(X.sorted_modes.begin() + 1, X.sorted_modes.end())};
  launch_items(exec, "sporades::slices::number_parts", X.nnz(),
               NumberParts<Coordinates>{{X.coordinates, {X.order() - 1, n}},
                                        parts,
                                        X.coordinates,
                                        result.nonzeros.coordinates,
                                        result.rows,
                                        result.slices,
                                        n});
  if (parts.continues) {
    auto const begun = std::make_pair(Position{1}, parts.here.count);
    result.rows = Kokkos::subview(result.rows, begun);
    result.slices = Kokkos::subview(result.slices, begun);
  }
  return result;
}

/// named: the nonzeros that the process brings, of with_slices. cuts: see sorted_across.
/// Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
NumberedParts<Scalar, Index, MemorySpace> share_parts(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> const& named, int n, std::vector<Position> const& cuts) {
  Dims const dims(named.dims.begin(), named.dims.end() - 1);
  auto const X = sorted_across(processes, exec, named, sliced_order(dims, n), cuts);
  auto const runs = number_distributed_runs(processes, exec, X, {X.order() - 1, n});
  auto const result = number_parts(exec, X, n, runs);
  fence(exec, "sporades::slices::share_parts");
  return result;
}

}  // namespace sporades::detail
