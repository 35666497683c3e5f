// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/mttkrp/alto.hpp>
#include <sporades/kernels/detail/processes/own_rows.hpp>
#include <sporades/kernels/detail/processes/read_factors.hpp>
#include <sporades/kernels/detail/processes/row_chain.hpp>
#include <sporades/kernels/detail/processes/row_share.hpp>
#include <sporades/kernels/mttkrp_plan.hpp>

/// What the products of MTTKRP and Phi have around the sum (row_chunks.hpp): gathered
/// (read_factors.hpp) and deliver. On several processes each has whole chunks of the nonzeros in
/// the order of each mode's rows, or parts of a linear order. It gathers the rows of factors that
/// these read from the processes that own them, and sends the rows of the product to those that own
/// them.

namespace sporades::detail {

/// What a plan holds for that.
template <class Scalar, class Index, class MemorySpace>
struct DistributedProducts : ReadFactors<Scalar, MemorySpace> {
  using ReadFactors<Scalar, MemorySpace>::read;
  using ReadFactors<Scalar, MemorySpace>::factors;
  using ReadFactors<Scalar, MemorySpace>::kept;

  Communicator processes;
  std::vector<RowShare> shares;                       // per mode with rows in order
  std::vector<RowChain<Scalar, MemorySpace>> chains;  // per mode in a linear order: of its rows
  std::vector<std::uint64_t> cells;                   // first_is_read: these rows
  Position parts = 0;                  // that the linear order is divided into; 0: there is none
  ExchangeMemory<MemorySpace> sums;    // rows of a product, as a share numbers them
  ExchangeMemory<MemorySpace> inputs;  // of a factor, as a share of its mode numbers them
  Matrix<Scalar, MemorySpace> lent;    // see lend_products
  Matrix<Scalar, MemorySpace> padded;  // the last such factor, where it was given without
  std::vector<OwnChunks> own;          // per mode in slices, where these are summed last
  Kokkos::View<Index*, MemorySpace> names;  // see OwnRowsLast

  std::uint64_t bytes() const {
    std::uint64_t sum = ReadFactors<Scalar, MemorySpace>::bytes() + sums.bytes() + inputs.bytes() +
                        (lent.span() + padded.span()) * sizeof(Scalar) +
                        names.extent(0) * sizeof(Index);
    for (auto const& mode : chains) sum += mode.bytes();
    return sum;
  }

  /// Room for so many rows in `memory`, sums or inputs.
  template <class ExecutionSpace>
  Matrix<Scalar, MemorySpace> room(ExecutionSpace const& exec, std::uint64_t rows,
                                   std::size_t columns, ExchangeMemory<MemorySpace>& memory) const {
    return memory.template matrix<Scalar>(exec, rows, padded_columns(columns));
  }

  static constexpr std::size_t rows_before = 2;  // of those that are lent

  /// The number of the first row of mode n's share, the one before its first nonzero's, among those
  /// that the process owns; -rows_before where it has none.
  std::ptrdiff_t offset(std::size_t n, RowMap const& rows) const {
    if (shares[n].nnz == 0) return -static_cast<std::ptrdiff_t>(rows_before);
    return static_cast<std::ptrdiff_t>(shares[n].row) - static_cast<std::ptrdiff_t>(rows.first()) -
           1;
  }

  /// Whether `own` is memory that is lent, with room for so many rows from number `offset` on.
  bool is_lent(Matrix<Scalar, MemorySpace> const& own, std::ptrdiff_t offset,
               std::uint64_t rows) const {
    auto const before = static_cast<std::ptrdiff_t>(rows_before);
    return own.extent(0) > 0 && lent.extent(0) > rows_before && own.extent(1) == lent.extent(1) &&
           own.data() == lent.data() + rows_before * lent.extent(1) && offset >= -before &&
           static_cast<std::uint64_t>(offset + before) + rows <= lent.extent(0);
  }

  /// Where rows can travel beside kernels, gathers mode m's factor `own`, which is lent and is not
  /// written up to join_exchange, and returns true. `rows` becomes all rows that are read, the own
  /// ones among them: what all processes do to these rows is done to the factor. Else returns
  /// false. Collective. Enqueued on exec.
  template <class ExecutionSpace>
  bool gather_beside(ExecutionSpace const& exec, std::size_t m,
                     Matrix<Scalar, MemorySpace> const& own, Matrix<Scalar, MemorySpace>& rows) {
    if (read[m].goes_beside()) {
      factors.resize(read.size());
      rows = factors[m] = read[m].gather(exec, "rows of factors", own, true);
      kept.keep(m, own.data(), own.extent(1));
      return true;
    }
    return false;
  }

  /// GhostRows::lend of mode m's factor.
  template <class ExecutionSpace>
  Matrix<Scalar, MemorySpace> lend_factor(ExecutionSpace const& exec, std::size_t m,
                                          std::size_t columns) {
    return read[m].lend(exec, columns);
  }

