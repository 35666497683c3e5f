// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/core/detail/dense.hpp>
#include <sporades/core/random.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>

namespace {

using sporades::test::new_instance;

/// Y^T Y of a random rows x n matrix Y, of entries that n does not make large: of rank min(rows,
/// n).
std::vector<double> random_gram(int n, int rows) {
  std::vector<double> Y(static_cast<std::size_t>(rows) * n), G(static_cast<std::size_t>(n) * n);
  for (int k = 0; k < rows; ++k)
    for (int i = 0; i < n; ++i)
      Y[static_cast<std::size_t>(k) * n + i] =
          sporades::detail::random_entry<double>(3, 0, k, i) - 0.5;
  for (int k = 0; k < rows; ++k)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        G[static_cast<std::size_t>(i) * n + j] +=
            Y[static_cast<std::size_t>(k) * n + i] * Y[static_cast<std::size_t>(k) * n + j];
  return G;
}

struct Inverted {
  std::vector<double> inverse, transposed;
  int kind;
  int singular;  // 1 or 0
};

enum class Way { team, front_door };

template <class Scalar>
constexpr double epsilon_of() {
  return static_cast<double>(std::numeric_limits<Scalar>::epsilon());
}

/// n x n numbers with the padding of factors.
template <class ExecutionSpace>
auto padded_square(ExecutionSpace const& exec, int n) {
  return sporades::make_matrix<double>(exec, "sporades::test::square", n, n);
}

template <class MatrixType>
std::vector<double> entries_of(MatrixType const& A) {
  auto const host = sporades::copy_matrix(Kokkos::DefaultHostExecutionSpace{}, A);
  std::vector<double> entries;
  for (std::size_t i = 0; i < host.extent(0); ++i)
    for (std::size_t j = 0; j < host.extent(1); ++j) entries.push_back(host(i, j));
  return entries;
}

/// The device's algorithm itself, or what the front door chooses; may_factor: a factor of the
/// inverse may come in its place.
template <class Scalar, class ExecutionSpace>
Inverted invert(ExecutionSpace const& exec, std::vector<double> const& H, int n, double ridge,
                Way way = Way::team, bool may_factor = false) {
  using Memory = typename ExecutionSpace::memory_space;
  auto const matrix = padded_square(exec, n);
  sporades::detail::InvertedSystem<Memory> to{
      padded_square(exec, n), {}, Kokkos::View<double, Memory>("sporades::test::kind")};
  if (may_factor) to.transposed = padded_square(exec, n);
  Kokkos::deep_copy(exec, to.kind, 17.0);
  auto const padded = sporades::detail::with_padding(matrix);
  auto const host = Kokkos::create_mirror_view(padded);
  exec.fence();
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) host(i, j) = H[static_cast<std::size_t>(i) * n + j];
  Kokkos::deep_copy(exec, padded, host);
  sporades::detail::Workspace<Memory> workspace;
  double const epsilon = epsilon_of<Scalar>();
  if (way == Way::team)
    sporades::test::check_launches(exec, [&] {
      sporades::detail::invert_by_team(exec, matrix, ridge, epsilon, to, workspace);
    });
  else
    sporades::detail::invert_system(exec, matrix, ridge, epsilon, to, workspace);
  exec.fence();
  auto const flag = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, to.kind);
  auto const kind = static_cast<int>(flag());
  return {entries_of(to.inverse), may_factor ? entries_of(to.transposed) : std::vector<double>(),
          kind, kind & sporades::detail::pseudo_inverse_kind};
}

double largest(std::vector<double> const& A) {
  double most = 0;
  for (double a : A) most = std::max(most, std::abs(a));
  return most;
}

double difference(std::vector<double> const& A, std::vector<double> const& B) {
  REQUIRE(A.size() == B.size());
  double most = 0;
  for (std::size_t k = 0; k < A.size(); ++k)
    if (!(std::abs(A[k] - B[k]) <= most)) most = std::abs(A[k] - B[k]);
  return most;
}

