// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <mutex>
#include <regex>
#include <support/tools.hpp>

namespace sporades::test {

Recording* internal::current_recording = nullptr;

namespace {

using internal::current_recording;

/// Several threads may allocate at once: those of OpenMP, in a parallel region, their team scratch.
std::mutex recording_mutex;

template <class List, class Entry>
void append(List& list, Entry&& entry) {
  std::lock_guard const lock(recording_mutex);
  list.push_back(std::forward<Entry>(entry));
}

void record_launch(char const* label, std::uint32_t device, std::uint64_t* id) {
  *id = 0;
  append(current_recording->launches, Launch{label, device});
  if (current_recording->inside.empty()) append(current_recording->outside, std::string(label));
}
void record_region(char const* name) {
  auto& inside = current_recording->inside;
  append(inside, inside.empty() ? std::string(name) : inside.back() + " > " + name);
  append(current_recording->regions, inside.back());
}
void record_end_of_region() {
  current_recording->inside.pop_back();
}
/// Leaves out the fences of Kokkos Tools itself, which precede each callback after Kokkos 3.4.
void record_fence(char const* label, std::uint32_t device, std::uint64_t* id) {
  *id = 0;
  if (std::string(label).rfind("Kokkos::Tools", 0) == 0) return;
  append(current_recording->fences, Launch{label, device});
}
void record_bytes(Kokkos_Profiling_SpaceHandle space, char const* label, double bytes) {
  if (std::string(label).rfind("sporades::", 0) != 0) return;
  std::lock_guard const lock(recording_mutex);
  auto& own = current_recording->bytes[space.name];
  own.held += bytes;
  own.peak = std::max(own.peak, own.held);
}
void record_allocation(Kokkos_Profiling_SpaceHandle space, char const* label, void const*,
                       std::uint64_t bytes) {
  append(current_recording->allocations, std::string(label));
  record_bytes(space, label, static_cast<double>(bytes));
}
void record_deallocation(Kokkos_Profiling_SpaceHandle space, char const* label, void const*,
                         std::uint64_t bytes) {
  record_bytes(space, label, -static_cast<double>(bytes));
}
void record_copy(Kokkos_Profiling_SpaceHandle to_space, char const* to, void const*,
                 Kokkos_Profiling_SpaceHandle from_space, char const* from, void const*,
                 std::uint64_t bytes) {
  bool const crosses = std::string(to_space.name) != from_space.name;
  append(current_recording->copies, Copy{to, from, bytes, crosses});
}

}  // namespace

namespace internal {

RecordingScope::RecordingScope(Recording& recording)
    : before_(Kokkos::Tools::Experimental::get_callbacks()) {
  namespace tools = Kokkos::Tools::Experimental;
  current_recording = &recording;
  tools::set_begin_parallel_for_callback(record_launch);
  tools::set_begin_parallel_reduce_callback(record_launch);
  tools::set_begin_parallel_scan_callback(record_launch);
  tools::set_begin_fence_callback(record_fence);
  tools::set_allocate_data_callback(record_allocation);
  tools::set_deallocate_data_callback(record_deallocation);
  tools::set_begin_deep_copy_callback(record_copy);
  tools::set_push_region_callback(record_region);
  tools::set_pop_region_callback(record_end_of_region);
}
RecordingScope::~RecordingScope() {
  Kokkos::Tools::Experimental::set_callbacks(before_);
  current_recording = nullptr;
}

}  // namespace internal

bool is_our_label(std::string const& label) {
  static std::regex const pattern("^sporades::[a-z_]+(::[a-z0-9_]+)+$");
  return std::regex_match(label, pattern);
}

void check_recording(Recording const& recording, std::uint32_t device) {
  CHECK(!(recording.launches.empty() && recording.regions.empty()));
  for (auto const& [label, instance] : recording.launches) {
    INFO("kernel " << label);
    bool const is_ours = is_our_label(label);
    if (!is_ours) CHECK(is_of_kokkos(label));
    // Kokkos 3.4 reports device 0 for its own kernels, wherever they ran. A mirror is on the host,
    // which initialises it.
    bool const is_mirror = label.find("_mirror]") != std::string::npos;
    if (is_ours || (KOKKOS_VERSION >= 40500 && !is_mirror)) CHECK(instance == device);
  }
  for (auto const& label : recording.allocations) {
    INFO("View " << label);
    // "[unlabeled]" is scratch memory of OpenMP's teams. (A View without a label has the label "".)
    if (!is_of_kokkos(label) && label != "[unlabeled]") CHECK(is_our_label(label));
  }
  for (auto const& [label, instance] : recording.fences) {
    INFO("fence " << label);
    CHECK(label.find("Global Fence") == std::string::npos);
  }
  CHECK(recording.inside.empty());
}

}  // namespace sporades::test
