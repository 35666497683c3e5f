// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Loops over the items of ranges, and the conversions to coordinates that use them, where one
/// range holds most items and others none.

#include <sporades/formats/cfb_tensor.hpp>
#include <sporades/formats/csf_tensor.hpp>
#include <sporades/formats/detail/ranges.hpp>
#include <sporades/formats/hierarchical_tensor.hpp>
#include <sporades/formats/hocfs_tensor.hpp>
#include <sporades/formats/hocsr_tensor.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

/// How often each item is visited, times the number of its range, from 1 on.
template <class ExecutionSpace>
std::vector<Position> visits(ExecutionSpace const& exec, std::vector<Position> const& begin) {
  Kokkos::View<Position*, typename ExecutionSpace::memory_space> const found("found", begin.back());
  sporades::detail::for_items(
      exec, "test", sporades::detail::to_view(exec, "begin", begin), begin.back(),
      KOKKOS_LAMBDA(Position r, Position p) { Kokkos::atomic_add(&found(p), r + 1); });
  exec.fence();
  auto const host = on_host(found);
  return {host.data(), host.data() + host.extent(0)};
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("loops over the items of ranges visit each item once, with its range",
                        "[formats]", Cases) {
  typename TestType::ExecutionSpace const exec{};
  for (std::vector<Position> const& lengths :
       std::vector<std::vector<Position>>{{},
                                          {0, 0},
                                          {5},
                                          {0, 0, 3, 0, 20000, 0, 0, 0, 1, 0},
                                          {4096, 0, 4096, 4095, 1, 0, 0, 1},
                                          std::vector<Position>(9000, 1)}) {
    INFO(lengths.size() << " ranges");
    std::vector<Position> begin{0}, expected;
    for (Position r = 0; r < lengths.size(); ++r) {
      begin.push_back(begin.back() + lengths[r]);
      expected.resize(begin.back(), r + 1);
    }
    CHECK((visits(exec, begin) == expected));
  }
}

TEMPLATE_LIST_TEST_CASE("formats with a fiber of most nonzeros give back their coordinates",
                        "[formats]", Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  Kokkos::DefaultHostExecutionSpace const host{};
  // Rows (1, 2), of most nonzeros, (1, 3), (4, 0) and (4, 4) of 5 x 5; the others are empty.
  Position const nnz = 20000;
  auto const X = sporades::detail::allocate_coo<Scalar, std::uint32_t>(host, {5, 5, nnz}, nnz);
  host.fence();
  std::uint32_t const rest[3][2] = {{1, 3}, {4, 0}, {4, 4}};
  for (Position p = 0; p < nnz; ++p) {
    bool const is_hub = p + 9 < nnz;
    auto const* const row = rest[is_hub ? 0 : (p + 9 - nnz) / 3];
    X.coordinates(0, p) = is_hub ? 1 : row[0];
    X.coordinates(1, p) = is_hub ? 2 : row[1];
    X.coordinates(2, p) = static_cast<std::uint32_t>(p);
    X.values(p) = Scalar(p);
  }
  auto const Y = copy_to(exec, X);
  auto const check = [&](auto const& tensor) {
    check_same_nonzeros(copy_to(host, to_coo(exec, tensor)), X);
  };
  check(make_csf(exec, Y, {0, 1, 2}));
  check(make_hierarchical(exec, Y, {0, 1, 2}));
  check(make_cfb(exec, Y, 2));
  check(make_hocsr(exec, Y, 2));
  for (auto slices : {HocfsSlices::csr, HocfsSlices::ell}) check(make_hocfs(exec, Y, 2, slices));
}
