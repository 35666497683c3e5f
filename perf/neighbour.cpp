// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <chrono>
#include <sporades/algorithms/definitions.hpp>
#include <support/benchmarks.hpp>
#include <support/tensors.hpp>
#include <thread>

#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#endif

namespace sporades::perf {
namespace {

/// Other programs that keep one processor each busy, while this lives.
class BusyNeighbours {
 public:
  explicit BusyNeighbours(int count) {
#if defined(__linux__)
    for (int k = 0; k < count; ++k) {
      pid_t const child = fork();
      if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (unsigned volatile turns = 0;;) turns = turns + 1;
      }
      if (child > 0) children_.push_back(child);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until the scheduler has settled
#endif
    expects(static_cast<int>(children_.size()) == count, "neighbour: ", count,
            " busy processes could not be started");
  }
  ~BusyNeighbours() {
#if defined(__linux__)
    for (int const child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
#endif
  }
  BusyNeighbours(BusyNeighbours const&) = delete;
  BusyNeighbours& operator=(BusyNeighbours const&) = delete;

 private:
  std::vector<int> children_;
};

double median(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

/// Times the median iteration of solve(), which gives the seconds of each, in pairs: alone, and
/// beside busy processes.
template <class Solve>
void measure_pairs(benchmark::State& state, int neighbours, Solve const& solve) {
  solve();  // warm
  for (auto _ : state) {
    double const alone = median(solve());
    BusyNeighbours const busy(neighbours);
    double const beside = median(solve());
    state.SetIterationTime(beside);
    state.counters["alone ms"] = 1e3 * alone;
    state.counters["times"] = beside / alone;
  }
}

template <class Scalar>
void run_als(benchmark::State& state, std::string const& name, int rank, int neighbours) {
  ExecutionSpace const exec{};
  auto const X = copy_to(exec, tensor<Scalar>(name));
  CpAlsOptions options;
  options.init = CpAlsInit::random;
  options.rank = rank;
  options.iterations = 30;
  options.tolerance = 0;
  auto problem = make_cp_als_problem(exec, X, options);
  measure_pairs(state, neighbours, [&] {
    auto start = cp_als_start(exec, X, options);
    return cp_als(exec, problem, options, start).seconds;
  });
}

template <class Scalar>
void run_apr(benchmark::State& state, std::string const& name, int rank, int neighbours,
             CpAprMethod method) {
  ExecutionSpace const exec{};
  auto const X = copy_to(exec, counts_of(tensor<Scalar>(name)));
  CpAprOptions options;
  options.rank = rank;
  options.iterations = 10;
  options.tolerance = 0;
  options.method = method;
  auto problem = make_cp_apr_problem(exec, X, options);
  measure_pairs(state, neighbours, [&] {
    auto start = cp_apr_start<Scalar>(exec, X.dims, options);
    return cp_apr(exec, problem, options, start).seconds;
  });
}

}  // namespace

void add_neighbour(Settings const& settings) {
  if (settings.neighbours == 0) return;
  for (auto const& name : settings.tensors)
    for (int rank : settings.ranks)
      for_scalars(settings, [&](auto zero) {
        using Scalar = decltype(zero);
        auto const add_one = [&](std::string const& method, auto const& run) {
          add("neighbour/" + method + "/" + short_name(name) + "/" + scalar_name<Scalar>() + "/R" +
                  std::to_string(rank),
              [=, count = settings.neighbours](benchmark::State& state) {
                run(state, name, rank, count);
              });
        };
        add_one("cp_als", run_als<Scalar>);
        for (auto method : {CpAprMethod::mu, CpAprMethod::pqnr})
          add_one(std::string("cp_apr_") + to_string(method),
                  [=](benchmark::State& state, std::string const& tensor, int R, int count) {
                    run_apr<Scalar>(state, tensor, R, count, method);
                  });
      });
}

}  // namespace sporades::perf
