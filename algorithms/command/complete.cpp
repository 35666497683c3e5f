// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <cstdio>
#include <locale>
#include <sporades/algorithms/command/ranks/run_ranks.hpp>
#include <sporades/algorithms/detail/memory/complete_memory.hpp>
#include <sstream>

namespace sporades::command {
namespace {

/// Sets what texts as "3:0.5" and "3:0.5:2" ask for, modes counted from 1. Throws Error for what is
/// none.
void parse_smooth(std::vector<std::string> const& texts, CompletePenalty& penalty) {
  for (auto const& text : texts) {
    if (text == "none") continue;
    std::istringstream in(text);
    in.imbue(std::locale::classic());
    int mode = 0, differences = 1;
    double strength = -1;
    char colon = 0;
    bool is_one = in >> mode >> colon >> strength && colon == ':' && mode >= 1 &&
                  mode <= max_order && strength >= 0;
    if (is_one && !in.eof())
      is_one = in >> colon >> differences && colon == ':' && in.peek() == EOF &&
               (differences == 1 || differences == 2);
    expects(is_one, "complete: --smooth ", text,
            " is no MODE:PENALTY, a mode from 1 and a number of at least 0, as 3:5, or 3:5:2 for ",
            "second differences");
    auto const m = static_cast<std::size_t>(mode);
    auto& all = penalty.smoothness;
    expects(m > all.size() || all[m - 1] == 0, "complete: --smooth names mode ", mode, " twice");
    all.resize(std::max(all.size(), m));
    penalty.differences.resize(all.size(), 1);
    all[m - 1] = strength;
    penalty.differences[m - 1] = differences;
  }
}

CompleteOptions make_options(CompleteArguments const& arguments) {
  auto const& common = arguments.common;
  auto options = common_options<CompleteOptions>(common);
  options.rank = arguments.rank;
  options.init = init_of<CompleteInit>("complete", common.init);
  options.offsets = arguments.offsets;
  auto& penalty = options.penalty;
  if (!arguments.penalty.empty()) penalty.lambda = arguments.penalty;
  penalty.offsets = arguments.offset_penalty.value_or(penalty.offsets);
  penalty.power = arguments.power.value_or(options.offsets ? penalty.power : 0);
  parse_smooth(arguments.smooth, penalty);
  options.holdout = arguments.holdout;
  options.patience = arguments.patience;
  options.strategy = from_name<MttkrpStrategy>(common.strategy);
  // The order is not known yet: what does not fit it is refused later.
  auto known = options;
  known.penalty.smoothness.resize(std::min(penalty.lambda.size(), penalty.smoothness.size()));
  known.penalty.differences.resize(known.penalty.smoothness.size());
  sporades::detail::check_complete(known, Dims(penalty.lambda.size(), 1));
  return options;
}

/// States have columns for offsets, too.
template <class Scalar>
struct CompleteKind : KtensorKind<Scalar> {
  static std::vector<int> ranks(CompleteOptions const& options, Dims const& dims) {
    return std::vector<int>(dims.size(), sporades::detail::complete_columns(options, dims.size()));
  }
};

template <class Exec, class ScalarType, class IndexType>
struct CompleteMethod {
  static constexpr char const* name = "complete";
  static constexpr bool needs_lapack = false;
  static constexpr char const* tuned[] = {"automatic", "sorted", "fibers"};
  static constexpr char const* converged =
      "the error changes by less than the tolerance, or held out falls no more";
  using ExecutionSpace = Exec;
  using Scalar = ScalarType;
  using Index = IndexType;
  using Arguments = CompleteArguments;
  using Kind = CompleteKind<Scalar>;
  using Memory = typename Exec::memory_space;
  using State = CompleteState<Scalar, Memory>;
  using Problem = CompleteProblem<Scalar, Index, Memory>;
  using Result = CompleteResult<Scalar, Memory>;

  CompleteOptions options;

  explicit CompleteMethod(CompleteArguments const& arguments) : options(make_options(arguments)) {}

  static double streamed_files(Dims const&, Position, CompleteOptions const&) { return 0; }
  static std::string streaming_refusal(CompleteOptions const&) {
    return "; complete streams nothing";
  }

  void decide_start(int, Position) {}
  Result solve(Exec const& exec, Problem& problem, sporades::detail::Starts<State>& starts,
               Observer const& observer, sporades::detail::EndOfStart<Problem> const& ended) const {
    return sporades::detail::run_from_starts(exec, problem, options, starts, observer, ended);
  }
  static std::string start_note() { return ""; }

