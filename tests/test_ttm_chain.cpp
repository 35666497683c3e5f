// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cmath>
#include <limits>
#include <sporades/kernels/ttm_chain.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/same_bits.hpp>
#include <support/tensors.hpp>
#include <support/tools.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

struct Problem {
  Dims dims;
  std::vector<int> ranks;
  Position nnz;
  double skew;
};

std::vector<Problem> problems() {
  return {{{5}, {3}, 9, 1},
          {{7, 4}, {3, 2}, 20, 1},
          {{300, 40}, {16, 33}, 6000, 1},  // more than one tile of columns
          {{6, 5, 4}, {1, 3, 4}, 40, 1},
          {{40, 3, 50}, {8, 3, 8}, 3000, 1},       // several chunks, long rows
          {{2, 300, 200}, {2, 8, 5}, 20000, 1},    // two rows: every chunk carries
          {{500, 400, 300}, {5, 17, 3}, 9000, 6},  // one row has most; many are empty
          {{30, 20, 3}, {33, 2, 35}, 700, 1},      // a rank may exceed its mode here
          {{9, 8, 1, 6}, {3, 16, 1, 2}, 700, 1},   // a mode of length 1
          {{30, 2, 20, 10}, {8, 2, 8, 4}, 5000, 2},
          {{30, 25, 20, 15}, {4, 5, 3, 8}, 9000, 1},
          {{5, 4, 3, 4, 5}, {2, 3, 3, 1, 4}, 900, 1},
          {{3, 4, 2, 3, 2, 4}, {3, 2, 2, 3, 2, 1}, 600, 1},
          {{2, 3, 2, 2, 3, 2, 2}, {2, 2, 1, 2, 3, 2, 2}, 200, 1},  // too many sets of modes
          {{4, 3}, {2, 2}, 0, 1},                                  // nothing in it
          {{0, 3, 2}, {1, 2, 2}, 0, 1}};                           // an empty mode
}

std::vector<TtmChainStrategy> strategies() {
  std::vector<TtmChainStrategy> all;
  for (auto const& name : names_of<TtmChainStrategy>())
    all.push_back(from_name<TtmChainStrategy>(name));
  return all;
}

std::size_t columns_of(std::vector<int> const& ranks, int n) {
  std::size_t columns = 1;
  for (int m = 0; m < static_cast<int>(ranks.size()); ++m)
    if (m != n) columns *= static_cast<std::size_t>(ranks[m]);
  return columns;
}

/// The definition, in double, and beside each entry the sum of the terms' magnitudes. The columns
/// count through the other modes' ranks, the first mode fastest.
template <class Tensor, class FactorList>
void define_chain(Tensor const& X, FactorList const& A, std::vector<int> const& ranks, int n,
                  std::vector<double>& Y, std::vector<double>& magnitude) {
  std::size_t const columns = columns_of(ranks, n);
  Y.assign(X.dims[n] * columns, 0);
  magnitude = Y;
  for (Position p = 0; p < X.nnz(); ++p)
    for (std::size_t c = 0; c < columns; ++c) {
      double term = X.values(p);
      std::size_t rest = c;
      for (int m = 0; m < X.order(); ++m) {
        if (m == n) continue;
        term *= A[m](X.coordinates(m, p), rest % ranks[m]);
        rest /= ranks[m];
      }
      Y[X.coordinates(n, p) * columns + c] += term;
      magnitude[X.coordinates(n, p) * columns + c] += std::abs(term);
    }
}

