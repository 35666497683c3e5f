// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/check_types.hpp>
#include <sporades/core/detail/region.hpp>
#include <sporades/kernels/detail/mttkrp/options.hpp>
#include <sporades/kernels/detail/normal_equations/solve.hpp>
#include <sporades/kernels/detail/processes/mttkrp.hpp>
#include <sporades/kernels/detail/row_chunks.hpp>
#include <sporades/kernels/normal_equations.hpp>

/// The functions of kernels/normal_equations.hpp.

namespace sporades {
namespace detail {

/// Options of a plan become those of normal equations for factors of R columns, which sum systems
/// in the order of rows.
inline void plan_for_rows(MttkrpOptions& options, int R) {
  options.rank = static_cast<int>(normal_columns(R));
  if (options.strategy == MttkrpStrategy::automatic) options.strategy = MttkrpStrategy::sorted;
}

/// Walks the chunks of `rows`. Of three modes the other two are unrolled.
template <class ExecutionSpace, class Tensor, class Scalar, class Index, class MemorySpace>
void walk_normal(ExecutionSpace const& exec, Tensor const& X,
                 SortedRows<Scalar, Index, MemorySpace> const& rows,
                 Factors<Scalar, MemorySpace> const& A, int n, int R) {
  auto const walk = [&](auto const& nonzeros) {
    using Walk = NormalWalk<std::decay_t<decltype(nonzeros)>, decltype(rows.sums)>;
    NormalPieces const pieces{static_cast<int>(padded_columns(static_cast<std::size_t>(R))) / 4};
    Walk const kernel{nonzeros, rows.sums, rows.length, pieces};
    launch_items(exec, "sporades::normal_equations::sums", rows.chunks * kernel.panels(), kernel);
  };
  if constexpr (is_instance<Tensor, PackedTensor>) {
    EitherWidth<MemorySpace> const words{X.narrow.data(), X.wide.data()};
    if (sizeof(Index) == 4 && X.order() == 3)
      walk(packed_nonzeros<2>(X, words, A, 0));
    else
      walk(packed_nonzeros(X, A));
  } else {
    walk(coo_nonzeros<any_number>(X, A, n));
  }
}

/// See normal_equations. A: of make_matrix.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_normal_equations(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan,
                          Factors<Scalar, MemorySpace> const& A, int n,
                          Matrix<Scalar, MemorySpace> const& S) {
  int const N = plan.order();
  expects(n >= 0 && n < N, "normal_equations: mode ", n, " of a tensor of order ", N);
  expects(static_cast<int>(A.size()) == N, "normal_equations: ", A.size(), " factors for order ",
          N);
  auto const& choice = plan.choices[static_cast<std::size_t>(n)];
  Region const region("sporades::normal_equations, mode ", n);
  expects(is_by_rows(choice.strategy) && choice.slices == 1,
          "normal_equations: the plan has strategy ", describe(choice), " for mode ", n,
          ", not sorted or fibers");
  std::size_t const R = A[static_cast<std::size_t>(n > 0 ? 0 : N - 1)].extent(1);
  expects(R >= 1 && R <= most_normal_rank, "normal_equations: ", R, " columns, not 1 to ",
          most_normal_rank);
  Dims const dims = plan.work.distributed ? product_dims(plan, n) : plan.dims;
  expects(S.extent(0) == dims[n] && is_padded(S, normal_columns(static_cast<int>(R))),
          "normal_equations: S is ", S.extent(0), " x ", S.extent(1), ", not ", dims[n], " x ",
          normal_columns(static_cast<int>(R)), " of make_matrix");
  for (int m = 0; m < N; ++m)
    expects(m == n || (A[m].extent(0) == dims[m] && is_padded(A[m], R)), "normal_equations: A[", m,
            "] is ", A[m].extent(0), " x ", A[m].extent(1), ", not ", dims[m], " x ", R,
            " of make_matrix");
  in_step(plan, [&] {
    auto const& factors = gathered(exec, plan, A, n);
    deliver(exec, plan, n, S, [&](auto const& chunks, auto const& sums) {
      plan.formats.visit(n, [&](auto& X) {
        using Format = std::decay_t<decltype(X)>;
        if constexpr (is_instance<Format, PackedTensor> || is_instance<Format, CooTensor>)
          chunks.sum(exec, X, sums, plan.work.carry,
                     [&](auto const& instance, auto const& part, auto const& rows) {
                       walk_normal(instance, part, rows, factors, n, static_cast<int>(R));
                     });
      });
    });
  });
}

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void normal_equations(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan,
                      Factors<Scalar, MemorySpace> const& A, int n,
                      Matrix<Scalar, MemorySpace> const& S) {
  using Plan = MttkrpPlan<Scalar, Index, MemorySpace>;
  if constexpr (detail::check_types<ExecutionSpace, Plan>())
    detail::run_normal_equations(exec, plan, A, n, S);
}

template <class ExecutionSpace, class Scalar, class MemorySpace>
void solve_normal_equations(ExecutionSpace const& exec, Matrix<Scalar, MemorySpace> const& S,
                            RowPenalty const& penalty, Matrix<Scalar, MemorySpace> const& A,
                            Matrix<Scalar, MemorySpace> const& residue) {
  using Tensor = CooTensor<Scalar, std::uint32_t, MemorySpace>;
  if constexpr (detail::check_types<ExecutionSpace, Tensor>()) {
    detail::Workspace<MemorySpace> workspace;
    detail::run_normal_solve(exec, S, penalty, A, residue, workspace);
    detail::fence(exec, "sporades::normal_equations::solve");  // its memory goes
  }
}

}  // namespace sporades

#include <sporades/eti/run_normal_equations.hpp>
