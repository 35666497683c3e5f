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

struct Problem {
  Dims dims;
  Position nnz;
  double skew;
  std::vector<int> dense;
};

std::vector<Problem> problems() {
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
  for (auto const& [place_of_block, j] : places_of(Y)) {
    auto place = place_of_block;
    auto const i = place[n];
    place[n] = 0;
    auto const at = places.find(place);
    REQUIRE(at != places.end());
    for (std::size_t c = 0; c < U.extent(1); ++c)
      for (std::size_t k = 0; k < Y.block_size(); ++k)
        sums.add(at->second, c * Y.block_size() + k,
                 static_cast<double>(y(j, k)) * static_cast<double>(U(i, c)));
  }
  return sums;
}

template <class Case>
void check_all_modes(Problem const& problem, std::size_t R, bool padded) {
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
    auto plan = make_sspttm_plan(exec, Y, n, 4);
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
  for (auto const& problem : problems())
    for (std::size_t R : {1, 3, 16, 17, 33})
      check_all_modes<TestType>(problem, R, R != 3 && R != 33);
}
