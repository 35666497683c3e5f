// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <support/backends.hpp>
#include <support/files.hpp>
#include <support/same_bits.hpp>
#include <support/streaming.hpp>
#include <support/tucker.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

struct ChainProblem {
  Dims dims;
  Position nnz;
  double skew;
  std::vector<int> ranks;
};

std::vector<ChainProblem> problems() {
  return {{{5}, 9, 1, {1}},
          {{7, 4}, 20, 1, {3, 2}},
          {{2000, 3000}, 20000, 2, {5, 17}},
          {{2, 300, 200}, 9000, 1, {2, 8, 8}},     // two rows: every window's edge cuts a row
          {{500, 400, 300}, 6000, 6, {3, 33, 5}},  // one row has most nonzeros; many are empty
          {{9, 8, 1, 6}, 700, 1, {2, 3, 1, 4}},
          {{3000, 2000, 2500, 1700}, 8000, 2, {3, 2, 4, 3}},  // words of 64 bits
          {{3, 4, 2, 3, 2, 4}, 600, 1, {2, 2, 2, 2, 2, 2}},
          {{4, 3, 2}, 0, 1, {2, 2, 2}}};
}

template <class Scalar, class ExecutionSpace>
auto factors_for(ExecutionSpace const& exec, Dims const& dims, std::vector<int> const& ranks) {
  Factors<Scalar, typename ExecutionSpace::memory_space> A;
  for (std::size_t n = 0; n < dims.size(); ++n)
    A.push_back(random_matrix<Scalar>(exec, dims[n], ranks[n], 3 + n));
  return A;
}

