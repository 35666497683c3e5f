// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/generate.hpp>
#include <sporades/core/random.hpp>
#include <sporades/kernels/detail/processes/row_share.hpp>
#include <sporades/kernels/mttkrp.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>

#include "parts.hpp"

using namespace sporades;
using namespace sporades::detail;

namespace {

TEMPLATE_LIST_TEST_CASE("Rows in order have the bits of one process", "[mpi]",
                        sporades::test::Cases) {
  using Exec = typename TestType::ExecutionSpace;
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  Exec const exec{};
  auto const& processes = test::all_processes();
  auto const me = static_cast<std::size_t>(processes.rank());
  struct Trial {
    Dims dims;
    Position nnz;
    double skew;
  };
  auto const trial = GENERATE(Trial{{60, 50, 40}, 40000, 0.9}, Trial{{3000, 2, 700}, 50000, 0.5},
                              Trial{{2, 90, 80, 70}, 60000, 0}, Trial{{40, 30}, 100, 0});
  int const R = GENERATE(5, 16);
  auto const X = test::made_once(processes, [&] {
    return generate<Scalar, std::uint32_t>(exec, trial.dims, trial.nnz, trial.skew);
  });
  auto const A = test::random_factor_list<Exec, Scalar>(exec, trial.dims, R, true);
  auto const place = even_cuts(processes.size(), X.nnz());
  auto const mine = [&] {
    auto const all = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
    auto part = allocate_coo<Scalar, std::uint32_t>(Kokkos::DefaultHostExecutionSpace{}, X.dims,
                                                    place[me + 1] - place[me]);
    for (Position p = 0; p < part.nnz(); ++p) {
      for (int n = 0; n < X.order(); ++n)
        part.coordinates(n, p) = all.coordinates(n, place[me] + p);
      part.values(p) = all.values(place[me] + p);
    }
    return copy_to(exec, part);
  }();
  CarryBuffers<Scalar, std::uint32_t, Memory> carry;
  for (int n = 0; n < X.order(); ++n) {
    CAPTURE(to_string(trial.dims), R, n, processes.size(), me);
    auto const modes = mttkrp_mode_order(trial.dims, n);
    Position const length = chunk_length<Exec>(X.nnz());
    auto const cuts = even_cuts(processes.size(), X.nnz(), length);
    auto list = sorted_across(processes, exec, mine, modes, cuts);
    auto const share = make_row_share(processes, exec, list, {modes, cuts, length}, true);
    auto const packed = pack_share(exec, share, n, list);
    auto const V = make_matrix<Scalar>(exec, "V", share.count + 2, R);
    for (int split = 0; split < X.order() - 1; ++split) {
      CAPTURE(split);
      Kokkos::deep_copy(exec, V, Scalar(NAN));
      share.sum(exec, packed, V, carry,
                [&](auto const& instance, auto const& part, auto const& rows) {
                  walk_packed(instance, "test", part, rows, {A, n, V}, split);
                });
      auto const W = make_matrix<Scalar>(exec, "W", trial.dims[static_cast<std::size_t>(n)], R);
      mttkrp(exec, make_packed(exec, sorted(exec, X, modes), n), A, n, W,
             split == 0 ? MttkrpStrategy::sorted : MttkrpStrategy::fibers);
      if (split > 0 && split < X.order() - 2) continue;
      auto const v = test::matrix_on_host(V), w = test::matrix_on_host(W);
      int wrong = 0;
      for (std::uint64_t i = share.continues ? 1 : 0; i < share.count; ++i)
        for (int r = 0; r < R; ++r) wrong += v(i + 1, r) != w(share.row + i, r);
      CHECK(wrong == 0);
    }
  }
}

}  // namespace
