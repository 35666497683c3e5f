// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <sporades/core/detail/kokkos.hpp>
#include <sporades/core/error.hpp>
#include <sporades/core/spin_limit.hpp>
#include <sporades/version.hpp>
#include <sstream>
#include <string>
#include <support/benchmarks.hpp>
#include <support/profile.hpp>

/// Benchmarks of Sporades on the default execution space; perf/README.md tells how to run them.

namespace {

std::vector<std::string> split(std::string const& list) {
  std::vector<std::string> parts;
  std::istringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

constexpr char const* usage =
    "sporades_perf [option ...]: benchmarks of Sporades on Kokkos' default execution space.\n"
    "Its own options; lists are separated by commas:\n"
    "  --tensors=LIST           names of generated tensors as uber or nell-2:20000000,\n"
    "                           uniform:NNZ, hub:NNZ, DIMS:NNZ:SKEW as 30x40x50:1000:0.6,\n"
    "                           or files (default: uber)\n"
    "  --ranks=LIST             numbers of components (default: 16,32)\n"
    "  --strategies=LIST        of MTTKRP (default: automatic,sorted,morton,fibers,csf,alto,\n"
    "                           alto-atomic)\n"
    "  --scalars=LIST           double, float or both (default: both)\n"
    "  --files=LIST             files to time the readers on (default: none)\n"
    "  --stream-megabytes=SIZE  of one array of STREAM (default: 256)\n"
    "  --neighbours=N           busy processes to run the decompositions beside (default: 0)\n"
    "  --profile                run a call of each product where NVIDIA's ncu looks, as\n"
    "                           perf/profile has it do\n"
    "Options of Kokkos, --kokkos-..., and of Google Benchmark are taken, too:\n\n";

/// Takes our options out of the arguments; what is left is Google Benchmark's and Kokkos'.
sporades::perf::Settings take_settings(int& argc, char** argv) {
  sporades::perf::Settings settings;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    std::string const argument = argv[i];
    auto const equals = argument.find('=');
    std::string const name = argument.substr(0, equals);
    std::string const value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (name == "--tensors") {
      settings.tensors = split(value);
    } else if (name == "--ranks") {
      settings.ranks.clear();
      for (auto const& rank : split(value)) settings.ranks.push_back(std::stoi(rank));
    } else if (name == "--strategies") {
      settings.strategies = split(value);
    } else if (name == "--scalars") {
      settings.scalars = split(value);
    } else if (name == "--files") {
      settings.files = split(value);
    } else if (name == "--stream-megabytes") {
      settings.stream_megabytes = std::stod(value);
    } else if (name == "--neighbours") {
      settings.neighbours = std::stoi(value);
    } else if (name == "--profile") {
      sporades::perf::is_profiled() = true;
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  return settings;
}

}  // namespace

int main(int argc, char** argv) {
  bool const asks_for_help = std::any_of(
      argv + 1, argv + argc, [](char const* one) { return std::string(one) == "--help"; });
  sporades::limit_spinning(argv);  // may execute the program anew: nothing is printed before
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);  // programs that read along see each result
  if (asks_for_help) std::cout << usage << std::flush;
  Kokkos::ScopeGuard const kokkos(argc, argv);
  try {
    auto const settings = take_settings(argc, argv);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    std::ostringstream configuration;
    Kokkos::print_configuration(configuration);
    benchmark::AddCustomContext("sporades", sporades::version);
    benchmark::AddCustomContext("git", SPORADES_GIT_HASH);
    benchmark::AddCustomContext("compiler", SPORADES_COMPILER);
    benchmark::AddCustomContext("backend", Kokkos::DefaultExecutionSpace::name());
    benchmark::AddCustomContext("kokkos", configuration.str());
    benchmark::AddCustomContext("concurrency",
                                std::to_string(Kokkos::DefaultExecutionSpace().concurrency()));
    sporades::perf::add_stream(settings);
    sporades::perf::add_gather(settings);
    sporades::perf::add_mttkrp(settings);
    sporades::perf::add_phi(settings);
    sporades::perf::add_native(settings);
    sporades::perf::add_loss_gradient(settings);
    sporades::perf::add_spttm(settings);
    sporades::perf::add_sptv(settings);
    sporades::perf::add_streaming(settings);
    sporades::perf::add_selector(settings);
    sporades::perf::add_plan(settings);
    sporades::perf::add_build(settings);
    sporades::perf::add_files(settings);
    sporades::perf::add_cp_als(settings);
    sporades::perf::add_cp_apr(settings);
    sporades::perf::add_tucker(settings);
    sporades::perf::add_neighbour(settings);
    benchmark::RunSpecifiedBenchmarks();
  } catch (std::exception const& error) {
    std::cerr << "sporades_perf: error: " << error.what() << '\n';
    return 2;
  }
}
