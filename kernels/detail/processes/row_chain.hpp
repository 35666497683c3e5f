// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/processes/ghost_rows.hpp>

namespace sporades::detail {

/// Rows that several processes add to, each after those of lower rank that do: a row goes from one
/// to the next, and from the last to the process that owns it. So a sum has the bits of one
/// process, which adds in the order of ranks, and a row travels as often as processes have a part
/// of it. Processes wait for one another while they add, and only then.
template <class Scalar, class MemorySpace>
class RowChain {
  using MatrixType = Matrix<Scalar, MemorySpace>;
  using Rows = Kokkos::View<Position*, MemorySpace>;

 public:
  RowChain() = default;

  /// owned: process p owns rows owned[p] to owned[p + 1] - 1. added: the rows, of all, that this
  /// process adds to, ascending, each once; numbers: what they are called here. Collective. Fences
  /// exec.
  template <class ExecutionSpace>
  RowChain(Communicator const& processes, ExecutionSpace const& exec,
           std::vector<std::uint64_t> const& owned, std::vector<std::uint64_t> const& added,
           std::vector<Position> const& numbers)
      : processes_(processes) {
    auto const P = static_cast<std::size_t>(processes.size());
    std::uint64_t const first = owned[static_cast<std::size_t>(processes.rank())];
    AskedRows const lists(processes, owned, added);
    // The owners of rows know who adds to which row, and tell who comes before and behind.
    constexpr int nobody = -1;
    std::vector<int> before(lists.rows.size(), nobody), behind(lists.rows.size(), nobody);
    std::vector<Position> last(owned[static_cast<std::size_t>(processes.rank()) + 1] - first,
                               lists.rows.size());
    std::vector<int> last_process(last.size(), nobody);
    for (std::size_t p = 0; p < P; ++p)
      for (Position i = lists.asked[p]; i < lists.asked[p + 1]; ++i) {
        auto const row = lists.rows[i] - first;
        before[i] = last_process[row];
        if (last_process[row] != nobody) behind[last[row]] = static_cast<int>(p);
        last[row] = i;
        last_process[row] = static_cast<int>(p);
      }
    std::vector<int> from(added.size()), to(added.size());
    all_to_all_parts(processes, "lists of rows", before.data(), lists.asked, from.data(),
                     lists.wanted);
    all_to_all_parts(processes, "lists of rows", behind.data(), lists.asked, to.data(),
                     lists.wanted);
    std::vector<std::vector<Position>> arriving(P), leaving(P), ending(P), own(P);
    for (std::size_t p = 0; p < P; ++p)
      for (Position i = lists.wanted[p]; i < lists.wanted[p + 1]; ++i) {
        if (from[i] != nobody) arriving[static_cast<std::size_t>(from[i])].push_back(numbers[i]);
        if (to[i] != nobody)
          leaving[static_cast<std::size_t>(to[i])].push_back(numbers[i]);
        else
          ending[p].push_back(numbers[i]);
      }
    for (std::size_t row = 0; row < last.size(); ++row)
      if (last_process[row] != nobody)
        own[static_cast<std::size_t>(last_process[row])].push_back(row);
    arriving_ = List(exec, arriving);
    leaving_ = List(exec, leaving);
    ending_ = List(exec, ending);
    own_ = List(exec, own);
    auto const counts = all_gather(processes, "lists of rows", added.size());
    for (std::size_t p = 0; p < P; ++p)
      if (counts[p] > 0) turns_.push_back(static_cast<int>(p));
    fence(exec, "sporades::row_chain::make");
  }

  /// add() adds this process's part to the rows of `sums`, which holds what those before it added.
  /// own: the rows that this process owns; those that nobody adds to become 0. Both have the same
  /// columns, without gaps. Collective. Fences exec.
  template <class ExecutionSpace, class Add>
  void sum(ExecutionSpace const& exec, MatrixType const& sums, Add const& add,
           MatrixType const& own) const {
    fill_view(exec, sums, Scalar(0));
    fill_view(exec, own, Scalar(0));
    for (int turn : turns_) {
      bool const is_mine = turn == processes_.rank();
      if (is_mine) add();
      move(exec, "partial rows", sums, leaving_, is_mine ? everybody : nobody, sums, arriving_,
           turn);
    }
    move(exec, "rows of products", sums, ending_, everybody, own, own_, everybody);
  }

  std::uint64_t bytes() const {
    return sizeof(Position) * (arriving_.rows.extent(0) + leaving_.rows.extent(0) +
                               ending_.rows.extent(0) + own_.rows.extent(0));
  }

 private:
  static constexpr int everybody = -1, nobody = -2;  // instead of one process

  /// Rows for or from each process.
  struct List {
    std::vector<Position> begins;  // of each process, and the end
    Rows rows;

    List() = default;
    template <class ExecutionSpace>
    List(ExecutionSpace const& exec, std::vector<std::vector<Position>> const& parts) : begins{0} {
      std::vector<Position> all;
      for (auto const& part : parts) {
        all.insert(all.end(), part.begin(), part.end());
        begins.push_back(all.size());
      }
      rows = to_view(exec, "sporades::row_chain::rows", all);
    }
    /// The rows of a process, of everybody or of nobody: from the first to before the second.
    std::pair<Position, Position> of(int process) const {
      if (process == nobody) return {0, 0};
      if (process == everybody) return {0, begins.back()};
      auto const p = static_cast<std::size_t>(process);
      return {begins[p], begins[p + 1]};
    }
  };

  /// Rows out of a matrix, for those that `out` names, into another from those that `in` names.
  template <class ExecutionSpace>
  void move(ExecutionSpace const& exec, char const* name, MatrixType const& from, List const& out,
            int to_whom, MatrixType const& to, List const& in, int from_whom) const {
    auto const [out_begin, out_end] = out.of(to_whom);
    auto const [in_begin, in_end] = in.of(from_whom);
    std::size_t const columns = from.extent(1), row_bytes = columns * sizeof(Scalar);
    auto const room = [&](Position rows) {
      return MatrixType(
          uninitialized<MatrixType>(exec, "sporades::row_chain::rows", rows, columns));
    };
    auto const packed = room(out_end - out_begin), arrived = room(in_end - in_begin);
    auto const part = [](Rows const& rows, Position begin, Position end) {
      return Rows(Kokkos::subview(rows, std::make_pair(begin, end)));
    };
    copy_rows<false>(exec, "sporades::row_chain::pack", from, part(out.rows, out_begin, out_end),
                     packed);
    std::vector<Sent> parts;
    std::vector<Received> arriving;
    for (int p = 0; p < processes_.size(); ++p) {
      auto const [first, end] = out.of(p);
      if (to_whom == everybody && first < end)
        parts.push_back({p, reinterpret_cast<std::byte const*>(packed.data()) + first * row_bytes,
                         (end - first) * row_bytes});
      auto const [in_first, in_last] = in.of(p);
      if ((from_whom == everybody || from_whom == p) && in_first < in_last)
        arriving.push_back(
            {p, reinterpret_cast<std::byte*>(arrived.data()) + (in_first - in_begin) * row_bytes,
             (in_last - in_first) * row_bytes});
    }
    exchange_on(exec, processes_, name, parts, arriving);
    copy_rows<true>(exec, "sporades::row_chain::place", arrived, part(in.rows, in_begin, in_end),
                    to);
    fence(exec, "sporades::row_chain::move");
  }

  Communicator processes_;
  std::vector<int> turns_;  // processes that add anything
  List arriving_, leaving_, ending_, own_;
};

}  // namespace sporades::detail
