// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <sporades/kernels/mttkrp.hpp>
#include <sporades/kernels/sspttm.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/same_bits.hpp>
#include <support/semi_sparse.hpp>
#include <support/tools.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

struct SemiSparseProblem {
  Dims dims;
  Position nnz;
  double skew;
  std::vector<int> dense;
};

std::vector<SemiSparseProblem> semi_sparse_problems() {
  return {{{5}, 9, 1, {}},
          {{7, 4}, 20, 1, {1}},
          {{7, 4}, 20, 1, {0}},
          {{3000, 3}, 9000, 1, {1}},      // one long fiber of blocks
          {{4000, 2, 3}, 20000, 1, {2}},  // long and short ones
          {{6, 5, 4}, 40, 1, {1}},
          {{40, 3, 50}, 3000, 1, {1}},
          {{20, 33, 9}, 900, 1, {1}},
          {{7, 300, 200, 2}, 20000, 2, {0}},
          {{60, 4, 70, 5}, 5000, 1, {3, 1}},  // two dense modes, not ascending
          {{6, 16, 5, 17}, 400, 1, {1, 3}},
          {{9, 8, 1, 6}, 700, 1, {2}},
          {{5, 4, 3, 4, 5}, 900, 1, {1, 2, 4}},
          {{3, 4, 2, 3, 2, 4}, 600, 1, {5, 0, 3, 1}},
          {{4, 3}, 0, 1, {1}},      // nothing in it
          {{0, 3, 2}, 0, 1, {1}}};  // an empty mode
}

/// The definition: every block of Y adds its terms to the block of Z that has its coordinates.
template <class Scoo, class MatrixType>
Sums define_sspttm(Scoo const& Y, int n, MatrixType const& U, Scoo const& Z) {
  auto const places = places_of(Z);
  auto const y = matrix_on_host(Y.values);
  Sums sums(Z.fibers(), U.extent(1) * Y.block_size());
  Position lost = 0;
  for (auto const& [place_of_block, j] : places_of(Y)) {
    auto place = place_of_block;
    auto const i = place[n];
    place[n] = 0;
    auto const at = places.find(place);
    if (at == places.end()) {
      ++lost;
      continue;
    }
    for (std::size_t c = 0; c < U.extent(1); ++c)
      for (std::size_t k = 0; k < Y.block_size(); ++k)
        sums.add(at->second, c * Y.block_size() + k,
                 static_cast<double>(y(j, k)) * static_cast<double>(U(i, c)));
  }
  CHECK(lost == 0);
  return sums;
}

