// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The one header that knows Kokkos versions: 3.4 to 5.x under the modern names. Everything else
/// includes this one and tests no version.

#include <Kokkos_Core.hpp>
#include <Kokkos_ScatterView.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sporades {

/// Mathematics on any backend. In a namespace of its own: names such as sqrt in sporades itself
/// would clash with the C library's wherever an application says `using namespace sporades`.
namespace math {
#if KOKKOS_VERSION >= 30700
using Kokkos::abs;
using Kokkos::log;
using Kokkos::sqrt;
#else
template <class Real>
KOKKOS_INLINE_FUNCTION Real abs(Real x) {
  return Kokkos::Experimental::fabs(x);
}
template <class Real>
KOKKOS_INLINE_FUNCTION Real log(Real x) {
  return Kokkos::Experimental::log(x);
}
template <class Real>
KOKKOS_INLINE_FUNCTION Real sqrt(Real x) {
  return Kokkos::Experimental::sqrt(x);
}
#endif
}  // namespace math

/// Waits for what was enqueued on exec. Kokkos 3.4 has no labelled fence on an instance.
template <class ExecutionSpace>
void fence(ExecutionSpace const& exec, std::string const& label) {
#if KOKKOS_VERSION >= 30700
  exec.fence(label);
#else
  static_cast<void>(label);
  exec.fence();
#endif
}

/// True where the space's threads are lanes of a wide processor with memory of its own: CUDA, HIP.
template <class ExecutionSpace>
inline constexpr bool is_gpu =
    !Kokkos::SpaceAccessibility<ExecutionSpace, Kokkos::HostSpace>::accessible;

/// A command-line option of Kokkos as this version spells it, from its modern spelling.
inline std::string kokkos_option(std::string const& modern) {
#if KOKKOS_VERSION < 30700
  if (modern == "--kokkos-num-threads") return "--kokkos-threads";
#endif
  return modern;
}

/// A View whose entries are not initialised, allocated on exec.
template <class ViewType, class ExecutionSpace, class... Extents>
ViewType uninitialized(ExecutionSpace const& exec, std::string const& label, Extents... extents) {
  return ViewType(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), extents...);
}

/// A View with the entries of a vector, in the memory space of exec. Fences exec.
template <class Entry, class ExecutionSpace>
Kokkos::View<Entry*, typename ExecutionSpace::memory_space> to_view(
    ExecutionSpace const& exec, std::string const& label, std::vector<Entry> const& entries) {
  using Result = Kokkos::View<Entry*, typename ExecutionSpace::memory_space>;
  auto const view = uninitialized<Result>(exec, label, entries.size());
  Kokkos::View<Entry const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const host(entries.data(),
                                                                                    entries.size());
  Kokkos::deep_copy(exec, view, host);
  fence(exec, label);
  return view;
}

}  // namespace sporades
