// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/kernels/log_likelihood.hpp>
#include <sporades/kernels/mttkrp_all_modes.hpp>
#include <sporades/kernels/phi.hpp>
#include <sporades/kernels/sspttm.hpp>
#include <sporades/kernels/ttm_chain.hpp>
#include <support/files.hpp>
#include <support/tensors.hpp>

using namespace sporades;
using namespace sporades::test;

/// Two nonzeros of a 2 x 3 x 100 tensor, which use 1, 1 and 2 of the rows of the modes.
TEST_CASE("costs are those that counting gives", "[cost]") {
  Kokkos::DefaultHostExecutionSpace const exec{};
  auto const X = make_coo<double>({2, 3, 100}, {{{0, 1, 5}, 1}, {{0, 1, 7}, 2}});
  double const coordinates = 2 * (3 * 4 + 8), packed = 2 * (4 + 8);
  int const R = 5;
  auto const row = [](double count) { return count * R * 8; };

  auto const sorted = make_mttkrp_plan(exec, X, {MttkrpStrategy::sorted});
  CHECK(mttkrp_cost(exec, sorted, R, 0).flops == 2 * 3 * R);
  CHECK(mttkrp_cost(exec, sorted, R, 0).bytes == packed + 1 * 4 + row(1 + 2 + 2));
  CHECK(mttkrp_cost(exec, sorted, R, 2).bytes == packed + 2 * 4 + row(1 + 1 + 100));
  CHECK_THROWS_WITH(mttkrp_cost(exec, sorted, R, 3), "mttkrp_cost: mode 3 of a tensor of order 3");
  auto const atomic = make_mttkrp_plan(exec, X, {MttkrpStrategy::atomic});
  CHECK(mttkrp_cost(exec, atomic, R, 0).bytes == coordinates + row(1 + 2 + 2));
  MttkrpOptions rounded{MttkrpStrategy::sorted};
  rounded.gather = GatherPrecision::single;
  CHECK(mttkrp_cost(exec, make_mttkrp_plan(exec, X, rounded), R, 0).bytes ==
        packed + 1 * 4 + row(3 + 100 + 2));

  auto const all_modes = make_mttkrp_all_modes_plan(exec, X, {{MttkrpStrategy::sorted}});
  double sum = 0;
  for (int n = 0; n < 3; ++n) sum += mttkrp_cost(exec, sorted, R, n).bytes;
  CHECK(mttkrp_all_modes_cost(exec, all_modes, R).bytes == sum);

  auto const on_the_fly = make_phi_plan(exec, X, {PhiStrategy::pull, R});
  CHECK(phi_cost(exec, on_the_fly, R, 2).flops == 2 * 8 * R);
  CHECK(phi_cost(exec, on_the_fly, R, 2).bytes == packed + 2 * 4 + row(1 + 1 + 2 + 100));
  CHECK(update_pi_cost(exec, on_the_fly, R, 2).bytes == 0);
  auto const stored = make_phi_plan(exec, X, {PhiStrategy::pull, R, Pi::stored});
  CHECK(phi_cost(exec, stored, R, 2).flops == 2 * 4 * R);
  CHECK(phi_cost(exec, stored, R, 2).bytes == 2 * (4 + 8) + row(2 + 2 + 100));
  CHECK(update_pi_cost(exec, stored, R, 2).flops == 2 * 2 * R);
  CHECK(update_pi_cost(exec, stored, R, 2).bytes == 2 * 2 * 4 + row(1 + 1 + 2));

  auto const fibers = make_spttm_plan(exec, X);  // one fiber of mode 2, of two nonzeros
  CHECK(spttm_cost(exec, fibers, R, 2).flops == 2 * 2 * R);
  CHECK(spttm_cost(exec, fibers, R, 2).bytes == 2 * (4 + 8) + 2 * 8 + row(2 + 1));
  CHECK(spttm_cost(exec, fibers, R, 0).bytes == 2 * (4 + 8) + 3 * 8 + row(1 + 2));

  auto const Y = make_spttm_output(exec, fibers, 2, 4);  // one block of four
  auto const blocks = make_sspttm_plan(exec, Y, 1);
  CHECK(sspttm_cost(exec, blocks, R).flops == 2 * 4 * R);
  double const sorted_blocks = static_cast<double>(blocks.blocks.extent(0));  // their places
  CHECK(sspttm_cost(exec, blocks, R).bytes == 4 + 2 * 8 + sorted_blocks * 8 + 4 * 8 + row(1 + 4));

  auto const chains = make_ttm_chain_plan(exec, X, {2, 2, 3}, {TtmChainStrategy::csf});
  double const middle =
      static_cast<double>(chains.formats.as<CsfTensor>(0)->nodes(1));  // nodes, under one root
  CHECK(ttm_chain_cost(chains, 0).flops == chains.choices[0].flops);
  CHECK(ttm_chain_cost(chains, 0).bytes ==
        2 * 8 + (middle + 2) * 4 + (2 + middle + 1) * 8 +
            8.0 * (1 * 2 + 2 * 3 + static_cast<double>(chains.choices[0].columns.count())));

  CHECK(log_likelihood_cost(X, R).flops == 2 * 4 * R);
  CHECK(log_likelihood_cost(X, R).bytes == coordinates + row(2 + 3 + 100));
}

/// Modes 0 and 1 are fused to one of 12 cells: a sweep takes the products T, on both fused modes,
/// K, and on mode 2.
TEST_CASE("the cost of all modes is that of the products that a sweep takes", "[cost]") {
  Kokkos::DefaultHostExecutionSpace const exec{};
  auto const X = make_coo<double>({3, 4, 5}, {{{0, 1, 2}, 1}, {{2, 3, 4}, 2}});
  int const R = 4;
  auto const plan = sporades::detail::make_dimension_tree(
      {}, exec, X, {0, 1}, MttkrpOptions{MttkrpStrategy::automatic, R});
  double sum = 0;
  for (int n = 0; n < 2; ++n) sum += mttkrp_cost(exec, plan.whole, R, n).bytes;
  for (int n = 0; n < 2; ++n) sum += mttkrp_cost(exec, plan.grid, R, n).bytes;
  sum += 12 * (3 * 4 + 8) + (12 + 3 + 4) * R * 8;
  CHECK(mttkrp_all_modes_cost(exec, plan, R).bytes == sum);
}
