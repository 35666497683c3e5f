// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <numeric>
#include <sporades/kernels/spttm.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/same_bits.hpp>
#include <support/semi_sparse.hpp>
#include <support/tools.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

std::vector<Problem> problems() {
  return {{{5}, 9, 1},
          {{400}, 3000, 1},  // one fiber, cut by every chunk
          {{7, 4}, 20, 1},
          {{220, 3}, 600, 1},     // three fibers of 200: longer than the windows of a GPU's warp
          {{3000, 2}, 20000, 1},  // two long fibers: carries of three levels
          {{2, 9000}, 9000, 1},   // many fibers of one and two
          {{6, 5, 4}, 40, 1},
          {{40, 3, 50}, 3000, 1},
          {{2, 300, 200}, 20000, 1},
          {{500, 400, 300}, 20000, 6},  // one fiber has most nonzeros
          {{9, 8, 1, 6}, 700, 1},       // a mode of length 1
          {{30, 2, 20, 10}, 5000, 2},
          {{5, 4, 3, 4, 5}, 900, 1},
          {{3, 4, 2, 3, 2, 4}, 600, 1},
          {{4, 3}, 0, 1},      // nothing in it
          {{0, 3, 2}, 0, 1}};  // an empty mode
}

/// Those of the library itself, whose labels, fences and bits it answers for.
std::vector<SpttmStrategy> own_strategies() {
  std::vector<SpttmStrategy> all;
  for (auto const& name : names_of<SpttmStrategy>())
    if (name != "spmm_library") all.push_back(from_name<SpttmStrategy>(name));
  return all;
}

/// All that take the types of a case.
template <class Case>
std::vector<SpttmStrategy> strategies() {
  auto all = own_strategies();
  if (sporades::detail::has_library_spmm<typename Case::ExecutionSpace, typename Case::Scalar,
                                         typename Case::Index>)
    all.push_back(SpttmStrategy::spmm_library);
  return all;
}

/// The definition: every nonzero adds its terms to the fiber that has its coordinates.
template <class Tensor, class Scoo, class MatrixType>
Sums define_spttm(Tensor const& X, int n, MatrixType const& U, Scoo const& Y) {
  auto const places = places_of(Y);
  Sums sums(Y.fibers(), U.extent(1));
  std::vector<bool> used(Y.fibers());
  Position lost = 0;
  for (Position p = 0; p < X.nnz(); ++p) {
    Place place(X.dims.size());
    for (int m = 0; m < X.order(); ++m)
      if (m != n) place[m] = X.coordinates(m, p);
    auto const at = places.find(place);
    if (at == places.end()) {
      ++lost;
      continue;
    }
    used[at->second] = true;
    for (std::size_t r = 0; r < U.extent(1); ++r)
      sums.add(at->second, r,
               static_cast<double>(X.values(p)) * static_cast<double>(U(X.coordinates(n, p), r)));
  }
  CHECK(lost == 0);
  CHECK(std::count(used.begin(), used.end(), false) == 0);  // no fiber without nonzeros
  return sums;
}

/// One mode, by each of these strategies.
template <class Case, class Tensor>
void check_mode(
    Tensor const& X, int n, std::size_t R,
    SpttmPlan<typename Tensor::Scalar, typename Tensor::Index, typename Tensor::MemorySpace>& plan,
    std::vector<SpttmStrategy> const& all, bool padded = true) {
  using Scalar = typename Case::Scalar;
  typename Case::ExecutionSpace const exec{};
  auto const U = random_matrix<Scalar>(exec, X.dims[n], R, 100 + static_cast<unsigned>(n), padded);
  auto Y = make_spttm_output(exec, plan, n, R);
  if (!padded) Y.values = typename decltype(Y)::Values("Y", Y.fibers(), R);
  CHECK(is_in_order(Y));
  auto const host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  auto const sums = define_spttm(host, n, matrix_on_host(U), Y);
  for (auto strategy : all) {
    INFO(to_string(X.dims) << ", nnz " << X.nnz() << ", R " << R << ", mode " << n << ", "
                           << to_string(strategy) << (padded ? ", padded" : ""));
    for (auto& choice : plan.choices) choice.strategy = strategy;
    Kokkos::deep_copy(exec, Y.values, std::numeric_limits<Scalar>::quiet_NaN());
    spttm(exec, plan, U, n, Y);
    exec.fence();
    // each of at most nnz terms and each addition rounds once
    CHECK(sums.wrong(Y.values, static_cast<double>(X.nnz() + 1)) == 0);
  }
}

