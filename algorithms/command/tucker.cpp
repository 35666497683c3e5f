// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <sporades/algorithms/command/fits.hpp>
#include <sporades/algorithms/memory/tucker.hpp>
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

template <class Scalar, class Memory>
using TuckerFits =
    Fits<HooiState<Scalar, Memory>, HooiSnapshot<Scalar>, HooiResult<Scalar, Memory>>;

template <class Exec, class ScalarType, class IndexType>
struct TuckerMethod : TuckerFits<ScalarType, typename Exec::memory_space> {
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

  static MemoryNeed memory(Exec const& exec, Tensor const& X, HooiOptions const& options) {
    return hooi_memory(exec, X, options);
  }

  State start(Exec const& exec, Tensor const& X) const { return hooi_start(exec, X, options); }
  State start(Exec const& exec, Dims const& dims, TuckerTensor<Scalar> const& model) const {
    return hooi_start(exec, dims, options, model);
  }
  Problem build(Exec const& exec, Tensor X) const {
    return make_hooi_problem(exec, hand_over(X), options);
  }
  /// Of several starts the state becomes that of the best.
  Result solve(Exec const& exec, Problem& problem, State& state,
               typename State::Observer const& observer) const {
    return hooi_of_starts(exec, problem, options, state, observer);
  }

  void describe(Problem const& problem, Report& report) const {
    report.settings = {{"starts", static_cast<std::uint64_t>(options.starts)}};
    report.bytes_plan = problem.chain.storage_bytes();
    for (auto const& choice : problem.chain.choices) {
      report.strategies.push_back(sporades::describe(choice));
      report.reasons.push_back(choice.reason);
    }
  }

  using Shared = TuckerFits<Scalar, Memory>;
  static NamedValues results(Result const& result) {
    auto values = Shared::results(result);
    if (result.start_fits.size() > 1) values.push_back({"best_seed", result.seed});
    return values;
  }
  static std::string summary(Result const& result) {
    auto text = Shared::summary(result);
    if (result.start_fits.size() > 1)
      text +=
          fmt::format(" of seed {}, the best of {} starts,", result.seed, result.start_fits.size());
    return text;
  }
};

}  // namespace

int tucker(TuckerArguments const& arguments) {
  make_options(arguments);  // bad ones before anything is read
  return run_model<TuckerMethod>(arguments);
}

}  // namespace sporades::command
