// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/detail/processes/exchange.hpp>
#include <sporades/core/random.hpp>
#include <sporades/formats/detail/coo_shape.hpp>

namespace sporades::detail {

/// Hashes the indices of a nonzero in some modes, and sets the bit of the map that the hash names.
template <class Coordinates>
struct MarkTuples {
  Coordinates coordinates;                                               // N x nnz
  Kokkos::View<std::uint32_t*, typename Coordinates::memory_space> map;  // words: a power of two
  int modes;
  int mode[max_order];

  KOKKOS_FUNCTION void operator()(Position p) const {
    std::uint64_t hash = 0;
    for (int k = 0; k < modes; ++k)
      hash = splitmix64(hash ^ static_cast<std::uint64_t>(coordinates(mode[k], p)));
    std::uint64_t const bit = hash & (32 * map.extent(0) - 1);
    std::uint32_t const one = std::uint32_t{1} << (bit & 31);
    if (!(map(bit >> 5) & one)) Kokkos::atomic_fetch_or(&map(bit >> 5), one);
  }
};

template <class Map>
struct CountZeroBits {
  Map map;
  KOKKOS_FUNCTION void operator()(Position w, Position& sum) const {
    for (std::uint32_t left = ~map(w); left != 0; left &= left - 1) ++sum;
  }
};

/// The map of estimate_fiber_counts, in words of 4 bytes: one to two bits a nonzero, and 8 MiB at
/// most, which 10^9 tuples leave one of 3 million bits unset in.
inline Position tuple_map_words(Position nnz) {
  return Position{1} << (std::clamp(index_bits(nnz), 15, 26) - 5);
}

/// Sets the bits of all of X's tuples in the map. modes: bit n is set for mode n. Enqueued on exec.
template <class ExecutionSpace, class Tensor, class Map>
void mark_tuples(ExecutionSpace const& exec, Tensor const& X, std::uint32_t modes, Map const& map) {
  MarkTuples<typename Tensor::Coordinates> mark{X.coordinates, map, 0, {}};
  for (int n = 0; n < X.order(); ++n)
    if (modes >> n & 1) mark.mode[mark.modes++] = n;
  launch_items(exec, "sporades::estimate_fiber_counts::mark", X.nnz(), mark);
}

/// What a map of `words` says of which so many bits are unset.
inline double tuples_of_map(Position empty, Position words) {
  double const bits = 32.0 * static_cast<double>(words);
  return -bits * std::log(std::max(static_cast<double>(empty), 1.0) / bits);
}

/// How many different tuples the nonzeros' indices in some modes form, within a few per cent and
/// without a sort: linear counting (Whang et al., ACM TODS 15(2), 1990) in a map of `words`, a
/// power of two. modes: bit n is set for mode n. Every run gives the same number. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
double estimate_fiber_counts(ExecutionSpace const& exec,
                             CooTensor<Scalar, Index, MemorySpace> const& X, std::uint32_t modes,
                             Position words) {
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>;
  using Map = Kokkos::View<std::uint32_t*, MemorySpace>;
  if (X.nnz() == 0) return 0;
  Map const map(Kokkos::view_alloc(exec, "sporades::estimate_fiber_counts::map"), words);
  mark_tuples(exec, X, modes, map);
  Position empty = 0;
  Kokkos::parallel_reduce("sporades::estimate_fiber_counts::count", Policy(exec, 0, words),
                          CountZeroBits<Map>{map}, empty);
  return tuples_of_map(empty, words);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
double estimate_fiber_counts(ExecutionSpace const& exec,
                             CooTensor<Scalar, Index, MemorySpace> const& X, std::uint32_t modes) {
  return estimate_fiber_counts(exec, X, modes, tuple_map_words(X.nnz()));
}

/// estimate_fiber_counts of the nonzeros of all processes, nnz of them: the estimate that one
/// process would make. Each process joins a part of the words of all maps. Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
double estimate_tuples_across(Communicator const& processes, ExecutionSpace const& exec,
                              CooTensor<Scalar, Index, MemorySpace> const& X, Position nnz,
                              std::uint32_t modes) {
  if (processes.size() == 1) return estimate_fiber_counts(exec, X, modes);
  if (nnz == 0) return 0;
  Position const words = tuple_map_words(nnz);
  Kokkos::View<std::uint32_t*, MemorySpace> const map(
      Kokkos::view_alloc(exec, "sporades::estimate_fiber_counts::map"), words);
  mark_tuples(exec, X, modes, map);
  auto const host = Kokkos::create_mirror_view(map);
  copy_view(exec, host, map);
  fence(exec, "sporades::estimate_fiber_counts::across");
  auto const P = static_cast<Position>(processes.size());
  auto const me = static_cast<Position>(processes.rank());
  Position const here = words * (me + 1) / P - words * me / P;
  std::vector<Position> sent, received;
  for (Position p = 0; p <= P; ++p) {
    sent.push_back(words * p / P);
    received.push_back(here * p);
  }
  std::vector<std::uint32_t> maps(here * P);
  all_to_all_parts(processes, "estimates of tuples", host.data(), sent, maps.data(), received);
  Position empty = 0;
  for (Position w = 0; w < here; ++w) {
    std::uint32_t joined = 0;
    for (Position p = 0; p < P; ++p) joined |= maps[here * p + w];
    for (std::uint32_t left = ~joined; left != 0; left &= left - 1) ++empty;
  }
  Position all = 0;
  for (Position const part : all_gather(processes, "estimates of tuples", empty)) all += part;
  return tuples_of_map(all, words);
}

/// Never fewer than the different tuples that X's nonzeros have of their indices in some modes, and
/// a few per cent more at most, unless they are few beside the nonzeros: see estimate_fiber_counts.
template <class ExecutionSpace, class Tensor>
class FiberCountEstimate {
 public:
  FiberCountEstimate(ExecutionSpace const& exec, Tensor const& X) : exec_(exec), X_(X) {}

  /// At least the number of different tuples of indices in the modes whose bits are set. Fences
  /// exec.
  double operator()(std::uint32_t set) {
    double const nnz = static_cast<double>(X_.nnz());
    double cells = 1;
    for (int n = 0; n < X_.order(); ++n)
      if (set >> n & 1) cells *= static_cast<double>(X_.dims[n]);
    double const most = std::min(nnz, cells);
    bool const is_all = set + 1 == std::uint32_t{1} << X_.order();
    if (is_all || most < 4096 || most < nnz / 128) return most;
    auto& known = known_[set];
    if (known == 0) known = std::min(most, 1.04 * estimate_fiber_counts(exec_, X_, set));
    return known;
  }
  /// The non-empty slices of one mode.
  double rows(int n) { return (*this)(std::uint32_t{1} << n); }
  /// At least the number of different tuples of indices in the first `count` of these modes. Fences
  /// exec.
  double of(std::vector<int> const& modes, std::size_t count) {
    std::uint32_t set = 0;
    for (std::size_t k = 0; k < count; ++k) set |= std::uint32_t{1} << modes[k];
    return (*this)(set);
  }

 private:
  ExecutionSpace exec_;
  Tensor const& X_;
  std::map<std::uint32_t, double> known_;
};

/// At least the number of different tuples of indices, as FiberCountEstimate, by the shape alone.
class FiberCountBound {
 public:
  explicit FiberCountBound(CooShape const& X) : X_(X) {}
  double rows(int n) const { return std::min(X_.nnz, static_cast<double>(X_.dims[n])); }
  double of(std::vector<int> const& modes, std::size_t count) const {
    double cells = 1;
    for (std::size_t k = 0; k < count; ++k) cells *= static_cast<double>(X_.dims[modes[k]]);
    return std::min(X_.nnz, cells);
  }

 private:
  CooShape const& X_;
};

/// What estimate_fiber_counts takes.
inline double fiber_count_bytes(Position nnz) {
  return static_cast<double>(4 * tuple_map_words(nnz));
}

}  // namespace sporades::detail

#include <sporades/eti/estimate_fiber_counts.hpp>
