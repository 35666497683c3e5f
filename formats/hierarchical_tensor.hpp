// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/csf_tensor.hpp>

namespace sporades {

/// The non-empty fibers of one mode: items (nonzeros, or blocks of a semi-sparse tensor) whose
/// coordinates agree in all other sparse modes, one after another. Fiber f holds the items begin(f)
/// to begin(f + 1), and item p lies at index(p) of the fibers' mode.
template <class IndexType, class MemorySpaceType>
struct Fibers {
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;
  using Coordinates = Kokkos::View<Index**, Kokkos::LayoutRight, MemorySpace>;

  static constexpr Position mark_distance = 32;

  int mode = 0;                                // n, along which the fibers run
  std::vector<int> modes;                      // the others, slowest of the fibers' order first
  Coordinates coordinates;                     // of modes: (K - 1) x fibers
  Kokkos::View<Position*, MemorySpace> begin;  // fibers + 1
  Kokkos::View<Index*, MemorySpace> index;     // items
  Kokkos::View<Position*, MemorySpace> marks;  // the fiber of every mark_distance-th item
  /// Bit p % 32 of word p / 32: item p opens a fiber, as does items(), past the last. One word more
  /// than marks.
  Kokkos::View<std::uint32_t*, MemorySpace> heads;
  Position longest = 0;  // items of the longest fiber

  Position count() const { return coordinates.extent(1); }
  Position items() const { return index.extent(0); }

  std::uint64_t storage_bytes() const {
    return (coordinates.size() + items()) * sizeof(Index) +
           (begin.extent(0) + marks.extent(0)) * sizeof(Position) +
           heads.extent(0) * sizeof(std::uint32_t);
  }
};

/// A tensor by the fibers of one mode (Ahmad et al. 2024): the last level of the hierarchy is, as
/// it lies, a matrix of fibers x I_n in compressed sparse rows: fibers.begin, fibers.index, values.
template <class ScalarType, class IndexType = std::uint32_t,
          class MemorySpaceType = Kokkos::HostSpace>
struct HierarchicalTensor {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  Dims dims;                                  // I_0 ... I_{N-1}
  Fibers<Index, MemorySpace> fibers;          // of nonzeros
  Kokkos::View<Scalar*, MemorySpace> values;  // nnz

  int order() const { return static_cast<int>(dims.size()); }
  int mode() const { return fibers.mode; }
  Position nnz() const { return values.extent(0); }

  /// A matrix in compressed sparse rows and N - 1 coordinates a fiber.
  std::uint64_t storage_words() const {
    return 2 * nnz() + fibers.begin.extent(0) + (dims.size() - 1) * fibers.count();
  }
  std::uint64_t storage_bytes() const { return fibers.storage_bytes() + nnz() * sizeof(Scalar); }
};

namespace detail {

/// At the item that opens a fiber: where it begins and its coordinates. And the marks.
template <class Index, class MemorySpace>
struct NumberFibers {
  OpensNode<MemorySpace, Index> opens;
  typename Fibers<Index, MemorySpace>::Coordinates coordinates;  // (K - 1) x fibers
  Kokkos::View<Position*, MemorySpace> begin;                    // fibers + 1
  Kokkos::View<Position*, MemorySpace> marks;
  Position distance;

  KOKKOS_FUNCTION void operator()(Position p, Position& count, bool final) const {
    bool const head = opens(p);
    if (head) ++count;
    if (!final) return;
    if (head) {
      begin(count - 1) = p;
      for (int l = 0; l < opens.depth; ++l)
        coordinates(l, count - 1) = opens.coordinates(opens.modes[l], p);
    }
    if (p % distance == 0) marks(p / distance) = count - 1;
  }
};

/// The bits of one window of mark_distance items, or past the last window.
template <class MemorySpace>
struct MarkFiberHeads {
  Kokkos::View<Position const*, MemorySpace> begin, marks;
  Kokkos::View<std::uint32_t*, MemorySpace> heads;
  Position items;

