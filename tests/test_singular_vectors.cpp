// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What HOOI's singular vectors are made of, against their definitions.

#include <sporades/algorithms/detail/tucker/tucker_method.hpp>
#include <support/backends.hpp>
#include <support/files.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>
#include <support/tucker.hpp>

using namespace sporades;
using namespace sporades::test;
using sporades::detail::BlockKrylov;

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;

constexpr std::size_t order = 40;

/// Eigenvalues 1, 0.8, 0.64, ...
double eigenvalue(std::size_t k) {
  return std::pow(0.8, double(k));
}

/// M V for M = H D H, D the eigenvalues and H = I - 2 w w^T, w = 1 / sqrt(n): eigenvector k is
/// column k of H.
BlockKrylov::Block multiply_planted(BlockKrylov::Block V) {
  auto const reflect = [&] {
    for (std::size_t v = 0; v < V.size(); v += order) {
      double sum = 0;
      for (std::size_t i = 0; i < order; ++i) sum += V[v + i];
      for (std::size_t i = 0; i < order; ++i) V[v + i] -= 2 * sum / order;
    }
  };
  reflect();
  for (std::size_t e = 0; e < V.size(); ++e) V[e] *= eigenvalue(e % order);
  reflect();
  return V;
}

BlockKrylov::Block planted_vectors(std::size_t count) {
  BlockKrylov::Block V(count * order, -2.0 / order);
  for (std::size_t k = 0; k < count; ++k) V[k * order + k] += 1;
  return V;
}

BlockKrylov::Block random_vectors(std::size_t count) {
  BlockKrylov::Block V;
  for (std::size_t e = 0; e < count * order; ++e)
    V.push_back(sporades::detail::random_entry<double>(3, 0, e, 0) - 0.5);
  return V;
}

struct Solution {
  int blocks = 0;
  std::vector<double> values;
};

Solution solve(BlockKrylov::Block const& start, int wanted, double before, double tolerance) {
  Solution solution;
  BlockKrylov krylov(order, wanted);
  krylov.solve(start, before, tolerance, [&](BlockKrylov::Block const& V, int) {
    ++solution.blocks;
    return multiply_planted(V);
  });
  solution.values = krylov.values();
  return solution;
}

}  // namespace

TEST_CASE("block Lanczos finds the leading eigenvalues as exactly as asked",
          "[algorithms][tucker]") {
  int const wanted = GENERATE(1, 3, 5);
  double exact = 0;
  for (int k = 0; k < wanted; ++k) exact += eigenvalue(k);
  auto const error = [&](Solution const& solution) {
    REQUIRE(solution.values.size() == static_cast<std::size_t>(wanted));
    double sum = 0;
    for (double value : solution.values) sum += value;
    return (exact - sum) / exact;
  };
  auto const start = random_vectors(wanted);
  auto const fine = solve(start, wanted, 0, 1e-14), coarse = solve(start, wanted, 0, 1e-2);
  CHECK(std::abs(error(fine)) < 1e-12);
  for (int k = 0; k < wanted; ++k) CHECK(fine.values[k] == Approx(eigenvalue(k)).epsilon(1e-9));
  CHECK(error(coarse) > 1e-9);
  CHECK(error(coarse) < 0.2);
  CHECK(coarse.blocks < fine.blocks);
  CHECK(coarse.blocks >= 2);  // nothing was known
}

TEST_CASE("block Lanczos stops after one block where the start's energy is known",
          "[algorithms][tucker]") {
  constexpr int wanted = 4;
  double exact = 0;
  for (int k = 0; k < wanted; ++k) exact += eigenvalue(k);
  auto start = planted_vectors(wanted);
  for (std::size_t e = 0; e < start.size(); ++e) start[e] += 1e-5 * random_vectors(wanted)[e];
  CHECK(solve(start, wanted, exact * (1 - 1e-5), 1e-4).blocks == 1);
  CHECK(solve(start, wanted, 0, 1e-4).blocks == 2);
  // A start that is far from them: its energy is not enough.
  CHECK(solve(random_vectors(wanted), wanted, 0.1 * exact, 1e-4).blocks > 2);
}

