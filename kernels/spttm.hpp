// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/scoo_tensor.hpp>
#include <sporades/kernels/detail/spttm/baselines/coalesced.hpp>
#include <sporades/kernels/detail/spttm/baselines/fine_grained.hpp>
#include <sporades/kernels/detail/spttm/baselines/naive.hpp>
#include <sporades/kernels/detail/spttm/baselines/rank_blocked.hpp>
#include <sporades/kernels/detail/spttm/baselines/scratch.hpp>
#include <sporades/kernels/detail/spttm/lanes.hpp>

/// Sparse tensor times dense matrix on mode n, Y = X x_n U:
///   Y(i_0 ... r ... i_{N-1}) = sum over i_n of X(i_0 ... i_n ... i_{N-1}) U(i_n, r)
/// X: I_0 x ... x I_{N-1}, by its fibers of mode n. U: I_n x R. Y: semi-sparse, mode n dense: one
/// row of R values for each non-empty fiber of X, overwritten; it aliases no U. Any order from 1 to
/// 16, any R. 2 nnz R flops; an index and a value a nonzero, a place a fiber and U read at least,
/// fibers x R values written.
///
/// Enqueued on exec, does not fence. The same bits on every run and number of threads.
///
/// Ma, Li, Wu, Yan, Sun & Vuduc, JPDC 2018.

namespace sporades {

/// How SpTTM sums fibers. naive: a thread a fiber; fine_grained: also one a column; coalesced:
/// neighbouring threads take neighbouring columns; rank_blocked: columns in blocks, nonzeros
/// inside; scratch: rows in shared memory; lanes: chunks of nonzeros (on GPUs windows of 32 that a
/// warp sums together) x tiles of columns in registers, which `automatic` takes.
enum class SpttmStrategy {
  automatic,
  naive,
  fine_grained,
  coalesced,
  rank_blocked,
  scratch,
  lanes
};

namespace detail {

/// Of every strategy, in the order of the enumeration.
inline constexpr char const* spttm_strategy_names[] = {
    "automatic", "naive", "fine_grained", "coalesced", "rank_blocked", "scratch", "lanes"};

}  // namespace detail

/// The name that spttm_strategy knows.
inline char const* to_string(SpttmStrategy strategy) {
  return detail::spttm_strategy_names[static_cast<int>(strategy)];
}

/// The strategy of that name. Throws Error where there is none.
inline SpttmStrategy spttm_strategy(std::string const& name) {
  int number = 0;
  for (char const* known : detail::spttm_strategy_names) {
    if (name == known) return static_cast<SpttmStrategy>(number);
    ++number;
  }
  fail("there is no SpTTM strategy ", name);
}

/// How the matrix of a product lies: I_n x R, as in Ma et al. and most sparse codes; or R x I_n, as
/// in Kolda & Bader, SIAM Review 51(3), 2009, which is transposed first, R I_n entries more.
enum class TtmMatrix { mode_by_rank, rank_by_mode };

/// A tensor for the product of X with a matrix of R columns: it shares X's coordinates of fibers.
/// Allocates on exec. Throws Error if R is zero.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
ScooTensor<Scalar, Index, MemorySpace> make_spttm_output(
    ExecutionSpace const& exec, HierarchicalTensor<Scalar, Index, MemorySpace> const& X,
    std::size_t R) {
  expects(R > 0, "make_spttm_output: rank 0");
  Dims dims = X.dims;
  dims[X.mode()] = R;
  auto Y = detail::allocate_scoo<Scalar, Index>(exec, dims, X.fibers.modes, {X.mode()},
                                                X.fibers.coordinates);
  Y.sorted_modes = X.fibers.modes;
  return Y;
}

namespace detail {

template <class Scalar, class Index, class MemorySpace>
void check_spttm(HierarchicalTensor<Scalar, Index, MemorySpace> const& X,
                 Matrix<Scalar, MemorySpace> const& U,
                 ScooTensor<Scalar, Index, MemorySpace> const& Y) {
  int const n = X.mode();
  expects(U.extent(0) == X.dims[n], "spttm: U has ", U.extent(0), " rows, mode ", n, " has ",
          X.dims[n]);
  expects(Y.order() == X.order(), "spttm: Y is of order ", Y.order(), ", X of order ", X.order());
  expects(Y.dense_modes == std::vector<int>{n}, "spttm: Y must have one dense mode, ", n);
  for (int m = 0; m < X.order(); ++m) {
    auto const length = m == n ? U.extent(1) : X.dims[m];
    expects(Y.dims[m] == length, "spttm: mode ", m, " of Y has length ", Y.dims[m], ", not ",
            length);
  }
  expects(Y.fibers() == X.fibers.count(), "spttm: Y has ", Y.fibers(), " fibers, X has ",
          X.fibers.count());
  expects(Y.coordinates.data() == X.fibers.coordinates.data(),
          "spttm: Y does not share X's coordinates; make it by make_spttm_output");
  expects(U.data() != Y.values.data() || U.span() == 0, "spttm: Y is U");
}

}  // namespace detail

/// On a tensor by its fibers. The buffers are kept between calls by whoever calls often. Throws
/// Error if the shapes disagree, or Y was not made for X (make_spttm_output).
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void spttm(ExecutionSpace const& exec, HierarchicalTensor<Scalar, Index, MemorySpace> const& X,
           Matrix<Scalar, MemorySpace> const& U, ScooTensor<Scalar, Index, MemorySpace> const& Y,
           SpttmStrategy strategy, detail::CarryBuffers<Scalar, Position, MemorySpace>& carry) {
  detail::check_spttm(X, U, Y);
  detail::FiberProduct<Scalar, Index, MemorySpace> const product(X, U, Y.values);
  switch (strategy) {
    case SpttmStrategy::naive:
      return detail::spttm_naive(exec, product);
    case SpttmStrategy::fine_grained:
      return detail::spttm_fine_grained(exec, product);
    case SpttmStrategy::coalesced:
      return detail::spttm_coalesced(exec, product);
    case SpttmStrategy::rank_blocked:
      return detail::spttm_rank_blocked(exec, product);
    case SpttmStrategy::scratch:
      return detail::spttm_scratch(exec, product);
    default:
      return detail::spttm_lanes(exec, X, U, Y.values, carry);
  }
}

/// The same with buffers of its own, allocated in every call.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void spttm(ExecutionSpace const& exec, HierarchicalTensor<Scalar, Index, MemorySpace> const& X,
           Matrix<Scalar, MemorySpace> const& U, ScooTensor<Scalar, Index, MemorySpace> const& Y,
           SpttmStrategy strategy = SpttmStrategy::automatic) {
  detail::CarryBuffers<Scalar, Position, MemorySpace> carry;
  spttm(exec, X, U, Y, strategy, carry);
}

}  // namespace sporades

#include <sporades/eti/spttm.hpp>
