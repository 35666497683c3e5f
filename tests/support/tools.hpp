// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Records by Kokkos Tools what a function does. With it, tests check two rules: every launch and
/// every View has a label of ours, and every launch runs on the execution-space instance that the
/// caller passed.
///   auto const exec = sporades::test::new_instance<ExecutionSpace>();
///   sporades::test::check_launches(exec, [&] { sporades::mttkrp(exec, X, A, n, V); });

#include <cstdint>
#include <map>
#include <sporades/core/detail/memory.hpp>
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

namespace internal {

extern Recording* current_recording;  // null where nothing is recorded

/// Sets our callbacks; the destructor restores those before.
class RecordingScope {
 public:
  explicit RecordingScope(Recording& recording);
  ~RecordingScope();
  RecordingScope(RecordingScope const&) = delete;
  RecordingScope& operator=(RecordingScope const&) = delete;

 private:
  Kokkos::Tools::Experimental::EventSet before_;
};

}  // namespace internal

/// What the function launches, allocates, copies and fences, on all threads.
template <class Function>
Recording record(Function const& function) {
  Recording recording;
  internal::RecordingScope const scope(recording);
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
  sporades::detail::copy_view(exec, Y.coordinates, X.coordinates);
  sporades::detail::copy_view(exec, Y.values, X.values);
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
bool is_our_label(std::string const& label);

/// Tests that the recording has launches or entered regions (as Kokkos Kernels does for other
/// libraries), that every kernel and View carries a label of ours, that every kernel ran on the
/// instance of this number, that nothing fenced the whole backend, and that no region is left open.
void check_recording(Recording const& recording, std::uint32_t device);

/// Runs function and tests by check_recording what it did; every kernel must have run on exec.
template <class ExecutionSpace, class Function>
Recording check_launches(ExecutionSpace const& exec, Function const& function) {
  auto const recording = record(function);
  check_recording(recording, device_id(exec));
  return recording;
}

}  // namespace sporades::test
