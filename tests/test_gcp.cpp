// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <random>
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/cp_apr.hpp>
#include <sporades/algorithms/definitions.hpp>
#include <sporades/algorithms/gcp.hpp>
#include <sporades/formats/files/tns_file.hpp>
#include <sporades/kernels/innerprod.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/gcp.hpp>
#include <support/loss_gradient.hpp>
#include <support/same_bits.hpp>
#include <support/tensors.hpp>
#include <support/tools.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using sporades::AbsentEntries;
using sporades::Dims;
using sporades::Error;
using sporades::gcp;
using sporades::gcp_start;
using sporades::GcpMethod;
using sporades::GcpOptions;
using sporades::make_gcp_problem;
using sporades::Position;
using sporades::test::all_cells;
using sporades::test::new_instance;
using sporades::test::planted;
using sporades::test::police_deaths;
using sporades::test::seen;
using sporades::test::tensor_for;

TEMPLATE_LIST_TEST_CASE("gaussian GCP with zeros reaches the optimum of CP-ALS",
                        "[algorithms][gcp]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  Dims const dims = GENERATE(Dims{12, 10, 8}, Dims{6, 5, 4, 3});
  auto const X = copy_to(exec, all_cells<Scalar>(planted(dims, 2), 0.1));
  sporades::CpAlsOptions als;
  als.rank = 2;
  als.iterations = 500;
  als.tolerance = 1e-9;
  double const residual = (1 - cp_als(exec, X, als).fit()) * sporades::norm(exec, X);
  GcpOptions options;
  options.rank = 2;
  options.tolerance = 1e-12;
  auto const result = gcp(exec, X, options);
  CHECK(result.converged);
  CHECK(result.loss() == Approx(residual * residual).epsilon(sizeof(Scalar) == 4 ? 1e-4 : 1e-7));
  double const of_model =
      sporades::loss_value(exec, X, result.model, sporades::GaussianLoss{}, AbsentEntries::zero);
  CHECK(of_model == Approx(result.loss()).epsilon(sizeof(Scalar) == 4 ? 1e-4 : 1e-9));
}

TEMPLATE_LIST_TEST_CASE("Poisson GCP reaches the optimum of CP-APR", "[algorithms][gcp]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = police_deaths<Scalar>(exec);
  sporades::CpAprOptions apr;
  apr.rank = 2;
  double const likelihood = cp_apr(exec, X, apr).log_likelihood();
  GcpOptions options;
  options.rank = 2;
  options.loss = sporades::PoissonLoss{};
  auto const result = gcp(exec, X, options);
  // Other starts, and so other optima: within a percent.
  CHECK(-result.loss() > likelihood - 0.01 * std::abs(likelihood));
  CHECK(result.history.back().gradient < 1e-2 * result.history.front().gradient);
  for (auto const& A : result.model.factors) CHECK(!sporades::detail::has_negative(exec, A));

  auto const given = gcp_start(exec, X.dims, options, cp_apr(exec, X, apr).model);
  auto problem = make_gcp_problem(exec, X, options);
  auto state = given;
  auto const from_there = gcp(exec, problem, options, state);
  CHECK(from_there.loss() <= -likelihood + 1e-5 * std::abs(likelihood));
}

TEMPLATE_LIST_TEST_CASE("GCP finds what is missing", "[algorithms][gcp]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const model = planted({60, 50, 40}, 3);
  auto const [given, held_out] = seen<Scalar>(model, 0.2, 0.02);
  auto const X = copy_to(exec, given);
  GcpOptions options;
  options.rank = 3;
  options.absent = AbsentEntries::missing;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    options.seed = seed;
    auto const result = gcp(exec, X, options);
    CAPTURE(seed, result.loss(), result.iterations());
    CHECK(sporades::test::root_mean_square(exec, copy_to(exec, held_out), result.model) <= 0.021);
  }
}