TEMPLATE_LIST_TEST_CASE("a team's inverse equals LAPACK's", "[core][inverse]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const n = GENERATE(1, 2, 3, 16, 33, 64, 100, 257);
  auto const ridge = GENERATE(0.0, 0.5);
  auto const H = random_gram(n, 3 * n + 5);
  auto const expected =
      sporades::detail::inverse_or_pseudo_inverse(H, n, ridge, epsilon_of<Scalar>());
  REQUIRE_FALSE(expected.is_pseudo);
  auto const way = GENERATE(Way::team, Way::front_door);
  auto const result = invert<Scalar>(exec, H, n, ridge, way);
  CHECK(result.singular == 0);
  CAPTURE(n, ridge, expected.reciprocal_condition);
  // The condition amplifies double's rounding; storing rounds once to Scalar.
  CHECK(difference(result.inverse, expected.inverse) <=
        largest(expected.inverse) *
            (epsilon_of<Scalar>() + 1e-15 * n / expected.reciprocal_condition));
}

TEMPLATE_LIST_TEST_CASE("very small and large matrices have inverses", "[core][inverse]",
                        sporades::test::Cases) {
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const scale = GENERATE(1e-200, 1e-162, 1e155, 1e200);
  auto const way = GENERATE(Way::team, Way::front_door);
  CAPTURE(scale);
  auto const result = invert<double>(exec, {2 * scale, scale, scale, 2 * scale}, 2, 0.0, way);
  CHECK(result.singular == 0);
  std::vector<double> const expected{2 / scale / 3, -1 / scale / 3, -1 / scale / 3, 2 / scale / 3};
  CHECK(difference(result.inverse, expected) <= 1e-15 / scale);
}

TEMPLATE_LIST_TEST_CASE("a singular matrix gets LAPACK's pseudo-inverse from a team, too",
                        "[core][inverse]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const [n, rank] = GENERATE(
      table<int, int>({{1, 0}, {2, 1}, {3, 2}, {5, 0}, {16, 3}, {33, 20}, {64, 1}, {100, 70}}));
  auto const H = random_gram(n, rank);
  auto const expected = sporades::detail::inverse_or_pseudo_inverse(H, n, 0, epsilon_of<Scalar>());
  REQUIRE(expected.is_pseudo);
  REQUIRE(expected.rank == rank);
  auto const way = GENERATE(Way::team, Way::front_door);
  auto const result = invert<Scalar>(exec, H, n, 0, way);
  CHECK(result.singular == 1);
  CAPTURE(n, rank);
  // The eigenvalues that are kept are far from zero here: their condition is below 1e5.
  CHECK(difference(result.inverse, expected.inverse) <=
        largest(expected.inverse) * (epsilon_of<Scalar>() + 1e-10));
}

TEMPLATE_LIST_TEST_CASE("what is close to singular is decided by the scalar type",
                        "[core][inverse]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const way = GENERATE(Way::team, Way::front_door);
  double const epsilon = epsilon_of<Scalar>();
  auto const kept = invert<Scalar>(exec, {1, 0, 0, 8 * epsilon}, 2, 0, way);
  CHECK(kept.singular == 0);
  CHECK(difference(kept.inverse, {1, 0, 0, 1 / (8 * epsilon)}) <= 1e-15 / epsilon);
  auto const dropped = invert<Scalar>(exec, {1, 0, 0, epsilon}, 2, 0, way);
  CHECK(dropped.singular == 1);
  CHECK(dropped.inverse == std::vector<double>{1, 0, 0, 0});
  auto const ones = invert<Scalar>(exec, {1, 1, 1, 1}, 2, 0, way);
  CHECK(ones.singular == 1);
  for (double entry : ones.inverse) CHECK(entry == Approx(0.25).epsilon(4 * epsilon));
  CHECK(invert<Scalar>(exec, {1, 1, 1, 1}, 2, 0.1, way).singular == 0);
  // Negative by rounding, as Gram matrices may come.
  CHECK(invert<Scalar>(exec, {1, 0, 0, -1e-17}, 2, 0, way).inverse ==
        std::vector<double>{1, 0, 0, 0});

  // Columns that are nearly the same: both the inverse and the test of it are close calls.
  double const angle = std::is_same_v<Scalar, float> ? 1e-2 : 1e-6;
  std::vector<double> H(9);
  std::vector<std::array<double, 3>> const columns{{1, 0, 0}, {1, angle, 0}, {1, 0, angle}};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) H[i * 3 + j] += columns[i][k] * columns[j][k];
  auto const expected = sporades::detail::inverse_or_pseudo_inverse(H, 3, 0, epsilon);
  auto const near = invert<Scalar>(exec, H, 3, 0, way);
  CHECK(near.singular == (expected.is_pseudo ? 1 : 0));
  CHECK(difference(near.inverse, expected.inverse) <=
        largest(expected.inverse) * (epsilon + 1e-15 / expected.reciprocal_condition));
}