/// The chains of two plans on mode n have the same bits, twice.
template <class ExecutionSpace, class Plan, class FactorList>
void check_same_products(ExecutionSpace const& exec, Plan& plan, Plan& other, FactorList const& A,
                         ChainProblem const& problem, int n) {
  using Scalar = typename Plan::Scalar;
  std::size_t columns = 1;
  for (std::size_t m = 0; m < problem.dims.size(); ++m)
    if (static_cast<int>(m) != n) columns *= static_cast<std::size_t>(problem.ranks[m]);
  auto const Y = make_matrix<Scalar>(exec, "Y", problem.dims[n], columns);
  auto const Z = make_matrix<Scalar>(exec, "Z", problem.dims[n], columns);
  ttm_chain(exec, plan, A, n, Y);
  for (int repeat = 0; repeat < 2; ++repeat) {
    Kokkos::deep_copy(exec, Z, Scalar(7));
    ttm_chain(exec, other, A, n, Z);
    CHECK(hash_bits(Y) == hash_bits(Z));
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("Streamed chains have the bits of fused ones", "[kernels][streaming]",
                        Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  auto const problem = GENERATE(from_range(problems()));
  int const N = static_cast<int>(problem.dims.size());
  auto const X = random_coo<Scalar, Index>(exec, problem.dims, problem.nnz, 5, problem.skew);
  auto const host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  auto const A = factors_for<Scalar>(exec, problem.dims, problem.ranks);
  TtmChainOptions options{TtmChainStrategy::fused, 0, {}};
  auto resident = make_ttm_chain_plan(exec, X, problem.ranks, options);
  for (auto const& way : ways()) {
    options.streaming = way;
    options.strategy = way.streams == 3 ? TtmChainStrategy::automatic : TtmChainStrategy::fused;
    auto out_of_core = make_ttm_chain_plan(exec, host, problem.ranks, options);
    bool const is_streamed = resident.nnz * (4 + sizeof(Scalar)) * problem.dims.size() > way.memory;
    for (int n = 0; n < N; ++n) {
      INFO(to_string(problem.dims)
           << ", mode " << n << ", streams " << way.streams << ", memory " << way.memory);
      check_same_products(exec, resident, out_of_core, A, problem, n);
      if (problem.nnz == 0 || !is_streamed) continue;
      CHECK(sporades::detail::is_out_of_core(out_of_core.formats, n));
      CHECK(out_of_core.choices[n].strategy == TtmChainStrategy::fused);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("Streamed chains of semi-sparse products have the bits of resident ones",
                        "[kernels][streaming]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  using sporades::detail::SemiSparseChain;
  typename TestType::ExecutionSpace const exec{};
  auto const problem = GENERATE(from_range(problems()));
  int const N = static_cast<int>(problem.dims.size());
  auto const X = random_coo<Scalar, Index>(exec, problem.dims, problem.nnz, 5, problem.skew);
  auto const host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  auto const A = factors_for<Scalar>(exec, problem.dims, problem.ranks);
  TtmChainOptions options{TtmChainStrategy::semi_sparse, 0, {}};
  auto resident = make_ttm_chain_plan(exec, X, problem.ranks, options);
  for (auto way : ways()) {
    way.always = true;
    options.streaming = way;
    auto out_of_core = make_ttm_chain_plan(exec, host, problem.ranks, options);
    for (int n = 0; n < N; ++n) {
      INFO(to_string(problem.dims)
           << ", mode " << n << ", streams " << way.streams << ", memory " << way.memory);
      CHECK(sporades::detail::is_out_of_core(out_of_core.formats, n));
      CHECK(out_of_core.choices[n].strategy ==
            (N == 1 ? TtmChainStrategy::fused : TtmChainStrategy::semi_sparse));
      auto const* const chain = resident.formats.template as<SemiSparseChain>(n);
      if (N == 1 || chain->first != SpttmStrategy::lanes) continue;  // another order of sums
      check_same_products(exec, resident, out_of_core, A, problem, n);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("A streamed HOOI gives the model of strategy fused",
                        "[algorithms][streaming]", Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  // Duplicates and a scale far from 1; and in float a fit of 1, whose residual is summed nonzero by
  // nonzero.
  bool const is_exact = GENERATE(false, true);
  Dims const dims = is_exact ? Dims{60, 40, 30} : Dims{300, 200, 100};
  auto X = random_coo<Scalar, std::uint32_t>(exec, dims, 30000, 5, 2);
  if (is_exact) {
    auto const host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
    for (Position p = 0; p < host.nnz(); ++p) {
      for (int n = 0; n < 3; ++n)
        host.coordinates(n, p) = static_cast<std::uint32_t>(n == 0   ? p / 4 % 60
                                                            : n == 1 ? p % 2
                                                                     : p / 2 % 2);
      host.values(p) = Scalar(1);
    }
    X = copy_to(exec, host);
  } else {
    Kokkos::deep_copy(exec, Kokkos::subview(X.values, std::make_pair(0, 3)), Scalar(3e20));
  }
  auto options = tucker_options({4, 3, 2}, 4);
  options.ranks = is_exact ? std::vector<int>{2, 2, 2} : options.ranks;
  options.strategy = TtmChainStrategy::fused;
  auto const resident = tucker(exec, X, options);
  auto out_of_core_options = options;
  out_of_core_options.strategy = GENERATE(TtmChainStrategy::automatic, TtmChainStrategy::fused);
  out_of_core_options.streaming = {1 << 12, 3, 0};
  auto problem = make_tucker_problem(exec, copy_to(Kokkos::DefaultHostExecutionSpace{}, X),
                                     out_of_core_options);
  CHECK(sporades::detail::count_out_of_core(problem.chain.formats) == problem.chain.order());
  auto state = tucker_start(exec, X, options);
  auto const two = [&](IterationInfo const& now) { return now.iteration != 2; };
  tucker(exec, problem, out_of_core_options, state, two);
  auto again = restore<decltype(state)>(exec, snapshot(exec, state));
  auto const out_of_core = tucker(exec, problem, out_of_core_options, again);
  if (is_exact) CHECK(resident.fit() > 0.9999);
  CHECK(out_of_core.values == resident.values);
  CHECK(hash_bits(out_of_core.model.core) == hash_bits(resident.model.core));
  for (std::size_t n = 0; n < dims.size(); ++n)
    CHECK(hash_bits(out_of_core.model.factors[n]) == hash_bits(resident.model.factors[n]));
}

TEMPLATE_LIST_TEST_CASE("A streamed CP-ALS sums an exact fit's residual from windows",
                        "[algorithms][streaming]", Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  Dims const dims = GENERATE(Dims{60, 40, 30}, Dims{4000, 3, 4, 5});  // a dimension tree's
  auto X = random_coo<Scalar, std::uint32_t>(exec, dims, 30000, 5, 1);
  auto const host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  for (Position p = 0; p < host.nnz(); ++p) {
    Position rest = p;
    for (std::size_t n = dims.size(); n-- > 0;) {
      Position const length = n == 0 ? dims[0] : 2;
      host.coordinates(n, p) = static_cast<std::uint32_t>(rest % length);
      rest /= length;
    }
    host.values(p) = Scalar(1);
  }
  X = copy_to(exec, host);
  CpAlsOptions options;
  options.init = CpAlsInit::random;
  options.rank = 1;
  options.iterations = 3;
  options.tolerance = 0;
  options.strategy = MttkrpStrategy::sorted;
  if (dims.size() == 4) options.strategy = MttkrpStrategy::automatic;
  auto const state = cp_als_start(exec, X, options);
  auto const solve = [&](auto const& tensor, Streaming const& streaming) {
    auto with = options;
    with.streaming = streaming;
    auto problem = make_cp_als_problem(exec, tensor, with);
    auto from = restore<std::decay_t<decltype(state)>>(exec, snapshot(exec, state));
    return cp_als(exec, problem, with, from);
  };
  auto const resident = solve(X, Streaming{});
  auto const out_of_core = solve(host, Streaming{1 << 12, 3, 0});
  CHECK(resident.fit() > 0.99);
  CHECK(out_of_core.values == resident.values);
  CHECK(hash_bits(out_of_core.model.factors[0]) == hash_bits(resident.model.factors[0]));
}

TEST_CASE("Sums that fit memory, of nonzeros that do not, outlive their tensor",
          "[algorithms][streaming]") {
  Kokkos::DefaultHostExecutionSpace const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, Dims{10, 9, 8}, 60000, 1, 1);
  auto options = tucker_options({3, 3, 3}, 3);
  options.strategy = TtmChainStrategy::fused;
  auto const resident = tucker(exec, X, options);
  options.streaming.memory = 1 << 18;
  auto problem = make_tucker_problem(exec, X, options);
  CHECK_FALSE(sporades::detail::is_out_of_core(problem.chain.formats, 0));
  CHECK(problem.out_of_core);
  auto state = tucker_start(exec, X, options);
  CHECK(tucker(exec, problem, options, state).values == resident.values);
}

TEMPLATE_LIST_TEST_CASE("A HOOI of streamed semi-sparse products sums an exact fit's residual",
                        "[algorithms][streaming]", Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  // Ones: of rank 1, so that float cannot tell the fit from squares.
  Dims const dims{60, 40, 30};
  Kokkos::DefaultHostExecutionSpace const on_host{};
  auto const X = random_coo<Scalar, std::uint32_t>(on_host, dims, 240, 5, 1);
  for (Position p = 0; p < X.nnz(); ++p) {
    X.coordinates(0, p) = static_cast<std::uint32_t>(p / 4);
    X.coordinates(1, p) = static_cast<std::uint32_t>(p % 2);
    X.coordinates(2, p) = static_cast<std::uint32_t>(p / 2 % 2);
    X.values(p) = Scalar(1);
  }
  auto options = tucker_options({2, 2, 2}, 4);
  options.strategy = TtmChainStrategy::semi_sparse;
  auto const resident = tucker(exec, copy_to(exec, X), options);
  auto const start = tucker_start(exec, copy_to(exec, X), options);
  options.streaming = {1 << 12, 3, 1 << 9};
  options.streaming.always = true;
  auto problem = make_tucker_problem(exec, X, options);
  CHECK(sporades::detail::count_out_of_core(problem.chain.formats) == problem.chain.order());
  auto state = start;
  auto const streamed = tucker(exec, problem, options, state);
  CHECK(streamed.fit() > 0.9999);
  for (std::size_t k = 0; k < resident.values.size(); ++k)
    CHECK(streamed.values[k] == Approx(resident.values[k]).margin(1e-6));
}

TEST_CASE("Chains that cannot be streamed are refused", "[kernels][streaming][bad_input]") {
  Kokkos::DefaultHostExecutionSpace const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, Dims{6, 5, 4}, 40, 1, 1);
  TtmChainOptions options;
  options.streaming.streams = 0;
  CHECK_THROWS_WITH(make_ttm_chain_plan(exec, X, {2, 2, 2}, options),
                    Catch::Matchers::ContainsSubstring("0 streams: 1 to 64"));
  auto const wide = random_coo<double, std::uint32_t>(exec, Dims(6, 8000), 40, 1, 1);
  options.streaming = {1, 3, 0};
  CHECK_THROWS_WITH(make_ttm_chain_plan(exec, wide, {1, 1, 1, 1, 1, 1}, options),
                    Catch::Matchers::ContainsSubstring("cannot be streamed"));
  options.strategy = TtmChainStrategy::csf;
  CHECK_THROWS_WITH(make_ttm_chain_plan(exec, X, {2, 2, 2}, options),
                    Catch::Matchers::ContainsSubstring("strategy csf cannot stream"));
  options.streaming.memory = 1 << 20;
  CHECK(make_ttm_chain_plan(exec, X, {2, 2, 2}, options).formats.as<CsfTensor>(0) != nullptr);
  auto tucker_with = tucker_options({2, 2, 2}, 2);
  tucker_with.streaming.streams = 65;
  CHECK_THROWS_WITH(make_tucker_problem(exec, X, tucker_with),
                    Catch::Matchers::ContainsSubstring("65 streams: 1 to 64"));
}