template <class Scalar, class ExecutionSpace>
auto factors_for(ExecutionSpace const& exec, Dims const& dims, std::vector<int> const& ranks) {
  Factors<Scalar, typename ExecutionSpace::memory_space> A;
  for (std::size_t n = 0; n < dims.size(); ++n)
    A.push_back(random_matrix<Scalar>(exec, dims[n], ranks[n], 7 + static_cast<unsigned>(n)));
  return A;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a TTM chain equals its definition", "[kernels][ttm_chain]",
                        sporades::test::IndexCases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  auto const problem = GENERATE(from_range(problems()));
  auto const& ranks = problem.ranks;
  auto const X = random_coo<Scalar, Index>(exec, problem.dims, problem.nnz, 3, problem.skew);
  auto const A = factors_for<Scalar>(exec, problem.dims, ranks);
  auto const host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  std::vector<Matrix<Scalar, Kokkos::HostSpace>> on_host;
  for (auto const& factor : A) on_host.push_back(matrix_on_host(factor));
  std::vector<TtmChainPlan<Scalar, Index, typename TestType::MemorySpace>> plans;
  for (auto const strategy : strategies())
    plans.push_back(make_ttm_chain_plan(exec, X, ranks, TtmChainOptions{strategy, 0}));
  Streaming streaming{1 << 12, 2, 1 << 10};
  streaming.always = true;
  plans.push_back(
      make_ttm_chain_plan(exec, host, ranks, {TtmChainStrategy::semi_sparse, 0, streaming}));
  for (int n = 0; n < X.order(); ++n) {
    std::size_t const columns = columns_of(ranks, n);
    std::vector<double> expected, magnitude;
    define_chain(host, on_host, ranks, n, expected, magnitude);
    Matrix<Scalar, typename TestType::MemorySpace> const Y("Y", X.dims[n], columns);
    for (auto& plan : plans) {
      Kokkos::deep_copy(Y, std::numeric_limits<Scalar>::quiet_NaN());
      for (int again = 0; again < 2; ++again) ttm_chain(exec, plan, A, n, Y);
      exec.fence();
      auto const result = matrix_on_host(Y);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < X.dims[n]; ++i)
        for (std::size_t c = 0; c < columns; ++c) {
          double const exact = expected[i * columns + c];
          double const tolerance =
              64 * double{std::numeric_limits<Scalar>::epsilon()} * magnitude[i * columns + c];
          wrong += !(std::abs(static_cast<double>(result(i, c)) - exact) <= tolerance);
        }
      INFO(to_string(problem.dims) << ", mode " << n << ": " << describe(plan.choices[n]));
      CHECK(wrong == 0);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("a product holds the rows of non-empty slices, padding zero",
                        "[kernels][ttm_chain]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  Dims const dims{50, 6, 5};
  std::vector<int> const ranks{2, 3, 5};
  auto const X = random_coo<Scalar, std::uint32_t>(exec, dims, 30, 2);
  auto const A = factors_for<Scalar>(exec, dims, ranks);
  std::vector<bool> present(dims[0]);
  auto const host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  for (Position p = 0; p < X.nnz(); ++p) present[host.coordinates(0, p)] = true;
  std::vector<std::uint32_t> expected;
  for (std::uint32_t i = 0; i < dims[0]; ++i)
    if (present[i]) expected.push_back(i);
  for (auto const strategy : strategies()) {
    auto plan = make_ttm_chain_plan(exec, X, ranks, TtmChainOptions{strategy, 0});
    Kokkos::deep_copy(plan.work.product, std::numeric_limits<Scalar>::quiet_NaN());
    auto const product = ttm_chain(exec, plan, A, 0);
    exec.fence();
    auto const rows = on_host(product.rows);
    INFO(to_string(strategy));
    CHECK(std::vector<std::uint32_t>(rows.data(), rows.data() + rows.extent(0)) == expected);
    auto const Y = matrix_on_host(product.Y);
    REQUIRE(Y.extent(0) == expected.size());
    REQUIRE(Y.extent(1) == product.columns->count());
    auto const places = sporades::detail::ascending_places(*product.columns);
    std::size_t padding = 0;
    for (std::size_t c = 0; c < Y.extent(1); ++c) {
      padding += places[c] < 0;
      for (std::size_t i = 0; places[c] < 0 && i < Y.extent(0); ++i) CHECK(Y(i, c) == 0);
    }
    CHECK(padding == Y.extent(1) - 15);
  }
}

TEMPLATE_LIST_TEST_CASE("a chain allocates nothing and runs where it should",
                        "[kernels][ttm_chain]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  Dims const dims{60, 50, 4, 30};
  std::vector<int> const ranks{4, 5, 2, 8};
  auto const X = random_coo<Scalar, std::uint32_t>(exec, dims, 9000, 2);
  auto const A = factors_for<Scalar>(exec, dims, ranks);
  for (auto const strategy : strategies()) {
    auto plan = make_ttm_chain_plan(exec, X, ranks, TtmChainOptions{strategy, 0});
    INFO(to_string(strategy));
    auto const recording = check_launches(exec, [&] {
      for (int n = 0; n < 4; ++n) ttm_chain(exec, plan, A, n);
    });
    CHECK(recording.allocations.empty());
    for (auto const& [label, device] : recording.fences) {
      INFO(label);
      CHECK((is_of_kokkos(label) && !sporades::detail::is_gpu<typename TestType::ExecutionSpace>));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("a chain's bits are the same on any number of threads",
                        "[kernels][ttm_chain][threads]", sporades::test::AllCases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  typename TestType::ExecutionSpace const exec{};
  Dims const dims{2, 400, 60, 30};
  std::vector<int> const ranks{2, 7, 8, 4};
  auto const X = random_coo<Scalar, std::uint32_t>(exec, dims, 60000, 4, 2);
  auto const A = factors_for<Scalar>(exec, dims, ranks);
  for (auto const strategy : strategies()) {
    auto plan = make_ttm_chain_plan(exec, X, ranks, TtmChainOptions{strategy, 0});
    for (int n = 0; n < 4; ++n)
      check_same_bits(std::string("ttm_chain ") + to_string(strategy) + " " + Memory::name() + " " +
                          typeid(Scalar).name() + " mode " + std::to_string(n),
                      hash_bits(ttm_chain(exec, plan, A, n).Y));
  }
}

TEST_CASE("automatic takes the cheaper walk, and says why", "[kernels][ttm_chain]") {
  Kokkos::DefaultHostExecutionSpace const exec{};
  // Long fibers in the last mode: their sums are reused; scattered nonzeros: nothing to reuse.
  auto const dense = random_coo<double, std::uint32_t>(exec, {60, 50, 400}, 300000);
  auto const sparse = random_coo<double, std::uint32_t>(exec, {600, 500, 4000}, 30000);
  auto const long_fibers = make_ttm_chain_plan(exec, dense, {8, 8, 8});
  auto const scattered = make_ttm_chain_plan(exec, sparse, {8, 8, 8});
  CHECK(describe(long_fibers.choices[0]) == "semi_sparse, modes 1 2");
  CHECK(describe(scattered.choices[0]).substr(0, 5) == "fused");
  CHECK_THAT(scattered.choices[0].reason,
             Catch::Matchers::ContainsSubstring("modelled time of semi_sparse / of fused"));
  // Partial products of semi_sparse take 192 KB, over an eighth of this limit.
  auto const limited =
      make_ttm_chain_plan(exec, dense, {8, 8, 8}, {TtmChainStrategy::automatic, 1e6});
  CHECK(describe(limited.choices[0]).substr(0, 11) != "semi_sparse");
  CHECK_THAT(limited.choices[0].reason, Catch::Matchers::StartsWith("semi_sparse needs about "));
}

TEST_CASE("numbers of tuples are within a few per cent", "[kernels][ttm_chain]") {
  Kokkos::DefaultHostExecutionSpace const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, {100, 60, 50}, 100000, 1, 2);
  for (std::uint32_t const set : {3u, 5u, 6u}) {
    std::vector<int> modes;
    for (int n = 0; n < 3; ++n)
      if (set >> n & 1) modes.push_back(n);
    std::vector<bool> seen(10000);
    std::size_t count = 0;
    for (Position p = 0; p < X.nnz(); ++p) {
      std::size_t const cell = X.coordinates(modes[0], p) * 100 + X.coordinates(modes[1], p);
      count += !seen[cell];
      seen[cell] = true;
    }
    double const found = sporades::detail::estimate_fiber_counts(exec, X, set);
    CHECK(std::abs(found / static_cast<double>(count) - 1) < 0.03);
  }
  auto const many = random_coo<double, std::uint32_t>(exec, {1000, 1000, 1000}, 160000);
  double const crowded =
      sporades::detail::estimate_fiber_counts(exec, many, 7u, 1024);  // 5 in a bit
  CHECK(std::abs(crowded / static_cast<double>(many.nnz()) - 1) < 0.05);
}

TEST_CASE("the tree that is chosen is the cheapest of all orders", "[kernels][ttm_chain]") {
  Kokkos::DefaultHostExecutionSpace const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, {40, 7, 300, 20}, 20000, 1, 1.5);
  sporades::detail::TupleCounts const tuples(exec, X);
  std::vector<int> const ranks{8, 3, 5, 16};
  for (int n = 0; n < 4; ++n) {
    std::vector<int> order;
    for (int m = 0; m < 4; ++m)
      if (m != n) order.push_back(m);
    double least = std::numeric_limits<double>::infinity();
    do {
      std::uint32_t set = 1u << n;
      double flops = 0, weight = 0;
      for (std::size_t k = 0; k < order.size(); ++k) {
        set |= 1u << order[k];
        double row = 2.0;
        for (std::size_t l = k; l < order.size(); ++l) row *= ranks[order[l]];
        flops += tuples(set) * row;
        weight += tuples(set) * (row + (k + 1 < order.size() ? 26 : 0));
      }
      least = std::min(least, weight);
    } while (std::next_permutation(order.begin(), order.end()));
    least += 12.6 * sporades::detail::product_numbers(tuples, ranks, n);
    CHECK(sporades::detail::cheapest_tree(tuples, ranks, n).weight == Approx(least));
  }
}

TEST_CASE("chains that cannot be are refused", "[kernels][ttm_chain][bad_input]") {
  Kokkos::DefaultHostExecutionSpace const exec{};
  Dims const dims{6, 5, 4};
  auto const X = random_coo<double, std::uint32_t>(exec, dims, 50);
  CHECK(message_of([&] {
          make_ttm_chain_plan(exec, X, {2, 2});
        }) == "make_ttm_chain_plan: 2 ranks for a tensor of order 3");
  CHECK(message_of([&] {
          make_ttm_chain_plan(exec, X, {2, 0, 2});
        }) == "make_ttm_chain_plan: rank 0 of mode 1 is not positive");
  CHECK(message_of([&] {
          make_ttm_chain_plan(exec, X, {2, 2, 3}, {TtmChainStrategy::csf, 100});
        }) ==
        "make_ttm_chain_plan: Y of mode 0 has about 6 rows x 12 columns and needs 576 B, the "
        "memory limit is "
        "100 B");
  auto plan = make_ttm_chain_plan(exec, X, {2, 3, 2});
  auto A = factors_for<double>(exec, dims, {2, 3, 2});
  CHECK(message_of([&] { ttm_chain(exec, plan, A, 3); }) ==
        "ttm_chain: mode 3 of a tensor of order 3");
  Matrix<double, Kokkos::HostSpace> const Y("Y", 6, 5);
  CHECK(message_of([&] { ttm_chain(exec, plan, A, 0, Y); }) ==
        "ttm_chain: Y is 6 x 5, expected 6 x 6");
  A[2] = random_matrix<double>(exec, 4, 2, 1, false);
  CHECK(message_of([&] { ttm_chain(exec, plan, A, 0); }) ==
        "ttm_chain: the factor of mode 2 has a row stride of 2, expected 4: see make_matrix");
  A[2] = random_matrix<double>(exec, 4, 3, 1);
  CHECK(message_of([&] { ttm_chain(exec, plan, A, 0); }) ==
        "ttm_chain: the factor of mode 2 is 4 x 3, expected 4 x 2");
  A.pop_back();
  CHECK(message_of([&] { ttm_chain(exec, plan, A, 0); }) ==
        "ttm_chain: 2 factors for a tensor of order 3");
  auto const wide = random_coo<double, std::uint32_t>(
      exec, {4000000000u, 4000000000u, 4000000000u, 4000000000u}, 10);
  CHECK(message_of([&] {
          make_ttm_chain_plan(exec, wide, {1, 1, 1, 1}, {TtmChainStrategy::fused, 0});
        }) ==
        "make_ttm_chain_plan: strategy fused: the indices of all modes but 0 take 96 bits, a word "
        "has 63");
  CHECK(make_ttm_chain_plan(exec, wide, {1, 1, 1, 1}).choices[0].reason ==
        "indices do not fit 63 bits");
}
