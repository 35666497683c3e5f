// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <optional>
#include <sporades/algorithms/command/ranks/rank_table.hpp>
#include <sporades/algorithms/command/run_model.hpp>
#include <sporades/algorithms/core_consistency.hpp>
#include <sporades/algorithms/score.hpp>
#include <sporades/formats/files/detail/file.hpp>
#include <sporades/formats/split_coo.hpp>
#include <sporades/kernels/model_values.hpp>

/// `ranks`: models of several ranks, from several starts each, by the Method of a subcommand that
/// decomposes (model_run.hpp), which has for that, too:
///   judged_by, judged(result)     what the best start's model is judged by
///   holds_out(ranks)              the part of the values that is held out
///   splits                        whether that is to be done for it; else it does it itself
///   has_core_consistency(), knows_all_cells()   whether that has a meaning; absent cells are 0
///   held_out_name                 the error of values held out
///   held_out_error(result, x, m)  that of a result, or of values x held out, which models have as
///                                 m; NaN where there are none

namespace sporades::command {

/// A core of more numbers is not computed for the core consistency.
constexpr double most_core_numbers = 1e7;

/// The root of the mean square of x - m; NaN of none.
template <class Values>
double root_mean_square(Values const& x, Values const& m) {
  double squares = 0;
  for (std::size_t p = 0; p < x.size(); ++p)
    squares += (double{x[p]} - double{m[p]}) * (double{x[p]} - double{m[p]});
  return x.empty() ? unknown : std::sqrt(squares / static_cast<double>(x.size()));
}

template <class Method>
class RanksRun {
  using Exec = typename Method::ExecutionSpace;
  using Scalar = typename Method::Scalar;
  using Index = typename Method::Index;
  using Problem = typename Method::Problem;
  using Solved = sporades::detail::Method<Exec, Problem>;
  using Host = Kokkos::DefaultHostExecutionSpace;
  using Tensor = CooTensor<Scalar, Index>;

 public:
  RanksRun(Exec const& exec, typename Method::Arguments const& arguments,
           RanksArguments const& ranks, Decomposition& run, Tensor tensor)
      : exec_(exec),
        common_(arguments.common),
        ranks_(ranks.ranks),
        method_(arguments),
        memory_(exec, common_.compute.memory, false, 0, false),
        run_(run),
        tensor_(hand_over(tensor)) {
    method_.look_at(tensor_);
    holds_out_ = method_.holds_out(ranks) > 0;
    if (!Method::splits || !holds_out_) return;
    auto parts = sporades::split(Host(), tensor_, method_.holds_out(ranks),
                                 sporades::detail::holdout_seed(common_.seed));
    expects(parts.train.nnz() > 0, Method::name, ": no value is left that is not held out");
    tensor_ = parts.train;
    held_ = copy_to(exec_, parts.test);
  }

  int operator()() {
    table_ = {Method::name,
              Method::judged_by,
              holds_out_ ? Method::held_out_name : "",
              method_.has_core_consistency(),
              {}};
    if (Method::needs_lapack) sporades::detail::start_lapack();
    SignalScope const signals;
    for (int const rank : ranks_) {
      auto const row = of_rank(rank, signals);
      if (!row) break;
      table_.rows.push_back(*row);
      run_.say(line(table_, *row));
    }
    auto const choice = choose_rank(table_);
    run_.say(describe(choice));
    write(common_.output, page_of(table_, choice, common_.read.file));
    write(common_.report, report(choice));
    return signals.received() == 0 ? 0 : 128 + signals.received();
  }

 private:
  using Model = KruskalTensor<Scalar>;

  void announce() {
    auto const counted = [](int count, char const* one) {
      return sporades::detail::concatenate(count, " ", one, count == 1 ? "" : "s");
    };
    run_.announce(counted(static_cast<int>(ranks_.size()), "rank") + ", " +
                  counted(common_.starts, "start") + " each");
    run_.say(heading(table_));
  }

