// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <memory>
#include <sporades/core/detail/memory.hpp>
#include <sporades/core/detail/processes/exchange.hpp>
#include <sporades/core/matrix.hpp>

/// exchange() of memory of an execution space. That of GPUs goes
/// - to MPI as it is, where MPI says that it takes it (MPIX_Query_cuda_support and its like);
/// - else through NCCL, where Sporades was built with it and no two processes share a GPU;
/// - else through page-locked memory of the host.
/// SPORADES_GPU_EXCHANGE=mpi, nccl or host in process 0's environment decides instead.
/// What iterations exchange is enqueued, so that a GPU does not wait for its host.

namespace sporades::detail {

enum class GpuPath { mpi, nccl, host };

/// The path by which GPUs exchange. device: of this process's GPU, as CUDA numbers them. Collective
/// where it is asked first, which is when NCCL starts.
GpuPath gpu_path(Communicator const& processes, int device);

/// Page-locked memory of so many bytes, valid until the next call for these processes.
std::byte* page_locked(Communicator const& processes, std::size_t bytes);

/// Memory of a GPU that is registered with NCCL. Messages between such memory of GPUs of one
/// machine are written straight to their places: both ends have to be registered. Not initialised.
/// Freeing it waits for the GPU. Throws RunError where there is none left. Call
/// has_registered_memory first.
std::shared_ptr<std::byte> registered_memory(Communicator const& processes, std::size_t bytes);

/// Whether there is such memory. Collective.
bool has_registered_memory(Communicator const& processes, int device);

/// How an exchange is enqueued.
struct ExchangeWay {
  bool beside = false;         // what is enqueued after does not wait for it, up to join_exchange
  bool is_registered = false;  // all of its memory is, on all processes
};

/// exchange() through NCCL, enqueued on this CUDA stream: wait_for_exchanges waits for it.
void exchange_by_nccl(Communicator const& processes, void* stream, char const* name,
                      std::vector<Sent> const& sent, std::vector<Received> const& received,
                      ExchangeWay way);

/// What is enqueued on exec from here on comes after what was exchanged beside it.
void join_exchange(Communicator const& processes);

/// The number of an instance's GPU, as CUDA numbers them; of other spaces 0.
template <class ExecutionSpace>
auto device_number(ExecutionSpace const& exec, int)
    -> decltype(static_cast<int>(exec.cuda_device())) {
  return exec.cuda_device();
}
template <class ExecutionSpace>
int device_number(ExecutionSpace const&, long) {
  return 0;
}

/// Whether so many rows, of which each process says its number, are to lie in registered memory
/// when they are exchanged. Few take longer from there. Collective.
template <class ExecutionSpace>
bool registers_memory(ExecutionSpace const& exec, Communicator const& processes, std::size_t rows) {
  if constexpr (is_gpu<ExecutionSpace> && has_mpi) {
    constexpr double least = 32768;  // 4 MiB, of 32 floats or 16 doubles each
    return processes.size() > 1 &&
           largest_of_all(processes, "lists of rows", static_cast<double>(rows)) >= least &&
           has_registered_memory(processes, device_number(exec, 0));
  }
  return false;
}

/// Memory of an execution space from which, or into which, rows are exchanged again and again.
template <class MemorySpace>
class ExchangeMemory {
 public:
  ExchangeMemory() = default;
  /// is_registered: as registers_memory says.
  ExchangeMemory(Communicator const& processes, bool is_registered)
      : processes_(processes), is_registered_(is_registered) {}

  std::size_t bytes() const { return bytes_; }

  /// A matrix in it. Where it is too small, this makes new memory, of zeros.
  template <class Scalar, class ExecutionSpace>
  Matrix<Scalar, MemorySpace> matrix(ExecutionSpace const& exec, std::size_t rows,
                                     std::size_t columns) {
    std::size_t const bytes = rows * columns * sizeof(Scalar);
    if (bytes_ < bytes) {
      plain_ = {};
      registered_ = nullptr;
      bytes_ = 0;
      if (is_registered_)
        registered_ = registered_memory(processes_, bytes);
      else
        plain_ = uninitialized<decltype(plain_)>(exec, "sporades::exchange::memory", bytes);
      bytes_ = bytes;
      fill_view(exec, at<Scalar>(rows, columns), Scalar(0));
    }
    return at<Scalar>(rows, columns);
  }
  /// Whether that is its address.
  bool has(void const* address) const {
    auto const* const byte = static_cast<std::byte const*>(address);
    return bytes_ > 0 && byte >= data() && byte < data() + bytes_;
  }

