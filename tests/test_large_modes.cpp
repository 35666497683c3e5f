// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/cp_apr.hpp>
#include <sporades/algorithms/tucker.hpp>
#include <sporades/kernels/memory_need.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>

/// Modes so long that sums and products of their lengths are past 2^64, as hashes make them: half
/// of all hashes of 64 bits are past 2^63. All that needs room for a row of each says so at once.

using namespace sporades;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::uint64_t lengths[] = {std::uint64_t{1} << 31,       std::uint64_t{1} << 32,
                                     (std::uint64_t{1} << 63) - 1, std::uint64_t{1} << 63,
                                     (std::uint64_t{1} << 63) + 1, ~std::uint64_t{0}};

/// Four nonzeros, one of them in the last row of mode n, which is that long.
template <class ExecutionSpace>
auto long_tensor(ExecutionSpace const& exec, int n, std::uint64_t length) {
  Dims dims{3, 2, 4};
  dims[n] = length;
  Kokkos::DefaultHostExecutionSpace const host{};
  auto X = detail::allocate_coo<double, std::uint64_t>(host, dims, 4);
  host.fence();
  for (Position p = 0; p < 4; ++p) {
    for (int m = 0; m < 3; ++m) X.coordinates(m, p) = p % 2;
    X.values(p) = static_cast<double>(p + 1);
  }
  X.coordinates(n, 3) = length - 1;
  return copy_to(exec, X);
}

}  // namespace

TEST_CASE("blocks of rows cover any number of rows", "[core][large_modes]") {
  for (auto const rows : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{257}, lengths[0] + 1,
                          lengths[3], lengths[4], lengths[5]})
    for (std::uint64_t const entries : {1, 16, 65536, 1 << 23}) {
      CAPTURE(rows, entries);
      for (auto const& blocks :
           {detail::RowBlocks(rows, entries), detail::RowBlocks::of_columns(rows, entries),
            detail::RowBlocks::of_products(rows, entries)}) {
        CHECK(blocks.count <= detail::RowBlocks::most_blocks(1));
        CHECK(static_cast<double>(blocks.count) * static_cast<double>(blocks.rows_per_block) >=
              static_cast<double>(rows));
        CHECK((blocks.count == 0) == (rows == 0));
      }
    }
  detail::RowBlocks const known(1 << 30, 16);
  CHECK(known.rows_per_block == 4096);
  CHECK(known.count == 1 << 18);
}

TEMPLATE_LIST_TEST_CASE("decompositions of modes near 2^64 are refused with numbers",
                        "[algorithms][large_modes]", sporades::test::ExecutionSpaces) {
  TestType const exec{};
  auto const length = GENERATE(from_range(std::begin(lengths), std::end(lengths)));
  int const n = GENERATE(0, 2);
  CAPTURE(length, n);
  auto const X = long_tensor(exec, n, length);
  double const row = static_cast<double>(length) * sizeof(double);
  auto const check = [&](auto options, auto const& decompose) {
    options.iterations = 1;
    CHECK(memory_need(exec, X, options).peak > row);
    options.memory = 1000000000;
    CHECK_THROWS_WITH(decompose(options), ContainsSubstring("may be taken"));
    if (length < lengths[2]) return;  // some machines have so much
    options.memory = 0;
    CHECK_THROWS_WITH(decompose(options), ContainsSubstring("may be taken"));
  };
  for (auto const strategy :
       {MttkrpStrategy::automatic, MttkrpStrategy::atomic, MttkrpStrategy::permuted,
        MttkrpStrategy::sorted, MttkrpStrategy::fibers, MttkrpStrategy::csf,
        MttkrpStrategy::flycoo}) {
    CAPTURE(to_string(strategy));
    CpAlsOptions options;
    options.rank = 2;
    options.strategy = strategy;
    check(options, [&](auto const& with) { cp_als(exec, X, with); });
  }
  for (auto const method : {CpAprMethod::mu, CpAprMethod::pdnr, CpAprMethod::pqnr}) {
    CAPTURE(to_string(method));
    CpAprOptions options;
    options.rank = 2;
    options.method = method;
    check(options, [&](auto const& with) { cp_apr(exec, X, with); });
  }
  for (auto const strategy : {TtmChainStrategy::automatic, TtmChainStrategy::semi_sparse,
                              TtmChainStrategy::csf}) {  // fused takes indices of 63 bits
    CAPTURE(to_string(strategy));
    TuckerOptions options;
    options.ranks = {2, 2, 2};
    options.strategy = strategy;
    check(options, [&](auto const& with) { tucker(exec, X, with); });
  }
}
