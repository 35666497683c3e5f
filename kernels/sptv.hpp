// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/check_types.hpp>
#include <sporades/core/names.hpp>
#include <sporades/formats/cfb_tensor.hpp>
#include <sporades/formats/hocfs_tensor.hpp>
#include <sporades/formats/hocoo_tensor.hpp>
#include <sporades/formats/hocsr_tensor.hpp>
#include <sporades/kernels/detail/carry_buffers.hpp>
#include <sporades/kernels/detail/sptv/fiber_split.hpp>
#include <sporades/kernels/detail/value_lists.hpp>
#include <variant>

/// SpTV, a sparse tensor times a vector on mode n, Y = X x_n v:
///   Y(i_0 ... i_{n-1} i_{n+1} ... i_{N-1}) = sum over i_n of X(i_0 ... i_n ... i_{N-1}) v(i_n)
/// X: I_0 x ... x I_{N-1}, any order from 1 to 16. v: I_n. Y: a sparse tensor of order N - 1, whose
/// modes are X's other modes in ascending order, with one value for each mode-n fiber of X that is
/// not empty, in the order of X's format. Of a vector X, Y has order 0: one value, or none where X
/// has no nonzeros. The same bits on every run and number of threads.
/// Cost: 2 nnz flops; an index and a value a nonzero are read, and what the format says of fibers;
/// one value a fiber is written.
/// Yang, Li & Li, TKDD 2019.

namespace sporades {

/// How SpTV finds the fibers: the format of X.
enum class SptvStrategy {
  /// The one that was fastest in measurements: `hocfs`.
  automatic,
  /// A chunk of nonzeros of a HocooTensor, whose products are added up by a segmented reduction
  /// (algorithm 3). Reads the coordinates of all modes.
  hocoo,
  /// The rows of a HocsrTensor, empty ones included (algorithm 4).
  hocsr,
  /// The buckets of a CfbTensor (algorithm 5).
  cfb,
  /// The fibers of the slices of a HocfsTensor (algorithm 6). Where slices are ELL, the kernel of
  /// `hocfs_blocks` takes them.
  hocfs,
  /// A baseline, never chosen: algorithm 3 as the paper has it, on the format of `hocoo`: on GPUs a
  /// thread a nonzero, and a segmented reduction by warps.
  hocoo_warps,
  /// A baseline, never chosen: algorithm 5 as the paper has it, on the format of `cfb`: a thread a
  /// fiber.
  cfb_threads,
  /// A baseline, never chosen: algorithm 6 as figures 6, 9 and 10 of the paper have it, on the
  /// format of `hocfs`: a block of threads a slice, a thread a fiber. In ELL slices neighbouring
  /// threads read neighbouring entries.
  hocfs_blocks
};

namespace detail {
template <>
struct Names<SptvStrategy> {
  static constexpr char const* kind = "SpTV strategy";
  static constexpr char const* list[] = {"automatic", "hocoo",       "hocsr",       "cfb",
                                         "hocfs",     "hocoo-warps", "cfb-threads", "hocfs-blocks"};
};

/// The strategy of ours that takes the format of a strategy.
inline SptvStrategy with_same_format(SptvStrategy strategy) {
  return strategy == SptvStrategy::hocoo_warps    ? SptvStrategy::hocoo
         : strategy == SptvStrategy::cfb_threads  ? SptvStrategy::cfb
         : strategy == SptvStrategy::hocfs_blocks ? SptvStrategy::hocfs
                                                  : strategy;
}

template <class Tensor>
inline constexpr bool is_sptv_format =
    is_instance<Tensor, HocooTensor> || is_instance<Tensor, HocsrTensor> ||
    is_instance<Tensor, CfbTensor> || is_instance<Tensor, HocfsTensor>;

}  // namespace detail

/// What a plan of SpTV is made for.
struct SptvOptions {
  SptvStrategy strategy = SptvStrategy::automatic;
  HocfsSlices slices = HocfsSlices::automatic;  // of `hocfs` and `hocfs_blocks`
  bool updatable = false;                       // as MttkrpOptions::updatable
  double least_fill = 0;                        // of `ell` slices, see make_hocfs
};

/// X for products on mode n, the coordinates of Y, and the buffers that the kernels need, so that a
/// product allocates nothing.
template <class ScalarType, class IndexType, class MemorySpaceType>
struct SptvPlan {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;
  using Coordinates = Kokkos::View<Index**, Kokkos::LayoutRight, MemorySpace>;

