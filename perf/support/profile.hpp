// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <benchmark/benchmark.h>

#include <sporades/core/detail/kokkos.hpp>
#include <sporades/core/timer.hpp>

#if defined(KOKKOS_ENABLE_CUDA)
#include <cuda_profiler_api.h>
#endif

namespace sporades::perf {

/// Whether a profiler looks at one call of each product (option --profile), instead of its time.
inline bool& is_profiled() {
  static bool value = false;
  return value;
}

/// Does nothing. perf/bench/ncu.py knows by its name where the kernels of a benchmark begin.
struct ProfiledBenchmark {
  KOKKOS_FUNCTION void operator()(int) const {}
};

/// NVIDIA's profilers look from here on, or no more.
inline void look(bool begins) {
  Kokkos::fence();
#if defined(KOKKOS_ENABLE_CUDA)
  static_cast<void>(begins ? cudaProfilerStart() : cudaProfilerStop());
#else
  static_cast<void>(begins);
#endif
}

/// Has a profiler look at one call of work(), after one that warms up. The time is the profiler's.
template <class Work>
void profile(benchmark::State& state, Work const& work) {
  work();
  for (auto _ : state) {
    look(true);
    sporades::detail::Timer const timer;
    Kokkos::parallel_for("sporades::perf::profiled_benchmark",
                         Kokkos::RangePolicy<Kokkos::DefaultExecutionSpace>(0, 1),
                         ProfiledBenchmark{});
    work();
    look(false);
    state.SetIterationTime(timer.seconds());
  }
  state.counters["profiled"] = 1;
}

}  // namespace sporades::perf