  /// The sums of rows, or of parts, of mode n's share that begin here, in the room for all of it;
  /// and what is behind them.
  Matrix<Scalar, MemorySpace> begun(std::size_t n, Matrix<Scalar, MemorySpace> const& room) const {
    std::size_t const first = first_begun(n);
    return Matrix<Scalar, MemorySpace>(room.data() + first * room.extent(1), room.extent(0) - first,
                                       room.extent(1));
  }
  /// Row 1 is that of the share's first nonzero, which may have begun on a process before.
  std::size_t first_begun(std::size_t n) const { return shares[n].continues ? 2 : 1; }
};

/// Memory of a plan that processes share, a matrix a mode, for the rows that this process owns,
/// with so many columns, padding included. Empty for modes whose product does not have rows in
/// order. A product into it moves only rows that others own; the next product overwrites it.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Factors<Scalar, MemorySpace> lend_products(ExecutionSpace const& exec,
                                           MttkrpPlan<Scalar, Index, MemorySpace>& plan,
                                           std::size_t columns) {
  Factors<Scalar, MemorySpace> products(plan.dims.size());
  if (!plan.work.distributed) return products;
  auto& distributed = *plan.work.distributed;
  std::vector<std::uint64_t> own(plan.dims.size(), 0);
  std::uint64_t most = 0;
  auto const before = static_cast<std::ptrdiff_t>(distributed.rows_before);
  for (std::size_t n = 0; n < plan.dims.size(); ++n) {
    auto const& choice = plan.choices[n];
    if (choice.strategy == MttkrpStrategy::alto || choice.slices > 1) continue;
    std::uint64_t const here = plan.rows[n].here(plan.dims[n]);
    auto const offset = distributed.offset(n, plan.rows[n]);
    // Else the rows that are owned are others than those of the share.
    if (offset < -before || offset > static_cast<std::ptrdiff_t>(here)) continue;
    own[n] = here;
    auto const end = static_cast<std::uint64_t>(offset + before) + distributed.shares[n].count + 2;
    most = std::max({most, here + distributed.rows_before, end});
  }
  if (distributed.lent.extent(0) < most || distributed.lent.extent(1) != columns)
    distributed.lent = make_matrix<Scalar>(exec, "sporades::mttkrp::lent_rows", most, columns);
  for (std::size_t n = 0; n < own.size(); ++n)
    if (own[n] > 0)
      products[n] = Kokkos::subview(
          distributed.lent,
          std::make_pair(distributed.rows_before, distributed.rows_before + own[n]), Kokkos::ALL);
  return products;
}

/// The rows that a product of several processes on mode n takes and gives here, of each mode.
template <class Plan>
Dims product_dims(Plan const& plan, int n) {
  Dims dims = plan.dims_here();
  if (plan.work.distributed->first_is_read && n != 0) dims[0] = plan.work.distributed->cells.size();
  return dims;
}

/// B, which has mode n's rows, with those of its nonzeros here, as these name them; B itself on one
/// process. Valid until the next call. Collective. Fences exec, or is enqueued: see
/// enqueue_exchange.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Matrix<Scalar, MemorySpace> gathered_rows(ExecutionSpace const& exec,
                                          MttkrpPlan<Scalar, Index, MemorySpace> const& plan, int n,
                                          Matrix<Scalar, MemorySpace> const& B) {
  if (plan.work.distributed) {
    using MatrixType = Matrix<Scalar, MemorySpace>;
    auto& distributed = *plan.work.distributed;
    auto const& share = distributed.shares[static_cast<std::size_t>(n)];
    auto const room = distributed.room(exec, share.count + 2, B.extent(1), distributed.inputs);
    std::size_t const columns = room.extent(1);
    bool const is_direct = B.extent(1) == columns && (B.extent(0) < 2 || B.stride(0) == columns);
    if (!is_direct) distributed.padded = copy_matrix(exec, B);
    MatrixType const own = is_direct ? B : distributed.padded;
    exchange_rows(exec, distributed.processes, "rows of factors",
                  ranges_of(plan.rows[static_cast<std::size_t>(n)]), with_padding(own),
                  share.rows(), MatrixType(room.data() + columns, share.count, columns));
    return Kokkos::subview(room, Kokkos::ALL, std::make_pair(std::size_t{0}, B.extent(1)));
  }
  return B;
}

/// Calls sum(rows) with V, or, unless V has padding, with a matrix that has, which then goes to V.
template <class ExecutionSpace, class Scalar, class MemorySpace, class Sum>
void with_padded_rows(ExecutionSpace const& exec, Matrix<Scalar, MemorySpace> const& V,
                      Sum const& sum) {
  std::size_t const columns = V.extent(1), padded = padded_columns(columns);
  if (columns == padded && (V.extent(0) < 2 || V.stride(0) == padded)) return sum(V);
  Matrix<Scalar, MemorySpace> const rows =
      make_matrix<Scalar>(exec, "sporades::mttkrp::own_rows", V.extent(0), padded);
  sum(rows);
  copy_view(exec, V,
            Matrix<Scalar, MemorySpace>(
                Kokkos::subview(rows, Kokkos::ALL, std::make_pair(std::size_t{0}, columns))));
}

