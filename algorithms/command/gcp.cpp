// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <sporades/algorithms/command/ranks/run_ranks.hpp>
#include <sporades/algorithms/detail/memory/gcp_memory.hpp>

namespace sporades::command {
namespace {

GcpOptions make_options(GcpArguments const& arguments) {
  auto const& common = arguments.common;
  auto options = common_options<GcpOptions>(common);
  options.rank = arguments.rank;
  options.loss = loss_from_name(arguments.loss);
  options.absent = arguments.missing ? AbsentEntries::missing : AbsentEntries::zero;
  options.non_negative = arguments.non_negative;
  options.method = from_name<GcpMethod>(arguments.method);
  options.tuning = {from_name<GcpZeros>(arguments.zeros),
                    arguments.samples,
                    arguments.nonzeros,
                    arguments.history,
                    arguments.epoch,
                    arguments.rate,
                    arguments.decay,
                    arguments.most_failures};
  options.init = init_of<GcpInit>("gcp", common.init);
  options.strategy = from_name<MttkrpStrategy>(common.strategy);
  sporades::detail::check_gcp(options);
  return options;
}

template <class Exec, class ScalarType, class IndexType>
struct GcpMethodRun {
  static constexpr char const* name = "gcp";
  static constexpr bool needs_lapack = false;
  static constexpr char const* tuned[] = {"automatic", "sorted", "csf", "alto"};
  static constexpr char const* converged =
      "the loss falls by less than the tolerance, or no step lowers it";
  using ExecutionSpace = Exec;
  using Scalar = ScalarType;
  using Index = IndexType;
  using Arguments = GcpArguments;
  using Kind = KtensorKind<Scalar>;
  using Memory = typename Exec::memory_space;
  using State = GcpState<Scalar, Memory>;
  using Problem = GcpProblem<Scalar, Index, Memory>;
  using Result = GcpResult<Scalar, Memory>;
  using Solved = sporades::detail::Method<Exec, Problem>;

  GcpOptions options;

  explicit GcpMethodRun(GcpArguments const& arguments) : options(make_options(arguments)) {}

  static double streamed_files(Dims const&, Position, GcpOptions const&) { return 0; }
  static std::string streaming_refusal(GcpOptions const&) { return "; gcp streams nothing"; }

  void decide_start(int order, Position nnz) { races_ = Solved::has_race(options, order, nnz); }
  Result solve(Exec const& exec, Problem& problem, sporades::detail::Starts<State>& starts,
               Observer const& observer, sporades::detail::EndOfStart<Problem> const& ended) const {
    if (races_) Solved::race(exec, problem, options, starts.state);
    return run_after_race(races_, exec, problem, options, starts, observer, ended);
  }
  std::string start_note() const {
    return races_ ? "start: the best of three random ones, after some iterations of each" : "";
  }

  /// The model's values, and MTTKRP on all modes; of all cells, if these are enumerated. Of an
  /// epoch its steps.
  Work first_iteration(Problem const& problem) const {
    auto const N = static_cast<double>(problem.dims.size());
    double const nnz = static_cast<double>(problem.plan.exact.X.nnz());
    double gradient = nnz * options.rank * (N + 1 + N * N);
    if (problem.zeros == GcpZeros::enumeration)
      gradient += N * sporades::detail::dense_size(problem.dims) * (2 * options.rank + 10);
    bool const has_epochs = sporades::detail::has_epochs(method_of(problem), problem.zeros);
    int const steps = sporades::detail::steps_of_epoch(options.tuning);
    return {has_epochs ? steps * gradient : gradient, 0};
  }

  void describe(Problem const& problem, Report& report) const {
    report.settings = {{"starts", whole(options.starts)},
                       {"loss_function", loss_name()},
                       {"absent_entries", std::string(to_string(options.absent))},
                       {"non_negative", options.non_negative},
                       {"method", std::string(to_string(method_of(problem)))},
                       {"history", whole(options.tuning.history)},
                       {"zeros", std::string(to_string(problem.zeros))},
                       {"zeros_reason", problem.reason}};
    if (problem.zeros == GcpZeros::samples)
      report.settings.push_back(
          {"samples", static_cast<std::uint64_t>(
                          sporades::detail::drawn_cells(options, problem.plan.exact.X.nnz()))});
    report.bytes_plan = problem.plan.storage_bytes();
    auto const& products = problem.plan.exact.products.whole.choices;
    for (auto const& choice : products) {
      report.strategies.push_back(to_string(choice.strategy));
      report.reasons.push_back(choice.reason);
    }
  }

