// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/kernels/detail/carry_count.hpp>
#include <sporades/kernels/detail/row_sums.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/tools.hpp>

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

TEMPLATE_LIST_TEST_CASE("the slots of a long product are not as wide as those of a wide one",
                        "[kernels][buffers]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  auto const exec = sporades::test::new_instance<typename TestType::ExecutionSpace>();
  using Carry = sporades::detail::CarryBuffers<Scalar, Index, typename TestType::MemorySpace>;
  auto const alone = [&](sporades::Position chunks, std::size_t columns) {
    Carry carry;
    carry.reserve(exec, chunks, columns);
    return carry.bytes();
  };
  Carry carry;
  auto const reserve_both = [&] {
    for (bool const is_long : {true, false}) {
      sporades::Position const chunks = is_long ? 3000 : 3;
      std::size_t const columns = is_long ? 4 : 4000;
      carry.reserve(exec, chunks, columns);
      CHECK(carry.level(0).sums.extent(0) >= 2 * chunks);
      CHECK(carry.level(0).sums.extent(1) == columns);
    }
  };
  reserve_both();
  CHECK(carry.bytes() <= alone(3000, 4) + alone(3, 4000));
  // Where both take turns, nothing grows.
  auto const again = sporades::test::record(reserve_both);
  CHECK(again.allocations.empty());
}

TEMPLATE_LIST_TEST_CASE("carry_bytes is a bound of what carry slots take", "[kernels][buffers]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  auto const exec = sporades::test::new_instance<typename TestType::ExecutionSpace>();
  sporades::Position const chunks = GENERATE(1, 2, 3, 16, 17, 256, 257, 273, 4096, 4097, 100000);
  std::size_t const columns = GENERATE(1, 4, 16, 100);
  CAPTURE(chunks, columns);
  sporades::detail::CarryBuffers<Scalar, Index, typename TestType::MemorySpace> carry;
  carry.reserve(exec, chunks, columns);
  double const counted = sporades::detail::carry_bytes<Scalar>(chunks, columns);
  CHECK(counted >= static_cast<double>(carry.bytes()));
  CHECK(counted <= 1.3 * static_cast<double>(carry.bytes() + 8 * chunks));
}

}  // namespace