template <class Case>
void check_all_modes(Problem const& problem, std::vector<std::size_t> const& ranks) {
  typename Case::ExecutionSpace const exec{};
  auto const X = random_coo<typename Case::Scalar, typename Case::Index>(
      exec, problem.dims, problem.nnz, 7, problem.skew);
  auto plan = make_spttm_plan(exec, X, {SpttmStrategy::lanes, 4});
  for (int n = 0; n < X.order(); ++n)
    for (auto R : ranks) check_mode<Case>(X, n, R, plan, strategies<Case>(), R != 3 && R != 33);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("spttm equals its definition", "[kernels][spttm]", Cases) {
  for (auto const& problem : problems()) check_all_modes<TestType>(problem, {1, 3, 16, 17, 33});
}

TEMPLATE_LIST_TEST_CASE("spttm takes any number of columns", "[kernels][spttm]", Cases) {
  std::vector<std::size_t> ranks;
  for (std::size_t R = 1; R <= 70; ++R) ranks.push_back(R);
  check_all_modes<TestType>({{6, 5, 4}, 200, 1}, ranks);
}

// perf/spttm.cpp tries others than that of the strategies themselves.
TEMPLATE_LIST_TEST_CASE(
    "the strategies of Ma et al. equal their definition by any block of threads",
    "[kernels][spttm]", Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {40, 3, 50}, 3000, 7, 2);
  auto const host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  auto plan = make_spttm_plan(exec, X, {SpttmStrategy::lanes, 4});
  for (int n = 0; n < X.order(); ++n)
    for (std::size_t R : {1, 12, 33}) {
      auto const U = random_matrix<Scalar>(exec, X.dims[n], R, 5);
      auto const Y = make_spttm_output(exec, plan, n, R);
      auto const sums = define_spttm(host, n, matrix_on_host(U), Y);
      for (auto strategy : own_strategies())
        for (int threads : {32, 64, 256})
          for (int row : {1, 2, 8, 32}) {
            if (!sporades::detail::takes_block(strategy)) continue;
            INFO("R " << R << ", mode " << n << ", " << to_string(strategy) << ", " << threads
                      << " threads, " << row << " a row");
            Kokkos::deep_copy(exec, Y.values, std::numeric_limits<Scalar>::quiet_NaN());
            sporades::detail::run_spttm(exec, plan.tensors[n], U, Y, strategy, plan.carry,
                                        {threads, row});
            exec.fence();
            CHECK(sums.wrong(Y.values, static_cast<double>(X.nnz() + 1)) == 0);
          }
    }
}

// Chunks of small tensors are of 128 nonzeros, or of 128 nonzeros and ends of fibers.
TEMPLATE_LIST_TEST_CASE("spttm equals its definition where fibers end beside ends of chunks",
                        "[kernels][spttm]", Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  Kokkos::DefaultHostExecutionSpace const host{};
  for (std::uint32_t length = 124; length <= 131; ++length) {
    std::vector<std::uint32_t> lengths{length, 127, 129, 300};
    lengths.insert(lengths.end(), length, 1);
    lengths.insert(lengths.end(), {128, 1, 2, length});
    Position const nnz = std::accumulate(lengths.begin(), lengths.end(), Position{0});
    auto const X =
        sporades::detail::allocate_coo<Scalar, std::uint32_t>(host, {lengths.size(), 300}, nnz);
    host.fence();
    Position p = 0;
    for (std::uint32_t f = 0; f < lengths.size(); ++f)
      for (std::uint32_t k = 0; k < lengths[f]; ++k, ++p) {
        X.coordinates(0, p) = f;
        X.coordinates(1, p) = k;
        X.values(p) = static_cast<Scalar>(p % 7) - 3;
      }
    auto const Z = copy_to(exec, X);
    auto plan = make_spttm_plan(exec, Z, {SpttmStrategy::lanes, 4});
    for (std::size_t R : {4, 50}) check_mode<TestType>(Z, 1, R, plan, strategies<TestType>());
  }
}