TEMPLATE_LIST_TEST_CASE("GCP of binary data falls from one iteration to the next",
                        "[algorithms][gcp]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto X = police_deaths<Scalar>(exec);
  Kokkos::deep_copy(X.values, Scalar(1));
  GcpOptions options;
  options.rank = 3;
  options.loss = sporades::loss_from_name("bernoulli-poisson");
  options.method = GENERATE(GcpMethod::automatic, GcpMethod::lbfgsb);
  auto const result = gcp(exec, X, options);
  double last = std::numeric_limits<double>::infinity();
  for (auto const& one : result.history) {
    CHECK(one.loss <= last);
    last = one.loss;
  }
  double const band = sizeof(Scalar) == 4 ? 1e-4 : 1e-9;
  double const of_model = sporades::loss_value(
      exec, X, result.model, sporades::BernoulliPoissonLoss{}, AbsentEntries::zero);
  CHECK(of_model == Approx(result.loss()).epsilon(band));
  // Where the gradient vanishes, L is 27,186.6; projection ends above it from many starts.
  CHECK(result.loss() < (options.method == GcpMethod::automatic ? 27188 : 32000));
  CHECK(result.value() == -result.loss());
}

TEMPLATE_LIST_TEST_CASE("every loss is lowered, in orders 1 to 5", "[algorithms][gcp]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const any =
      sporades::test::all_losses().at(static_cast<std::size_t>(GENERATE(range(0, 14))));
  auto const method = GENERATE(GcpMethod::automatic, GcpMethod::lbfgsb);
  std::visit(
      [&](auto const& loss) {
        for (auto const& dims :
             {Dims{9}, Dims{5, 6}, Dims{6, 7, 5}, Dims{3, 4, 1, 5}, Dims{2, 3, 2, 3, 2}}) {
          CAPTURE(loss.name(), sporades::to_string(dims), to_string(method));
          auto const X = tensor_for<Scalar, std::uint32_t>(exec, dims, 30, loss);
          GcpOptions options;
          options.rank = 2;
          options.loss = loss;
          options.method = method;
          options.absent = AbsentEntries::missing;
          options.iterations = 30;
          auto problem = make_gcp_problem(exec, X, options);
          auto state = gcp_start(exec, X, options);
          auto const result = gcp(exec, problem, options, state);
          CHECK(result.loss() < state.start_loss);
          double const of_model =
              sporades::loss_value(exec, X, result.model, loss, AbsentEntries::missing);
          CHECK(of_model == Approx(result.loss()).epsilon(1e-3).margin(1e-4));
          if (loss.lower_bound() == 0)
            for (auto const& A : result.model.factors)
              CHECK(!sporades::detail::has_negative(exec, A));
        }
      },
      any);
}

TEMPLATE_LIST_TEST_CASE("a snapshot of GCP continues bit for bit", "[algorithms][gcp]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  sporades::PoissonLoss const loss;
  auto const X = tensor_for<Scalar, std::uint32_t>(exec, {20, 30, 10}, 500, loss);
  GcpOptions options;
  options.rank = 5;
  options.iterations = 28;  // square roots are raised after 25
  options.tolerance = 0;
  options.tuning.history = 3;
  options.method = GENERATE(GcpMethod::lbfgs_square_roots, GcpMethod::lbfgsb);
  if (GENERATE(true, false)) options.loss = loss;
  options.non_negative = true;
  auto problem = make_gcp_problem(exec, X, options);
  auto state = gcp_start(exec, X, options);
  using State = decltype(state);
  std::vector<sporades::Snapshot> saved{snapshot(exec, state)};
  auto const whole = gcp(exec, problem, options, state, [&](auto const& now) {
    CHECK(now.iteration == state.iterations());
    CHECK(now.value == -state.history.back().loss);
    saved.push_back(snapshot(exec, state));
    return true;
  });
  REQUIRE(saved.size() == whole.history.size() + 1);
  REQUIRE(saved.size() > 9);
  CHECK(saved[9].arrays.count("step-2-1") == 1);
  CHECK(saved[9].arrays.count("step-3-1") == 0);
  for (auto const& from : saved) {
    auto again = sporades::restore<State>(exec, from);
    auto const part = gcp(exec, problem, options, again);
    CHECK(part.values == whole.values);
    CHECK(sporades::test::hash_bits(part.model.weights) ==
          sporades::test::hash_bits(whole.model.weights));
    for (int n = 0; n < 3; ++n)
      CHECK(sporades::test::hash_bits(part.model.factors[n]) ==
            sporades::test::hash_bits(whole.model.factors[n]));
  }
  auto broken = saved[5];
  broken.arrays.erase("change-1-2");
  CHECK_THROWS_WITH(sporades::restore<State>(exec, broken),
                    "gcp: the snapshot has no array change-1-2");
  broken = saved[5];
  broken.arrays.at("factor-1").pop_back();
  CHECK_THROWS_WITH(sporades::restore<State>(exec, broken),
                    ContainsSubstring("gcp: the snapshot's array factor-1 has"));
}

