// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/dense/shared_sums.hpp>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/detail/processes/exchange.hpp>
#include <sporades/core/detail/processes/gpu_exchange.hpp>
#include <sporades/core/detail/tile.hpp>
#include <sporades/core/matrix.hpp>
#include <sporades/core/row_map.hpp>

namespace sporades::detail {

/// to(i, r) = from(rows(i), r), and 0 in the columns that only `to` has; if it `places` rows,
/// to(rows(i), r) = from(i, r). An item is a row on hosts; on GPUs an entry or, of rows that are
/// `packed`, 16 bytes.
template <class ExecutionSpace, class Scalar, class Rows, bool places, bool packed>
struct CopyRows {
  static constexpr int width = packed ? 16 / sizeof(Scalar) : 1;

  Matrix<Scalar, typename Rows::memory_space> from, to;
  Rows rows;

  Position items() const {
    return is_gpu<ExecutionSpace> ? rows.extent(0) * (to.extent(1) / width) : rows.extent(0);
  }

  KOKKOS_FUNCTION void operator()(Position item) const {
    Position const units = is_gpu<ExecutionSpace> ? to.extent(1) / width : 1;
    Position const i = item / units, begin = item % units * width, row = rows(i);
    Position const end = is_gpu<ExecutionSpace> ? begin + width : to.extent(1);
    Position const columns = from.extent(1) < end ? from.extent(1) : end;
    // `from` may have no columns.
    Scalar const* const source = from.data() + (places ? i : row) * from.stride(0);
    Scalar* const target = to.data() + (places ? row : i) * to.stride(0);
    if constexpr (packed)
      if (columns == end) {
        store_tile<Scalar, width, true>(load_tile<Scalar, width, true>(source + begin),
                                        target + begin);
        return;
      }
    Position r = begin;
    for (; r < columns; ++r) target[r] = source[r];
    for (; r < end; ++r) target[r] = 0;
  }
};

template <bool places, class ExecutionSpace, class Scalar, class Rows, class MemorySpace>
void copy_rows(ExecutionSpace const& exec, char const* label,
               Matrix<Scalar, MemorySpace> const& from, Rows const& rows,
               Matrix<Scalar, MemorySpace> const& to) {
  for_packed<ExecutionSpace>(
      [&](auto packed) {
        CopyRows<ExecutionSpace, Scalar, Rows, places, packed()> const kernel{from, to, rows};
        launch_items(exec, label, kernel.items(), kernel);
      },
      from, to);
}

/// The matrix at the beginning of a buffer, which grows where it is too small. Contents undefined.
template <class ExecutionSpace, class Scalar, class MemorySpace>
Matrix<Scalar, MemorySpace> matrix_in(ExecutionSpace const& exec,
                                      Vector<Scalar, MemorySpace>& buffer, Position rows,
                                      std::size_t columns) {
  if (buffer.extent(0) < rows * columns)
    buffer = uninitialized<Vector<Scalar, MemorySpace>>(exec, "sporades::ghost_rows::buffer",
                                                        rows * columns);
  return Matrix<Scalar, MemorySpace>(buffer.data(), rows, columns);
}

/// Rows that processes ask for of those that each owns.
struct AskedRows {
  std::vector<Position> wanted;     // where each owner's rows begin among those that this one wants
  std::vector<Position> asked;      // where each process's begin among the rows that follow
  std::vector<std::uint64_t> rows;  // that others, and this process, ask for here

  /// owned: process p owns rows owned[p] to owned[p + 1] - 1. list: the rows, of all, that this
  /// process wants, ascending, each once. Collective.
  AskedRows(Communicator const& processes, std::vector<std::uint64_t> const& owned,
            std::vector<std::uint64_t> const& list) {
    auto const P = static_cast<std::size_t>(processes.size());
    for (std::size_t p = 0; p <= P; ++p)
      wanted.push_back(static_cast<Position>(std::lower_bound(list.begin(), list.end(), owned[p]) -
                                             list.begin()));
    // Everybody learns how many rows each wants, and then which.
    std::vector<Position> counts(P);
    for (std::size_t p = 0; p < P; ++p) counts[p] = wanted[p + 1] - wanted[p];
    asked = {0};
    for (Position count : all_to_all(processes, "lists of rows", counts))
      asked.push_back(asked.back() + count);
    rows.resize(asked[P]);
    all_to_all_parts(processes, "lists of rows", list.data(), wanted, rows.data(), asked);
  }
};

/// The rows of a factor that a process reads. The factor's rows are owned in blocks of consecutive
/// ones, a block a process in the order of ranks; a process keeps the rows that its nonzeros ask
/// for one after another, in a matrix of its own. Which rows go where is agreed upon once.
template <class Scalar, class MemorySpace>
class GhostRows {
  using MatrixType = Matrix<Scalar, MemorySpace>;
  using Rows = Kokkos::View<Position*, MemorySpace>;

