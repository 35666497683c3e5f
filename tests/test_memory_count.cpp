// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/definitions.hpp>
#include <sporades/algorithms/generate.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/memory.hpp>

using namespace sporades;

namespace {

/// Tests that what a method was said to need is never less than it held, and hardly more.
/// before: bytes that it was given. `most`: what may be counted for a byte that was held.
template <class MemorySpace>
void check_need(MemoryNeed const& need, double before, test::Recording const& recording,
                double most = test::most_counted) {
  double const peak = test::peak_of<MemorySpace>(recording);
  REQUIRE(peak > 0);
  double const held = before + peak;
  INFO("counted " << sporades::detail::bytes_text(need.peak) << ", held "
                  << sporades::detail::bytes_text(held));
  CHECK(need.peak >= held);
  CHECK(need.peak <= most * held);
}

/// Kokkos' own memory, of the instances that copy windows on a GPU: it is not recorded.
template <class ExecutionSpace>
double instances_bytes(Streaming const& streaming) {
  return static_cast<double>(streaming.streams) *
         static_cast<double>(sporades::detail::instance_bytes<ExecutionSpace>);
}

TEMPLATE_LIST_TEST_CASE("memory_need counts what CP-ALS holds", "[algorithms][memory]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  auto const exec = test::new_instance<typename TestType::ExecutionSpace>();
  auto const trial = GENERATE(from_range(test::memory_trials()));
  auto const init = GENERATE(CpAlsInit::random, CpAlsInit::hosvd, CpAlsInit::automatic);
  auto const strategy = GENERATE(MttkrpStrategy::automatic, MttkrpStrategy::flycoo);
  CAPTURE(to_string(trial.dims), trial.nnz, trial.rank, static_cast<int>(init));
  CAPTURE(to_string(strategy));
  int const starts = GENERATE(1, 2);
  auto const absent = GENERATE(AbsentEntries::zero, AbsentEntries::missing);
  CAPTURE(starts, to_string(absent));
  if (absent == AbsentEntries::missing &&
      (strategy != MttkrpStrategy::automatic || trial.rank > 16 || init == CpAlsInit::hosvd))
    return;
  if (init != CpAlsInit::random && (trial.rank > 16 || strategy != MttkrpStrategy::automatic))
    return;
  if (starts > 1 && (init != CpAlsInit::random || trial.rank > 16)) return;
  // Singular vectors of many rows that are alike converge slowly; a race takes the first steps
  // only.
  if (init == CpAlsInit::hosvd && trial.dims[0] > 20000 && trial.dims[1] > 20000) return;
  auto X = generate<Scalar, std::uint32_t>(exec, trial.dims, trial.nnz, trial.skew);
  CpAlsOptions options;
  options.rank = trial.rank;
  options.iterations = 1;
  options.init = init;
  options.starts = starts;
  options.strategy = strategy;
  options.absent = absent;
  // A best iterate that is not the last is held by few runs, which a regularized one never does.
  auto const with_best = memory_need(exec, X, options);
  options.regularization = 1e-9;
  auto const need = memory_need(exec, X, options);
  bool const races = sporades::detail::has_cp_als_race(options, X.order(), X.nnz());
  auto const recording = test::record([&] {
    auto own = test::copy_of(exec, X);
    sporades::detail::Starts<CpAlsState<Scalar, Memory>> starts;
    starts.state = cp_als_start(exec, own, options);
    auto problem = make_cp_als_problem(exec, hand_over(own), options);
    if (races) sporades::detail::cp_als_race(exec, problem, options, starts.state);
    sporades::detail::run_from_starts(exec, problem, options, starts);
  });
  check_need<Memory>(need, 0, recording);
  double const factors = sporades::detail::factors_bytes<Scalar>(X.dims, options.rank);
  CHECK(with_best.kept - need.kept ==
        Approx((1 + (races ? 1 : 0) + (starts > 1 ? 1 : 0)) * factors));
  CHECK(with_best.peak >= with_best.kept);
}

TEMPLATE_LIST_TEST_CASE("memory_need counts what CP-APR holds", "[algorithms][memory]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  auto const exec = test::new_instance<typename TestType::ExecutionSpace>();
  auto const trial = GENERATE(from_range(test::memory_trials()));
  auto const method = GENERATE(CpAprMethod::mu, CpAprMethod::pdnr, CpAprMethod::pqnr);
  CAPTURE(to_string(trial.dims), trial.nnz, trial.rank, to_string(method));
  int const starts = GENERATE(1, 2);
  CAPTURE(starts);
  if ((method != CpAprMethod::mu || starts > 1) && trial.rank > 16) return;  // they take long
  auto X = generate<Scalar, std::uint32_t>(exec, trial.dims, trial.nnz, trial.skew);
  CpAprOptions options;
  options.rank = trial.rank;
  options.iterations = 1;
  options.inner_iterations = 1;
  options.starts = starts;
  options.method = method;
  auto const need = memory_need(exec, X, options);
  double const before = static_cast<double>(X.storage_bytes());
  auto const recording = test::record([&] {
    sporades::detail::Starts<CpAprState<Scalar, Memory>> starts_of_run;
    starts_of_run.state = cp_apr_start<Scalar>(exec, X.dims, options);
    auto problem = make_cp_apr_problem(exec, hand_over(X), options);
    sporades::detail::run_from_starts(exec, problem, options, starts_of_run, {});
  });
  check_need<Memory>(need, before, recording);
}

TEMPLATE_LIST_TEST_CASE("streamed_need counts what a streamed CP-APR holds", "[algorithms][memory]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  auto const exec = test::new_instance<typename TestType::ExecutionSpace>();
  auto const trial = GENERATE(from_range(test::memory_trials()));
  auto const method = GENERATE(CpAprMethod::mu, CpAprMethod::pdnr, CpAprMethod::pqnr);
  CAPTURE(to_string(trial.dims), trial.nnz, trial.rank, to_string(method));
  if (method != CpAprMethod::mu && (trial.rank > 16 || trial.nnz > 150000)) return;  // take long
  Kokkos::DefaultHostExecutionSpace const host{};
  auto X = generate<Scalar, std::uint32_t>(host, trial.dims, trial.nnz, trial.skew);
  CpAprOptions options;
  options.rank = trial.rank;
  options.iterations = 1;
  options.inner_iterations = 1;
  options.method = method;
  if (method == CpAprMethod::mu) options.strategy = PhiStrategy::pull;
  options.streaming.memory = 1 << 20;
  auto need = test::streamed_need(exec, X, options);
  need.peak += static_cast<double>(options.streaming.memory);
  auto state = cp_apr_start<Scalar>(exec, trial.dims, options);
  auto problem = make_cp_apr_problem(exec, hand_over(X), options);
  REQUIRE(problem.out_of_core);
  auto const& products = problem.plan.products;
  double before = static_cast<double>(products.work.carry.bytes()) +
                  instances_bytes<typename TestType::ExecutionSpace>(options.streaming);
  for (int n = 0; n < products.formats.modes(); ++n) {
    auto const& packed = *products.formats.template as<PackedTensor>(n);
    before += static_cast<double>(packed.rows.extent(0) * sizeof(std::uint32_t) +
                                  packed.marks.extent(0) * sizeof(Position));
  }
  for (auto const& rows : problem.rows) before += static_cast<double>(rows.storage_bytes());
  for (std::size_t n = 0; n < trial.dims.size(); ++n)
    before += static_cast<double>(state.factors[n].span() * sizeof(Scalar) +
                                  state.zero_marks[n].extent(0));
  auto const recording = test::record([&] { cp_apr(exec, problem, options, state); });
  // Windows need not fill the limit, and on a GPU as many rows count as long as there may be.
  bool const counts_long_rows =
      sporades::detail::is_gpu<typename TestType::ExecutionSpace> && method != CpAprMethod::mu;
  check_need<Memory>(need, before, recording, counts_long_rows ? 1.5 : test::most_counted);
}

TEMPLATE_LIST_TEST_CASE("What a streamed HOOI holds is counted", "[algorithms][memory]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  auto const exec = test::new_instance<typename TestType::ExecutionSpace>();
  auto const trial = GENERATE(from_range(test::memory_trials()));
  auto const strategy = GENERATE(TtmChainStrategy::automatic, TtmChainStrategy::semi_sparse);
  CAPTURE(to_string(trial.dims), trial.nnz, to_string(strategy));
  Kokkos::DefaultHostExecutionSpace const host{};
  auto X = generate<Scalar, std::uint32_t>(host, trial.dims, trial.nnz, trial.skew);
  TuckerOptions options;
  int const rank = trial.dims.size() < 4 ? 6 : trial.dims.size() < 6 ? 4 : 2;
  options.ranks.assign(trial.dims.size(), rank);
  options.iterations = 2;
  options.strategy = strategy;
  options.streaming.memory = 1 << 18;
  options.streaming.always = true;
  auto need = test::streamed_need(exec, X, options);
  need.peak += static_cast<double>(options.streaming.memory);
  auto const recording = test::record([&] {
    sporades::detail::Starts<TuckerState<Scalar, Memory>> starts;
    starts.state = tucker_start(
        exec, CooTensor<Scalar, std::uint32_t, Memory>{trial.dims, {}, {}, {}}, options);
    auto problem = make_tucker_problem(exec, X, options);  // which is not recorded, as if in files
    REQUIRE(sporades::detail::is_out_of_core(problem.chain.formats, 0));
    sporades::detail::run_from_starts(exec, problem, options, starts);
  });
  // Windows need not fill the limit, and rows may be empty.
  check_need<Memory>(need, instances_bytes<typename TestType::ExecutionSpace>(options.streaming),
                     recording, 1.5);
}

/// HOOI of an X that is handed over.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void check_hooi(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace>& X,
                TuckerOptions const& options) {
  auto const need = memory_need(exec, X, options);
  double const before = static_cast<double>(X.storage_bytes());
  auto const recording = test::record([&] {
    sporades::detail::Starts<TuckerState<Scalar, MemorySpace>> starts;
    starts.state = tucker_start(exec, X, options);
    auto problem = make_tucker_problem(exec, hand_over(X), options);
    sporades::detail::run_from_starts(exec, problem, options, starts);
  });
  check_need<MemorySpace>(need, before, recording);
}

