// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// First the front door, which includes this file where it belongs: hence a guard.
#include <sporades/kernels/mttkrp.hpp>

#ifndef SPORADES_KERNELS_PROCESSES_MTTKRP
#define SPORADES_KERNELS_PROCESSES_MTTKRP

#include <sporades/kernels/detail/kept_factors.hpp>
#include <sporades/kernels/detail/mttkrp/alto.hpp>
#include <sporades/kernels/detail/mttkrp/packed.hpp>
#include <sporades/kernels/detail/mttkrp/rounded.hpp>
#include <sporades/kernels/detail/mttkrp/sorted.hpp>
#include <sporades/kernels/detail/processes/ghost_rows.hpp>
#include <sporades/kernels/detail/processes/own_rows.hpp>
#include <sporades/kernels/detail/processes/packed_share.hpp>
#include <sporades/kernels/detail/processes/row_chain.hpp>

/// MTTKRP on several processes: of the nonzeros in the order of each mode's rows, or of those in a
/// linear order, a process has whole chunks or parts. It gathers the rows of factors that these
/// read from the processes that own them, and sends the rows of the product to those that own them.

namespace sporades::detail {

/// What a plan holds for that.
template <class Scalar, class Index, class MemorySpace>
struct DistributedProducts {
  Communicator processes;
  std::vector<PackedShare<Scalar, Index, MemorySpace>> shares;  // per mode with rows in order
  AltoTensor<Scalar, Index, MemorySpace> alto;                  // of modes that take it
  std::vector<RowChain<Scalar, MemorySpace>> chains;            // per mode: of its rows
  bool first_is_read = false;        // mode 0's factor is given as the rows that are read:
  std::vector<std::uint64_t> cells;  // these
  Position parts = 0;                // that the linear order is divided into; 0: there is none
  std::vector<GhostRows<Scalar, MemorySpace>> read;  // per mode
  Factors<Scalar, MemorySpace> factors;  // per mode: the rows that the last product read
  ExchangeMemory<MemorySpace> sums;      // rows of a product, as a share numbers them
  ExchangeMemory<MemorySpace> inputs;    // of a factor, as a share of its mode numbers them
  Matrix<Scalar, MemorySpace> lent;      // see lend_products
  KeptFactors kept;
  std::vector<OwnChunks> own;               // per mode in slices, where these are summed last
  Kokkos::View<Index*, MemorySpace> names;  // see sum_own_rows_last

