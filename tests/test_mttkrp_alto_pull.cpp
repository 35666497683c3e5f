// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <sporades/kernels/detail/mttkrp/alto_pull.hpp>
#include <support/memory.hpp>
#include <support/mttkrp.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>

using namespace sporades;
using namespace sporades::test;

// Plans have these sums on GPUs only. They run on hosts, too, and are tested there.

namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;
using Places = detail::AltoPull<std::uint32_t, Memory>;

template <class Scalar, class Index>
void check_pulls(Problem const& problem, std::size_t R, bool padded) {
  Exec const exec{};
  auto const X = random_coo<Scalar, Index>(exec, problem.dims, problem.nnz, 7, problem.skew);
  auto const A = random_factor_list<Exec, Scalar>(exec, problem.dims, R, padded);
  auto const linear = make_alto(exec, X);
  auto const host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  Factors<Scalar, Kokkos::HostSpace> host_A;
  for (auto const& a : A) host_A.push_back(matrix_on_host(a));
  for (int n = 0; n < X.order(); ++n) {
    INFO(to_string(problem.dims) << ", nnz " << problem.nnz << ", R " << R << ", mode " << n);
    detail::AltoPull<Index, Memory> pull;
    auto const recording = record([&] { pull = detail::make_alto_pull(exec, linear, n); });
    auto const counted = detail::alto_pull_bytes(exec, detail::shape_of(X), n);
    CHECK(static_cast<double>(pull.sums()) <= detail::most_sums(detail::shape_of(X), n));
    CHECK(counted.kept >= static_cast<double>(pull.bytes()));
    CHECK(counted.peak >= peak_of<Memory>(recording));
    detail::CarryBuffers<Scalar, Index, Memory> carry;
    auto const V = padded ? make_matrix<Scalar>(exec, "V", X.dims[n], R)
                          : Matrix<Scalar, Memory>("V", X.dims[n], R);
    detail::fill_view(exec, V, std::numeric_limits<Scalar>::quiet_NaN());
    detail::mttkrp_alto_pull<Exec, Scalar, Index, Memory>(exec, linear, pull, {A, n, V}, carry);
    auto const once = matrix_on_host(V);
    CHECK(wrong_entries<Scalar>(host, host_A, n, R, once) == 0);
    auto const bytes = carry.bytes();
    detail::mttkrp_alto_pull<Exec, Scalar, Index, Memory>(exec, linear, pull, {A, n, V}, carry);
    CHECK(hash_bits(once) == hash_bits(matrix_on_host(V)));
    CHECK(carry.bytes() == bytes);
  }
}

}  // namespace

TEST_CASE("rows pulled from a linear order equal the definition", "[kernels][mttkrp]") {
  for (auto const& problem : mttkrp_problems())
    for (std::size_t R : {1, 16, 17}) check_pulls<double, std::uint32_t>(problem, R, R != 17);
}

TEST_CASE("rows of several parts of a linear order are pulled", "[kernels][mttkrp]") {
  auto const nnz = 3 * Places::part_length + 77;
  check_pulls<double, std::uint32_t>({{3000, 2, 50, 40}, nnz, 3}, 3, true);  // a row has most
  check_pulls<double, std::uint32_t>({{300, 200, 100}, Places::part_length, 1}, 3, true);
  check_pulls<double, std::uint32_t>({{300, 200, 100}, Places::part_length + 1, 1}, 3, true);
}

TEST_CASE("rows of many indices, and of order 16, are pulled", "[kernels][mttkrp]") {
  check_pulls<float, std::uint64_t>({{70000, 60000, 50000}, 20000, 3}, 5, true);
  check_pulls<double, std::uint32_t>({Dims(6, 8000), 20000, 2}, 5, true);  // two words
  check_pulls<double, std::uint32_t>({Dims(16, 2), 3000, 1}, 5, true);
}

TEST_CASE("nonzeros that are pulled are all those of their parts, by rows", "[formats][mttkrp]") {
  Exec const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, {500, 30, 400}, 150000, 1, 2);
  auto const linear = make_alto(exec, X);
  auto const coo = copy_to(Kokkos::DefaultHostExecutionSpace{}, to_coo(exec, linear));
  for (int n = 0; n < 3; ++n) {
    auto const pull = detail::make_alto_pull(exec, linear, n);
    auto const places = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, pull.places);
    auto const rows = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, pull.rows);
    Position unsorted = 0, sums = 0;
    std::vector<int> met(coo.nnz(), 0);
    for (Position p = 0; p < coo.nnz(); ++p) {
      auto const part = p / Places::part_length * Places::part_length;
      ++met[part + places(p)];
      auto const row = coo.coordinates(n, part + places(p));
      bool const begins = p % Places::piece_length == 0;
      auto const before = begins ? row : coo.coordinates(n, part + places(p - 1));
      unsorted += row < before;
      sums += begins || row != before;
    }
    CHECK(unsorted == 0);
    CHECK(std::count(met.begin(), met.end(), 1) == static_cast<std::ptrdiff_t>(coo.nnz()));
    CHECK(pull.sums() == sums);
    CHECK(std::is_sorted(rows.data(), rows.data() + rows.extent(0)));
  }
}