TEMPLATE_LIST_TEST_CASE("spttm does not touch rows of the matrix that have no nonzero",
                        "[kernels][spttm]", Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  Kokkos::DefaultHostExecutionSpace const host{};
  for (auto const& dims : {Dims{400}, Dims{220, 3}, Dims{40, 3, 50}}) {
    auto X = random_coo<Scalar, std::uint32_t>(host, dims, 3000);
    X.dims[0] += 1;
    X.sorted_modes.clear();
    for (Position p = 0; p < X.nnz(); ++p) X.coordinates(0, p) += 1;
    auto plan = make_spttm_plan(exec, copy_to(exec, X), {SpttmStrategy::lanes, 16});
    for (std::size_t R : {5, 16}) {
      auto const U = random_matrix<Scalar>(exec, X.dims[0], R, 1, true);
      Kokkos::deep_copy(exec, Kokkos::subview(U, 0, Kokkos::ALL),
                        std::numeric_limits<Scalar>::infinity());
      auto const Y = make_spttm_output(exec, plan, 0, R);
      for (auto strategy : strategies<TestType>()) {
        INFO(to_string(X.dims) << ", R " << R << ", " << to_string(strategy));
        for (auto& choice : plan.choices) choice.strategy = strategy;
        spttm(exec, plan, U, 0, Y);
        exec.fence();
        auto const rows = matrix_on_host(Y.values);
        Position infinite = 0;
        for (Position f = 0; f < Y.fibers(); ++f)
          for (std::size_t r = 0; r < R; ++r) infinite += !std::isfinite(rows(f, r));
        CHECK(infinite == 0);
      }
    }
  }
}

// Past 32 MiB a CPU writes whole lines past its caches.
TEMPLATE_LIST_TEST_CASE("spttm with an output larger than caches equals its definition",
                        "[kernels][spttm]", Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {3, 4000000}, 141000, 5);
  SpttmPlan<Scalar, std::uint32_t, typename TestType::MemorySpace> plan;
  plan.dims = X.dims;
  plan.tensors.push_back(make_hierarchical(exec, X, {1, 0}));
  plan.choices.resize(1);
  for (std::size_t lines : {4, 5}) {  // 256 bytes a row: whole tiles; 320: a tile and the rest
    std::size_t const R = lines * 64 / sizeof(Scalar);
    REQUIRE(plan.tensors[0].fibers.count() * R * sizeof(Scalar) > 32u << 20);
    check_mode<TestType>(X, 0, R, plan, {SpttmStrategy::lanes});
  }
  check_mode<TestType>(X, 0, 260 / sizeof(Scalar), plan, {SpttmStrategy::lanes});  // no whole lines
}

TEST_CASE("spttm with 64-bit indices equals its definition", "[kernels][spttm]") {
  using Wide = Case<Kokkos::DefaultExecutionSpace, double, std::uint64_t>;
  for (auto const& problem : problems()) check_all_modes<Wide>(problem, {17});
}

TEST_CASE("spttm of order 16 equals its definition", "[kernels][spttm]") {
  using Plain = Case<Kokkos::DefaultExecutionSpace, double>;
  check_all_modes<Plain>({Dims(16, 3), 500, 1}, {5});
}

