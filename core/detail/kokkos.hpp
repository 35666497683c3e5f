// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The one header that knows Kokkos versions: 3.4 to 5.x under the modern names. Everything else
/// includes this one and tests no version.

#include <KokkosKernels_config.h>

#include <Kokkos_Core.hpp>
#include <Kokkos_ScatterView.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sporades::detail {

/// Mathematical functions for all backends. They have a namespace of their own, because a function
/// sporades::sqrt would clash with the C library's in applications that write
/// `using namespace sporades`.
namespace math {
#if KOKKOS_VERSION >= 30700
using Kokkos::abs;
using Kokkos::exp;
using Kokkos::expm1;
using Kokkos::log;
using Kokkos::log1p;
using Kokkos::pow;
using Kokkos::sqrt;
#else
template <class Real>
KOKKOS_INLINE_FUNCTION Real abs(Real x) {
  return Kokkos::Experimental::fabs(x);
}
template <class Real>
KOKKOS_INLINE_FUNCTION Real exp(Real x) {
  return Kokkos::Experimental::exp(x);
}
template <class Real>
KOKKOS_INLINE_FUNCTION Real expm1(Real x) {
  return Kokkos::Experimental::expm1(x);
}
template <class Real>
KOKKOS_INLINE_FUNCTION Real log(Real x) {
  return Kokkos::Experimental::log(x);
}
template <class Real>
KOKKOS_INLINE_FUNCTION Real log1p(Real x) {
  return Kokkos::Experimental::log1p(x);
}
template <class Real>
KOKKOS_INLINE_FUNCTION Real pow(Real x, Real exponent) {
  return Kokkos::Experimental::pow(x, exponent);
}
template <class Real>
KOKKOS_INLINE_FUNCTION Real sqrt(Real x) {
  return Kokkos::Experimental::sqrt(x);
}
#endif
}  // namespace math

/// True for CUDA and HIP: the host cannot access the memory of the execution space.
template <class ExecutionSpace>
inline constexpr bool is_gpu =
    !Kokkos::SpaceAccessibility<ExecutionSpace, Kokkos::HostSpace>::accessible;

/// The CUDA stream of an instance; of other spaces none.
template <class ExecutionSpace>
auto native_stream(ExecutionSpace const& exec, int)
    -> decltype(static_cast<void*>(exec.cuda_stream())) {
  return exec.cuda_stream();
}
template <class ExecutionSpace>
void* native_stream(ExecutionSpace const&, long) {
  return nullptr;
}

/// Waits until what processes exchange on a stream is done: see enqueue_exchange. Throws RunError
/// where another process failed.
void wait_for_exchanges(void* stream);

/// Waits until all work enqueued on exec is done. Throws RunError where another process failed that
/// exec exchanges with. (Kokkos 3.4 has no labels for such a fence.)
template <class ExecutionSpace>
void fence(ExecutionSpace const& exec, std::string_view label) {
  if constexpr (is_gpu<ExecutionSpace>) wait_for_exchanges(native_stream(exec, 0));
#if KOKKOS_VERSION >= 30700
  exec.fence(std::string(label));
#else
  static_cast<void>(label);
  exec.fence();
#endif
}

/// The memory of the host that a GPU can read and write; on builds without one, the host's.
#if defined(KOKKOS_HAS_SHARED_HOST_PINNED_SPACE)
using PageLockedSpace = Kokkos::SharedHostPinnedSpace;
#else
using PageLockedSpace = Kokkos::HostSpace;
#endif

/// `count` instances of a GPU's execution space whose work overlaps.
template <class ExecutionSpace>
std::vector<ExecutionSpace> overlapping_instances(ExecutionSpace const& exec, int count) {
#if KOKKOS_VERSION >= 40500
  std::vector<int> const weights(count, 1);
  return Kokkos::Experimental::partition_space(exec, weights);
#else
  return std::vector<ExecutionSpace>(count, exec);
#endif
}

