// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/scan.hpp>
#include <sporades/core/detail/sort.hpp>
#include <sporades/formats/coo_tensor.hpp>

namespace sporades {

/// A tensor with each coordinate once, and how many nonzeros were added to another.
template <class Tensor>
struct SummedDuplicates {
  Tensor tensor;
  Position merged;
};

namespace detail {

/// A few bits of the coordinates, put side by side. Each part is one mode's index, shifted left, or
/// right where the shift is negative.
template <class Coordinates>
struct CoordinateWindow {
  Coordinates coordinates;  // N x nnz
  int parts;
  int mode[max_order];
  int shift[max_order];
  std::uint64_t mask;

  KOKKOS_FUNCTION std::uint64_t operator()(Position p) const {
    std::uint64_t bits = 0;
    for (int k = 0; k < parts; ++k) {
      std::uint64_t const index = coordinates(mode[k], p);
      bits |= shift[k] >= 0 ? index << shift[k] : index >> -shift[k];
    }
    return bits & mask;
  }
};

/// The coordinates as one long key: all modes' index bits, slowest mode most significant.
template <class Coordinates>
struct CoordinateKey {
  Coordinates coordinates;
  std::vector<int> bits;    // of each mode
  std::vector<int> offset;  // of each mode: its lowest bit's place in the key

  CoordinateWindow<Coordinates> window(int begin, int width) const {
    CoordinateWindow<Coordinates> result{coordinates, 0, {}, {}, low_bits(width)};
    for (std::size_t n = 0; n < bits.size(); ++n) {
      if (bits[n] == 0 || offset[n] >= begin + width || offset[n] + bits[n] <= begin) continue;
      result.mode[result.parts] = static_cast<int>(n);
      result.shift[result.parts++] = offset[n] - begin;
    }
    return result;
  }
};

/// How to get from one order of the nonzeros to another.
struct Reordering {
  std::vector<int> modes;  // the new order, known as far as it goes
  int compared;            // so many of them must be compared; the old order gives the others
};

/// A stable sort by some modes leaves the old order of the other modes inside equal ones; so the
/// fewest modes are compared after which the old order is what is wanted.
inline Reordering plan_reordering(std::vector<int> const& present, std::vector<int> const& wanted) {
  for (std::size_t compared = 0;; ++compared) {
    std::vector<int> modes(wanted.begin(), wanted.begin() + compared);
    for (int mode : present)
      if (std::find(modes.begin(), modes.begin() + compared, mode) == modes.begin() + compared)
        modes.push_back(mode);
    if (modes.size() >= wanted.size() && std::equal(wanted.begin(), wanted.end(), modes.begin()))
      return {modes, static_cast<int>(compared)};
  }
}

inline void check_modes(std::vector<int> const& modes, int order, char const* where) {
  std::vector<bool> listed(order, false);
  for (int mode : modes) {
    expects(0 <= mode && mode < order, where, ": mode ", mode, " of a tensor of order ", order);
    expects(!listed[mode], where, ": mode ", mode, " is listed twice");
    listed[mode] = true;
  }
}

/// The nonzeros in their new order, and the key whose bits their words hold.
template <class Tensor>
struct SortedNonzeros {
  SortedWords<typename Tensor::MemorySpace> order;
  CoordinateKey<typename Tensor::Coordinates> key;
};

template <class ExecutionSpace, class Tensor>
SortedNonzeros<Tensor> sort_nonzeros(ExecutionSpace const& exec, Tensor const& X,
                                     Reordering const& reordering, SortAlgorithm algorithm) {
  static_assert(std::is_same_v<typename ExecutionSpace::memory_space, typename Tensor::MemorySpace>,
                "the tensor lies in the memory space of the execution space: see copy_to");
  auto all = reordering.modes;  // and the others: not compared, but carried in the words
  for (int n = 0; n < X.order(); ++n)
    if (std::find(all.begin(), all.end(), n) == all.end()) all.push_back(n);
  CoordinateKey<typename Tensor::Coordinates> key{X.coordinates, std::vector<int>(X.order()),
                                                  std::vector<int>(X.order())};
  BitRange range{0, 0};
  for (int k = X.order() - 1; k >= 0; --k) {
    if (k == reordering.compared - 1) range.begin = range.end;
    key.bits[all[k]] = index_bits(X.dims[all[k]]);
    key.offset[all[k]] = range.end;
    range.end += key.bits[all[k]];
  }
  if (reordering.compared == 0) range.begin = range.end;
  return {sort_items(exec, X.nnz(), key, range, algorithm), key};
}

/// The places of the nonzeros in the old order.
template <class MemorySpace>
struct ItemOf {
  Words<MemorySpace> words;  // nnz
  int item_bits;
  KOKKOS_FUNCTION Position operator()(Position p) const { return words(p) & low_bits(item_bits); }
};

/// One mode's indices, out of the words: no gather.
template <class MemorySpace, class Indices>
struct UnpackIndices {
  Words<MemorySpace> words;  // nnz
  Indices indices;           // nnz
  int shift;
  std::uint64_t mask;  // of the index after the shift
  KOKKOS_FUNCTION void operator()(Position p) const {
    indices(p) = static_cast<typename Indices::non_const_value_type>((words(p) >> shift) & mask);
  }
};

template <class Tensor>
struct PermuteNonzeros {
  Permutation<typename Tensor::MemorySpace> permutation;  // nnz
  typename Tensor::Coordinates from;                      // N x nnz
  typename Tensor::Coordinates to;                        // N x nnz
  typename Tensor::Values values_from;                    // nnz
  typename Tensor::Values values_to;                      // nnz