// The published numbers of GenTen's TTM test: a 3 x 4 x 2 x 2 tensor 0 ... 47 and R x I_n matrices
// 0 ... R I_n - 1, both by columns; results by columns, too.
TEMPLATE_LIST_TEST_CASE("spttm of the whole numbers", "[kernels][spttm]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  Kokkos::DefaultHostExecutionSpace const host{};
  Dims const dims{3, 4, 2, 2};
  auto const numbers = sporades::detail::allocate_coo<Scalar, std::uint32_t>(host, dims, 48);
  host.fence();
  for (std::uint32_t p = 0; p < 48; ++p) {
    std::uint32_t rest = p;
    for (std::uint32_t n = 0; n < 4; ++n) {
      auto const length = static_cast<std::uint32_t>(dims[n]);
      numbers.coordinates(n, p) = rest % length;
      rest /= length;
    }
    numbers.values(p) = static_cast<Scalar>(p);
  }
  auto const X = copy_to(exec, numbers);
  std::vector<std::vector<int>> const first{
      {25, 28, 31, 34, 37, 70, 82, 94, 106, 118}, {210, 240, 270}, {60, 65, 70}, {120, 125, 130}};
  int const last[] = {1252, 2030, 563, 515};
  for (auto strategy : strategies<TestType>()) {
    auto plan = make_spttm_plan(exec, X, {strategy, 5});
    for (int n = 0; n < 4; ++n) {
      INFO("mode " << n << ", " << to_string(strategy));
      Matrix<Scalar, Kokkos::HostSpace> const by_rank("U", 5, dims[n]), by_mode("U", dims[n], 5);
      for (std::size_t i = 0; i < dims[n]; ++i)
        for (std::size_t r = 0; r < 5; ++r)
          by_rank(r, i) = by_mode(i, r) = static_cast<Scalar>(r + 5 * i);
      auto const Y = make_spttm_output(exec, plan, n, 5);
      auto const check = [&] {
        auto const Z = copy_to(host, sorted(exec, to_coo(exec, Y), {3, 2, 1, 0}));  // by columns
        REQUIRE(Z.nnz() == 48 / dims[n] * 5);
        for (std::size_t k = 0; k < first[n].size(); ++k) CHECK(Z.values(k) == first[n][k]);
        CHECK(Z.values(Z.nnz() - 1) == last[n]);
      };
      spttm(exec, plan, copy_matrix(exec, by_mode), n, Y);
      check();
      Kokkos::deep_copy(exec, Y.values, Scalar(-1));
      spttm(exec, plan, copy_matrix(exec, by_rank), n, Y, TtmMatrix::rank_by_mode);
      check();
    }
  }
}

