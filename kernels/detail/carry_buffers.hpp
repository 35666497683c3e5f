// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/matrix.hpp>
#include <sporades/kernels/detail/windows.hpp>
#include <sporades/kernels/detail/work_items.hpp>
#include <vector>

namespace sporades::detail {

/// Slots that one work item reduces at a carry level.
inline constexpr Position carry_chunk = 32;

/// The slots of a level that a process has: `count` of them; `first` slots of other processes, a
/// multiple of carry_chunk, are in front of them. At the next level each chunk of them has two
/// slots. That level begins with 2 * unused() slots that belong to no chunk.
struct CarryLevel {
  Position first, count;

  KOKKOS_FORCEINLINE_FUNCTION Position chunks() const {
    return (count + carry_chunk - 1) / carry_chunk;
  }
  KOKKOS_FORCEINLINE_FUNCTION Position next_first() const {
    return first * 2 / carry_chunk / carry_chunk * carry_chunk;
  }
  KOKKOS_FORCEINLINE_FUNCTION Position unused() const {
    return first / carry_chunk - next_first() / 2;
  }
  KOKKOS_FORCEINLINE_FUNCTION CarryLevel next() const {
    return {next_first(), 2 * (unused() + chunks())};
  }
};

/// Carry slots of every level, kept between calls so that a kernel called again allocates nothing.
template <class Scalar, class Index, class MemorySpace>
class CarryBuffers {
 public:
  struct Level {
    Kokkos::View<Index*, MemorySpace> rows;  // slots; of the first level only
    Matrix<Scalar, MemorySpace> sums;        // slots x columns, the stride a whole tile
    Vector<Scalar, MemorySpace> numbers;     // their memory, of any product that was reserved for
  };

  /// Slots of so many columns for this many chunks at the first level, of which `first` of all
  /// chunks are in front, a multiple of carry_chunk / 2; and as many levels as these need. They are
  /// those of the next product: its slots are as wide as its columns, so that the slots of a long
  /// product do not meet the columns of a wide one. Processes that exchange carries have equal
  /// columns, and so one stride. Allocates on exec where a level has too little memory; if that
  /// throws, the slots that were there stay usable.
  template <class ExecutionSpace>
  void reserve(ExecutionSpace const& exec, Position chunks, std::size_t columns,
               Position first = 0);

  Level const& level(std::size_t l) const { return levels_[l]; }
  std::size_t levels() const { return levels_.size(); }

  /// Counters of the chunks of carries that wait for others, one a tile of columns. They are 0
  /// between calls.
  Kokkos::View<unsigned*, MemorySpace> const& arrivals() const { return arrivals_; }

  /// rows x columns, padding included: the buffer rows of all parts of strategy `alto`. Contents
  /// undefined.
  template <class ExecutionSpace>
  Matrix<Scalar, MemorySpace> buffer_rows(ExecutionSpace const& exec, Position rows,
                                          std::size_t columns) {
    return matrix_in(exec, "sporades::mttkrp::buffer_rows", buffer_rows_, rows, columns);
  }

  /// rows x columns, without the padding that it has, in the same memory: parts of rows. Contents
  /// undefined.
  template <class ExecutionSpace>
  Matrix<Scalar, MemorySpace> part_rows(ExecutionSpace const& exec, Position rows,
                                        std::size_t columns) {
    return Kokkos::subview(buffer_rows(exec, rows, columns), Kokkos::ALL,
                           std::make_pair(std::size_t{0}, columns));
  }

  /// rows x columns, without the padding that it has: a copy of columns of the factor of mode m.
  /// Contents undefined.
  template <class ExecutionSpace>
  Matrix<Scalar, MemorySpace> copied_columns(ExecutionSpace const& exec, std::size_t m,
                                             Position rows, std::size_t columns) {
    if (copies_.size() <= m) copies_.resize(m + 1);
    return Kokkos::subview(
        matrix_in(exec, "sporades::mttkrp::copied_columns", copies_[m], rows, columns), Kokkos::ALL,
        std::make_pair(std::size_t{0}, columns));
  }

  std::uint64_t bytes() const;

  bool atomic = false;           // no slots: rows that chunks share are summed atomically
  Windows<MemorySpace> windows;  // of out-of-core nonzeros

 private:
  /// The matrix of padded rows at the beginning of a buffer, which grows where it is too small.
  template <class ExecutionSpace>
  static Matrix<Scalar, MemorySpace> matrix_in(ExecutionSpace const& exec, char const* label,
                                               Vector<Scalar, MemorySpace>& buffer, Position rows,
                                               std::size_t columns) {
    std::size_t const stride = padded_columns(columns);
    if (buffer.extent(0) < rows * stride)
      buffer = uninitialized<Vector<Scalar, MemorySpace>>(exec, label, rows * stride);
    return Matrix<Scalar, MemorySpace>(buffer.data(), rows, stride);
  }

  std::vector<Level> levels_;
  Kokkos::View<unsigned*, MemorySpace> arrivals_;
  Vector<Scalar, MemorySpace> buffer_rows_;
  std::vector<Vector<Scalar, MemorySpace>> copies_;  // per mode
};

template <class Scalar, class Index, class MemorySpace>
template <class ExecutionSpace>
void CarryBuffers<Scalar, Index, MemorySpace>::reserve(ExecutionSpace const& exec, Position chunks,
                                                       std::size_t columns, Position first) {
  if (chunks <= 1) return;
  std::size_t const stride = padded_columns(columns);
  Position waiting = 0;  // chunks past the first level
  CarryLevel slots{2 * first, 2 * chunks};
  for (std::size_t l = 0;; ++l, slots = slots.next()) {
    if (l == levels_.size()) levels_.emplace_back();
    Level& level = levels_[l];
    bool const has_rows = l > 0 || level.rows.extent(0) >= slots.count;
    if (!has_rows || level.sums.extent(0) < slots.count || level.sums.extent(1) != stride) {
      Level next = level;
      if (!has_rows)
        next.rows = uninitialized<Kokkos::View<Index*, MemorySpace>>(exec, "sporades::carry::rows",
                                                                     slots.count);
      if (next.numbers.extent(0) < slots.count * stride)
        next.numbers = uninitialized<Vector<Scalar, MemorySpace>>(exec, "sporades::carry::sums",
                                                                  slots.count * stride);
      next.sums =
          Matrix<Scalar, MemorySpace>(next.numbers.data(), next.numbers.extent(0) / stride, stride);
      level = next;  // all or, where memory runs out, nothing
    }
    if (l > 0) waiting += slots.chunks();
    if (slots.chunks() == 1) break;
  }
  Position const tiles = chunks_of(stride * sizeof(Scalar), 16);  // at most
  if (arrivals_.extent(0) < waiting * tiles)
    arrivals_ = Kokkos::View<unsigned*, MemorySpace>(
        Kokkos::view_alloc(exec, "sporades::carry::arrivals"), waiting * tiles);
}

template <class Scalar, class Index, class MemorySpace>
std::uint64_t CarryBuffers<Scalar, Index, MemorySpace>::bytes() const {
  std::uint64_t sum = buffer_rows_.span() * sizeof(Scalar) +
                      arrivals_.extent(0) * sizeof(unsigned) + windows.bytes();
  for (auto const& copy : copies_) sum += copy.span() * sizeof(Scalar);
  for (auto const& level : levels_)
    sum += level.rows.extent(0) * sizeof(Index) + level.numbers.extent(0) * sizeof(Scalar);
  return sum;
}

}  // namespace sporades::detail

#include <sporades/eti/carry_buffers.hpp>
