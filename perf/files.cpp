// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <filesystem>
#include <sporades/formats/files/tns_file.hpp>
#include <support/benchmarks.hpp>
#include <support/tensors.hpp>

namespace sporades::perf {

void add_files(Settings const& settings) {
  for (auto const& path : settings.files)
    add("read/" + short_name(path), [=](benchmark::State& state) {
      double const size = static_cast<double>(std::filesystem::file_size(path));
      ReadOptions options;
      options.duplicates = Duplicates::keep;  // reading alone; summing them is a sort
      measure(state, Kokkos::DefaultHostExecutionSpace{},
              [&] { benchmark::DoNotOptimize(read_tensor<double>(path, options)); });
      state.counters["bytes/s"] = benchmark::Counter(
          size, benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
    });
}

}  // namespace sporades::perf
