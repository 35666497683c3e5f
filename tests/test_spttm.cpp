// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <sporades/kernels/spttm_plan.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/same_bits.hpp>
#include <support/semi_sparse.hpp>
#include <support/tools.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

struct Problem {
  Dims dims;
  Position nnz;
  double skew;
};

std::vector<Problem> problems() {
  return {{{5}, 9, 1},
          {{400}, 3000, 1},  // one fiber, cut by every chunk
          {{7, 4}, 20, 1},
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

std::vector<SpttmStrategy> strategies() {
  std::vector<SpttmStrategy> all;
  for (char const* name : spttm_strategy_names) all.push_back(spttm_strategy(name));
  return all;
}

/// The definition: every nonzero adds its terms to the fiber that has its coordinates.
template <class Tensor, class Scoo, class MatrixType>
Sums define_spttm(Tensor const& X, int n, MatrixType const& U, Scoo const& Y) {
  auto const places = places_of(Y);
  Sums sums(Y.fibers(), U.extent(1));
  std::vector<bool> used(Y.fibers());
  for (Position p = 0; p < X.nnz(); ++p) {
    Place place(X.dims.size());
    for (int m = 0; m < X.order(); ++m)
      if (m != n) place[m] = X.coordinates(m, p);
    auto const at = places.find(place);
    REQUIRE(at != places.end());
    used[at->second] = true;
    for (std::size_t r = 0; r < U.extent(1); ++r)
      sums.add(at->second, r,
               static_cast<double>(X.values(p)) * static_cast<double>(U(X.coordinates(n, p), r)));
  }
  CHECK(std::count(used.begin(), used.end(), false) == 0);  // no fiber without nonzeros
  return sums;
}

template <class Case>
void check_all_modes(Problem const& problem, std::size_t R, SpttmStrategy strategy, bool padded) {
  using Scalar = typename Case::Scalar;
  using Exec = typename Case::ExecutionSpace;
  Exec const exec{};
  auto const X =
      random_coo<Scalar, typename Case::Index>(exec, problem.dims, problem.nnz, 7, problem.skew);
  auto plan = make_spttm_plan(exec, X, {strategy, 4});
  auto const host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  for (int n = 0; n < X.order(); ++n) {
    auto const U =
        random_matrix<Scalar>(exec, X.dims[n], R, 100 + static_cast<unsigned>(n), padded);
    auto Y = make_spttm_output(exec, plan, n, R);
    if (!padded) Y.values = typename decltype(Y)::Values("Y", Y.fibers(), R);
    Kokkos::deep_copy(exec, Y.values, std::numeric_limits<Scalar>::quiet_NaN());
    spttm(exec, plan, n, U, Y);
    exec.fence();
    INFO(to_string(problem.dims) << ", nnz " << problem.nnz << ", R " << R << ", mode " << n << ", "
                                 << to_string(strategy) << (padded ? ", padded" : ""));
    CHECK(is_in_order(Y));
    auto const sums = define_spttm(host, n, matrix_on_host(U), Y);
    // each of at most nnz terms and each addition rounds once
    CHECK(sums.wrong(Y.values, static_cast<double>(problem.nnz + 1)) == 0);
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("spttm equals its definition", "[kernels][spttm]", Cases) {
  for (auto const& problem : problems())
    for (auto strategy : strategies())
      for (std::size_t R : {1, 3, 16, 17, 33})
        check_all_modes<TestType>(problem, R, strategy, R != 3 && R != 33);
}
