// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What the subcommands that make a model share: their run from the tensor on the host to the
/// files. What tells them apart is a Method, a template of an execution space, a scalar and an
/// index type with
///   name, ExecutionSpace, Scalar, Index, Arguments, State
///   Kind                         of model: model_kinds.hpp
///   options                      with those that all have, `starts`, and an `init` that may be
///                                `given`
///   Problem, Result              of which detail::Method tells how they are made
///   decide_start(order, nnz)     before the first state is made, unless it is a given one
///   streamed_files(dims, nnz, options)   bytes of files, of a tensor that is streamed from them
///   streaming_refusal(options)   "; why" these options cannot, or empty
///   first_iteration(problem)     Work, roughly
///   solve(exec, problem, starts, observer, ended)   see run_from_starts
///   start_note()                 what it chose, once it did; or empty
///   describe(problem, report)    settings, strategies, bytes
///   line(state, k)               of iteration k, from 0
///   brief(state)                 of the last iteration
///   values(result, k), results(result), summary(result), model_facts(result)
///   look_at(X)                   before it is gone
///   needs_lapack                 whether it does
///   tuned                        names of the strategies that --tune tries
///   converged                    why a run that has converged has ended, in words
///   scores_name, score(number)   what starts are judged by, in words
///   check(result)                throws RunError for a result that answers nothing

#include <algorithm>
#include <optional>
#include <sporades/algorithms/command/backend.hpp>
#include <sporades/algorithms/command/checkpoint.hpp>
#include <sporades/algorithms/command/decomposition.hpp>
#include <sporades/algorithms/command/model_kinds.hpp>
#include <sporades/algorithms/command/model_memory.hpp>
#include <sporades/algorithms/command/processes.hpp>
#include <sporades/algorithms/command/runtime.hpp>
#include <sporades/algorithms/command/signals.hpp>
#include <sporades/algorithms/command/start_matches.hpp>
#include <sporades/algorithms/command/starts_checkpoint.hpp>
#include <sporades/algorithms/command/tensors.hpp>
#include <sporades/algorithms/command/tune.hpp>
#include <sporades/algorithms/detail/decompose.hpp>
#include <sporades/core/detail/shortage.hpp>
#include <sporades/core/stop.hpp>
#include <sporades/kernels/detail/coo_windows.hpp>
#include <sporades/version.hpp>
#include <utility>

namespace sporades::command {

inline char const* yes_or_no(bool is_so) {
  return is_so ? "yes" : "no";
}

/// Leaves the dims; where nothing else holds the nonzeros, their memory is given back.
template <class Tensor>
void give_back_nonzeros(Tensor& X) {
  X.coordinates = {};
  X.values = {};
}

/// Whether the options say so; the enumerations of all algorithms share this name.
template <class Options>
bool is_given(Options const& options) {
  return options.init == decltype(options.init)::given;
}

template <class Method>
class ModelRun {
  using Exec = typename Method::ExecutionSpace;
  using Scalar = typename Method::Scalar;
  using Index = typename Method::Index;
  using State = typename Method::State;
  using Kind = typename Method::Kind;
  using Problem = typename Method::Problem;
  using Result = typename Method::Result;
  using Solved = sporades::detail::Method<Exec, Problem>;
  using Resident = CooTensor<Scalar, Index, typename Exec::memory_space>;

 public:
  ModelRun(Exec const& exec, typename Method::Arguments const& arguments, Decomposition& run,
           CooTensor<Scalar, Index> tensor, sporades::detail::OutOfCoreMemory out_of_core)
      : exec_(exec),
        common_(arguments.common),
        method_(arguments),
        memory_(exec, common_.compute.memory, out_of_core != nullptr, run.labels_bytes(),
                !common_.checkpoint.empty()),
        run_(run),
        tensor_(hand_over(tensor)),
        out_of_core_(std::move(out_of_core)) {}