  KOKKOS_FUNCTION void operator()(Position p) const {
    Position const source = permutation(p);
    for (std::size_t n = 0; n < to.extent(0); ++n) to(n, p) = from(n, source);
    values_to(p) = values_from(source);
  }
};

/// -1, 0 or 1 as nonzero p comes before, at or after nonzero q by the listed modes.
template <class Coordinates>
struct CompareNonzeros {
  Coordinates coordinates;  // N x nnz
  int modes;
  int mode[max_order];

  CompareNonzeros(Coordinates const& all, std::vector<int> const& listed)
      : coordinates(all), modes(static_cast<int>(listed.size())), mode{} {
    std::copy(listed.begin(), listed.end(), mode);
  }

  KOKKOS_FUNCTION int operator()(Position p, Position q) const {
    for (int k = 0; k < modes; ++k) {
      auto const a = coordinates(mode[k], p);
      auto const b = coordinates(mode[k], q);
      if (a != b) return a < b ? -1 : 1;
    }
    return 0;
  }
};

/// Counts the nonzeros that come before the one in front of them.
template <class Coordinates>
struct CountDescents {
  CompareNonzeros<Coordinates> compare;
  KOKKOS_FUNCTION void operator()(Position p, Position& descents) const {
    if (compare(p - 1, p) > 0) ++descents;
  }
};

/// head(p) <- 1 where nonzero p differs from the one in front of it.
template <class Coordinates>
struct MarkHeads {
  CompareNonzeros<Coordinates> compare;
  Kokkos::View<Position*, typename Coordinates::memory_space> head;  // nnz
  KOKKOS_FUNCTION void operator()(Position p) const {
    head(p) = p == 0 || compare(p - 1, p) != 0 ? 1 : 0;
  }
};

/// Each first of equal nonzeros adds them all up, in order and in double.
template <class Tensor>
struct SumRuns {
  CompareNonzeros<typename Tensor::Coordinates> compare;
  Kokkos::View<Position*, typename Tensor::MemorySpace> place;  // nnz: heads in front of p
  typename Tensor::Coordinates from;                            // N x nnz
  typename Tensor::Coordinates to;                              // N x distinct nonzeros
  typename Tensor::Values values_from;                          // nnz
  typename Tensor::Values values_to;                            // distinct nonzeros

  KOKKOS_FUNCTION void operator()(Position p) const {
    if (p != 0 && compare(p - 1, p) == 0) return;
    auto sum = static_cast<double>(values_from(p));
    for (Position q = p + 1; q < values_from.extent(0) && compare(p, q) == 0; ++q)
      sum += static_cast<double>(values_from(q));
    values_to(place(p)) = static_cast<typename Tensor::Scalar>(sum);
    for (std::size_t n = 0; n < to.extent(0); ++n) to(n, place(p)) = from(n, p);
  }
};

/// The permutation that sorts the nonzeros lexicographically by these modes, slowest first; stable,
/// so that a list of some modes keeps the order inside equal ones. permutation(p') = p.
/// X's indices are trusted: check_coordinates checks them. Where X.sorted_modes helps, fewer bits
/// are compared. Enqueued on exec, does not fence. Throws Error if a mode is not in [0, N) or
/// listed twice.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Permutation<MemorySpace> sort_permutation(ExecutionSpace const& exec,
                                          CooTensor<Scalar, Index, MemorySpace> const& X,
                                          std::vector<int> const& modes,
                                          SortAlgorithm algorithm = SortAlgorithm::automatic) {
  check_modes(modes, X.order(), "sort_permutation");
  auto const reordering = plan_reordering(X.sorted_modes, modes);
  return unpack_items(exec, sort_nonzeros(exec, X, reordering, algorithm).order);
}

/// The tensor whose nonzero p' is X's nonzero permutation(p'); its order counts as unknown.
/// Enqueued on exec, does not fence. Throws Error if there is not one entry a nonzero.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> permuted(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
    Permutation<typename ExecutionSpace::memory_space> const& permutation) {
  expects(permutation.extent(0) == X.nnz(), "permuted: a permutation of ", permutation.extent(0),
          " entries, the tensor has ", X.nnz(), " nonzeros");
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;
  Tensor const Y = allocate_coo<Scalar, Index>(exec, X.dims, X.nnz());
  Kokkos::parallel_for(
      "sporades::sort::permute_nonzeros",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>(exec, 0, X.nnz()),
      PermuteNonzeros<Tensor>{permutation, X.coordinates, Y.coordinates, X.values, Y.values});
  return Y;
}

}  // namespace detail

