// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Records by Kokkos Tools what a function does. With it, tests check two rules: every launch and
/// every View has a label of ours, and every launch runs on the execution-space instance that the
/// caller passed.
///   auto const exec = sporades::test::new_instance<ExecutionSpace>();
///   sporades::test::check_launches(exec, [&] { sporades::mttkrp(exec, X, A, n, V); });

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <regex>
#include <sporades/core/detail/kokkos.hpp>
#include <string>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <utility>
#include <vector>

namespace sporades::test {

struct Launch {
  std::string label;
  std::uint32_t device;  ///< Kokkos Tools' number of the execution-space instance
};

struct Copy {
  std::string to, from;  ///< labels of the Views
  std::uint64_t bytes;
  bool crosses;  ///< from one memory space to another
};

/// Bytes of our Views in one memory space, without those that existed before the recording.
struct Bytes {
  double held = 0, peak = 0;
};

struct Recording {
  std::map<std::string, Bytes> bytes;    // by the memory space's name
  std::vector<Launch> launches;          ///< of parallel_for, parallel_reduce and parallel_scan
  std::vector<std::string> allocations;  ///< labels of Views
  std::vector<Launch> fences;            ///< Kokkos 3.5 and later
  std::vector<Copy> copies;              ///< by deep_copy
  std::vector<std::string> regions;      ///< entered, with those around them: "outer > inner"
  std::vector<std::string> inside;       ///< those that are entered now
  std::vector<std::string> outside;      ///< labels of what was launched outside all regions
};

namespace detail {

inline Recording* current_recording = nullptr;

/// Several threads may allocate at once: those of OpenMP, in a parallel region, their team scratch.
inline std::mutex recording_mutex;

template <class List, class Entry>
void append(List& list, Entry&& entry) {
  std::lock_guard const lock(recording_mutex);
  list.push_back(std::forward<Entry>(entry));
}

inline void record_launch(char const* label, std::uint32_t device, std::uint64_t* id) {
  *id = 0;
  append(current_recording->launches, Launch{label, device});
  if (current_recording->inside.empty()) append(current_recording->outside, std::string(label));
}
inline void record_region(char const* name) {
  auto& inside = current_recording->inside;
  append(inside, inside.empty() ? std::string(name) : inside.back() + " > " + name);
  append(current_recording->regions, inside.back());
}
inline void record_end_of_region() {
  current_recording->inside.pop_back();
}
/// Leaves out the fences of Kokkos Tools itself, which precede each callback after Kokkos 3.4.
inline void record_fence(char const* label, std::uint32_t device, std::uint64_t* id) {
  *id = 0;
  if (std::string(label).rfind("Kokkos::Tools", 0) == 0) return;
  append(current_recording->fences, Launch{label, device});
}
inline void record_bytes(Kokkos_Profiling_SpaceHandle space, char const* label, double bytes) {
  if (std::string(label).rfind("sporades::", 0) != 0) return;
  std::lock_guard const lock(recording_mutex);
  auto& own = current_recording->bytes[space.name];
  own.held += bytes;
  own.peak = std::max(own.peak, own.held);
}
inline void record_allocation(Kokkos_Profiling_SpaceHandle space, char const* label, void const*,
                              std::uint64_t bytes) {
  append(current_recording->allocations, std::string(label));
  record_bytes(space, label, static_cast<double>(bytes));
}
inline void record_deallocation(Kokkos_Profiling_SpaceHandle space, char const* label, void const*,
                                std::uint64_t bytes) {
  record_bytes(space, label, -static_cast<double>(bytes));
}
inline void record_copy(Kokkos_Profiling_SpaceHandle to_space, char const* to, void const*,
                        Kokkos_Profiling_SpaceHandle from_space, char const* from, void const*,
                        std::uint64_t bytes) {
  bool const crosses = std::string(to_space.name) != from_space.name;
  append(current_recording->copies, Copy{to, from, bytes, crosses});
}

/// Sets our callbacks; the destructor restores those before.
class RecordingScope {
 public:
  explicit RecordingScope(Recording& recording)
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
  ~RecordingScope() {
    Kokkos::Tools::Experimental::set_callbacks(before_);
    current_recording = nullptr;
  }
  RecordingScope(RecordingScope const&) = delete;
  RecordingScope& operator=(RecordingScope const&) = delete;

 private:
  Kokkos::Tools::Experimental::EventSet before_;
};

}  // namespace detail

/// What the function launches, allocates, copies and fences, on all threads.
template <class Function>
Recording record(Function const& function) {
  Recording recording;
  detail::RecordingScope const scope(recording);
  function();
  return recording;
}

/// A copy of X, whose memory a recording sees come and go.
template <class ExecutionSpace, class Tensor>
Tensor copy_of(ExecutionSpace const& exec, Tensor const& X) {
  Tensor Y = X;
  Y.coordinates = decltype(Y.coordinates)(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "sporades::test::coordinates"),
      X.coordinates.extent(0), X.coordinates.extent(1));
  Y.values = decltype(Y.values)(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "sporades::test::values"),
      X.values.extent(0));
  Kokkos::deep_copy(exec, Y.coordinates, X.coordinates);
  Kokkos::deep_copy(exec, Y.values, X.values);
  exec.fence();
  return Y;
}

/// Kokkos Tools' number of an execution-space instance.
template <class ExecutionSpace>
std::uint32_t device_id(ExecutionSpace const& exec) {
  return Kokkos::Tools::Experimental::device_id(exec);
}

/// True for labels of Kokkos and Kokkos Kernels: the initialisation of a View, a copy, a gemm.
inline bool is_of_kokkos(std::string const& label) {
  return label.rfind("Kokkos", 0) == 0;
}

/// True for labels such as sporades::mttkrp::sorted, with at least two names after sporades.
inline bool is_our_label(std::string const& label) {
  static std::regex const pattern("^sporades::[a-z_]+(::[a-z0-9_]+)+$");
  return std::regex_match(label, pattern);
}

/// Runs function and tests that it launched something or entered a region (as Kokkos Kernels does
/// for other libraries), that every kernel and View carries a label of ours, that every kernel ran
/// on exec, that nothing fenced the whole backend, and that no region is left open.
template <class ExecutionSpace, class Function>
Recording check_launches(ExecutionSpace const& exec, Function const& function) {
  auto const recording = record(function);
  auto const device = device_id(exec);
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
  return recording;
}

}  // namespace sporades::test