  static std::string line(State const& now, int k) {
    auto const& last = now.history[static_cast<std::size_t>(k)];
    return fmt::format("loss {:.10g}{}, gradient {:.3e}, {} evaluations{}", last.loss,
                       plus_minus(last.error), last.gradient, last.evaluations,
                       last.undone ? ", undone" : "");
  }
  static std::string brief(State const& now) {
    return fmt::format("loss {:.6g}", now.history.back().loss);
  }

  static NamedValues values(Result const& result, std::size_t k) {
    auto const& one = result.history[k];
    return {{"loss", one.loss},
            {"loss_error", one.error},
            {"gradient", one.gradient},
            {"step", one.step},
            {"evaluations", whole(one.evaluations)},
            {"undone", one.undone}};
  }
  static NamedValues results(Result const& result) {
    return {{"loss", result.loss()},
            {"loss_error", result.of_model.standard_error},
            {"stuck", result.is_stuck}};
  }
  ModelFacts model_facts(Result const& result) const {
    return {{"loss", loss_name()},
            {"absent entries", to_string(options.absent)},
            {"value of the loss", loss_of(result)}};
  }
  /// Results need no more of X than the algorithm.
  template <class Tensor>
  static void look_at(Tensor const&) {}
  static std::string summary(Result const& result) { return "loss " + loss_of(result); }
  static void check(Result const&) {}  // every loss is an answer

  static constexpr char const* scores_name = "losses";
  /// With all digits of the number: it may be read back.
  static std::string score(double value) { return fmt::format("{:.17g}", -value); }

  static constexpr char const* judged_by = "loss";
  static constexpr char const* held_out_name = "held-out mean loss";
  static constexpr bool splits = true;
  static double judged(Result const& result) { return result.loss(); }
  bool knows_all_cells() const { return options.absent == AbsentEntries::zero; }
  double holds_out(RanksArguments const& ranks) const {
    return knows_all_cells() ? 0 : ranks.holdout;
  }
  /// Where the model is what values are in the mean.
  bool has_core_consistency() const {
    return knows_all_cells() && (std::holds_alternative<GaussianLoss>(options.loss) ||
                                 std::holds_alternative<PoissonLoss>(options.loss));
  }
  template <class Values>
  double held_out_error(Result const&, Values const& x, Values const& m) const {
    return sporades::detail::with_loss(options.loss, [&](auto const& loss) {
      double sum = 0;
      for (std::size_t p = 0; p < x.size(); ++p) sum += loss.value(double{x[p]}, double{m[p]});
      return x.empty() ? unknown : sum / static_cast<double>(x.size());
    });
  }

 private:
  bool races_ = false;

  /// Where it is an estimate, with its error.
  static std::string plus_minus(double error) {
    return error > 0 ? fmt::format(" +- {:.2g}", error) : "";
  }
  static std::string loss_of(Result const& result) {
    return score(-result.loss()) + plus_minus(result.of_model.standard_error);
  }
  GcpMethod method_of(Problem const& problem) const {
    return sporades::detail::method_of(options, problem.zeros);
  }
  static std::uint64_t whole(std::int64_t number) { return static_cast<std::uint64_t>(number); }
  std::string loss_name() const {
    return sporades::detail::with_loss(options.loss, [](auto const& loss) { return loss.name(); });
  }
};

}  // namespace

int gcp(GcpArguments const& arguments) {
  make_options(arguments);  // bad ones before anything is read
  return run_model<GcpMethodRun>(arguments);
}

int gcp_ranks(GcpArguments const& arguments, RanksArguments const& ranks) {
  return run_ranks<GcpMethodRun>(arguments, ranks);
}

}  // namespace sporades::command
