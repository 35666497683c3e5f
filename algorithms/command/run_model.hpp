// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/command/model_run.hpp>
#include <sporades/core/detail/shortage.hpp>
#include <sporades/core/names.hpp>

namespace sporades::command {

/// The start of that name; `given` for a file's. Throws Error for a start that only other methods
/// have.
template <class Init>
Init init_of(char const* method, std::string const& name) {
  std::string known;
  for (auto const& one : names_of<Init>()) {
    if (one == to_string(Init::given)) continue;
    if (one == name) return from_name<Init>(name);
    known += one + ", ";
  }
  expects(name != "automatic" && name != "hosvd", method, ": there is no start ", name,
          " of this method: ", known, "and a file's (./", name, " for one of that name) work");
  return Init::given;
}

/// Runs from the starts. Of a first one that has won a race the observer sees the last iteration,
/// as it goes on.
template <class Exec, class Problem, class Options, class State>
auto run_after_race(bool raced, Exec const& exec, Problem& problem, Options const& options,
                    sporades::detail::Starts<State>& starts, Observer const& observer,
                    sporades::detail::EndOfStart<Problem> const& ended) {
  auto limited = options;
  int const done = starts.state.iterations();
  if (raced && !observer(starts.state.info(done - 1))) limited.iterations = done;
  auto result = sporades::detail::run_from_starts(exec, problem, limited, starts, observer, ended);
  if (limited.iterations != options.iterations && !result.converged)
    result.stop = StopReason::observer;
  return result;
}

/// "1 of 2 components have weight 0", a line, or nothing.
template <class Result>
std::string dead_line(Result const& result) {
  return result.dead_components == 0 ? ""
                                     : sporades::detail::concatenate(result.dead_components, " of ",
                                                                     result.model.weights.extent(0),
                                                                     " components have weight 0\n");
}

/// What the options of all decompositions have in common, except the rank.
template <class Options>
Options common_options(DecomposeArguments const& common) {
  Options options;
  options.iterations = common.iterations;
  options.tolerance = common.tolerance;
  options.seed = common.seed;
  options.starts = common.starts;
  options.time_kernels = !common.report.empty();
  return options;
}

namespace detail {

template <template <class, class, class> class Method, class Scalar, class Arguments>
int run_model_as(Arguments const& arguments) {
  if (arguments.common.tune) {
    expect_one_process("--tune");
    tuned_file(arguments.common.tune_file, arguments.common.read.file);  // throws before reading
  }
  if (arguments.common.compute.memory > 0) {
    expect_one_process("--memory");
    sporades::detail::return_large_memory_at_once();
  }
  return command::with_backend(arguments.common.compute.backend, [&](auto const& exec) {
    using Exec = std::decay_t<decltype(exec)>;
    Decomposition run(arguments.common);
    run.set_backend(backend_name(Exec::name()), host_threads(exec));
    // Where the tensor exceeds a limit.
    bool const keeps_files = !sporades::detail::is_gpu<Exec> && processes().size() == 1;
    auto read = run.template read<Scalar>(keeps_files ? arguments.common.compute.memory : 0);
    return std::visit(
        [&](auto& X) {
          using Index = typename std::decay_t<decltype(X)>::Index;
          return ModelRun<Method<Exec, Scalar, Index>>(exec, arguments, run, hand_over(X),
                                                       std::exchange(read.out_of_core, {}))();
        },
        read.tensor);
  });
}

}  // namespace detail

/// The whole subcommand, in the precision and on the backend that the arguments name.
template <template <class, class, class> class Method, class Arguments>
int run_model(Arguments const& arguments) {
  return with_precision(arguments.common.compute.precision, [&](auto scalar) {
    return detail::run_model_as<Method, decltype(scalar)>(arguments);
  });
}

}  // namespace sporades::command
