// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <sporades/algorithms/command/fits.hpp>
#include <sporades/algorithms/detail/memory/tucker_memory.hpp>

namespace sporades::command {
namespace {

TuckerOptions make_options(TuckerArguments const& arguments) {
  auto const& common = arguments.common;
  auto options = common_options<TuckerOptions>(common);
  options.ranks = arguments.ranks;
  options.init = init_of<TuckerInit>("tucker", common.init);
  options.strategy = from_name<TtmChainStrategy>(common.strategy);
  sporades::detail::check_tucker(options);
  return options;
}

template <class Scalar, class Memory>
using TuckerFits = Fits<TuckerState<Scalar, Memory>, TuckerResult<Scalar, Memory>>;

template <class Exec, class ScalarType, class IndexType>
struct TuckerMethod : TuckerFits<ScalarType, typename Exec::memory_space> {
  static constexpr char const* name = "tucker";
  static constexpr bool needs_lapack = true;
  static constexpr char const* tuned[] = {"automatic", "semi_sparse", "csf", "fused"};
  using ExecutionSpace = Exec;
  using Scalar = ScalarType;
  using Index = IndexType;
  using Arguments = TuckerArguments;
  using Kind = TuckerKind<Scalar>;
  using Memory = typename Exec::memory_space;
  using State = TuckerState<Scalar, Memory>;
  using Problem = TuckerProblem<Scalar, Index, Memory>;
  using Result = TuckerResult<Scalar, Memory>;

  TuckerOptions options;

  explicit TuckerMethod(TuckerArguments const& arguments) : options(make_options(arguments)) {}

  static double streamed_files(Dims const& dims, Position nnz, TuckerOptions const&) {
    return sporades::detail::out_of_core_list_bytes<Scalar, Index>(dims, nnz);
  }
  static std::string streaming_refusal(TuckerOptions const& options) {
    if (options.init == TuckerInit::hosvd) return "; --init random would stream it";
    return options.strategy == TtmChainStrategy::csf ? "; --strategy fused would stream it" : "";
  }

  static void decide_start(int, Position) {}
  Result solve(Exec const& exec, Problem& problem, sporades::detail::Starts<State>& starts,
               Observer const& observer, sporades::detail::EndOfStart<Problem> const& ended) const {
    return sporades::detail::run_from_starts(exec, problem, options, starts, observer, ended);
  }

  /// The chains, and singular vectors of I_n x (product of the other ranks) as
  /// LeftSingularVectors finds them: LAPACK and the basis of Lanczos run on one thread.
  Work first_iteration(Problem const& problem) const {
    Work work;
    double core = 1;
    for (int rank : options.ranks) core *= rank;
    for (std::size_t n = 0; n < problem.dims.size(); ++n) {
      double const wanted = options.ranks[n], columns = core / wanted;
      auto const rows = static_cast<double>(problem.dims[n]);
      double const side = std::min(rows, columns), entries = rows * columns;
      double const gram = 2 * entries * side, eigen = 20 * side * side * side;
      double const lanczos = 20 * entries * wanted, basis = 60 * columns * wanted * wanted;
      bool const by_gram = side <= 128 || gram + eigen < lanczos + 100 * side * wanted * wanted;
      work.shared += problem.chain.choices[n].flops + (by_gram ? gram : lanczos);
      work.serial += by_gram ? eigen : basis;
    }
    return work;
  }

  static std::string start_note() { return ""; }

  void describe(Problem const& problem, Report& report) const {
    report.settings = {{"starts", static_cast<std::uint64_t>(options.starts)}};
    report.bytes_plan = problem.chain.storage_bytes();
    for (auto const& choice : problem.chain.choices) {
      report.strategies.push_back(sporades::describe(choice));
      report.reasons.push_back(choice.reason);
    }
  }
};

}  // namespace

int tucker(TuckerArguments const& arguments) {
  make_options(arguments);  // bad ones before anything is read
  return run_model<TuckerMethod>(arguments);
}

}  // namespace sporades::command