template <class Case>
void check_all_modes(SemiSparseProblem const& problem, std::size_t R, bool padded,
                     SspttmStrategy strategy = SspttmStrategy::automatic) {
  using Scalar = typename Case::Scalar;
  using Exec = typename Case::ExecutionSpace;
  Exec const exec{};
  auto const X =
      random_coo<Scalar, typename Case::Index>(exec, problem.dims, problem.nnz, 7, problem.skew);
  auto Y = make_scoo(exec, X, problem.dense);
  if (!padded) {
    auto const packed = typename decltype(Y)::Values("Y", Y.fibers(), Y.block_size());
    Kokkos::deep_copy(packed, Y.values);
    Y.values = packed;
  }
  for (int n : Y.sparse_modes) {
    auto plan = make_sspttm_plan(exec, Y, n, {4, {}, strategy});
    auto const U =
        random_matrix<Scalar>(exec, X.dims[n], R, 100 + static_cast<unsigned>(n), padded);
    auto Z = make_sspttm_output(exec, plan, R);
    if (!padded) Z.values = typename decltype(Z)::Values("Z", Z.fibers(), Z.block_size());
    Kokkos::deep_copy(exec, Z.values, std::numeric_limits<Scalar>::quiet_NaN());
    sspttm(exec, plan, Y, U, Z);
    exec.fence();
    INFO(to_string(problem.dims) << ", nnz " << problem.nnz << ", R " << R << ", mode " << n
                                 << (padded ? ", padded" : ""));
    CHECK(is_in_order(Z));
    auto const sums = define_sspttm(Y, n, matrix_on_host(U), Z);
    CHECK(sums.wrong(Z.values, static_cast<double>(Y.fibers() + 1)) == 0);
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("sspttm equals its definition", "[kernels][sspttm]", Cases) {
  for (auto const& problem : semi_sparse_problems())
    for (std::size_t R : {1, 3, 16, 17, 33})
      check_all_modes<TestType>(problem, R, R != 3 && R != 33);
}

TEMPLATE_LIST_TEST_CASE("sspttm with blocks of any size equals its definition", "[kernels][sspttm]",
                        Cases) {
  for (std::uint64_t size = 1; size <= 70; ++size)
    check_all_modes<TestType>({{4, size, 5}, 30, 1, {1}}, size % 11 + 1, size % 2 == 0);
}

// Past 32 MiB a CPU writes whole lines past its caches.
TEMPLATE_LIST_TEST_CASE("sspttm with an output larger than caches equals its definition",
                        "[kernels][sspttm]", Cases) {
  check_all_modes<TestType>({{9000, 32, 3}, 20000, 1, {1}}, 33, true);
}

TEMPLATE_LIST_TEST_CASE("sspttm by chunks equals its definition", "[kernels][sspttm]", Cases) {
  for (auto const& problem : semi_sparse_problems())
    for (std::size_t R : {1, 17, 33})
      check_all_modes<TestType>(problem, R, R == 17, SspttmStrategy::chunks);
}

TEST_CASE("sspttm by chunks is not streamed", "[kernels][sspttm]") {
  Kokkos::DefaultExecutionSpace const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, {20, 30, 4}, 900);
  auto const Y = make_scoo(exec, X, {2});
  SspttmOptions options{4, {}, SspttmStrategy::chunks};
  options.streaming.always = true;
  CHECK_THROWS_WITH(make_sspttm_plan(exec, Y, Y.sorted_modes.back(), options),
                    Catch::Matchers::ContainsSubstring("strategy chunks cannot stream"));
}

TEST_CASE("sspttm with 64-bit indices equals its definition", "[kernels][sspttm]") {
  using Wide = Case<Kokkos::DefaultExecutionSpace, double, std::uint64_t>;
  for (auto const& problem : semi_sparse_problems()) check_all_modes<Wide>(problem, 17, true);
}

TEMPLATE_LIST_TEST_CASE("a chain of products holds mttkrp on its diagonal",
                        "[kernels][spttm][sspttm]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  std::size_t const R = 3;
  Dims const dims{11, 6, 9, 7};
  auto const X = random_coo<Scalar, std::uint32_t>(exec, dims, 500, 3);
  Factors<Scalar, typename Exec::memory_space> A;
  for (unsigned m = 0; m < 4; ++m) A.push_back(random_matrix<Scalar>(exec, dims[m], R, m + 1));
  for (int n = 0; n < 4; ++n) {
    auto const V = make_matrix<Scalar>(exec, "V", dims[n], R);
    mttkrp(exec, X, A, n, V);
    std::vector<int> modes{n};
    for (int m = 3; m >= 0; --m)
      if (m != n) modes.push_back(m);
    auto const H = make_hierarchical(exec, X, modes);
    auto Y = make_spttm_output(exec, H, R);
    spttm(exec, H, A[modes[3]], Y);
    for (int k = 2; k > 0; --k) {
      auto plan = make_sspttm_plan(exec, Y, modes[k]);
      CHECK(plan.blocks.extent(0) == 0);  // nothing was sorted
      auto const Z = make_sspttm_output(exec, plan, R);
      sspttm(exec, plan, Y, A[modes[k]], Z);
      Y = Z;
    }
    exec.fence();
    CHECK(Y.dense_modes == std::vector<int>(modes.begin() + 1, modes.end()));
    auto const expected = matrix_on_host(V), chain = matrix_on_host(Y.values);
    auto const rows = on_host(Y.coordinates);
    Position wrong = 0;
    for (Position f = 0; f < Y.fibers(); ++f)
      for (std::size_t r = 0; r < R; ++r) {
        double const difference = chain(f, r * (R * R + R + 1)) - expected(rows(0, f), r);
        // 500 terms of at most 0.6 / 8
        if (!(std::abs(difference) <= 500 * std::numeric_limits<Scalar>::epsilon() * 40)) ++wrong;
      }
    CHECK(Y.fibers() > 0);
    CHECK(wrong == 0);
  }
}

TEMPLATE_LIST_TEST_CASE("sspttm takes other values with the same plan", "[kernels][sspttm]",
                        Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {30, 4, 40}, 500);
  auto const Y = make_scoo(exec, X, {1});
  auto const U = random_matrix<Scalar>(exec, 30, 5, 1);
  auto plan =
      make_sspttm_plan(exec, Y, 0, SspttmOptions{5});  // sorted by 0 first: blocks change places
  CHECK(plan.blocks.extent(0) == Y.fibers());
  auto const Z = make_sspttm_output(exec, plan, 5);
  for (double value : {1.0, 2.0}) {
    Kokkos::deep_copy(exec, Y.values, static_cast<Scalar>(value));
    sspttm(exec, plan, Y, U, Z);
    exec.fence();
    CHECK(define_sspttm(Y, 0, matrix_on_host(U), Z).wrong(Z.values, 32) == 0);
  }
}