TEMPLATE_LIST_TEST_CASE("the inverse of what is not finite is NaN", "[core][inverse]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const way = GENERATE(Way::team, Way::front_door);
  auto const bad =
      GENERATE(std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity());
  for (double entry : invert<Scalar>(exec, {bad, 1, 1, 1}, 2, 0, way).inverse)
    CHECK(std::isnan(entry));
  for (double entry : invert<Scalar>(exec, {2, bad, bad, 2}, 2, 0, way).inverse)
    CHECK(std::isnan(entry));
}

TEST_CASE("matrices that are not square have no inverse", "[core][inverse]") {
  Kokkos::DefaultHostExecutionSpace const exec{};
  auto const H = sporades::make_matrix<double>(exec, "sporades::test::h", 2, 3);
  auto const square = padded_square(exec, 2), larger = padded_square(exec, 3);
  auto const none = padded_square(exec, 0);
  Kokkos::View<double, Kokkos::HostSpace> const kind("sporades::test::kind");
  sporades::detail::Workspace<Kokkos::HostSpace> workspace;
  using System = sporades::detail::InvertedSystem<Kokkos::HostSpace>;
  auto const refuses = [&](auto const& of, System const& to) {
    CHECK_THROWS_AS(sporades::detail::invert_system(exec, of, 0, 1e-16, to, workspace),
                    sporades::Error);
  };
  refuses(H, {square, {}, kind});
  refuses(square, {H, {}, kind});
  refuses(square, {square, larger, kind});
  refuses(none, {none, {}, kind});
}

/// The Gram matrix of columns that are nearly the same, of numbers with few bits.
std::vector<double> near_columns(int n) {
  auto H = random_gram(n, 3 * n);
  for (double& h : H) h = 1 + 0x1p-32 * (std::round(64 * h) / 64);
  return H;
}

std::size_t below_diagonal(std::vector<double> const& U, int n) {
  std::size_t entries = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) entries += U[static_cast<std::size_t>(i) * n + j] != 0;
  return entries;
}

