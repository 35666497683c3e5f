// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/complete.hpp>
#include <sporades/algorithms/detail/complete/problem.hpp>
#include <sporades/algorithms/generate.hpp>
#include <sporades/formats/files/tns_file.hpp>
#include <sporades/formats/split_coo.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/gcp.hpp>
#include <support/memory.hpp>
#include <support/models.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using sporades::complete;
using sporades::complete_start;
using sporades::CompleteInit;
using sporades::CompleteOptions;
using sporades::CooTensor;
using sporades::Dims;
using sporades::Position;
using sporades::test::new_instance;
using sporades::test::root_mean_square;

/// Options without offsets and counts: the plain least squares of other programs.
CompleteOptions plain(int rank, double lambda) {
  CompleteOptions options;
  options.rank = rank;
  options.offsets = false;
  options.penalty = {{lambda}, 0, 0, {}};
  options.tolerance = 0;
  return options;
}

/// Values 3.5 + an offset of each index + a planted component, at a part of the cells.
template <class Scalar>
std::pair<CooTensor<Scalar, std::uint32_t>, CooTensor<Scalar, std::uint32_t>> rated(
    Dims const& dims, double probability, double noise) {
  auto const offsets = sporades::test::planted(dims, 1);
  auto const component = sporades::test::planted(dims, 2);
  auto parts = sporades::test::seen<Scalar>(component, probability, noise);
  for (auto* X : {&parts.first, &parts.second})
    for (Position p = 0; p < X->nnz(); ++p) {
      double value = 3.5;
      for (std::size_t n = 0; n < dims.size(); ++n)
        value += 2 * offsets.factors[n][X->coordinates(n, p)];
      X->values(p) += static_cast<Scalar>(value);
    }
  return parts;
}

