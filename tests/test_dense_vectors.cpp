// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/core/detail/dense.hpp>
#include <sporades/core/random.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>
#include <support/tools.hpp>

namespace {

using sporades::test::check_launches;
using sporades::test::new_instance;
using sporades::test::on_host;

TEMPLATE_LIST_TEST_CASE("sums over long vectors", "[core][dense]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  using Vector = sporades::Vector<Scalar, typename TestType::MemorySpace>;
  auto const count = GENERATE(0u, 1u, 31u, 32u, 33u, 2047u, 2048u, 2049u, 65537u, 300001u);
  // x begins in the middle of a View whose other entries are larger.
  Vector const owner("sporades::test::x", count + 2), y("sporades::test::y", count);
  Kokkos::deep_copy(owner, Scalar(9));
  Vector const x = Kokkos::subview(owner, std::make_pair(1u, count + 1));
  auto const hx = Kokkos::create_mirror_view(x), hy = Kokkos::create_mirror_view(y);
  double xy = 0, xx = 0;
  Scalar largest = 0;
  for (std::size_t p = 0; p < count; ++p) {
    hx(p) = p + 1 == count ? -1 : sporades::detail::random_entry<Scalar>(1, 0, p, 0) - Scalar(0.6);
    hy(p) = sporades::detail::random_entry<Scalar>(2, 0, p, 0) - Scalar(0.4);
    xy += double(hx(p)) * double(hy(p));
    xx += double(hx(p)) * double(hx(p));
    largest = std::max(largest, std::abs(hx(p)));
  }
  Kokkos::deep_copy(x, hx);
  Kokkos::deep_copy(y, hy);
  CHECK(std::abs(sporades::detail::dot(exec, x, y) - xy) <= 1e-13 * (1 + std::sqrt(double(count))));
  CHECK(std::abs(sporades::detail::norm_squared(exec, x) - xx) <= 1e-13 * (1 + double(count)));
  CHECK(sporades::detail::max_abs(exec, x) == largest);
  auto const run = [&] {
    sporades::detail::dot(exec, x, y);
    sporades::detail::max_abs(exec, x);
  };
  if (count > 0)
    check_launches(exec, run);
  else
    CHECK(sporades::test::record(run).inside.empty());
}

TEMPLATE_LIST_TEST_CASE("the largest magnitude beside NaN is NaN or that of some number",
                        "[core][dense]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  unsigned const count = GENERATE(1u, 2u, 33u, 5000u);
  unsigned const every = GENERATE(1u, 2u, 7u, 4999u);  // which entries are NaN, from which one on
  unsigned const from = GENERATE(0u, 1u);
  sporades::Vector<Scalar, typename TestType::MemorySpace> const x("sporades::test::x", count);
  auto const host = Kokkos::create_mirror_view(x);
  for (unsigned p = 0; p < count; ++p)
    host(p) = p % every == from % every ? std::numeric_limits<Scalar>::quiet_NaN() : -Scalar(p);
  Kokkos::deep_copy(x, host);
  Scalar const largest = sporades::detail::max_abs(exec, x);
  bool is_one = std::isnan(largest);
  for (unsigned p = 0; p < count; ++p) is_one = is_one || std::abs(host(p)) == largest;
  CAPTURE(count, every, from, largest);
  CHECK(is_one);
}

TEMPLATE_LIST_TEST_CASE("divisions by powers of two are exact, whatever the unit", "[core][dense]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Vector = sporades::Vector<Scalar, typename TestType::MemorySpace>;
  using Limits = std::numeric_limits<Scalar>;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  int const least = Limits::min_exponent - Limits::digits;  // of the least number above 0
  int const exponents[] = {least, least + 1, -Limits::max_exponent,   -1,
                           0,     1,         Limits::max_exponent - 1};
  int const exponent = exponents[GENERATE(range(0, 7))];
  std::size_t const count = GENERATE(0u, 1u, 33u, 300001u);
  bool const in_place = GENERATE(false, true);
  Vector const x("sporades::test::x", count);
  auto const y = in_place ? x : Vector("sporades::test::y", count);
  auto const entry = [=](std::size_t p) {  // up to 2^exponent
    return std::ldexp(2 * sporades::detail::random_entry<Scalar>(1, 0, p, 0) - Scalar(1), exponent);
  };
  auto const before = Kokkos::create_mirror_view(x);
  for (std::size_t p = 0; p < count; ++p) before(p) = entry(p);
  Kokkos::deep_copy(x, before);
  sporades::detail::divide_by_power_of_two(exec, x, exponent, y);
  exec.fence();
  auto const after = on_host(y);
  std::size_t wrong = 0;
  for (std::size_t p = 0; p < count; ++p) wrong += after(p) != std::ldexp(entry(p), -exponent);
  CAPTURE(exponent, count, in_place);
  CHECK(wrong == 0);
  if (count > 0)
    check_launches(exec, [&] { sporades::detail::divide_by_power_of_two(exec, x, exponent, y); });
}

TEST_CASE("norms add in double, and NaN is not lost", "[core][dense]") {
  Kokkos::DefaultHostExecutionSpace const exec{};
  sporades::Vector<float, Kokkos::HostSpace> const x("sporades::test::x", 20000000);
  Kokkos::deep_copy(x, 1.0f);  // past 2^24, where a float stops counting
  CHECK(sporades::detail::norm_squared(exec, x) == 20000000.0);
  x(12345678) = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(sporades::detail::norm_squared(exec, x)));
  x(12345678) = -std::numeric_limits<float>::infinity();
  CHECK(std::isinf(sporades::detail::norm_squared(exec, x)));
}

}  // namespace