/// V's rows of mode n, which has slices, from the sums of their parts. Collective.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void sum_parts(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan, int n,
               Matrix<Scalar, MemorySpace> const& parts, Matrix<Scalar, MemorySpace> const& V) {
  plan.work.parts[static_cast<std::size_t>(n)].sum(exec, parts, V);
}

/// deliver() of mode n's share of rows in order, in the order of its rows. Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Sum>
void deliver_rows_in_order(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan,
                           std::size_t n, std::size_t R, Matrix<Scalar, MemorySpace> const& own,
                           Sum const& sum) {
  using MatrixType = Matrix<Scalar, MemorySpace>;
  auto& distributed = *plan.work.distributed;
  auto const& share = distributed.shares[n];
  bool const has_parts = plan.choices[n].slices > 1;
  auto const chunks = has_parts ? distributed.own[n] : OwnChunks{};
  bool const owns_chunks = chunks.begin < chunks.end;
  auto const offset = distributed.offset(n, plan.rows[n]);
  Position count = share.count + 2;
  if (has_parts)
    count = std::max(count, distributed.first_begun(n) + plan.work.parts[n].rows_of_parts());
  auto const room = !has_parts && distributed.is_lent(own, offset, count)
                        ? MatrixType(own.data() + offset * static_cast<std::ptrdiff_t>(R), count, R)
                        : distributed.room(exec, count, R, distributed.sums);
  MatrixType const sums =
      Kokkos::subview(room, std::make_pair(Position{0}, share.count + (owns_chunks ? 3 : 2)),
                      std::make_pair(std::size_t{0}, R));
  auto const begun = distributed.begun(n, room);
  if (owns_chunks) {
    auto const send = [&] { plan.work.parts[n].send_parts(exec, begun, true); };
    sum(OwnRowsLast<Index, MemorySpace, decltype(send)>{share, chunks, distributed.names, send},
        sums);
    return plan.work.parts[n].sum_sent_parts(exec, begun, own);
  }
  sum(share, sums);
  if (has_parts)
    sum_parts(exec, plan, static_cast<int>(n), begun, own);
  else
    move_rows(exec, plan.rows[n], share.begins, share.ends, begun, own);
}

/// deliver() of this process's parts of a linear order, whose sums are added in the order of the
/// parts. On hosts. Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void deliver_linear_order(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan,
                          std::size_t n, std::size_t R, Matrix<Scalar, MemorySpace> const& own) {
  using MatrixType = Matrix<Scalar, MemorySpace>;
  auto& distributed = *plan.work.distributed;
  auto const& alto = *plan.formats.template as<AltoTensor>(static_cast<int>(n));
  auto const& partition = alto.partitions[n];
  auto const room = distributed.room(exec, alto.dims[n], R, distributed.sums);
  MatrixType const sums = Kokkos::subview(room, Kokkos::ALL, std::make_pair(std::size_t{0}, R));
  MatrixType rows;
  if (alto.nnz() > 0)
    rows = buffer_sums(exec, alto, distributed.factors, static_cast<int>(n), R, plan.work.carry);
  distributed.chains[n].sum(
      exec, room,
      [&] { pull_rows(exec, "sporades::mttkrp::pull_rows", partition, rows, sums, true); }, own);
}

/// V, the rows of mode n that this process has, from sum(chunks, sums), which gives the rows of the
/// nonzeros here: into V itself; or of a plan with slices their parts, which are then added; or of
/// several processes into memory from which they go to their owners. Collective. Fences exec where
/// there are several processes.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Sum>
void deliver(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan, int n,
             Matrix<Scalar, MemorySpace> const& V, Sum const& sum) {
  auto const mode = static_cast<std::size_t>(n);
  if constexpr (has_mpi)  // which is half of what products are compiled to
    if (plan.work.distributed)
      return with_padded_rows(exec, V, [&](auto const& own) {
        if (plan.choices[mode].strategy != MttkrpStrategy::alto)
          deliver_rows_in_order(exec, plan, mode, V.extent(1), own, sum);
        else if constexpr (!is_gpu<ExecutionSpace>)
          deliver_linear_order(exec, plan, mode, V.extent(1), own);
      });
  AllChunks const chunks{chunk_length<ExecutionSpace>(plan.nnz)};
  if (plan.choices[mode].slices == 1) return sum(chunks, V);
  auto const sums = plan.work.carry.part_rows(exec, plan.work.parts[mode].count(), V.extent(1));
  sum(chunks, sums);
  sum_parts(exec, plan, n, sums, V);
}

}  // namespace sporades::detail
