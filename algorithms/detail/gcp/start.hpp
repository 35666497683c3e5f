// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <optional>
#include <sporades/algorithms/detail/check_start.hpp>
#include <sporades/algorithms/detail/column_norms.hpp>
#include <sporades/algorithms/detail/gcp/rows.hpp>
#include <sporades/algorithms/detail/gcp/source.hpp>
#include <sporades/algorithms/detail/gcp/vectors.hpp>
#include <sporades/core/random.hpp>
#include <sporades/kernels/innerprod.hpp>

namespace sporades::detail {

/// Room for the variables of a start.
template <class Scalar, class ExecutionSpace>
GcpState<Scalar, typename ExecutionSpace::memory_space> new_gcp_state(ExecutionSpace const& exec,
                                                                      Dims const& dims, int rank) {
  GcpState<Scalar, typename ExecutionSpace::memory_space> state;
  static_cast<typename decltype(state)::Variables&>(state) =
      make_flat_factors<Scalar>(exec, "sporades::gcp::factors", dims, rank);
  return state;
}

/// Numbers of [0, 1) become those of [-1, 1): columns of uniform ones point nearly one way.
template <class Scalar, class MemorySpace>
struct SpreadEntries {
  Matrix<Scalar, MemorySpace> A;  // I x R

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    for (std::size_t r = 0; r < A.extent(1); ++r) A(i, r) = 2 * A(i, r) - 1;
  }
};

/// a(i) = a(i) w(i)
template <class Scalar, class MemorySpace>
struct WeighEntries {
  Scalar const* w;
  Scalar* a;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { a[i] *= w[i]; }
};

/// The random start, not scaled. Fences exec.
template <class Scalar, class ExecutionSpace, class Loss>
GcpState<Scalar, typename ExecutionSpace::memory_space> random_gcp_start(
    ExecutionSpace const& exec, Dims const& dims, GcpOptionsOf<Loss> const& options) {
  auto state = new_gcp_state<Scalar>(exec, dims, options.rank);
  using Memory = typename ExecutionSpace::memory_space;
  for (std::size_t n = 0; n < dims.size(); ++n) {
    auto const& A = state.factors[n];
    launch_items(exec, "sporades::random::factor", dims[n],
                 FillRandom<Scalar, Memory>{A, splitmix64(options.seed), n});
    if (!has_bound(options))
      launch_items(exec, "sporades::gcp::spread", dims[n], SpreadEntries<Scalar, Memory>{A});
  }
  fence(exec, "sporades::gcp::start");
  state.is_random = true;
  return state;
}

/// A(:, r) *= s[r]. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
void scale_columns_by(ExecutionSpace const& exec, Matrix<Scalar, MemorySpace> const& A,
                      std::vector<double> const& s) {
  std::vector<Scalar> rounded;
  for (double const by : s) rounded.push_back(static_cast<Scalar>(by));
  scale_columns(exec, A, to_view(exec, "sporades::gcp::scales", rounded));
  fence(exec, "sporades::gcp::scale_columns");
}

/// The given start, with its weights in the factors, in all modes alike. start: its rows here; the
/// state gets all. Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class StartSpace, class Loss>
GcpState<Scalar, typename ExecutionSpace::memory_space> given_gcp_start(
    ExecutionSpace const& exec, Dims const& here, std::vector<RowMap> const& rows,
    GcpOptionsOf<Loss> const& options, KruskalTensor<Scalar, StartSpace> const& start) {
  auto given = copy_of_start("gcp", exec, start);
  check_start("gcp", here, options.rank, given.factors, static_cast<int>(given.weights.size()));
  given.factors = take_all_rows(exec, rows, given.factors);
  Dims dims;
  for (auto const& A : given.factors) dims.push_back(A.extent(0));
  auto state = new_gcp_state<Scalar>(exec, dims, options.rank);
  for (std::size_t n = 0; n < dims.size(); ++n) {
    copy_view(exec, state.factors[n], given.factors[n]);
    expects(!has_bound(options) || !has_negative(exec, given.factors[n]),
            "gcp: the start's factor of mode ", n, " has negative entries, and models are >= 0");
    std::vector<double> by;
    for (double const weight : given.weights) {
      expects(!has_bound(options) || weight >= 0, "gcp: the start has a weight ", weight,
              ", and models are >= 0");
      by.push_back(std::pow(std::abs(weight), 1 / static_cast<double>(dims.size())));
      if (n == 0 && weight < 0) by.back() = -by.back();
    }
    scale_columns_by(exec, state.factors[n], by);
  }
  FlatOperations<ExecutionSpace, Scalar> const operations(exec, state.size());
  expects(std::isfinite(operations.dot(state.entries, state.entries)),
          "gcp: the start holds NaN, infinity or numbers whose squares overflow");
  return state;
}

