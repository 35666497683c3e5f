// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/generate/cells.hpp>
#include <sporades/formats/detail/sort_across.hpp>

namespace sporades::detail {

/// Keys of cells, ascending.
template <class Key, class MemorySpace>
struct CellKeys {
  Kokkos::View<Key*, MemorySpace> keys;

  KOKKOS_FUNCTION Key operator()(Position p) const { return keys(p); }
  KOKKOS_FUNCTION static bool less(Key const& a, Key const& b) { return key_less(a, b); }
};

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
  /// The number of cells of all processes.
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
    if (processes.size() > 1) drawn = exchanged(exec, hand_over(drawn));
    cells_ = merge_cells(exec, cells_, drawn);
    places_.places = exclusive_scan_of_all(processes, cells_.size());
  }

 private:
  /// The cells of this process's range, of all drawn ones. No list is held for longer than it is
  /// used: a billion keys are 16 GB. Fences exec.
  template <class ExecutionSpace>
  Cells exchanged(ExecutionSpace const& exec, Cells drawn) {
    auto const& processes = places_.processes;
    auto const P = static_cast<std::size_t>(processes.size());
    CellKeys<Key, MemorySpace> keys{drawn.keys};
    Position const count = drawn.size();
    if (ends_.empty()) {
      auto sample = all_gather(processes, "samples of nonzeros",
                               sampled(exec, keys, count, std::min<Position>(count, 64 + 4 * P)));
      std::sort(sample.begin(), sample.end(), keys.less);
      if (sample.empty()) return drawn;
      for (std::size_t p = 1; p < P; ++p) ends_.push_back(sample[p * sample.size() / P]);
    }
    std::vector<Position> lengths, first{0};
    auto bounds = count_below(exec, keys, count, ends_);
    bounds.insert(bounds.begin(), 0);
    bounds.push_back(count);
    for (std::size_t p = 0; p < P; ++p) lengths.push_back(bounds[p + 1] - bounds[p]);
    for (Position length : all_to_all(processes, "counts of nonzeros", lengths))
      first.push_back(first.back() + length);
    keys = {};
    auto mine = allocate_cells<Key>(exec, first.back());
    exchange_parts_on<ExecutionSpace, Key>(exec, processes, "nonzeros", drawn.keys.data(), bounds,
                                           mine.keys.data(), first, 1);
    exchange_parts_on<ExecutionSpace, std::uint32_t>(
        exec, processes, "nonzeros", drawn.counts.data(), bounds, mine.counts.data(), first, 1);
    drawn = {};
    auto order = sort_permutation(exec, mine.keys, bits_);
    gather_in_place(exec, mine.keys, order);
    gather_in_place(exec, mine.counts, order);
    order = {};
    return sum_runs(exec, mine.keys, mine.counts);
  }

  int bits_;
  NonzeroPlaces places_;
  Cells cells_;
  std::vector<Key> ends_;  // of all processes' ranges but the last's
};

}  // namespace sporades::detail