TEMPLATE_LIST_TEST_CASE("spttm gives the same bits on every run and number of threads",
                        "[kernels][spttm][threads]", AllCases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  Dims const dims{3, 2, 9000};
  auto const X = random_coo<Scalar, std::uint32_t>(exec, dims, 60000, 3, 2);
  for (auto strategy : own_strategies()) {
    auto plan = make_spttm_plan(exec, X, {strategy, 17});
    for (int n = 0; n < 3; ++n) {  // mode 2: six long fibers, carried
      auto const U = random_matrix<Scalar>(exec, dims[n], 17, 5);
      auto const Y = make_spttm_output(exec, plan, n, 17);
      std::string const name = std::string("spttm ") + to_string(strategy) + " " + Exec::name() +
                               " mode " + std::to_string(n) + " bytes " +
                               std::to_string(sizeof(Scalar));
      for (int run = 0; run < 2; ++run) {
        spttm(exec, plan, U, n, Y);
        exec.fence();
        check_same_bits(name, hash_bits(Y.values));
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("spttm labels its kernels, runs them on its instance and allocates once",
                        "[kernels][spttm]", Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {3, 20, 3000}, 5000);
  auto const U = random_matrix<Scalar>(exec, 3000, 8, 1);
  auto const transposed = random_matrix<Scalar>(exec, 8, 3000, 1);
  for (auto strategy : own_strategies()) {
    INFO(to_string(strategy));
    for (auto matrix : {TtmMatrix::mode_by_rank, TtmMatrix::rank_by_mode}) {
      auto const& given = matrix == TtmMatrix::mode_by_rank ? U : transposed;
      SpttmPlan<Scalar, std::uint32_t, typename TestType::MemorySpace> plan;
      ScooTensor<Scalar, std::uint32_t, typename TestType::MemorySpace> Y;
      check_launches(exec, [&] {
        plan = make_spttm_plan(exec, X, {strategy, 8});
        Y = make_spttm_output(exec, plan, 2, 8);
        spttm(exec, plan, given, 2, Y, matrix);
      });
      // the plan has the buffers; only room for a transposed matrix comes with the first call
      if (matrix == TtmMatrix::mode_by_rank) plan = make_spttm_plan(exec, X, {strategy, 8});
      if (matrix == TtmMatrix::mode_by_rank) Y = make_spttm_output(exec, plan, 2, 8);
      auto const again = record([&] { spttm(exec, plan, given, 2, Y, matrix); });
      CHECK(!again.launches.empty());
      CHECK(again.fences.empty());
      for (auto const& label : again.allocations) CHECK(label == "[unlabeled]");  // OpenMP's teams
      CHECK(Y.coordinates.data() == plan.tensors[2].fibers.coordinates.data());   // not copied
    }
  }
}

TEST_CASE("spttm refuses what does not fit", "[kernels][spttm]") {
  using Exec = Kokkos::DefaultExecutionSpace;
  using Catch::Matchers::ContainsSubstring;
  Exec const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, {6, 5, 4}, 10);
  auto plan = make_spttm_plan(exec, X);
  auto const U = make_matrix<double>(exec, "U", 5, 3);
  auto const Y = make_spttm_output(exec, plan, 1, 3);
  auto const run = [&](int n, auto const& matrix, auto const& output,
                       TtmMatrix layout = TtmMatrix::mode_by_rank) {
    spttm(exec, plan, matrix, n, output, layout);
  };
  CHECK_NOTHROW(run(1, U, Y));
  CHECK_THROWS_WITH(run(3, U, Y), ContainsSubstring("mode 3 of a tensor of order 3"));
  CHECK_THROWS_WITH(run(-1, U, Y), ContainsSubstring("mode -1"));
  CHECK_THROWS_WITH(run(1, make_matrix<double>(exec, "U", 6, 3), Y),
                    ContainsSubstring("U has 6 rows, mode 1 has 5"));
  CHECK_THROWS_WITH(run(1, make_matrix<double>(exec, "U", 5, 4), Y),
                    ContainsSubstring("mode 1 of Y has length 3, not 4"));
  CHECK_THROWS_WITH(run(1, U, Y, TtmMatrix::rank_by_mode),
                    ContainsSubstring("U has 3 columns, mode 1 has 5"));
  CHECK_THROWS_WITH(run(1, U, make_spttm_output(exec, plan, 0, 3)),
                    ContainsSubstring("Y must have one dense mode, 1"));
  auto other = plan;
  other.tensors[1] = make_hierarchical(exec, X, {2, 0, 1});
  CHECK_THROWS_WITH(run(1, U, make_spttm_output(exec, other, 1, 3)),
                    ContainsSubstring("make it by make_spttm_output"));
  auto fewer = Y;
  fewer.values = make_matrix<double>(exec, "Y", Y.fibers() - 1, 3);
  CHECK_THROWS_WITH(run(1, U, fewer), ContainsSubstring("fibers, X has"));
  auto alias = Y;
  using Rows = decltype(alias.values);
  auto const square = make_matrix<double>(exec, "square", std::max<Position>(Y.fibers(), 5), 3);
  auto const rows = [&](Position count) {
    return Rows(Kokkos::subview(square, std::make_pair(Position{0}, count), Kokkos::ALL));
  };
  alias.values = rows(Y.fibers());
  CHECK_THROWS_WITH(run(1, rows(5), alias), ContainsSubstring("Y is U"));
  CHECK_THROWS_WITH(make_spttm_output(exec, plan, 1, 0), ContainsSubstring("rank 0"));
  CHECK_THROWS_WITH(make_spttm_output(exec, plan, 3, 1), ContainsSubstring("mode 3"));
  CHECK_THROWS_WITH(make_spttm_plan(exec, X, {SpttmStrategy::automatic, 0}),
                    ContainsSubstring("rank 0"));
  CHECK_THROWS_WITH(make_hierarchical(exec, X, {0, 1}),
                    ContainsSubstring("2 modes are named of 3"));
  CHECK_THROWS_WITH(make_hierarchical(exec, X, {0, 1, 1}), ContainsSubstring("listed twice"));
  CHECK_THROWS_WITH(from_name<SpttmStrategy>("best"), ContainsSubstring("no SpTTM strategy best"));
}
