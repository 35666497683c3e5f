// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <cmath>
#include <sporades/algorithms/command/count_sums.hpp>
#include <sporades/algorithms/command/ranks/run_ranks.hpp>
#include <sporades/algorithms/detail/memory/cp_apr_memory.hpp>
#include <sporades/core/detail/processes/exchange.hpp>

namespace sporades::command {
namespace {

CpAprOptions make_options(CpAprArguments const& arguments) {
  auto const& common = arguments.common;
  auto options = common_options<CpAprOptions>(common);
  options.rank = arguments.rank;
  options.inner_iterations = arguments.inner_iterations;
  options.init = init_of<CpAprInit>("cp-apr", common.init);
  options.kappa = arguments.kappa;
  options.kappa_tolerance = arguments.kappa_tolerance;
  options.epsilon = arguments.epsilon;
  options.strategy = from_name<PhiStrategy>(common.strategy);
  options.pi = arguments.pi == "stored" ? Pi::stored : Pi::on_the_fly;
  if (sporades::detail::asks_for_updates(options) || common.tune) options.method = CpAprMethod::mu;
  for (auto method : {CpAprMethod::mu, CpAprMethod::pdnr, CpAprMethod::pqnr})
    if (arguments.method == to_string(method)) options.method = method;
  expects(!common.tune || options.method == CpAprMethod::mu, "--tune chooses a strategy of method ",
          "mu; method ", to_string(options.method), " has one alone");
  sporades::detail::check_cp_apr(options);
  return options;
}

template <class Exec, class ScalarType, class IndexType>
struct CpAprMethodRun {
  static constexpr char const* name = "cp-apr";
  static constexpr bool needs_lapack = false;
  static constexpr char const* tuned[] = {"automatic", "pull", "alto"};
  static constexpr char const* converged = "KKT violation below the tolerance";
  using ExecutionSpace = Exec;
  using Scalar = ScalarType;
  using Index = IndexType;
  using Arguments = CpAprArguments;
  using Kind = KtensorKind<Scalar>;
  using Memory = typename Exec::memory_space;
  using State = CpAprState<Scalar, Memory>;
  using Problem = CpAprProblem<Scalar, Index, Memory>;
  using Result = CpAprResult<Scalar, Memory>;

  CpAprOptions options;

  explicit CpAprMethodRun(CpAprArguments const& arguments) : options(make_options(arguments)) {}

  static double streamed_files(Dims const& dims, Position nnz, CpAprOptions const& options) {
    return options.method == CpAprMethod::mu
               ? sporades::detail::out_of_core_list_bytes<Scalar, Index>(dims, nnz)
               : sporades::detail::out_of_core_copy_bytes<Scalar, Index>(dims, nnz, dims.size());
  }
  static std::string streaming_refusal(CpAprOptions const& options) {
    bool const is_pull =
        options.strategy == PhiStrategy::automatic || options.strategy == PhiStrategy::pull;
    return is_pull && options.pi == Pi::on_the_fly
               ? ""
               : "; --strategy pull with --pi on-the-fly would stream it";
  }

  static void decide_start(int, Position) {}
  Result solve(Exec const& exec, Problem& problem, sporades::detail::Starts<State>& starts,
               Observer const& observer, sporades::detail::EndOfStart<Problem> const& ended) const {
    return sporades::detail::run_from_starts(exec, problem, options, starts, observer, ended);
  }

  /// A mode's inner iterations, each a model value and its share a component and nonzero, for pdnr
  /// with second derivatives.
  Work first_iteration(Problem const& problem) const {
    double const R = options.rank, nnz = static_cast<double>(problem.nnz);
    auto const N = static_cast<double>(problem.dims.size());
    double const step = nnz * R * (2 * N + (options.method == CpAprMethod::pdnr ? R : 2.0));
    return {N * options.inner_iterations * step, 0};
  }

  static std::string start_note() { return ""; }