TEMPLATE_TEST_CASE("the products of a pass over Y equal their definition", "[algorithms][tucker]",
                   float, double) {
  Host const exec{};
  // Less than the eight rows that go together, one more, blocks of 256 rows and more.
  std::size_t const rows = GENERATE(1, 7, 8, 9, 24, 264, 777);
  std::size_t const columns = GENERATE(4, 12, 64), wanted = GENERATE(1, 4, 8, 11, 18);
  auto const Y = random_matrix<TestType>(exec, rows, columns, 5);
  using Panel = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
  Panel const V("V", columns, padded_columns(wanted)), Z("Z", columns, padded_columns(wanted));
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t q = 0; q < wanted; ++q)
      V(c, q) = sporades::detail::random_entry<double>(8, 0, c, q) - 0.5;
  auto const U = make_matrix<TestType>(exec, "U", rows, wanted);
  exec.fence();
  sporades::detail::Workspace<Kokkos::HostSpace> workspace;
  double const exact = std::is_same_v<TestType, float> ? 1e-5 : 1e-13;
  auto const check_left = [&] {
    double worst = 0;
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t q = 0; q < wanted; ++q) {
        double sum = 0;
        for (std::size_t c = 0; c < columns; ++c) sum += double(Y(i, c)) * V(c, q);
        worst = std::max(worst, std::abs(sum - double(U(i, q))));
      }
    CHECK(worst < exact * double(columns));
  };
  auto const check_right = [&] {
    double worst = 0;
    for (std::size_t c = 0; c < columns; ++c)
      for (std::size_t q = 0; q < wanted; ++q) {
        double sum = 0;
        for (std::size_t i = 0; i < rows; ++i) sum += double(Y(i, c)) * double(U(i, q));
        worst = std::max(worst, std::abs(sum - Z(c, q)));
      }
    CHECK(worst < exact * double(rows * columns));
  };
  auto const clear = [&] {
    Kokkos::deep_copy(exec, Z, 1e9);
    Kokkos::deep_copy(exec, U, TestType(1e9));
    exec.fence();
  };
  clear();
  sporades::detail::normal_product<sporades::detail::NormalStep::both>(exec, Y, V, U, Z, workspace);
  exec.fence();
  check_left();
  check_right();
  Kokkos::deep_copy(exec, Z, 1e9);
  sporades::detail::normal_product<sporades::detail::NormalStep::right>(exec, Y, V, U, Z,
                                                                        workspace);
  exec.fence();
  check_left();  // U is read alone
  check_right();
  clear();
  sporades::detail::normal_product<sporades::detail::NormalStep::left>(exec, Y, V, U, Z, workspace);
  exec.fence();
  check_left();
  CHECK(Z(0, 0) == 1e9);
}

TEST_CASE("singular vectors that are good already take one pass, and one for their core",
          "[algorithms][tucker]") {
  Host const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, {300, 30, 20}, 9000, 6, 2);
  std::vector<int> const ranks{5, 12, 11};
  Factors<double, Kokkos::HostSpace> A;
  for (int n = 0; n < 3; ++n) A.push_back(random_matrix<double>(exec, X.dims[n], ranks[n], 3));
  auto plan = make_ttm_chain_plan(exec, X, ranks);
  auto const product = ttm_chain(exec, plan, A, 0);
  sporades::detail::LeftSingularVectors<Host, double, std::uint32_t> left(
      exec, SingularVectorMethod::lanczos);
  left.tall().orthonormalize(A[0], 1, 0);
  left(product, A[0], 1, 0, 0.1);  // so that the next starts from most of the energy
  left(product, A[0], 1, 0, 1e-15);
  auto const squares = left.squares();
  sporades::detail::LeftSingularVectors<Host, double, std::uint32_t> gram(
      exec, SingularVectorMethod::gram);
  auto exact = A[0];
  gram(product, exact, 1, 0, 0);
  REQUIRE(gram.squares().size() == squares.size());
  for (std::size_t r = 0; r < squares.size(); ++r)
    CHECK(squares[r] == Approx(gram.squares()[r]).epsilon(1e-9));
  auto const passes = [&](double tolerance, std::vector<double> const& core) {
    auto factor = A[0];
    auto const recording = record([&] { left(product, factor, 1, 0, tolerance, core); });
    int count = 0;
    for (auto const& launch : recording.launches)
      count += launch.label == "sporades::tucker::normal_product";
    REQUIRE(left.squares().size() == squares.size());
    for (std::size_t r = 0; r < squares.size(); ++r)
      CHECK(left.squares()[r] == Approx(squares[r]).epsilon(1e-9));
    return count;
  };
  std::vector<double> core;
  for (int r = 0; r < ranks[0]; ++r)
    for (std::size_t c = 0; c < product.Y.extent(1); ++c) {
      double sum = 0;
      for (std::size_t i = 0; i < product.Y.extent(0); ++i)
        sum += product.Y(i, c) * A[0](product.rows(i), r);
      core.push_back(sum);
    }
  CHECK(passes(1e-6, {}) == 2);
  CHECK(passes(1e-6, core) == 1);
}