  int operator()() {
    if (common_.tune)
      run_.say(tune(exec_, method_, memory_, tensor_, facts_of(tensor_),
                    tuned_file(common_.tune_file, common_.read.file)));
    facts_ = facts_of(tensor_);
    std::optional<Checkpoint> from;
    if (!common_.resume.empty()) {
      from.emplace(common_.resume);
      from->expect_same(facts_);
    }
    auto& report = run_.report;
    report.algorithm = Method::name;
    Kind::report_rank(method_.options, report);
    if (Method::needs_lapack) sporades::detail::start_lapack();
    if (processes().size() == 1) memory_.check_least(tensor_, method_.options);
    method_.look_at(tensor_);
    run_.begin_build();
    double bytes = 0;
    auto problem = build(from, bytes);
    method_.describe(problem, report);
    report.resumed_after = shown_ = starts_.state.iterations();
    has_model_ = shown_ > 0 || starts_.current > 0;
    run_.announce(Kind::rank_text(method_.options));
    run_.say_choices();
    run_.note(Kind::rank_note(method_.options, tensor_.dims));
    if (!has_model_)
      run_.say_first_iteration(method_.first_iteration(problem), sporades::detail::is_gpu<Exec>,
                               bytes);
    if (from) run_.say_resumed(common_.resume, shown_);

    run_.begin_solve();
    SignalScope const signals;
    // Before the first iteration has ended there is nothing to lose.
    // Several processes stop together, between iterations.
    if (processes().size() == 1)
      method_.options.stop = [&] { return signals.received() != 0 && !has_model_; };
    try {
      auto const observe = [&](IterationInfo const& now) {
        show(starts_.state);
        if (now.iteration % common_.checkpoint_every == 0) keep();
        return signals.received() == 0;
      };
      auto const result = method_.solve(exec_, problem, starts_, observe, [&](Result const& ended) {
        if constexpr (Kind::is_cp)
          if (method_.options.starts > 1 && processes().size() == 1)
            matches_.add(ended.model, method_.options.rank, ended.value());
      });
      signal_ = static_cast<int>(greatest_of_all(static_cast<std::uint64_t>(signals.received())));
      keep();
      return finish(result);
    } catch (Stopped const&) {
      return run_.finish_without_model(signals.received());
    }
  }

 private:
  int finish(Result const& result) {
    auto& report = run_.report;
    bool const interrupted = result.is_stopped();
    for (std::size_t k = 0; k < result.seconds.size(); ++k)
      report.iterations.push_back(
          {static_cast<int>(k) + 1, result.seconds[k], Method::values(result, k)});
    report.results = method_.results(result);
    report.converged = result.converged;
    report.stop_reason = result.stop == StopReason::converged ? Method::converged
                         : interrupted                        ? "interrupted"
                                                              : to_string(result.stop);
    for (auto const& [label, kernel] : result.kernels)
      report.kernels[label] = {kernel.seconds, kernel.calls};
    auto summary = method_.summary(result);
    if (method_.options.starts > 1) {
      report.results.push_back({"best_start", static_cast<std::uint64_t>(result.start)});
      report.results.push_back({"best_seed", result.seed});
      report.results.push_back({"start_scores", result.start_scores});
      // Else some were before a checkpoint.
      if (matches_.models() > 1 && !interrupted &&
          matches_.models() == result.start_scores.size()) {
        matches_.compare();
        summary = matches_.text() + summary;
        for (auto const& value : matches_.values()) report.results.push_back(value);
      }
      summary += best_of(result);
    }

    run_.begin_write();
    auto const model = Kind::host_copy(result.model);
    run_.write_model(interrupted, Kind::extension, [&](std::string const& path) {
      Kind::write(path, model, model_rows_, model_facts(result));
    });
    run_.print_labels(model, model_rows_);
    int const status = run_.finish(interrupted ? signal_ : 0, summary);
    if (status == 0) method_.check(result);
    return status;
  }

  /// What the model's file says of this run: nothing that another run to the same model has not.
  ModelFacts model_facts(Result const& result) const {
    ModelFacts facts = {{"method", Method::name}};
    for (auto const& fact : method_.model_facts(result)) facts.push_back(fact);
    facts.emplace_back("iterations", std::to_string(result.seconds.size()));
    facts.emplace_back("stopped", result.is_stopped()
                                      ? std::string("interrupted by ") + signal_name(signal_)
                                      : run_.report.stop_reason);
    facts.emplace_back("seed", std::to_string(result.seed));
    auto const& modes = run_.mode_names();
    for (std::size_t n = 0; n < modes.size(); ++n)
      facts.emplace_back("mode " + std::to_string(n), modes[n]);
    return facts;
  }

