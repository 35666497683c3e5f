// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/detail/processes/exchange.hpp>
#include <sporades/core/random.hpp>
#include <sporades/formats/coo_tensor.hpp>

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

}  // namespace sporades::detail

#include <sporades/eti/estimate_fiber_counts.hpp>
