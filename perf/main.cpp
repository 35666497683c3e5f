// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <benchmark/benchmark.h>

#include <iostream>
#include <sporades/core/detail/kokkos.hpp>
#include <sporades/core/error.hpp>
#include <sporades/core/spin_limit.hpp>
#include <sporades/version.hpp>
#include <sstream>
#include <support/benchmarks.hpp>

/// Benchmarks of Sporades on the default execution space; perf/README.md tells how to run them.

namespace {

std::vector<std::string> split(std::string const& list) {
  std::vector<std::string> parts;
  std::istringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

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
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  return settings;
}

}  // namespace

int main(int argc, char** argv) {
  sporades::limit_spinning(argv);
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
    sporades::perf::add_stream(settings);
    sporades::perf::add_gather(settings);
    sporades::perf::add_mttkrp(settings);
    sporades::perf::add_phi(settings);
    sporades::perf::add_spttm(settings);
    sporades::perf::add_plan(settings);
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
