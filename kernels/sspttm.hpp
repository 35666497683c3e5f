// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/sspttm/blocks.hpp>
#include <sporades/kernels/spttm_plan.hpp>

/// Semi-sparse tensor times dense matrix on a sparse mode n, Z = Y x_n U:
///   Z(f, c, k) = sum over blocks j of Y in fiber f of U(i_n(j), c) Y(j, k)
/// with f the coordinates in the other sparse modes and k those in Y's dense modes.
/// Y: semi-sparse, any number of dense modes. U: I_n x R. Z: semi-sparse, mode n dense as well, the
/// slowest in its blocks; overwritten; it aliases neither Y nor U. 2 R flops an entry of Y, which
/// is read once for eight columns of U (on GPUs, for one); R blocks written a fiber.
///
/// Enqueued on exec, does not fence. The same bits on every run and number of threads. A product on
/// a dense mode would be dense, block by block; it is refused.
///
/// Ma, Li, Wu, Yan, Sun & Vuduc, JPDC 2018, Algorithm 5 (whose line 10 places by the row of U where
/// its column is meant).

namespace sporades {

/// The fibers of mode n that Y's blocks form, known from Y's coordinates alone: built once, used
/// for any values in them; and the buffers, so that a product allocates nothing.
template <class ScalarType, class IndexType, class MemorySpaceType>
struct SspttmPlan {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  Dims dims;                                // of Y
  std::vector<int> dense_modes;             // of Y
  Fibers<Index, MemorySpace> fibers;        // of blocks
  detail::Permutation<MemorySpace> blocks;  // item p is block blocks(p); empty where it is block p
  detail::CarryBuffers<Scalar, Position, MemorySpace> carry;

