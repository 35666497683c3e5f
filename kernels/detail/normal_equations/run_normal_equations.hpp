// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/check_types.hpp>
#include <sporades/core/detail/region.hpp>
#include <sporades/kernels/detail/mttkrp/options.hpp>
#include <sporades/kernels/detail/normal_equations/rows_at_once.hpp>
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

/// use(walk) of the chunks of `rows`. Of three modes the other two are unrolled.
template <class Tensor, class Scalar, class Index, class MemorySpace, class Use>
void with_normal_walk(Tensor const& X, SortedRows<Scalar, Index, MemorySpace> const& rows,
                      Factors<Scalar, MemorySpace> const& A, int n, int R, Use const& use) {
  auto const walk = [&](auto const& nonzeros) {
    NormalPieces const pieces{static_cast<int>(padded_columns(static_cast<std::size_t>(R))) / 4};
    use(NormalWalk<std::decay_t<decltype(nonzeros)>, decltype(rows.sums)>{nonzeros, rows.sums,
                                                                          rows.length, pieces});
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
                       with_normal_walk(part, rows, factors, n, static_cast<int>(R),
                                        [&](auto const& walk) {
                                          launch_items(instance, "sporades::normal_equations::sums",
                                                       rows.chunks * walk.panels(), walk);
                                        });
                     });
      });
    });
  });
}

/// normal_equations on mode n and solve_normal_equations of all its rows at once, on hosts: see
/// solve_at_once. S then has only rows that chunks share. Returns false, and does nothing, where
/// rows depend on one another, S is in panels or windows, or processes share it. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
bool solve_rows_at_once(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan,
                        Factors<Scalar, MemorySpace> const& A, int n,
                        Matrix<Scalar, MemorySpace> const& S, RowPenalty const& penalty,
                        Matrix<Scalar, MemorySpace> const& residue,
                        Workspace<MemorySpace>& workspace) {
  bool is_done = false;
  if constexpr (!is_gpu<ExecutionSpace>)
    if (!plan.work.distributed && !plan.work.carry.atomic && penalty.smoothness == 0)
      plan.formats.visit(n, [&](auto& X) {
        using Format = std::decay_t<decltype(X)>;
        bool every_row = false;
        if constexpr (is_instance<Format, PackedTensor>) {
          if (X.out_of_core) return;
          every_row = X.rows.extent(0) == S.extent(0);
        }
        if constexpr (is_instance<Format, PackedTensor> || is_instance<Format, CooTensor>) {
          if (X.nnz() == 0) return;
          auto const kernel =
              normal_solve<ExecutionSpace>(S, penalty, A[static_cast<std::size_t>(n)], residue);
          auto const rows = begin_rows(exec, X.nnz(), chunk_length<ExecutionSpace>(plan.nnz), true,
                                       S, plan.work.carry);
          with_normal_walk(X, rows, A, n, kernel.R, [&](auto const& walk) {
            if (walk.panels() > 1) return;
            solve_at_once(exec, walk, kernel, rows, every_row, workspace,
                          [&] { finish_rows(exec, rows, S, plan.work.carry); });
            is_done = true;
          });
        }
      });
  return is_done;
}

/// normal_equations on mode n, and solve_normal_equations of all its rows: at once where S is
/// large. Fences exec, or is enqueued.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_normal_rows(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan,
                     Factors<Scalar, MemorySpace> const& A, int n,
                     Matrix<Scalar, MemorySpace> const& S, RowPenalty const& penalty,
                     Matrix<Scalar, MemorySpace> const& residue,
                     Workspace<MemorySpace>& workspace) {
  bool const pays = pays_at_once<Scalar>(exec, static_cast<double>(S.extent(0)), S.extent(1));
  if (pays && solve_rows_at_once(exec, plan, A, n, S, penalty, residue, workspace)) return;
  run_normal_equations(exec, plan, A, n, S);
  run_normal_solve(exec, S, penalty, A[static_cast<std::size_t>(n)], residue, workspace);
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
