// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/kernels/detail/row_sums.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>

namespace {

TEMPLATE_LIST_TEST_CASE("carry slots stay whole where memory runs out", "[kernels][buffers]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  auto const exec = sporades::test::new_instance<typename TestType::ExecutionSpace>();
  sporades::detail::CarryBuffers<Scalar, Index, typename TestType::MemorySpace> carry;
  auto const is_whole = [&](std::size_t slots) {
    auto const& level = carry.level(0);
    return level.rows.extent(0) >= slots && level.sums.extent(0) >= slots &&
           level.sums.extent(1) >= 4;
  };
  carry.reserve(exec, 10, 4);
  CHECK(is_whole(20));
  std::size_t const past_all_memory = std::size_t{1} << 44;  // columns of 4 or 8 bytes
  CHECK_THROWS(carry.reserve(exec, 1000, past_all_memory));
  CHECK(is_whole(20));
  carry.reserve(exec, 1000, 4);
  CHECK(is_whole(2000));
  CHECK_THROWS(carry.reserve(exec, 3, past_all_memory));
  carry.reserve(exec, 1000, 4);
  CHECK(is_whole(2000));
}

}  // namespace
