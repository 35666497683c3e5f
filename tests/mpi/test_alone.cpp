// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/cp_apr.hpp>
#include <sporades/algorithms/generate.hpp>
#include <sporades/algorithms/tucker.hpp>
#include <sporades/kernels/mttkrp_all_modes.hpp>
#include <sporades/kernels/phi.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>
#include <support/tools.hpp>

using namespace sporades;

namespace {

/// What a call allocates, copies and launches, in order.
std::vector<std::string> steps(test::Recording const& recording) {
  std::vector<std::string> all = recording.allocations;
  for (auto const& copy : recording.copies)
    all.push_back(copy.from + " to " + copy.to + ": " + std::to_string(copy.bytes));
  for (auto const& launch : recording.launches) all.push_back(launch.label);
  for (auto const& [space, bytes] : recording.bytes)
    all.push_back(space + ": " + std::to_string(bytes.peak));
  return all;
}

/// make(processes...) is what is made without processes, and sends no message.
template <class Make>
void costs_nothing(char const* what, Make const& make) {
  CAPTURE(what);
  Communicator const one(MPI_COMM_SELF);
  auto const expected = steps(test::record([&] { make(); }));
  CHECK(!expected.empty());
  CHECK(steps(test::record([&] { make(Communicator()); })) == expected);
  CHECK(steps(test::record([&] { make(one); })) == expected);
  for (auto const& [name, traffic] : one.traffic()) {
    CAPTURE(name);
    CHECK(traffic.messages == 0);
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("plans and problems of one process cost no more with a communicator",
                        "[mpi][variants]", test::Cases) {
  using Exec = typename TestType::ExecutionSpace;
  using Scalar = typename TestType::Scalar;
  Exec const exec{};
  auto const X = generate<Scalar, std::uint32_t>(exec, {60, 5, 40, 4}, 3000, 0.3);
  for (bool has_slices : {false, true}) {
    MttkrpOptions options;
    options.slices.count = has_slices ? 4 : 1;
    costs_nothing("make_mttkrp_plan", [&](auto const&... processes) {
      auto plan = make_mttkrp_plan(processes..., exec, X, options);
      mttkrp(exec, plan, test::random_factor_list<Exec, Scalar>(exec, X.dims, 16, true), 2,
             make_matrix<Scalar>(exec, "V", X.dims[2], 16));
    });
  }
  costs_nothing("make_mttkrp_all_modes_plan", [&](auto const&... processes) {
    make_mttkrp_all_modes_plan(processes..., exec, X, MttkrpAllModesOptions{});
  });
  costs_nothing("make_phi_plan", [&](auto const&... processes) {
    make_phi_plan(processes..., exec, X, PhiOptions{});
  });
  costs_nothing("make_cp_als_problem", [&](auto const&... processes) {
    make_cp_als_problem(processes..., exec, X, CpAlsOptions{});
  });
  costs_nothing("make_tucker_problem", [&](auto const&... processes) {
    TuckerOptions options;
    options.ranks = {2, 2, 2, 2};
    make_tucker_problem(processes..., exec, X, options);
  });
  for (auto method : {CpAprMethod::mu, CpAprMethod::pdnr}) {
    costs_nothing("make_cp_apr_problem", [&](auto const&... processes) {
      CpAprOptions options;
      options.method = method;
      make_cp_apr_problem(processes..., exec, X, options);
    });
  }
}
