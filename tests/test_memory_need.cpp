// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/cp_apr.hpp>
#include <sporades/algorithms/generate.hpp>
#include <sporades/algorithms/tucker.hpp>
#include <sporades/core/detail/far_memory.hpp>
#include <sporades/kernels/memory_need.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/linear_order.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>

// Bytes of plans before they are built, and what plans and decompositions take less memory by.

using namespace sporades;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Trial {
  Dims dims;
  Position nnz;
  double skew;
  int rank;
};

std::vector<Trial> trials() {
  return {{{1000, 800, 600}, 100000, 0.8, 16},   {{200, 150, 100}, 300000, 0, 5},
          {{50, 60, 70, 80}, 200000, 0.3, 33},   {{20000, 30000, 10}, 150000, 0.5, 12},
          {{64, 64, 64, 64, 64}, 200000, 0, 48}, {{300000, 200, 100}, 100000, 0.5, 1},
          {{500, 700}, 100000, 0.2, 20},         {{8, 9, 10, 11, 12, 13, 14}, 100000, 0, 100}};
}

template <class MemorySpace>
double peak_of(test::Recording const& recording) {
  auto const found = recording.bytes.find(MemorySpace::name());
  return found == recording.bytes.end() ? 0 : found->second.peak;
}

/// Tests that a plan of that need takes no more than was counted, and hardly less.
/// given: bytes of X.
template <class MemorySpace>
void check_plan(MemoryNeed const& need, double given, double stored,
                test::Recording const& recording, double most = 1.1) {
  double const peak = given + peak_of<MemorySpace>(recording);
  INFO("counted " << need.peak << ", held " << peak << "; kept " << need.kept << " of " << stored);
  CHECK(need.peak >= peak);
  CHECK(need.peak <= most * peak + 20000);
  CHECK(need.kept >= stored);
  CHECK(need.kept <= most * stored + 20000);
}

TEMPLATE_LIST_TEST_CASE("memory_need counts what plans of MTTKRP take", "[kernels][memory]",
                        test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  auto const exec = test::new_instance<typename TestType::ExecutionSpace>();
  auto const trial = GENERATE(from_range(trials()));
  auto const strategy =
      GENERATE(MttkrpStrategy::automatic, MttkrpStrategy::sorted, MttkrpStrategy::flycoo,
               MttkrpStrategy::csf, MttkrpStrategy::permuted, MttkrpStrategy::alto_atomic);
  auto X = generate<Scalar, std::uint32_t>(exec, trial.dims, trial.nnz, trial.skew);
  CAPTURE(to_string(trial.dims), trial.nnz, trial.rank, to_string(strategy));
  MttkrpOptions const options{strategy, trial.rank};
  auto const need = memory_need(exec, X, options);
  MttkrpPlan<Scalar, std::uint32_t, Memory> plan;
  auto const recording = test::record([&] {
    auto own = test::copy_of(exec, X);
    plan = make_mttkrp_plan(exec, hand_over(own), options);
  });
  // Buffer rows of a linear order depend on the nonzeros: their bound is counted.
  bool const is_linear = plan.alto.order() > 0;
  check_plan<Memory>(need, 0, static_cast<double>(plan.storage_bytes()), recording,
                     is_linear ? 2.5 : 1.1);
}

