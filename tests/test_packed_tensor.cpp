// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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
