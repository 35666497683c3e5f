// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstring>
#include <future>
#include <limits>
#include <sporades/core/detail/memory.hpp>
#include <sporades/core/error.hpp>
#include <sporades/core/types.hpp>
#include <sporades/kernels/streaming.hpp>
#include <vector>

namespace sporades::detail {

inline void check_streaming(char const* where, Streaming const& streaming) {
  expects(streaming.streams >= 1 && streaming.streams <= 64, where, ": ", streaming.streams,
          " streams: 1 to 64");
}

/// Bytes in which a host may sort what it streams.
inline std::uint64_t sort_memory(Streaming const& streaming) {
  return streaming.memory > 0 ? streaming.memory : std::numeric_limits<std::uint64_t>::max();
}

/// Whether nonzeros of so many bytes stay in out-of-core memory from the first step on. On GPUs
/// they are made ready in the memory where they are given.
template <class ExecutionSpace>
bool stays_out_of_core(std::uint64_t bytes, Streaming const& streaming) {
  return !is_gpu<ExecutionSpace> &&
         (streaming.always || (streaming.memory > 0 && bytes > streaming.memory));
}

/// sort_memory where they stay there, else 0.
template <class ExecutionSpace>
std::uint64_t out_of_core_part_bytes(std::uint64_t bytes, Streaming const& streaming) {
  return stays_out_of_core<ExecutionSpace>(bytes, streaming) ? sort_memory(streaming) : 0;
}

/// Bytes of a window where so many are streamed, and memory does not matter.
inline std::uint64_t wanted_window(Streaming const& streaming, std::uint64_t streamed) {
  std::uint64_t const chosen =
      std::min(std::max(streamed / 8, std::uint64_t{4} << 20), std::uint64_t{32} << 20);
  return streaming.window > 0 ? streaming.window : chosen;
}

/// Streaming with so many bytes less for windows, but some.
inline Streaming with_less(Streaming streaming, std::uint64_t bytes) {
  if (streaming.memory > 0) streaming.memory -= std::min(streaming.memory - 1, bytes);
  return streaming;
}

/// Copies a part of a out-of-core array into a window. On a host it calls nothing of Kokkos,
/// because it runs beside a kernel.
template <class ExecutionSpace, class ViewType>
void copy_to_window(ExecutionSpace const& exec, ViewType const& window, ViewType const& part) {
  if constexpr (is_gpu<ExecutionSpace>)
    copy_view(exec, window, part);
  else if (part.extent(0) > 0)
    std::memcpy(window.data(), part.data(), part.extent(0) * sizeof(typename ViewType::value_type));
}

/// Resident memory that windows of out-of-core arrays are copied to, and who copies and computes.
/// On a GPU these are some instances of its execution space, each of which copies a window and then
/// works on it, so that one copies while others work. On a host a thread beside copies the next
/// window.
template <class MemorySpace>
class Windows {
 public:
  using Instance = typename MemorySpace::execution_space;

  Streaming options;

  /// Bytes of a window where so many are streamed.
  std::uint64_t window_bytes(std::uint64_t streamed) const {
    std::uint64_t const wanted = wanted_window(options, streamed);
    if (options.memory == 0) return wanted;
    std::uint64_t const share = options.memory / static_cast<std::uint64_t>(options.streams);
    return std::min(wanted, share - std::min(share, instance_bytes<Instance>));
  }

  /// Calls copy(exec, room, w), then work(exec, room, w) for each window w from 0 on. `room` is
  /// resident memory of so many bytes, rounded up to a multiple of 256. The calls only enqueue. On
  /// a GPU fences exec before; fences everything after.
  template <class ExecutionSpace, class Copy, class Work>
  void run(ExecutionSpace const& exec, Position windows, std::uint64_t bytes, Copy const& copy,
           Work const& work) {
    bytes = (bytes + 255) / 256 * 256;
    auto const streams = static_cast<std::size_t>(options.streams);
    if (room_.extent(0) < streams * bytes) {
      room_ = {};
      room_ = uninitialized<Room>(exec, "sporades::windows::room", streams * bytes);
    }
    auto const room = [&](Position w) { return room_.data() + w % streams * bytes; };
    if constexpr (is_gpu<ExecutionSpace>) {
      if (instances_.size() != streams)
        instances_ = overlapping_instances(Instance(exec), options.streams);
      fence(exec, "sporades::windows::begin");
      for (Position w = 0; w < windows; ++w) {
        auto const& instance = instances_[w % streams];
        copy(instance, room(w), w);
        work(instance, room(w), w);
      }
      for (auto const& instance : instances_) fence(instance, "sporades::windows::end");
    } else {
      std::vector<std::future<void>> copies(streams);
      auto const begin_copy = [&](Position w) {
        if (w < windows)
          copies[w % streams] = std::async(streams > 1 ? std::launch::async : std::launch::deferred,
                                           [&, w] { copy(exec, room(w), w); });
      };
      for (Position w = 0; w + 1 < streams; ++w) begin_copy(w);
      for (Position w = 0; w < windows; ++w) {
        begin_copy(w + streams - 1);
        copies[w % streams].get();
        work(exec, room(w), w);
        fence(exec, "sporades::windows::work");
      }
    }
  }

  std::uint64_t bytes() const { return room_.extent(0); }

 private:
  using Room = Kokkos::View<char*, MemorySpace>;

  Room room_;
  std::vector<Instance> instances_;  // of a GPU
};

}  // namespace sporades::detail