template <class Left, class Right>
void check_same_bits(Left const& left, Right const& right) {
  using sporades::detail::with_padding;
  using sporades::test::hash_bits;
  CHECK(hash_bits(left.weights) == hash_bits(right.weights));
  for (std::size_t n = 0; n < left.factors.size(); ++n)
    CHECK(hash_bits(with_padding(left.factors[n])) == hash_bits(with_padding(right.factors[n])));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("complete without offsets is what another program computes",
                        "[algorithms][complete]", sporades::test::DoubleCases) {
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  std::string const folder = "completion/movielens-small-3d-";
  auto const train_file = sporades::test::shared_file(folder + "train.tns.gz"),
             test_file = sporades::test::shared_file(folder + "test.tns.gz");
  if (train_file.empty()) return;
  auto const read = [&](std::string const& file) {
    auto X = sporades::read_tensor<double, std::uint32_t>(file).tensor;
    X.dims = {671, 9066, 262};
    return copy_to(exec, X);
  };
  auto const X = read(train_file), Y = read(test_file);
  auto options = plain(5, 1);
  options.iterations = 20;
  auto const result = complete(exec, X, options);
  CHECK(std::abs(result.errors[0] - 0.781963425) < 1e-9);
  CHECK(std::abs(result.errors[4] - 0.691144971) < 1e-9);
  CHECK(std::abs(result.error() - 0.656558277) < 1e-9);
  CHECK(std::abs(root_mean_square(exec, Y, result.model) - 1.274403581) < 1e-8);
  options.iterations = 5;
  CHECK(std::abs(root_mean_square(exec, Y, complete(exec, X, options).model) - 1.209723537) < 1e-8);

  // With offsets, counts and smooth months; the numbers were chosen by values held out.
  CompleteOptions recommended;
  recommended.rank = 10;
  recommended.penalty.lambda = {1.2, 1.2, 0.01};
  recommended.penalty.smoothness = {0, 0, 30000};
  recommended.iterations = 100;
  recommended.tolerance = 0;
  CHECK(root_mean_square(exec, Y, complete(exec, X, recommended).model) < 0.865);
  recommended.rank = 20;
  recommended.iterations = 200;
  CHECK(root_mean_square(exec, Y, complete(exec, X, recommended).model) < 0.858);
}

TEMPLATE_LIST_TEST_CASE("complete finds offsets and components", "[algorithms][complete]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = GENERATE(Dims{50, 40, 30}, Dims{20, 12, 10, 8});
  auto const [given, held_out] = rated<Scalar>(dims, 0.2, 0.02);
  CompleteOptions options;
  options.rank = 2;
  options.penalty = {{0.001}, 0.001, 0, {}};
  options.tolerance = 1e-6;
  options.iterations = 300;
  options.starts = 3;
  auto const result = complete(exec, copy_to(exec, given), options);
  CAPTURE(sporades::to_string(dims), result.error(), result.iterations());
  CHECK(result.model.rank() == 2 + static_cast<int>(dims.size()) + 1);
  CHECK(result.error() < 0.021);
  CHECK(std::abs(result.error() - root_mean_square(exec, copy_to(exec, given), result.model)) <
        (sizeof(Scalar) == 4 ? 1e-4 : 1e-9));
  CHECK(root_mean_square(exec, copy_to(exec, held_out), result.model) < 0.025);
  // Offsets' components are constant in the other modes, and the mean is in all.
  for (std::size_t n = 0; n < dims.size(); ++n) {
    auto const A = sporades::test::matrix_on_host(result.model.factors[n]);
    for (std::size_t c = 2; c < A.extent(1); ++c) {
      double spread = 0;
      for (std::size_t i = 1; i < A.extent(0); ++i)
        spread = std::max(spread, std::abs(double{A(i, c)} - double{A(0, c)}));
      if (c == 2 + n)
        CHECK(spread > 0.1);
      else
        CHECK(spread == 0);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("complete: no step raises what it minimises", "[algorithms][complete]",
                        sporades::test::DoubleCases) {
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = GENERATE(Dims{60}, Dims{30, 20}, Dims{30, 20, 10}, Dims{9, 8, 7, 6},
                             Dims{5, 4, 1, 3, 6}, Dims{4, 3, 2, 3, 2, 2, 2, 3});
  double const power = GENERATE(0.0, 0.5), smoothness = GENERATE(0.0, 3.0);
  int const differences = smoothness > 0 ? GENERATE(1, 2) : 1;
  bool const offsets = GENERATE(true, false);
  if (!offsets && power > 0) return;
  auto const X = copy_to(exec, rated<double>(dims, 0.3, 0.1).first);
  CompleteOptions options;
  options.rank = 3;
  options.offsets = offsets;
  options.penalty = {{0.4}, 0.7, power, {smoothness}, {differences}};
  options.tolerance = 0;
  options.iterations = 15;
  auto problem = make_complete_problem(exec, X, options);
  auto state = complete_start(exec, X, options);
  auto const on_host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  // The objective, from the state's factors by its definition.
  double before = std::numeric_limits<double>::infinity();
  auto const objective = [&] {
    double const nnz = static_cast<double>(X.nnz());
    double sum = state.errors.back() * state.errors.back() * nnz;
    for (std::size_t n = 0; n < dims.size(); ++n) {
      auto const A = sporades::test::matrix_on_host(state.factors[n]);
      std::vector<double> counts(dims[n]);
      for (Position p = 0; p < on_host.nnz(); ++p) ++counts[on_host.coordinates(n, p)];
      for (std::size_t i = 0; i < dims[n]; ++i) {
        double const weight = power > 0 ? std::pow(counts[i], power) : 1;
        if (offsets) sum += 0.7 * weight * A(i, 3 + n) * A(i, 3 + n);
        for (std::size_t r = 0; r < 3; ++r) {
          sum += 0.4 * weight * A(i, r) * A(i, r);
          double const step = differences == 1 ? (i > 0 ? A(i, r) - A(i - 1, r) : 0)
                              : i > 1          ? A(i, r) - 2 * A(i - 1, r) + A(i - 2, r)
                                               : 0;
          if (n == 0) sum += smoothness * step * step;
        }
      }
    }
    return sum;
  };
  int risen = 0;
  complete(exec, problem, options, state, [&](sporades::IterationInfo const&) {
    double const now = objective();
    risen += !(now <= before * (1 + 1e-12));
    before = now;
    return true;
  });
  CAPTURE(sporades::to_string(dims), power, smoothness, differences, offsets);
  CHECK(state.iterations() == 15);
  CHECK(risen == 0);
}

TEMPLATE_LIST_TEST_CASE("complete stops where values held out are told worse",
                        "[algorithms][complete]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = copy_to(exec, rated<Scalar>({40, 30, 20}, 0.05, 1).first);
  CompleteOptions options;
  options.rank = 8;  // far more than there are, without a penalty
  options.penalty = {{1e-3}, 1e-3, 0, {}};
  options.holdout = 0.2;
  options.patience = 4;
  options.tolerance = 0;
  auto problem = make_complete_problem(exec, X, options);
  auto state = complete_start(exec, X, options);
  auto const result = complete(exec, problem, options, state);
  CHECK(result.converged);
  REQUIRE(result.held_errors.size() == result.errors.size());
  auto const least = std::min_element(result.held_errors.begin(), result.held_errors.end());
  CHECK(result.model_iteration == least - result.held_errors.begin() + 1);
  CHECK(result.iterations() == result.model_iteration + 4);
  CHECK(result.value() == -*least);
  // The model is that of the least error, and the values held out are those that split draws, but
  // by another number: of a part of split's there are some to hold out.
  auto const parts = split(exec, X, 0.2, sporades::detail::holdout_seed(options.seed));
  CHECK(parts.train.nnz() == problem.nnz);
  double const tiny = sizeof(Scalar) == 4 ? 1e-4 : 1e-9;
  CHECK(std::abs(root_mean_square(exec, parts.test, result.model) - *least) < tiny * *least);
  CHECK(std::abs(root_mean_square(exec, parts.train, result.model) - result.error()) < tiny);
  auto const left = split(exec, X, 0.2).train;
  CHECK(make_complete_problem(exec, left, options).held.nnz() > left.nnz() / 8);
}

TEMPLATE_LIST_TEST_CASE("complete goes on from snapshots and models", "[algorithms][complete]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::ExecutionSpace::memory_space;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = copy_to(exec, rated<Scalar>({20, 15, 10}, 0.3, 0.1).first);
  CompleteOptions options;
  options.rank = 3;
  options.holdout = GENERATE(0.0, 0.1);
  options.patience = 100;
  options.tolerance = 0;
  options.iterations = 9;
  auto const whole = complete(exec, X, options);
  auto problem = make_complete_problem(exec, X, options);
  auto state = complete_start(exec, X, options);
  options.iterations = 4;
  complete(exec, problem, options, state);
  auto const saved = snapshot(exec, state);
  auto again = sporades::restore<sporades::CompleteState<Scalar, Memory>>(exec, saved);
  options.iterations = 9;
  auto const resumed = complete(exec, problem, options, again);
  CHECK(resumed.errors == whole.errors);
  CHECK(resumed.held_errors == whole.held_errors);
  check_same_bits(resumed.model, whole.model);

  options.init = CompleteInit::given;
  options.iterations = 1;
  auto from = complete_start(exec, X.dims, options, whole.model);
  auto const next = complete(exec, problem, options, from);
  CHECK(next.error() <= whole.error() * 1.1);  // modes have lost their scales
  options.init = CompleteInit::random;
  CHECK(next.error() < complete(exec, X, options).error() * 0.8);
  options.init = CompleteInit::given;
  auto const other = [&](char const* why, auto const& change) {
    auto changed = options;
    change(changed);
    CHECK_THROWS_WITH(complete(exec, problem, changed, from), ContainsSubstring(why));
  };
  other("with offsets", [](auto& o) {
    o.offsets = false;
    o.penalty.power = 0;
  });
  other("for rank 3", [](auto& o) { o.rank = 2; });
  other("held out", [](auto& o) { o.holdout = o.holdout > 0 ? 0 : 0.1; });
  options.rank = 4;
  CHECK_THROWS_WITH(complete_start(exec, X.dims, options, whole.model), ContainsSubstring("rank"));
  options.rank = 2;
  options.offsets = true;
  auto const components = sporades::test::random_kruskal<Scalar>(exec, X.dims, 6, 1, true);
  CHECK_THROWS_WITH(complete_start(exec, X.dims, options, components),
                    ContainsSubstring("is no offset"));
}

TEMPLATE_LIST_TEST_CASE("complete of few, equal and unrated values", "[algorithms][complete]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  CompleteOptions options;
  options.rank = 4;
  auto const make = [&](Dims const& dims, std::vector<std::vector<std::uint32_t>> const& cells,
                        std::vector<double> const& values) {
    auto X = sporades::detail::allocate_coo<Scalar, std::uint32_t>(
        Kokkos::DefaultHostExecutionSpace{}, dims, values.size());
    for (std::size_t p = 0; p < values.size(); ++p) {
      for (std::size_t n = 0; n < dims.size(); ++n) X.coordinates(n, p) = cells[p][n];
      X.values(p) = static_cast<Scalar>(values[p]);
    }
    return copy_to(exec, X);
  };
  auto const value_at = [&](auto const& model, std::vector<std::uint32_t> const& at) {
    return static_cast<double>(sporades::detail::entry_at(
        exec, model_values(exec, make(model.dims(), {at}, {0}), model), 0));
  };
  // All equal: the mean, everywhere.
  auto const equal =
      complete(exec, make({3, 4, 2}, {{0, 0, 0}, {1, 2, 1}, {0, 3, 1}}, {7, 7, 7}), options);
  CHECK(equal.error() < 1e-6);
  CHECK(equal.converged);
  CHECK(std::abs(value_at(equal.model, {2, 1, 0}) - 7) < 1e-5);
  // One rating: everywhere the mean.
  auto const one = complete(exec, make({3, 4, 2}, {{1, 1, 1}}, {5}), options);
  CHECK(std::abs(value_at(one.model, {0, 0, 0}) - 5) < 1e-5);
  // A film that is rated low is low for a user who has rated nothing.
  options.penalty.offsets = 0.1;
  auto const low = complete(
      exec, make({4, 3}, {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}}, {1, 5, 1, 5, 1, 5}),
      options);
  CHECK(value_at(low.model, {3, 0}) < 2);
  CHECK(value_at(low.model, {3, 1}) > 4);
  CHECK(std::abs(value_at(low.model, {3, 2}) - 3) < 0.01);
  // Twice the same entry counts twice.
  auto const once = complete(exec, make({2, 2}, {{0, 0}, {1, 1}}, {1, 4}), options);
  auto const twice = complete(exec, make({2, 2}, {{0, 0}, {0, 0}, {1, 1}}, {1, 1, 4}), options);
  auto const mean = [&](auto const& model) { return value_at(model, {0, 1}); };
  CHECK(mean(twice.model) < mean(once.model) - 0.02);
  // A month without ratings is between its neighbours, where months are smooth.
  std::vector<std::vector<std::uint32_t>> cells;
  std::vector<double> values;
  for (std::uint32_t i = 0; i < 6; ++i)
    for (std::uint32_t t = 0; t < 9; ++t)
      if (t != 4) {
        cells.push_back({i, t});
        values.push_back((i < 3 ? 1 : -1) * (1 + 0.1 * t));
      }
  options.rank = 1;
  options.penalty = {{0.01, 1e-6}, 0.1, 0, {0, 0.05}};
  options.iterations = 1000;
  auto const smooth = complete(exec, make({6, 9}, cells, values), options);
  double const between = (value_at(smooth.model, {0, 3}) + value_at(smooth.model, {0, 5})) / 2;
  CHECK(std::abs(value_at(smooth.model, {0, 4}) - between) < 0.02);
  CHECK(between > 1);
}

TEMPLATE_LIST_TEST_CASE("memory_need counts what complete holds", "[algorithms][memory][complete]",
                        sporades::test::Cases) {
  using namespace sporades;
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const trial = GENERATE(from_range(test::memory_trials()));
  double const holdout = GENERATE(0.0, 0.3, 0.9);
  bool const offsets = GENERATE(true, false);
  int const starts = GENERATE(1, 2);
  auto const X = generate<Scalar, std::uint32_t>(exec, trial.dims, trial.nnz, trial.skew);
  CompleteOptions options;
  options.rank = trial.rank;
  options.offsets = offsets;
  options.penalty.power = offsets ? 0.5 : 0;
  options.holdout = holdout;
  options.starts = starts;
  options.iterations = 2;
  auto const need = memory_need(exec, X, options);
  auto const recording = test::record([&] {
    auto own = test::copy_of(exec, X);
    complete(exec, hand_over(own), options);
  });
  double const held = test::peak_of<typename decltype(X.values)::memory_space>(recording);
  CAPTURE(sporades::to_string(trial.dims), trial.nnz, trial.rank, holdout, offsets, starts,
          need.peak, held);
  CHECK(need.peak >= held);
  CHECK(need.peak <= test::most_counted * held + 20000);
}

TEST_CASE("complete refuses what it cannot do", "[algorithms][complete]") {
  Kokkos::DefaultExecutionSpace const exec;
  auto const X = sporades::test::random_coo<double, std::uint32_t>(exec, {9, 8, 7}, 100);
  auto const refuses = [&](char const* why, auto const& change) {
    CompleteOptions options;
    change(options);
    CHECK_THROWS_WITH(complete(exec, X, options), ContainsSubstring(why));
  };
  refuses("rank 0", [](auto& o) { o.rank = 0; });
  refuses("columns are over", [](auto& o) { o.rank = 1022; });
  refuses("penalty -1", [](auto& o) { o.penalty.lambda = {-1}; });
  refuses("2 penalties for order 3", [](auto& o) { o.penalty.lambda = {1, 2}; });
  refuses("penalty of offsets", [](auto& o) { o.penalty.offsets = -2; });
  refuses("power of counts", [](auto& o) { o.penalty.power = 1.5; });
  refuses("without offsets", [](auto& o) { o.offsets = false; });
  refuses("smoothness of 4 modes", [](auto& o) { o.penalty.smoothness = {1, 1, 1, 1}; });
  refuses("differences 3", [](auto& o) { o.penalty.differences = {3}; });
  refuses("smoothness -1", [](auto& o) { o.penalty.smoothness = {0, -1}; });
  refuses("held out", [](auto& o) { o.holdout = 1; });
  refuses("leaves", [](auto& o) { o.holdout = 1e-9; });
  refuses("patience 0", [](auto& o) { o.patience = 0; });
  refuses("alto", [](auto& o) { o.strategy = sporades::MttkrpStrategy::alto; });
  auto tiny = copy_to(Kokkos::DefaultHostExecutionSpace{},
                      sporades::test::random_coo<float, std::uint32_t>(exec, {9, 8, 7}, 100));
  for (Position p = 0; p < tiny.nnz(); ++p) tiny.values(p) *= 1e-26F;
  CHECK_THROWS_WITH(complete(exec, copy_to(exec, tiny), CompleteOptions()),
                    ContainsSubstring("too small for float"));
  auto bad = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  bad.values(3) = std::nan("");
  CHECK_THROWS_WITH(complete(exec, copy_to(exec, bad), CompleteOptions()),
                    ContainsSubstring("value 3"));
}
