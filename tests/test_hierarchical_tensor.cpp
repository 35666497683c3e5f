// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <sporades/formats/hierarchical_tensor.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>
#include <support/tools.hpp>

using namespace sporades;
using namespace sporades::test;

TEMPLATE_LIST_TEST_CASE("a hierarchical tensor is rows of fibers", "[formats][hierarchical]",
                        IndexCases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  Kokkos::DefaultHostExecutionSpace const host{};
  struct Problem {
    Dims dims;
    Position nnz;
    std::vector<int> modes;
  };
  for (auto const& [dims, nnz, modes] :
       {Problem{{200}, 90, {0}}, Problem{{30, 40}, 500, {0, 1}}, Problem{{30, 40}, 500, {1, 0}},
        Problem{{20, 3, 9}, 300, {2, 0, 1}}, Problem{{5, 4, 3, 4, 5}, 400, {4, 2, 0, 3, 1}},
        Problem{{40, 9}, 128, {0, 1}}, Problem{{4, 3}, 0, {0, 1}}, Problem{{0, 3}, 0, {1, 0}}}) {
    INFO(to_string(dims));
    auto const X = random_coo<Scalar, Index>(exec, dims, nnz);
    auto const H = make_hierarchical(exec, X, modes);
    auto const S = sorted(exec, X, modes);
    CHECK(H.mode() == modes.back());
    CHECK(to_coo(exec, H).sorted_modes == modes);
    check_same_nonzeros(copy_to(host, to_coo(exec, H)), copy_to(host, S));

    auto const list = copy_to(host, S);
    auto const begin = on_host(H.fibers.begin);
    auto const marks = on_host(H.fibers.marks);
    auto const heads = on_host(H.fibers.heads);
    auto const fiber_coordinates = on_host(H.fibers.coordinates);
    Position const fibers = H.fibers.count();
    REQUIRE(begin.extent(0) == fibers + 1);
    CHECK(begin(fibers) == nnz);
    REQUIRE(heads.extent(0) == (nnz + 31) / 32 + 1);
    Position wrong = 0, longest = 0;
    for (Position p = 0, f = 0; p < 32 * heads.extent(0); ++p) {
      bool const opens = f <= fibers && begin(f) == p;  // as does the end, past the last
      if (opens) ++f;
      if ((heads(p / 32) >> p % 32 & 1) != opens) ++wrong;
    }
    for (Position f = 0; f < fibers; ++f) {
      longest = std::max(longest, begin(f + 1) - begin(f));
      if (begin(f) >= begin(f + 1)) ++wrong;  // an empty one
      for (Position p = begin(f); p < begin(f + 1); ++p) {
        for (std::size_t l = 0; l + 1 < modes.size(); ++l)
          if (list.coordinates(modes[l], p) != fiber_coordinates(l, f)) ++wrong;
        if (p % H.fibers.mark_distance == 0 && marks(p / H.fibers.mark_distance) != f) ++wrong;
      }
      bool is_new = f == 0;
      for (std::size_t l = 0; f > 0 && l + 1 < modes.size(); ++l)
        is_new = is_new || fiber_coordinates(l, f) != fiber_coordinates(l, f - 1);
      if (!is_new) ++wrong;  // two of the same coordinates
    }
    CHECK(wrong == 0);
    CHECK(longest == H.fibers.longest);
    CHECK(H.storage_words() == 2 * nnz + fibers + 1 + (dims.size() - 1) * fibers);
    CHECK(H.storage_bytes() == nnz * (sizeof(Scalar) + sizeof(Index)) + (fibers + 1) * 8 +
                                   (dims.size() - 1) * fibers * sizeof(Index) +
                                   (nnz + 31) / 32 * 8 + ((nnz + 31) / 32 + 1) * 4);
  }
}

TEMPLATE_LIST_TEST_CASE("a hierarchical tensor labels its kernels and runs them on its instance",
                        "[formats][hierarchical]", Cases) {
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = random_coo<typename TestType::Scalar, std::uint32_t>(exec, {30, 20, 10}, 500);
  check_launches(exec, [&] { to_coo(exec, make_hierarchical(exec, X, {2, 1, 0})); });
}