  Dims dims;     // of X
  int mode = 0;  // n
  SptvStrategy strategy =
      SptvStrategy::automatic;  // where it is a baseline; else that of the format
  std::variant<HocfsTensor<Scalar, Index, MemorySpace>, HocooTensor<Scalar, Index, MemorySpace>,
               HocsrTensor<Scalar, Index, MemorySpace>, CfbTensor<Scalar, Index, MemorySpace>>
      tensor;
  Coordinates coordinates;        // of Y: (N - 1) x fibers
  std::vector<int> sorted_modes;  // of Y
  Position nonzeros = 0, fibers = 0;
  Vector<Position, MemorySpace> places;                       // hocoo, hocsr: fibers before a chunk
  detail::FiberSplit<Scalar, MemorySpace> split;              // the others
  detail::CarryBuffers<Scalar, Position, MemorySpace> carry;  // hocoo
  detail::ValueLists<Scalar, MemorySpace> values;             // of the tensor, where updatable

  int order() const { return static_cast<int>(dims.size()); }
  Position nnz() const { return nonzeros; }

  /// Bytes of the tensor, Y's coordinates and the buffers.
  std::uint64_t storage_bytes() const;
};

/// A plan for products of X, a CooTensor in any order, on mode n; duplicates are allowed. Takes the
/// time to make the format. Fences exec. Throws Error if n is not in [0, N), an index is past its
/// mode, or the format cannot take the tensor (see make_hocsr, make_cfb, make_hocfs).
template <class ExecutionSpace, class Tensor>
detail::PlanOf<SptvPlan, Tensor> make_sptv_plan(ExecutionSpace const& exec, Tensor const& X, int n,
                                                SptvOptions const& options = {});

/// A plan that shares the Views of a HocooTensor, HocsrTensor, CfbTensor or HocfsTensor. It trusts
/// that indices are within their modes and that no fiber is empty (a row of HOCSR may be). Takes a
/// few passes over its fibers. Fences exec.
template <class ExecutionSpace, class Tensor>
detail::PlanOf<SptvPlan, Tensor> make_sptv_plan(ExecutionSpace const& exec, Tensor const& X);

/// A tensor for the plan's product: it shares the plan's coordinates. Its values are not set.
/// Allocates on exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> make_sptv_output(
    ExecutionSpace const& exec, SptvPlan<Scalar, Index, MemorySpace> const& plan);

/// Y = X x_n v. v: I_n, a rank-1 View without gaps. Y is made by make_sptv_output; v is not Y's
/// values. 2 nnz flops. Enqueued on exec, does not fence, allocates nothing. The plan is changed
/// only in its buffers: one product of a plan at a time. Throws Error if the lengths disagree, Y
/// was not made by the plan, or v is Y's values.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Input,
          class Output>
void sptv(ExecutionSpace const& exec, SptvPlan<Scalar, Index, MemorySpace>& plan, Input const& v,
          Output const& Y);

/// The product of X, a HocooTensor, HocsrTensor, CfbTensor or HocfsTensor, on its mode, by a plan
/// that each call makes. Fences exec. Throws Error if the lengths disagree.
template <class ExecutionSpace, class Tensor, class Input>
detail::PlanOf<CooTensor, Tensor> sptv(ExecutionSpace const& exec, Tensor const& X, Input const& v);

/// X times a vector in each of these modes: X x_{modes[0]} vectors[0] x_{modes[1]} vectors[1] ...
/// X: a CooTensor in any order. vectors[k]: I_{modes[k]}. The result: a sparse tensor of the other
/// modes in ascending order, sorted by them. Where there are no others it has order 0: values(0) is
/// the scalar, and there are no values where X has no nonzeros. X is sorted once; each product
/// has as many nonzeros as the one before has non-empty fibers, and takes 2 flops each. Fences
/// exec. Throws Error if a mode is not in [0, N) or is listed twice, there is not one vector a
/// mode, the lengths disagree, or an index of X is past its mode.
template <class ExecutionSpace, class Tensor, class Input = detail::VectorOf<Tensor>>
detail::PlanOf<CooTensor, Tensor> sptv_chain(ExecutionSpace const& exec, Tensor const& X,
                                             std::vector<int> const& modes,
                                             std::vector<Input> const& vectors);

/// The cost of a product, in flops and bytes (see Cost): 2 nnz flops; an index and a value a
/// nonzero, and an index a padded entry of ELL slices; what tells the fibers; the entries of v that
/// nonzeros use, and Y's values. The fibers are told by
///   hocoo       the N - 1 other indices of each nonzero
///   hocsr       8 bytes a row, empty ones included
///   cfb, hocfs  8 bytes a fiber, except in blocks of 256 fibers of one entry each; on GPUs 16
///               bytes for 224 nonzeros and one a fiber instead
///   cfb_threads, hocfs_blocks  8 bytes a fiber; of the latter 9 a slice, and 8 an ELL slice in
///               place of its fibers
/// One pass over the nonzeros' indices. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Cost sptv_cost(ExecutionSpace const& exec, SptvPlan<Scalar, Index, MemorySpace> const& plan);

}  // namespace sporades

#include <sporades/kernels/detail/sptv/build_sptv_plan.hpp>
#include <sporades/kernels/detail/sptv/run_sptv.hpp>
