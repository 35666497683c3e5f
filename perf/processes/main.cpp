// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstdio>
#include <map>
#include <sporades/algorithms/detail/cp_als/cp_als_method.hpp>
#include <sporades/algorithms/fit_memory.hpp>
#include <sporades/algorithms/generate.hpp>
#include <sporades/core/detail/processes/exchange.hpp>
#include <sporades/core/timer.hpp>
#include <sporades/execution_spaces.hpp>
#include <string>
#include <tuple>
#include <type_traits>

/// An iteration of CP-ALS on several processes, and each of its exchanges; perf/README.md tells how
/// to run it.

namespace {

using namespace sporades;
using ExecutionSpace = Kokkos::DefaultExecutionSpace;

constexpr char const* usage =
    "mpirun -n P sporades_perf_processes [option ...]: an iteration of CP-ALS on P processes, and "
    "its\n"
    "exchanges, on Kokkos' default execution space. Options:\n"
    "  --tensor=NAME[:NNZ]   of generate --like, with so many nonzeros (default: uber)\n"
    "  --rank=R              number of components (default: 16)\n"
    "  --scalar=TYPE         double or float (default: double)\n"
    "  --strategy=NAME       automatic, sorted, fibers or alto (default: automatic)\n"
    "  --slices=S            of a mode (default: 1, none)\n"
    "  --iterations=K        that are timed, after a first one (default: 10)\n";

struct Settings {
  std::string name = "uber", scalar = "double";
  std::optional<Position> nnz;
  CpAlsOptions options;
};

Settings settings_of(int argc, char** argv) {
  Settings settings;
  settings.options.rank = 16;
  settings.options.iterations = 10;
  for (int i = 1; i < argc; ++i) {
    std::string const argument = argv[i];
    auto const equals = argument.find('=');
    expects(equals != std::string::npos, "no such option: ", argument);
    auto const name = argument.substr(0, equals), value = argument.substr(equals + 1);
    if (name == "--tensor") {
      auto const colon = value.find(':');
      settings.name = value.substr(0, colon);
      if (colon != std::string::npos) settings.nnz = std::stoull(value.substr(colon + 1));
    } else if (name == "--rank") {
      settings.options.rank = std::stoi(value);
    } else if (name == "--scalar") {
      expects(value == "double" || value == "float", "--scalar takes double or float");
      settings.scalar = value;
    } else if (name == "--strategy") {
      for (auto strategy : {MttkrpStrategy::automatic, MttkrpStrategy::sorted,
                            MttkrpStrategy::fibers, MttkrpStrategy::alto})
        if (value == to_string(strategy)) settings.options.strategy = strategy;
      expects(value == to_string(settings.options.strategy), "--strategy: no ", value);
    } else if (name == "--slices") {
      settings.options.slices = std::stoi(value);
    } else if (name == "--iterations") {
      settings.options.iterations = std::stoi(value);
    } else {
      expects(false, "no such option: ", argument);
    }
  }
  settings.options.iterations += 1;
  settings.options.tolerance = 0;
  settings.options.init = CpAlsInit::random;
  return settings;
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

template <class Scalar>
void run(Communicator const& processes, Settings const& settings) {
  ExecutionSpace const exec{};
  bool const speaks = processes.rank() == 0;
  detail::Timer timer;
  auto X = generate_like<Scalar>(processes, exec, settings.name, settings.nnz);
  exec.fence();
  double const generated = timer.seconds();
  timer = {};
  FittedOptions<CpAlsOptions> fit;
  fit.options = settings.options;
  if (processes.size() == 1) fit = fit_memory(exec, X, settings.options);
  auto const& options = fit.options;
  auto problem = [&] {
    if (!fit.moves_to_host) return make_cp_als_problem(processes, exec, hand_over(X), options);
    auto on_host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
    X = {};
    return make_cp_als_problem(exec, hand_over(on_host), options);
  }();
  exec.fence();
  double const planned = timer.seconds();

  auto state = detail::random_start(exec, problem, options);
  auto before = processes.traffic();
  auto const result = cp_als(exec, problem, options, state, [&](IterationInfo const& info) {
    if (info.iteration == 1) before = processes.traffic();
    return true;
  });
  auto const after = processes.traffic();
  auto seconds = result.seconds;
  seconds.erase(seconds.begin());
  auto const times = detail::all_gather(processes, "numbers told", median(seconds));
  if (speaks) {
    std::printf("%s, %s, %llu nonzeros, R = %d, %s, %d processes, %s\n", settings.name.c_str(),
                to_string(problem.dims).c_str(), static_cast<unsigned long long>(problem.nnz),
                options.rank, settings.scalar.c_str(), processes.size(), ExecutionSpace::name());
    if (!fit.note.empty()) std::printf("  %s\n", fit.note.c_str());
    for (int n = 0; n < problem.products.order(); ++n)
      std::printf("  mode %d: %s\n", n, detail::describe(problem.products, n).c_str());
    std::printf("  made in %.2f s, plan in %.2f s, fit %.12f\n", generated, planned, result.fit());
    std::printf("  iteration            %9.3f ms\n",
                1e3 * *std::max_element(times.begin(), times.end()));
  }
  auto timed = options;
  timed.time_kernels = true;
  timed.iterations = 2;
  state = detail::random_start(exec, problem, timed);
  auto const kernels = cp_als(exec, problem, timed, state).kernels;
  if (speaks)
    for (auto const& [name, time] : kernels)
      std::printf("  %-20s %9.3f ms\n", name.c_str(), 1e3 * time.seconds / timed.iterations);
  for (auto const& [name, total] : after) {
    auto one = total;
    if (auto const found = before.find(name); found != before.end()) {
      one.messages -= found->second.messages;
      one.bytes -= found->second.bytes;
      one.seconds -= found->second.seconds;
    }
    auto const parts = detail::all_gather(processes, "numbers told", one);
    one = {};
    std::uint64_t most = 0;
    for (auto const& part : parts) {
      one.messages += part.messages;
      one.bytes += part.bytes;
      most = std::max(most, part.bytes);
      one.seconds = std::max(one.seconds, part.seconds);
    }
    double const count = options.iterations - 1;
    if (speaks && one.messages > 0)
      std::printf("  %-20s %9.3f ms, %.1f messages, %.6g bytes, %.6g of one process, %.3g GB/s\n",
                  name.c_str(), 1e3 * one.seconds / count,
                  static_cast<double>(one.messages) / count, static_cast<double>(one.bytes) / count,
                  static_cast<double>(most) / count,
                  one.seconds > 0 ? 1e-9 * static_cast<double>(most) / one.seconds : 0);
  }
}

/// Runs in Scalar where that is the type which is asked for; else returns false.
template <class Scalar>
bool runs(Communicator const& processes, Settings const& settings) {
  if (settings.scalar != (std::is_same_v<Scalar, float> ? "float" : "double")) return false;
  run<Scalar>(processes, settings);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  {
    Kokkos::ScopeGuard const kokkos(argc, argv);
    Communicator const processes(MPI_COMM_WORLD);
    try {
      if (argc > 1 && std::string(argv[1]) == "--help") {
        if (processes.rank() == 0) std::fputs(usage, stdout);
      } else {
        auto const settings = settings_of(argc, argv);
        bool const is_known = std::apply(
            [&](auto... scalar) { return (runs<decltype(scalar)>(processes, settings) || ...); },
            Scalars{});
        expects(is_known, "--scalar: the library is not compiled for ", settings.scalar);
      }
    } catch (std::exception const& error) {
      if (processes.rank() == 0)
        std::fprintf(stderr, "sporades_perf_processes: %s\n", error.what());
      status = 2;
    }
  }
  MPI_Finalize();
  return status;
}
