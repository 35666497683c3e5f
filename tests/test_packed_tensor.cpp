// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <numeric>
#include <sporades/formats/packed_tensor.hpp>
#include <sporades/formats/sort_coo.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

Kokkos::DefaultHostExecutionSpace host() {
  return {};
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("packed tensors give back their nonzeros", "[formats][packed_tensor]",
                        Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  for (Dims const& dims : {Dims{9}, Dims{7, 4}, Dims{6, 1, 4}, Dims{300, 200, 100, 50},
                           Dims{70000, 60000, 50000}, Dims{2, 1u << 31, 1u << 31}, Dims{5, 0}}) {
    auto const X = random_coo<Scalar, Index>(exec, dims, dims.back() == 0 ? 0 : 3000, 5, 2);
    for (int n = 0; n < X.order(); ++n) {
      if (!sporades::detail::fits_packed(dims, n)) continue;
      std::vector<int> modes{n};
      for (int m = X.order() - 1; m >= 0; --m)
        if (m != n) modes.push_back(m);
      auto const list = sorted(exec, X, modes);
      auto const packed = make_packed(exec, list, n);
      INFO(to_string(dims) << ", mode " << n);
      auto const back = to_coo(exec, packed);
      exec.fence();
      check_same_nonzeros(copy_to(host(), list), copy_to(host(), back));
      CHECK(to_coo(exec, packed).sorted_modes == std::vector<int>{n});
      if (X.nnz() > 0)
        CHECK((packed.narrow.extent(0) > 0) == (sporades::detail::packed_bits(dims, n) <= 32));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("nonzeros sorted and packed at once are those sorted and then packed",
                        "[formats][packed_tensor]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  auto const same = [&](auto const& a, auto const& b) {
    auto const host_a = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, a);
    auto const host_b = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, b);
    REQUIRE(host_a.extent(0) == host_b.extent(0));
    Position differences = 0;
    for (Position p = 0; p < host_a.extent(0); ++p) differences += !(host_a(p) == host_b(p));
    CHECK(differences == 0);
  };
  // In the second last the words of a sort have no room for all indices, in the last not even for
  // those that it compares.
  for (Dims const& dims :
       {Dims{9}, Dims{7, 4}, Dims{6, 1, 4}, Dims{300, 200, 100, 50}, Dims{5, 0},
        Dims{3, 4, 2, 3, 2, 3, 2, 4}, Dims{70000, 60000, 50000}, Dims{7, 1u << 31, 1u << 31}}) {
    auto const X = random_coo<Scalar, Index>(exec, dims, dims.back() == 0 ? 0 : 3000, 5, 2);
    std::vector<int> ascending(dims.size());
    std::iota(ascending.begin(), ascending.end(), 0);
    for (auto const& given : {X, sorted(exec, X, ascending)})
      for (int n = 0; n < X.order(); ++n) {
        if (!sporades::detail::fits_packed(dims, n)) continue;
        std::vector<int> all{n};
        for (int m = X.order() - 1; m >= 0; --m)
          if (m != n) all.push_back(m);
        for (auto const& modes : {std::vector<int>{n}, all}) {
          INFO(to_string(dims) << ", mode " << n << ", " << modes.size() << " modes, sorted by "
                               << given.sorted_modes.size());
          auto const together = sporades::detail::sorted_packed(exec, given, modes);
          auto const apart = make_packed(exec, sorted(exec, given, modes), n);
          CHECK(together.dims == apart.dims);
          CHECK(together.row_mode == n);
          CHECK(together.modes == apart.modes);
          CHECK(together.shifts == apart.shifts);
          same(together.narrow, apart.narrow);
          same(together.wide, apart.wide);
          same(together.values, apart.values);
          same(together.rows, apart.rows);
          same(together.marks, apart.marks);
        }
      }
  }
}

TEST_CASE("a packed tensor of 3,000 nonzeros takes the bytes that it says",
          "[formats][packed_tensor]") {
  auto const X =
      sorted(host(), random_coo<double, std::uint32_t>(host(), {4, 100, 100}, 3000), {0, 1, 2});
  auto const packed = make_packed(host(), X, 0);
  CHECK(packed.rows.extent(0) == 4);
  CHECK(packed.storage_bytes() == 3000 * (8 + 4) + 4 * 4 + 24 * 8);
}

TEST_CASE("packed tensors refuse what does not fit", "[formats][packed_tensor]") {
  using Catch::Matchers::ContainsSubstring;
  auto const X = random_coo<double, std::uint32_t>(host(), {6, 5, 4}, 10);
  CHECK_THROWS_WITH(make_packed(host(), sorted(host(), X, {1}), 0),
                    ContainsSubstring("not sorted by mode 0 first"));
  Dims const large{2, 1u << 31, 1u << 31, 4};
  CHECK(!sporades::detail::fits_packed(large, 0));
  CHECK(sporades::detail::fits_packed(large, 1));
  CHECK_THROWS_WITH(
      make_packed(host(), sorted(host(), random_coo<double, std::uint32_t>(host(), large, 10), {0}),
                  0),
      ContainsSubstring("take 64 bits, a word has 63"));
}
