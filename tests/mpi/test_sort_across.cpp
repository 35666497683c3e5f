// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <numeric>
#include <sporades/algorithms/generate.hpp>
#include <sporades/formats/detail/sort_across.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>

#include "all_processes.hpp"

using namespace sporades;
using namespace sporades::detail;

namespace {

/// Nonzeros begin to end - 1 of X, on the host.
template <class Tensor>
Tensor part_of(Tensor const& X, Position begin, Position end) {
  auto part = allocate_coo<typename Tensor::Scalar, typename Tensor::Index>(
      Kokkos::DefaultHostExecutionSpace{}, X.dims, end - begin);
  for (Position p = begin; p < end; ++p) {
    for (int n = 0; n < X.order(); ++n) part.coordinates(n, p - begin) = X.coordinates(n, p);
    part.values(p - begin) = X.values(p);
  }
  part.sorted_modes = X.sorted_modes;
  return part;
}

/// Ways to distribute nnz nonzeros: evenly; all on the last process; most on the first one, at
/// multiples of 128; none on every second.
std::vector<Position> shares(int way, int P, Position nnz) {
  std::vector<Position> first(static_cast<std::size_t>(P) + 1, nnz);
  first[0] = 0;
  for (int p = 1; p < P; ++p) {
    auto& place = first[static_cast<std::size_t>(p)];
    if (way == 0) place = nnz * static_cast<Position>(p) / static_cast<Position>(P);
    if (way == 1) place = 0;
    if (way == 2) place = nnz / 128 * 128;
    if (way == 3)
      place = nnz * static_cast<Position>((p + 1) / 2 * 2) / (2 * static_cast<Position>(P));
  }
  return first;
}

/// Coordinates that come up to nine times, with values whose sum depends on the order.
CooTensor<double> repeated(Dims const& dims, Position nnz) {
  auto X = allocate_coo<double, std::uint32_t>(Kokkos::DefaultHostExecutionSpace{}, dims, nnz);
  std::uint64_t state = 7;
  for (Position p = 0; p < nnz; ++p) {
    for (int n = 0; n < X.order(); ++n)
      X.coordinates(n, p) = static_cast<std::uint32_t>((state = splitmix64(state)) %
                                                       dims[static_cast<std::size_t>(n)]);
    X.values(p) = (p % 3 == 0 ? 1e16 : p % 3 == 1 ? -1e16 : 1) * static_cast<double>(p % 11);
  }
  return X;
}

TEMPLATE_LIST_TEST_CASE("Processes sort what all of them have", "[mpi]",
                        sporades::test::DoubleCases) {
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const& processes = test::all_processes();
  int const P = processes.size();
  auto const me = static_cast<std::size_t>(processes.rank());
  Dims const dims =
      GENERATE(Dims{50, 3, 400}, Dims{1, 70, 1, 6}, Dims{20000}, Dims{9, 8, 7, 6, 5, 4, 3, 2});
  Position const nnz = GENERATE(0, 1, 5, 20000);
  auto const whole = repeated(dims, nnz);
  std::vector<int> modes(dims.size());
  std::iota(modes.rbegin(), modes.rend(), 0);
  if (dims.size() > 1) std::swap(modes[0], modes[1]);
  for (int from = 0; from < 4; ++from)
    for (int to = 0; to < 4; ++to) {
      CAPTURE(to_string(dims), nnz, P, from, to);
      auto const given = shares(from, P, nnz), wanted = shares(to, P, nnz);
      auto const mine = copy_to(exec, part_of(whole, given[me], given[me + 1]));
      auto const order = to == 3 ? std::vector<int>{modes[0]} : modes;  // ties stay in order
      auto const got = copy_to(host, sorted_across(processes, exec, mine, order, wanted));
      test::check_same_nonzeros(got,
                                part_of(sorted(host, whole, order), wanted[me], wanted[me + 1]));
      CHECK(got.sorted_modes == order);
      if (to > 0) continue;
      auto const summed = copy_to(host, summed_across(processes, exec, mine));
      auto const first = exclusive_scan_of_all(processes, summed.nnz());
      auto const expected = sum_duplicates(host, whole).tensor;
      REQUIRE(first.back() == expected.nnz());
      test::check_same_nonzeros(summed, part_of(expected, first[me], first[me + 1]));
    }
}

TEST_CASE("Cuts are at multiples of a unit", "[mpi]") {
  CHECK(even_cuts(3, 10) == std::vector<Position>{0, 3, 6, 10});
  CHECK(even_cuts(3, 1000, 128) == std::vector<Position>{0, 256, 640, 1000});
  CHECK(even_cuts(4, 100, 128) == std::vector<Position>{0, 0, 0, 0, 100});
  CHECK(even_cuts(2, 0, 128) == std::vector<Position>{0, 0, 0});
}

}  // namespace