TEST_CASE("HOOI reads what mode 0's factor captures from the core", "[algorithms][tucker]") {
  Host const exec{};
  // Ranks that no tile divides: the columns of Y are padded.
  auto const X = random_coo<double, std::uint32_t>(exec, {300, 40, 30}, 20000, 6, 1.5);
  auto options = tucker_options({5, 7, 6}, 4);
  options.singular_vectors = SingularVectorMethod::lanczos;
  auto problem = make_tucker_problem(exec, X, options);
  auto state = tucker_start(exec, X, options);
  TuckerResult<double, Kokkos::HostSpace> result;
  auto const recording = record([&] { result = tucker(exec, problem, options, state); });
  int gathered = 0;
  for (auto const& launch : recording.launches)
    gathered += launch.label == "sporades::tucker::gather_factor";
  CHECK(gathered == 4 * (3 + 1) - 3);  // a mode each and the core, but mode 0 from iteration 1 on
  for (std::size_t k = 1; k < result.values.size(); ++k)
    CHECK(result.values[k] >= result.values[k - 1]);
}

TEMPLATE_TEST_CASE(
    "products with an unfolding are those of its definition, on hosts and as on GPUs",
    "[algorithms][tucker]", float, double) {
  Host const exec{};
  std::size_t const rows = 37, columns = 20;
  auto const most = GENERATE(std::size_t{3}, std::size_t{9});
  auto const factor =
      sporades::detail::random_factor<TestType>(exec, "sporades::test::unfolding", rows, 20, 5, 1);
  auto const Y = sporades::detail::with_padding(factor);
  sporades::detail::Workspace<Host::memory_space> workspace;
  BlockKrylov::Block V;
  for (std::size_t e = 0; e < most * columns; ++e)
    V.push_back(sporades::detail::random_entry<double>(7, 0, e, 0) - 0.5);
  double const exact = std::is_same_v<TestType, float> ? 1e-5 : 1e-13;
  auto const check = [&](auto const& unfolding) {
    auto const U = make_matrix<TestType>(exec, "sporades::test::left", rows, most);
    auto const V2 = unfolding.normal(V, U);
    auto const V3 = unfolding.transposed(U);
    exec.fence();
    REQUIRE(V2.size() == V.size());
    for (std::size_t v = 0; v < most; ++v) {
      for (std::size_t i = 0; i < rows; ++i) {
        double sum = 0;
        for (std::size_t c = 0; c < columns; ++c) sum += double(Y(i, c)) * V[v * columns + c];
        CHECK(std::abs(U(i, v) - sum) < exact);
      }
      for (std::size_t c = 0; c < columns; ++c) {
        double sum = 0;
        for (std::size_t i = 0; i < rows; ++i) sum += double(Y(i, c)) * double(U(i, v));
        CHECK(std::abs(V2[v * columns + c] - sum) < 10 * exact);
        CHECK(V3[v * columns + c] == Approx(sum).margin(10 * exact));
      }
    }
    auto const fewer = make_matrix<TestType>(exec, "sporades::test::left", rows, most - 1);
    unfolding.images(BlockKrylov::Block(V.begin(), V.end() - columns), fewer);
    exec.fence();
    for (std::size_t v = 0; v + 1 < most; ++v)
      for (std::size_t i = 0; i < rows; ++i) CHECK(std::abs(fewer(i, v) - U(i, v)) < exact);
  };
  check(sporades::detail::HostUnfolding<Host, TestType>(exec, Y, most, workspace));
  check(sporades::detail::GpuUnfolding<Host, TestType>(exec, Y, most, workspace));
}