  /// The sums of all rows' systems, and their solutions.
  Work first_iteration(Problem const& problem) const {
    double const C = sporades::detail::complete_columns(options, problem.dims.size());
    double const F = options.rank + 1;
    Work work;
    for (auto const dim : problem.dims)
      work.shared +=
          C * C * static_cast<double>(problem.nnz) + static_cast<double>(dim) * F * F * F / 3;
    return work;
  }

  void describe(Problem const& problem, Report& report) const {
    report.settings = {
        {"starts", static_cast<std::uint64_t>(options.starts)},
        {"offsets", options.offsets},
        {"penalty", options.penalty.lambda},
        {"offset_penalty", options.penalty.offsets},
        {"power", options.penalty.power},
        {"smoothness", options.penalty.smoothness},
        {"differences", std::vector<std::uint64_t>(options.penalty.differences.begin(),
                                                   options.penalty.differences.end())},
        {"holdout", options.holdout},
        {"held_out", static_cast<std::uint64_t>(problem.held.nnz())},
        {"mean", problem.mean},
        {"patience", static_cast<std::uint64_t>(options.patience)}};
    report.bytes_plan = problem.products.storage_bytes();
    for (int n = 0; n < static_cast<int>(problem.dims.size()); ++n) {
      report.strategies.push_back(sporades::detail::describe(problem.products, n));
      report.reasons.push_back(sporades::detail::choice_of(problem.products, n).reason);
    }
  }

  static std::string line(State const& now, int k) {
    auto const at = static_cast<std::size_t>(k);
    return fmt::format("error {:.10g}{}", now.errors[at],
                       held_out(now.held_errors.empty() ? -1 : now.held_errors[at]));
  }
  static std::string brief(State const& now) {
    return fmt::format("error {:.6g}",
                       now.held_errors.empty() ? now.errors.back() : now.held_errors.back());
  }
  static NamedValues values(Result const& result, std::size_t k) {
    NamedValues values{{"rmse", result.errors[k]}};
    if (!result.held_errors.empty()) values.emplace_back("held_out_rmse", result.held_errors[k]);
    return values;
  }
  static NamedValues results(Result const& result) {
    NamedValues values{{"rmse", result.error()},
                       {"model_iteration", static_cast<std::uint64_t>(result.model_iteration)}};
    if (!result.held_errors.empty()) values.emplace_back("held_out_rmse", result.held_error());
    return values;
  }
  ModelFacts model_facts(Result const& result) const {
    ModelFacts facts{{"root mean square error", fmt::format("{:.10g}", result.error())}};
    if (!result.held_errors.empty())
      facts.emplace_back("of values held out", fmt::format("{:.10g}", result.held_error()));
    if (options.offsets)
      facts.emplace_back("last components", "offsets of each mode, and the mean");
    return facts;
  }
  /// Results need no more of X than the algorithm.
  template <class Tensor>
  static void look_at(Tensor const&) {}
  static std::string summary(Result const& result) {
    return fmt::format("root mean square error {:.10g}{}", result.error(),
                       held_out(result.held_errors.empty() ? -1 : result.held_error()));
  }
  static void check(Result const&) {}  // every error is an answer
  static constexpr char const* scores_name = "errors";
  static std::string score(double value) { return fmt::format("{:.17g}", -value); }

  static constexpr char const* judged_by = "RMSE";
  static constexpr char const* held_out_name = "held-out RMSE";
  static constexpr bool splits = false;  // the run holds values out itself
  static double judged(Result const& result) { return result.error(); }
  static bool knows_all_cells() { return false; }
  double holds_out(RanksArguments const&) const { return options.holdout; }
  static bool has_core_consistency() { return false; }
  template <class Values>
  static double held_out_error(Result const& result, Values const&, Values const&) {
    return result.held_errors.empty() ? unknown : result.held_error();
  }

 private:
  static std::string held_out(double error) {
    return error < 0 ? "" : fmt::format(", held out {:.10g}", error);
  }
};

}  // namespace

int complete(CompleteArguments const& arguments) {
  expect_one_process("complete");
  make_options(arguments);  // bad ones before anything is read
  return run_model<CompleteMethod>(arguments);
}

int complete_ranks(CompleteArguments const& arguments, RanksArguments const& ranks) {
  return run_ranks<CompleteMethod>(arguments, ranks);
}

}  // namespace sporades::command
