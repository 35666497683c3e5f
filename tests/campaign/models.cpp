// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Every decomposition under random options: reported with explicit results, straight with resumed
/// runs.

#include <campaign/explicit.hpp>
#include <campaign/outcome.hpp>
#include <cmath>
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/cp_apr.hpp>
#include <sporades/algorithms/tucker.hpp>
#include <sporades/kernels/log_likelihood.hpp>

namespace sporades::campaign {
namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;

/// Runs all iterations, then some, a snapshot, and the others. Returns the result of the first run.
/// start() and solve(state, iterations) are the algorithm's.
template <class Start, class Solve>
auto check_resumed(Exec const& exec, Source& source, int iterations, Start const& start,
                   Solve const& solve, Outcome& outcome) {
  auto state = start();
  auto const straight = solve(state, iterations);
  int const first = 1 + static_cast<int>(source.below(iterations));
  auto before = start();
  solve(before, first);
  auto after = restore<decltype(before)>(exec, snapshot(exec, before));
  auto const resumed = solve(after, iterations);
  auto const model = plain(exec, straight.model), again = plain(exec, resumed.model);
  outcome.expect(model.core == again.core && model.factors == again.factors,
                 "resumed after iteration ", first, " of ", iterations, ": the model differs");
  outcome.keep_bits("core", std::vector<double>(model.core.begin(), model.core.end()));
  for (auto const& A : model.factors)
    outcome.keep_bits("factor", std::vector<double>(A.begin(), A.end()));
  return straight;
}

/// Of sums over the nonzeros, and of equal coordinates' values: they grow as a random walk does.
double roundings_of_sums(Drawn const& X) {
  return 2 * std::sqrt(static_cast<double>(X.nnz()));
}

/// Expects the fit that was reported to be that of the model. parts: roundings of what the squared
/// residual is made of; `rounded`: those of the model itself, as it was returned.
void check_fit(Drawn const& X, PlainModel const& model, double reported, double parts,
               double rounded, Outcome& outcome) {
  Real norm = 0, inner = 0;
  for (auto const& [i, value] : summed(X)) {
    norm += value * value;
    inner += value * model.at(i);
  }
  Real const square = std::max<Real>(0, (norm - 2 * inner + model.norm_squared()) / norm);
  Real const residual = std::sqrt(square), share = model.magnitude() / std::sqrt(norm);
  Real const error = (parts + 0x1p-60) * (1 + share * share);  // of the square
  Real const most = error / std::max(residual, std::sqrt(error)) + rounded * share;
  outcome.expect(std::abs(reported - (1 - residual)) <= most, "reported fit ", reported,
                 ", explicitly ", 1 - residual, " +- ", most);
}

template <class Scalar, class Index>
void check_cp_als(Source& source, Outcome& outcome) {
  constexpr double unit = std::numeric_limits<Scalar>::epsilon();
  constexpr int ranks[] = {1, 2, 3, 5, 8, 17};
  constexpr MttkrpStrategy strategies[] = {MttkrpStrategy::automatic, MttkrpStrategy::automatic,
                                           MttkrpStrategy::permuted,  MttkrpStrategy::sorted,
                                           MttkrpStrategy::fibers,    MttkrpStrategy::csf};
  Exec const exec{};
  auto const X = draw_tensor<Scalar>(source, source.chance(0.5) ? Sign::any : Sign::positive);
  CpAlsOptions options;
  options.rank = source.pick(ranks);
  options.tolerance = 0;
  options.seed = source.below(1000);
  options.init = source.chance(0.3) ? CpAlsInit::hosvd : CpAlsInit::random;
  options.non_negative = source.chance(0.3);
  options.regularization = source.chance(0.2) ? source.real() : 0;
  options.strategy = source.pick(strategies);
  options.dimension_tree = source.chance(0.7);
  outcome.text = sporades::detail::concatenate(
      "cp_als, rank ", options.rank, ", strategy ", to_string(options.strategy),
      options.init == CpAlsInit::hosvd ? ", hosvd" : "",
      options.non_negative ? ", non-negative" : "", ", regularization ", options.regularization,
      options.dimension_tree ? "" : ", no tree", ", ", X.text);
  auto const tensor = to_coo_tensor<Scalar, Index>(exec, X);
  auto const solve = [&](CpAlsState<Scalar, Memory>& state, int iterations) {
    options.iterations = iterations;
    auto problem = make_cp_als_problem(exec, tensor, options);
    return cp_als(exec, problem, options, state);
  };
  auto const result = check_resumed(
      exec, source, 1 + static_cast<int>(source.below(8)),
      [&] { return cp_als_start(exec, tensor, options); }, solve, outcome);
  auto const model = plain(exec, result.model);
  double const N = X.order(), R = options.rank;
  // Sums are double's in both precisions, or the fit is right to 1e-5.
  check_fit(X, model, result.fit(), (8 * (N + R + 20) + roundings_of_sums(X)) * 0x1p-52,
            4 * N * unit + (sizeof(Scalar) == 4 ? 1e-5 : 0), outcome);
  bool is_negative = false;
  for (auto const& A : model.factors)
    for (Real entry : A) is_negative = is_negative || entry < 0;
  outcome.expect(!options.non_negative || !is_negative, "an entry is negative");
}

template <class Scalar, class Index>
void check_cp_apr(Source& source, Outcome& outcome) {
  constexpr double unit = std::numeric_limits<Scalar>::epsilon();
  constexpr int ranks[] = {1, 2, 3, 5, 8, 17};
  constexpr CpAprMethod methods[] = {CpAprMethod::mu, CpAprMethod::pdnr, CpAprMethod::pqnr};
  constexpr PhiStrategy strategies[] = {PhiStrategy::automatic, PhiStrategy::pull};
  Exec const exec{};
  auto const X = draw_tensor<Scalar>(source, Sign::counts);
  CpAprOptions options;
  options.rank = source.pick(ranks);
  options.tolerance = 0;
  options.seed = source.below(1000);
  options.method = source.pick(methods);
  if (options.method == CpAprMethod::mu) {
    options.strategy = source.pick(strategies);
    options.pi = source.chance(0.3) ? Pi::stored : Pi::on_the_fly;
  }
  options.inner_iterations = 1 + static_cast<int>(source.below(10));
  outcome.text = sporades::detail::concatenate(
      "cp_apr, rank ", options.rank, ", ", to_string(options.method), ", ",
      to_string(options.strategy), ", pi ", to_string(options.pi), ", ", options.inner_iterations,
      " inner iterations, ", X.text);
  auto const tensor = to_coo_tensor<Scalar, Index>(exec, X);
  auto const solve = [&](CpAprState<Scalar, Memory>& state, int iterations) {
    options.iterations = iterations;
    auto problem = make_cp_apr_problem(exec, tensor, options);
    return cp_apr(exec, problem, options, state);
  };
  auto const result = check_resumed(
      exec, source, 1 + static_cast<int>(source.below(6)),
      [&] { return cp_apr_start<Scalar>(exec, X.dims, options); }, solve, outcome);
  auto const model = plain(exec, result.model);
  double const N = X.order(), R = options.rank;
  Real sum = -model.mass(), magnitude = -sum, longest = 1;
  bool is_zero = false;
  for (auto const& [i, value] : summed(X)) {
    Real const m = model.at(i);
    is_zero = is_zero || m < std::numeric_limits<Scalar>::min();
    if (m > 0) sum += value * std::log(m);
    if (m > 0) magnitude += value * (1 + std::abs(std::log(m)));
  }
  for (auto dim : X.dims) longest = std::max(longest, static_cast<Real>(dim));
  // A model is a sum of R products; columns sum to 1 within the square root of their length.
  Real const most =
      unit * (4 * (N + R) + 16 + 2 * N * std::sqrt(longest) + roundings_of_sums(X)) * magnitude;
  double const reported = result.log_likelihood();
  if (is_zero && std::isinf(reported)) return;
  outcome.expect(std::abs(reported - sum) <= most, "reported log-likelihood ", reported,
                 ", explicitly ", sum, " +- ", most);
}

template <class Scalar, class Index>
void check_tucker(Source& source, Outcome& outcome) {
  constexpr double unit = std::numeric_limits<Scalar>::epsilon();
  constexpr TtmChainStrategy strategies[] = {TtmChainStrategy::automatic, TtmChainStrategy::csf,
                                             TtmChainStrategy::fused,
                                             TtmChainStrategy::semi_sparse};
  Exec const exec{};
  auto const X = draw_tensor<Scalar>(source, source.chance(0.5) ? Sign::any : Sign::positive);
  int const N = X.order();
  TuckerOptions options;
  for (auto dim : X.dims)
    options.ranks.push_back(
        1 + static_cast<int>(source.below(std::min<std::uint64_t>(dim, N < 4   ? 5
                                                                       : N < 6 ? 3
                                                                               : 2))));
  for (bool changes = true; changes;) {  // none may be larger than the product of the others
    changes = false;
    for (int n = 0; n < N; ++n) {
      int others = 1;
      for (int m = 0; m < N; ++m) others *= m == n ? 1 : options.ranks[m];
      changes = changes || options.ranks[n] > others;
      options.ranks[n] = std::min(options.ranks[n], others);
    }
  }
  options.tolerance = 0;
  options.seed = source.below(1000);
  options.init = source.chance(0.3) ? TuckerInit::hosvd : TuckerInit::random;
  options.strategy = source.pick(strategies);
  outcome.text = std::string("tucker, ranks");
  for (int rank : options.ranks) outcome.text += " " + std::to_string(rank);
  outcome.text += std::string(", strategy ") + to_string(options.strategy) +
                  (options.init == TuckerInit::hosvd ? ", hosvd, " : ", ") + X.text;
  auto const tensor = to_coo_tensor<Scalar, Index>(exec, X);
  auto const solve = [&](TuckerState<Scalar, Memory>& state, int iterations) {
    options.iterations = iterations;
    auto problem = make_tucker_problem(exec, tensor, options);
    return tucker(exec, problem, options, state);
  };
  auto const result = check_resumed(
      exec, source, 1 + static_cast<int>(source.below(5)),
      [&] { return tucker_start(exec, tensor, options); }, solve, outcome);
  // The fit comes from the norm of the core, which is that of X's projection where the factors are
  // orthonormal: to a few roundings of their own type for each column.
  double columns = 0;
  for (int rank : options.ranks) columns += rank;
  check_fit(X, plain(exec, result.model), result.fit(),
            (8 * (columns + N + 20) + roundings_of_sums(X)) * unit, 0, outcome);
}

template <class Scalar, class Index>
std::vector<Check> checks() {
  return {check_cp_als<Scalar, Index>, check_cp_apr<Scalar, Index>, check_tucker<Scalar, Index>};
}

}  // namespace

std::vector<Checks> model_checks() {
  return {{"float, 32-bit indices", checks<float, std::uint32_t>()},
          {"float, 64-bit indices", checks<float, std::uint64_t>()},
          {"double, 32-bit indices", checks<double, std::uint32_t>()},
          {"double, 64-bit indices", checks<double, std::uint64_t>()}};
}

}  // namespace sporades::campaign