 public:
  GhostRows() = default;

  /// owned: process p owns rows owned[p] to owned[p + 1] - 1. read: the rows, of all, that this
  /// process reads, ascending, each once. Collective. Fences exec.
  template <class ExecutionSpace>
  GhostRows(Communicator const& processes, ExecutionSpace const& exec,
            std::vector<std::uint64_t> const& owned, std::vector<std::uint64_t> const& read)
      : processes_(processes) {
    AskedRows lists(processes, owned, read);
    read_ = lists.wanted;
    sent_ = lists.asked;
    auto const me = static_cast<std::size_t>(processes.rank());
    reads_all_own_ = sent_[me + 1] - sent_[me] == owned[me + 1] - owned[me];
    for (auto& row : lists.rows) row -= owned[me];
    for (std::size_t p = 0; p + 1 < sent_.size(); ++p) {
      Position const count = sent_[p + 1] - sent_[p];
      auto const* const list = lists.rows.data() + sent_[p];
      bool const is_run = count > 0 && list[count - 1] - list[0] == count - 1;
      runs_.push_back(is_run ? list[0] : no_run);
    }
    rows_ = to_view(exec, "sporades::ghost_rows::rows", std::vector<Position>(lists.rows));
    is_registered_ = registers_memory(exec, processes, read_.back());
    packed_ = read_memory_ = {processes, is_registered_};
    goes_beside_ = is_registered_ && is_so_on_all(processes, "lists of rows", reads_all_own_);
    fence(exec, "sporades::ghost_rows::make");
  }

  Position read_count() const { return read_.back(); }

  /// Memory for the rows that this process owns, with so many columns, padding included, where it
  /// reads all of them; else none. gather() leaves them where they are if its `own` is that.
  template <class ExecutionSpace>
  MatrixType lend(ExecutionSpace const& exec, std::size_t columns) {
    if (!reads_all_own_) return {};
    reserve(exec, columns);
    return Kokkos::subview(gathered_, own_place(), Kokkos::ALL);
  }

  /// Whether gather() of rows that are lent can go on beside kernels: on all processes or on none.
  bool goes_beside() const { return goes_beside_; }

  /// Gathers the rows that this process reads: the result's i-th row is the i-th of them; padded as
  /// make_matrix does, and valid until the next call. own: the block of rows that each process
  /// owns. beside: what is enqueued after does not wait for rows of others, nor writes this
  /// process's, up to join_exchange. Collective, under this name. Fences exec, or is enqueued: see
  /// enqueue_exchange.
  template <class ExecutionSpace>
  MatrixType gather(ExecutionSpace const& exec, char const* name, MatrixType const& own,
                    bool beside = false) {
    std::size_t const columns = padded_columns(own.extent(1));
    reserve(exec, columns);
    bool const is_dense =
        own.extent(1) == columns && (own.extent(0) < 2 || own.stride(0) == columns);
    auto const copy = [&](Position begin, Position end, MatrixType const& to, Position first) {
      copy_rows<false>(exec, "sporades::ghost_rows::pack", own,
                       Rows(Kokkos::subview(rows_, std::make_pair(begin, end))),
                       MatrixType(to.data() + first * columns, end - begin, columns));
    };
    auto const me = static_cast<std::size_t>(processes_.rank());
    auto const place = [&](Scalar* data, Position row) {
      return reinterpret_cast<std::byte*>(data + row * columns);
    };
    std::vector<Sent> sent;
    std::vector<Received> received;
    for (std::size_t p = 0; p + 1 < sent_.size(); ++p) {
      if (p == me) continue;
      auto const process = static_cast<int>(p);
      std::size_t const bytes = (sent_[p + 1] - sent_[p]) * columns * sizeof(Scalar);
      if (is_dense && runs_[p] != no_run && (!is_registered_ || read_memory_.has(own.data()))) {
        sent.push_back({process, place(own.data(), runs_[p]), bytes});
      } else if (bytes > 0) {
        auto const packed = packed_.template matrix<Scalar>(exec, sent_.back(), columns);
        copy(sent_[p], sent_[p + 1], packed, sent_[p]);
        sent.push_back({process, place(packed.data(), sent_[p]), bytes});
      }
      received.push_back({process, place(gathered_.data(), read_[p]),
                          (read_[p + 1] - read_[p]) * columns * sizeof(Scalar)});
    }
    // Those that stay here go straight to their places, or are there.
    if (own.extent(0) == 0 || own.data() != gathered_.data() + read_[me] * columns)
      copy(sent_[me], sent_[me + 1], gathered_, read_[me]);
    enqueue_exchange(exec, processes_, name, sent, received, {beside, is_registered_});
    return Kokkos::subview(gathered_, Kokkos::ALL, std::make_pair(std::size_t{0}, own.extent(1)));
  }

