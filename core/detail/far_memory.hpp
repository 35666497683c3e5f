// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <sporades/core/detail/memory.hpp>

/// Far memory holds arrays that are too large for the memory of an execution space. For a GPU it is
/// page-locked memory of the host, for a host a file. Kernels can read and write it where it lies,
/// but they are faster on windows of it that are copied to near memory
/// (kernels/detail/windows.hpp).

namespace sporades::detail {

/// Owns far memory. Views of it do not.
using FarMemory = std::shared_ptr<void>;

/// A new file without a name, mapped into memory, in the folder that the environment variable
/// TMPDIR names, else in /tmp. Throws RunError if the disk has no room for it, or the folder takes
/// no files.
FarMemory map_scratch_file(std::uint64_t bytes);

/// Far memory of exec. Throws as map_scratch_file, or where the host has no such memory.
template <class ExecutionSpace>
FarMemory allocate_far([[maybe_unused]] ExecutionSpace const& exec, std::uint64_t bytes) {
  if constexpr (is_gpu<ExecutionSpace>) {
    using Bytes = Kokkos::View<char*, PageLockedSpace>;
    auto const owner = std::make_shared<Bytes>(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, "sporades::far_memory"), bytes);
    return {owner, owner->data()};
  } else {
    return map_scratch_file(bytes);
  }
}

/// Array after array in one piece of far memory, each from a multiple of 256 bytes on.
class FarArrays {
 public:
  /// Adds room for an array; to be called for each, in the order of `next`.
  template <class ViewType>
  void reserve(std::size_t extent) {
    bytes_ += room_of<ViewType>(extent);
  }
  template <class ExecutionSpace>
  void allocate(ExecutionSpace const& exec) {
    memory_ = allocate_far(exec, bytes_ > 0 ? bytes_ : 1);
  }
  template <class ViewType>
  ViewType next(std::size_t extent) {
    if (extent == 0) return {};
    auto* const begin = static_cast<char*>(memory_.get()) + used_;
    used_ += room_of<ViewType>(extent);
    return ViewType(reinterpret_cast<typename ViewType::pointer_type>(begin), extent);
  }
  FarMemory const& memory() const { return memory_; }

 private:
  template <class ViewType>
  static std::uint64_t room_of(std::size_t extent) {
    return (extent * sizeof(typename ViewType::value_type) + 255) / 256 * 256;
  }

  FarMemory memory_;
  std::uint64_t bytes_ = 0, used_ = 0;
};

/// A View that exec can read, and the far memory that it may lie in.
template <class ViewType>
struct WithinReach {
  ViewType view;
  FarMemory memory;
};

/// x itself where exec can access it, else a copy in far memory. Fences exec.
template <class ExecutionSpace, class Entry, class MemorySpace>
auto within_reach(ExecutionSpace const& exec, Kokkos::View<Entry*, MemorySpace> const& x) {
  if constexpr (Kokkos::SpaceAccessibility<ExecutionSpace, MemorySpace>::accessible) {
    return WithinReach<Kokkos::View<Entry*, MemorySpace>>{x, {}};
  } else {
    using Near = Kokkos::View<Entry*, typename ExecutionSpace::memory_space>;
    FarArrays arrays;
    arrays.reserve<Near>(x.extent(0));
    arrays.allocate(exec);
    auto const copy = arrays.next<Near>(x.extent(0));
    Kokkos::deep_copy(exec, copy, x);
    fence(exec, "sporades::far_memory::within_reach");
    return WithinReach<Near>{copy, arrays.memory()};
  }
}

}  // namespace sporades::detail