  /// None where the run was interrupted, or the rank does not fit the memory.
  std::optional<RankRow> of_rank(int rank, SignalScope const& signals) {
    auto method = method_;
    auto& options = method.options;
    options.rank = rank;
    options.starts = 1;
    options.init = decltype(options.init)::random;
    options.stop = [&] { return signals.received() != 0; };
    std::string refusal;
    auto placed = detail::placed_resident(memory_, tensor_, options, true, refusal);
    if (!placed) {
      expects(!table_.rows.empty(), refusal);
      run_.note(refusal);
      return {};
    }
    if (table_.rows.empty()) announce();
    RankRow row;
    row.rank = rank;
    std::vector<Model> models;
    int best = 0;
    try {
      Problem problem = Solved::make({}, exec_, hand_over(placed->X), options);
      sporades::detail::Timer timer;
      for (int k = 0; k < common_.starts; ++k) {
        options.seed = seed_of_start(common_.seed, k);
        auto state = sporades::detail::random_start(exec_, problem, options);
        auto const result = sporades::detail::run_from(
            exec_, problem, options, state, [&](auto&) { return signals.received() == 0; });
        if (result.is_stopped()) return {};
        row.scores.push_back(result.value());
        if (k == 0 || result.value() > row.scores[static_cast<std::size_t>(best)]) {
          best = k;
          row.score = method.judged(result);
        }
        double const error = method.held_out_error(result, values_of_held(), seen_by(result.model));
        if (!std::isnan(error)) row.held_out.push_back(error);
        models.push_back(first_components(result.model, rank));
      }
      row.seconds = timer.seconds() / common_.starts;
    } catch (Stopped const&) {
      return {};
    }
    row.match = match(models, static_cast<std::size_t>(best));
    row.consistency = consistency(method, models[static_cast<std::size_t>(best)]);
    return row;
  }

  std::vector<Scalar> values_of_held() const {
    return held_.nnz() > 0 ? sporades::detail::to_vector(exec_, held_.values)
                           : std::vector<Scalar>();
  }
  template <class ModelHere>
  std::vector<Scalar> seen_by(ModelHere const& model) const {
    return held_.nnz() > 0 ? sporades::detail::to_vector(exec_, model_values(exec_, held_, model))
                           : std::vector<Scalar>();
  }

  /// The mean score of the best model and each other; of one model, unknown.
  static double match(std::vector<Model> const& models, std::size_t best) {
    double sum = 0;
    for (std::size_t k = 0; k < models.size(); ++k)
      if (k != best) sum += sporades::score(Host(), models[best], models[k]).value;
    return models.size() > 1 ? sum / (static_cast<double>(models.size()) - 1) : unknown;
  }

  double consistency(Method const& method, Model const& model) {
    auto const N = static_cast<double>(model.factors.size());
    if (!method.has_core_consistency() || N < 3 || std::pow(model.rank(), N) > most_core_numbers)
      return unknown;
    try {
      return core_consistency(exec_, copy_to(exec_, tensor_), copy_to(exec_, model));
    } catch (std::exception const& error) {
      if (!dynamic_cast<Error const*>(&error) && !says_memory_ran_out(error)) throw;
      run_.note(error.what());
      return unknown;
    }
  }

  std::string report(RankChoice const& choice) const {
    NamedValues values{{"file", common_.read.file},
                       {"method", std::string(Method::name)},
                       {"precision", common_.compute.precision},
                       {"seed", common_.seed},
                       {"starts", static_cast<std::uint64_t>(common_.starts)}};
    for (auto& value : values_of(table_, choice)) values.push_back(std::move(value));
    return to_json("ranks", values);
  }

  static void write(std::string const& path, std::string const& text) {
    if (path.empty()) return;
    sporades::detail::OutputFile file(path);
    file.write(text);
    file.commit();
  }

  Exec exec_;
  DecomposeArguments const& common_;
  std::vector<int> const& ranks_;
  Method method_;
  ModelMemory<Method> memory_;
  Decomposition& run_;
  Tensor tensor_;                                               // that models see
  CooTensor<Scalar, Index, typename Exec::memory_space> held_;  // or empty
  bool holds_out_ = false;
  RankTable table_;
};

namespace detail {

template <template <class, class, class> class Method, class Scalar, class Arguments>
int run_ranks_as(Arguments const& arguments, RanksArguments const& ranks) {
  return command::with_backend(arguments.common.compute.backend, [&](auto const& exec) {
    using Exec = std::decay_t<decltype(exec)>;
    Method<Exec, Scalar, std::uint32_t> const method(arguments);  // bad options before a read
    expects(!ranks.holds_out || !method.knows_all_cells(), method.name,
            ": cells without a value are 0, so that no values can be held out; with --missing they "
            "are unknown");
    Decomposition run(arguments.common);
    run.set_backend(backend_name(Exec::name()), host_threads(exec));
    auto read = run.template read<Scalar>(0);
    return std::visit(
        [&](auto& X) {
          using Index = typename std::decay_t<decltype(X)>::Index;
          return RanksRun<Method<Exec, Scalar, Index>>(exec, arguments, ranks, run, hand_over(X))();
        },
        read.tensor);
  });
}

}  // namespace detail

/// The whole subcommand for one method, in the precision and on the backend that the arguments
/// name.
template <template <class, class, class> class Method, class Arguments>
int run_ranks(Arguments arguments, RanksArguments const& ranks) {
  expect_one_process("ranks");
  arguments.rank = ranks.ranks.front();
  return with_precision(arguments.common.compute.precision, [&](auto scalar) {
    return detail::run_ranks_as<Method, decltype(scalar)>(arguments, ranks);
  });
}

}  // namespace sporades::command
