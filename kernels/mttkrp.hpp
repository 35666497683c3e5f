// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/mttkrp/alto.hpp>
#include <sporades/kernels/detail/mttkrp/baselines/atomic.hpp>
#include <sporades/kernels/detail/mttkrp/baselines/duplicated.hpp>
#include <sporades/kernels/detail/mttkrp/baselines/permuted.hpp>
#include <sporades/kernels/detail/mttkrp/csf.hpp>
#include <sporades/kernels/detail/mttkrp/packed.hpp>
#include <sporades/kernels/detail/mttkrp/sorted.hpp>

/// Matricized tensor times Khatri-Rao product on mode n:
///   V = X_(n) (A_{N-1} ⊙ ... ⊙ A_{n+1} ⊙ A_{n-1} ⊙ ... ⊙ A_0)
///   V(i, r) = sum over nonzeros p with i_n = i of x_p prod_{m != n} A_m(i_m, r)
/// X: I_0 x ... x I_{N-1}. A[m]: I_m x R; A[n] is not read. V: I_n x R, overwritten, aliases no
/// A[m]. Any order from 1 to 16, any R. N R nnz flops; at least one index a mode, one value and
/// (N - 1) factor rows read a nonzero. Enqueued on exec, does not fence.
/// Throws Error if the shapes disagree, n is not in [0, N), or X does not allow the strategy.
/// Bader & Kolda, SIAM J. Sci. Comput. 30(1), 2007.

namespace sporades {

/// How MTTKRP adds up output rows. `permuted`, `sorted`, `fibers`, `csf` and `alto` give the same
/// bits on every run and thread count; `alto` is refused on GPUs, and where rows are used too
/// seldom. `alto_atomic` adds atomically there and is `alto` elsewhere; `atomic` and `duplicated`
/// take nonzeros in any order, and their bits change as well.
enum class MttkrpStrategy {
  automatic,
  atomic,
  duplicated,
  permuted,
  sorted,
  fibers,
  csf,
  alto,
  alto_atomic
};

namespace detail {

/// Of every strategy, in the order of the enumeration.
inline constexpr char const* mttkrp_strategy_names[] = {"automatic", "atomic", "duplicated",
                                                        "permuted",  "sorted", "fibers",
                                                        "csf",       "alto",   "alto-atomic"};

}  // namespace detail

/// The name that mttkrp_strategy knows.
inline char const* to_string(MttkrpStrategy strategy) {
  return detail::mttkrp_strategy_names[static_cast<int>(strategy)];
}

namespace detail {

/// True for both that take the linear order.
inline bool is_linear(MttkrpStrategy strategy) {
  return strategy == MttkrpStrategy::alto || strategy == MttkrpStrategy::alto_atomic;
}

}  // namespace detail

/// The strategy of that name. Throws Error where there is none.
inline MttkrpStrategy mttkrp_strategy(std::string const& name) {
  int number = 0;
  for (char const* known : detail::mttkrp_strategy_names) {
    if (name == known) return static_cast<MttkrpStrategy>(number);
    ++number;
  }
  fail("there is no MTTKRP strategy ", name);
}

namespace detail {

template <class Scalar, class MemorySpace>
void check_mttkrp(Dims const& dims, Factors<Scalar, MemorySpace> const& A, int n,
                  Matrix<Scalar, MemorySpace> const& V) {
  int const N = static_cast<int>(dims.size());
  expects(n >= 0 && n < N, "mttkrp: mode ", n, " of a tensor of order ", N);
  expects(static_cast<int>(A.size()) == N, "mttkrp: ", A.size(), " factors for order ", N);
  expects(V.extent(0) == dims[n], "mttkrp: V has ", V.extent(0), " rows, mode ", n, " has ",
          dims[n]);
  for (int m = 0; m < N; ++m) {
    if (m == n) continue;
    expects(A[m].extent(0) == dims[m], "mttkrp: A[", m, "] has ", A[m].extent(0), " rows, mode ", m,
            " has ", dims[m]);
    expects(A[m].extent(1) == V.extent(1), "mttkrp: A[", m, "] has ", A[m].extent(1),
            " columns, V has ", V.extent(1));
    expects(A[m].data() != V.data() || V.span() == 0, "mttkrp: V is A[", m, "]");
  }
}

}  // namespace detail

/// On a COO tensor. Strategies: `atomic` and `duplicated` on any; `sorted` where X is sorted with
/// mode n first; `automatic` is `sorted` where that holds, else `atomic`, whose bits may change.
/// The buffers are kept between calls by whoever calls often. X's indices are trusted:
/// check_coordinates checks them.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
            Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& V,
            MttkrpStrategy strategy, detail::CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  detail::check_mttkrp(X.dims, A, n, V);
  bool const is_sorted = !X.sorted_modes.empty() && X.sorted_modes[0] == n;
  if (strategy == MttkrpStrategy::automatic)
    strategy = is_sorted ? MttkrpStrategy::sorted : MttkrpStrategy::atomic;
  switch (strategy) {
    case MttkrpStrategy::sorted:
      expects(is_sorted, "mttkrp: strategy sorted needs a tensor sorted by mode ", n, " first");
      return detail::mttkrp_sorted(exec, X, A, n, V, carry);
    case MttkrpStrategy::atomic:
      return detail::mttkrp_atomic(exec, X, A, n, V);
    case MttkrpStrategy::duplicated:
      return detail::mttkrp_duplicated(exec, X, A, n, V);
    default:
      fail("mttkrp: strategy ", to_string(strategy), " does not work on a CooTensor");
  }
}

