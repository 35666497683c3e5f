// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/processes/ghost_rows.hpp>
#include <sporades/kernels/detail/processes/share_rows.hpp>
#include <sporades/kernels/mttkrp_plan.hpp>

namespace sporades::detail {

/// to(k) <- to(k) + from(i) or to(k) | from(i), for all i with k = rows(i).
template <class MemorySpace, bool adds>
struct CombineRows {
  Permutation<MemorySpace> from, rows, to;

  KOKKOS_FUNCTION void operator()(Position i) const {
    if constexpr (adds)
      Kokkos::atomic_add(&to(rows(i)), from(i));
    else
      Kokkos::atomic_fetch_or(&to(rows(i)), from(i));
  }
};

/// The number of a row among those that a process touches, or the row itself in one process.
template <class MemorySpace>
struct RowNumbers {
  IndexSet<MemorySpace> touched;

  KOKKOS_FUNCTION std::uint64_t operator()(std::uint64_t row) const {
    return touched.words.extent(0) > 0 ? touched.number(row) : row;
  }
};

/// The rows of a mode that this process's nonzeros touch; in one process, all rows. Another process
/// may own them.
template <class MemorySpace>
class TouchedRows {
  using Numbers = Permutation<MemorySpace>;

 public:
  /// owned: process p owns rows owned[p] to owned[p + 1] - 1. Collective. Fences exec.
  template <class ExecutionSpace, class Tensor>
  TouchedRows(Communicator const& processes, ExecutionSpace const& exec, Tensor const& X, int n,
              std::vector<std::uint64_t> const& owned)
      : processes_(processes), count_(owned.back()), own_(owned.back()) {
    if (processes.size() > 1) {
      set_ = IndexSet<MemorySpace>(exec, owned.back());
      launch_items(exec, "sporades::home_order::insert", X.nnz(),
                   InsertIndices<typename Tensor::Coordinates>{set_, X.coordinates, n});
      auto const list = set_.list(exec);
      AskedRows lists(processes, owned, list);
      auto const me = static_cast<std::size_t>(processes.rank());
      for (auto& row : lists.rows) row -= owned[me];
      count_ = list.size();
      own_ = owned[me + 1] - owned[me];
      wanted_ = lists.wanted;
      asked_ = lists.asked;
      rows_ = to_view(exec, "sporades::home_order::rows", std::vector<Position>(lists.rows));
    }
  }

  std::uint64_t count() const { return count_; }

  RowNumbers<MemorySpace> numbers() const { return {set_}; }

  /// The sums, or unions, of what all processes have for the rows that this one owns.
  template <bool adds, class ExecutionSpace>
  Numbers at_owners(ExecutionSpace const& exec, Numbers const& touched) const {
    if (processes_.size() > 1) {
      auto const arrived =
          uninitialized<Numbers>(exec, "sporades::home_order::arrived", asked_.back());
      exchange_parts_on<ExecutionSpace, Position>(exec, processes_, "homes of rows", touched.data(),
                                                  wanted_, arrived.data(), asked_, 1);
      auto const own = zeroed<Numbers>(exec, "sporades::home_order::own", own_);
      launch_items(exec, "sporades::home_order::combine", arrived.extent(0),
                   CombineRows<MemorySpace, adds>{arrived, rows_, own});
      return own;
    }
    return touched;
  }

  /// What the owners have for the rows that this process touches.
  template <class ExecutionSpace>
  Numbers from_owners(ExecutionSpace const& exec, Numbers const& own) const {
    if (processes_.size() > 1) {
      auto const sent = in_order(exec, own, rows_);
      auto const touched = uninitialized<Numbers>(exec, "sporades::home_order::touched", count_);
      exchange_parts_on<ExecutionSpace, Position>(exec, processes_, "homes of rows", sent.data(),
                                                  asked_, touched.data(), wanted_, 1);
      return touched;
    }
    return own;
  }

 private:
  Communicator processes_;
  IndexSet<MemorySpace> set_;
  std::uint64_t count_, own_;
  std::vector<Position> wanted_, asked_;  // see AskedRows
  Numbers rows_;                          // of the own ones: those that are asked for
};

}  // namespace sporades::detail