/// Bytes of a GPU's memory that Kokkos takes for each of them when it is made, for its reductions
/// and scans: 72 kB on CUDA, by the source of Kokkos 4.6.
inline constexpr std::uint64_t gpu_instance_bytes = 74000;
template <class ExecutionSpace>
inline constexpr std::uint64_t instance_bytes = is_gpu<ExecutionSpace> ? gpu_instance_bytes : 0;

/// Before exec copies from a GPU's memory that it cannot access: waits for all work that was
/// enqueued, on whichever instance. A copy that is enqueued on a host does not wait for a GPU.
template <class MemorySpace, class ExecutionSpace>
void fence_source(ExecutionSpace const&, [[maybe_unused]] std::string_view label) {
  if constexpr (!Kokkos::SpaceAccessibility<ExecutionSpace, MemorySpace>::accessible &&
                is_gpu<typename MemorySpace::execution_space>) {
#if KOKKOS_VERSION >= 30700
    Kokkos::fence(std::string(label));
#else
    Kokkos::fence();
#endif
  }
}

template <class ExecutionSpace>
auto is_hip(int)
    -> decltype(std::declval<ExecutionSpace const&>().hip_device_prop(), std::true_type{});
template <class ExecutionSpace>
std::false_type is_hip(long);

/// True for OpenMP: a launch wakes threads of the host and returns when all of them are done.
#if defined(KOKKOS_ENABLE_OPENMP)
template <class ExecutionSpace>
inline constexpr bool wakes_threads = std::is_same_v<ExecutionSpace, Kokkos::OpenMP>;
#else
template <class ExecutionSpace>
inline constexpr bool wakes_threads = false;
#endif

/// True for HPX: a launch on the host returns before its work is done.
template <class ExecutionSpace>
bool returns_early() {
  return ExecutionSpace::name() == std::string("HPX");
}

/// True where functions of Kokkos Kernels take an execution-space instance. Before, they run in the
/// default one, and serve hosts alone.
inline constexpr bool kernels_take_instances = KOKKOS_VERSION >= 40500;

/// True where Kokkos Kernels was built with cuSOLVER, and so links it. (KokkosLapack::svd of 4.3
/// and later, which calls it, says neither how much memory it takes nor that its iteration failed.)
#if defined(KOKKOS_ENABLE_CUDA) && defined(KOKKOSKERNELS_ENABLE_TPL_CUSOLVER)
template <class ExecutionSpace>
inline constexpr bool has_cusolver = std::is_same_v<ExecutionSpace, Kokkos::Cuda>;
#else
template <class ExecutionSpace>
inline constexpr bool has_cusolver = false;
#endif

/// Launch bounds of a kernel: lanes of a team, and how many teams a multiprocessor of a GPU is to
/// hold at once. (HIP takes the second number as wavefronts of 64 lanes on each of the four parts
/// of a multiprocessor.)
template <class ExecutionSpace, int lanes, int teams>
using TeamBounds = Kokkos::LaunchBounds<
    lanes, decltype(is_hip<ExecutionSpace>(0))::value ? (lanes* teams + 255) / 256 : teams>;

/// Neighbouring threads of a GPU that can read one another's registers; their number is a power of
/// two, at most 32. They are the vector lanes of one thread of a team, or consecutive items of a
/// range policy. On hosts there is one lane.
class VectorLanes {
 public:
  /// The lanes of a thread of a team. count: the vector length of its policy.
  static KOKKOS_FORCEINLINE_FUNCTION VectorLanes of_thread(int count) {
    VectorLanes lanes(count);
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    lanes.mine_ = static_cast<int>(threadIdx.x);  // fewer registers than below
#endif
#if defined(__CUDA_ARCH__)
    lanes.mask_ = (count == 32 ? ~0u : (1u << count) - 1) << (threadIdx.y * blockDim.x % 32);
#endif
    return lanes;
  }
  /// The lanes that an item of a range policy belongs to: count items from a multiple of count on.
  static KOKKOS_FORCEINLINE_FUNCTION VectorLanes of_items(int count) {
    VectorLanes lanes(count);
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    int const thread = static_cast<int>(threadIdx.x + threadIdx.y * blockDim.x);
    lanes.mine_ = thread & (count - 1);
#endif
#if defined(__CUDA_ARCH__)
    lanes.mask_ = (count == 32 ? ~0u : (1u << count) - 1) << (thread & 31 & ~(count - 1));
#endif
    return lanes;
  }
  KOKKOS_FORCEINLINE_FUNCTION int count() const {
    return count_;
  }
  KOKKOS_FORCEINLINE_FUNCTION int mine() const {
    return mine_;
  }

