// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/generate.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>

#include "parts.hpp"

using namespace sporades;

namespace {

/// Look-alikes with a pool of tuples, of keys of up to 64 bits and of more, with a round of draws
/// and with several.
TEMPLATE_LIST_TEST_CASE("Look-alikes that processes make are those of one", "[mpi]",
                        sporades::test::DoubleCases) {
  typename TestType::ExecutionSpace const exec{};
  auto const& processes = test::all_processes();
  auto const [name, nnz] = GENERATE(table<std::string, Position>({{"nell-2", 30000},
                                                                  {"vast-2015", 20000},
                                                                  {"uber", 100000},
                                                                  {"lbnl-network", 20000},
                                                                  {"nips", 1000},
                                                                  {"nell-1", 5}}));
  CAPTURE(name, nnz, processes.size());
  auto const one = test::made_once(processes, [&, like = name, count = nnz] {
    return generate_like<double>(exec, like, count);
  });
  auto const share = generate_like<double>(processes, exec, name, nnz);
  auto const places = detail::exclusive_scan_of_all(processes, share.nnz());
  REQUIRE(places.back() == one.nnz());
  CHECK(share.dims == one.dims);
  CHECK(share.sorted_modes == one.sorted_modes);
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const X = copy_to(host, one), mine = copy_to(host, share);
  Position const first = places[static_cast<std::size_t>(processes.rank())];
  Position wrong = 0;
  for (Position p = 0; p < mine.nnz(); ++p) {
    wrong += mine.values(p) != X.values(first + p);
    for (int n = 0; n < X.order(); ++n)
      wrong += mine.coordinates(n, p) != X.coordinates(n, first + p);
  }
  CHECK(wrong == 0);
  if (nnz >= 1000) CHECK(share.nnz() < 2 * one.nnz() / static_cast<Position>(processes.size()));
}

}  // namespace
