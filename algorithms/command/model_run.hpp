// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What the subcommands that make a model share: their run from the tensor on the host to the
/// files. What tells them apart is a Method, a template of an execution space, a scalar and an
/// index type with
///   name, ExecutionSpace, Scalar, Index, Arguments, State, Snapshot
///   Kind                         of model: model_kinds.hpp
///   options                      with those that all have, and an `init` that may be `given`
///   facts()                      what its bits hang on beside what all have
///   memory(exec, X, options)     MemoryNeed from the start to the model
///   start(exec, X), start(exec, dims, model), build(exec, X)
///   solve(exec, problem, state, observer)
///   describe(problem, report)    settings, strategies, bytes
///   seconds(state), line(state), brief(state)    of the last iteration
///   iteration(result, k), results(result), summary(result)
///   check(result)                throws RunError for a result that answers nothing
///   arrays(snapshot), load(checkpoint, snapshot)    all that the Kind does not know of

#include <optional>
#include <sporades/algorithms/command/backend.hpp>
#include <sporades/algorithms/command/checkpoint.hpp>
#include <sporades/algorithms/command/decomposition.hpp>
#include <sporades/algorithms/command/memory.hpp>
#include <sporades/algorithms/command/model_kinds.hpp>
#include <sporades/algorithms/command/runtime.hpp>
#include <sporades/algorithms/command/signals.hpp>
#include <sporades/algorithms/command/tensors.hpp>
#include <sporades/core/memory_count.hpp>
#include <sporades/formats/spt_file/checksum.hpp>
#include <sporades/version.hpp>
#include <utility>

namespace sporades::command {

/// The seed's word, or the checksum of the file that the run starts from.
inline std::string start_fact(std::string const& init, bool is_given) {
  if (!is_given) return init;
  MappedFile const file(init);
  return sporades::detail::concatenate(
      "given ", sporades::detail::xxh64(file.bytes().data(), file.bytes().size()));
}

/// The start of that name, of an algorithm with these three.
template <class Init>
Init init_of(std::string const& name) {
  return name == "random" ? Init::random : name == "hosvd" ? Init::hosvd : Init::given;
}

/// What the options of all decompositions have in common, but for the rank.
template <class Options>
Options common_options(DecomposeArguments const& common) {
  Options options;
  options.iterations = common.iterations;
  options.tolerance = common.tolerance;
  options.seed = common.seed;
  options.time_kernels = !common.report.empty();
  return options;
}

/// Leaves the dims; where nothing else holds the nonzeros, their memory is given back.
template <class Tensor>
void give_back_nonzeros(Tensor& X) {
  X.coordinates = {};
  X.values = {};
}

/// Whether the options or the result say so; the enumerations of all algorithms share these names.
template <class Options>
bool is_given(Options const& options) {
  return options.init == decltype(options.init)::given;
}
template <class Result>
bool is_interrupted(Result const& result) {
  return result.stop == decltype(result.stop)::observer;
}

template <class Method>
class ModelRun {
  using Exec = typename Method::ExecutionSpace;
  using Scalar = typename Method::Scalar;
  using Index = typename Method::Index;
  using Memory = typename Exec::memory_space;
  using State = typename Method::State;
  using Snapshot = typename Method::Snapshot;
  using Kind = typename Method::Kind;

 public:
  ModelRun(Exec const& exec, typename Method::Arguments const& arguments, Decomposition& run,
           CooTensor<Scalar, Index> tensor)
      : exec_(exec),
        common_(arguments.common),
        method_(arguments),
        run_(run),
        facts_(facts_of(tensor)),
        tensor_(std::move(tensor)) {}

  int operator()() {
    std::optional<Checkpoint> from;
    if (!common_.resume.empty()) {
      from.emplace(common_.resume);
      from->expect_same(facts_);
    }
    auto& report = run_.report;
    report.algorithm = Method::name;
    Kind::report_rank(method_.options, report);
    check_least_memory();
    run_.begin_build();
    auto X = copy_to(exec_, tensor_);
    give_back_nonzeros(tensor_);
    check_memory(X);
    auto state = first_state(X, from);
    auto problem = method_.build(exec_, hand_over(X));
    method_.describe(problem, report);
    report.resumed_after = state.iteration();
    run_.announce(Kind::rank_text(method_.options));
    run_.say_choices();
    if (from) run_.say_resumed(common_.resume, state.iteration());

    run_.begin_solve();
    SignalScope const signals;
    auto const result = method_.solve(exec_, problem, state, [&](State const& now) {
      run_.iteration_done(now.iteration(), Method::seconds(now), method_.line(now),
                          method_.brief(now));
      bool const stops = signals.received() != 0;
      if (stops || now.iteration() % common_.checkpoint_every == 0) keep(now);
      return !stops;
    });
    keep(state);
    bool const interrupted = is_interrupted(result);
    for (int k = 0; k < state.iteration(); ++k)
      report.iterations.push_back(method_.iteration(result, k));
    report.results = method_.results(result);
    report.converged = result.converged;
    report.stop_reason = interrupted ? "interrupted" : to_string(result.stop);
    for (auto const& [label, kernel] : result.kernels)
      report.kernels[label] = {kernel.seconds, kernel.calls};

    run_.begin_write();
    auto const model = Kind::host_copy(result.model);
    if (!common_.output.empty()) Kind::write(common_.output, model);
    run_.print_labels(model);
    int const status = run_.finish(interrupted ? signals.received() : 0, method_.summary(result));
    if (status == 0) method_.check(result);
    return status;
  }