  /// Sends rows to their owners, the other way round than gather(). `read` has a row for each that
  /// this process reads. use(arrived, rows) gets what all processes have for the rows that this one
  /// owns: arrived's i-th row is for its own row rows(i), and several may be for the same.
  /// Collective. Fences exec.
  template <class ExecutionSpace, class Number, class Use>
  void give_back(ExecutionSpace const& exec, char const* name,
                 Matrix<Number, MemorySpace> const& read, Use const& use) const {
    std::size_t const columns = read.extent(1);
    Matrix<Number, MemorySpace> const arrived = uninitialized<Matrix<Number, MemorySpace>>(
        exec, "sporades::ghost_rows::buffer", sent_.back(), columns);
    exchange_parts_on<ExecutionSpace, Number>(exec, processes_, name, read.data(), read_,
                                              arrived.data(), sent_, columns);
    use(arrived, rows_);
    fence(exec, "sporades::ghost_rows::give_back");
  }

  std::uint64_t bytes() const {
    return rows_.extent(0) * sizeof(Position) + packed_.bytes() + read_memory_.bytes();
  }

 private:
  std::pair<Position, Position> own_place() const {
    auto const me = static_cast<std::size_t>(processes_.rank());
    return {read_[me], read_[me + 1]};
  }
  template <class ExecutionSpace>
  void reserve(ExecutionSpace const& exec, std::size_t columns) {
    if (gathered_.extent(0) == read_.back() && gathered_.extent(1) == columns) return;
    gathered_ = read_memory_.template matrix<Scalar>(exec, read_.back(), columns);
    fill_view(exec, gathered_, Scalar(0));
  }

  static constexpr Position no_run = ~Position{0};

  Communicator processes_;
  std::vector<Position> read_;  // where each process's rows begin among those read
  std::vector<Position> sent_;  // where each process's rows begin among those sent to it
  std::vector<Position> runs_;  // the first of these, of the own block, where they are a run
  bool reads_all_own_ = false;
  bool is_registered_ = false;  // what is sent and read lies in memory that is, on all processes
  bool goes_beside_ = false;
  Rows rows_;                           // of the own block: those that are sent
  ExchangeMemory<MemorySpace> packed_;  // what is sent
  ExchangeMemory<MemorySpace> read_memory_;
  MatrixType gathered_;  // what is read, there
};

/// Consecutive rows of a matrix for each process: process p's are begins[p] to ends[p] - 1.
struct RowRanges {
  std::vector<std::uint64_t> begins, ends;

