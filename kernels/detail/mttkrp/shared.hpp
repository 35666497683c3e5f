// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/kept_factors.hpp>
#include <sporades/kernels/detail/mttkrp/packed.hpp>
#include <sporades/kernels/detail/mttkrp/rounded.hpp>
#include <sporades/kernels/detail/packed_share.hpp>
#include <sporades/kernels/detail/shared_rows.hpp>

/// MTTKRP on several processes: of the nonzeros in the order of each mode's rows, a process has
/// whole chunks. It gathers the rows of factors that these read from the processes that own them,
/// and sends the rows of the product to those that own them.

namespace sporades::detail {

/// What a plan holds for that.
template <class Scalar, class Index, class MemorySpace>
struct SharedProducts {
  Communicator processes;
  std::vector<PackedShare<Scalar, Index, MemorySpace>> shares;  // per mode
  std::vector<SharedRows<Scalar, MemorySpace>> read;            // per mode
  Factors<Scalar, MemorySpace> factors;  // per mode: the rows that the last product read
  Matrix<Scalar, MemorySpace> sums;      // rows of a product, as a share numbers them
  KeptFactors kept;

  std::uint64_t bytes() const {
    std::uint64_t sum = sums.span() * sizeof(Scalar);
    for (auto const& mode : read) sum += mode.bytes();
    for (auto const& share : shares)
      if (share.packed.order() > 0) sum += share.packed.storage_bytes();
    return sum;
  }

  /// Room for the sums of mode n's share.
  template <class ExecutionSpace>
  Matrix<Scalar, MemorySpace> room(ExecutionSpace const& exec, int n, std::size_t columns) {
    std::uint64_t rows = 0;
    for (auto const& share : shares) rows = std::max(rows, share.count + 2);
    std::size_t const padded = padded_columns(columns);
    if (sums.extent(0) < rows || sums.extent(1) != padded)
      sums = make_matrix<Scalar>(exec, "sporades::mttkrp::shared_sums", rows, padded);
    return Matrix<Scalar, MemorySpace>(sums.data(), shares[static_cast<std::size_t>(n)].count + 2,
                                       padded);
  }
};

/// Throws Error unless A and V are the rows that the plan says.
template <class Plan, class FactorsType, class Output>
void check_shared_mttkrp(Plan const& plan, FactorsType const& A, int n, Output const& V) {
  auto const check = [&](char const* name, int m, auto const& matrix) {
    std::uint64_t const here = plan.rows_of(m).here(plan.dims[static_cast<std::size_t>(m)]);
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

/// V's own rows of the product on mode n. Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp_shared(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan,
                   Factors<Scalar, MemorySpace> const& A, int n,
                   Matrix<Scalar, MemorySpace> const& V) {
  if constexpr (has_mpi) {
    using MatrixType = Matrix<Scalar, MemorySpace>;
    auto& shared = *plan.shared;
    auto const N = static_cast<std::size_t>(plan.order()), mode = static_cast<std::size_t>(n);
    check_shared_mttkrp(plan, A, n, V);
    shared.factors.resize(N);
    for (std::size_t m = 0; m < N; ++m)
      if (m != mode && !shared.kept.has(m, A[m].data(), A[m].extent(1)))
        shared.factors[m] = shared.read[m].gather(exec, "rows of factors", A[m]);
    auto const& share = shared.shares[mode];
    auto const& choice = plan.choices[mode];
    auto const room = shared.room(exec, n, V.extent(1));
    auto const columns = std::make_pair(std::size_t{0}, V.extent(1));
    MatrixType const sums = Kokkos::subview(room, Kokkos::ALL, columns);
    bool const is_fibers = choice.strategy == MttkrpStrategy::fibers;
    int const split = is_fibers ? choice.split : 0;
    if (choice.gather == GatherPrecision::full)
      sum_shared_rows(shared.processes, exec, share, sums, plan.carry,
                      [&](auto const& instance, auto const& part, auto const& rows) {
                        walk_packed(
                            instance,
                            is_fibers ? "sporades::mttkrp::fibers" : "sporades::mttkrp::sorted",
                            part, rows, shared.factors, sums, split);
                      });
    else
      with_rounded_type<Scalar>(choice.gather, [&](auto number) {
        using To = decltype(number);
        std::vector<RawMatrix<To const, MemorySpace>> rounded(N);
        for (std::size_t m = 0; m < N; ++m)
          if (m != mode) rounded[m] = plan.rounded.template round<To>(exec, m, shared.factors[m]);
        sum_shared_rows(shared.processes, exec, share, sums, plan.carry,
                        [&](auto const& instance, auto const& part, auto const& rows) {
                          walk_rounded(instance, part, rows, rounded, sums, split);
                        });
      });
    auto const me = static_cast<std::size_t>(shared.processes.rank());
    std::uint64_t const begun = share.ends[me] - share.begins[me];
    // Row 1 is that of the share's first nonzero, which may have begun on a process before.
    MatrixType const from(room.data() + (share.continues ? 2 : 1) * room.extent(1), begun,
                          room.extent(1));
    bool const is_direct =
        V.extent(1) == room.extent(1) && (V.extent(0) < 2 || V.stride(0) == room.extent(1));
    MatrixType const to = is_direct
                              ? V
                              : MatrixType(make_matrix<Scalar>(exec, "sporades::mttkrp::own_rows",
                                                               V.extent(0), room.extent(1)));
    move_rows(exec, plan.rows[mode], share.begins, share.ends, from, to);
    if (!is_direct) copy_view(exec, V, MatrixType(Kokkos::subview(to, Kokkos::ALL, columns)));
  }
}

}  // namespace sporades::detail
