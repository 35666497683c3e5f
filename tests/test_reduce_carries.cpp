// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <limits>
#include <sporades/core/random.hpp>
#include <sporades/kernels/detail/reduce_carries.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/tools.hpp>
#include <vector>

using namespace sporades;
using namespace sporades::test;

namespace {

/// The row of each slot: mostly that of the slot before it, so that rows span from one slot to
/// thousands of them.
std::vector<std::uint32_t> draw_rows(Position slots, std::uint64_t changes_in_256) {
  std::vector<std::uint32_t> rows(slots, 0);
  for (Position s = 1; s < slots; ++s)
    rows[s] = rows[s - 1] + (sporades::detail::splitmix64(s) % 256 < changes_in_256 ? 1 : 0);
  return rows;
}

/// Adds the carries of so many chunks by reduce_carries, and one by one: numbers are whole and
/// small, so that their sums are exact in any order.
template <class ExecutionSpace, class Scalar>
void check_carries(Position chunks, std::uint64_t changes_in_256, std::size_t columns) {
  using Memory = typename ExecutionSpace::memory_space;
  ExecutionSpace const exec{};
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const rows = draw_rows(2 * chunks, changes_in_256);
  sporades::detail::CarryBuffers<Scalar, std::uint32_t, Memory> carry;
  carry.reserve(exec, chunks, columns);
  auto const& level = carry.level(0);
  auto const V = make_matrix<Scalar>(exec, "V", rows.back() + 1, columns);
  std::vector<double> expected((rows.back() + 1) * columns, 0);
  for (int call = 0; call < 2; ++call) {  // the second finds the counters as the first left them
    auto const row_of = Kokkos::create_mirror_view(level.rows);
    auto const sums = Kokkos::create_mirror_view(level.sums);
    for (Position s = 0; s < 2 * chunks; ++s) {
      row_of(s) = rows[s];
      for (std::size_t c = 0; c < columns; ++c) {
        auto const term = static_cast<double>(sporades::detail::splitmix64(s * columns + c) % 8);
        sums(s, c) = static_cast<Scalar>(term);
        expected[rows[s] * columns + c] += term;
      }
    }
    Kokkos::deep_copy(exec, level.rows, row_of);
    Kokkos::deep_copy(exec, level.sums, sums);
    sporades::detail::reduce_carries(exec, V, carry, chunks);
  }
  auto const result = copy_matrix(host, V);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < V.extent(0); ++i)
    for (std::size_t c = 0; c < columns; ++c)
      if (static_cast<double>(result(i, c)) != expected[i * columns + c]) ++wrong;
  INFO(chunks << " chunks, " << columns << " columns, " << changes_in_256 << " changes in 256");
  CHECK(wrong == 0);
}