TEMPLATE_LIST_TEST_CASE("an ill-conditioned system is solved by a factor of its inverse",
                        "[core][inverse]", sporades::test::Cases) {
  using ExecutionSpace = typename TestType::ExecutionSpace;
  using Memory = typename TestType::MemorySpace;
  using sporades::detail::factor_kind;
  using sporades::detail::ill_conditioned_kind;
  auto const exec = new_instance<ExecutionSpace>();
  auto const way = GENERATE(Way::team, Way::front_door);
  auto const n = GENERATE(2, 5, 16, 33, 70, 257);
  CAPTURE(n);
  auto const good = invert<double>(exec, random_gram(n, 3 * n + 5), n, 0, way, true);
  CHECK(good.kind == 0);
  CHECK(good.inverse == invert<double>(exec, random_gram(n, 3 * n + 5), n, 0, way).inverse);

  // Rows A that H takes to V = A H, of numbers with few bits, so that V is nearly exact.
  auto const H = near_columns(n);
  std::size_t const rows = 67, N = static_cast<std::size_t>(n);
  auto const result = invert<double>(exec, H, n, 0, way, true);
  CHECK(result.kind == ill_conditioned_kind + factor_kind);
  CHECK(below_diagonal(result.inverse, n) == 0);
  std::size_t different = 0;
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = 0; j < N; ++j)
      different += result.transposed[j * N + i] != result.inverse[i * N + j];
  CHECK(different == 0);
  auto const A = sporades::make_matrix<double>(exec, "sporades::test::a", rows, N);
  auto const V = sporades::make_matrix<double>(exec, "sporades::test::v", rows, N);
  auto const host_V = Kokkos::create_mirror_view(sporades::detail::with_padding(V));
  std::vector<double> exact(rows * N);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < N; ++k)
      exact[i * N + k] = std::round(8 * sporades::detail::random_entry<double>(5, 0, i, k)) - 4;
    for (std::size_t j = 0; j < N; ++j)
      for (std::size_t k = 0; k < N; ++k) host_V(i, j) += exact[i * N + k] * H[k * N + j];
  }
  Kokkos::deep_copy(exec, sporades::detail::with_padding(V), host_V);
  auto const solve = [&](bool may_factor) {
    sporades::detail::InvertedSystem<Memory> system{
        padded_square(exec, n), {}, Kokkos::View<double, Memory>("sporades::test::kind")};
    if (may_factor) system.transposed = padded_square(exec, n);
    auto const matrix = padded_square(exec, n);
    auto const host = Kokkos::create_mirror_view(sporades::detail::with_padding(matrix));
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t j = 0; j < N; ++j) host(i, j) = H[i * N + j];
    Kokkos::deep_copy(exec, sporades::detail::with_padding(matrix), host);
    sporades::detail::Workspace<Memory> workspace;
    double const epsilon = epsilon_of<double>();
    if (way == Way::team)
      sporades::detail::invert_by_team(exec, matrix, 0, epsilon, system, workspace);
    else
      sporades::detail::invert_system(exec, matrix, 0, epsilon, system, workspace);
    sporades::detail::multiply_by_inverse(exec, V, system, A);
    exec.fence();
    auto const a = entries_of(A);
    long double error = 0, size = 0;  // (A - exact) H (A - exact)^T, as the model sees it
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < N; ++j)
        for (std::size_t k = 0; k < N; ++k) {
          long double const h = H[j * N + k];
          error += (static_cast<long double>(a[i * N + j]) - exact[i * N + j]) * h *
                   (static_cast<long double>(a[i * N + k]) - exact[i * N + k]);
          size += exact[i * N + j] * h * exact[i * N + k];
        }
    return std::sqrt(static_cast<double>(error / size));
  };
  CHECK(solve(true) < 1e-8);
  CHECK(solve(false) > 1e-8);
}

TEMPLATE_LIST_TEST_CASE("a pseudo-inverse has a factor", "[core][inverse]", sporades::test::Cases) {
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const way = GENERATE(Way::team, Way::front_door);
  auto const [n, rank] =
      GENERATE(table<int, int>({{1, 0}, {2, 1}, {3, 2}, {16, 3}, {33, 20}, {64, 1}, {100, 70}}));
  CAPTURE(n, rank);
  auto const H = random_gram(n, rank);
  auto const expected = sporades::detail::inverse_or_pseudo_inverse(H, n);
  REQUIRE(expected.is_pseudo);
  auto const result = invert<double>(exec, H, n, 0, way, true);
  CHECK(result.kind == 7);
  auto const N = static_cast<std::size_t>(n);
  std::vector<double> product(N * N);
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = 0; j < N; ++j)
      for (std::size_t k = 0; k < N; ++k)
        product[i * N + j] += result.inverse[i * N + k] * result.inverse[j * N + k];
  CHECK(difference(product, expected.inverse) <= 1e-10 * largest(expected.inverse));
  CHECK(below_diagonal(result.inverse, n) == 0);
}

TEMPLATE_LIST_TEST_CASE("inverses have the same bits on any number of threads",
                        "[core][inverse][threads]", sporades::test::AllCases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const [n, rank] = GENERATE(table<int, int>({{16, 40}, {100, 200}, {17, 9}, {40, 20}}));
  auto const name = std::string("inverse ") + TestType::MemorySpace::name() + " " +
                    (std::is_same_v<Scalar, float> ? "float " : "double ") + std::to_string(n) +
                    " of rank " + std::to_string(rank);
  auto const result = invert<Scalar>(exec, random_gram(n, rank), n, 0.0).inverse;
  sporades::test::check_same_bits(
      name, sporades::test::hash_bytes(result.data(), result.size() * sizeof(double)));
}

}  // namespace