/// Throws Error where a state that a run goes on from does not fit X's dims and the options.
template <class Scalar, class MemorySpace, class Loss>
void check_gcp_state(Dims const& dims, GcpOptionsOf<Loss> const& options,
                     GcpState<Scalar, MemorySpace> const& state) {
  check_start("gcp", dims, options.rank, state.factors, state.rank());
  std::uint64_t const size = flat_size(dims, options.rank);
  bool fits = state.size() == size && state.steps.size() == state.changes.size() &&
              state.factors[0].data() == state.entries.data();
  for (auto const* const list : {&state.steps, &state.changes})
    for (auto const& one : *list) fits = fits && one.size() == size;
  expects(fits,
          "gcp: the state is not as gcp_start makes it: factors lie in entries, and steps and "
          "changes come in pairs");
  expects(!state.has_begun || state.square_roots == has_roots(options), "gcp: the run began with ",
          state.square_roots ? "square roots" : "factors",
          " as variables, and the options ask for ",
          has_roots(options) ? "square roots" : "factors");
}

/// The factor by which the norm of the model becomes that of X, over the given entries where the
/// others are missing; 1 where there is none. Fences exec.
template <class ExecutionSpace, class Problem, class Model>
double norm_ratio(ExecutionSpace const& exec, Problem const& problem, Model const& model) {
  auto const& X = problem.plan.exact.X;
  auto const norm_of_entries = [&](auto const& values) {
    return std::sqrt(sum_of_all(problem.processes, "sums of values", norm_squared(exec, values)));
  };
  double of_model = 0;
  if (problem.absent == AbsentEntries::zero) {
    of_model = norm(exec, model);
  } else {
    auto const m = uninitialized<Vector<double, typename Model::MemorySpace>>(
        exec, "sporades::gcp::start_values", X.nnz());
    std::vector<double> const ones(static_cast<std::size_t>(model.rank()), 1.0);
    run_model_values(exec, X, model.factors, to_view(exec, "sporades::gcp::ones", ones), m);
    of_model = norm_of_entries(m);
  }
  double const ratio = norm_of_entries(X.values) / of_model;
  return ratio > 0 && std::isfinite(ratio) ? ratio : 1;
}

/// A k of -64 to 64, found by steps of 16, 4 and 1, at which value(k) is least.
template <class Value>
int find_exponent(Value const& value) {
  auto const finite = [&](int k) {
    double const at = value(k);
    return std::isfinite(at) ? at : std::numeric_limits<double>::infinity();
  };
  int best = 0;
  double least = finite(best);
  for (int const stride : {16, 4, 1})
    for (int const step : {stride, -stride})
      while (std::abs(best + step) <= 64) {
        double const at = finite(best + step);
        if (!(at < least)) break;
        best += step;
        least = at;
      }
  return best;
}

/// The model of these factors, with weights that are yet to be set.
template <class ExecutionSpace, class Scalar, class MemorySpace>
KruskalTensor<Scalar, MemorySpace> weighted_model(ExecutionSpace const& exec,
                                                  Factors<Scalar, MemorySpace> const& factors) {
  return {uninitialized<Vector<Scalar, MemorySpace>>(exec, "sporades::gcp::weights",
                                                     factors[0].extent(1)),
          factors};
}

/// Scales the factors of a random start to X; see gcp_start. Fences exec.
template <class ExecutionSpace, class Problem, class State, class Source>
void scale_start(ExecutionSpace const& exec, Problem const& problem, bool has_bound,
                 State const& state, Source const& source) {
  using Scalar = typename State::Scalar;
  auto const model = weighted_model(exec, state.factors);
  fill_view(exec, model.weights, Scalar(1));
  double scale = norm_ratio(exec, problem, model);
  if (has_bound) {
    auto const loss_of = [&](int k) {
      fill_view(exec, model.weights, static_cast<Scalar>(std::ldexp(scale, k)));
      return source(model, nullptr);
    };
    scale = std::ldexp(scale, find_exponent(loss_of));
  }
  std::vector<double> const by(static_cast<std::size_t>(state.rank()),
                               std::pow(scale, 1 / static_cast<double>(state.factors.size())));
  for (auto const& A : state.factors) scale_columns_by(exec, A, by);
}

