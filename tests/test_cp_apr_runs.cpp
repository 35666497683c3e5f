// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/cp_apr.hpp>
#include <support/files.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>
#include <typeinfo>

namespace {

using Catch::Matchers::ContainsSubstring;
using sporades::cp_apr;
using sporades::cp_apr_start;
using sporades::CpAprInit;
using sporades::CpAprIteration;
using sporades::CpAprMethod;
using sporades::Dims;
using sporades::PhiStrategy;
using sporades::Pi;
using sporades::StopReason;
using sporades::test::apr_options;
using sporades::test::host_ktensor;
using sporades::test::make_coo;
using sporades::test::new_instance;
using sporades::test::random_counts;

void check_equal(std::vector<CpAprIteration> const& a, std::vector<CpAprIteration> const& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    CHECK(a[k].log_likelihood == b[k].log_likelihood);
    CHECK(a[k].kkt_violation == b[k].kkt_violation);
    CHECK(a[k].inner_iterations == b[k].inner_iterations);
    CHECK(a[k].zero_model_nonzeros == b[k].zero_model_nonzeros);
    CHECK(a[k].unchanged == b[k].unchanged);
  }
}

TEMPLATE_LIST_TEST_CASE("a snapshot of CP-APR continues bit for bit", "[algorithms][cp_apr]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = random_counts<Scalar>(exec, {40, 30, 20}, 300, 3);  // sparse: zeros are raised
  auto const options = apr_options(5, 10);
  std::vector<sporades::Snapshot> saved;
  auto state = cp_apr_start<Scalar>(exec, X.dims, options);
  using State = decltype(state);
  saved.push_back(snapshot(exec, state));
  auto problem = make_cp_apr_problem(exec, X, options);
  bool marks = false;
  auto const whole = cp_apr(exec, problem, options, state, [&](auto const& now) {
    CHECK(now.value == state.history.back().log_likelihood);
    saved.push_back(snapshot(exec, state));
    for (auto const* name : {"lifts-0", "lifts-1", "lifts-2"})
      for (auto mark : saved.back().arrays.at(name)) marks = marks || mark != std::byte{0};
    return true;
  });
  CHECK(marks);
  REQUIRE(saved.size() == 11);
  for (auto const& from : saved) {
    auto again = sporades::restore<State>(exec, from);
    CHECK(again.iterations() * 6 * sizeof(double) == from.arrays.at("iterations").size());
    auto const part = cp_apr(exec, problem, options, again);
    check_equal(part.history, whole.history);
    CHECK(sporades::test::hash_bits(part.model.weights) ==
          sporades::test::hash_bits(whole.model.weights));
    for (int n = 0; n < 3; ++n)
      CHECK(sporades::test::hash_bits(sporades::detail::with_padding(part.model.factors[n])) ==
            sporades::test::hash_bits(sporades::detail::with_padding(whole.model.factors[n])));
  }
  auto many = state;  // updates of many rows
  many.history[0].inner_iterations = 5000000000;
  auto const again = sporades::restore<State>(exec, snapshot(exec, many));
  CHECK(again.history[0].inner_iterations == 5000000000);
  auto broken = saved[3];
  broken.arrays.at("factor-1").pop_back();
  CHECK_THROWS_AS(sporades::restore<State>(exec, broken), sporades::Error);
  broken = saved[3];
  broken.arrays.at("weights").pop_back();
  CHECK_THROWS_AS(sporades::restore<State>(exec, broken), sporades::Error);
  broken = saved[3];
  broken.arrays.at("lifts-2").pop_back();
  CHECK_THROWS_AS(sporades::restore<State>(exec, broken), sporades::Error);
}

