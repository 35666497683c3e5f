// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/generate/cells.hpp>
#include <sporades/formats/detail/sort_across.hpp>

namespace sporades::detail {

/// Drawn cells of all processes: each has those of a range of keys, which follow the ones of the
/// process before. The ranges are settled by what the first draws are.
template <class Key, class MemorySpace>
class SharedCells {
  using Cells = DrawnCells<Key, MemorySpace>;

 public:
  /// bits: of a key.
  SharedCells(Communicator const& processes, int bits)
      : bits_(bits),
        places_{processes,
                std::vector<Position>(static_cast<std::size_t>(processes.size()) + 1, 0)} {}

  Cells const& here() const { return cells_; }
  NonzeroPlaces const& places() const { return places_; }
  /// Of all processes.
  Position size() const { return places_.all(); }

  /// Which of so many draws are this process's: from the first to before the second.
  std::pair<Position, Position> part_of(Position count) const {
    auto const P = static_cast<Position>(places_.processes.size());
    auto const p = static_cast<Position>(places_.processes.rank());
    return {multiply_divide(count, p, P), multiply_divide(count, p + 1, P)};
  }

  /// Adds the cells that each process has drawn. Collective. Fences exec.
  template <class ExecutionSpace>
  void merge(ExecutionSpace const& exec, Cells drawn) {
    auto const& processes = places_.processes;
    if constexpr (has_mpi)
      if (processes.size() > 1) drawn = exchanged(exec, drawn);
    cells_ = merge_cells(exec, cells_, drawn);
    places_.places = first_places(processes, cells_.size());
  }

 private:
  /// Of all drawn cells those of this process's range. Through the host's memory.
  template <class ExecutionSpace>
  Cells exchanged(ExecutionSpace const& exec, Cells const& drawn) {
    Kokkos::DefaultHostExecutionSpace const host{};
    auto const& processes = places_.processes;
    auto const P = static_cast<std::size_t>(processes.size());
    auto const keys = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, drawn.keys);
    auto const counts = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, drawn.counts);
    auto const begin = keys.data(), end = begin + keys.extent(0);
    auto const less = [](Key const& a, Key const& b) { return key_less(a, b); };
    if (ends_.empty()) {
      std::vector<Key> sample;
      Position const most = std::min<Position>(keys.extent(0), 64 + 4 * P);
      for (Position k = 0; k < most; ++k)
        sample.push_back(keys((2 * k + 1) * keys.extent(0) / (2 * most)));
      sample = all_gathered(processes, "samples of nonzeros", sample);
      std::sort(sample.begin(), sample.end(), less);
      if (sample.empty()) return drawn;
      for (std::size_t p = 1; p < P; ++p) ends_.push_back(sample[p * sample.size() / P]);
    }
    std::vector<Position> bounds{0}, lengths, first{0};
    for (auto const& key : ends_)
      bounds.push_back(static_cast<Position>(std::lower_bound(begin, end, key, less) - begin));
    bounds.push_back(keys.extent(0));
    for (std::size_t p = 0; p < P; ++p) lengths.push_back(bounds[p + 1] - bounds[p]);
    for (Position count : one_for_each(processes, "counts of nonzeros", lengths))
      first.push_back(first.back() + count);
    auto const arrived = allocate_cells<Key>(host, first.back());
    fence(host, "sporades::generate::exchange");
    exchange_parts<Key>(processes, "nonzeros", keys.data(), bounds, arrived.keys.data(), first);
    exchange_parts<std::uint32_t>(processes, "nonzeros", counts.data(), bounds,
                                  arrived.counts.data(), first);
    auto const mine = allocate_cells<Key>(exec, first.back());
    copy_view(exec, mine.keys, arrived.keys);
    copy_view(exec, mine.counts, arrived.counts);
    fence(exec, "sporades::generate::exchange");
    auto const order = sort_permutation(exec, mine.keys, bits_);
    Kokkos::View<Key*, MemorySpace> const ordered = in_order(exec, mine.keys, order);
    typename Cells::Counts const their_counts = in_order(exec, mine.counts, order);
    return sum_runs(exec, ordered, their_counts);
  }

  int bits_;
  NonzeroPlaces places_;
  Cells cells_;
  std::vector<Key> ends_;  // of all processes' ranges but the last's
};

}  // namespace sporades::detail