TEMPLATE_LIST_TEST_CASE("memory_need counts what other plans take", "[kernels][memory]",
                        test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  auto const exec = test::new_instance<typename TestType::ExecutionSpace>();
  auto const trial = GENERATE(from_range(trials()));
  auto X = generate<Scalar, std::uint32_t>(exec, trial.dims, trial.nnz, trial.skew);
  CAPTURE(to_string(trial.dims), trial.nnz, trial.rank);
  double const given = static_cast<double>(X.storage_bytes());
  auto const check = [&](MemoryNeed const& need, double most, auto const& make) {
    double stored = 0;
    auto const recording = test::record([&] {
      auto own = test::copy_of(exec, X);
      stored = static_cast<double>(make(own));
    });
    check_plan<Memory>(need, 0, stored, recording, most);
  };
  // Such a plan may share Views with X: what it adds is counted.
  auto const check_beside = [&](MemoryNeed const& need, double most, auto const& make) {
    decltype(make()) plan;
    auto const recording = test::record([&] { plan = make(); });
    check_plan<Memory>(need, given, recording.bytes.at(Memory::name()).held, recording, most);
  };
  PhiOptions const phi{PhiStrategy::pull, trial.rank};
  check_beside(memory_need(exec, X, phi), 1.1, [&] { return make_phi_plan(exec, X, phi); });
  PhiOptions const stored{PhiStrategy::pull, trial.rank, Pi::stored};
  check_beside(memory_need(exec, X, stored), 1.1, [&] { return make_phi_plan(exec, X, stored); });
  for (auto strategy : {PhiStrategy::coo_alto_atomic, PhiStrategy::coo_alto_pull}) {
    if (test::is_refused(exec, X, strategy)) continue;
    CAPTURE(to_string(strategy));
    PhiOptions const in_parts{strategy, trial.rank};
    check_beside(memory_need(exec, X, in_parts),
                 strategy == PhiStrategy::coo_alto_pull ? 2.5 : 1.1,  // the bound of buffer rows
                 [&] { return make_phi_plan(exec, X, in_parts); });
  }
  SpttmOptions spttm;
  spttm.rank = trial.rank;
  check_beside(memory_need(exec, X, spttm), 1.6, [&] { return make_spttm_plan(exec, X, spttm); });
  for (auto strategy : {SptvStrategy::hocoo, SptvStrategy::hocsr, SptvStrategy::cfb,
                        SptvStrategy::hocfs, SptvStrategy::automatic}) {
    double rows = 1;
    for (auto dim : trial.dims) rows *= static_cast<double>(dim);
    if (strategy == SptvStrategy::hocsr && rows / static_cast<double>(trial.dims[1]) > 1e7)
      continue;
    CAPTURE(to_string(strategy));
    SptvOptions const sptv{strategy, HocfsSlices::automatic};
    check_beside(memory_need(exec, X, 1, sptv), 1.15,
                 [&] { return make_sptv_plan(exec, X, 1, sptv); });
  }
  if (trial.dims.size() > 2 && trial.rank < 50) {
    auto plan = make_spttm_plan(exec, X, spttm);
    auto const Y = make_spttm_output(exec, plan, 0, 5);
    SspttmOptions sspttm;
    sspttm.rank = 4;
    for (int n : {1, 2}) {
      CAPTURE(n);
      auto const need = memory_need(exec, Y, n, sspttm);
      decltype(make_sspttm_plan(exec, Y, n, sspttm)) product;
      auto const recording = test::record([&] { product = make_sspttm_plan(exec, Y, n, sspttm); });
      check_plan<Memory>(need, static_cast<double>(Y.coordinates.size() * sizeof(std::uint32_t)),
                         recording.bytes.at(Memory::name()).held, recording, 2);
    }
  }
  int const R = trial.dims.size() < 4 ? 6 : trial.dims.size() < 6 ? 4 : 2;
  std::vector<int> const ranks(trial.dims.size(), R);
  for (auto strategy :
       {TtmChainStrategy::semi_sparse, TtmChainStrategy::csf, TtmChainStrategy::fused}) {
    if (trial.dims.size() < 3) continue;
    CAPTURE(to_string(strategy));
    TtmChainOptions const chain{strategy, 0, {}};
    check(memory_need(exec, X, ranks, chain), 1.15, [&](auto& own) {
      return make_ttm_chain_plan(exec, hand_over(own), ranks, chain).storage_bytes();
    });
  }
  if (trial.dims.size() < 4) return;
  MttkrpAllModesOptions const all{{MttkrpStrategy::automatic, trial.rank}};
  auto const need = memory_need(exec, X, all);
  check(need, 2.5, [&](auto& own) {  // of a linear order its bound is counted
    return make_mttkrp_all_modes_plan(exec, hand_over(own), all).storage_bytes();
  });
}

/// Ten limits from what the options need down to the least that `fails` does not refuse.
template <class Fails>
std::vector<std::uint64_t> limits(double need, Fails const& fails) {
  double low = 1, high = 1.01 * need;  // low fails, high does not
  while (high / low > 1.01) {
    double const middle = std::sqrt(low * high);
    (fails(static_cast<std::uint64_t>(middle)) ? low : high) = middle;
  }
  std::vector<std::uint64_t> all;
  for (int k = 0; k < 10; ++k)
    all.push_back(static_cast<std::uint64_t>(1.01 * need + k / 9.0 * (high - 1.01 * need)));
  return all;
}