TEMPLATE_LIST_TEST_CASE("random starts of GCP follow the rows of X and differ by the seed",
                        "[algorithms][gcp]", sporades::test::DoubleCases) {
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = police_deaths<double>(exec);
  GcpOptions options;
  options.rank = 4;
  options.loss = sporades::PoissonLoss{};
  auto problem = make_gcp_problem(exec, X, options);
  auto state = gcp_start(exec, X, options);
  std::vector<sporades::Matrix<double, Kokkos::HostSpace>> random;
  for (auto const& A : state.factors) random.push_back(sporades::test::matrix_on_host(A));
  auto const source = sporades::detail::gcp_source(exec, problem, options);
  begin_gcp(exec, problem, options, state,
            [&](auto const& model, auto V) { return source(model, V, nullptr).value; });
  auto const entries = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  exec.fence();
  for (int n = 0; n < 3; ++n) {
    auto const roots = sporades::test::matrix_on_host(state.factors[static_cast<std::size_t>(n)]);
    std::vector<double> sums(roots.extent(0));
    for (Position p = 0; p < X.nnz(); ++p) sums[entries.coordinates(n, p)] += entries.values(p);
    auto const most =
        static_cast<std::size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin());
    for (std::size_t r = 0; r < 4; ++r) {
      auto const weight = [&](std::size_t i) {
        return roots(i, r) * roots(i, r) / random[static_cast<std::size_t>(n)](i, r);
      };
      for (std::size_t i = 0; i < sums.size(); ++i)  // what zeros take off shows in short sums
        if (sums[i] > 0.1 * sums[most])
          CHECK(weight(i) == Approx(weight(most) * sums[i] / sums[most]).epsilon(0.02));
    }
  }

  options.iterations = 1;
  std::vector<double> losses;
  for (std::uint64_t const seed : {1, 2}) {
    options.seed = seed;
    losses.push_back(gcp(exec, X, options).loss());
  }
  CHECK(std::abs(losses[0] - losses[1]) > 1e-4 * losses[0]);  // not the columns in another order
}

TEMPLATE_LIST_TEST_CASE("GCP has the same bits on any number of threads",
                        "[algorithms][gcp][threads]", sporades::test::AllCases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const counts = police_deaths<Scalar>(exec);
  auto ones = sporades::test::copy_of(exec, counts);
  Kokkos::deep_copy(ones.values, Scalar(1));
  for (auto const method : {GcpMethod::automatic, GcpMethod::lbfgsb, GcpMethod::adam})
    for (std::string const name : {"poisson", "gaussian", "bernoulli-odds", "bernoulli-logit"}) {
      bool const is_binary = name[0] == 'b';
      if (name == "bernoulli-logit" && method == GcpMethod::lbfgsb) continue;
      auto const& X = is_binary ? ones : counts;
      GcpOptions options;
      options.rank = 5;
      options.iterations = 10;
      options.method = method;
      options.loss = sporades::loss_from_name(name);
      options.tuning.epoch = 10;
      if (is_binary) options.tuning.zeros = sporades::GcpZeros::samples;
      auto const result = gcp(exec, X, options);
      std::string const what = std::string("gcp ") + name + " " + to_string(method) + " " +
                               exec.name() + (sizeof(Scalar) == 4 ? " float " : " double ");
      sporades::test::check_same_bits(what + "weights",
                                      sporades::test::hash_bits(result.model.weights));
      sporades::test::check_same_bits(what + "factor",
                                      sporades::test::hash_bits(result.model.factors[1]));
      sporades::test::check_same_bits(
          what + "values",
          sporades::test::hash_bytes(result.values.data(), result.values.size() * sizeof(double)));
    }
}

}  // namespace
