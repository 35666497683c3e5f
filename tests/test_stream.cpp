// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <sporades/kernels/stream.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

/// Length entries from `offset` on, where 16-byte loads are not always aligned, and one more
/// behind.
template <class Scalar, class Exec>
struct Operand {
  Vector<Scalar, typename Exec::memory_space> whole, part;

  Operand(Exec const& exec, std::size_t length, std::size_t offset, double start)
      : whole(Kokkos::view_alloc(exec, "operand"), offset + length + 1),
        part(Kokkos::subview(whole, std::make_pair(offset, offset + length))) {
    auto const host = Kokkos::create_mirror_view(whole);
    for (std::size_t i = 0; i < whole.extent(0); ++i)
      host(i) = static_cast<Scalar>(start + 0.25 * static_cast<double>(i % 1000));
    Kokkos::deep_copy(exec, whole, host);
    exec.fence();
  }
  std::vector<Scalar> values() const {
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, whole);
    return {host.data(), host.data() + host.extent(0)};
  }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("stream loops equal their definition", "[kernels][stream]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  for (std::size_t length : {0, 1, 2, 3, 4, 7, 1000, 100003})
    for (std::size_t offset : {0, 1, 4}) {
      Operand<Scalar, Exec> const x(exec, length, offset, 1), y(exec, length, offset, 2);
      auto const a = x.values(), b = y.values();
      Scalar const s = Scalar(0.5);
      auto check = [&](char const* name, auto const& run, auto const& define) {
        Operand<Scalar, Exec> const z(exec, length, offset, 7);
        auto expected = z.values();
        for (std::size_t i = offset; i < offset + length; ++i) expected[i] = define(a[i], b[i]);
        run(z.part);
        exec.fence();
        INFO(name << ", " << length << " entries from " << offset << " on");
        CHECK(z.values() == expected);  // exact: and nothing around it is touched
      };
      check(
          "copy", [&](auto const& z) { stream_copy(exec, x.part, z); },
          [](Scalar p, Scalar) { return p; });
      check(
          "scale", [&](auto const& z) { stream_scale(exec, s, x.part, z); },
          [s](Scalar p, Scalar) { return s * p; });
      check(
          "add", [&](auto const& z) { stream_add(exec, x.part, y.part, z); },
          [](Scalar p, Scalar q) { return p + q; });
      check(
          "triad", [&](auto const& z) { stream_triad(exec, s, x.part, y.part, z); },
          [s](Scalar p, Scalar q) { return p + s * q; });
      check(
          "multiply", [&](auto const& z) { stream_multiply(exec, x.part, y.part, z); },
          [](Scalar p, Scalar q) { return p * q; });
    }
}

TEST_CASE("stream loops refuse unequal lengths", "[kernels][stream]") {
  using Exec = Kokkos::DefaultExecutionSpace;
  Vector<double, Exec::memory_space> const a("a", 3), b("b", 4);
  CHECK_THROWS_WITH(stream_copy(Exec{}, a, b),
                    Catch::Matchers::ContainsSubstring("arrays of 4 and 3 entries"));
}
