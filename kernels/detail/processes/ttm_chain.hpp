// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/processes/read_factors.hpp>
#include <sporades/kernels/detail/processes/row_share.hpp>
#include <sporades/kernels/detail/ttm_chain/chunks.hpp>
#include <sporades/kernels/ttm_chain_plan.hpp>

/// What ttm_chain has around the sum (row_chunks.hpp): gathered (read_factors.hpp) and deliver. On
/// several processes, with strategy `fused`, each has whole chunks of the nonzeros in the order of
/// each mode's rows. It gathers the rows of factors that these read from the processes that own
/// them, and sends the rows of the product to where the plan needs them. A[m] has the rows of
/// plan.work.where[m].factor there.

namespace sporades::detail {

/// What a plan holds for that. Rows of shares are those of non-empty slices, numbered.
template <class Scalar, class Index, class MemorySpace>
struct DistributedChains : ReadFactors<Scalar, MemorySpace> {
  Communicator processes;
  std::vector<RowShare> shares;  // per mode

  /// The rows of mode n's product where they begin.
  RowMap begun(int n) const {
    auto const& share = shares[static_cast<std::size_t>(n)];
    RowMap rows{processes, share.begins};
    rows.begins.push_back(share.ends.back());
    return rows;
  }
};

/// Memory for the products of all modes of a shared plan, whose `where` says which rows come here,
/// and for the rows that are summed here. Throws Error where one of them exceeds so many bytes.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void place_distributed_products(ExecutionSpace const& exec,
                                TtmChainPlan<Scalar, Index, MemorySpace>& plan, double limit) {
  std::size_t summed = 0, here = 0;
  for (int n = 0; n < plan.order(); ++n) {
    auto const& where = plan.work.where[static_cast<std::size_t>(n)];
    auto const& share = plan.work.distributed->shares[static_cast<std::size_t>(n)];
    std::size_t const columns = plan.choices[static_cast<std::size_t>(n)].columns.count();
    std::uint64_t const rows =
        std::max(share.count + 2, where.product.here(where.used.begins.back()));
    double const bytes = static_cast<double>(rows) * static_cast<double>(columns * sizeof(Scalar));
    expects(bytes <= limit, "make_ttm_chain_plan: Y of mode ", n, " has ", rows, " rows x ",
            columns, " columns on process ", plan.work.distributed->processes.rank(), " and needs ",
            enough_text(bytes), ", the memory limit is ", room_text(limit));
    summed = std::max<std::size_t>(summed, (share.count + 2) * columns);
    here = std::max<std::size_t>(here, where.product.here(where.used.begins.back()) * columns);
  }
  plan.work.product =
      zeroed<Vector<Scalar, MemorySpace>>(exec, "sporades::ttm_chain::product", here);
  plan.work.between =
      zeroed<Vector<Scalar, MemorySpace>>(exec, "sporades::ttm_chain::summed", summed);
  fence(exec, "sporades::ttm_chain::place_products");
}

/// A process's nonzeros of a mode's share, and the rows of all factors that they name.
template <class Scalar, class Index, class MemorySpace>
struct NamedShare {
  CooTensor<Scalar, Index, MemorySpace> X;  // in the order of to_coo of one process's plan
  Factors<Scalar, MemorySpace> factors;
  NonzeroPlaces places;
};

/// The share of mode n and the rows that it names. A: as above; U: the rows of A[n] of
/// plan.work.where[n].used. The rows are valid until the next product. Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
NamedShare<Scalar, Index, MemorySpace> named_share(ExecutionSpace const& exec,
                                                   TtmChainPlan<Scalar, Index, MemorySpace>& plan,
                                                   Factors<Scalar, MemorySpace> const& A,
                                                   Matrix<Scalar, MemorySpace> const& U, int n) {
  auto const mode = static_cast<std::size_t>(n);
  auto const& processes = plan.work.distributed->processes;
  auto const& share = plan.work.distributed->shares[mode];
  NamedShare<Scalar, Index, MemorySpace> named;
  named.places = {processes, exclusive_scan_of_all(processes, share.nnz)};
  named.factors = gathered(exec, plan, A, n);
  // The share's rows are called 1, 2, ...
  auto& rows = named.factors[mode];
  rows = make_matrix<Scalar>(exec, "sporades::ttm_chain::rows", share.count + 1, U.extent(1));
  auto const from = with_padding(U), to = with_padding(rows);
  exchange_rows(exec, processes, "rows of factors", ranges_of(plan.work.where[mode].used), from,
                share.rows(),
                Matrix<Scalar, MemorySpace>(to.data() + to.extent(1), share.count, to.extent(1)));
  if (share.nnz == 0) {
    named.X = allocate_coo<Scalar, Index>(exec, Dims(A.size(), 0), 0);
    return named;
  }
  named.X = to_coo(exec, *plan.formats.template as<PackedTensor>(n));  // and one of the row behind
  auto const here = std::make_pair(Position{0}, share.nnz);
  named.X.coordinates = Kokkos::subview(named.X.coordinates, Kokkos::ALL, here);
  named.X.values = Kokkos::subview(named.X.values, here);
  return named;
}

/// The product of mode n from sum(chunks, shape, Y), which gives the rows of the nonzeros here: in
/// the plan's memory for products; or of several processes in memory from which they go to where
/// the plan needs them. shape: of the chunks. Collective. Fences exec where there are several.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Sum>
TtmChainProduct<Scalar, Index, MemorySpace> deliver(ExecutionSpace const& exec,
                                                    TtmChainPlan<Scalar, Index, MemorySpace>& plan,
                                                    int n, Sum const& sum) {
  using MatrixType = Matrix<Scalar, MemorySpace>;
  auto const mode = static_cast<std::size_t>(n);
  auto const& columns = plan.choices[mode].columns;
  std::size_t const width = columns.count();
  auto shape = chain_shape<ExecutionSpace>(plan.nnz, columns, plan.choices[mode].strategy);
  if (plan.work.distributed) {
    auto& distributed = *plan.work.distributed;
    auto const& share = distributed.shares[mode];
    auto const& where = plan.work.where[mode];
    shape.count = share.chunks;
    MatrixType const sums(plan.work.between.data(), share.count + 2, width);
    sum(share, shape, sums);
    auto const me = static_cast<std::size_t>(distributed.processes.rank());
    // Row 1 is that of the share's first nonzero, which may have begun on a process before.
    MatrixType const begun(sums.data() + (share.continues ? 2 : 1) * width,
                           share.ends[me] - share.begins[me], width);
    MatrixType const Y(plan.work.product.data(), where.product.here(where.used.begins.back()),
                       width);
    move_to(exec, DistributedMatrix<Scalar, MemorySpace>{begun, distributed.begun(n)},
            where.product, Y);
    return {Y, plan.rows[mode], &columns, where};
  }
  MatrixType const Y(plan.work.product.data(), plan.rows[mode].extent(0), width);
  sum(AllChunks{shape.length}, shape, Y);
  return {Y, plan.rows[mode], &columns};
}

}  // namespace sporades::detail