/// Minus the gradient of the loss at a model near 0 with these factors, of length 1; nothing where
/// it is 0 or not finite. source(model, V): a loss, and its gradient. Fences exec.
template <class ExecutionSpace, class Problem, class Scalar, class MemorySpace, class Source>
std::optional<FlatFactors<Scalar, MemorySpace>> downhill_from(
    ExecutionSpace const& exec, Problem const& problem, Factors<Scalar, MemorySpace> const& factors,
    Source const& source) {
  auto const model = weighted_model(exec, factors);
  fill_view(exec, model.weights, Scalar(1));
  fill_view(exec, model.weights, static_cast<Scalar>(1e-4 * norm_ratio(exec, problem, model)));
  auto const V =
      make_flat_factors<Scalar>(exec, "sporades::gcp::start", problem.dims, model.rank());
  source(model, &V.factors);
  FlatOperations<ExecutionSpace, Scalar> const operations(exec, V.size());
  double const length = std::sqrt(operations.dot(V.entries, V.entries));
  if (!(length > 0 && std::isfinite(length))) return {};
  operations.combine("sporades::gcp::turn", -1 / length, V.entries, 0, V.entries, V.entries);
  return V;
}

/// Makes a random start ready for X, up to a scale. Factors of any sign become downhill_from
/// themselves; for GaussianLoss these are MTTKRP of X with random factors. Rows of factors >= 0 are
/// multiplied by downhill_from equal entries, or by 0 where that is less: for PoissonLoss nearly
/// the sums of X's slices, so that no component begins where X has little. (Poisson, rank 16, means
/// of six seeds: marvel-characters 34,456, and 35,294 by fourth powers of random numbers;
/// police-deaths 23,750 and 23,805.) Fences exec.
template <class ExecutionSpace, class Problem, class State, class Source>
void turn_to_data(ExecutionSpace const& exec, Problem const& problem, bool has_bound,
                  State const& state, Source const& source) {
  using Scalar = typename State::Scalar;
  using Memory = typename State::MemorySpace;
  FlatOperations<ExecutionSpace, Scalar> const operations(exec, state.size());
  if (!has_bound) {
    if (auto const V = downhill_from(exec, problem, state.factors, source))
      copy_view(exec, state.entries, V->entries);
    return;
  }
  auto const ones =
      make_flat_factors<Scalar>(exec, "sporades::gcp::start", problem.dims, state.rank());
  fill_view(exec, ones.entries, Scalar(1));
  auto const V = downhill_from(exec, problem, ones.factors, source);
  if (!V) return;
  auto const& weights = V->entries;
  operations.combine("sporades::gcp::weigh", 1, weights, 0, weights, weights, nullptr, true);
  if (operations.dot(weights, weights) > 0)
    operations.run("sporades::gcp::weigh",
                   WeighEntries<Scalar, Memory>{weights.data(), state.entries.data()});
}

/// Makes variables of the factors of a start, whose columns get the same length in all modes.
/// Fences exec.
template <class ExecutionSpace, class State>
void balance_and_take_roots(ExecutionSpace const& exec, State& state, bool takes_roots) {
  std::size_t const R = static_cast<std::size_t>(state.rank());
  double const N = state.order();
  std::vector<double> logarithms(R);
  std::vector<std::vector<double>> lengths;  // with square roots: the squared ones of variables
  for (auto const& A : state.factors) {
    lengths.push_back(column_norms(exec, A, takes_roots ? ColumnNorm::one : ColumnNorm::two));
    for (std::size_t r = 0; r < R; ++r) logarithms[r] += std::log(lengths.back()[r]) / N;
  }
  for (std::size_t n = 0; n < state.factors.size(); ++n) {
    auto const& A = state.factors[n];
    std::vector<double> by, least;
    for (std::size_t r = 0; r < R; ++r) {
      double const target = std::exp(logarithms[r]);  // 0 where a mode's column is 0
      bool const is_balanced = target > 0 && std::isfinite(target);
      by.push_back(is_balanced ? target / lengths[n][r] : 1);
      least.push_back(1e-6 * by[r] * lengths[n][r] / static_cast<double>(A.extent(0)));
    }
    scale_columns_by(exec, A, by);
    if (!takes_roots || A.extent(0) == 0) continue;
    launch_items(exec, "sporades::gcp::take_roots", A.extent(0),
                 TakeRoots<typename State::Scalar, typename State::MemorySpace>{
                     A, to_view(exec, "sporades::gcp::least", least)});
    fence(exec, "sporades::gcp::take_roots");
  }
}

/// Makes a state ready for its first iteration, once. source(model, V): a loss, and if V is not
/// null, its gradient. Fences exec.
template <class ExecutionSpace, class Problem, class Loss, class State, class Source>
void begin_gcp(ExecutionSpace const& exec, Problem const& problem,
               GcpOptionsOf<Loss> const& options, State& state, Source const& source) {
  if (state.has_begun) return;
  if (state.is_random) {
    turn_to_data(exec, problem, has_bound(options), state, source);
    balance_and_take_roots(exec, state, false);
    scale_start(exec, problem, has_bound(options), state, source);
  }
  state.square_roots = has_roots(options);
  balance_and_take_roots(exec, state, state.square_roots);
  state.has_begun = true;
}

}  // namespace sporades::detail
