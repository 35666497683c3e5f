// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <numeric>
#include <sporades/core/detail/sort.hpp>
#include <sporades/kernels/detail/shared_rows.hpp>

namespace sporades::detail {

/// begins(i) = the first place, in the order of rows, of a part of row i or a later one.
template <class MemorySpace>
struct FindRowParts {
  Kokkos::View<std::uint64_t*, MemorySpace> rows;  // of parts
  Permutation<MemorySpace> order;
  Kokkos::View<Position*, MemorySpace> begins;  // rows + 1

  KOKKOS_FUNCTION void operator()(Position k) const {
    Position const parts = rows.extent(0);
    std::uint64_t const first = k == 0 ? 0 : rows(order(k - 1)) + 1;
    std::uint64_t const last = k == parts ? begins.extent(0) - 1 : rows(order(k));
    for (std::uint64_t row = first; row <= last; ++row) begins(row) = k;
  }
};

template <class MemorySpace>
struct CountRowsWithParts {
  Kokkos::View<Position*, MemorySpace> begins;

  KOKKOS_FUNCTION void operator()(Position i, std::uint64_t& used) const {
    if (begins(i) < begins(i + 1)) ++used;
  }
};

/// to(i, r) = the sum of parts(order(k), r) over k = begins(i) ... begins(i + 1) - 1, in order. An
/// item is a row on hosts, an entry on GPUs.
template <class ExecutionSpace, class Scalar, class MemorySpace>
struct SumParts {
  Matrix<Scalar, MemorySpace> parts, to;
  Kokkos::View<Position*, MemorySpace> begins;
  Permutation<MemorySpace> order;

  KOKKOS_FUNCTION void operator()(Position item) const {
    Position const columns = to.extent(1);
    if constexpr (is_gpu<ExecutionSpace>) {
      Position const i = item / columns, r = item % columns;
      Scalar sum(0);
      for (Position k = begins(i); k < begins(i + 1); ++k) sum += parts(order(k), r);
      to(i, r) = sum;
    } else {
      Scalar* const sums = &to(item, 0);
      for (Position r = 0; r < columns; ++r) sums[r] = 0;
      for (Position k = begins(item); k < begins(item + 1); ++k) {
        Scalar const* const part = &parts(order(k), 0);
        for (Position r = 0; r < columns; ++r) sums[r] += part[r];
      }
    }
  }
};

/// Rows that are sums of parts, which are added in their order: those of process 0 first, and of
/// one process by their numbers.
template <class Scalar, class MemorySpace>
class RowParts {
  using MatrixType = Matrix<Scalar, MemorySpace>;
  using Numbers = Kokkos::View<std::uint64_t*, MemorySpace>;

 public:
  RowParts() = default;

  /// In one process: part k is of row rows(k) < count. Fences exec.
  template <class ExecutionSpace>
  RowParts(ExecutionSpace const& exec, Numbers const& rows, std::uint64_t count)
      : parts_(rows.extent(0)) {
    sort(exec, rows, count);
  }

  /// owned: process p owns rows owned[p] to owned[p + 1] - 1. rows: of all, those of this process's
  /// parts. Collective. Fences exec.
  template <class ExecutionSpace>
  RowParts(Communicator const& processes, ExecutionSpace const& exec,
           std::vector<std::uint64_t> const& owned, std::vector<std::uint64_t> const& rows)
      : parts_(rows.size()), processes_(processes) {
    auto const P = static_cast<std::size_t>(processes.size());
    auto const me = static_cast<std::size_t>(processes.rank());
    auto const owner = [&](std::uint64_t row) {
      return static_cast<std::size_t>(std::upper_bound(owned.begin(), owned.end(), row) -
                                      owned.begin() - 1);
    };
    std::vector<Position> counts(P, 0);
    for (auto row : rows) ++counts[owner(row)];
    sent_.assign(P + 1, 0);
    std::partial_sum(counts.begin(), counts.end(), sent_.begin() + 1);
    std::vector<Position> next(sent_.begin(), sent_.end() - 1), numbers(rows.size());
    std::vector<std::uint64_t> listed(rows.size());
    for (Position k = 0; k < rows.size(); ++k) {
      Position const place = next[owner(rows[k])]++;
      numbers[place] = k;
      listed[place] = rows[k] - owned[owner(rows[k])];
    }
    received_ = {0};
    for (Position count : one_for_each(processes, "lists of rows", counts))
      received_.push_back(received_.back() + count);
    std::vector<std::uint64_t> arrived(received_.back());
    exchange_parts(processes, "lists of rows", listed.data(), sent_, arrived.data(), received_);
    numbers_ = to_view(exec, "sporades::row_parts::numbers", numbers);
    sort(exec, to_view(exec, "sporades::row_parts::rows", arrived), owned[me + 1] - owned[me]);
  }