  std::uint64_t storage_bytes() const {
    return fibers.storage_bytes() + blocks.extent(0) * sizeof(Position) + carry.bytes();
  }
};

/// Where Y is sorted by all its sparse modes, the last of them n, as after a product on the mode
/// that came behind n, nothing is sorted. Else the others keep their order, n comes last.
/// Fences exec. Throws Error if n is not a sparse mode of Y.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
SspttmPlan<Scalar, Index, MemorySpace> make_sspttm_plan(
    ExecutionSpace const& exec, ScooTensor<Scalar, Index, MemorySpace> const& Y, int n,
    int rank = 16) {
  auto const& sparse = Y.sparse_modes;
  expects(n >= 0 && n < Y.order(), "make_sspttm_plan: mode ", n, " of a tensor of order ",
          Y.order());
  expects(std::find(sparse.begin(), sparse.end(), n) != sparse.end(), "make_sspttm_plan: mode ", n,
          " is dense in Y; SspTTM sums over a sparse one");
  expects(rank > 0, "make_sspttm_plan: rank ", rank, " is not positive");
  SspttmPlan<Scalar, Index, MemorySpace> plan;
  plan.dims = Y.dims;
  plan.dense_modes = Y.dense_modes;
  bool const is_sorted = Y.sorted_modes.size() == sparse.size();
  std::vector<int> modes;
  for (int m : is_sorted ? Y.sorted_modes : sparse)
    if (m != n) modes.push_back(m);
  modes.push_back(n);
  std::vector<int> rows;  // of Y.coordinates
  for (int m : modes)
    rows.push_back(static_cast<int>(std::find(sparse.begin(), sparse.end(), m) - sparse.begin()));
  auto coordinates = Y.coordinates;
  if (!is_sorted || modes != Y.sorted_modes) {
    CooTensor<Scalar, Index, MemorySpace> places;  // the blocks as nonzeros, their values unread
    for (int m : sparse) places.dims.push_back(Y.dims[m]);
    places.coordinates = Y.coordinates;
    places.values = detail::uninitialized<Vector<Scalar, MemorySpace>>(
        exec, "sporades::sspttm::places", Y.fibers());
    plan.blocks = detail::sort_permutation(exec, places, rows);
    coordinates = detail::permuted(exec, places, plan.blocks).coordinates;
  }
  plan.fibers = detail::make_fibers(exec, coordinates, rows, modes);
  detail::reserve_carry(exec, plan.fibers, static_cast<std::size_t>(rank) * Y.block_size(),
                        Y.block_size() * sizeof(Scalar), plan.carry);
  return plan;
}

/// A tensor for the product with a matrix of R columns: it shares the plan's coordinates of fibers.
/// Allocates on exec. Throws Error if R is zero.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
ScooTensor<Scalar, Index, MemorySpace> make_sspttm_output(
    ExecutionSpace const& exec, SspttmPlan<Scalar, Index, MemorySpace> const& plan, std::size_t R) {
  expects(R > 0, "make_sspttm_output: rank 0");
  Dims dims = plan.dims;
  dims[plan.fibers.mode] = R;
  auto dense = plan.dense_modes;
  dense.insert(dense.begin(), plan.fibers.mode);
  auto Z = detail::allocate_scoo<Scalar, Index>(exec, dims, plan.fibers.modes, dense,
                                                plan.fibers.coordinates);
  Z.sorted_modes = plan.fibers.modes;
  return Z;
}

namespace detail {

template <class Scalar, class Index, class MemorySpace>
void check_sspttm(SspttmPlan<Scalar, Index, MemorySpace> const& plan,
                  ScooTensor<Scalar, Index, MemorySpace> const& Y,
                  Matrix<Scalar, MemorySpace> const& U,
                  ScooTensor<Scalar, Index, MemorySpace> const& Z) {
  int const n = plan.fibers.mode;
  expects(
      Y.dims == plan.dims && Y.dense_modes == plan.dense_modes && Y.fibers() == plan.fibers.items(),
      "sspttm: the plan was made for another tensor than Y: ", to_string(plan.dims), " with ",
      plan.fibers.items(), " fibers, Y is ", to_string(Y.dims), " with ", Y.fibers());
  expects(U.extent(0) == Y.dims[n], "sspttm: U has ", U.extent(0), " rows, mode ", n, " has ",
          Y.dims[n]);
  Dims dims = Y.dims;
  dims[n] = U.extent(1);
  expects(Z.dims == dims, "sspttm: Z is ", to_string(Z.dims), ", not ", to_string(dims));
  expects(Z.fibers() == plan.fibers.count() && Z.block_size() == U.extent(1) * Y.block_size() &&
              Z.coordinates.data() == plan.fibers.coordinates.data(),
          "sspttm: Z was not made by this plan's make_sspttm_output");
  expects(Z.values.data() != Y.values.data() || Z.values.span() == 0, "sspttm: Z is Y");
  expects(Z.values.data() != U.data() || Z.values.span() == 0, "sspttm: Z is U");
}

}  // namespace detail

/// Z = Y x_n U on the plan's mode n, with buffers that several plans may share: one product at a
/// time. Throws Error if the shapes disagree, or plan and Z were not made for Y.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void sspttm(ExecutionSpace const& exec, SspttmPlan<Scalar, Index, MemorySpace> const& plan,
            ScooTensor<Scalar, Index, MemorySpace> const& Y, Matrix<Scalar, MemorySpace> const& U,
            ScooTensor<Scalar, Index, MemorySpace> const& Z,
            detail::CarryBuffers<Scalar, Position, MemorySpace>& carry) {
  detail::check_sspttm(plan, Y, U, Z);
  detail::sspttm_blocks(exec, plan.fibers, plan.blocks, Y.values, U, Z.values, carry);
}

/// The same with the plan's own buffers: one product of a plan at a time.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void sspttm(ExecutionSpace const& exec, SspttmPlan<Scalar, Index, MemorySpace>& plan,
            ScooTensor<Scalar, Index, MemorySpace> const& Y, Matrix<Scalar, MemorySpace> const& U,
            ScooTensor<Scalar, Index, MemorySpace> const& Z) {
  sspttm(exec, plan, Y, U, Z, plan.carry);
}

}  // namespace sporades

#include <sporades/eti/sspttm.hpp>