  KOKKOS_FUNCTION void operator()(Position w) const {
    static_assert(Fibers<std::uint32_t, MemorySpace>::mark_distance == 32, "A word is a window.");
    Position const first = 32 * w;
    std::uint32_t word = first == items ? 1 : 0;
    if (first < items)
      for (Position f = marks(w); f < begin.extent(0) && begin(f) < first + 32; ++f)
        if (begin(f) >= first) word |= std::uint32_t{1} << (begin(f) - first);
    heads(w) = word;
  }
};

/// The fibers of items that are sorted by all rows of coordinates, in the order that `rows` gives,
/// the last of which is the fibers' mode; `modes` names the mode of each of `rows`. Fences exec.
template <class ExecutionSpace, class Index, class MemorySpace>
Fibers<Index, MemorySpace> make_fibers(
    ExecutionSpace const& exec,
    Kokkos::View<Index**, Kokkos::LayoutRight, MemorySpace> const& coordinates,
    std::vector<int> const& rows, std::vector<int> const& modes) {
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>;
  using Positions = Kokkos::View<Position*, MemorySpace>;
  using Result = Fibers<Index, MemorySpace>;
  Position const items = coordinates.extent(1);
  Result fibers;
  fibers.mode = modes.back();
  fibers.modes.assign(modes.begin(), modes.end() - 1);
  OpensNode<MemorySpace, Index> opens{coordinates, {}, static_cast<int>(rows.size()) - 1};
  for (std::size_t l = 0; l < rows.size(); ++l) opens.modes[l] = rows[l];

  Position count = 0;
  auto const is_head = opens;
  Kokkos::parallel_reduce(
      "sporades::fibers::count", Policy(exec, 0, items),
      KOKKOS_LAMBDA(Position p, Position & sum) { sum += is_head(p) ? 1 : 0; }, count);
  fibers.coordinates = uninitialized<typename Result::Coordinates>(
      exec, "sporades::fibers::coordinates", rows.size() - 1, count);
  fibers.begin = uninitialized<Positions>(exec, "sporades::fibers::begin", count + 1);
  fibers.marks = uninitialized<Positions>(
      exec, "sporades::fibers::marks", (items + Result::mark_distance - 1) / Result::mark_distance);
  fibers.index =
      uninitialized<Kokkos::View<Index*, MemorySpace>>(exec, "sporades::fibers::index", items);
  Kokkos::deep_copy(exec, fibers.index, Kokkos::subview(coordinates, rows.back(), Kokkos::ALL));
  Kokkos::parallel_scan("sporades::fibers::number", Policy(exec, 0, items),
                        NumberFibers<Index, MemorySpace>{opens, fibers.coordinates, fibers.begin,
                                                         fibers.marks, Result::mark_distance});
  Kokkos::deep_copy(exec, Kokkos::subview(fibers.begin, count), items);
  fibers.heads = uninitialized<decltype(fibers.heads)>(exec, "sporades::fibers::heads",
                                                       fibers.marks.extent(0) + 1);
  Kokkos::parallel_for(
      "sporades::fibers::heads", Policy(exec, 0, fibers.heads.extent(0)),
      MarkFiberHeads<MemorySpace>{fibers.begin, fibers.marks, fibers.heads, items});
  auto const begin = fibers.begin;
  Position longest = 0;
  Kokkos::parallel_reduce(
      "sporades::fibers::longest", Policy(exec, 0, count),
      KOKKOS_LAMBDA(Position f, Position & most) {
        Position const length = begin(f + 1) - begin(f);
        if (length > most) most = length;
      },
      Kokkos::Max<Position>(longest));
  fence(exec, "sporades::fibers::make");
  fibers.longest = count > 0 ? longest : 0;
  return fibers;
}

}  // namespace detail

/// X by the fibers of the last of `modes`, sorted in that order of all modes, slowest first. X may
/// be in any order; duplicate coordinates stay separate nonzeros. Fences exec.
/// X's indices are trusted: check_coordinates checks them. Throws Error unless modes is a
/// permutation of the modes.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
HierarchicalTensor<Scalar, Index, MemorySpace> make_hierarchical(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
    std::vector<int> const& modes) {
  expects(static_cast<int>(modes.size()) == X.order(), "make_hierarchical: ", modes.size(),
          " modes are named of ", X.order());
  auto const S = sorted(exec, X, modes);
  return {X.dims, detail::make_fibers(exec, S.coordinates, modes, modes), S.values};
}

/// The nonzeros, fiber by fiber. Exact. Enqueued on exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(
    ExecutionSpace const& exec, HierarchicalTensor<Scalar, Index, MemorySpace> const& H) {
  auto X = detail::allocate_coo<Scalar, Index>(exec, H.dims, H.nnz());
  Kokkos::deep_copy(exec, X.values, H.values);
  Kokkos::deep_copy(exec, Kokkos::subview(X.coordinates, H.mode(), Kokkos::ALL), H.fibers.index);
  X.sorted_modes = H.fibers.modes;
  X.sorted_modes.push_back(H.mode());
  auto const to = X.coordinates;
  auto const from = H.fibers.coordinates;
  auto const begin = H.fibers.begin;
  Kokkos::Array<int, max_order> mode{};
  int const others = H.order() - 1;
  for (int l = 0; l < others; ++l) mode[l] = H.fibers.modes[l];
  Kokkos::parallel_for(
      "sporades::hierarchical::expand",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>(exec, 0, H.fibers.count()),
      KOKKOS_LAMBDA(Position f) {
        for (Position p = begin(f); p < begin(f + 1); ++p)
          for (int l = 0; l < others; ++l) to(mode[l], p) = from(l, f);
      });
  return X;
}

}  // namespace sporades