TEMPLATE_LIST_TEST_CASE("memory_need counts what HOOI holds", "[algorithms][memory]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = test::new_instance<typename TestType::ExecutionSpace>();
  auto const trial = GENERATE(from_range(test::memory_trials()));
  CAPTURE(to_string(trial.dims), trial.nnz);
  auto X = generate<Scalar, std::uint32_t>(exec, trial.dims, trial.nnz, trial.skew);
  TuckerOptions options;
  int const rank = trial.dims.size() < 4 ? 6 : trial.dims.size() < 6 ? 4 : 2;
  options.ranks.assign(trial.dims.size(), rank);
  options.iterations = 2;
  check_hooi(exec, X, options);
}

TEMPLATE_LIST_TEST_CASE("memory_need counts what HOOI with direct SVDs holds",
                        "[algorithms][memory]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = test::new_instance<typename TestType::ExecutionSpace>();
  // Where the unfoldings are most of it: tall, wide and narrow ones.
  auto const dims = GENERATE(Dims{1500, 90, 80}, Dims{60, 70, 50});
  auto X = generate<Scalar, std::uint32_t>(exec, dims, 30000, 0.5);
  TuckerOptions options;
  options.ranks = {5, 20, 24};
  options.iterations = 2;
  options.singular_vectors = SingularVectorMethod::svd;
  check_hooi(exec, X, options);
}

TEMPLATE_LIST_TEST_CASE("memory_need counts what HOOI of many columns holds",
                        "[algorithms][memory]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = test::new_instance<typename TestType::ExecutionSpace>();
  auto const strategy =
      GENERATE(TtmChainStrategy::semi_sparse, TtmChainStrategy::csf, TtmChainStrategy::fused);
  CAPTURE(to_string(strategy));
  // Short modes have products of many columns, and long ones of many fibers.
  auto X = generate<Scalar, std::uint32_t>(exec, {9, 700, 800}, 60000, 0.5);
  TuckerOptions options;
  options.ranks = {9, 40, 50};
  options.iterations = 2;
  options.strategy = strategy;
  check_hooi(exec, X, options);
}

}  // namespace
