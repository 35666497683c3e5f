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
  sporades::detail::CarryCount counted;
  sporades::detail::MemoryCount count;
  auto const reserve_both = [&] {
    for (bool const is_long : {true, false}) {
      sporades::Position const chunks = is_long ? 3000 : 3;
      std::size_t const columns = is_long ? 4 : 4000;
      carry.reserve(exec, chunks, columns);
      CHECK(carry.level(0).sums.extent(0) >= 2 * chunks);
      CHECK(carry.level(0).sums.extent(1) == columns);
      counted.reserve<Scalar>(count, chunks, columns, sizeof(Index));
    }
  };
  auto const first = sporades::test::record(reserve_both);
  CHECK(carry.bytes() <= alone(3000, 4) + alone(3, 4000));
  CHECK(static_cast<double>(carry.bytes()) == count.held());
  using Memory = typename TestType::MemorySpace;
  auto const& bytes = first.bytes.at(Memory::name());  // Kokkos rounds them up
  CHECK(bytes.held <= count.held() + 64);
  CHECK(bytes.peak <= count.peak() + 64);
  // Where both take turns, nothing grows.
  auto const again = sporades::test::record(reserve_both);
  CHECK(again.allocations.empty());
  CHECK(static_cast<double>(carry.bytes()) == count.held());
}

}  // namespace
