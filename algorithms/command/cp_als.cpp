// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/command/fits.hpp>
#include <sporades/algorithms/command/ranks/run_ranks.hpp>
#include <sporades/algorithms/detail/memory/cp_als_memory.hpp>

namespace sporades::command {
namespace {

CpAlsOptions make_options(CpAlsArguments const& arguments) {
  auto const& common = arguments.common;
  auto options = common_options<CpAlsOptions>(common);
  options.rank = arguments.rank;
  options.init = init_of<CpAlsInit>("cp-als", common.init);
  options.non_negative = arguments.non_negative;
  options.regularization = arguments.regularization;
  options.absent = arguments.missing ? AbsentEntries::missing : AbsentEntries::zero;
  options.dimension_tree = arguments.dimension_tree;
  options.gather = from_name<GatherPrecision>(arguments.gather);
  options.slices = arguments.slices;
  options.strategy = from_name<MttkrpStrategy>(common.strategy);
  sporades::detail::check_cp_als(options);
  return options;
}

template <class Scalar, class Memory>
using CpAlsFits = Fits<CpAlsState<Scalar, Memory>, CpAlsResult<Scalar, Memory>>;

template <class Exec, class ScalarType, class IndexType>
struct CpAlsMethod : CpAlsFits<ScalarType, typename Exec::memory_space> {
  static constexpr char const* name = "cp-als";
  static constexpr bool needs_lapack = true;
  static constexpr char const* tuned[] = {"automatic", "fibers", "sorted", "alto"};
  using ExecutionSpace = Exec;
  using Scalar = ScalarType;
  using Index = IndexType;
  using Arguments = CpAlsArguments;
  using Kind = KtensorKind<Scalar>;
  using Memory = typename Exec::memory_space;
  using State = CpAlsState<Scalar, Memory>;
  using Problem = CpAlsProblem<Scalar, Index, Memory>;
  using Result = CpAlsResult<Scalar, Memory>;

  CpAlsOptions options;
  bool races = false, too_large_for_vectors = false;
  std::vector<double> race;  // the fits of singular vectors and of the random start after it

  explicit CpAlsMethod(CpAlsArguments const& arguments) : options(make_options(arguments)) {}

  static double streamed_files(Dims const& dims, Position nnz, CpAlsOptions const&) {
    return sporades::detail::out_of_core_list_bytes<Scalar, Index>(dims, nnz);
  }
  static std::string streaming_refusal(CpAlsOptions const& options) {
    if (options.init == CpAlsInit::hosvd) return "; --init random would stream it";
    if (options.slices > 1) return "; without --slices it would be streamed";
    return sporades::detail::may_be_by_rows(options.strategy)
               ? ""
               : "; --strategy sorted or fibers would stream it";
  }

  Result solve(Exec const& exec, Problem& problem, sporades::detail::Starts<State>& starts,
               Observer const& observer, sporades::detail::EndOfStart<Problem> const& ended) {
    if (races) race = sporades::detail::cp_als_race(exec, problem, options, starts.state);
    return run_after_race(races, exec, problem, options, starts, observer, ended);
  }
  void decide_start(int order, Position nnz) {
    races = sporades::detail::has_cp_als_race(options, order, nnz);
    too_large_for_vectors = !sporades::detail::has_singular_start(options, order, nnz) &&
                            order > 1 && nnz > 0 && options.init == CpAlsInit::automatic;
  }
  std::string start_note() const {
    bool const is_hosvd = !race.empty() && race[0] >= race[1];
    if (races)
      return fmt::format("start: {}; fits so far: hosvd {:.10f}, random {:.10f}",
                         is_hosvd ? "hosvd" : "random", race[0], race[1]);
    return too_large_for_vectors
               ? "start: random, as singular vectors (--init hosvd) would take much memory"
               : "";
  }

  /// MTTKRP, Gram matrices and products with the inverse; and inverting, of what must be singular
  /// by eigenvalues.
  Work first_iteration(Problem const& problem) const {
    double const R = options.rank, nnz = static_cast<double>(problem.nnz);
    auto const N = static_cast<double>(problem.dims.size());
    Work work;
    double all = 1;
    for (auto dim : problem.dims) all *= static_cast<double>(dim);
    for (auto dim : problem.dims) {
      auto const rows = static_cast<double>(dim);
      work.shared += N * R * nnz + (options.non_negative ? 20 : 4) * rows * R * R;
      work.serial += (R > all / rows ? 20 : 1) * R * R * R;
    }
    return work;
  }

  void describe(Problem const& problem, Report& report) const {
    report.settings = {{"starts", static_cast<std::uint64_t>(options.starts)},
                       {"non_negative", options.non_negative},
                       {"regularization", options.regularization},
                       {"absent_entries", to_string(options.absent)},
                       {"gather", to_string(options.gather)},
                       {"slices", static_cast<std::uint64_t>(options.slices)}};
    report.bytes_plan = problem.products.storage_bytes();
    for (int n = 0; n < static_cast<int>(problem.dims.size()); ++n) {
      report.strategies.push_back(sporades::detail::describe(problem.products, n));
      report.reasons.push_back(sporades::detail::choice_of(problem.products, n).reason);
    }
  }

  using Shared = CpAlsFits<Scalar, Memory>;
  NamedValues results(Result const& result) const {
    auto values = Shared::results(result);
    values.emplace_back("model_iteration", static_cast<std::uint64_t>(result.model_iteration));
    values.emplace_back("dead_components", static_cast<std::uint64_t>(result.dead_components));
    if (!race.empty()) values.push_back({"race_fits", race});  // of hosvd and random
    return values;
  }
  /// The summary, with a line before it where components are dead, and where fits have fallen.
  static std::string summary(Result const& result) {
    auto line = Shared::summary(result);
    if (result.model_iteration < result.iterations())
      line = fmt::format(
                 "the model is that of iteration {}: roundings of ill-conditioned systems "
                 "have made later ones worse\n",
                 result.model_iteration) +
             line;
    return dead_line(result) + line;
  }

  static constexpr char const* judged_by = "fit";
  static constexpr char const* held_out_name = "held-out RMSE";
  static constexpr bool splits = true;
  static double judged(Result const& result) { return result.fit(); }
  bool knows_all_cells() const { return options.absent == AbsentEntries::zero; }
  double holds_out(RanksArguments const& ranks) const {
    return knows_all_cells() ? 0 : ranks.holdout;
  }
  bool has_core_consistency() const { return knows_all_cells(); }
  template <class Values>
  static double held_out_error(Result const&, Values const& x, Values const& m) {
    return root_mean_square(x, m);
  }
};

}  // namespace

int cp_als(CpAlsArguments const& arguments) {
  make_options(arguments);  // bad ones before anything is read
  return run_model<CpAlsMethod>(arguments);
}

int cp_als_ranks(CpAlsArguments const& arguments, RanksArguments const& ranks) {
  return run_ranks<CpAlsMethod>(arguments, ranks);
}

}  // namespace sporades::command
