// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <sporades/algorithms/command/model_run.hpp>
#include <sporades/algorithms/tucker.hpp>

namespace sporades::command {
namespace {

HooiOptions make_options(TuckerArguments const& arguments) {
  auto const& common = arguments.common;
  auto options = common_options<HooiOptions>(common);
  options.ranks = arguments.ranks;
  options.init = init_of<HooiInit>(common.init);
  options.starts = arguments.starts;
  options.strategy = ttm_chain_strategy(common.strategy);
  check_hooi(options);
  expects(options.starts == 1 || (common.checkpoint.empty() && common.resume.empty()),
          "tucker: --starts ", options.starts,
          " runs one after another, of which --checkpoint and --resume know nothing");
  return options;
}

template <class Exec, class ScalarType, class IndexType>
struct TuckerMethod {
  static constexpr char const* name = "tucker";
  using ExecutionSpace = Exec;
  using Scalar = ScalarType;
  using Index = IndexType;
  using Arguments = TuckerArguments;
  using Kind = TuckerKind<Scalar>;
  using Memory = typename Exec::memory_space;
  using State = HooiState<Scalar, Memory>;
  using Snapshot = HooiSnapshot<Scalar>;
  using Problem = HooiProblem<Scalar, Index, Memory>;
  using Result = HooiResult<Scalar, Memory>;
  using Tensor = CooTensor<Scalar, Index, Memory>;

  HooiOptions options;

  explicit TuckerMethod(TuckerArguments const& arguments) : options(make_options(arguments)) {}

  Facts facts() const { return {}; }

  /// The values, once a mode.
  static std::uint64_t least_bytes(CooTensor<Scalar, Index> const& X) {
    return X.nnz() * sizeof(Scalar) * X.dims.size();
  }

  State start(Exec const& exec, Tensor const& X) const { return hooi_start(exec, X, options); }
  State start(Exec const& exec, Dims const& dims, TuckerTensor<Scalar> const& model) const {
    return hooi_start(exec, dims, options, model);
  }
  Problem build(Exec const& exec, Tensor const& X) const {
    return make_hooi_problem(exec, X, options);
  }
  /// Of several starts the state becomes that of the best.
  Result solve(Exec const& exec, Problem& problem, State& state,
               typename State::Observer const& observer) const {
    return hooi_of_starts(exec, problem, options, state, observer);
  }

  void describe(Problem const& problem, Report& report) const {
    report.settings = {{"starts", static_cast<std::uint64_t>(options.starts)}};
    report.bytes_plan = problem.chain.storage_bytes();
    for (auto const& choice : problem.chain.choices)
      report.strategies.push_back(sporades::describe(choice));
  }

  static double seconds(State const& now) { return now.seconds.back(); }
  static std::string line(State const& now) {
    auto const& fits = now.fits;
    auto const change =
        fits.size() > 1 ? fmt::format(", change {:.3e}", fits.back() - fits[fits.size() - 2]) : "";
    return fmt::format("fit {:.10f}", fits.back()) + change;
  }
  static std::string brief(State const& now) { return fmt::format("fit {:.6f}", now.fits.back()); }

  static IterationReport iteration(Result const& result, int k) {
    return {k + 1, result.seconds[k], {{"fit", result.fits[k]}}};
  }
  static NamedValues results(Result const& result) {
    NamedValues values = {{"fit", result.fit()}};
    if (result.start_fits.size() > 1) values.push_back({"best_seed", result.seed});
    return values;
  }
  static std::string summary(Result const& result) {
    std::string text = fmt::format("fit {:.10f}", result.fit());
    if (result.start_fits.size() > 1)
      text +=
          fmt::format(" of seed {}, the best of {} starts,", result.seed, result.start_fits.size());
    return text;
  }

  struct Arrays {
    std::vector<CheckpointArray> arrays;
  };
  static Arrays arrays(Snapshot const& state) {
    return {{array_of("fits", state.fits), array_of("seconds", state.seconds)}};
  }
  static void load(Checkpoint const& checkpoint, Snapshot& state) {
    std::size_t const iterations = checkpoint.array("fits").size() / sizeof(double);
    state.fits = command::load<double>(checkpoint, "fits", iterations);
    state.seconds = command::load<double>(checkpoint, "seconds", iterations);
  }
};

}  // namespace

int tucker(TuckerArguments const& arguments) {
  make_options(arguments);  // bad ones before anything is read
  return run_model<TuckerMethod>(arguments);
}

}  // namespace sporades::command
