// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// First the front door, which includes this file where it belongs: hence a guard.
#include <sporades/kernels/memory_need.hpp>

#ifndef SPORADES_KERNELS_MEMORY_NEED
#define SPORADES_KERNELS_MEMORY_NEED

#include <sporades/kernels/detail/mttkrp_all_modes/all_modes_memory.hpp>
#include <sporades/kernels/detail/phi/phi_memory.hpp>
#include <sporades/kernels/detail/spttm/spttm_memory.hpp>
#include <sporades/kernels/detail/sptv/sptv_memory.hpp>
#include <sporades/kernels/detail/sspttm/sspttm_memory.hpp>
#include <sporades/kernels/detail/ttm_chain/ttm_chain_memory.hpp>

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

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MemoryNeed memory_need(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                       MttkrpOptions const& options) {
  return detail::mttkrp_plan_memory(exec, X, options, true);
}

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

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MemoryNeed memory_need(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                       PhiOptions const& options) {
  expects(options.rank > 0, "memory_need: rank ", options.rank, " is not positive");
  return detail::count_plan(exec, X, true, [&](auto& count, auto const& shape, auto& tuples) {
    detail::count_phi_plan<Scalar>(exec, count, shape, options, tuples);
  });
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MemoryNeed memory_need(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                       SpttmOptions const& options) {
  expects(options.rank > 0, "memory_need: rank ", options.rank, " is not positive");
  return detail::count_plan(exec, X, true, [&](auto& count, auto const& shape, auto& tuples) {
    detail::count_spttm_plan<Scalar>(exec, count, shape, options, tuples);
  });
}

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

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MemoryNeed memory_need(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                       int n, SptvOptions const& options) {
  return detail::count_plan(exec, X, true, [&](auto& count, auto const& shape, auto& tuples) {
    detail::count_sptv_plan<Scalar>(exec, count, shape, n, options, tuples);
  });
}

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

#endif
