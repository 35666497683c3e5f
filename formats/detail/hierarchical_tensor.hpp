// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/core/detail/launch.hpp>
#include <sporades/formats/detail/ranges.hpp>
#include <sporades/formats/detail/sort_bytes.hpp>
#include <sporades/formats/hierarchical_tensor.hpp>
#include <sporades/formats/sort_coo.hpp>

namespace sporades {
namespace detail {

/// The first item of a fiber stores where the fiber begins, and its coordinates. Every distance-th
/// item stores its fiber as a mark.
template <class Index, class MemorySpace>
struct NumberFibers {
  using Coordinates = typename Fibers<Index, MemorySpace>::Coordinates;

  CompareNonzeros<Coordinates> compare;        // by all modes except the fibers'
  Coordinates coordinates;                     // (K - 1) x fibers
  Kokkos::View<Position*, MemorySpace> begin;  // fibers + 1
  Kokkos::View<Position*, MemorySpace> marks;
  Position distance;

  KOKKOS_FUNCTION void operator()(Position p, Position& count, bool is_last) const {
    bool const begins = compare.begins_run(p);
    if (begins) ++count;
    if (!is_last) return;
    if (begins) {
      begin(count - 1) = p;
      for (int l = 0; l < compare.modes; ++l)
        coordinates(l, count - 1) = compare.coordinates(compare.mode[l], p);
    }
    if (p % distance == 0) marks(p / distance) = count - 1;
  }
};

/// Sets the word of `heads` for one window of mark_distance items, or for the window after the
/// last.
template <class MemorySpace>
struct MarkFiberHeads {
  Kokkos::View<Position const*, MemorySpace> begin, marks;
  Kokkos::View<std::uint32_t*, MemorySpace> heads;
  Position items;