  void describe(Problem const& problem, Report& report) const {
    report.settings = {{"starts", whole(options.starts)},
                       {"method", std::string(to_string(options.method))},
                       {"inner_iterations_limit", whole(options.inner_iterations)},
                       {"kappa", options.kappa},
                       {"kappa_tolerance", options.kappa_tolerance},
                       {"epsilon", options.epsilon},
                       {"pi", std::string(to_string(options.pi))}};
    report.bytes_plan = problem.storage_bytes();
    bool const by_rows = options.method != CpAprMethod::mu;
    report.strategies.assign(problem.dims.size(),
                             by_rows ? "rows" : to_string(problem.plan.strategy));
    auto const& formats = problem.plan.products.formats;
    for (int n = 0; n < formats.modes(); ++n)
      if (sporades::detail::is_out_of_core(formats, n))
        report.strategies[static_cast<std::size_t>(n)] += ", streamed";
    for (auto const& choice : problem.plan.products.choices)
      report.reasons.push_back(choice.reason);
  }

  static std::string line(State const& now, int k) {
    auto const& last = now.history[k];
    auto text = fmt::format("log-likelihood {:.8f}, KKT violation {:.3e}, {} inner",
                            last.log_likelihood, last.kkt_violation, last.inner_iterations);
    if (last.zero_model_nonzeros > 0)
      text += fmt::format(", the model is 0 at {} nonzeros", last.zero_model_nonzeros);
    return text;
  }
  static std::string brief(State const& now) {
    return fmt::format("KKT violation {:.1e}", now.history.back().kkt_violation);
  }

  static NamedValues values(Result const& result, std::size_t k) {
    auto const& one = result.history[k];
    return {{"log_likelihood", one.log_likelihood},
            {"kkt_violation", one.kkt_violation},
            {"inner_iterations", whole(one.inner_iterations)},
            {"zero_model_nonzeros", one.zero_model_nonzeros}};
  }
  NamedValues results(Result const& result) const {
    double const likelihood = result.log_likelihood();
    return {{"log_likelihood", likelihood},
            {"deviance", sums_.deviance(likelihood)},
            {"deviance_explained", sums_.explained(likelihood)},
            {"dead_components", static_cast<std::uint64_t>(result.dead_components)}};
  }
  ModelFacts model_facts(Result const& result) const {
    double const likelihood = result.log_likelihood(), explained = sums_.explained(likelihood);
    ModelFacts facts{{"method of updates", to_string(options.method)},
                     {"log-likelihood", score(likelihood)}};
    if (!std::isnan(explained))
      facts.push_back({"deviance explained", fmt::format("{:.6f}", explained)});
    return facts;
  }
  /// Takes the sums that deviances need.
  template <class Counts>
  void look_at(Counts const& X) {
    CountSums here;
    here.add(X.values, X.nnz());
    for (auto const& other : sporades::detail::all_gather(processes(), "sums of counts", here))
      sums_.add(other);
    sums_.cells = sporades::detail::dense_size(X.dims);
  }
  static std::string summary(Result const& result) {
    return dead_line(result) + "log-likelihood " + score(result.log_likelihood());
  }
  void check(Result const& result) const {
    Position const zeros = result.history.back().zero_model_nonzeros;
    if (zeros == 0) return;
    throw RunError(fmt::format(
        "cp-apr: the model is 0 at {} of the nonzeros, which makes the log-likelihood -infinity: "
        "allow more --iterations, or try {}",
        zeros, options.method == CpAprMethod::pqnr ? "another --seed" : "--method pqnr"));
  }

  static constexpr char const* scores_name = "log-likelihoods";
  /// With all digits of the number: it may be read back.
  static std::string score(double likelihood) { return fmt::format("{:.17g}", likelihood); }

  static constexpr char const* judged_by = "deviance explained";
  static constexpr char const* held_out_name = "";
  static constexpr bool splits = false;
  double judged(Result const& result) const { return sums_.explained(result.log_likelihood()); }
  static bool knows_all_cells() { return true; }
  static double holds_out(RanksArguments const&) { return 0; }
  static bool has_core_consistency() { return true; }
  template <class Values>
  static double held_out_error(Result const&, Values const&, Values const&) {
    return unknown;
  }

 private:
  CountSums sums_;

  static std::uint64_t whole(std::int64_t number) { return static_cast<std::uint64_t>(number); }
};

}  // namespace

int cp_apr(CpAprArguments const& arguments) {
  make_options(arguments);  // bad ones before anything is read
  return run_model<CpAprMethodRun>(arguments);
}

int cp_apr_ranks(CpAprArguments const& arguments, RanksArguments const& ranks) {
  return run_ranks<CpAprMethodRun>(arguments, ranks);
}

}  // namespace sporades::command
