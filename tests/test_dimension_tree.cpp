// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstring>
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/kernels/mttkrp_all_modes.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/cp_als.hpp>
#include <support/tensors.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;

template <class ExecutionSpace = Host, class Scalar = double>
std::vector<int> chosen(Dims const& dims, Position nnz, int rank = 16) {
  return sporades::detail::choose_fused_modes<ExecutionSpace, Scalar>(dims, nnz, rank);
}

}  // namespace

TEST_CASE("modes are fused where their grid is small", "[kernels][dimension_tree]") {
  CHECK(chosen({183, 24, 1140, 1717}, 3300000) == std::vector<int>{0, 1});
  CHECK(chosen({2482, 2862, 14036, 17}, 3100000) == std::vector<int>{3, 0});
  CHECK(chosen({6186, 24, 77, 32}, 5330000) == std::vector<int>{1, 2, 3});
  CHECK(chosen({12092, 9184, 28818}, 5000000).empty());
  CHECK(chosen({12, 9, 8}, 20).empty());
  CHECK(chosen({3, 4}, 1000).empty());
  CHECK(chosen({}, 0).empty());
}

TEST_CASE("modes stay apart where the matrices of cells exceed the caches",
          "[kernels][dimension_tree]") {
  for (int rank : {1, 8, 16, 32, 64, 128, 1000}) {
    INFO("rank " << rank);
    CHECK(chosen({500, 500, 300}, 1100000, rank).empty());
    if (rank > 8) CHECK(chosen({300, 300, 20000}, 1100000, rank).empty());
    if (rank > 8) CHECK(chosen({300, 300, 20000}, 3000000, rank).empty());
  }
  // The grid of modes 0 and 1 is worth it where its rows are short enough to stay in a cache.
  CHECK(chosen({300, 300, 20000}, 3000000, 4) == std::vector<int>{0, 1});
  CHECK(chosen({100, 100, 100, 100}, 2000000, 16) == std::vector<int>{0, 1});
  CHECK(chosen({100, 100, 100, 100}, 2000000, 32).empty());
}

TEMPLATE_LIST_TEST_CASE("a dimension tree takes at most twice the memory of a plain plan",
                        "[kernels][dimension_tree]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  if (sporades::detail::is_gpu<Exec>)
    CHECK(chosen<Exec, Scalar>({165427, 11374, 2, 100, 89}, 26000000) == std::vector<int>{2, 3, 4});
  int trees = 0;
  for (auto const& dims :
       {Dims{40, 5, 6, 30}, Dims{20, 30, 1000}, Dims{900, 12, 15, 10}, Dims{70, 4000, 3, 5, 9}})
    for (int rank : {2, 16, 50, 200}) {
      auto const X = random_coo<Scalar, std::uint32_t>(exec, dims, 20000);
      auto const fused = chosen<Exec, Scalar>(dims, X.nnz(), rank);
      if (fused.empty()) continue;
      MttkrpOptions const options{MttkrpStrategy::automatic, rank};
      auto const tree = sporades::detail::make_dimension_tree({}, exec, X, fused, options);
      auto const plain = make_mttkrp_plan(exec, X, options);
      INFO(to_string(dims) << ", rank " << rank);
      CHECK(static_cast<double>(tree.storage_bytes()) <=
            sporades::detail::most_tree_memory * static_cast<double>(plain.storage_bytes()));
      trees += tree.fused.empty() ? 0 : 1;
    }
  CHECK(trees > 5);
}

TEST_CASE("modes stay apart where fusing them scatters the tensor", "[kernels][dimension_tree]") {
  // One mode is much longer than the others, for which a linear order suits; with a mode of 17,800
  // cells in place of three short ones two are about as long.
  Host const host{};
  auto& caches = sporades::detail::host_caches();
  auto const before = caches;
  caches.second_level = 64 << 10;
  auto const X = random_coo<double, std::uint32_t>(host, {20000, 600, 2, 100, 89}, 200000);
  auto const automatic = sporades::detail::make_dimension_tree({}, host, X, {2, 3, 4},
                                                               {MttkrpStrategy::automatic, 16});
  caches = before;
  CHECK(automatic.fused.empty());
  CHECK(automatic.whole.order() == 5);
  auto const asked =
      sporades::detail::make_dimension_tree({}, host, X, {2, 3, 4}, {MttkrpStrategy::sorted, 16});
  CHECK(asked.whole.order() == 3);
}

