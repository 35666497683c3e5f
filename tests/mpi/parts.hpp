// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/communicator.hpp>
#include <sporades/formats/coo_tensor.hpp>
#include <vector>

/// What processes bring of a tensor, and whether what they own is the whole's.

namespace sporades::test {

/// The part of X that this process brings: every (P - 1)-th nonzero; the second brings none.
template <class Exec, class Scalar, class Memory>
CooTensor<Scalar, std::uint32_t, Memory> part_of(Exec const& exec,
                                                 CooTensor<Scalar, std::uint32_t, Memory> const& X,
                                                 Communicator const& processes) {
  if (processes.size() == 1) return X;
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const all = copy_to(host, X);
  auto const me = static_cast<Position>(processes.rank());
  auto const parts = static_cast<Position>(processes.size()) - 1;
  std::vector<Position> mine;
  for (Position p = 0; p < X.nnz() && me != 1; ++p)
    if (p % parts == (me == 0 ? 0 : me - 1)) mine.push_back(p);
  auto const part =
      sporades::detail::allocate_coo<Scalar, std::uint32_t>(host, X.dims, mine.size());
  host.fence();
  for (Position q = 0; q < mine.size(); ++q) {
    for (int n = 0; n < X.order(); ++n) part.coordinates(n, q) = all.coordinates(n, mine[q]);
    part.values(q) = all.values(mine[q]);
  }
  return copy_to(exec, part);
}

/// Entries of `own`, rows first and on of `all`, that are not the same; all of them where there are
/// not `count` rows.
template <class Own, class All>
std::uint64_t wrong_entries(Own const& own, All const& all, std::uint64_t first,
                            std::uint64_t count) {
  if (own.extent(0) != count || own.extent(1) != all.extent(1)) return own.size() + 1;
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < count; ++i)
    for (std::uint64_t r = 0; r < own.extent(1); ++r) wrong += own(i, r) != all(first + i, r);
  return wrong;
}

}  // namespace sporades::test