TEMPLATE_LIST_TEST_CASE("sspttm gives the same bits on every run and number of threads",
                        "[kernels][sspttm][threads]", AllCases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {3, 10, 9000}, 40000, 3);
  auto const Y = make_scoo(exec, X, {1});
  for (int n : {0, 2}) {  // mode 2: three long fibers, carried
    auto plan = make_sspttm_plan(exec, Y, n);
    auto const U = random_matrix<Scalar>(exec, X.dims[n], 17, 5);
    auto const Z = make_sspttm_output(exec, plan, 17);
    for (int run = 0; run < 2; ++run) {
      sspttm(exec, plan, Y, U, Z);
      exec.fence();
      check_same_bits(std::string("sspttm ") + Exec::name() + " mode " + std::to_string(n) +
                          " bytes " + std::to_string(sizeof(Scalar)),
                      hash_bits(Z.values));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("sspttm labels its kernels, runs them on its instance and allocates once",
                        "[kernels][sspttm]", Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {3, 10, 3000}, 9000);
  auto const Y = make_scoo(exec, X, {1});
  for (int n : {0, 2}) {
    auto const U = random_matrix<Scalar>(exec, X.dims[n], 8, 1);
    SspttmPlan<Scalar, std::uint32_t, typename TestType::MemorySpace> plan;
    ScooTensor<Scalar, std::uint32_t, typename TestType::MemorySpace> Z;
    check_launches(exec, [&] {
      plan = make_sspttm_plan(exec, Y, n, SspttmOptions{8});
      Z = make_sspttm_output(exec, plan, 8);
      sspttm(exec, plan, Y, U, Z);
    });
    plan = make_sspttm_plan(exec, Y, n, SspttmOptions{8});
    Z = make_sspttm_output(exec, plan, 8);
    auto const first = record([&] { sspttm(exec, plan, Y, U, Z); });
    CHECK(!first.launches.empty());
    CHECK(first.fences.empty());
    CHECK(first.allocations.empty());
  }
}

TEST_CASE("sspttm refuses what does not fit", "[kernels][sspttm]") {
  using Catch::Matchers::ContainsSubstring;
  Kokkos::DefaultExecutionSpace const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, {6, 5, 4}, 20);
  auto const Y = make_scoo(exec, X, {1});
  auto plan = make_sspttm_plan(exec, Y, 2);
  auto const U = make_matrix<double>(exec, "U", 4, 3);
  auto const Z = make_sspttm_output(exec, plan, 3);
  CHECK_NOTHROW(sspttm(exec, plan, Y, U, Z));
  CHECK_THROWS_WITH(make_sspttm_plan(exec, Y, 1), ContainsSubstring("mode 1 is dense in Y"));
  CHECK_THROWS_WITH(make_sspttm_plan(exec, Y, 3),
                    ContainsSubstring("mode 3 of a tensor of order 3"));
  CHECK_THROWS_WITH(make_sspttm_plan(exec, Y, -1), ContainsSubstring("mode -1"));
  CHECK_THROWS_WITH(make_sspttm_plan(exec, Y, 0, SspttmOptions{0}), ContainsSubstring("rank 0"));
  CHECK_THROWS_WITH(make_sspttm_output(exec, plan, 0), ContainsSubstring("rank 0"));
  CHECK_THROWS_WITH(sspttm(exec, plan, Y, make_matrix<double>(exec, "U", 5, 3), Z),
                    ContainsSubstring("U has 5 rows, mode 2 has 4"));
  CHECK_THROWS_WITH(sspttm(exec, plan, Y, make_matrix<double>(exec, "U", 4, 2), Z),
                    ContainsSubstring("Z is 6 x 5 x 3, not 6 x 5 x 2"));
  CHECK_THROWS_WITH(sspttm(exec, plan, make_scoo(exec, X, {0}), U, Z),
                    ContainsSubstring("made for another tensor than Y"));
  auto other = make_sspttm_plan(exec, Y, 2);
  CHECK_THROWS_WITH(sspttm(exec, plan, Y, U, make_sspttm_output(exec, other, 3)),
                    ContainsSubstring("not made by this plan's make_sspttm_output"));
  auto alias = Z;
  using Rows = decltype(alias.values);
  auto const shared = make_matrix<double>(exec, "shared", 30, 15);
  auto const part = [&](Position rows, std::size_t columns) {
    return Rows(Kokkos::subview(shared, std::make_pair(Position{0}, rows),
                                std::make_pair(std::size_t{0}, columns)));
  };
  alias.values = part(Z.fibers(), 15);
  auto from = Y;
  from.values = part(Y.fibers(), 5);
  CHECK_THROWS_WITH(sspttm(exec, plan, from, U, alias), ContainsSubstring("Z is Y"));
  CHECK_THROWS_WITH(sspttm(exec, plan, Y, part(4, 3), alias), ContainsSubstring("Z is U"));
}
