// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/types.hpp>
#include <string>

namespace sporades::command {

inline std::string backend_name(std::string space) {
  for (auto& letter : space)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return space;
}

template <class... Spaces>
struct SpaceList {};

/// The execution spaces that --backend can name, those of this Kokkos.
using Backends = SpaceList<
#ifdef KOKKOS_ENABLE_CUDA
    Kokkos::Cuda,
#endif
#ifdef KOKKOS_ENABLE_HIP
    Kokkos::HIP,
#endif
#ifdef KOKKOS_ENABLE_OPENMP
    Kokkos::OpenMP,
#endif
#ifdef KOKKOS_ENABLE_SERIAL
    Kokkos::Serial,
#endif
    void>;

namespace detail {

template <class Run, class Space, class... Rest>
int with_backend(std::string const& name, std::string const& known, Run const& run,
                 SpaceList<Space, Rest...>) {
  if constexpr (std::is_void_v<Space>) {
    fail("--backend ", name, " is not built into this command; it has ", known);
  } else {
    std::string const own = backend_name(Space::name());
    if (name == own) return run(Space());
    return with_backend(name, known.empty() ? own : known + ", " + own, run, SpaceList<Rest...>());
  }
}

}  // namespace detail

/// run(instance) for an instance of the execution space of that name ("": Kokkos' default).
/// Throws Error naming the enabled ones if it is not among them.
template <class Run>
int with_backend(std::string const& name, Run const& run) {
  std::string const wanted =
      name.empty() ? backend_name(Kokkos::DefaultExecutionSpace::name()) : name;
  return detail::with_backend(wanted, "", run, Backends());
}

/// Threads of the host that work on exec.
template <class ExecutionSpace>
int host_threads(ExecutionSpace const& exec) {
  if constexpr (is_gpu<ExecutionSpace>)
    return 1;
  else
    return static_cast<int>(exec.concurrency());
}

}  // namespace sporades::command
