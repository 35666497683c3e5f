// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <sporades/core/detail/memory.hpp>

/// Out-of-core memory holds arrays that are too large for the memory of an execution space. For a
/// GPU it is page-locked memory of the host, for a host a file. Kernels can read and write it where
/// it lies, but they are faster on windows of it that are copied to resident memory
/// (kernels/detail/windows.hpp).

namespace sporades::detail {

/// Owns out-of-core memory. Views of it do not.
using OutOfCoreMemory = std::shared_ptr<void>;

/// The folder for files of nonzeros: the environment variable TMPDIR names it, else it is /tmp.
std::string scratch_folder();

/// A new file without a name, mapped into memory, in scratch_folder(). Throws RunError if the disk
/// has no room for it, or the folder takes no files.
OutOfCoreMemory map_scratch_file(std::uint64_t bytes);

/// Out-of-core memory of exec. Throws as map_scratch_file, or where the host has no such memory.
template <class ExecutionSpace>
OutOfCoreMemory allocate_out_of_core([[maybe_unused]] ExecutionSpace const& exec,
                                     std::uint64_t bytes) {
  if constexpr (is_gpu<ExecutionSpace>) {
    using Bytes = Kokkos::View<char*, PageLockedSpace>;
    auto const owner = std::make_shared<Bytes>(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, "sporades::out_of_core_memory"), bytes);
    return {owner, owner->data()};
  } else {
    return map_scratch_file(bytes);
  }
}

/// Arrays side by side in one piece of memory, each from a multiple of 256 bytes on. With a null
/// `begin` it counts the bytes that they take.
class MemoryLayout {
 public:
  explicit MemoryLayout(void* begin) : begin_(reinterpret_cast<std::uintptr_t>(begin)) {}

  /// Room for so many entries.
  template <class Entry>
  Entry* room(std::size_t entries) {
    auto* const place = reinterpret_cast<Entry*>(begin_ + bytes_);
    bytes_ += (entries * sizeof(Entry) + 255) / 256 * 256;
    return place;
  }
  /// Room for so many entries as a View of rank 1; for no entries an empty View.
  template <class ViewType>
  ViewType view(std::size_t entries) {
    if (entries == 0) return {};
    return ViewType(room<typename ViewType::value_type>(entries), entries);
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::uintptr_t begin_;
  std::uint64_t bytes_ = 0;
};

/// A View that exec can read, and the out-of-core memory that it may lie in.
template <class ViewType>
struct WithinReach {
  ViewType view;
  OutOfCoreMemory memory;
};

/// x itself where exec can access it, else a copy in out-of-core memory. Fences exec.
template <class ExecutionSpace, class Entry, class MemorySpace>
auto within_reach(ExecutionSpace const& exec, Kokkos::View<Entry*, MemorySpace> const& x) {
  if constexpr (Kokkos::SpaceAccessibility<ExecutionSpace, MemorySpace>::accessible) {
    return WithinReach<Kokkos::View<Entry*, MemorySpace>>{x, {}};
  } else {
    using Resident = Kokkos::View<Entry*, typename ExecutionSpace::memory_space>;
    auto const memory = allocate_out_of_core(exec, (x.extent(0) + 1) * sizeof(Entry));
    Resident const copy(static_cast<Entry*>(memory.get()), x.extent(0));
    copy_view(exec, copy, x);
    fence(exec, "sporades::out_of_core_memory::within_reach");
    return WithinReach<Resident>{copy, memory};
  }
}

}  // namespace sporades::detail
