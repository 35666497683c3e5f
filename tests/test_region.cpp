// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <sporades/core/detail/region.hpp>
#include <sporades/kernels/log_likelihood.hpp>
#include <sporades/kernels/phi.hpp>
#include <sporades/kernels/sspttm.hpp>
#include <sporades/kernels/ttm_chain.hpp>
#include <string_view>
#include <support/tensors.hpp>
#include <support/tools.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

using Exec = Kokkos::DefaultExecutionSpace;

/// Counts how often it is written.
struct Written {
  int* count;
  operator std::string_view() const {
    ++*count;
    return "written";
  }
};

}  // namespace

TEST_CASE("a region has a name only where a tool listens", "[regions]") {
  int count = 0;
  { sporades::detail::Region const region("first ", Written{&count}); }
  CHECK(count == 0);
  namespace tools = Kokkos::Tools::Experimental;
  auto const before = tools::get_callbacks();
  tools::set_allocate_data_callback(
      [](Kokkos_Profiling_SpaceHandle, char const*, void const*, std::uint64_t) {});
  { sporades::detail::Region const region("second ", Written{&count}); }
  tools::set_callbacks(before);
  CHECK(count == 0);
  auto const recording = record([&] {
    sporades::detail::Region const outer("outer ", Written{&count});
    { sporades::detail::Region const inner("inner ", 2); }
    sporades::detail::Region const last("last");
  });
  CHECK(count == 1);
  CHECK(recording.inside.empty());
  CHECK(recording.regions == std::vector<std::string>{"outer written", "outer written > inner 2",
                                                      "outer written > last"});
}

TEST_CASE("tools see each operation as a region with its strategy and mode", "[regions]") {
  Exec const exec{};
  int const R = 4;
  auto const X = random_coo<double, std::uint32_t>(exec, {6, 7, 8}, 60);
  Kokkos::deep_copy(X.values, 1.0);
  Factors<double, Exec::memory_space> A, V;
  for (auto dim : X.dims) {
    A.push_back(random_matrix<double>(exec, dim, R, 1));
    V.push_back(make_matrix<double>(exec, "V", dim, R));
  }
  auto products = make_mttkrp_plan(exec, X, {MttkrpStrategy::csf, R});
  auto multipliers = make_phi_plan(exec, X, {PhiStrategy::pull, R, Pi::stored});
  auto fibers = make_spttm_plan(exec, X, {SpttmStrategy::naive, R});
  auto chains = make_ttm_chain_plan(exec, X, {R, R, R}, {TtmChainStrategy::csf});
  auto const Y = make_spttm_output(exec, fibers, 1, R);
  auto blocks = make_sspttm_plan(exec, Y, 0, SspttmOptions{R});
  auto const Z = make_sspttm_output(exec, blocks, R);
  KruskalTensor<double, Exec::memory_space> model{decltype(model.weights)("weights", R), A};
  auto const recording = record([&] {
    mttkrp(exec, products, A, 2, V[2]);
    mttkrp(exec, products, A, 1, V[1]);
    mttkrp(exec, X, A, 0, V[0], MttkrpStrategy::atomic);
    update_pi(exec, multipliers, A, 1);
    phi(exec, multipliers, A, A[1], 1, V[1]);
    phi(exec, X, A, A[0], 0, V[0]);
    spttm(exec, fibers, A[1], 1, Y);
    sspttm(exec, blocks, Y, A[0], Z);
    ttm_chain(exec, chains, A, 2);
    log_likelihood(exec, X, model);
    make_mttkrp_plan(exec, X, {MttkrpStrategy::sorted, R});
  });
  CHECK(recording.regions ==
        std::vector<std::string>{"sporades::mttkrp csf, mode 2", "sporades::mttkrp csf, mode 1",
                                 "sporades::mttkrp atomic, mode 0", "sporades::update_pi, mode 1",
                                 "sporades::phi pull, mode 1", "sporades::phi atomic, mode 0",
                                 "sporades::spttm naive, mode 1", "sporades::sspttm, mode 0",
                                 "sporades::ttm_chain csf, mode 2", "sporades::log_likelihood",
                                 "sporades::make_mttkrp_plan"});
  for (auto const& label : recording.outside) {
    INFO(label);
    CHECK(label == "sporades::coo::check_coordinates");  // log_likelihood's, before its region
  }
}
