// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <optional>
#include <sporades/algorithms/command/ranks/rank_table.hpp>
#include <sporades/algorithms/command/run_model.hpp>
#include <sporades/algorithms/command/start_matches.hpp>
#include <sporades/algorithms/core_consistency.hpp>
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
constexpr double most_core_numbers = 1e6;

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
  using Result = typename Method::Result;
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
    expects(parts.train.nnz() > 0 && parts.test.nnz() > 0, Method::name, ": --holdout of ",
            tensor_.nnz(), " values leaves ", parts.train.nnz(), " to learn from and ",
            parts.test.nnz(), " to judge by; --holdout 0 holds none out");
    tensor_ = parts.train;
    held_ = copy_to(exec_, parts.test);
    held_values_.assign(parts.test.values.data(), parts.test.values.data() + parts.test.nnz());
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
      std::string why;
      auto const row = of_rank(rank, signals, why);
      if (!row) {
        table_.left_out = sporades::detail::concatenate("without rank ", rank, " and above: ", why);
        break;
      }
      table_.rows.push_back(*row);
      run_.say(line(table_, *row));
    }
    int const signal = signals.received();
    if (table_.rows.empty()) {
      tell(std::string("interrupted by ") + signal_name(signal) + ": no rank was finished");
      return 128 + signal;
    }
    auto const choice = choose_rank(table_);
    run_.say(describe(table_, choice));
    write(common_.output, page_of(table_, choice, common_.read.file));
    write(common_.report, report(choice));
    return signal == 0 ? 0 : 128 + signal;
  }

 private:
  void announce() {
    auto const counted = [](int count, char const* one) {
      return sporades::detail::concatenate(count, " ", one, count == 1 ? "" : "s");
    };
    run_.announce(counted(static_cast<int>(ranks_.size()), "rank") + ", " +
                  counted(common_.starts, "start") + " each");
    run_.say(heading(table_));
  }

  /// None where the run was interrupted, or the rank does not fit the memory or fails after others:
  /// `why` is set then.
  std::optional<RankRow> of_rank(int rank, SignalScope const& signals, std::string& why) {
    why = "interrupted";
    auto method = method_;
    auto& options = method.options;
    options.rank = rank;
    options.starts = common_.starts;
    options.init = decltype(options.init)::random;
    options.stop = [&] { return signals.received() != 0; };
    std::string refusal;
    auto placed = detail::placed_resident(memory_, tensor_, options, true, refusal);
    if (!placed) {
      expects(!table_.rows.empty(), refusal);
      run_.note(why = refusal);
      return {};
    }
    if (table_.rows.empty()) announce();
    RankRow row;
    row.rank = rank;
    StartMatches<Scalar> matches;
    try {
      Problem problem = Solved::make({}, exec_, hand_over(placed->X), options);
      sporades::detail::Starts<typename Method::State> starts;
      starts.state = sporades::detail::random_start(exec_, problem, options);
      sporades::detail::Timer timer;
      method.decide_start(tensor_.order(), tensor_.nnz());
      auto const result = method.solve(
          exec_, problem, starts, [&](auto&) { return signals.received() == 0; },
          [&](Result const& ended) {
            double const error = method.held_out_error(ended, held_values_, seen_by(ended.model));
            if (!std::isnan(error)) row.held_out.push_back(error);
            matches.add(ended.model, rank, ended.value());
          });
      if (result.is_stopped()) return {};
      row.score = method.judged(result);
      row.seconds = timer.seconds() / common_.starts;
      matches.compare();
      row.match = matches.mean();
    } catch (Stopped const&) {
      return {};
    } catch (std::exception const& error) {
      // What was found before is worth more.
      bool const is_known = dynamic_cast<Error const*>(&error) ||
                            dynamic_cast<RunError const*>(&error) || says_memory_ran_out(error);
      if (!is_known || table_.rows.empty()) throw;
      run_.note(why = sporades::detail::concatenate("rank ", rank, ": ", error.what()));
      return {};
    }
    row.consistency = consistency(method, matches.best());
    return row;
  }

  template <class ModelHere>
  std::vector<Scalar> seen_by(ModelHere const& model) const {
    return held_.nnz() > 0 ? sporades::detail::to_vector(exec_, model_values(exec_, held_, model))
                           : std::vector<Scalar>();
  }

  double consistency(Method const& method, KruskalTensor<Scalar> const& model) {
    auto const N = static_cast<double>(model.factors.size());
    if (!method.has_core_consistency() || N < 3 || std::pow(model.rank(), N) > most_core_numbers)
      return unknown;
    try {
      double const bytes = sporades::detail::core_consistency_bytes<Scalar, Index>(
          tensor_.dims, static_cast<double>(tensor_.nnz()), model.rank());
      double const left = sporades::detail::memory_to_take(exec_);
      check_fits_memory(bytes, memory_.limit() > 0 ? std::min(left, memory_.limit()) : left,
                        sporades::detail::concatenate("core consistency: rank ", model.rank()), "");
      return core_consistency(exec_, copy_to(exec_, tensor_), copy_to(exec_, model));
    } catch (std::exception const& error) {
      if (!dynamic_cast<Error const*>(&error) && !says_memory_ran_out(error)) throw;
      run_.note(error.what());
      return unknown;
    }
  }

  std::string report(RankChoice const& choice) const {
    auto const& read = run_.report;
    NamedValues values{{"file", read.file},
                       {"dialect", read.dialect},
                       {"duplicates_summed", read.duplicates},
                       {"dims", read.dims},
                       {"nnz", read.nnz},
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
  std::vector<Scalar> held_values_;
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