namespace {

/// values and vectors of `found` are the leading ones of Y.
template <class MatrixType>
void check_left_vectors(MatrixType const& Y, sporades::detail::DirectSvd<MatrixType> const& found,
                        int wanted) {
  bool const is_float = std::is_same_v<typename MatrixType::non_const_value_type, float>;
  auto const A = matrix_on_host(Y), U = matrix_on_host(found.vectors);
  std::size_t const rows = A.extent(0), columns = A.extent(1);
  std::vector<double> G(rows * rows);  // A A^T
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < rows; ++j)
      for (std::size_t c = 0; c < columns; ++c)
        G[i * rows + j] += double(A(i, c)) * double(A(j, c));
  auto const eigen = sporades::detail::leading_eigen(G, static_cast<int>(rows), wanted);
  REQUIRE(found.values.size() == static_cast<std::size_t>(wanted));
  REQUIRE(U.extent(0) == rows);
  REQUIRE(U.extent(1) == static_cast<std::size_t>(wanted));
  double const scale = wanted > 0 ? eigen.values[0] : 0, exact = is_float ? 1e-5 : 1e-12;
  for (int r = 0; r < wanted; ++r) {
    CHECK(std::abs(found.values[r] * found.values[r] - eigen.values[r]) < exact * scale);
    double worst = 0;  // of A A^T u = s^2 u
    for (std::size_t i = 0; i < rows; ++i) {
      double image = 0;
      for (std::size_t j = 0; j < rows; ++j) image += G[i * rows + j] * double(U(j, r));
      worst = std::max(worst, std::abs(image - eigen.values[r] * double(U(i, r))));
    }
    CHECK(worst < 10 * exact * scale);
  }
  CHECK(distance_from_orthonormal(found.vectors) < 10 * exact);
}

struct SvdShape {
  std::size_t rows, columns;
};

std::vector<SvdShape> svd_shapes() {
  return {{1, 1}, {1, 9}, {9, 1}, {7, 3}, {3, 7}, {40, 40}, {300, 21}, {21, 300}};
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a direct SVD equals its definition", "[algorithms][tucker]", Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const [rows, columns] = GENERATE(from_range(svd_shapes()));
  CAPTURE(rows, columns);
  auto const Y = random_matrix<Scalar>(exec, rows, columns, 5);
  auto const least = static_cast<int>(std::min(rows, columns));
  for (int wanted : {0, 1, (least + 1) / 2, least})
    check_left_vectors(Y, sporades::detail::direct_svd(exec, Y, wanted), wanted);
  auto const host = matrix_on_host(Y);
  Kokkos::deep_copy(host, std::numeric_limits<Scalar>::quiet_NaN());
  auto const bad = copy_matrix(exec, host);
  CHECK_THROWS_AS(sporades::detail::direct_svd(exec, bad, 1), sporades::RunError);
}

TEMPLATE_TEST_CASE("vectors of an SVD by columns equal their definition, as on GPUs",
                   "[algorithms][tucker]", float, double) {
  using MatrixType = Matrix<TestType, Host::memory_space>;
  Host const exec{};
  auto const [rows, columns] = GENERATE(from_range(svd_shapes()));
  CAPTURE(rows, columns);
  auto const Y = random_matrix<TestType>(exec, rows, columns, 5);
  // What stands for cuSOLVER. Columns of U are rows of a MatrixType, and rows of V^T its columns.
  auto const solve = [&](MatrixType const& A, Vector<TestType, Host::memory_space> const& s,
                         MatrixType const& U, MatrixType const& Vt) {
    auto const m = static_cast<int>(A.extent(1)), n = static_cast<int>(A.extent(0));
    REQUIRE(m >= n);
    REQUIRE(A.stride(0) == A.extent(1));
    std::vector<double> by_columns(A.data(), A.data() + A.size()), by_rows(A.size());
    for (int i = 0; i < m; ++i)
      for (int c = 0; c < n; ++c) by_rows[i * n + c] = A(c, i);
    auto const left = sporades::detail::leading_left_vectors(by_rows, m, n, n);
    auto const right = sporades::detail::leading_left_vectors(by_columns, n, m, n);
    for (int r = 0; r < n; ++r) {
      s(r) = static_cast<TestType>(left.values[r]);
      for (int i = 0; i < m; ++i) U(r, i) = static_cast<TestType>(left.vectors[r * m + i]);
      for (int c = 0; c < n; ++c) Vt(c, r) = static_cast<TestType>(right.vectors[r * n + c]);
    }
    Kokkos::deep_copy(A, TestType(9));
  };
  auto const least = static_cast<int>(std::min(rows, columns));
  for (int wanted : {0, 1, (least + 1) / 2, least})
    check_left_vectors(Y, sporades::detail::svd_in_place(exec, Y, wanted, solve), wanted);
  Y(0, 0) = std::numeric_limits<TestType>::infinity();
  CHECK(message_of([&] {
          sporades::detail::svd_in_place(
              exec, Y, 1, [](auto const&, auto const& s, auto const&, auto const&) {
                Kokkos::deep_copy(s, std::numeric_limits<TestType>::infinity());
              });
        }) == "tucker: an unfolding holds NaN or infinity");
}
