// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/core/random.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/tools.hpp>

namespace {

TEST_CASE("splitmix64 gives the published sequence", "[core][random]") {
  // The generator of seed 1234567 is splitmix64(seed + k 0x9E3779B97F4A7C15), k = 0, 1, ...
  std::uint64_t const step = 0x9E3779B97F4A7C15u, seed = 1234567;
  CHECK(sporades::detail::splitmix64(seed) == 6457827717110365317u);
  CHECK(sporades::detail::splitmix64(seed + step) == 3203168211198807973u);
  CHECK(sporades::detail::splitmix64(seed + 2 * step) == 9817491932198370423u);
}

TEMPLATE_LIST_TEST_CASE("random factors are the numbers that the design gives", "[core][random]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = sporades::test::new_instance<typename TestType::ExecutionSpace>();
  sporades::Dims const dims{70000, 3, 0};
  sporades::Factors<Scalar, typename TestType::MemorySpace> A;
  sporades::test::check_launches(exec,
                                 [&] { A = sporades::random_factors<Scalar>(exec, dims, 5, 42); });
  REQUIRE(A.size() == 3);
  std::size_t wrong = 0;
  for (std::uint64_t n = 0; n < 3; ++n) {
    REQUIRE(A[n].extent(0) == dims[n]);
    REQUIRE(A[n].extent(1) == 5);
    auto const padded = sporades::detail::with_padding(A[n]);
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, padded);
    for (std::uint64_t i = 0; i < dims[n]; ++i)
      for (std::uint64_t r = 0; r < 8; ++r) {
        auto const bits = sporades::detail::splitmix64(42u ^ (n << 56) ^ (i << 16) ^ r) >> 11;
        auto const expected =
            r < 5 ? static_cast<Scalar>(std::ldexp(double(bits), -53)) : Scalar{0};
        wrong += host(i, r) != expected;
      }
  }
  CHECK(wrong == 0);
  CHECK_THROWS_AS(sporades::random_factors<Scalar>(exec, dims, 0, 1), sporades::Error);
  CHECK_THROWS_AS(sporades::random_factors<Scalar>(exec, dims, 65536, 1), sporades::Error);
}

}  // namespace