/// X sorted lexicographically by these modes, slowest first; stable. The same Views where X is
/// known to be sorted so. Sorting by one mode what is sorted by all others compares that mode only.
/// X's indices are trusted: check_coordinates checks them.
/// Enqueued on exec, does not fence. Throws Error if a mode is not in [0, N) or listed twice.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> sorted(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
    std::vector<int> const& modes,
    detail::SortAlgorithm algorithm = detail::SortAlgorithm::automatic) {
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;
  detail::check_modes(modes, X.order(), "sorted");
  auto const reordering = detail::plan_reordering(X.sorted_modes, modes);
  if (reordering.compared == 0) return X;
  auto const nonzeros = detail::sort_nonzeros(exec, X, reordering, algorithm);
  Tensor Y = detail::allocate_coo<Scalar, Index>(exec, X.dims, X.nnz());
  auto const& words = nonzeros.order.words;
  int const item_bits = nonzeros.order.item_bits;
  detail::ItemOf<MemorySpace> const order{words, item_bits};
  Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>> const all(exec, 0, X.nnz());
  for (int n = 0; n < X.order(); ++n) {
    auto const indices = Kokkos::subview(Y.coordinates, n, Kokkos::ALL);
    using Indices = std::decay_t<decltype(indices)>;
    int const bit = nonzeros.key.offset[n] - nonzeros.order.first_bit;
    int const bits = nonzeros.key.bits[n];
    if (bits == 0 || bit >= 0)  // the words hold the whole index
      Kokkos::parallel_for(
          "sporades::sort::unpack_indices", all,
          detail::UnpackIndices<MemorySpace, Indices>{
              words, indices, bits == 0 ? 0 : item_bits + bit, detail::low_bits(bits)});
    else
      Kokkos::parallel_for("sporades::sort::gather_indices", all,
                           detail::Gather<Indices, Indices, detail::ItemOf<MemorySpace>>{
                               Kokkos::subview(X.coordinates, n, Kokkos::ALL), indices, order});
  }
  Kokkos::parallel_for(
      "sporades::sort::gather_values", all,
      detail::Gather<typename Tensor::Values, typename Tensor::Values, detail::ItemOf<MemorySpace>>{
          X.values, Y.values, order});
  Y.sorted_modes = reordering.modes;
  return Y;
}

/// Whether the nonzeros are in lexicographic order by these modes, slowest first, as they lie (not
/// as X.sorted_modes says). Fences exec. Throws Error if a mode is not in [0, N) or listed twice.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
bool is_sorted(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
               std::vector<int> const& modes) {
  using Coordinates = typename CooTensor<Scalar, Index, MemorySpace>::Coordinates;
  detail::check_modes(modes, X.order(), "is_sorted");
  if (X.nnz() < 2) return true;
  Position descents = 0;
  Kokkos::parallel_reduce(
      "sporades::sort::count_descents",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>(exec, 1, X.nnz()),
      detail::CountDescents<Coordinates>{{X.coordinates, modes}}, descents);
  detail::fence(exec, "sporades::sort::is_sorted");
  return descents == 0;
}

/// X sorted by modes 0 to N-1 with each coordinate once; values of equal coordinates are added in
/// the order in which they came, so that the sum is the same on every backend and thread count, and
/// in double, so that only the sum itself is rounded to Scalar. Sums that are zero stay. X's
/// indices are trusted: check_coordinates checks them. The memory of an X that is handed over is
/// given back as soon as it is sorted. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
SummedDuplicates<CooTensor<Scalar, Index, MemorySpace>> sum_duplicates(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> X) {
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;
  using Range = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>;
  std::vector<int> modes;
  for (int n = 0; n < X.order(); ++n) modes.push_back(n);
  Tensor const Y = sorted(exec, X, modes);
  X = {};
  detail::CompareNonzeros<typename Tensor::Coordinates> const compare(Y.coordinates, modes);
  auto const place = detail::uninitialized<Kokkos::View<Position*, MemorySpace>>(
      exec, "sporades::sort::heads", Y.nnz());
  Kokkos::parallel_for("sporades::sort::mark_heads", Range(exec, 0, Y.nnz()),
                       detail::MarkHeads<typename Tensor::Coordinates>{compare, place});
  Position const distinct = detail::exclusive_scan_total(exec, place);
  if (distinct == Y.nnz()) return {Y, 0};
  Tensor Z = detail::allocate_coo<Scalar, Index>(exec, Y.dims, distinct);
  Kokkos::parallel_for(
      "sporades::sort::sum_runs", Range(exec, 0, Y.nnz()),
      detail::SumRuns<Tensor>{compare, place, Y.coordinates, Z.coordinates, Y.values, Z.values});
  Z.sorted_modes = modes;
  detail::fence(exec, "sporades::sort::sum_duplicates");
  return {Z, Y.nnz() - distinct};
}

}  // namespace sporades
