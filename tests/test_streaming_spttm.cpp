// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/kernels/sspttm.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/same_bits.hpp>
#include <support/streaming.hpp>

using namespace sporades;
using namespace sporades::test;

TEMPLATE_LIST_TEST_CASE("Streamed SpTTM has the bits of others", "[kernels][streaming]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  auto const problem = GENERATE(from_range(streamed_problems()));
  auto const X = random_coo<Scalar, Index>(exec, problem.dims, problem.nnz, 5, problem.skew);
  auto const host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  SpttmOptions options;
  options.strategy = SpttmStrategy::lanes;
  options.rank = 5;
  auto resident = make_spttm_plan(exec, X, options);
  for (auto const& way : ways()) {
    options.streaming = way;
    auto out_of_core = make_spttm_plan(exec, host, options);
    for (int n = 0; n < X.order(); ++n)
      for (int R : {33, 5, 1}) {  // the widest with all ways, the others with one each
        if (R == 5 && way.streams != 3) continue;
        if (R == 1 && way.streams != 5) continue;
        INFO(to_string(problem.dims) << ", mode " << n << ", R " << R << ", streams " << way.streams
                                     << ", memory " << way.memory);
        auto const U = random_matrix<Scalar>(exec, problem.dims[n], R, 3);
        auto const Y = make_spttm_output(exec, resident, n, R);
        auto const Z = make_spttm_output(exec, out_of_core, n, R);
        std::uint64_t const bytes = Z.storage_bytes() - Z.coordinates.size() * sizeof(Index);
        if (out_of_core.storage_bytes() > way.memory + out_of_core.carry.bytes())
          CHECK(out_of_core.tensors[n].out_of_core);
        CHECK((Z.out_of_core_values != nullptr) ==
              (out_of_core.tensors[n].out_of_core && bytes > way.memory));
        spttm(exec, resident, U, n, Y);
        for (int repeat = 0; repeat < 2; ++repeat) {
          Kokkos::deep_copy(exec, Z.values, Scalar(7));
          spttm(exec, out_of_core, U, n, Z);
          CHECK(hash_bits(Y.values) == hash_bits(Z.values));
        }
        Kokkos::deep_copy(exec, Z.values, Scalar(7));
        auto const turned = random_matrix<Scalar>(exec, R, problem.dims[n], 4);
        spttm(exec, resident, turned, n, Y, TtmMatrix::rank_by_mode);
        spttm(exec, out_of_core, turned, n, Z, TtmMatrix::rank_by_mode);
        CHECK(hash_bits(Y.values) == hash_bits(Z.values));
      }
  }
}

// Chains of products, each on the last sorted mode of the one before, until blocks are large.
TEMPLATE_LIST_TEST_CASE("Streamed SspTTM has the bits of others", "[kernels][streaming]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  auto const problem = GENERATE(from_range(std::vector<Problem>{{{7, 4}, 20, 1},
                                                                {{2, 300, 200}, 1500, 1},
                                                                {{500, 400, 300}, 3000, 6},
                                                                {{30, 2, 20, 10}, 2000, 2},
                                                                {{6, 5, 7, 4, 8}, 1500, 1},
                                                                {{4, 3, 2}, 0, 1}}));
  int const R = GENERATE(1, 5, 33);
  int const n = GENERATE(0, 1);
  auto const X = random_coo<Scalar, Index>(exec, problem.dims, problem.nnz, 5, problem.skew);
  auto const A = random_factors<Scalar>(exec, problem.dims, R, 3);
  SpttmOptions options;
  options.strategy = SpttmStrategy::lanes;
  options.rank = R;
  auto resident_first = make_spttm_plan(exec, X, options);
  for (auto const& way : {Streaming{1, 1, 0}, Streaming{1 << 13, 3, 0}, Streaming{1, 5, 1 << 12}}) {
    options.streaming = way;
    auto out_of_core_first =
        make_spttm_plan(exec, copy_to(Kokkos::DefaultHostExecutionSpace{}, X), options);
    auto Y = make_spttm_output(exec, resident_first, n, R);
    auto out_of_core_Y = make_spttm_output(exec, out_of_core_first, n, R);
    spttm(exec, resident_first, A[n], n, Y);
    spttm(exec, out_of_core_first, A[n], n, out_of_core_Y);
    while (!Y.sorted_modes.empty() && Y.fibers() * Y.block_size() * R < 1 << 18) {
      int const m = Y.sorted_modes.back();
      INFO(to_string(problem.dims) << ", modes " << n << " to " << m << ", R " << R << ", streams "
                                   << way.streams << ", memory " << way.memory);
      auto resident = make_sspttm_plan(exec, Y, m, {R, {}});
      auto out_of_core = make_sspttm_plan(exec, out_of_core_Y, m, {R, way});
      CHECK(!resident.out_of_core);
      if (out_of_core_Y.out_of_core_coordinates || out_of_core_Y.out_of_core_values)
        CHECK(out_of_core.out_of_core);
      CHECK(out_of_core.blocks.extent(0) == 0);
      auto const Z = make_sspttm_output(exec, resident, R);
      auto const out_of_core_Z = make_sspttm_output(exec, out_of_core, R);
      std::uint64_t const bytes =
          out_of_core_Z.storage_bytes() - out_of_core_Z.coordinates.size() * sizeof(Index);
      CHECK(!Z.out_of_core_values);
      CHECK((out_of_core_Z.out_of_core_values != nullptr) ==
            (out_of_core.out_of_core && bytes > way.memory));
      CHECK(out_of_core_Z.out_of_core_coordinates == out_of_core.out_of_core);
      Kokkos::deep_copy(exec, out_of_core_Z.values, Scalar(7));
      sspttm(exec, resident, Y, A[m], Z);
      sspttm(exec, out_of_core, out_of_core_Y, A[m], out_of_core_Z);
      CHECK(hash_bits(Z.values) == hash_bits(out_of_core_Z.values));
      CHECK((out_of_core.carry.windows.bytes() > 0) == (out_of_core.out_of_core && Y.fibers() > 0));
      Y = Z;
      out_of_core_Y = out_of_core_Z;
    }
  }
}