/// On packed nonzeros, on their row mode only: strategy `sorted`, or `automatic` for the same, or
/// `fibers`, which saves work where fibers are long and X was sorted by all its modes. split: the
/// modes, of X.modes, whose factors are multiplied once a run of nonzeros that agree in them;
/// `fibers` takes all but the last where it is not said.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp(ExecutionSpace const& exec, PackedTensor<Scalar, Index, MemorySpace> const& X,
            Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& V,
            MttkrpStrategy strategy, detail::CarryBuffers<Scalar, Index, MemorySpace>& carry,
            int split = -1) {
  detail::check_mttkrp(X.dims, A, n, V);
  int const deepest = X.order() > 1 ? X.order() - 2 : 0;
  expects(-1 <= split && split <= deepest, "mttkrp: split ", split, " of ", X.order() - 1,
          " modes");
  expects(X.row_mode == n, "mttkrp: the tensor is packed for mode ", X.row_mode,
          ", the product is on mode ", n);
  switch (strategy) {
    case MttkrpStrategy::automatic:
    case MttkrpStrategy::sorted:
      return detail::mttkrp_packed(exec, "sporades::mttkrp::sorted", X, A, V, 0, carry);
    case MttkrpStrategy::fibers:
      return detail::mttkrp_packed(exec, "sporades::mttkrp::fibers", X, A, V,
                                   split < 0 ? deepest : split, carry);
    default:
      fail("mttkrp: strategy ", to_string(strategy), " does not work on a PackedTensor");
  }
}

/// On one COO tensor with a permutation a mode: strategy `permuted`, or `automatic` for the same.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp(ExecutionSpace const& exec, PermutedTensor<Scalar, Index, MemorySpace> const& X,
            Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& V,
            MttkrpStrategy strategy, detail::CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  detail::check_mttkrp(X.tensor.dims, A, n, V);
  expects(strategy == MttkrpStrategy::automatic || strategy == MttkrpStrategy::permuted,
          "mttkrp: strategy ", to_string(strategy), " does not work on a PermutedTensor");
  detail::mttkrp_permuted(exec, X, A, n, V, carry);
}

/// On a CSF tree, on its root mode only: strategy `csf`, or `automatic` for the same.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp(ExecutionSpace const& exec, CsfTensor<Scalar, Index, MemorySpace> const& X,
            Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& V,
            MttkrpStrategy strategy, detail::CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  detail::check_mttkrp(X.dims, A, n, V);
  expects(X.mode_order[0] == n, "mttkrp: the tree's root is mode ", X.mode_order[0],
          ", the product is on mode ", n);
  expects(strategy == MttkrpStrategy::automatic || strategy == MttkrpStrategy::csf,
          "mttkrp: strategy ", to_string(strategy), " does not work on a CsfTensor");
  detail::mttkrp_csf(exec, X, A, V, carry);
}

/// On a linear order, on every mode: strategy `alto`, or `automatic` for the same, where no atomics
/// are needed; else `alto_atomic`.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp(ExecutionSpace const& exec, AltoTensor<Scalar, Index, MemorySpace> const& X,
            Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& V,
            MttkrpStrategy strategy, detail::CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  detail::check_mttkrp(X.dims, A, n, V);
  expects(strategy == MttkrpStrategy::automatic || detail::is_linear(strategy), "mttkrp: strategy ",
          to_string(strategy), " does not work on an AltoTensor");
  if (strategy != MttkrpStrategy::alto_atomic)
    detail::refuse_atomics<ExecutionSpace>("mttkrp", X, n, "sorted, fibers, csf and permuted work");
  detail::mttkrp_alto(exec, X, A, n, V, carry);
}

/// The same with buffers of its own, allocated in every call.
template <class ExecutionSpace, template <class, class, class> class Tensor, class Scalar,
          class Index, class MemorySpace>
void mttkrp(ExecutionSpace const& exec, Tensor<Scalar, Index, MemorySpace> const& X,
            Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& V,
            MttkrpStrategy strategy = MttkrpStrategy::automatic) {
  detail::CarryBuffers<Scalar, Index, MemorySpace> carry;
  mttkrp(exec, X, A, n, V, strategy, carry);
}

}  // namespace sporades

#include <sporades/eti/mttkrp.hpp>