TEMPLATE_LIST_TEST_CASE("products through a dimension tree are those of every mode alone",
                        "[kernels][dimension_tree]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  struct Trial {
    Dims dims;
    std::vector<int> fused;
  };
  for (auto const& trial :
       {Trial{{8, 9, 20}, {0, 1}}, Trial{{8, 20, 9}, {2, 0}}, Trial{{30, 5, 6, 40}, {1, 2}},
        Trial{{30, 5, 6, 40}, {1, 2, 3}}, Trial{{40, 50, 2, 6, 7}, {2, 3, 4}},
        Trial{{3, 50, 40, 4, 5}, {3, 4, 0}}, Trial{{4, 3, 5, 4, 3, 6}, {5, 0}}}) {
    auto const X = random_coo<Scalar, Index>(exec, trial.dims, 3000, 3, 1);
    int const R = 8, N = X.order();
    auto plan = make_mttkrp_plan(exec, X, {MttkrpStrategy::sorted, R});
    auto tree = sporades::detail::make_dimension_tree({}, exec, X, trial.fused,
                                                      {MttkrpStrategy::automatic, R});
    REQUIRE(tree.fused == trial.fused);
    Factors<Scalar, typename Exec::memory_space> A;
    for (int n = 0; n < N; ++n)
      A.push_back(sporades::detail::random_factor<Scalar>(exec, "A", trial.dims[n], R, 1, n));
    double worst = 0;
    for (int step = 0; step < 2 * N; ++step) {  // two rounds of updates, as CP-ALS makes them
      int const n = step % N;
      auto const V = make_matrix<Scalar>(exec, "V", trial.dims[n], R);
      auto const W = make_matrix<Scalar>(exec, "W", trial.dims[n], R);
      mttkrp(exec, plan, A, n, V);
      mttkrp(exec, tree, A, n, W);
      auto const v = matrix_on_host(V), w = matrix_on_host(W);
      for (std::size_t i = 0; i < trial.dims[n]; ++i)
        for (int r = 0; r < R; ++r)
          worst = std::max(worst, std::abs(static_cast<double>(v(i, r)) - w(i, r)) /
                                      (std::abs(static_cast<double>(v(i, r))) + 1e-30));
      A[n] = sporades::detail::random_factor<Scalar>(exec, "A", trial.dims[n], R, 2 + step, n);
    }
    INFO(to_string(trial.dims));
    CHECK(worst < 3000 * std::numeric_limits<Scalar>::epsilon());
    for (int n = 0; n < N; ++n) {  // where what was kept is forgotten, any mode may come next
      for (auto& a : A)
        a = sporades::detail::random_factor<Scalar>(exec, "A", a.extent(0), R, 99 + n, 0);
      auto const V = make_matrix<Scalar>(exec, "V", trial.dims[n], R);
      auto const W = make_matrix<Scalar>(exec, "W", trial.dims[n], R);
      factors_changed(tree);
      mttkrp(exec, plan, A, n, V);
      mttkrp(exec, tree, A, n, W);
      auto const v = matrix_on_host(V), w = matrix_on_host(W);
      CHECK(std::abs(static_cast<double>(v(0, 0)) - w(0, 0)) <=
            3000 * std::numeric_limits<Scalar>::epsilon() * std::abs(static_cast<double>(v(0, 0))));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("CP-ALS with and without a dimension tree fits the same",
                        "[algorithms][cp_als][dimension_tree]", Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const X = random_coo<Scalar, typename TestType::Index>(exec, {40, 5, 6, 30}, 20000, 3, 1);
  auto options = options_of(5, 8);
  auto const with = make_cp_als_problem(exec, X, options);
  CHECK(!with.products.fused.empty());
  auto const fits = cp_als(exec, X, options).values;
  options.dimension_tree = false;
  CHECK(make_cp_als_problem(exec, X, options).products.fused.empty());
  auto const plain = cp_als(exec, X, options).values;
  REQUIRE(fits.size() == plain.size());
  for (std::size_t k = 0; k < fits.size(); ++k)
    CHECK(std::abs(fits[k] - plain[k]) < (sizeof(Scalar) == 4 ? 1e-4 : 1e-10));
}
