// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <limits>
#include <support/catch.hpp>
#include <support/tensors.hpp>

#include "../../perf/support/unfolded_matrix.hpp"

// What sporades_perf gives to the library of the GPU's vendor, and how it checks the product.

using namespace sporades;
using namespace sporades::perf;
using namespace sporades::test;
using Catch::Matchers::ContainsSubstring;

namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;

template <class Scalar>
auto unfolded(Problem const& problem, int mode) {
  Exec const exec{};
  std::vector<int> modes;
  for (int m = 0; m < static_cast<int>(problem.dims.size()); ++m)
    if (m != mode) modes.push_back(m);
  modes.push_back(mode);
  return make_hierarchical(
      exec, random_coo<Scalar, std::uint32_t>(exec, problem.dims, problem.nnz, 7, problem.skew),
      modes);
}

template <class Scalar>
Matrix<Scalar, Memory> factor(std::size_t rows, std::size_t R) {
  return copy_matrix(Exec{},
                     random_matrix<Scalar>(Kokkos::DefaultHostExecutionSpace{}, rows, R, 3, false));
}

std::vector<Problem> unfolded_problems() {
  return {{{5}, 9, 1},
          {{7, 4}, 20, 1},
          {{6, 5, 4}, 1, 1},
          {{2, 300, 200}, 6000, 1},
          {{500, 400, 300}, 6000, 6},
          {{30, 2, 20, 10}, 5000, 2},
          {Dims(16, 3), 500, 1},
          {{4, 3, 2}, 0, 1}};
}

/// Entry at of an array of the matrix, which has 32 or 64 bits.
std::int64_t integer(void const* array, bool is_wide, Position at) {
  using Wide = Kokkos::View<std::int64_t const*, Memory, Kokkos::MemoryUnmanaged>;
  using Narrow = Kokkos::View<std::int32_t const*, Memory, Kokkos::MemoryUnmanaged>;
  if (is_wide) {
    std::int64_t found = 0;
    Kokkos::deep_copy(found,
                      Kokkos::subview(Wide(static_cast<std::int64_t const*>(array), at + 1), at));
    return found;
  }
  std::int32_t found = 0;
  Kokkos::deep_copy(found,
                    Kokkos::subview(Narrow(static_cast<std::int32_t const*>(array), at + 1), at));
  return found;
}

}  // namespace

TEST_CASE("an unfolded tensor has offsets and columns of one width", "[perf][unfolded]") {
  Exec const exec{};
  for (auto const& problem : unfolded_problems())
    for (bool const wide : {false, true}) {
      auto const X = unfolded<double>(problem, 0);
      auto const rows = make_unfolded_matrix(exec, X, wide);
      auto const Y = make_spttm_output(exec, X, 5);
      auto const p = rows.problem(factor<double>(problem.dims[0], 5), Y.values);
      INFO(to_string(problem.dims) << ", nnz " << problem.nnz << ", wide " << wide);
      CHECK(rows.is_wide == wide);
      CHECK(p.is_wide == wide);
      CHECK(p.is_double);
      CHECK(p.rows == static_cast<std::int64_t>(X.fibers.count()));
      CHECK(p.columns == static_cast<std::int64_t>(problem.dims[0]));
      CHECK(p.entries == static_cast<std::int64_t>(problem.nnz));
      CHECK(p.R == 5);
      CHECK(p.C == Y.values.data());
      CHECK((p.rows < 2 || p.C_stride == static_cast<std::int64_t>(Y.values.stride(0))));
      CHECK((p.B_stride >= 5 && p.C_stride >= 5));
      CHECK(rows.storage_bytes() ==
            (X.fibers.count() + 1 + X.nnz()) * (wide ? 8 : 4) + X.nnz() * 8);
      auto const begin = on_host(X.fibers.begin);
      auto const index = on_host(X.fibers.index);
      Position const step = 1 + X.nnz() / 50;
      for (Position f = 0; f < begin.extent(0); f += step)
        CHECK(integer(p.begin, wide, f) == static_cast<std::int64_t>(begin(f)));
      for (Position k = 0; k < X.nnz(); k += step)
        CHECK(integer(p.index, wide, k) == static_cast<std::int64_t>(index(k)));
    }
}

