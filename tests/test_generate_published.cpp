// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Look-alikes of the tensors of Yang, Li & Li 2019 have the sizes, used slices and fibers that the
/// paper prints. Its tables 4, 5 and 6 are of fibers along modes 1, 2 and 3, and of slices of the
/// mode after each: 2, 3 and 1.

#include <algorithm>
#include <array>
#include <cmath>
#include <sporades/algorithms/generate.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <vector>

namespace {

using namespace sporades;
using Exec = Kokkos::DefaultHostExecutionSpace;
using Counts = std::array<Position, 3>;  // one a mode

struct Published {
  char const* name;
  Dims dims;
  Position nnz;
  Counts slices;
  Counts fibers;
};

CooTensor<float> look_alike(std::string const& name, std::optional<Position> nnz = {}) {
  return copy_to(Exec{}, generate_like<float>(Kokkos::DefaultExecutionSpace{}, name, nnz));
}

/// Numbers of nonzeros of the slices of mode n.
std::vector<Position> nonzeros_by_slice(CooTensor<float> const& X, int n) {
  std::vector<Position> counts(X.dims[n]);
  for (Position p = 0; p < X.nnz(); ++p) ++counts[X.coordinates(n, p)];
  return counts;
}

/// How many slices of mode n hold nonzeros. They are spread over the dim.
Position used_slices(CooTensor<float> const& X, int n) {
  auto const counts = nonzeros_by_slice(X, n);
  auto const is_used = [](Position count) { return count > 0; };
  auto const last = std::find_if(counts.rbegin(), counts.rend(), is_used);
  CHECK(static_cast<double>(last - counts.rbegin()) < 0.1 * static_cast<double>(X.dims[n]));
  return static_cast<Position>(std::count_if(counts.begin(), counts.end(), is_used));
}

/// How many fibers along mode n hold nonzeros.
Position used_fibers(CooTensor<float> const& X, int n) {
  int const a = n == 0 ? 1 : 0, b = n == 2 ? 1 : 2;
  std::vector<std::uint64_t> keys(X.nnz());
  for (Position p = 0; p < X.nnz(); ++p)
    keys[p] = X.coordinates(a, p) * X.dims[b] + X.coordinates(b, p);
  std::sort(keys.begin(), keys.end());
  return static_cast<Position>(std::unique(keys.begin(), keys.end()) - keys.begin());
}

void check_close(Position found, double published, double tolerance) {
  CHECK(static_cast<double>(found) == Catch::Approx(published).epsilon(tolerance));
}

/// How many of so many cells hold nonzeros after as many draws that take each cell equally often.
double drawn_evenly(double cells, double draws) {
  return -cells * std::expm1(-draws / cells);
}

}  // namespace

TEST_CASE("a recipe's mode has as many used indices and singles as it says", "[generate]") {
  auto const shuffled = detail::SliceOrder::shuffled;
  detail::Recipe const recipe{
      "", {{900, 0, shuffled, 10, 50}, {700, .5, shuffled, 20, 0}}, 10 * 20 + 50, 0, 0, 0};
  auto const X = copy_to(Exec{}, detail::generate_recipe<float, std::uint64_t>(
                                     Communicator(), Kokkos::DefaultExecutionSpace{}, recipe, 1));
  CHECK(X.nnz() == recipe.nnz);
  CHECK(used_slices(X, 1) == 20);
  auto const counts = nonzeros_by_slice(X, 0);
  CHECK(std::count(counts.begin(), counts.end(), 20) == 10);
  CHECK(std::count(counts.begin(), counts.end(), 1) == 50);
  CHECK(std::count(counts.begin(), counts.end(), 0) == 900 - 60);
}

TEST_CASE("generate_like has the used slices and fibers of Yang et al.'s tensors", "[generate]") {
  std::vector<Published> const all = {
      {"user-rated-movies", {71534, 65133, 60}, 855598, {2113, 10109, 60}, {165687, 27567, 855598}},
      {"user-tagged-movies", {71534, 65133, 31}, 47957, {2113, 5908, 31}, {25086, 4688, 27712}},
      {"user-tagged-bookmarks",
       {108035, 107253, 31},
       437593,
       {1867, 69223, 31},
       {100484, 34551, 104799}},
      {"user-tagged-artists", {2100, 18745, 60}, 186479, {1892, 12523, 60}, {13788, 2223, 71064}},
      {"ratings-m1", {6040, 3952, 31}, 1000209, {6039, 3706, 31}, {89427, 17723, 1000209}},
      {"ratings-m20", {71567, 130642, 31}, 1048575, {7119, 14026, 31}, {174067, 26464, 1048575}},
  };
  for (auto const& published : all) {
    INFO(published.name);
    auto const X = look_alike(published.name);
    CHECK(X.dims == published.dims);
    CHECK(X.nnz() == published.nnz);
    for (int n = 0; n < 3; ++n) {
      INFO("mode " << n);
      check_close(used_slices(X, n), static_cast<double>(published.slices[n]), .1);
      check_close(used_fibers(X, n), static_cast<double>(published.fibers[n]), .1);
    }
    auto const smaller = look_alike(published.name, published.nnz / 20);
    CHECK(smaller.dims == published.dims);
    CHECK(smaller.nnz() == published.nnz / 20);
    auto const modes = detail::recipe_like(published.name, {}).modes;
    for (Position factor : {2, 100}) {  // by which a recipe has more singles, too
      auto const more = detail::recipe_like(published.name, factor * published.nnz).modes;
      for (int n = 0; n < 3; ++n)
        CHECK(more[n].singles == std::min(factor * modes[n].singles,
                                          modes[n].singles > 0 ? modes[n].dim - modes[n].used : 0));
    }
  }
}

TEST_CASE("generate_like draws the user-shopping tensors evenly, as their fibers are",
          "[generate]") {
  std::vector<Published> const all = {
      {"user-shopping-x10",
       {100208, 10147, 10000},
       9999998,
       {99999, 9999, 9999},
       {9516446, 9950117, 9950296}},
      {"user-shopping-x22",
       {100208, 10392, 2000},
       19999898,
       {99999, 9999, 1999},
       {12642118, 19033609, 19801191}},
      {"user-shopping-x40",
       {100208, 10504, 1000},
       29999529,
       {99999, 9999, 999},
       {9502956, 25917967, 29555291}},
  };
  for (auto const& published : all) {
    INFO(published.name);
    CHECK(detail::recipe_like(published.name, {}).nnz == published.nnz);
    auto const X = look_alike(published.name, 100000);
    CHECK(X.dims == published.dims);
    CHECK(X.nnz() == 100000);
    auto const draws = static_cast<double>(published.nnz);
    for (int n = 0; n < 3; ++n) {
      INFO("mode " << n);
      double const slices = static_cast<double>(published.slices[n]);
      double const fibers = static_cast<double>(published.slices[n == 0 ? 1 : 0]) *
                            static_cast<double>(published.slices[n == 2 ? 1 : 2]);
      CHECK(drawn_evenly(slices, draws) == Catch::Approx(slices).epsilon(.002));
      CHECK(drawn_evenly(fibers, draws) ==
            Catch::Approx(static_cast<double>(published.fibers[n])).epsilon(.002));
      check_close(used_slices(X, n), drawn_evenly(slices, 100000), .01);
      check_close(used_fibers(X, n), drawn_evenly(fibers, 100000), .01);
    }
  }
}