TEMPLATE_LIST_TEST_CASE("A plan of MTTKRP takes no more than it may", "[kernels][memory]",
                        test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  using Space = typename TestType::ExecutionSpace;
  auto const exec = test::new_instance<Space>();
  auto const trial = GENERATE(from_range(trials()));
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
  for (auto limit : limits(memory_need(exec, X, options).peak, fails)) {
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
    bool const streams = plan.packed[0].far != nullptr;
    std::string const way = describe(choice) + (streams ? ", streamed" : "");
    CAPTURE(to_string(trial.dims), limit, way, choice.reason);
    CHECK(peak_of<Memory>(recording) <= static_cast<double>(limit));
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

/// Runs one decomposition of some tensors with ten limits each. Over all, limits leave several ways
/// to compute, and some stream.
template <class ExecutionSpace, class Scalar, class Options, class Solve>
void check_limits(ExecutionSpace const& exec, std::vector<Trial> const& tensors,
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
    for (auto limit : limits(memory_need(exec, X, options).peak, fails)) {
      options.memory = limit;
      auto const fit = fit_memory(exec, X, options);
      CAPTURE(to_string(trial.dims), limit, fit.note);
      streamed += fit.options.streaming.always ? 1 : 0;
      double value = 0;
      auto const recording = test::record([&] {
        auto own = test::copy_of(exec, X);
        value = solve(hand_over(own), options);
      });
      CHECK(peak_of<Memory>(recording) <= static_cast<double>(limit));
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
  std::vector<Trial> const tensors{{{1000, 800, 600}, 400000, 0.8, 16},
                                   {{50, 60, 70, 80}, 200000, 0.3, 8},
                                   {{64, 64, 64, 64, 64}, 200000, 0, 24}};
  SECTION("CP-ALS") {
    check_limits<Space, Scalar>(
        exec, tensors,
        [](Trial const& trial) {
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
  SECTION("CP-APR") {
    check_limits<Space, Scalar>(
        exec, tensors,
        [](Trial const& trial) {
          CpAprOptions options;
          options.rank = trial.rank;
          options.iterations = 1;
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
        [](Trial const& trial) {
          TuckerOptions options;
          options.ranks.assign(trial.dims.size(), 4);
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
  CHECK(given + peak_of<Memory>(recording) <= handed);
  // FLYCOO adds nothing atomically; sums along a curve are not sorted by parts.
  options.atomic_flush = true;
  for (double share : {0.9, 0.7, 0.5, 0.3}) {
    options.memory = static_cast<std::uint64_t>(share * handed);
    try {
      auto const plan = make_mttkrp_plan(exec, X, options);
      CHECK(plan.choices[0].strategy != MttkrpStrategy::flycoo);
    } catch (RunError const&) {
    }
  }
  options.atomic_flush = false;
  options.order = RowOrder::morton;
  for (double share : {1.0, 0.7, 0.4}) {
    options.memory = static_cast<std::uint64_t>(share * memory_need(exec, X, options).peak);
    try {
      auto const plan_recording = test::record([&] {
        auto own = test::copy_of(exec, X);
        make_mttkrp_plan(exec, hand_over(own), options);
      });
      CHECK(peak_of<Memory>(plan_recording) <= static_cast<double>(options.memory));
    } catch (RunError const&) {
    }
  }
  // Streaming by hand is not made lighter: it fits or not.
  CpAlsOptions als;
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
  // The least that is named does.
  als = {};
  als.memory = 1000;
  std::string text;
  try {
    cp_als(exec, X, als);
  } catch (RunError const& error) {
    text = error.what();
  }
  auto const at = text.find("needs ");
  REQUIRE(at != std::string::npos);
  double const number = std::stod(text.substr(at + 6));
  double const unit = text.find(" kB of memory") != std::string::npos ? 1e3 : 1e6;
  als.memory = static_cast<std::uint64_t>(number * unit + 0.5);
  als.iterations = 1;
  INFO(text);
  CHECK(std::isfinite(cp_als(exec, make(), als).fit()));
}

}  // namespace
