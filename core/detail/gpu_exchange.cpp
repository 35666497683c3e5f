// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/core/detail/gpu_exchange.hpp>

#ifdef SPORADES_HAS_MPI

#include <cstdlib>
#include <cstring>
#include <sporades/core/detail/communicator_state.hpp>
#include <sporades/core/error.hpp>
#include <sporades/core/timer.hpp>
#include <string_view>
#include <thread>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>  // Open MPI's
#endif
#ifdef SPORADES_HAS_NCCL
#include <nccl.h>
#endif

namespace sporades::detail {

/// What a communicator keeps for the memory of GPUs.
struct GpuExchange {
  GpuPath path = GpuPath::host;
  Kokkos::View<std::byte*, PageLockedSpace> memory;  // gone when Kokkos ends
#ifdef SPORADES_HAS_NCCL
  ncclComm_t nccl = nullptr;
#endif
};

namespace {

bool mpi_takes_gpu_memory() {
  [[maybe_unused]] std::string_view const space = Kokkos::DefaultExecutionSpace::name();
  [[maybe_unused]] int answer = 0;
#ifdef MPIX_CUDA_AWARE_SUPPORT  // Open MPI
  if (space == "Cuda") return MPIX_Query_cuda_support() == 1;
#endif
#ifdef MPIX_ROCM_AWARE_SUPPORT
  if (space == "HIP") return MPIX_Query_rocm_support() == 1;
#endif
#ifdef MPIX_GPU_SUPPORT_CUDA  // MPICH and its like
  if (space == "Cuda") MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &answer);
#endif
#ifdef MPIX_GPU_SUPPORT_HIP
  if (space == "HIP") MPIX_GPU_query_support(MPIX_GPU_SUPPORT_HIP, &answer);
#endif
  return answer == 1;
}

/// What one process can do, and wishes.
struct Offer {
  bool is_aware = false;
  int wish = -1;  // a GpuPath; -1: none
  char gpu[MPI_MAX_PROCESSOR_NAME + 32] = {};
};

constexpr char const* path_names[] = {"mpi", "nccl", "host"};

Offer offer_of([[maybe_unused]] int device) {
  Offer offer;
  offer.is_aware = mpi_takes_gpu_memory();
  if (char const* const wish = std::getenv("SPORADES_GPU_EXCHANGE")) {
    for (int path = 0; path < 3; ++path)
      if (std::strcmp(wish, path_names[path]) == 0) offer.wish = path;
    expects(offer.wish >= 0, "SPORADES_GPU_EXCHANGE is ", wish, ": mpi, nccl or host work");
  }
  int length = 0;
  MPI_Get_processor_name(offer.gpu, &length);
#ifdef SPORADES_HAS_NCCL
  cudaDeviceGetPCIBusId(offer.gpu + length, 32, device);
#endif
  return offer;
}

GpuPath choose_path(std::vector<Offer> const& offers) {
#ifdef SPORADES_HAS_NCCL
  constexpr bool has_nccl = true;
#else
  constexpr bool has_nccl = false;
#endif
  if (int const wish = offers.front().wish; wish >= 0) {
    expects(has_nccl || wish != static_cast<int>(GpuPath::nccl),
            "SPORADES_GPU_EXCHANGE is nccl: this Sporades was built without NCCL");
    return static_cast<GpuPath>(wish);
  }
  if (std::all_of(offers.begin(), offers.end(), [](Offer const& one) { return one.is_aware; }))
    return GpuPath::mpi;
  for (auto const& one : offers)
    for (auto const& other : offers)
      if (&one != &other && std::strcmp(one.gpu, other.gpu) == 0) return GpuPath::host;
  return has_nccl ? GpuPath::nccl : GpuPath::host;
}

#ifdef SPORADES_HAS_NCCL
void check(ncclResult_t result, char const* name) {
  if (result != ncclSuccess)
    throw RunError(concatenate("NCCL, ", name, ": ", ncclGetErrorString(result)));
}
#endif

GpuExchange& exchange_of(Communicator const& processes, int device) {
  auto& kept = state_of(processes)->gpu;
  if (kept) return *kept;
  return together(processes, [&]() -> GpuExchange& {
    auto made = std::make_shared<GpuExchange>();
    made->path = choose_path(all_gathered(processes, "paths of GPUs", offer_of(device)));
#ifdef SPORADES_HAS_NCCL
    if (made->path == GpuPath::nccl) {
      ncclUniqueId id;
      if (processes.rank() == 0) check(ncclGetUniqueId(&id), "ncclGetUniqueId");
      broadcast(processes, "paths of GPUs", &id, sizeof id);
      check(ncclCommInitRank(&made->nccl, processes.size(), id, processes.rank()),
            "ncclCommInitRank");
    }
#endif
    Kokkos::push_finalize_hook([of = std::weak_ptr<GpuExchange>(made)] {
      if (auto const living = of.lock()) living->memory = {};
    });
    return *(kept = made);
  });
}

}  // namespace