TEMPLATE_LIST_TEST_CASE("a run of CP-APR stops where it should", "[algorithms][cp_apr]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = random_counts<Scalar>(exec, {20, 15, 10}, 600);
  auto options = apr_options(2, 1000, 1e-2);
  auto const converged = cp_apr(exec, X, options);
  CHECK(converged.converged);
  CHECK(converged.stop == StopReason::converged);
  auto const count = converged.history.size();
  REQUIRE(count > 3);
  CHECK(count < 1000);
  CHECK(converged.history.back().inner_iterations == 3);
  CHECK(converged.history.back().kkt_violation < 1e-2);
  auto const stopped = cp_apr(exec, X, options, [](auto const& now) { return now.iteration < 3; });
  CHECK(stopped.stop == StopReason::observer);
  CHECK(stopped.history.size() == 3);
  // A state that has converged stays as it is; with a smaller tolerance it goes on.
  auto problem = make_cp_apr_problem(exec, X, options);
  auto state = cp_apr_start<Scalar>(exec, X.dims, options);
  cp_apr(exec, problem, options, state);
  CHECK(cp_apr(exec, problem, options, state).history.size() == count);
  options.tolerance = 5e-3;
  CHECK(cp_apr(exec, problem, options, state).history.size() > count);
  auto const all = cp_apr(exec, X, apr_options(2, 7));
  CHECK(all.history.size() == 7);
  CHECK(all.stop == StopReason::iterations);
  for (auto const& iteration : all.history) CHECK(iteration.inner_iterations == 30);
}

TEMPLATE_LIST_TEST_CASE("CP-APR's kernels are timed when asked for, and run where they should",
                        "[algorithms][cp_apr]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = random_counts<Scalar>(exec, {20, 15, 10}, 300);
  auto options = apr_options(3, 4);
  options.pi = GENERATE(Pi::on_the_fly, Pi::stored);
  CHECK(cp_apr(exec, X, options).kernels.empty());
  options.time_kernels = true;
  sporades::test::check_launches(exec, [&] {
    auto const kernels = cp_apr(exec, X, options).kernels;
    REQUIRE(kernels.count("phi mode 2") == 1);
    CHECK(kernels.at("phi mode 2").calls == 40);
    CHECK(kernels.at("multiply").calls == 120);
    CHECK(kernels.at("log_likelihood").calls == 4);
    CHECK(kernels.count("pi mode 1") == (options.pi == Pi::stored ? 1 : 0));
    for (auto const& [label, time] : kernels) CHECK(time.seconds > 0);
  });
}

TEMPLATE_LIST_TEST_CASE("an iteration of CP-APR allocates nothing and copies scalars and weights",
                        "[algorithms][cp_apr]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = random_counts<Scalar>(exec, {200, 150, 100}, 6000);
  auto const options = apr_options(6, 6);
  auto problem = make_cp_apr_problem(exec, X, options);
  auto state = cp_apr_start<Scalar>(exec, X.dims, options);
  std::size_t first = 0, last = 0, first_copy = 0, last_copy = 0;
  sporades::test::Recording* recording = nullptr;
  auto const all = sporades::test::record([&] {
    recording = sporades::test::internal::current_recording;
    cp_apr(exec, problem, options, state, [&](auto const& now) {
      last = recording->allocations.size();
      last_copy = recording->copies.size();
      if (now.iteration == 1) first = last, first_copy = last_copy;
      return true;
    });
  });
  CHECK(first > 0);
  std::string allocated;
  for (std::size_t a = first; a < last; ++a) allocated += all.allocations[a] + "; ";
  INFO(allocated);
  CHECK(last == first);
  // The sums of the log-likelihood: 64 lanes, 3 modes and the weights of 8 columns.
  std::size_t const most = (64 + 4 * 8) * sizeof(double);
  for (std::size_t c = first_copy; c < last_copy; ++c) {
    auto const& copy = all.copies[c];
    INFO("copy of " << copy.from << " to " << copy.to << ", " << copy.bytes << " bytes");
    CHECK((!copy.crosses || copy.bytes <= most));
  }
}