/// The rows that some of the chunks have alone get the same bits from these chunks, with other rows
/// in front and behind, whose sums are NaN, and from slots behind others in the buffers.
template <class ExecutionSpace, class Scalar>
void check_some_chunks(Position chunks, std::uint64_t changes_in_256, std::uint64_t seed) {
  using Memory = typename ExecutionSpace::memory_space;
  ExecutionSpace const exec{};
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const rows = draw_rows(2 * chunks, changes_in_256);
  std::size_t const columns = 3, count = rows.back() + 1;
  auto const cut = [&](std::uint64_t number) {  // where a row begins
    Position c = sporades::detail::splitmix64(number) % (chunks + 1);
    while (c > 0 && c < chunks && rows[2 * c] == rows[2 * c - 1]) ++c;
    return c;
  };
  Position const begin = std::min(cut(seed), cut(seed + 1));
  Position const end = std::max(cut(seed), cut(seed + 1));
  auto const sums_of = [&](Position from, Position to, Position first, Position kept,
                           Position skipped) {
    sporades::detail::CarryBuffers<Scalar, std::uint32_t, Memory> carry;
    carry.reserve(exec, skipped + kept, columns);
    carry.reserve(exec, kept, columns, first);
    auto const& level = carry.level(0);
    auto const row_of = Kokkos::create_mirror_view(level.rows);
    auto const sums = Kokkos::create_mirror_view(level.sums);
    Kokkos::deep_copy(row_of, static_cast<std::uint32_t>(count + 1));
    Kokkos::deep_copy(sums, std::numeric_limits<Scalar>::quiet_NaN());
    for (Position s = 2 * skipped; s < 2 * (skipped + kept); ++s) {
      Position const slot = s - 2 * skipped + 2 * first;
      bool const is_own = slot >= 2 * from && slot < 2 * to;
      row_of(s) =
          is_own ? rows[slot] : static_cast<std::uint32_t>(slot < 2 * from ? count : count + 1);
      for (std::size_t c = 0; c < columns; ++c)
        sums(s, c) =
            is_own
                ? static_cast<Scalar>(sporades::detail::splitmix64(slot * columns + c) % 1000) / 7
                : std::numeric_limits<Scalar>::quiet_NaN();
    }
    Kokkos::deep_copy(exec, level.rows, row_of);
    Kokkos::deep_copy(exec, level.sums, sums);
    auto const V = make_matrix<Scalar>(exec, "V", count + 2, columns);
    sporades::detail::reduce_carries(exec, V, carry, kept, first, skipped);
    return copy_matrix(host, V);
  };
  auto const whole = sums_of(0, chunks, 0, chunks, 0);
  Position const unit = sporades::detail::carry_chunk / 2;
  Position const first = begin > 1 ? (begin - 2) / unit * unit : 0;
  std::size_t wrong = 0;
  for (Position const skipped : {0, 7}) {
    auto const part = sums_of(begin, end, first, std::min(chunks, end + 2) - first, skipped);
    for (Position s = 2 * begin; s < 2 * end; ++s)
      for (std::size_t c = 0; c < columns; ++c)
        if (part(rows[s], c) != whole(rows[s], c)) ++wrong;
  }
  INFO(chunks << " chunks, " << begin << " to " << end << ", " << changes_in_256
              << " changes in 256");
  CHECK(wrong == 0);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("carries of some chunks are those of all", "[kernels][carries]", Cases) {
  using Exec = typename TestType::ExecutionSpace;
  using Scalar = typename TestType::Scalar;
  for (Position const chunks : {2, 17, 257, 5000, 70000})
    for (std::uint64_t const changes : {1, 40, 256})
      for (std::uint64_t seed = 0; seed < 6; ++seed)
        check_some_chunks<Exec, Scalar>(chunks, changes, 10 * seed);
}

TEMPLATE_LIST_TEST_CASE("carries of any number of levels are added once", "[kernels][carries]",
                        Cases) {
  using Exec = typename TestType::ExecutionSpace;
  using Scalar = typename TestType::Scalar;
  for (Position const chunks : {2, 15, 16, 17, 255, 256, 257, 4096, 5000, 70000})
    for (std::uint64_t const changes : {0, 1, 40, 256})
      check_carries<Exec, Scalar>(chunks, changes, 3);
  for (std::size_t const columns : {1, 4, 17, 33}) check_carries<Exec, Scalar>(5000, 30, columns);
}

TEST_CASE("carries of all levels are one launch", "[kernels][carries]") {
  auto const exec = new_instance<Kokkos::DefaultExecutionSpace>();
  using Memory = Kokkos::DefaultExecutionSpace::memory_space;
  sporades::detail::CarryBuffers<double, std::uint32_t, Memory> carry;
  carry.reserve(exec, 5000, 4);
  Kokkos::deep_copy(exec, carry.level(0).rows, 0u);
  Kokkos::deep_copy(exec, carry.level(0).sums, 0.0);
  auto const V = make_matrix<double>(exec, "V", 1, 4);
  auto const recording =
      check_launches(exec, [&] { sporades::detail::reduce_carries(exec, V, carry, 5000); });
  CHECK(recording.launches.size() == 1);
}
