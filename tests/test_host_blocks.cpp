// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <atomic>
#include <chrono>
#include <sporades/core/detail/host_blocks.hpp>
#include <sporades/core/error.hpp>
#include <support/files.hpp>
#include <thread>

using namespace sporades;
using namespace sporades::test;

TEST_CASE("each block is worked on once", "[host_blocks][threads]") {
  int const threads = GENERATE(0, 1, 2, 5);
  std::vector<std::atomic<int>> calls(100);
  detail::for_each_block(threads, calls.size(), [&](std::size_t block) { ++calls[block]; });
  for (auto const& count : calls) REQUIRE(count == 1);
  std::atomic<std::uint64_t> sum{0};
  detail::for_each_range(threads, 1000, 7, [&](std::uint64_t begin, std::uint64_t end) {
    for (auto k = begin; k < end; ++k) sum += k;
  });
  CHECK(sum == 999 * 1000 / 2);
  detail::for_each_block(threads, 0, [](std::size_t) { FAIL(); });
}

TEST_CASE("the exception of the lowest block is thrown", "[host_blocks][threads]") {
  int const threads = GENERATE(1, 2, 4);
  for (int repeat = 0; repeat < 100; ++repeat) {
    auto const message = message_of([&] {
      detail::for_each_block(threads, 8, [](std::size_t block) {
        if (block == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
        fail("block ", block);
      });
    });
    REQUIRE(message == "block 0");
  }
}

TEST_CASE("a problem stops later blocks, and no earlier one", "[host_blocks]") {
  detail::FirstProblem problem;
  auto const record = [&](std::size_t block) {
    try {
      fail("block ", block);
    } catch (...) {
      problem.record(block);
    }
  };
  CHECK_FALSE(problem.is_before(9));
  record(5);
  CHECK(problem.is_before(6));
  CHECK_FALSE(problem.is_before(5));
  CHECK_FALSE(problem.is_before(4));
  record(7);
  record(3);
  CHECK(problem.block() == 3);
  CHECK_FALSE(problem.is_before(3));
  CHECK(message_of([&] { problem.rethrow(); }) == "block 3");
}