  KOKKOS_FUNCTION void operator()(Position w) const {
    static_assert(Fibers<std::uint32_t, MemorySpace>::mark_distance == 32,
                  "A word of heads has one bit for every item of a window.");
    Position const first = 32 * w;
    std::uint32_t word = first == items ? 1 : 0;
    if (first < items)
      for (Position f = marks(w); f < begin.extent(0) && begin(f) < first + 32; ++f)
        if (begin(f) >= first) word |= std::uint32_t{1} << (begin(f) - first);
    heads(w) = word;
  }
};

/// The fibers of sorted items. The items are in lexicographic order by these rows of coordinates,
/// slowest first; modes[l] is the mode of rows[l], and the last one is the fibers' mode. Fences
/// exec.
template <class ExecutionSpace, class Index, class MemorySpace>
Fibers<Index, MemorySpace> make_fibers(
    ExecutionSpace const& exec,
    Kokkos::View<Index**, Kokkos::LayoutRight, MemorySpace> const& coordinates,
    std::vector<int> const& rows, std::vector<int> const& modes) {
  using Positions = Kokkos::View<Position*, MemorySpace>;
  using Result = Fibers<Index, MemorySpace>;
  Position const items = coordinates.extent(1);
  Result fibers;
  fibers.mode = modes.back();
  fibers.modes.assign(modes.begin(), modes.end() - 1);
  CompareNonzeros<typename Result::Coordinates> const compare(coordinates,
                                                              {rows.begin(), rows.end() - 1});
  Position const count = count_runs(exec, "sporades::fibers::count", compare, items);
  fibers.coordinates = uninitialized<typename Result::Coordinates>(
      exec, "sporades::fibers::coordinates", rows.size() - 1, count);
  fibers.begin = uninitialized<Positions>(exec, "sporades::fibers::begin", count + 1);
  fibers.marks = uninitialized<Positions>(
      exec, "sporades::fibers::marks", (items + Result::mark_distance - 1) / Result::mark_distance);
  fibers.index =
      uninitialized<Kokkos::View<Index*, MemorySpace>>(exec, "sporades::fibers::index", items);
  copy_view(exec, fibers.index, Kokkos::subview(coordinates, rows.back(), Kokkos::ALL));
  Kokkos::parallel_scan("sporades::fibers::number", Range<ExecutionSpace>(exec, 0, items),
                        NumberFibers<Index, MemorySpace>{compare, fibers.coordinates, fibers.begin,
                                                         fibers.marks, Result::mark_distance});
  fill_view(exec, Kokkos::subview(fibers.begin, std::make_pair(count, count + 1)), items);
  fibers.heads = uninitialized<decltype(fibers.heads)>(exec, "sporades::fibers::heads",
                                                       fibers.marks.extent(0) + 1);
  launch_items(exec, "sporades::fibers::mark_heads", fibers.heads.extent(0),
               MarkFiberHeads<MemorySpace>{fibers.begin, fibers.marks, fibers.heads, items});
  auto const begin = fibers.begin;
  Position longest = 0;
  Kokkos::parallel_reduce(
      "sporades::fibers::longest", Range<ExecutionSpace>(exec, 0, count),
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

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
HierarchicalTensor<Scalar, Index, MemorySpace> make_hierarchical(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
    std::vector<int> const& modes) {
  expects(static_cast<int>(modes.size()) == X.order(), "make_hierarchical: ", modes.size(),
          " modes are named of ", X.order());
  auto const S = sorted(exec, X, modes);
  return {X.dims, detail::make_fibers(exec, S.coordinates, modes, modes), S.values};
}

namespace detail {

/// to: N x nnz, becomes the coordinates of H's nonzeros in their order. Enqueued on exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void expand(ExecutionSpace const& exec, HierarchicalTensor<Scalar, Index, MemorySpace> const& H,
            typename CooTensor<Scalar, Index, MemorySpace>::Coordinates const& to) {
  copy_view(exec, Kokkos::subview(to, H.mode(), Kokkos::ALL), H.fibers.index);
  auto const from = H.fibers.coordinates;
  Kokkos::Array<int, max_order> mode{};
  int const others = H.order() - 1;
  for (int l = 0; l < others; ++l) mode[l] = H.fibers.modes[l];
  for_items(
      exec, "sporades::hierarchical::expand", H.fibers.begin, H.nnz(),
      KOKKOS_LAMBDA(Position f, Position p) {
        for (int l = 0; l < others; ++l) to(mode[l], p) = from(l, f);
      });
}

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(
    ExecutionSpace const& exec, HierarchicalTensor<Scalar, Index, MemorySpace> const& H) {
  auto X = detail::allocate_coo<Scalar, Index>(exec, H.dims, H.nnz());
  detail::copy_view(exec, X.values, H.values);
  detail::expand(exec, H, X.coordinates);
  X.sorted_modes = H.fibers.modes;
  X.sorted_modes.push_back(H.mode());
  return X;
}

namespace detail {

/// make_fibers of items with this many coordinates in so many fibers.
inline double fibers_bytes(double items, double fibers, double modes, double index_bytes) {
  double const marks = std::ceil(items / 32);
  return (modes - 1) * fibers * index_bytes + 8 * (fibers + 1) + 8 * marks + items * index_bytes +
         4 * (marks + 1);
}

/// make_cfb or make_hocsr on the last of these modes, with so many bytes where fibers begin: of
/// items sorted in fibers the indices and the values stay, or only the indices for an X in that
/// order.
template <class ExecutionSpace>
MadeBytes compressed_fibers_bytes(ExecutionSpace const& exec, CooShape const& X,
                                  std::vector<int> const& modes, double fibers, double begins) {
  auto const list = sorted_bytes(exec, X, modes);
  double const all = fibers_bytes(X.nnz, fibers, X.order(), X.index_bytes);
  return {X.nnz * X.index_bytes + begins + (is_sorted_by(X, modes) ? 0 : X.value_bytes()),
          std::max(list.peak, list.kept + all + begins)};
}

/// make_hierarchical, which shares the values of an X in that order.
template <class ExecutionSpace>
MadeBytes hierarchical_bytes(ExecutionSpace const& exec, CooShape const& X,
                             std::vector<int> const& modes, double fibers) {
  auto const list = sorted_bytes(exec, X, modes);
  double const made = fibers_bytes(X.nnz, fibers, X.order(), X.index_bytes);
  return {made + (is_sorted_by(X, modes) ? 0 : X.value_bytes()),
          std::max(list.peak, list.kept + made)};
}

}  // namespace detail

// What is no CooTensor is refused.
template <class ExecutionSpace>
HierarchicalTensor<double, std::uint32_t, typename ExecutionSpace::memory_space> make_hierarchical(
    ExecutionSpace const&, detail::NotCoo, std::vector<int> const&) {
  return {};
}

}  // namespace sporades

#include <sporades/eti/hierarchical_tensor.hpp>