 private:
  std::byte* data() const { return is_registered_ ? registered_.get() : plain_.data(); }
  template <class Scalar>
  Matrix<Scalar, MemorySpace> at(std::size_t rows, std::size_t columns) const {
    return Matrix<Scalar, MemorySpace>(reinterpret_cast<Scalar*>(data()), rows, columns);
  }

  Communicator processes_;
  bool is_registered_ = false;
  std::size_t bytes_ = 0;
  std::shared_ptr<std::byte> registered_;  // or else
  Kokkos::View<std::byte*, MemorySpace> plain_;
};

/// The parts of or for other processes.
template <class Byte>
std::vector<Part<Byte>> of_others(std::vector<Part<Byte>> parts, int me) {
  parts.erase(std::remove_if(parts.begin(), parts.end(),
                             [&](auto const& part) { return part.process == me; }),
              parts.end());
  return parts;
}

/// exchange() of memory that exec reads and writes, after what is enqueued on exec. Through NCCL it
/// is only enqueued, too; else this fences exec.
template <class ExecutionSpace>
void enqueue_exchange(ExecutionSpace const& exec, Communicator const& processes, char const* name,
                      std::vector<Sent> const& sent, std::vector<Received> const& received,
                      ExchangeWay way = {}) {
  if constexpr (!is_gpu<ExecutionSpace>) {
    fence(exec, "sporades::exchange");
    exchange(processes, name, sent, received);
  } else {
    using Memory = typename ExecutionSpace::memory_space;
    auto const copy = [&](auto to_space, std::byte* to, auto from_space, std::byte const* from,
                          std::size_t bytes) {
      Kokkos::deep_copy(
          exec, Kokkos::View<std::byte*, decltype(to_space), Kokkos::MemoryUnmanaged>(to, bytes),
          Kokkos::View<std::byte const*, decltype(from_space), Kokkos::MemoryUnmanaged>(from,
                                                                                        bytes));
    };
    int const me = processes.rank();
    for (auto const& from : sent)
      for (auto const& to : received)
        if (from.process == me && to.process == me && to.data != from.data)
          copy(Memory{}, to.data, Memory{}, from.data, to.bytes);
    auto out = of_others(sent, me);
    auto in = of_others(received, me);
    GpuPath const path =
        processes.size() == 1 ? GpuPath::mpi : gpu_path(processes, device_number(exec, 0));
    if (path == GpuPath::nccl) {
      exchange_by_nccl(processes, native_stream(exec, 0), name, out, in, way);
      return;
    }
    fence(exec, "sporades::exchange");
    if (path == GpuPath::mpi) exchange(processes, name, out, in);
    if (path == GpuPath::host) {
      std::size_t bytes = 0;
      for (auto const& part : out) bytes += part.bytes;
      for (auto const& part : in) bytes += part.bytes;
      auto* next = page_locked(processes, bytes);
      for (auto& part : out) {
        copy(PageLockedSpace{}, next, Memory{}, part.data, part.bytes);
        part.data = next;
        next += part.bytes;
      }
      auto const arriving = in;
      for (auto& part : in) {
        part.data = next;
        next += part.bytes;
      }
      fence(exec, "sporades::exchange");
      exchange(processes, name, out, in);
      for (std::size_t k = 0; k < in.size(); ++k)
        copy(Memory{}, arriving[k].data, PageLockedSpace{}, in[k].data, in[k].bytes);
      fence(exec, "sporades::exchange");
    }
  }
}

/// exchange() of memory that exec reads and writes, after what is enqueued on exec; it is done when
/// this returns. Fences exec.
template <class ExecutionSpace>
void exchange_on(ExecutionSpace const& exec, Communicator const& processes, char const* name,
                 std::vector<Sent> const& sent, std::vector<Received> const& received) {
  enqueue_exchange(exec, processes, name, sent, received);
  if constexpr (is_gpu<ExecutionSpace>) fence(exec, "sporades::exchange");
}

/// all_to_all_parts() of memory that exec reads and writes. Fences exec.
template <class ExecutionSpace, class T>
void exchange_parts_on(ExecutionSpace const& exec, Communicator const& processes, char const* name,
                       T const* from, std::vector<std::uint64_t> const& sent, T* to,
                       std::vector<std::uint64_t> const& received, std::size_t width) {
  all_to_all_parts(from, sent, to, received, width, [&](auto const& out, auto const& in) {
    exchange_on(exec, processes, name, out, in);
  });
}

}  // namespace sporades::detail