  /// The tensor made ready, and the first state. bytes: what the run needs where it computes.
  Problem build(std::optional<Checkpoint> const& from, double& bytes) {
    if (processes().size() > 1) return build_distributed(from);
    auto placed = memory_.place(tensor_, method_.options);
    bytes = placed.bytes;
    run_.note(placed.note);
    if (placed.is_streamed) {
      auto X = tensor_;
      give_back_nonzeros(tensor_);
      if (!sporades::detail::is_gpu<Exec> && !out_of_core_) to_file(X);
      set_first_state(from, Resident{tensor_.dims, {}, {}, {}});
      Problem problem = Solved::make({}, exec_, hand_over(X), method_.options);
      out_of_core_ = {};  // the problem has its own
      return problem;
    }
    give_back_nonzeros(tensor_);
    set_first_state(from, placed.X);
    return Solved::make({}, exec_, hand_over(placed.X), method_.options);
  }

  /// The problem of a tensor that several processes share, and the first state.
  Problem build_distributed(std::optional<Checkpoint> const& from) {
    auto X = copy_to(exec_, tensor_);
    give_back_nonzeros(tensor_);
    bool const is_made = !from && !is_given(method_.options);
    if (is_made) decide_start(X.order(), sum_of_all(X.nnz()));
    auto problem = sporades::detail::make_problem<Problem>(
        processes(), exec_, hand_over(X), method_.options, is_made ? &starts_.state : nullptr);
    rows_ = Solved::state_rows(problem);
    model_rows_ = Solved::rows(problem);
    if (from) load_starts<Kind>(exec_, *from, method_.options, tensor_.dims, rows_, starts_);
    if (from || is_made) return problem;
    auto model = Kind::read(common_.init);
    take_rows(model, model_rows_, problem.dims, Solved::name);
    starts_.state = sporades::detail::start_of_model(exec_, problem, method_.options, model);
    return problem;
  }

  /// Moves X from memory to a file.
  void to_file(CooTensor<Scalar, Index>& X) {
    auto const out_of_core =
        sporades::detail::to_out_of_core(Kokkos::DefaultHostExecutionSpace{}, X);
    X = out_of_core.tensor;
    out_of_core_ = out_of_core.memory;
  }

  /// Of X, unless the run goes on or begins with a given model.
  void set_first_state(std::optional<Checkpoint> const& from, Resident const& X) {
    auto const& options = method_.options;
    if (from) return load_starts<Kind>(exec_, *from, method_.options, tensor_.dims, rows_, starts_);
    if (is_given(options)) {
      starts_.state = sporades::detail::start_of_model<Problem>(exec_, X.dims, options,
                                                                Kind::read(common_.init));
      return;
    }
    decide_start(X.order(), X.nnz());
    starts_.state = sporades::detail::first_start<Problem>(exec_, X, options);
  }

  void decide_start(int order, Position nnz) {
    starts_.first_is_singular = Solved::first_is_singular(method_.options, order, nnz);
    method_.decide_start(order, nnz);
  }

  /// "seed 7" or "singular vectors"
  std::string source_of(int start) const {
    return start == 0 && starts_.first_is_singular
               ? "singular vectors"
               : "seed " + std::to_string(starts_.seed_of(method_.options.seed, start));
  }

  /// " of seed 7, the best of 3 starts (fits from 0.71 to 0.96),"
  std::string best_of(Result const& result) const {
    auto const& scores = result.start_scores;
    auto text = sporades::detail::concatenate(" of ", source_of(result.start), ", the best of ",
                                              std::max<std::size_t>(scores.size(), 1), " starts");
    if (scores.size() > 1) {
      auto const [least, most] = std::minmax_element(scores.begin(), scores.end());
      text += std::string(" (") + Method::scores_name + " from " + Method::score(*least) + " to " +
              Method::score(*most) + ")";
    }
    return text + ",";
  }

