// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/launch.hpp>
#include <sporades/core/detail/scan.hpp>
#include <sporades/core/detail/sort.hpp>
#include <sporades/formats/detail/modes.hpp>
#include <sporades/formats/sort_coo.hpp>

namespace sporades {
namespace detail {

/// Some bits of a nonzero's key (see CoordinateKey). Each part is one mode's index, shifted left,
/// or right if the shift is negative.
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

/// A nonzero's coordinates as one long key: the bits of all modes' indices side by side, those of
/// the slowest mode on top. The key may be longer than a word, and is never stored as a whole.
template <class Coordinates>
struct CoordinateKey {
  Coordinates coordinates;
  std::vector<int> bits;    // of each mode
  std::vector<int> offset;  // of each mode: the place of its lowest bit in the key

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
  std::vector<int> modes;  // the new order, as far as it is known
  int compared;            // the sort compares this many of them; the old order gives the others
};

/// The cheapest way from the order `present` to the order `wanted`. A stable sort by some modes
/// keeps the old order of nonzeros that agree in them. So it compares the first modes of `wanted`
/// only: the fewest after which the old order is the wanted one.
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

/// The nonzeros in their new order, as sorted words, and the key whose bits the words hold.
template <class Tensor>
struct SortedNonzeros {
  SortedWords<typename Tensor::MemorySpace> order;
  CoordinateKey<typename Tensor::Coordinates> key;
};

template <class ExecutionSpace, class Tensor>
SortedNonzeros<Tensor> sort_nonzeros(ExecutionSpace const& exec, Tensor const& X,
                                     Reordering const& reordering, SortAlgorithm algorithm) {
  static_assert(
      std::is_same_v<typename ExecutionSpace::memory_space, typename Tensor::MemorySpace>,
      "The tensor must be in the memory space of the execution space: copy_to(exec, X) copies "
      "it there.");
  // The bits of the other modes are not compared, but carried in the words as far as they fit.
  auto const all = with_other_modes(reordering.modes, X.order());
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

/// The place that a nonzero of the new order had in the old one.
template <class MemorySpace>
struct ItemOf {
  Words<MemorySpace> words;  // nnz
  int item_bits;
  KOKKOS_FUNCTION Position operator()(Position p) const { return words(p) & low_bits(item_bits); }
};

/// The indices of nonzeros in the new order: those that the sorted words hold from there, which
/// saves a gather, the others from the old order.
template <class Coordinates>
struct SortedIndices {
  using memory_space = typename Coordinates::memory_space;
  using Index = typename Coordinates::non_const_value_type;

  Words<memory_space> words;  // nnz
  Coordinates from;           // N x nnz
  int item_bits;
  Kokkos::Array<int, max_order> shift;  // of a mode's index in a word; -1 if it is not there
  Kokkos::Array<std::uint64_t, max_order> mask;  // of the index after the shift

  KOKKOS_FUNCTION Index operator()(int n, Position p) const {
    std::uint64_t const word = words(p);
    if (shift[n] < 0) return from(n, word & low_bits(item_bits));
    return static_cast<Index>(word >> shift[n] & mask[n]);
  }
};

template <class Tensor>
SortedIndices<typename Tensor::Coordinates> sorted_indices(Tensor const& X,
                                                           SortedNonzeros<Tensor> const& nonzeros) {
  auto const& order = nonzeros.order;
  SortedIndices<typename Tensor::Coordinates> indices{
      order.words, X.coordinates, order.item_bits, {}, {}};
  for (int n = 0; n < X.order(); ++n) {
    int const bits = nonzeros.key.bits[n], bit = nonzeros.key.offset[n] - order.first_bit;
    indices.mask[n] = low_bits(bits);
    indices.shift[n] = bits == 0 ? 0 : bit >= 0 ? order.item_bits + bit : -1;
  }
  return indices;
}

/// Writes one mode's indices.
template <class Indices, class Coordinates>
struct WriteIndices {
  Indices from;
  Coordinates to;  // N x nnz
  int n;
  KOKKOS_FUNCTION void operator()(Position p) const { to(n, p) = from(n, p); }
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

/// Compares nonzeros by the listed modes, slowest first: -1, 0 or 1 as nonzero p is before, equal
/// to or after nonzero q. A run is a maximal range of consecutive nonzeros that are equal.
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
  KOKKOS_FUNCTION bool begins_run(Position p) const { return p == 0 || (*this)(p - 1, p) != 0; }
};

/// Counts the nonzeros that are before their predecessor.
template <class Coordinates>
struct CountDescents {
  CompareNonzeros<Coordinates> compare;
  KOKKOS_FUNCTION void operator()(Position p, Position& descents) const {
    if (compare(p - 1, p) > 0) ++descents;
  }
};

template <class Coordinates>
struct CountBegunRuns {
  CompareNonzeros<Coordinates> compare;
  KOKKOS_FUNCTION void operator()(Position p, Position& runs) const {
    if (compare.begins_run(p)) ++runs;
  }
};

/// The number of runs among nnz nonzeros. Fences exec.
template <class ExecutionSpace, class Coordinates>
Position count_runs(ExecutionSpace const& exec, std::string const& label,
                    CompareNonzeros<Coordinates> const& compare, Position nnz) {
  Position runs = 0;
  Kokkos::parallel_reduce(label, Range<ExecutionSpace>(exec, 0, nnz),
                          CountBegunRuns<Coordinates>{compare}, runs);
  return runs;
}

/// begins(p) <- 1 if nonzero p begins a run, else 0.
template <class Coordinates>
struct MarkRuns {
  CompareNonzeros<Coordinates> compare;
  Kokkos::View<Position*, typename Coordinates::memory_space> begins;  // nnz
  KOKKOS_FUNCTION void operator()(Position p) const { begins(p) = compare.begins_run(p) ? 1 : 0; }
};

/// The runs of a sorted tensor, numbered from 0.
template <class MemorySpace>
struct RunNumbers {
  Kokkos::View<Position*, MemorySpace> before;  // nnz: runs that begin before nonzero p
  Position count;
};

/// Numbers the runs among nnz nonzeros. Fences exec.
template <class ExecutionSpace, class Coordinates>
RunNumbers<typename Coordinates::memory_space> number_runs(
    ExecutionSpace const& exec, CompareNonzeros<Coordinates> const& compare, Position nnz) {
  auto const before = uninitialized<Kokkos::View<Position*, typename Coordinates::memory_space>>(
      exec, "sporades::sort::runs_before", nnz);
  launch_items(exec, "sporades::sort::mark_runs", nnz, MarkRuns<Coordinates>{compare, before});
  return {before, exclusive_scan_total(exec, before)};
}

/// The sum of the values of the run that nonzero p begins, in order and in double.
template <class Coordinates, class Values>
KOKKOS_INLINE_FUNCTION double sum_of_run(CompareNonzeros<Coordinates> const& compare,
                                         Values const& values, Position p) {
  auto sum = static_cast<double>(values(p));
  for (Position q = p + 1; q < values.extent(0) && compare(p, q) == 0; ++q)
    sum += static_cast<double>(values(q));
  return sum;
}

/// The first nonzero of each run stores its coordinates and the sum of the run's values.
template <class Tensor>
struct SumRuns {
  CompareNonzeros<typename Tensor::Coordinates> compare;
  Kokkos::View<Position*, typename Tensor::MemorySpace> before;  // nnz: runs that begin before p
  typename Tensor::Coordinates from;                             // N x nnz
  typename Tensor::Coordinates to;                               // N x distinct nonzeros
  typename Tensor::Values values_from;                           // nnz
  typename Tensor::Values values_to;                             // distinct nonzeros

  KOKKOS_FUNCTION void operator()(Position p) const {
    if (!compare.begins_run(p)) return;
    values_to(before(p)) =
        static_cast<typename Tensor::Scalar>(sum_of_run(compare, values_from, p));
    for (std::size_t n = 0; n < to.extent(0); ++n) to(n, before(p)) = from(n, p);
  }
};

/// The permutation that sorts X as sorted() does: permutation(p') = p. Enqueued on exec, does not
/// fence. Throws Error for a bad list of modes.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Permutation<MemorySpace> sort_permutation(ExecutionSpace const& exec,
                                          CooTensor<Scalar, Index, MemorySpace> const& X,
                                          std::vector<int> const& modes,
                                          SortAlgorithm algorithm = SortAlgorithm::automatic) {
  check_modes(modes, X.order(), "sort_permutation");
  auto const reordering = plan_reordering(X.sorted_modes, modes);
  return unpack_items(exec, sort_nonzeros(exec, X, reordering, algorithm).order);
}

/// The tensor whose nonzero p' is X's nonzero permutation(p'). Its sorted_modes are empty.
/// Enqueued on exec, does not fence. Throws Error unless the permutation has nnz entries.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> permuted(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
    Permutation<typename ExecutionSpace::memory_space> const& permutation) {
  expects(permutation.extent(0) == X.nnz(), "permuted: a permutation of ", permutation.extent(0),
          " entries, the tensor has ", X.nnz(), " nonzeros");
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;
  Tensor const Y = allocate_coo<Scalar, Index>(exec, X.dims, X.nnz());
  launch_items(
      exec, "sporades::sort::permute_nonzeros", X.nnz(),
      PermuteNonzeros<Tensor>{permutation, X.coordinates, Y.coordinates, X.values, Y.values});
  return Y;
}

/// sorted, by this algorithm.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> sorted_by(ExecutionSpace const& exec,
                                                CooTensor<Scalar, Index, MemorySpace> const& X,
                                                std::vector<int> const& modes,
                                                SortAlgorithm algorithm) {
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;
  check_modes(modes, X.order(), "sorted");
  auto const reordering = plan_reordering(X.sorted_modes, modes);
  if (reordering.compared == 0) return X;
  auto const nonzeros = sort_nonzeros(exec, X, reordering, algorithm);
  Tensor Y = allocate_coo<Scalar, Index>(exec, X.dims, X.nnz());
  ItemOf<MemorySpace> const order{nonzeros.order.words, nonzeros.order.item_bits};
  auto const indices = sorted_indices(X, nonzeros);
  using Indices = std::decay_t<decltype(indices)>;
  for (int n = 0; n < X.order(); ++n)
    launch_items(exec, "sporades::sort::write_indices", X.nnz(),
                 WriteIndices<Indices, typename Tensor::Coordinates>{indices, Y.coordinates, n});
  launch_items(exec, "sporades::sort::gather_values", X.nnz(),
               Gather<typename Tensor::Values, typename Tensor::Values, ItemOf<MemorySpace>>{
                   X.values, Y.values, order});
  Y.sorted_modes = reordering.modes;
  return Y;
}

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> sorted(ExecutionSpace const& exec,
                                             CooTensor<Scalar, Index, MemorySpace> const& X,
                                             std::vector<int> const& modes) {
  return detail::sorted_by(exec, X, modes, detail::SortAlgorithm::automatic);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
bool is_sorted(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
               std::vector<int> const& modes) {
  using Coordinates = typename CooTensor<Scalar, Index, MemorySpace>::Coordinates;
  detail::check_modes(modes, X.order(), "is_sorted");
  if (X.nnz() < 2) return true;
  Position descents = 0;
  Kokkos::parallel_reduce("sporades::sort::count_descents",
                          detail::Range<ExecutionSpace>(exec, 1, X.nnz()),
                          detail::CountDescents<Coordinates>{{X.coordinates, modes}}, descents);
  detail::fence(exec, "sporades::sort::is_sorted");
  return descents == 0;
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
SummedDuplicates<CooTensor<Scalar, Index, MemorySpace>> sum_duplicates(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> X) {
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;
  std::vector<int> modes;
  for (int n = 0; n < X.order(); ++n) modes.push_back(n);
  Tensor const Y = sorted(exec, X, modes);
  X = {};
  detail::CompareNonzeros<typename Tensor::Coordinates> const compare(Y.coordinates, modes);
  auto const runs = detail::number_runs(exec, compare, Y.nnz());
  if (runs.count == Y.nnz()) return {Y, 0};
  Tensor Z = detail::allocate_coo<Scalar, Index>(exec, Y.dims, runs.count);
  detail::launch_items(exec, "sporades::sort::sum_runs", Y.nnz(),
                       detail::SumRuns<Tensor>{compare, runs.before, Y.coordinates, Z.coordinates,
                                               Y.values, Z.values});
  Z.sorted_modes = modes;
  detail::fence(exec, "sporades::sort::sum_duplicates");
  return {Z, Y.nnz() - runs.count};
}

// What is no CooTensor is refused.
template <class ExecutionSpace>
CooTensor<double, std::uint32_t, typename ExecutionSpace::memory_space> sorted(
    ExecutionSpace const&, detail::NotCoo, std::vector<int> const&) {
  return {};
}

template <class ExecutionSpace>
bool is_sorted(ExecutionSpace const&, detail::NotCoo, std::vector<int> const&) {
  return {};
}

template <class ExecutionSpace>
SummedDuplicates<CooTensor<double, std::uint32_t, typename ExecutionSpace::memory_space>>
sum_duplicates(ExecutionSpace const&, detail::NotCoo) {
  return {};
}

}  // namespace sporades

#include <sporades/eti/sort_coo.hpp>