TEMPLATE_LIST_TEST_CASE("the bytes of a problem are those of its orders of the counts, once each",
                        "[algorithms][cp_apr]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  Dims const dims{20, 10, 15};
  auto const X = sporades::sum_duplicates(exec, random_counts<Scalar>(exec, dims, 600)).tensor;
  auto options = apr_options(3, 1);
  options.method = CpAprMethod::pdnr;
  auto const rows = make_cp_apr_problem(exec, X, options);
  std::uint64_t begins = 0;
  for (auto dim : dims)
    begins += (dim + 2) * sizeof(std::uint64_t);  // I_n + 1, and 1 of no segment
  // Mode 0's order, 0 1 2, is that of the counts.
  CHECK(rows.storage_bytes() == 3 * X.storage_bytes() + begins);
  options.method = CpAprMethod::mu;
  auto const mu = make_cp_apr_problem(exec, X, options);
  CHECK(mu.storage_bytes() == X.storage_bytes() + mu.plan.storage_bytes());
}

TEMPLATE_LIST_TEST_CASE("counts too large for the precision are an error", "[algorithms][cp_apr]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const huge = std::numeric_limits<Scalar>::max() / 2;
  auto const X = copy_to(
      exec,
      make_coo<Scalar>({1, 4}, {{{0, 0}, huge}, {{0, 1}, huge}, {{0, 2}, huge}, {{0, 3}, huge}}));
  auto const options = apr_options(1, 5);
  auto problem = make_cp_apr_problem(exec, X, options);
  auto state = cp_apr_start<Scalar>(exec, X.dims, options);
  CHECK_THROWS_AS(cp_apr(exec, problem, options, state), sporades::RunError);
  CHECK(state.history.empty());
}

TEMPLATE_LIST_TEST_CASE("one seed gives one model of counts on any number of threads",
                        "[algorithms][cp_apr][threads]", sporades::test::AllCases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  auto const X = random_counts<Scalar>(exec, {3000, 200, 50}, 40000, 9, 2);
  auto options = apr_options(GENERATE(5, 16), 3);
  options.pi = GENERATE(Pi::on_the_fly, Pi::stored);
  auto const result = cp_apr(exec, X, options);
  auto const name = std::string("cp_apr ") + Exec::name() + " " + typeid(Scalar).name() + " " +
                    std::to_string(options.rank) + " " + to_string(options.pi);
  std::vector<double> values;
  for (auto const& iteration : result.history) {
    values.push_back(iteration.log_likelihood);
    values.push_back(iteration.kkt_violation);
  }
  sporades::test::check_same_bits(
      name + " values", sporades::test::hash_bytes(values.data(), values.size() * sizeof(double)));
  sporades::test::check_same_bits(name + " weights",
                                  sporades::test::hash_bits(result.model.weights));
  for (int n = 0; n < 3; ++n)
    sporades::test::check_same_bits(
        name + " factor " + std::to_string(n),
        sporades::test::hash_bits(sporades::detail::with_padding(result.model.factors[n])));
}