  std::uint64_t first(std::size_t p, RowRanges const& others, std::size_t q) const {
    return std::max(begins[p], others.begins[q]);
  }
  /// The number of rows that are both p's here and q's of the others.
  std::uint64_t common(std::size_t p, RowRanges const& others, std::size_t q) const {
    std::uint64_t const end = std::min(ends[p], others.ends[q]), begin = first(p, others, q);
    return end > begin ? end - begin : 0;
  }
};

/// The ranges of rows that processes own.
inline RowRanges ranges_of(RowMap const& rows) {
  return {{rows.begins.begin(), rows.begins.end() - 1},
          {rows.begins.begin() + 1, rows.begins.end()}};
}

/// Moves rows from where they are to where they are wanted. `from` has this process's rows of
/// `given`, which are behind those of the process before, and `to` gets its rows of `wanted`; rows
/// that no process has become 0. Both matrices have the same columns, without gaps; rows that stay
/// on the process may be in their places already. Collective, under this name. Fences exec, or is
/// enqueued: see enqueue_exchange.
template <class ExecutionSpace, class Scalar, class MemorySpace>
void exchange_rows(ExecutionSpace const& exec, Communicator const& processes, char const* name,
                   RowRanges const& given, Matrix<Scalar, MemorySpace> const& from,
                   RowRanges const& wanted, Matrix<Scalar, MemorySpace> const& to) {
  auto const me = static_cast<std::size_t>(processes.rank());
  // Rows that nobody has lie between those that processes have, which are in their order.
  std::uint64_t const begin = wanted.begins[me], end = wanted.ends[me];
  std::uint64_t next = begin;
  auto const clear_up_to = [&](std::uint64_t row) {
    if (row > next)
      fill_view(exec, Kokkos::subview(to, std::make_pair(next - begin, row - begin), Kokkos::ALL),
                Scalar(0));
  };
  for (std::size_t p = 0; p < given.begins.size(); ++p)
    if (given.common(p, wanted, me) > 0) {
      clear_up_to(given.first(p, wanted, me));
      next = std::min(given.ends[p], end);
    }
  clear_up_to(end);
  std::vector<Sent> sent;
  std::vector<Received> received;
  std::size_t const row_bytes = to.extent(1) * sizeof(Scalar);
  auto const* const source = reinterpret_cast<std::byte const*>(from.data());
  auto* const target = reinterpret_cast<std::byte*>(to.data());
  for (std::size_t p = 0; p < given.begins.size(); ++p) {
    auto const process = static_cast<int>(p);
    if (std::uint64_t const rows = given.common(me, wanted, p); rows > 0)
      sent.push_back({process, source + (given.first(me, wanted, p) - given.begins[me]) * row_bytes,
                      rows * row_bytes});
    if (std::uint64_t const rows = given.common(p, wanted, me); rows > 0)
      received.push_back({process,
                          target + (given.first(p, wanted, me) - wanted.begins[me]) * row_bytes,
                          rows * row_bytes});
  }
  enqueue_exchange(exec, processes, name, sent, received);
}

/// Moves rows begins[p] to ends[p] - 1, which are on process p, to where `rows` says. Collective.
/// Fences exec, or is enqueued: see enqueue_exchange.
template <class ExecutionSpace, class Scalar, class MemorySpace>
void move_rows(ExecutionSpace const& exec, RowMap const& rows,
               std::vector<std::uint64_t> const& begins, std::vector<std::uint64_t> const& ends,
               Matrix<Scalar, MemorySpace> const& from, Matrix<Scalar, MemorySpace> const& to) {
  exchange_rows(exec, rows.processes, "rows of products", RowRanges{begins, ends}, from,
                ranges_of(rows), to);
}

/// Rows of a matrix, of which each process has some, or all have all. Padded as make_matrix does.
template <class Scalar, class MemorySpace>
struct DistributedMatrix {
  Matrix<Scalar, MemorySpace> here;
  RowMap rows;
};

/// The rows of A, which is distributed, that `rows` says to `to`, padded as A is. Collective.
/// Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
void move_to(ExecutionSpace const& exec, DistributedMatrix<Scalar, MemorySpace> const& A,
             RowMap const& rows, Matrix<Scalar, MemorySpace> const& to) {
  auto const& begins = A.rows.begins;
  auto const from = with_padding(A.here), target = with_padding(to);
  if (!rows.is_whole()) {
    move_rows(exec, rows, {begins.begin(), begins.end() - 1}, {begins.begin() + 1, begins.end()},
              from, target);
    return;
  }
  auto const own = std::make_pair(A.rows.first(), A.rows.first() + from.extent(0));
  copy_view(exec, Kokkos::subview(target, own, Kokkos::ALL), from);
  std::vector<std::size_t> bounds;
  for (auto begin : begins) bounds.push_back(begin * target.extent(1));
  all_gather_parts(exec, A.rows.processes, "all rows", target.data(), bounds);
}

/// A's rows where `rows` says. Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
Matrix<Scalar, MemorySpace> moved(ExecutionSpace const& exec,
                                  DistributedMatrix<Scalar, MemorySpace> const& A,
                                  RowMap const& rows) {
  if (A.rows.is_whole() && rows.is_whole()) return A.here;
  if (A.rows.is_whole()) {
    std::uint64_t const first = rows.first(), end = first + rows.here(A.here.extent(0));
    return Kokkos::subview(A.here, std::make_pair(first, end), Kokkos::ALL);
  }
  auto const to = make_matrix<Scalar>(exec, "sporades::ghost_rows::moved",
                                      rows.here(A.rows.begins.back()), A.here.extent(1));
  move_to(exec, A, rows, to);
  return to;
}

}  // namespace sporades::detail
