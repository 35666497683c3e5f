// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdlib>
#include <sporades/core/detail/dense.hpp>
#include <sporades/core/random.hpp>
#include <sporades/formats/packed_tensor.hpp>
#include <sporades/formats/sort_coo.hpp>
#include <sporades/kernels/mttkrp.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>

/// More nonzeros than 32 bits with a sign count. Takes 105 GB on the default backend, so it runs
/// only where the environment says SPORADES_TEST_MANY=1:
///   SPORADES_TEST_MANY=1 sporades_tests "[many]"

using namespace sporades;
using namespace sporades::test;

namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;
using Tensor = CooTensor<float, std::uint32_t, Memory>;
using Counts = Kokkos::View<unsigned long long*, Memory>;

void fill(Exec const& exec, Tensor const& X, Counts const& counts) {
  auto const coordinates = X.coordinates;
  auto const values = X.values;

  Kokkos::Array<std::uint64_t, 3> const lengths{X.dims[0], X.dims[1], X.dims[2]};
  Kokkos::parallel_for(
      "sporades::test::fill",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<Position>>(exec, 0, X.nnz()),
      KOKKOS_LAMBDA(Position p) {
        for (int n = 0; n < 3; ++n)
          coordinates(n, p) =
              static_cast<std::uint32_t>(sporades::detail::splitmix64(3 * p + n) % lengths[n]);
        values(p) = 1;
        Kokkos::atomic_add(&counts(coordinates(0, p)), 1ull);
      });
}

/// How many rows of V are not their numbers of nonzeros: all factors are ones.
template <class Product>
int wrong_rows(Exec const& exec, Counts const& counts, Product const& product) {
  auto const V = make_matrix<float>(exec, "V", counts.extent(0), 2);
  Kokkos::deep_copy(exec, sporades::detail::with_padding(V), -1.0f);
  product(V);
  exec.fence();
  auto const found = matrix_on_host(V);
  auto const expected = on_host(counts);
  int wrong = 0;
  for (std::size_t i = 0; i < expected.extent(0); ++i)
    for (int r = 0; r < 2; ++r)
      if (found(i, r) != static_cast<float>(expected(i))) ++wrong;  // below 2^24: exact
  return wrong;
}

}  // namespace

TEST_CASE("more than 2^31 nonzeros", "[kernels][many]") {
  if (std::getenv("SPORADES_TEST_MANY") == nullptr) return;
  Exec const exec{};
  Position const nnz = (Position{1} << 31) + 12345;
  auto X = sporades::detail::allocate_coo<float, std::uint32_t>(exec, {1000, 2000, 3000}, nnz);
  Counts const counts("counts", X.dims[0]);
  fill(exec, X, counts);
  Factors<float, Memory> ones;
  for (auto dim : X.dims) {
    ones.push_back(make_matrix<float>(exec, "ones", dim, 2));
    Kokkos::deep_copy(exec, sporades::detail::with_padding(ones.back()), 1.0f);
  }
  CHECK(sporades::detail::norm_squared(exec, X.values) == static_cast<double>(nnz));
  CHECK(wrong_rows(exec, counts, [&](auto const& V) {
          mttkrp(exec, X, ones, 0, V, MttkrpStrategy::atomic);
        }) == 0);
  X = sorted(exec, X, {0});
  CHECK(is_sorted(exec, X, {0}));
  CHECK(wrong_rows(exec, counts, [&](auto const& V) {
          mttkrp(exec, X, ones, 0, V, MttkrpStrategy::sorted);
        }) == 0);
  auto const packed = make_packed(exec, X, 0);
  X = {};
  CHECK(wrong_rows(exec, counts, [&](auto const& V) {
          mttkrp(exec, packed, ones, 0, V, MttkrpStrategy::fibers);
        }) == 0);
}
