// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/kernels/mttkrp.hpp>

/// MTTKRP on all modes of one tensor, one after another, as a sweep of alternating least squares
/// takes them. What products of several modes have in common is computed once (a dimension tree of
/// one fork: Phan, Tichavský, Cichocki, IEEE Trans. Signal Process. 61(19), 2013; Li et al., IPDPS
/// 2017), and strategy `flycoo` finds the nonzeros in order for each mode.

namespace sporades {
namespace detail {

/// The place of mode n among these, or their number where it is none of them.
inline std::size_t place_of(int n, std::vector<int> const& modes) {
  return static_cast<std::size_t>(std::find(modes.begin(), modes.end(), n) - modes.begin());
}

}  // namespace detail

/// What a plan of MTTKRP on all modes is made for.
struct MttkrpAllModesOptions {
  MttkrpOptions products = {};
  /// With strategy `automatic`: fuses modes where that pays.
  bool dimension_tree = true;
};

/// What mttkrp_all_modes needs of a tensor X. Some modes S, one after another in the order of
/// updates, may be fused into one mode of a tensor X' of lower order, whose index is that of a cell
/// of the grid of S. With
///   K = the Khatri-Rao product of the factors of S (a row a cell), and
///   T = MTTKRP of X' on the fused mode (a row a cell),
/// a mode outside S is an MTTKRP of X' with K as one factor, and a mode n of S
///   V(i, r) = sum over cells c with c_n = i of T(c, r) prod_{m in S, m != n} A_m(c_m, r),
/// which is an MTTKRP of the grid as a tensor of ones with T as one more factor. T serves all modes
/// of S, since none outside changes between them. Of several processes each computes the rows of K
/// that its nonzeros read: all have all rows of the factors of S.
template <class ScalarType, class IndexType, class MemorySpaceType>
struct MttkrpAllModesPlan {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  std::vector<int> fused;                        // S; none: products are those of `whole` alone
  std::vector<int> others;                       // rising
  MttkrpPlan<Scalar, Index, MemorySpace> whole;  // X, or X': the fused mode, then the others
  MttkrpPlan<Scalar, Index, MemorySpace> grid;   // the modes of S, then the cell
  CooTensor<Scalar, Index, MemorySpace> cells;   // of the grid: those that this process reads
  Matrix<Scalar, MemorySpace> K, T;              // of these cells x columns; of whole.rows_of(0)
  bool has_K = false, has_T = false;             // they are those of the present factors

  int order() const {
    return fused.empty() ? whole.order() : static_cast<int>(fused.size() + others.size());
  }
  /// The rows of mode n's factor, and of a product on it, that this process has.
  RowMap rows_of(int n) const {
    if (fused.empty()) return whole.rows_of(n);
    auto const place = detail::place_of(n, fused);
    return place < fused.size() ? grid.rows_of(static_cast<int>(place))
                                : whole.rows_of(1 + static_cast<int>(detail::place_of(n, others)));
  }
  /// The rows of each mode's factor that this process has.
  std::vector<RowMap> rows() const {
    std::vector<RowMap> all;
    for (int n = 0; n < order(); ++n) all.push_back(rows_of(n));
    return all;
  }
  std::uint64_t storage_bytes() const {
    return whole.storage_bytes() + (fused.empty() ? 0 : grid.storage_bytes()) +
           cells.storage_bytes() + (K.span() + T.span()) * sizeof(Scalar);
  }
};

/// Builds the formats for products on all modes; see make_mttkrp_plan. Fences exec. Throws as that
/// does.
template <class ExecutionSpace, class Tensor>
detail::PlanOf<MttkrpAllModesPlan, Tensor, ExecutionSpace> make_mttkrp_all_modes_plan(
    ExecutionSpace const& exec, Tensor X, MttkrpAllModesOptions const& options = {});

/// make_mttkrp_all_modes_plan of a tensor whose nonzeros are those of all processes: see
/// make_mttkrp_plan. The modes that are fused are those of one process with enough memory.
/// Collective. Fences exec. Throws as make_mttkrp_plan of several processes.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MttkrpAllModesPlan<Scalar, Index, MemorySpace> make_mttkrp_all_modes_plan(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> X, MttkrpAllModesOptions const& options = {});

/// MTTKRP on modes 0 to N - 1, in this order:
///   V[n] = X_(n) (A_{N-1} ⊙ ... ⊙ A_{n+1} ⊙ A_{n-1} ⊙ ... ⊙ A_0), then update(n)
/// update(n) may enqueue on exec what changes A[n], as alternating least squares does, and nothing
/// else. Where something else changes between two calls, call factors_changed.
/// A and V: N matrices each, as those of mttkrp. V[n] aliases no A[m], m != n, and is not used
/// after update(n), so that all V[n] may share memory.
///   auto plan = make_mttkrp_all_modes_plan(exec, X, {{MttkrpStrategy::automatic, R}});
///   mttkrp_all_modes(exec, plan, A, V, [&](int n) { solve(V[n], A[n]); });
/// Enqueued on exec, does not fence, except for what update does and for plans that stream. At most
/// N^2 R nnz flops. Throws Error if the shapes disagree.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Update>
void mttkrp_all_modes(ExecutionSpace const& exec,
                      MttkrpAllModesPlan<Scalar, Index, MemorySpace>& plan,
                      Factors<Scalar, MemorySpace> const& A, Factors<Scalar, MemorySpace> const& V,
                      Update const& update);

/// MTTKRP on modes 0 to N - 1 with factors that stay as they are. A, V, cost and errors: see
/// mttkrp_all_modes with an update. Enqueued on exec, does not fence, except for plans that stream.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp_all_modes(ExecutionSpace const& exec,
                      MttkrpAllModesPlan<Scalar, Index, MemorySpace>& plan,
                      Factors<Scalar, MemorySpace> const& A, Factors<Scalar, MemorySpace> const& V);

/// The product on mode n alone, as mttkrp(exec, plan, A, n, V) of an MttkrpPlan. From one call to
/// the next only A[n] may change. Where something else changes, call factors_changed.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp(ExecutionSpace const& exec, MttkrpAllModesPlan<Scalar, Index, MemorySpace>& plan,
            Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& V);

/// The cost of mttkrp_all_modes with R columns, after another such call: mttkrp_cost of all
/// products that it takes, those of K and T among them, added up. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Cost mttkrp_all_modes_cost(ExecutionSpace const& exec,
                           MttkrpAllModesPlan<Scalar, Index, MemorySpace> const& plan, int R);

/// To be called where factors have changed since the last product, except for the changes that
/// mttkrp_all_modes, and mttkrp on one mode, allow.
template <class Scalar, class Index, class MemorySpace>
void factors_changed(MttkrpAllModesPlan<Scalar, Index, MemorySpace>& plan) {
  plan.has_K = plan.has_T = false;
  plan.whole.work.rounded.kept.forget();
  detail::forget_gathered(plan.whole);
  detail::forget_gathered(plan.grid);
}

}  // namespace sporades

#include <sporades/kernels/detail/mttkrp_all_modes/run_all_modes.hpp>