GpuPath gpu_path(Communicator const& processes, int device) {
  return exchange_of(processes, device).path;
}

std::byte* page_locked(Communicator const& processes, std::size_t bytes) {
  auto& memory = state_of(processes)->gpu->memory;
  if (memory.extent(0) < bytes) {
    memory = {};
    memory = Kokkos::View<std::byte*, PageLockedSpace>(
        Kokkos::view_alloc("sporades::gpu_exchange::memory", Kokkos::WithoutInitializing), bytes);
  }
  return memory.data();
}

void exchange_by_nccl(Communicator const& processes, [[maybe_unused]] void* stream,
                      [[maybe_unused]] char const* name,
                      [[maybe_unused]] std::vector<Sent> const& sent,
                      [[maybe_unused]] std::vector<Received> const& received) {
  [[maybe_unused]] auto& state = *state_of(processes);
#ifdef SPORADES_HAS_NCCL
  auto const cuda = static_cast<cudaStream_t>(stream);
  auto& nccl = state.gpu->nccl;
  auto& entry = state.traffic[name];
  Timer const timer;
  state.heed_failure();
  check(ncclGroupStart(), name);
  for (auto const& part : received)
    if (part.bytes > 0)
      check(ncclRecv(part.data, part.bytes, ncclInt8, part.process, nccl, cuda), name);
  for (auto const& part : sent)
    if (part.bytes > 0) {
      check(ncclSend(part.data, part.bytes, ncclInt8, part.process, nccl, cuda), name);
      ++entry.messages;
      entry.bytes += part.bytes;
    }
  check(ncclGroupEnd(), name);
  // A process that fails never sends: those that wait for it on a GPU are freed.
  try {
    for (unsigned k = 1; cudaStreamQuery(cuda) == cudaErrorNotReady; ++k) {
      if (k % 64 == 0) state.heed_failure();
      std::this_thread::yield();
    }
  } catch (...) {
    ncclCommAbort(nccl);
    nccl = nullptr;
    throw;
  }
  entry.seconds += timer.seconds();
#endif
}

void end_gpu_exchange([[maybe_unused]] CommunicatorState const& state) {
#ifdef SPORADES_HAS_NCCL
  if (!state.gpu || state.gpu->nccl == nullptr) return;
  if (state.is_clean)
    ncclCommDestroy(state.gpu->nccl);
  else
    ncclCommAbort(state.gpu->nccl);
#endif
}

}  // namespace sporades::detail

#else

namespace sporades::detail {
// One process exchanges nothing.
GpuPath gpu_path(Communicator const&, int) {
  return GpuPath::host;
}
std::byte* page_locked(Communicator const&, std::size_t) {
  return nullptr;
}
void exchange_by_nccl(Communicator const&, void*, char const*, std::vector<Sent> const&,
                      std::vector<Received> const&) {}
}  // namespace sporades::detail

#endif