  std::uint64_t bytes() const {
    std::uint64_t sum = sums.bytes() + inputs.bytes() + lent.span() * sizeof(Scalar) +
                        names.extent(0) * sizeof(Index);
    for (auto const& mode : read) sum += mode.bytes();
    for (auto const& mode : chains) sum += mode.bytes();
    for (auto const& share : shares) sum += share.bytes();
    return sum + (alto.order() > 0 ? alto.storage_bytes() : 0);
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

  /// Into `factors`: the rows of the factors of all modes but n that this process's nonzeros read.
  /// Collective. Fences exec.
  template <class ExecutionSpace>
  void gather(ExecutionSpace const& exec, Factors<Scalar, MemorySpace> const& A, int n) {
    factors.resize(A.size());
    for (std::size_t m = 0; m < A.size(); ++m) {
      if (static_cast<int>(m) == n) continue;
      if (m == 0 && first_is_read)
        factors[m] = A[m];
      else if (!kept.has(m, A[m].data(), A[m].extent(1)))
        factors[m] = read[m].gather(exec, "rows of factors", A[m]);
    }
  }

  /// Where rows can travel beside kernels, gathers mode m's factor `own`, which is lent and is not
  /// written up to join_exchange, and returns true. `rows` becomes all rows that are read, the own
  /// ones among them: what all processes do to these rows is done to the factor. Else returns
  /// false. Collective. Enqueued on exec.
  template <class ExecutionSpace>
  bool gather_beside(ExecutionSpace const& exec, std::size_t m,
                     Matrix<Scalar, MemorySpace> const& own, Matrix<Scalar, MemorySpace>& rows) {
    if (!read[m].goes_beside()) return false;
    factors.resize(read.size());
    rows = factors[m] = read[m].gather(exec, "rows of factors", own, true);
    kept.keep(m, own.data(), own.extent(1));
    return true;
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
  if constexpr (has_mpi) {
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
      auto const end =
          static_cast<std::uint64_t>(offset + before) + distributed.shares[n].count + 2;
      most = std::max({most, here + distributed.rows_before, end});
    }
    if (distributed.lent.extent(0) < most || distributed.lent.extent(1) != columns)
      distributed.lent = make_matrix<Scalar>(exec, "sporades::mttkrp::lent_rows", most, columns);
    for (std::size_t n = 0; n < own.size(); ++n)
      if (own[n] > 0)
        products[n] = Kokkos::subview(
            distributed.lent,
            std::make_pair(distributed.rows_before, distributed.rows_before + own[n]), Kokkos::ALL);
  }
  return products;
}

/// Throws Error unless A and V are the rows that the plan says.
template <class Plan, class FactorsType, class Output>
void check_distributed_mttkrp(Plan const& plan, FactorsType const& A, int n, Output const& V) {
  auto const check = [&](char const* name, int m, auto const& matrix) {
    std::uint64_t const here = m == 0 && m != n && plan.work.distributed->first_is_read
                                   ? plan.work.distributed->cells.size()
                                   : plan.rows_of(m).here(plan.dims[static_cast<std::size_t>(m)]);
    expects(matrix.extent(0) == here, "mttkrp: ", name, " of mode ", m, " has ", matrix.extent(0),
            " rows, this process has ", here, " of the mode");
    expects(matrix.extent(1) == V.extent(1), "mttkrp: ", name, " of mode ", m, " has ",
            matrix.extent(1), " columns, V has ", V.extent(1));
  };
  expects(static_cast<int>(A.size()) == plan.order(), "mttkrp: ", A.size(), " factors for order ",
          plan.order());
  for (int m = 0; m < plan.order(); ++m)
    if (m != n) check("the factor", m, A[static_cast<std::size_t>(m)]);
  check("the product", n, V);
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

/// The sums of mode n's share, in the order of its rows, go to the rows' owners. Collective. Fences
/// exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void sum_rows_in_order(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan,
                       std::size_t n, std::size_t R, Matrix<Scalar, MemorySpace> const& own) {
  using MatrixType = Matrix<Scalar, MemorySpace>;
  auto& distributed = *plan.work.distributed;
  auto const& share = distributed.shares[n];
  auto const& choice = plan.choices[n];
  auto const offset = distributed.offset(n, plan.rows[n]);
  Position count = share.count + 2;
  auto const chunks = choice.slices > 1 ? distributed.own[n] : OwnChunks{};
  if (choice.slices > 1)
    count = std::max(count, distributed.first_begun(n) + plan.work.parts[n].rows_of_parts());
  auto const room = choice.slices == 1 && distributed.is_lent(own, offset, count)
                        ? MatrixType(own.data() + offset * static_cast<std::ptrdiff_t>(R), count, R)
                        : distributed.room(exec, count, R, distributed.sums);
  bool const owns_chunks = chunks.begin < chunks.end;
  MatrixType const sums =
      Kokkos::subview(room, std::make_pair(Position{0}, share.count + (owns_chunks ? 3 : 2)),
                      std::make_pair(std::size_t{0}, R));
  auto const sum_packed = [&](auto const& walk) {
    if (!owns_chunks) {
      sum_shared_rows(distributed.processes, exec, share, sums, plan.work.carry, walk);
      return;
    }
    auto const parts = distributed.begun(n, room);
    sum_own_rows_last(distributed.processes, exec, share, chunks, distributed.names, sums,
                      plan.work.carry, walk,
                      [&] { plan.work.parts[n].send_parts(exec, parts, true); });
    plan.work.parts[n].sum_sent_parts(exec, parts, own);
  };
  bool const is_fibers = choice.strategy == MttkrpStrategy::fibers;
  int const split = is_fibers ? choice.split : 0;
  if (share.coo.order() > 0)
    with_unrolled_modes<Index>(share.coo.order() - 1, [&](auto others) {
      bool const aligned = all_rows_aligned(distributed.factors, static_cast<int>(n), sums);
      sum_shared_list(distributed.processes, exec, share, share.coo, sums, plan.work.carry,
                      [&](auto const& instance, auto const& part, auto const& rows) {
                        walk_rows<TileWidths::coarse>(
                            instance, "sporades::mttkrp::sorted",
                            coo_nonzeros<others()>(part, distributed.factors, static_cast<int>(n)),
                            rows.sums, rows.length, rows.chunks, sums.extent(1), aligned);
                      });
    });
  else if (choice.gather == GatherPrecision::full)
    sum_packed([&](auto const& instance, auto const& part, auto const& rows) {
      walk_packed(instance, is_fibers ? "sporades::mttkrp::fibers" : "sporades::mttkrp::sorted",
                  part, rows, distributed.factors, sums, split);
    });
  else {
    plan.work.rounded.round(exec, choice.gather, distributed.factors, n);
    sum_packed([&](auto const& instance, auto const& part, auto const& rows) {
      walk_rounded(instance, part, rows, plan.work.rounded, choice.gather, sums, split);
    });
  }
  if (owns_chunks) return;
  if (choice.slices > 1)
    plan.work.parts[n].sum(exec, distributed.begun(n, room), own);
  else
    move_rows(exec, plan.rows[n], share.begins, share.ends, distributed.begun(n, room), own);
}

/// The sums of this process's parts of a linear order go to the owners of mode n's rows, and are
/// added in the order of the parts. On hosts. Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void sum_linear_order(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan,
                      std::size_t n, std::size_t R, Matrix<Scalar, MemorySpace> const& own) {
  using MatrixType = Matrix<Scalar, MemorySpace>;
  auto& distributed = *plan.work.distributed;
  auto const& partition = distributed.alto.partitions[n];
  auto const room = distributed.room(exec, distributed.alto.dims[n], R, distributed.sums);
  MatrixType const sums = Kokkos::subview(room, Kokkos::ALL, std::make_pair(std::size_t{0}, R));
  MatrixType rows;
  if (distributed.alto.nnz() > 0)
    rows = buffer_sums(exec, distributed.alto, distributed.factors, static_cast<int>(n), R,
                       plan.work.carry);
  distributed.chains[n].sum(
      exec, room,
      [&] { pull_rows(exec, "sporades::mttkrp::pull_rows", partition, rows, sums, true); }, own);
}

/// V's own rows of the product on mode n. Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp_distributed(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan,
                        Factors<Scalar, MemorySpace> const& A, int n,
                        Matrix<Scalar, MemorySpace> const& V) {
  if constexpr (has_mpi) {
    auto& distributed = *plan.work.distributed;
    auto const mode = static_cast<std::size_t>(n);
    check_distributed_mttkrp(plan, A, n, V);
    distributed.gather(exec, A, n);
    with_padded_rows(exec, V, [&](auto const& own) {
      if (plan.choices[mode].strategy != MttkrpStrategy::alto)
        sum_rows_in_order(exec, plan, mode, V.extent(1), own);
      else if constexpr (!is_gpu<ExecutionSpace>)
        sum_linear_order(exec, plan, mode, V.extent(1), own);
    });
  }
}

}  // namespace sporades::detail

#endif
