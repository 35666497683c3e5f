// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/definitions.hpp>
#include <sporades/algorithms/generate.hpp>
#include <sporades/kernels/memory_need.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/memory.hpp>
#include <support/same_bits.hpp>

// What plans and decompositions take where they are told how much memory they may have.

using namespace sporades;
using Catch::Matchers::ContainsSubstring;

namespace {

/// So many limits from what the options need down to the least that `fails` does not refuse.
template <class Fails>
std::vector<std::uint64_t> limits(double need, int count, Fails const& fails) {
  double low = 1, high = 1.01 * need;  // low fails, high does not
  while (high / low > 1.01) {
    double const middle = std::sqrt(low * high);
    (fails(static_cast<std::uint64_t>(middle)) ? low : high) = middle;
  }
  std::vector<std::uint64_t> all;
  for (int k = 0; k < count; ++k)
    all.push_back(
        static_cast<std::uint64_t>(1.01 * need + k / (count - 1.0) * (high - 1.01 * need)));
  return all;
}

TEMPLATE_LIST_TEST_CASE("A plan of MTTKRP takes no more than it may", "[kernels][memory]",
                        test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  using Space = typename TestType::ExecutionSpace;
  auto const exec = test::new_instance<Space>();
  auto const trial = GENERATE(from_range(test::memory_trials()));
  auto const make = [&] {
    return generate<Scalar, std::uint32_t>(exec, trial.dims, trial.nnz, trial.skew);
  };
  auto const X = make();
  MttkrpOptions options{MttkrpStrategy::automatic, trial.rank};
  auto const fails = [&](std::uint64_t limit) {
    auto with = options;
    with.memory = limit;
    try {
      sporades::detail::fit_mttkrp_plan(exec, X, with, true);
      return false;
    } catch (RunError const&) {
      return true;
    }
  };
  Factors<Scalar, Memory> A;
  for (auto dim : trial.dims) {
    auto const factor = make_matrix<Scalar>(exec, "A", dim, trial.rank);
    Kokkos::deep_copy(exec, factor, Scalar(0.5));
    A.push_back(factor);
  }
  std::size_t ways = 0;
  std::string last;
  for (auto limit : limits(memory_need(exec, X, options).peak, 10, fails)) {
    options.memory = limit;
    MttkrpPlan<Scalar, std::uint32_t, Memory> plan;
    std::vector<Matrix<Scalar, Memory>> V;
    for (auto dim : trial.dims) V.push_back(make_matrix<Scalar>(exec, "V", dim, trial.rank));
    auto const recording = test::record([&] {
      auto own = test::copy_of(exec, X);
      plan = make_mttkrp_plan(exec, hand_over(own), options);
      for (int n = 0; n < plan.order(); ++n) mttkrp(exec, plan, A, n, V[n]);
    });
    auto const& choice = plan.choices[0];
    bool const streams = sporades::detail::is_out_of_core(plan.formats, 0);
    std::string const way = describe(choice) + (streams ? ", streamed" : "");
    CAPTURE(to_string(trial.dims), limit, way, choice.reason);
    CHECK(test::peak_of<Memory>(recording) <= static_cast<double>(limit));
    if (way != last) ++ways;
    last = way;
    if (ways > 1) CHECK(choice.reason.find("may be taken") != std::string::npos);
    // The product of a plan that is asked for by name has the same bits.
    if (streams) continue;
    MttkrpOptions asked{choice.strategy, trial.rank};
    if (choice.strategy == MttkrpStrategy::fibers) asked.strategy = MttkrpStrategy::automatic;
    auto same = make_mttkrp_plan(exec, X, asked);
    auto const expected = make_matrix<Scalar>(exec, "expected", trial.dims[0], trial.rank);
    mttkrp(exec, same, A, 0, expected);
    CHECK(test::hash_bits(V[0]) == test::hash_bits(expected));
  }
  CHECK(ways > 1);
}

/// Runs one decomposition of some tensors with seven limits each. Over all, limits leave several
/// ways to compute, and some stream.
template <class ExecutionSpace, class Scalar, class Options, class Solve>
void check_limits(ExecutionSpace const& exec, std::vector<test::MemoryTrial> const& tensors,
                  Options const& options_of, Solve const& solve) {
  using Memory = typename ExecutionSpace::memory_space;
  std::size_t ways = 0, streamed = 0;
  for (auto const& trial : tensors) {
    auto const X = generate<Scalar, std::uint32_t>(exec, trial.dims, trial.nnz, trial.skew);
    auto options = options_of(trial);
    auto const fails = [&](std::uint64_t limit) {
      auto with = options;
      with.memory = limit;
      try {
        fit_memory(exec, X, with);
        return false;
      } catch (RunError const&) {
        return true;
      }
    };
    std::map<std::string, double> values;
    for (auto limit : limits(memory_need(exec, X, options).peak, 7, fails)) {
      options.memory = limit;
      auto const fit = fit_memory(exec, X, options);
      CAPTURE(to_string(trial.dims), limit, fit.note);
      streamed += fit.options.streaming.always || fit.moves_to_host ? 1 : 0;
      double value = 0;
      auto const recording = test::record([&] {
        auto own = test::copy_of(exec, X);
        value = solve(hand_over(own), options);
      });
      CHECK(test::peak_of<Memory>(recording) <= static_cast<double>(limit));
      CHECK(std::isfinite(value));
      auto const way = fit.note.substr(std::min(fit.note.size(), fit.note.find(": ")));
      auto const known = values.emplace(way, value).first;
      CHECK(known->second == value);  // the choice alone decides
    }
    ways += values.size() - 1;
  }
  CHECK(ways > 1);
  CHECK(streamed > 0);
}

TEMPLATE_LIST_TEST_CASE("A decomposition takes no more than it may", "[algorithms][memory]",
                        test::DoubleCases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = test::new_instance<typename TestType::ExecutionSpace>();
  using Space = std::decay_t<decltype(exec)>;
  std::vector<test::MemoryTrial> const tensors{{{1000, 800, 600}, 250000, 0.8, 16},
                                               {{50, 60, 70, 80}, 200000, 0.3, 8},
                                               {{64, 64, 64, 64, 64}, 200000, 0, 24}};
  SECTION("CP-ALS") {
    check_limits<Space, Scalar>(
        exec, tensors,
        [](test::MemoryTrial const& trial) {
          CpAlsOptions options;
          options.rank = trial.rank;
          options.iterations = 2;
          options.init = CpAlsInit::automatic;
          return options;
        },
        [&](auto X, CpAlsOptions const& options) {
          return cp_als(exec, hand_over(X), options).fit();
        });
  }
  SECTION("CP-ALS of missing entries") {
    check_limits<Space, Scalar>(
        exec, {{{1000, 800, 600}, 150000, 0.8, 16}},
        [](test::MemoryTrial const& trial) {
          CpAlsOptions options;
          options.rank = trial.rank / 4;  // systems of rows take room of the rank's square
          options.iterations = 2;
          options.absent = AbsentEntries::missing;
          return options;
        },
        [&](auto X, CpAlsOptions const& options) {
          return cp_als(exec, hand_over(X), options).fit();
        });
  }
  SECTION("CP-APR") {
    check_limits<Space, Scalar>(
        exec, tensors,
        [](test::MemoryTrial const& trial) {
          CpAprOptions options;
          options.rank = trial.rank;
          options.iterations = 1;
          options.inner_iterations = 2;
          options.method = CpAprMethod::mu;
          return options;
        },
        [&](auto X, CpAprOptions const& options) {
          return cp_apr(exec, hand_over(X), options).log_likelihood();
        });
  }
  SECTION("Tucker") {
    check_limits<Space, Scalar>(
        exec, tensors,
        [](test::MemoryTrial const& trial) {
          TuckerOptions options;
          options.ranks.assign(trial.dims.size(), 4);
          options.iterations = 1;
          return options;
        },
        [&](auto X, TuckerOptions const& options) {
          return tucker(exec, hand_over(X), options).fit();
        });
  }
  SECTION("Tucker by semi-sparse products") {
    check_limits<Space, Scalar>(
        exec, {tensors[0], tensors[1]},
        [](test::MemoryTrial const& trial) {
          TuckerOptions options;
          options.ranks.assign(trial.dims.size(), 2);
          options.strategy = TtmChainStrategy::semi_sparse;
          options.iterations = 1;
          return options;
        },
        [&](auto X, TuckerOptions const& options) {
          return tucker(exec, hand_over(X), options).fit();
        });
  }
}

TEMPLATE_LIST_TEST_CASE("Too little memory is refused with the least that would do",
                        "[algorithms][memory]", test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = test::new_instance<typename TestType::ExecutionSpace>();
  auto const X = generate<Scalar, std::uint32_t>(exec, {300, 200, 100}, 50000, 0.5);
  MttkrpOptions products;
  products.memory = 1000;
  REQUIRE_THROWS_WITH(
      make_mttkrp_plan(exec, X, products),
      ContainsSubstring("of memory at least, 1") && ContainsSubstring("may be taken"));
  CpAlsOptions options;
  options.init = CpAlsInit::random;
  options.memory = 1000;
  REQUIRE_THROWS_WITH(cp_als(exec, X, options),
                      ContainsSubstring("of memory at least") && ContainsSubstring("may be taken"));
  options.memory = 0;
  CHECK(fit_memory(exec, X, options).note.empty());
  CHECK(fit_memory(exec, X, options).options.strategy == MttkrpStrategy::automatic);
}

TEMPLATE_LIST_TEST_CASE("Limits go with what else is asked for", "[algorithms][memory]",
                        test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  auto const exec = test::new_instance<typename TestType::ExecutionSpace>();
  auto const make = [&] {
    return generate<Scalar, std::uint32_t>(exec, {300, 200, 100}, 50000, 0.5);
  };
  auto const X = make();
  double const given = static_cast<double>(X.storage_bytes());
  MttkrpOptions options{MttkrpStrategy::automatic, 16};
  // An X that is kept counts beside the plan.
  double const handed = memory_need(exec, X, options).peak;
  options.memory = static_cast<std::uint64_t>(handed);
  auto const recording = test::record([&] { make_mttkrp_plan(exec, X, options); });
  CHECK(given + test::peak_of<Memory>(recording) <= handed);
  // FLYCOO adds nothing atomically; sums along a curve are not sorted by parts.
  options.rows.atomic_flush = true;
  for (double share : {0.9, 0.7, 0.5, 0.3}) {
    options.memory = static_cast<std::uint64_t>(share * handed);
    try {
      auto const plan = make_mttkrp_plan(exec, X, options);
      CHECK(plan.choices[0].strategy != MttkrpStrategy::flycoo);
    } catch (RunError const&) {
    }
  }
  options.rows.atomic_flush = false;
  options.rows.order = RowOrder::morton;
  for (double share : {1.0, 0.7, 0.4}) {
    options.memory = static_cast<std::uint64_t>(share * memory_need(exec, X, options).peak);
    try {
      auto const plan_recording = test::record([&] {
        auto own = test::copy_of(exec, X);
        make_mttkrp_plan(exec, hand_over(own), options);
      });
      CHECK(test::peak_of<Memory>(plan_recording) <= static_cast<double>(options.memory));
    } catch (RunError const&) {
    }
  }
  // Streaming by hand is not made lighter: it fits or not.
  CpAlsOptions als;
  als.init = CpAlsInit::random;
  als.streaming.always = true;
  als.streaming.memory = 1 << 20;
  als.memory = 1 << 20;
  CHECK_THROWS_WITH(cp_als(exec, X, als), ContainsSubstring("may be taken"));
  als.memory = 100 << 20;
  als.iterations = 1;
  CHECK(std::isfinite(cp_als(exec, X, als).fit()));
  // An empty tensor is refused as without limits.
  CooTensor<Scalar, std::uint32_t, Memory> const none;
  CHECK_THROWS_WITH(cp_als(exec, none, als), ContainsSubstring("has no nonzeros"));
  CHECK_THROWS_WITH(memory_need(exec, none, als), ContainsSubstring("has no nonzeros"));
}

/// The bytes that a refusal names.
double named_bytes(std::string const& text) {
  auto const at = text.find("needs ");
  REQUIRE(at != std::string::npos);
  std::size_t length = 0;
  double const number = std::stod(text.substr(at + 6), &length);
  auto const unit = text.substr(at + 6 + length, 3);
  return number * (unit == " kB" ? 1e3 : unit == " MB" ? 1e6 : 1);
}

/// solve(X, options) with a limit of 1000 bytes, then with the least that it names.
template <class ExecutionSpace, class Scalar, class Options, class Solve>
void check_least_named(ExecutionSpace const& exec, test::MemoryTrial const& trial, Options options,
                       Solve const& solve) {
  using Memory = typename ExecutionSpace::memory_space;
  auto const X = generate<Scalar, std::uint32_t>(exec, trial.dims, trial.nnz, trial.skew);
  options.iterations = 1;
  options.memory = 1000;
  std::string text;
  try {
    solve(test::copy_of(exec, X), options);
  } catch (RunError const& error) {
    text = error.what();
  }
  options.memory = static_cast<std::uint64_t>(named_bytes(text) + 0.5);
  CAPTURE(text, to_string(trial.dims));
  auto const recording = test::record([&] {
    auto own = test::copy_of(exec, X);
    CHECK(std::isfinite(solve(hand_over(own), options)));
  });
  CHECK(test::peak_of<Memory>(recording) <= static_cast<double>(options.memory));
}

TEMPLATE_LIST_TEST_CASE("The least memory that a refusal names suffices", "[algorithms][memory]",
                        test::DoubleCases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = test::new_instance<typename TestType::ExecutionSpace>();
  using Space = std::decay_t<decltype(exec)>;
  auto const trial =
      GENERATE(test::MemoryTrial{{50, 40, 30}, 5000, 0, 5}, test::MemoryTrial{{9, 8}, 30, 0, 2},
               test::MemoryTrial{{200, 300, 20, 10}, 60000, 0.5, 8});
  CpAlsOptions als;
  als.rank = trial.rank;
  als.init = GENERATE(CpAlsInit::random, CpAlsInit::hosvd, CpAlsInit::automatic);
  check_least_named<Space, Scalar>(exec, trial, als, [&](auto X, CpAlsOptions const& options) {
    return cp_als(exec, hand_over(X), options).fit();
  });
  if (als.init != CpAlsInit::random) return;
  for (auto method : {CpAprMethod::mu, CpAprMethod::pdnr, CpAprMethod::pqnr}) {
    CpAprOptions apr;
    apr.rank = trial.rank;
    apr.inner_iterations = 1;
    apr.method = method;
    CAPTURE(to_string(method));
    check_least_named<Space, Scalar>(exec, trial, apr, [&](auto X, CpAprOptions const& options) {
      return cp_apr(exec, hand_over(X), options).log_likelihood();
    });
  }
  for (auto strategy : {TtmChainStrategy::automatic, TtmChainStrategy::semi_sparse,
                        TtmChainStrategy::csf, TtmChainStrategy::fused}) {
    TuckerOptions hooi;
    hooi.ranks.assign(trial.dims.size(), 2);
    hooi.strategy = strategy;
    CAPTURE(to_string(strategy));
    check_least_named<Space, Scalar>(exec, trial, hooi, [&](auto X, TuckerOptions const& options) {
      return tucker(exec, hand_over(X), options).fit();
    });
  }
}

TEMPLATE_LIST_TEST_CASE("HOOI does without partial products where memory is short",
                        "[algorithms][memory]", test::DoubleCases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  auto const exec = test::new_instance<typename TestType::ExecutionSpace>();
  using Space = std::decay_t<decltype(exec)>;
  auto const X = generate<Scalar, std::uint32_t>(exec, {9, 700, 800}, 60000, 0.5);
  TuckerOptions options;
  options.ranks = {9, 40, 50};
  options.iterations = 1;
  auto fused = options;
  fused.strategy = TtmChainStrategy::fused;
  auto const need = [&](TuckerOptions const& with) {
    return sporades::detail::in_all<Space>(memory_need(exec, X, with));
  };
  if (sporades::detail::is_gpu<Space>) return;  // fused takes more of this tensor there
  REQUIRE(need(fused) < 0.97 * need(options));
  options.memory = static_cast<std::uint64_t>(0.5 * (need(fused) + need(options)));
  auto const fit = fit_memory(exec, X, options);
  CHECK(fit.options.strategy == TtmChainStrategy::fused);
  CHECK_FALSE((fit.options.streaming.always || fit.moves_to_host));
  CHECK_THAT(fit.note, ContainsSubstring("no partial products (strategy fused)"));
  double value = 0;
  auto const recording = test::record([&] {
    auto own = test::copy_of(exec, X);
    value = tucker(exec, hand_over(own), options).fit();
  });
  CHECK(test::peak_of<Memory>(recording) <= static_cast<double>(options.memory));
  CHECK(value == tucker(exec, X, fused).fit());
}

}  // namespace