TEMPLATE_LIST_TEST_CASE("SspTTM streams any tensor that is sorted for it", "[kernels][streaming]",
                        Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  int const R = 7;
  Dims const dims{60, 3, 400, 5};
  auto const X = random_coo<Scalar, Index>(exec, dims, 4000, 5, 3);
  auto const Y = make_scoo(exec, X, GENERATE(std::vector<int>{1}, std::vector<int>{3, 1}));
  int const n = Y.sorted_modes.back();  // with short fibers, and long ones
  auto const U = random_matrix<Scalar>(exec, dims[n], R, 3);
  auto resident = make_sspttm_plan(exec, Y, n);
  auto const Z = make_sspttm_output(exec, resident, R);
  sspttm(exec, resident, Y, U, Z);
  auto const expected = hash_bits(Z.values);
  // Rows without padding, of the host and in out-of-core memory.
  auto host = copy_to(Kokkos::DefaultHostExecutionSpace{}, Y);
  decltype(host.values) const packed("packed", Y.fibers(), Y.block_size());
  Kokkos::deep_copy(packed, host.values);
  host.values = packed;
  auto out_of_core = Y;
  out_of_core.out_of_core_values =
      sporades::detail::allocate_out_of_core(exec, packed.span() * sizeof(Scalar));
  out_of_core.values = decltype(out_of_core.values)(
      static_cast<Scalar*>(out_of_core.out_of_core_values.get()), Y.fibers(), Y.block_size());
  Kokkos::deep_copy(out_of_core.values, packed);
  for (auto const& way : ways()) {
    INFO("streams " << way.streams << ", memory " << way.memory);
    auto const check = [&](auto& plan, auto const& given) {
      CHECK(plan.out_of_core);
      auto const W = make_sspttm_output(exec, plan, R);
      Kokkos::deep_copy(exec, W.values, Scalar(7));
      sspttm(exec, plan, given, U, W);
      CHECK(hash_bits(W.values) == expected);
    };
    SspttmOptions const options{R, way};
    auto of_resident = make_sspttm_plan(exec, Y, n, options);
    auto of_host = make_sspttm_plan(exec, host, n, options);
    auto of_out_of_core = make_sspttm_plan(exec, out_of_core, n, options);
    check(of_resident, Y);
    check(of_resident, out_of_core);
    check(of_host, host);
    check(of_out_of_core, out_of_core);
    check(of_out_of_core, Y);
  }
  auto of_out_of_core = make_sspttm_plan(exec, out_of_core, n);
  CHECK(of_out_of_core.out_of_core);
  std::uint64_t const bytes = Y.storage_bytes() + resident.fibers.storage_bytes();
  CHECK(!make_sspttm_plan(exec, Y, n, {R, {bytes}}).out_of_core);
  CHECK(make_sspttm_plan(exec, Y, n, {R, {bytes - 1}}).out_of_core);
}

TEST_CASE("SspTTM says what it cannot stream", "[kernels][streaming]") {
  using Catch::Matchers::ContainsSubstring;
  Kokkos::DefaultHostExecutionSpace const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, Dims{6, 5, 4}, 40, 1, 1);
  auto Y = make_scoo(exec, X, {1});
  SspttmOptions options;
  options.streaming.memory = 100;
  CHECK_THROWS_WITH(make_sspttm_plan(exec, Y, 0, options),
                    ContainsSubstring("must be sorted by its sparse modes, 0 last; it is sorted by "
                                      "modes { 0 2 }"));
  Y.out_of_core_coordinates = sporades::detail::allocate_out_of_core(exec, 1);
  CHECK_THROWS_WITH(make_sspttm_plan(exec, Y, 0), ContainsSubstring("0 last"));
  Y.sorted_modes = {};
  CHECK_THROWS_WITH(make_sspttm_plan(exec, Y, 2), ContainsSubstring("sorted by modes { }"));
  options.streaming.streams = 0;
  CHECK_THROWS_WITH(make_sspttm_plan(exec, Y, 2, options), ContainsSubstring("0 streams"));
}

TEST_CASE("SpTTM says which strategy streams", "[kernels][streaming]") {
  Kokkos::DefaultHostExecutionSpace const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, Dims{6, 5, 4}, 40, 1, 1);
  SpttmOptions options;
  options.streaming.memory = 100;
  options.strategy = SpttmStrategy::spmm_rows;
  CHECK_THROWS_WITH(make_spttm_plan(exec, X, options),
                    Catch::Matchers::ContainsSubstring("spmm_rows cannot stream"));
  options.streaming.streams = 0;
  CHECK_THROWS_AS(make_spttm_plan(exec, X, options), Error);
}