TEST_CASE("columns past 31 bits make an unfolded tensor wide", "[perf][unfolded]") {
  Exec const exec{};
  auto X = unfolded<float>({{6, 5, 4}, 20, 1}, 2);
  CHECK(!make_unfolded_matrix(exec, X).is_wide);
  X.dims[2] = (std::uint64_t{1} << 31) - 1;
  CHECK(!make_unfolded_matrix(exec, X).is_wide);
  X.dims[2] = std::uint64_t{1} << 31;
  CHECK(make_unfolded_matrix(exec, X).is_wide);
}

TEMPLATE_TEST_CASE("a wrong product of a vendor's library is found", "[perf][unfolded]", float,
                   double) {
  Exec const exec{};
  for (auto const& problem : unfolded_problems())
    for (std::size_t R : {1, 3, 16, 33}) {
      int const mode = static_cast<int>(problem.dims.size()) - 1;
      auto const X = unfolded<TestType>(problem, mode);
      auto const U = factor<TestType>(problem.dims[mode], R);
      auto const Y = make_spttm_output(exec, X, R), expected = make_spttm_output(exec, X, R);
      spttm(exec, X, U, Y, SpttmStrategy::naive);
      spttm(exec, X, U, expected, SpttmStrategy::lanes);
      INFO(to_string(problem.dims) << ", nnz " << problem.nnz << ", R " << R);
      CHECK_NOTHROW(check_spmm(exec, X, U, Y.values, expected.values));
      if (X.nnz() == 0) continue;
      auto const wrong = [&](Position f, std::size_t r, TestType value) {
        auto const entry = Kokkos::subview(Y.values, f, r);
        TestType kept{};
        Kokkos::deep_copy(kept, entry);
        Kokkos::deep_copy(entry, value);
        CHECK_THROWS_WITH(
            check_spmm(exec, X, U, Y.values, expected.values),
            ContainsSubstring("for fiber " + std::to_string(f) + ", column " + std::to_string(r) +
                              " of mode " + std::to_string(mode)));
        Kokkos::deep_copy(entry, kept);
      };
      Position const last = X.fibers.count() - 1;
      wrong(last, R - 1, std::numeric_limits<TestType>::quiet_NaN());
      wrong(last / 2, R / 2, 1000);
      wrong(last / 3, 0, -1000);
      wrong(0, 0, std::numeric_limits<TestType>::infinity());
    }
}

TEMPLATE_TEST_CASE("a vendor's library multiplies as the library does", "[perf][unfolded]", float,
                   double) {
  Exec const exec{};
  for (auto const& problem : unfolded_problems())
    for (std::size_t R : {1, 3, 16, 33})
      for (bool const wide : {false, true}) {
        auto const X = unfolded<TestType>(problem, 0);
        auto const U = factor<TestType>(problem.dims[0], R);
        auto const Y = make_spttm_output(exec, X, R);
        INFO(to_string(problem.dims)
             << ", nnz " << problem.nnz << ", R " << R << ", wide " << wide);
        // cuSPARSE takes no more nonzeros than a matrix has entries: duplicates may be more.
        if (static_cast<double>(problem.nnz) > sporades::detail::dense_size(problem.dims)) continue;
        if (*vendor::strategy)
          CHECK_NOTHROW(UnfoldedProduct<TestType, Memory>(exec, X, U, Y, wide));
        else
          CHECK_THROWS_WITH((UnfoldedProduct<TestType, Memory>(exec, X, U, Y, wide)),
                            ContainsSubstring("needs CUDA or HIP"));
      }
}
