// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/core/detail/processes/gpu_exchange.hpp>

#ifdef SPORADES_HAS_MPI

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sporades/core/detail/processes/communicator_state.hpp>
#include <sporades/core/error.hpp>
#include <sporades/core/timer.hpp>
#include <string_view>
#include <thread>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>  // Open MPI's
#endif
#ifdef SPORADES_HAS_NCCL
#include <nccl.h>
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 19, 0)
#define SPORADES_NCCL_REGISTERS
#endif
#endif

namespace sporades::detail {

#ifdef SPORADES_HAS_NCCL
/// An exchange that is enqueued, between two events.
struct EnqueuedExchange {
  std::string name;
  cudaEvent_t begin, end;
};
#endif

/// What a communicator keeps for the memory of GPUs.
struct GpuExchange {
  GpuPath path = GpuPath::host;
  Kokkos::View<std::byte*, PageLockedSpace> memory;  // gone when Kokkos ends
#ifdef SPORADES_HAS_NCCL
  ncclComm_t nccl = nullptr;
  ncclComm_t registering = nullptr;  // of messages between registered memory alone, if there is any
  std::vector<void*> registrations;  // with it, of memory that is in use
  cudaStream_t stream = nullptr;     // on which these are:
  std::vector<EnqueuedExchange> enqueued;  // in this order
  std::vector<cudaEvent_t> events;         // not in use
  cudaStream_t beside = nullptr;           // for exchanges beside kernels
  cudaEvent_t joined = nullptr;            // the end of one, until that is waited for
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

/// Communicators that have exchanges enqueued, by any thread.
std::vector<CommunicatorState*> waiting;
std::mutex waiting_mutex;
std::atomic<int> waiting_count{0};

/// An event after what is enqueued on the stream.
cudaEvent_t event_on(GpuExchange& gpu, cudaStream_t stream) {
  cudaEvent_t event = nullptr;
  if (gpu.events.empty()) {
    cudaEventCreate(&event);
  } else {
    event = gpu.events.back();
    gpu.events.pop_back();
  }
  cudaEventRecord(event, stream);
  return event;
}

void forget_enqueued(GpuExchange& gpu) {
  for (auto const& one : gpu.enqueued) gpu.events.insert(gpu.events.end(), {one.begin, one.end});
  gpu.enqueued.clear();
  gpu.joined = nullptr;
}

/// Both communicators at once: each one's kernels may be behind the other's, and end at once. NCCL
/// (2.24 and later) would deregister when the group ends, by means that it has freed then.
void abort(GpuExchange& gpu) {
  forget_enqueued(gpu);
  ncclGroupStart();
  for (auto* const comm : {gpu.nccl, gpu.registering})
    if (comm != nullptr) ncclCommAbort(comm);
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 24, 0)
  // Others may be at a transfer of what is registered.
  if (!gpu.registrations.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  for (auto* const one : gpu.registrations) ncclCommDeregister(gpu.registering, one);
#endif
  ncclGroupEnd();
  gpu.nccl = gpu.registering = nullptr;
  gpu.registrations.clear();
}

/// A process that fails never sends: those that wait for it on a GPU are freed.
void wait(CommunicatorState& state) {
  auto& gpu = *state.gpu;
  if (gpu.joined != nullptr) cudaStreamWaitEvent(gpu.stream, gpu.joined, 0);
  gpu.joined = nullptr;
  try {
    for (unsigned k = 1; cudaStreamQuery(gpu.stream) == cudaErrorNotReady; ++k) {
      if (k % 64 == 0) state.heed_failure();
      if (!state.failure.empty()) throw RunError(state.failure);
      std::this_thread::yield();
    }
  } catch (...) {
    abort(gpu);
    throw;
  }
  for (auto const& one : gpu.enqueued) {
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, one.begin, one.end);
    state.traffic[one.name].seconds += milliseconds / 1e3;
  }
  forget_enqueued(gpu);
}

/// Waits for the GPU, and for other processes while none has failed.
[[maybe_unused]] void settle(CommunicatorState& state) noexcept {
  auto& gpu = *state.gpu;
  try {
    bool const waits = !gpu.enqueued.empty();
    if (waits && !state.failure.empty()) abort(gpu);
    if (waits && state.failure.empty()) wait(state);
  } catch (RunError const&) {
    // The next exchange throws it again.
  }
  cudaDeviceSynchronize();
}
#endif

GpuExchange& exchange_of(Communicator const& processes, int device) {
  auto& kept = state_of(processes)->gpu;
  if (kept) return *kept;
  return together(processes, [&]() -> GpuExchange& {
    auto made = std::make_shared<GpuExchange>();
    made->path = choose_path(all_gather(processes, "paths of GPUs", offer_of(device)));
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

bool has_registered_memory([[maybe_unused]] Communicator const& processes,
                           [[maybe_unused]] int device) {
#ifdef SPORADES_NCCL_REGISTERS
  auto& gpu = exchange_of(processes, device);
  if (gpu.path != GpuPath::nccl) return false;
  if (gpu.registering == nullptr)
    together(processes, [&] {
      check(ncclCommSplit(gpu.nccl, 0, processes.rank(), &gpu.registering, nullptr),
            "ncclCommSplit");
    });
  return true;
#else
  return false;
#endif
}

std::shared_ptr<std::byte> registered_memory([[maybe_unused]] Communicator const& processes,
                                             [[maybe_unused]] std::size_t bytes) {
#ifdef SPORADES_NCCL_REGISTERS
  auto& gpu = *state_of(processes)->gpu;
  void *memory = nullptr, *registration = nullptr;
  check(ncclMemAlloc(&memory, bytes), "memory for exchanges");
  std::shared_ptr<std::byte> const owner(static_cast<std::byte*>(memory), ncclMemFree);
  check(ncclCommRegister(gpu.registering, memory, bytes, &registration), "ncclCommRegister");
  gpu.registrations.push_back(registration);
  return {owner.get(), [processes, registration, owner](std::byte*) {
            auto const state = state_of(processes);
            settle(*state);
            auto& left = state->gpu->registrations;
            auto const place = std::find(left.begin(), left.end(), registration);
            if (place == left.end()) return;
            left.erase(place);
            ncclCommDeregister(state->gpu->registering, registration);
          }};
#else
  return nullptr;
#endif
}

void exchange_by_nccl(Communicator const& processes, [[maybe_unused]] void* stream,
                      [[maybe_unused]] char const* name,
                      [[maybe_unused]] std::vector<Sent> const& sent,
                      [[maybe_unused]] std::vector<Received> const& received,
                      [[maybe_unused]] ExchangeWay way) {
  [[maybe_unused]] auto const state = state_of(processes);
#ifdef SPORADES_HAS_NCCL
  auto const cuda = static_cast<cudaStream_t>(stream);
  auto& gpu = *state->gpu;
  if (!gpu.enqueued.empty() && gpu.stream != cuda) wait(*state);
  state->heed_failure();
  if (!state->failure.empty()) throw RunError(state->failure);
  if (gpu.enqueued.empty()) {
    gpu.stream = cuda;
    std::lock_guard<std::mutex> const lock(waiting_mutex);
    if (std::find(waiting.begin(), waiting.end(), state) == waiting.end()) waiting.push_back(state);
    waiting_count = static_cast<int>(waiting.size());
  }
  auto runs_on = cuda;
  if (way.beside) {
    if (gpu.beside == nullptr) {
      // Its few blocks would else wait for those of the kernels that it is to run beside.
      int least = 0, greatest = 0;
      cudaDeviceGetStreamPriorityRange(&least, &greatest);
      cudaStreamCreateWithPriority(&gpu.beside, cudaStreamNonBlocking, greatest);
    }
    runs_on = gpu.beside;
    auto const before = event_on(gpu, cuda);
    cudaStreamWaitEvent(runs_on, before, 0);
    gpu.events.push_back(before);  // what waits for it is enqueued
  }
  cudaEvent_t const begin = event_on(gpu, runs_on);
  auto& entry = state->traffic[name];
  auto const comm = way.is_registered ? gpu.registering : gpu.nccl;
  check(ncclGroupStart(), name);
  for (auto const& part : received)
    if (part.bytes > 0)
      check(ncclRecv(part.data, part.bytes, ncclInt8, part.process, comm, runs_on), name);
  for (auto const& part : sent)
    if (part.bytes > 0) {
      check(ncclSend(part.data, part.bytes, ncclInt8, part.process, comm, runs_on), name);
      ++entry.messages;
      entry.bytes += part.bytes;
    }
  check(ncclGroupEnd(), name);
  gpu.enqueued.push_back({name, begin, event_on(gpu, runs_on)});
  if (way.beside) gpu.joined = gpu.enqueued.back().end;
#endif
}

void join_exchange([[maybe_unused]] Communicator const& processes) {
#ifdef SPORADES_HAS_NCCL
  auto const state = state_of(processes);
  if (!state->gpu || state->gpu->joined == nullptr) return;
  cudaStreamWaitEvent(state->gpu->stream, state->gpu->joined, 0);
  state->gpu->joined = nullptr;
#endif
}

void wait_for_exchanges([[maybe_unused]] void* stream) {
#ifdef SPORADES_HAS_NCCL
  if (waiting_count == 0) return;
  std::vector<CommunicatorState*> here;
  {
    std::lock_guard<std::mutex> const lock(waiting_mutex);
    auto const others = std::stable_partition(
        waiting.begin(), waiting.end(),
        [&](CommunicatorState const* state) { return state->gpu->stream != stream; });
    here.assign(others, waiting.end());
    waiting.erase(others, waiting.end());
    waiting_count = static_cast<int>(waiting.size());
  }
  for (auto* const state : here) wait(*state);
#endif
}

void end_gpu_exchange([[maybe_unused]] CommunicatorState const& state) {
#ifdef SPORADES_HAS_NCCL
  if (!state.gpu) return;
  {
    std::lock_guard<std::mutex> const lock(waiting_mutex);
    waiting.erase(std::remove(waiting.begin(), waiting.end(), &state), waiting.end());
    waiting_count = static_cast<int>(waiting.size());
  }
  forget_enqueued(*state.gpu);
  for (auto const event : state.gpu->events) cudaEventDestroy(event);
  if (state.gpu->beside != nullptr) cudaStreamDestroy(state.gpu->beside);
  for (auto const comm : {state.gpu->registering, state.gpu->nccl}) {
    if (comm == nullptr) continue;
    if (state.is_clean)
      ncclCommDestroy(comm);
    else
      ncclCommAbort(comm);
  }
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
bool has_registered_memory(Communicator const&, int) {
  return false;
}
std::shared_ptr<std::byte> registered_memory(Communicator const&, std::size_t) {
  return nullptr;
}
void exchange_by_nccl(Communicator const&, void*, char const*, std::vector<Sent> const&,
                      std::vector<Received> const&, ExchangeWay) {}
void join_exchange(Communicator const&) {}
void wait_for_exchanges(void*) {}
}  // namespace sporades::detail

#endif