  /// The value that the lane number mine() xor distance passed.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T across(int distance, T value) const {
#if defined(__CUDA_ARCH__)
    return __shfl_xor_sync(mask_, value, distance);
#elif defined(__HIP_DEVICE_COMPILE__)
    return __shfl_xor(value, distance);
#else
    static_cast<void>(distance);
    return value;
#endif
  }
  /// The value that this lane passed.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T of(int lane, T value) const {
#if defined(__CUDA_ARCH__)
    return __shfl_sync(mask_, value, lane, count_);
#elif defined(__HIP_DEVICE_COMPILE__)
    return __shfl(value, lane, count_);
#else
    static_cast<void>(lane);
    return value;
#endif
  }
  /// Bit k is set if lane k passed true.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t which(bool holds) const {
#if defined(__CUDA_ARCH__)
    return __ballot_sync(mask_, holds) >> (__ffs(static_cast<int>(mask_)) - 1);
#elif defined(__HIP_DEVICE_COMPILE__)
    int const first = static_cast<int>(__lane_id()) & ~(count_ - 1);
    return static_cast<std::uint32_t>(__ballot(holds) >> first) & (~0u >> (32 - count_));
#else
    return holds ? 1 : 0;
#endif
  }
  /// Each of these lanes sees what the others have written before.
  KOKKOS_FORCEINLINE_FUNCTION void sync() const {
#if defined(__CUDA_ARCH__)
    __syncwarp(mask_);
#elif defined(__HIP_DEVICE_COMPILE__)
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
    __builtin_amdgcn_wave_barrier();
#endif
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION explicit VectorLanes(int count) : count_(count) {}

  int count_, mine_ = 0;
  [[maybe_unused]] unsigned mask_ = 0;  // which threads of the warp are these lanes (CUDA only)
};

/// `count` entries that 32 neighbouring items of a range policy share, fast memory of the
/// multiprocessor; on hosts they are one item's own. A kernel makes one of them. threads: the
/// launch bound of its policy. (The scratch memory of a team would do, but Kokkos 4.6 allocates in
/// each launch of a team on CUDA, or takes a lock in each team.)
template <class T, int count, int threads>
class LaneMemory {
 public:
  KOKKOS_FORCEINLINE_FUNCTION T* data() {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    __shared__ T memory[threads / 32][count];
    return memory[(threadIdx.x + threadIdx.y * blockDim.x) / 32];
#else
    return memory_;
#endif
  }

 private:
#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  T memory_[count];
#endif
};

/// Bytes of the current GPU that no process has allocated; infinity in builds without CUDA and HIP.
inline double free_device_bytes() {
  std::size_t free_bytes = 0, all_bytes = 0;
#if defined(__CUDACC__)
  if (cudaMemGetInfo(&free_bytes, &all_bytes) == cudaSuccess)
    return static_cast<double>(free_bytes);
#elif defined(__HIPCC__)
  if (hipMemGetInfo(&free_bytes, &all_bytes) == hipSuccess) return static_cast<double>(free_bytes);
#endif
  static_cast<void>(free_bytes), static_cast<void>(all_bytes);
  return std::numeric_limits<double>::infinity();
}

/// A command-line option of Kokkos, given in its modern spelling, as this version spells it.
inline std::string kokkos_option(std::string const& modern) {
#if KOKKOS_VERSION < 30700
  if (modern == "--kokkos-num-threads") return "--kokkos-threads";
#endif
  return modern;
}

}  // namespace sporades::detail
