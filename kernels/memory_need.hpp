// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/memory_need.hpp>
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

/// The bytes of make_mttkrp_plan(exec, hand_over(X), options), by the strategy that the options
/// name or that is the fastest, whatever options.memory says. X may be on the host and exec a GPU.
/// Up to 2.5 times what a linear order takes, whose buffers depend on the nonzeros, and up to 2
/// times what slices take. Fences exec. Throws Error where the options are out of range.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MemoryNeed memory_need(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                       MttkrpOptions const& options);

/// The bytes of make_mttkrp_all_modes_plan(exec, hand_over(X), options), for an X where exec
/// computes, by the strategy that the options name or that is the fastest. Fences exec. Throws
/// Error where the options are out of range.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MemoryNeed memory_need(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                       MttkrpAllModesOptions const& options);

/// The bytes of make_phi_plan(exec, X, options), which keeps X. Fences exec. Throws Error where the
/// options are out of range.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MemoryNeed memory_need(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                       PhiOptions const& options);

/// The bytes of make_spttm_plan(exec, X, options), which keeps X, without streaming. Up to a half
/// more where the carry slots that it counts are not needed. Fences exec. Throws Error where the
/// options are out of range.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MemoryNeed memory_need(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                       SpttmOptions const& options);

/// The bytes of make_sspttm_plan(exec, Y, n, options), which keeps Y, a ScooTensor, without
/// streaming. `peak` counts Y's coordinates, too, but not its values. Up to twice as much where the
/// carry slots that it counts are not needed. Fences exec. Throws Error where the options are out
/// of range.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MemoryNeed memory_need(ExecutionSpace const& exec, ScooTensor<Scalar, Index, MemorySpace> const& Y,
                       int n, SspttmOptions const& options);

/// The bytes of make_sptv_plan(exec, X, n, options), which keeps X. Padding of HocfsSlices::ell is
/// not counted. Fences exec. Throws Error if n is not in [0, N) or the options are out of range.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MemoryNeed memory_need(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                       int n, SptvOptions const& options);

/// The bytes of make_ttm_chain_plan(exec, hand_over(X), ranks, options), without streaming. Fences
/// exec. Throws Error as that does.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MemoryNeed memory_need(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                       std::vector<int> const& ranks, TtmChainOptions const& options);

}  // namespace sporades

#include <sporades/eti/memory_need.hpp>
#include <sporades/kernels/detail/memory_need.hpp>
