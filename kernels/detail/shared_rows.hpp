// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/exchange.hpp>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/matrix.hpp>

namespace sporades::detail {

/// to(i, r) = from(rows(i), r) of whole rows, padding included.
template <class Scalar, class MemorySpace>
struct CopyRows {
  Matrix<Scalar, MemorySpace> from, to;
  Kokkos::View<Position*, MemorySpace> rows;

  KOKKOS_FUNCTION void operator()(Position item) const {
    Position const columns = to.extent(1), i = item / columns, r = item % columns;
    to(i, r) = from(rows(i), r);
  }
};

/// The rows of a factor that a process reads. The factor's rows are owned in blocks of consecutive
/// ones, a block a process in the order of ranks; a process keeps the rows that its nonzeros ask
/// for one after another, in a matrix of its own. Which rows go where is agreed upon once.
template <class MemorySpace>
class SharedRows {
 public:
  SharedRows() = default;

  /// owned: process p owns rows owned[p] to owned[p + 1] - 1. read: the rows, of all, that this
  /// process reads, ascending, each once. Collective. Fences exec.
  template <class ExecutionSpace>
  SharedRows(Communicator const& processes, ExecutionSpace const& exec,
             std::vector<std::uint64_t> const& owned, std::vector<std::uint64_t> const& read)
      : processes_(processes) {
    auto const P = static_cast<std::size_t>(processes.size());
    for (std::size_t p = 0; p <= P; ++p)
      read_.push_back(static_cast<Position>(
          std::lower_bound(read.begin(), read.end(), owned[p]) - read.begin()));
    // Everybody learns how many rows each wants, and then which.
    std::vector<Position> wants(P), wanted(P);
    std::vector<Sent> sent;
    std::vector<Received> received;
    for (std::size_t p = 0; p < P; ++p) {
      wants[p] = read_[p + 1] - read_[p];
      sent.push_back({static_cast<int>(p), reinterpret_cast<std::byte const*>(&wants[p]),
                      sizeof(Position)});
      received.push_back({static_cast<int>(p), reinterpret_cast<std::byte*>(&wanted[p]),
                          sizeof(Position)});
    }
    exchange(processes, "lists of rows", sent, received);
    sent_.assign(P + 1, 0);
    for (std::size_t p = 0; p < P; ++p) sent_[p + 1] = sent_[p] + wanted[p];
    std::vector<std::uint64_t> rows(sent_[P]);
    for (std::size_t p = 0; p < P; ++p) {
      sent[p].data = reinterpret_cast<std::byte const*>(read.data() + read_[p]);
      sent[p].bytes = wants[p] * sizeof(std::uint64_t);
      received[p].data = reinterpret_cast<std::byte*>(rows.data() + sent_[p]);
      received[p].bytes = wanted[p] * sizeof(std::uint64_t);
    }
    exchange(processes, "lists of rows", sent, received);
    auto const me = static_cast<std::size_t>(processes.rank());
    using Rows = Kokkos::View<Position*, MemorySpace>;
    rows_ = uninitialized<Rows>(exec, "sporades::shared_rows::rows", rows.size());
    auto const host = Kokkos::create_mirror_view(rows_);
    for (std::size_t i = 0; i < rows.size(); ++i) host(i) = rows[i] - owned[me];
    copy_view(exec, rows_, host);
    fence(exec, "sporades::shared_rows::make");
  }

  Position read_count() const { return read_.back(); }

  /// Row i of `read` <- the i-th row that this process reads, of `own`, the block of rows that each
  /// process owns; with padding. Both of make_matrix with R columns. Collective, under this name.
  /// What is exchanged passes through the host's memory. Fences exec.
  template <class ExecutionSpace, class Scalar>
  void gather(ExecutionSpace const& exec, char const* name, Matrix<Scalar, MemorySpace> const& own,
              Matrix<Scalar, MemorySpace> const& read) {
    using MatrixType = Matrix<Scalar, MemorySpace>;
    std::size_t const columns = padded_columns(read.extent(1)), row = columns * sizeof(Scalar);
    MatrixType const from(own.data(), own.extent(0), columns),
        to(read.data(), read.extent(0), columns),
        packed(static_cast<Scalar*>(room(exec, sent_.back() * row)), sent_.back(), columns);
    launch_items(exec, "sporades::shared_rows::pack", packed.extent(0) * columns,
                 CopyRows<Scalar, MemorySpace>{from, packed, rows_});
    auto const host = Kokkos::create_mirror_view(packed);
    auto const arrived = Kokkos::create_mirror_view(to);
    copy_view(exec, host, packed);
    fence(exec, "sporades::shared_rows::pack");
    std::vector<Sent> sent;
    std::vector<Received> received;
    for (std::size_t p = 0; p + 1 < read_.size(); ++p) {
      sent.push_back({static_cast<int>(p),
                      reinterpret_cast<std::byte const*>(host.data() + sent_[p] * columns),
                      (sent_[p + 1] - sent_[p]) * row});
      received.push_back({static_cast<int>(p),
                          reinterpret_cast<std::byte*>(arrived.data() + read_[p] * columns),
                          (read_[p + 1] - read_[p]) * row});
    }
    exchange(processes_, name, sent, received);
    copy_view(exec, to, arrived);
    fence(exec, "sporades::shared_rows::gather");
  }

 private:
  template <class ExecutionSpace>
  void* room(ExecutionSpace const& exec, std::size_t bytes) {
    if (room_.extent(0) < bytes)
      room_ = uninitialized<Kokkos::View<char*, MemorySpace>>(exec, "sporades::shared_rows::room",
                                                              bytes);
    return room_.data();
  }

  Communicator processes_;
  std::vector<Position> read_;                // where each process's rows begin among those read
  std::vector<Position> sent_;                // the same of those that are sent to it
  Kokkos::View<Position*, MemorySpace> rows_; // of the own block: those that are sent
  Kokkos::View<char*, MemorySpace> room_;
};

}  // namespace sporades::detail
