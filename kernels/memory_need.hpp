// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/memory_need.hpp>
#include <sporades/kernels/detail/mttkrp_all_modes/all_modes_memory.hpp>
#include <sporades/kernels/detail/phi/phi_memory.hpp>
#include <sporades/kernels/detail/spttm/spttm_memory.hpp>
#include <sporades/kernels/detail/sptv/sptv_memory.hpp>
#include <sporades/kernels/detail/sspttm/sspttm_memory.hpp>
#include <sporades/kernels/detail/ttm_chain/ttm_chain_memory.hpp>
#include <sporades/kernels/mttkrp_all_modes.hpp>
#include <sporades/kernels/phi.hpp>
#include <sporades/kernels/spttm.hpp>
#include <sporades/kernels/sptv.hpp>
#include <sporades/kernels/sspttm.hpp>
#include <sporades/kernels/ttm_chain.hpp>

/// The bytes of plans before they are built. X is a CooTensor; its nonzeros are counted where that
/// matters, by some passes over them at most, and their order may matter. Each fences exec, and
/// throws Error where the options are out of range.

namespace sporades {
namespace detail {

/// What `count` counts of a plan that keeps X, or takes its memory.
template <class ExecutionSpace, class Tensor, class Count>
MemoryNeed count_plan(ExecutionSpace const& exec, Tensor const& X, bool keeps_X,
                      Count const& count_it) {
  auto const shape = shape_of(X);
  FiberCountEstimate<ExecutionSpace, Tensor> tuples(exec, X);
  MemoryCount count;
  count.hold(shape.bytes());
  count_it(count, shape, tuples);
  return {with_small_views(count.held() - (keeps_X ? shape.bytes() : 0)),
          with_small_views(count.peak()), 0};
}

}  // namespace detail

/// The bytes of make_mttkrp_plan(exec, hand_over(X), options), by the strategy that the options
/// name or that is the fastest, whatever options.memory says. X may be on the host and exec a GPU.
/// Up to 2.5 times what a linear order takes, whose buffers depend on the nonzeros, and up to 2
/// times what slices take. Fences exec. Throws Error where the options are out of range.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MemoryNeed memory_need(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                       MttkrpOptions const& options) {
  return detail::mttkrp_plan_memory(exec, X, options, true);
}

/// The bytes of make_mttkrp_all_modes_plan(exec, hand_over(X), options), for an X where exec
/// computes, by the strategy that the options name or that is the fastest. Fences exec. Throws
/// Error where the options are out of range.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MemoryNeed memory_need(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                       MttkrpAllModesOptions const& options) {
  static_assert(std::is_same_v<typename ExecutionSpace::memory_space, MemorySpace>,
                "memory_need of a plan on all modes: X must be where exec computes");
  detail::check_options(options.products, X.order());
  return detail::count_plan(exec, X, false, [&](auto& count, auto const& shape, auto& tuples) {
    detail::count_all_modes_plan<Scalar>(exec, count, shape, options, tuples);
  });
}

/// The bytes of make_phi_plan(exec, X, options), which keeps X. Fences exec. Throws Error where the
/// options are out of range.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MemoryNeed memory_need(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                       PhiOptions const& options) {
  expects(options.rank > 0, "memory_need: rank ", options.rank, " is not positive");
  return detail::count_plan(exec, X, true, [&](auto& count, auto const& shape, auto& tuples) {
    detail::count_phi_plan<Scalar>(exec, count, shape, options, tuples);
  });
}

/// The bytes of make_spttm_plan(exec, X, options), which keeps X, without streaming. Up to a half
/// more where the carry slots that it counts are not needed. Fences exec. Throws Error where the
/// options are out of range.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MemoryNeed memory_need(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                       SpttmOptions const& options) {
  expects(options.rank > 0, "memory_need: rank ", options.rank, " is not positive");
  return detail::count_plan(exec, X, true, [&](auto& count, auto const& shape, auto& tuples) {
    detail::count_spttm_plan<Scalar>(exec, count, shape, options, tuples);
  });
}

/// The bytes of make_sspttm_plan(exec, Y, n, options), which keeps Y, a ScooTensor, without
/// streaming. `peak` counts Y's coordinates, too, but not its values. Up to twice as much where the
/// carry slots that it counts are not needed. Fences exec. Throws Error where the options are out
/// of range.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MemoryNeed memory_need(ExecutionSpace const& exec, ScooTensor<Scalar, Index, MemorySpace> const& Y,
                       int n, SspttmOptions const& options) {
  CooTensor<Scalar, Index, MemorySpace> blocks;  // Y's as nonzeros, without values
  for (int m : Y.sparse_modes) blocks.dims.push_back(Y.dims[m]);
  blocks.coordinates = Y.coordinates;
  auto shape = detail::shape_of(blocks);
  shape.nnz = static_cast<double>(Y.fibers());
  blocks.values = Vector<Scalar, MemorySpace>(Y.values.data(), Y.fibers());  // unread
  detail::FiberCountEstimate<ExecutionSpace, CooTensor<Scalar, Index, MemorySpace>> tuples(exec,
                                                                                           blocks);
  detail::MemoryCount count;
  count.hold(shape.coordinate_bytes());
  detail::count_sspttm_plan<Scalar>(exec, count, Y, shape, n, options, tuples);
  return {detail::with_small_views(count.held() - shape.coordinate_bytes()),
          detail::with_small_views(count.peak()), 0};
}

/// The bytes of make_sptv_plan(exec, X, n, options), which keeps X. Padding of HocfsSlices::ell is
/// not counted. Fences exec. Throws Error if n is not in [0, N) or the options are out of range.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MemoryNeed memory_need(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                       int n, SptvOptions const& options) {
  return detail::count_plan(exec, X, true, [&](auto& count, auto const& shape, auto& tuples) {
    detail::count_sptv_plan<Scalar>(exec, count, shape, n, options, tuples);
  });
}

/// The bytes of make_ttm_chain_plan(exec, hand_over(X), ranks, options), without streaming. Fences
/// exec. Throws Error as that does.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MemoryNeed memory_need(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                       std::vector<int> const& ranks, TtmChainOptions const& options) {
  detail::check_ranks(X.dims, ranks, "memory_need");
  return detail::count_plan(exec, X, false, [&](auto& count, auto const& shape, auto& tuples) {
    bool const repeats = detail::may_repeat(exec, X);
    auto resident = options;
    resident.streaming.always = false;
    if (options.updatable)  // numbers in place of the values, and which they are
      count.hold(shape.value_bytes() + X.order() * detail::numbers_bytes(shape.nnz) +
                 (repeats ? 8 * shape.nnz + detail::numbers_bytes(shape.nnz) : 0));
    detail::count_sum_duplicates(exec, count, shape, repeats);
    detail::count_ttm_chain_plan<Scalar>(exec, count, X, ranks, resident, tuples);
    if (options.updatable) count.release(shape.value_bytes());
  });
}

}  // namespace sporades

#include <sporades/eti/memory_need.hpp>