 private:
  std::string memory_subject() const {
    return std::string(Method::name) + ": " + Kind::rank_text(method_.options) + " for " +
           to_string(tensor_.dims);
  }

  /// Refuses at a glance what cannot fit: the factors, those that they become, and the tensor.
  void check_least_memory() const {
    double const bytes = static_cast<double>(tensor_.storage_bytes());
    double const left = memory_left(exec_) + (is_gpu<Exec> ? 0 : bytes);
    check_fits_memory(
        bytes + 2 * Kind::factor_numbers(method_.options, tensor_.dims) * sizeof(Scalar), left,
        memory_subject());
  }

  /// Refuses what does not fit, with the largest ranks that would.
  void check_memory(CooTensor<Scalar, Index, Memory> const& X) const {
    double const left = memory_left(exec_) + static_cast<double>(X.storage_bytes());
    auto const needed = [&](auto const& options) {
      MemoryNeed const need = Method::memory(exec_, X, options);
      return is_gpu<Exec> ? need.views : need.views + need.host;
    };
    double const bytes = needed(method_.options);
    if (bytes <= left) return;
    int fits = 0, too_many = Kind::largest_rank(method_.options);
    while (too_many - fits > 1 + fits / 16) {
      int const middle = fits + (too_many - fits) / 2;
      (needed(Kind::with_largest_rank(method_.options, middle)) <= left ? fits : too_many) = middle;
    }
    check_fits_memory(bytes, left, memory_subject(),
                      fits == 0
                          ? ""
                          : "; " + Kind::rank_text(Kind::with_largest_rank(method_.options, fits)) +
                                " would fit");
  }

  /// All that the bits of the model hang on; the limits of iterations and tolerance may change when
  /// a run goes on.
  Facts facts_of(CooTensor<Scalar, Index> const& X) const {
    auto const& options = method_.options;
    Facts facts = {{"algorithm", Method::name},
                   {"version", version},
                   {"backend", backend_name(Exec::name())},
                   {"precision", sizeof(Scalar) == 4 ? "float" : "double"},
                   {"dims", to_string(X.dims)},
                   {"nnz", std::to_string(X.nnz())},
                   {"tensor", tensor_fingerprint(X)},
                   Kind::rank_fact(options),
                   {"seed", std::to_string(options.seed)},
                   {"init", start_fact(common_.init, is_given(options))},
                   {"strategy", to_string(options.strategy)}};
    for (auto const& fact : method_.facts()) facts.push_back(fact);
    return facts;
  }

  State first_state(CooTensor<Scalar, Index, Memory> const& X,
                    std::optional<Checkpoint> const& from) {
    if (from) return restore(exec_, load_snapshot(*from));
    if (!is_given(method_.options)) return method_.start(exec_, X);
    return method_.start(exec_, tensor_.dims, Kind::read(common_.init));
  }

  Snapshot load_snapshot(Checkpoint const& checkpoint) const {
    Snapshot state;
    state.dims = tensor_.dims;
    Kind::load(checkpoint, method_.options, state);
    method_.load(checkpoint, state);
    return state;
  }

  void save(State const& now) const {
    Snapshot const state = snapshot(exec_, now);
    Facts facts = facts_;
    facts.emplace_back("iterations", std::to_string(now.iteration()));
    auto const of_method = method_.arrays(state);  // owns what the arrays point to
    auto arrays = Kind::arrays(state);
    arrays.insert(arrays.end(), of_method.arrays.begin(), of_method.arrays.end());
    write_checkpoint(common_.checkpoint, facts, arrays);
  }

  /// Writes the checkpoint unless it is there already.
  void keep(State const& state) {
    if (common_.checkpoint.empty() || state.iteration() == kept_) return;
    kept_ = state.iteration();
    run_.keep([&] { save(state); });
  }

  Exec exec_;
  DecomposeArguments const& common_;
  Method method_;
  Decomposition& run_;
  Facts facts_;
  CooTensor<Scalar, Index> tensor_;  // its dims alone once the build has begun
  int kept_ = -1;
};

namespace detail {

template <template <class, class, class> class Method, class Scalar, class Arguments>
int run_model_as(Arguments const& arguments) {
  return command::with_backend(arguments.common.compute.backend, [&](auto const& exec) {
    using Exec = std::decay_t<decltype(exec)>;
    Decomposition run(arguments.common);
    run.set_backend(backend_name(Exec::name()), host_threads(exec));
    auto tensor = run.template read<Scalar>();
    return std::visit(
        [&](auto& X) {
          using Index = typename std::decay_t<decltype(X)>::Index;
          return ModelRun<Method<Exec, Scalar, Index>>(exec, arguments, run, hand_over(X))();
        },
        tensor);
  });
}

}  // namespace detail

/// The whole subcommand, in the precision and on the backend that the arguments name.
template <template <class, class, class> class Method, class Arguments>
int run_model(Arguments const& arguments) {
  return arguments.common.compute.precision == "float"
             ? detail::run_model_as<Method, float>(arguments)
             : detail::run_model_as<Method, double>(arguments);
}

}  // namespace sporades::command