  /// The parts of this process.
  Position count() const { return parts_; }
  /// Rows here that have parts.
  std::uint64_t rows() const { return rows_; }

  /// to: the rows, of those that this process owns, from the parts of all processes. Both have the
  /// same columns, without gaps where there are several processes. Collective. Fences exec where
  /// there are several processes.
  template <class ExecutionSpace>
  void sum(ExecutionSpace const& exec, MatrixType const& parts, MatrixType const& to) {
    if (processes_.size() == 1) return add(exec, parts, to);
    std::size_t const columns = to.extent(1);
    auto const packed = room(exec, packed_, parts_, columns);
    auto const arrived = room(exec, arrived_, received_.back(), columns);
    launch_items(exec, "sporades::row_parts::pack", packed.size(),
                 CopyRows<Scalar, MemorySpace>{parts, packed, numbers_});
    exchange_parts_on<ExecutionSpace, Scalar>(exec, processes_, "partial rows", packed.data(),
                                              sent_, arrived.data(), received_, columns);
    add(exec, arrived, to);
    fence(exec, "sporades::row_parts::sum");
  }

  std::uint64_t bytes() const {
    return (numbers_.extent(0) + order_.extent(0) + begins_.extent(0)) * sizeof(Position) +
           (packed_.extent(0) + arrived_.extent(0)) * sizeof(Scalar);
  }

 private:
  template <class ExecutionSpace>
  void sort(ExecutionSpace const& exec, Numbers const& rows, std::uint64_t count) {
    order_ = sort_permutation(exec, rows, index_bits(count));
    begins_ = uninitialized<Kokkos::View<Position*, MemorySpace>>(
        exec, "sporades::row_parts::begins", count + 1);
    launch_items(exec, "sporades::row_parts::find", rows.extent(0) + 1,
                 FindRowParts<MemorySpace>{rows, order_, begins_});
    rows_ = 0;
    Kokkos::parallel_reduce("sporades::row_parts::count", Range<ExecutionSpace>(exec, 0, count),
                            CountRowsWithParts<MemorySpace>{begins_}, rows_);
    fence(exec, "sporades::row_parts::make");
  }

  template <class ExecutionSpace>
  void add(ExecutionSpace const& exec, MatrixType const& parts, MatrixType const& to) const {
    Position const items = is_gpu<ExecutionSpace> ? to.extent(0) * to.extent(1) : to.extent(0);
    if (to.extent(1) > 0)
      launch_items(exec, "sporades::row_parts::sum", items,
                   SumParts<ExecutionSpace, Scalar, MemorySpace>{parts, to, begins_, order_});
  }

  template <class ExecutionSpace>
  static MatrixType room(ExecutionSpace const& exec, Vector<Scalar, MemorySpace>& buffer,
                         Position rows, std::size_t columns) {
    if (buffer.extent(0) < rows * columns)
      buffer = uninitialized<Vector<Scalar, MemorySpace>>(exec, "sporades::row_parts::buffer",
                                                          rows * columns);
    return MatrixType(buffer.data(), rows, columns);
  }

  Position parts_ = 0;
  std::uint64_t rows_ = 0;
  Permutation<MemorySpace> order_;               // of parts, by rows
  Kokkos::View<Position*, MemorySpace> begins_;  // of each row's parts in that order

  Communicator processes_;                        // what follows: where there are several
  std::vector<Position> sent_, received_;         // where each process's parts begin
  Kokkos::View<Position*, MemorySpace> numbers_;  // of the parts, in the order in which they go
  Vector<Scalar, MemorySpace> packed_, arrived_;
};

}  // namespace sporades::detail