TEMPLATE_LIST_TEST_CASE("CP-APR refuses bad arguments", "[algorithms][cp_apr]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Limits = std::numeric_limits<Scalar>;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  Dims const dims{4, 3, 2};
  auto const X = random_counts<Scalar>(exec, dims, 30);
  auto const refuses = [&](auto const& change, std::string const& text) {
    auto options = apr_options(2, 3);
    change(options);
    CHECK_THROWS_WITH(cp_apr(exec, X, options), ContainsSubstring(text));
  };
  refuses([](auto& o) { o.rank = 0; }, "rank 0");
  refuses([](auto& o) { o.rank = 65536; }, "rank 65536");
  refuses([](auto& o) { o.iterations = 0; }, "0 iterations");
  refuses([](auto& o) { o.inner_iterations = 0; }, "0 inner iterations");
  refuses([](auto& o) { o.tolerance = -1; }, "tolerance -1");
  refuses([](auto& o) { o.tolerance = std::nan(""); }, "tolerance");
  refuses([](auto& o) { o.kappa = 0; }, "kappa 0");
  refuses([](auto& o) { o.kappa_tolerance = -1; }, "kappa tolerance -1");
  refuses([](auto& o) { o.epsilon = 0; }, "epsilon 0");
  refuses([](auto& o) { o.method = CpAprMethod::pdnr, o.epsilon = 1; }, "mu alone has");
  refuses([](auto& o) { o.method = CpAprMethod::pqnr, o.pi = Pi::stored; }, "mu alone has");
  refuses([](auto& o) { o.init = CpAprInit::given; }, "no start was given");
  refuses([](auto& o) { o.strategy = PhiStrategy::alto, o.pi = Pi::stored; }, "pi is not stored");

  auto const options = apr_options(2, 3);
  for (auto method : {CpAprMethod::mu, CpAprMethod::pqnr}) {
    auto other = options;
    other.method = method == CpAprMethod::mu ? CpAprMethod::pqnr : CpAprMethod::mu;
    auto own = options;
    own.method = method;
    auto problem = make_cp_apr_problem(exec, X, other);
    auto state = cp_apr_start<Scalar>(exec, X.dims, own);
    CHECK_THROWS_WITH(cp_apr(exec, problem, own, state),
                      ContainsSubstring("the problem was made for"));
  }
  auto const refuses_value = [&](Scalar value, std::string const& text) {
    auto const Y = sporades::test::full_tensor<Scalar>(
        exec, dims, [&](auto const& i) { return i[0] == 1 && i[1] == 2 ? value : Scalar(1); });
    CHECK_THROWS_WITH(cp_apr(exec, Y, options), ContainsSubstring(text));
  };
  refuses_value(-3, "value 10 of X (counted from 0) is -3");
  refuses_value(Limits::quiet_NaN(), "value 10 of X");
  refuses_value(Limits::infinity(), "value 10 of X (counted from 0) is inf");
  auto const zero =
      sporades::test::full_tensor<Scalar>(exec, dims, [](auto const&) { return 0.0; });
  CHECK_THROWS_WITH(cp_apr(exec, zero, options), ContainsSubstring("all counts of X are 0"));
  auto const none = sporades::detail::allocate_coo<Scalar, std::uint32_t>(exec, dims, 0);
  CHECK_THROWS_WITH(cp_apr(exec, none, options), ContainsSubstring("no nonzeros"));

  using Rows = std::vector<std::vector<std::vector<Scalar>>>;
  Rows const good{{{1, 2}, {3, 4}, {5, 6}, {7, 8}}, {{1, 0}, {0, 1}, {1, 1}}, {{1, 2}, {2, 1}}};
  auto const refuses_start = [&](auto const& change, std::string const& text) {
    auto rows = good;
    std::vector<Scalar> weights{1, 1};
    change(rows, weights);
    CHECK_THROWS_WITH(cp_apr_start(exec, dims, options, host_ktensor(weights, rows)),
                      ContainsSubstring(text));
  };
  CHECK_NOTHROW(cp_apr_start(exec, dims, options, host_ktensor<Scalar>({1, 1}, good)));
  refuses_start([](auto& A, auto&) { A[1] = {{0, 0}, {0, 0}, {0, 0}}; }, "0 everywhere");
  refuses_start([](auto& A, auto&) { A.pop_back(); }, "order 2");
  refuses_start([](auto& A, auto&) { A[2].push_back({1, 1}); }, "3 rows");
  refuses_start([](auto& A, auto&) { A[2][1][0] = Limits::quiet_NaN(); }, "mode 2 holds NaN");
  refuses_start([](auto& A, auto&) { A[0][2][1] = -1; }, "mode 0 has negative");
  refuses_start([](auto&, auto& w) { w[1] = -1; }, "weight 1 is -1");
  refuses_start([](auto&, auto& w) { w[0] = Limits::infinity(); }, "weight 0");
  refuses_start([](auto&, auto& w) { w = {0, 0}; }, "0 everywhere");
}

}  // namespace
