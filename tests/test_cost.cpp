// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/kernels/log_likelihood.hpp>
#include <sporades/kernels/phi.hpp>
#include <sporades/kernels/sspttm.hpp>
#include <sporades/kernels/ttm_chain.hpp>
#include <support/files.hpp>
#include <support/tensors.hpp>

using namespace sporades;
using namespace sporades::test;

/// Two nonzeros of a 2 x 3 x 100 tensor, so that two of the rows of the long mode are used at most.
TEST_CASE("costs are those that counting gives", "[cost]") {
  Kokkos::DefaultHostExecutionSpace const exec{};
  auto const X = make_coo<double>({2, 3, 100}, {{{0, 1, 5}, 1}, {{0, 1, 7}, 2}});
  double const nonzeros = 2 * (3 * 4 + 8), rows = 2 + 2 + 2;
  int const R = 5;
  auto const row = [](double count) { return count * R * 8; };

  auto const products = make_mttkrp_plan(exec, X);
  CHECK(mttkrp_cost(products, R, 0).flops == 2 * 3 * R);
  CHECK(mttkrp_cost(products, R, 0).bytes == nonzeros + row(rows));
  CHECK_THROWS_WITH(mttkrp_cost(products, R, 3), "mttkrp_cost: mode 3 of a tensor of order 3");

  auto const on_the_fly = make_phi_plan(exec, X);
  CHECK(phi_cost(on_the_fly, R, 2).flops == 2 * 8 * R);
  CHECK(phi_cost(on_the_fly, R, 2).bytes == nonzeros + row(rows + 2));
  auto const stored = make_phi_plan(exec, X, {PhiStrategy::pull, R, Pi::stored});
  CHECK(phi_cost(stored, R, 2).flops == 2 * 4 * R);
  CHECK(phi_cost(stored, R, 2).bytes == nonzeros + row(2 + 2 + 2));

  auto const fibers = make_spttm_plan(exec, X);  // one fiber of mode 2, of two nonzeros
  CHECK(spttm_cost(fibers, R, 2).flops == 2 * 2 * R);
  CHECK(spttm_cost(fibers, R, 2).bytes == 2 * (4 + 8) + 8 + row(2 + 1));
  CHECK(spttm_cost(fibers, R, 0).bytes == 2 * (4 + 8) + 2 * 8 + row(2 + 2));

  auto const Y = make_spttm_output(exec, fibers, 2, 4);  // one block of four
  auto const blocks = make_sspttm_plan(exec, Y, 1);
  CHECK(sspttm_cost(blocks, R).flops == 2 * 4 * R);
  CHECK(sspttm_cost(blocks, R).bytes == 4 + 4 * 8 + row(4));

  auto const chains = make_ttm_chain_plan(exec, X, {2, 2, 3}, {TtmChainStrategy::csf});
  CHECK(ttm_chain_cost(chains, 0).flops == chains.choices[0].flops);
  CHECK(ttm_chain_cost(chains, 0).bytes ==
        nonzeros + 8.0 * static_cast<double>(chains.choices[0].columns.count()));

  CHECK(log_likelihood_cost(X, R).flops == 2 * 4 * R);
  CHECK(log_likelihood_cost(X, R).bytes == nonzeros + row(rows));
}