  /// The lines of the iterations that have ended since the last ones; a race shows several.
  void show(State const& now) {
    int const starts = method_.options.starts;
    if (starts_.current != shown_start_) shown_ = 0;
    if (shown_ == 0 && starts > 1)
      run_.say_start(starts_.current + 1, starts, source_of(starts_.current));
    if (shown_ == 0) run_.say(method_.start_note());
    shown_start_ = starts_.current;
    has_model_ = true;
    for (; shown_ < now.iterations(); ++shown_)
      run_.iteration_done(shown_ + 1, now.info(shown_).seconds, Method::line(now, shown_),
                          Method::brief(now));
  }

  /// All that the bits of the model depend on, by the names of the options where there are such;
  /// the limits of iterations and tolerance may change when a run goes on.
  Facts facts_of(CooTensor<Scalar, Index> const& X) const {
    auto const& options = method_.options;
    Facts facts = {{"algorithm", Method::name},
                   {"version", version},
                   {"backend", backend_name(Exec::name())},
                   {"precision", sizeof(Scalar) == 4 ? "float" : "double"},
                   {"dims", to_string(X.dims)},
                   {"nnz", std::to_string(sum_of_all(X.nnz()))},
                   {"tensor", tensor_fingerprint(X)},
                   Kind::rank_fact(options),
                   {"seed", std::to_string(options.seed)},
                   {"starts", std::to_string(options.starts)},
                   {"init", start_fact(common_.init, is_given(options))},
                   {"strategy", to_string(options.strategy)}};
    auto const named = Solved::named(options);
    for (auto [name, value] : named.all()) {
      std::replace(name.begin(), name.end(), '_', '-');
      if (name == "rank" || name == "ranks" || name == "strategy") continue;
      bool const is_flag = value == "true" || value == "false";
      facts.emplace_back(name, is_flag ? yes_or_no(value == "true") : value);
    }
    // The limits of one start decide what the next ones are compared with.
    if (options.starts > 1)
      for (auto const& fact : limits()) facts.push_back(fact);
    return facts;
  }

  Facts limits() const {
    return {{"iterations", std::to_string(common_.iterations)},
            {"tolerance", sporades::detail::concatenate(common_.tolerance)}};
  }

  /// Options that a resumed run takes where they are not given, and that may change: how the tensor
  /// is read (its checksum is a fact), and the limits.
  Facts option_facts() const {
    auto const& read = common_.read;
    Facts facts = {{"index-base", read.index_base},
                   {"first-line", read.first_line},
                   {"pattern", yes_or_no(read.pattern)},
                   {"fractional-counts", yes_or_no(read.values == "non-negative")}};
    for (auto const& fact : limits()) facts.push_back(fact);
    if (!read.dims.empty()) facts.emplace_back("given-dims", read.dims);
    return facts;
  }

  /// Writes the checkpoint unless it is there already.
  void keep() {
    std::pair<int, int> const now{starts_.current, starts_.state.iterations()};
    if (common_.checkpoint.empty() || now == kept_) return;
    kept_ = now;
    run_.keep([&] {
      auto facts = facts_;
      facts.emplace_back("finished-iterations", std::to_string(starts_.state.iterations()));
      for (auto const& fact : option_facts()) facts.push_back(fact);
      save_starts(exec_, common_.checkpoint, facts, method_.options.starts, starts_, rows_);
    });
  }

  Exec exec_;
  DecomposeArguments const& common_;
  Method method_;
  ModelMemory<Method> memory_;
  Decomposition& run_;
  Facts facts_;
  CooTensor<Scalar, Index> tensor_;                // its dims alone once the build has begun
  sporades::detail::OutOfCoreMemory out_of_core_;  // where the nonzeros are in files: holds them
  std::vector<RowMap> rows_, model_rows_;          // of the state and of the model, of each mode,
                                                   // where processes share them
  sporades::detail::Starts<State> starts_;
  StartMatches<Scalar> matches_;
  std::pair<int, int> kept_{-1, -1};  // start and iteration of the checkpoint
  int shown_start_ = 0, shown_ = 0;   // iterations of that start whose lines are out
  bool has_model_ = false;
  int signal_ = 0;  // that a process has received
};

}  // namespace sporades::command
