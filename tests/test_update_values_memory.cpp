// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/kernels/memory_need.hpp>
#include <sporades/kernels/update_values.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>
#include <support/tools.hpp>

namespace {

using sporades::MttkrpStrategy;
using sporades::test::random_coo;

/// What a plan holds with and without numbers, and what memory_need says of both.
template <class Make, class Need>
void check_memory(Make const& make, Need const& need, double lists, double nnz) {
  auto const held = [&](bool updatable) {
    std::uint64_t bytes = 0;
    auto const recording = sporades::test::record([&] {
      auto const plan = make(updatable);
      bytes = plan.storage_bytes();
    });
    double peak = 0;
    for (auto const& [space, view] : recording.bytes) peak = std::max(peak, view.peak);
    return std::make_pair(static_cast<double>(bytes), peak);
  };
  auto const without = held(false), with = held(true);
  CHECK(with.first - without.first == 4 * lists * nnz);
  CHECK(with.second <= need(true).peak);
  CHECK(need(true).kept - need(false).kept >= 4 * lists * nnz);
}

TEST_CASE("numbers are counted by memory_need", "[kernels][update_values]") {
  Kokkos::DefaultExecutionSpace const exec{};
  auto const X =
      sum_duplicates(exec, random_coo<double, std::uint32_t>(exec, {300, 200, 100}, 40000)).tensor;
  auto const nnz = static_cast<double>(X.nnz());
  for (auto const strategy : {MttkrpStrategy::sorted, MttkrpStrategy::csf, MttkrpStrategy::permuted,
                              MttkrpStrategy::flycoo, MttkrpStrategy::atomic}) {
    CAPTURE(to_string(strategy));
    sporades::MttkrpOptions options;
    options.strategy = strategy;
    bool const each = strategy == MttkrpStrategy::sorted || strategy == MttkrpStrategy::csf;
    check_memory(
        [&](bool updatable) {
          options.updatable = updatable;
          return make_mttkrp_plan(exec, sporades::test::copy_of(exec, X), options);
        },
        [&](bool updatable) {
          options.updatable = updatable;
          return memory_need(exec, X, options);
        },
        each ? 3 : 1, nnz);
  }
  sporades::SpttmOptions spttm_options;
  check_memory(
      [&](bool updatable) {
        spttm_options.updatable = updatable;
        return make_spttm_plan(exec, sporades::test::copy_of(exec, X), spttm_options);
      },
      [&](bool updatable) {
        spttm_options.updatable = updatable;
        return memory_need(exec, X, spttm_options);
      },
      3, nnz);
  sporades::TtmChainOptions chain_options;
  check_memory(
      [&](bool updatable) {
        chain_options.updatable = updatable;
        return make_ttm_chain_plan(exec, sporades::test::copy_of(exec, X), {4, 4, 4},
                                   chain_options);
      },
      [&](bool updatable) {
        chain_options.updatable = updatable;
        return memory_need(exec, X, std::vector<int>{4, 4, 4}, chain_options);
      },
      3, nnz);
}

}  // namespace
