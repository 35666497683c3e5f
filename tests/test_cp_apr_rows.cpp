// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <numeric>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/cp_apr_rows.hpp>
#include <support/files.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>

namespace {

using sporades::CpAprMethod;
using sporades::Dims;
using sporades::Position;
using sporades::detail::RowOptions;
using sporades::test::HostFactors;
using sporades::test::HostMatrix;
using sporades::test::is_double;
using sporades::test::new_instance;
using sporades::test::on_host;
using sporades::test::row_of;
using sporades::test::row_options;

template <class Scalar>
struct Solved {
  HostMatrix<Scalar> B;
  double violation;
  std::uint64_t inner_iterations;
};

/// solve_rows on mode n of X, from B; a segment_length of 0 is the library's own.
template <class ExecutionSpace, class Scalar>
Solved<Scalar> solve(ExecutionSpace const& exec,
                     sporades::CooTensor<Scalar, std::uint32_t> const& X, int n,
                     HostFactors<Scalar> const& A, HostMatrix<Scalar> const& B,
                     sporades::detail::RowOptions const& options, Position segment_length = 0) {
  auto const sorted = sporades::test::sorted_for(exec, sporades::copy_to(exec, X), n);
  auto const factors = sporades::test::copy_factors(exec, A);
  auto const result = sporades::copy_matrix(exec, B);
  sporades::detail::RowWorkspace<typename ExecutionSpace::memory_space> workspace;
  int const R = static_cast<int>(B.extent(1));
  auto const problem = sporades::detail::make_row_subproblems(exec, sorted, n, R, segment_length);
  sporades::detail::solve_rows(exec, problem, factors, result, options, workspace);
  exec.fence();
  return {sporades::test::matrix_on_host(result), on_host(workspace.violation)(),
          on_host(workspace.inner_iterations)()};
}

template <class Scalar>
HostMatrix<Scalar> random_start(std::size_t rows, int R, double scale, unsigned seed = 5) {
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const B =
      sporades::detail::random_factor<Scalar>(host, "sporades::test::b", rows, R, seed, 0);
  host.fence();
  for (std::size_t i = 0; i < rows; ++i)
    for (int r = 0; r < R; ++r) B(i, r) *= static_cast<Scalar>(scale);
  return B;
}

TEMPLATE_LIST_TEST_CASE("rows reach the minimum that a slow and sure method finds",
                        "[algorithms][cp_apr]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const method = GENERATE(CpAprMethod::pdnr, CpAprMethod::pqnr);
  auto const [dims, R] = GENERATE(table<Dims, int>(
      {{{20, 5, 4}, 3}, {{15, 6}, 2}, {{12, 3, 4, 3}, 5}, {{12, 4, 3, 2, 3}, 4}, {{12}, 2}}));
  // With segments of 3 nonzeros, most rows are long ones.
  auto const segment_length = GENERATE(Position{0}, Position{3});
  auto const scale = GENERATE(1.0, 1e4);
  auto const X = sporades::test::distinct_counts<Scalar>(Kokkos::DefaultHostExecutionSpace{}, dims,
                                                         8 * dims[0], 3, 1.5);
  auto const A = sporades::test::random_stochastic<Scalar>(dims, R, 2);
  auto const B = random_start<Scalar>(dims[0], R, scale);
  auto const options = row_options(method, 1e-9, method == CpAprMethod::pdnr ? 60 : 500);
  auto const solved = solve(exec, X, 0, A, B, options, segment_length);
  double violation = 0;
  for (std::uint64_t i = 0; i < dims[0]; ++i) {
    auto const row = sporades::test::plain_row(X, 0, i, A);
    violation = std::max(violation, row.violation(row_of(B, i)));
    auto const b = row_of(solved.B, i);
    CAPTURE(i, row.x.size(), R, b);
    if (row.x.empty()) {
      CHECK(std::accumulate(b.begin(), b.end(), 0.0) == 0);
      continue;
    }
    for (double entry : b) CHECK(entry >= 0);
    double const least = row.value(row.minimum());
    CHECK(std::abs(row.value(b) - least) <= 1e-10 * std::abs(least) + 1e-12);
    // Inside, rows are solved in double; storing them rounds.
    CHECK(row.violation(b) <= (is_double<Scalar> ? 1.01e-9 : 1e-5));
  }
  CHECK(solved.violation == Approx(violation).epsilon(1e-10));
  if (dims.size() > 1) CHECK(solved.inner_iterations >= dims[0] / 2);
  CHECK(solved.inner_iterations <=
        dims[0] * static_cast<std::uint64_t>(options.inner_iterations) / 3);
}

TEMPLATE_LIST_TEST_CASE("rows that are solved stay as they are", "[algorithms][cp_apr]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const method = GENERATE(CpAprMethod::pdnr, CpAprMethod::pqnr);
  auto const segment_length = GENERATE(Position{0}, Position{3});
  Dims const dims{40, 5, 4};
  auto const X = sporades::test::distinct_counts<Scalar>(Kokkos::DefaultHostExecutionSpace{}, dims,
                                                         400, 3, 1.5);
  auto const A = sporades::test::random_stochastic<Scalar>(dims, 3, 2);
  auto const first = solve(exec, X, 0, A, random_start<Scalar>(40, 3, 10.0),
                           row_options(method, 1e-5, 60), segment_length);
  CHECK(first.inner_iterations > 0);
  CHECK(first.violation > 1e-2);
  auto const again = solve(exec, X, 0, A, first.B, row_options(method, 1e-4, 60), segment_length);
  CHECK(again.inner_iterations == 0);
  CHECK(again.violation <= 1e-4);
  for (std::size_t i = 0; i < 40; ++i) CHECK(row_of(again.B, i) == row_of(first.B, i));
}

TEMPLATE_LIST_TEST_CASE("one row of most nonzeros, at any rank", "[algorithms][cp_apr]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const method = GENERATE(CpAprMethod::pdnr, CpAprMethod::pqnr);
  auto const R = GENERATE(1, 3, 16, 17, 33, 100);
  Dims const dims{30, 50, 40};
  sporades::test::Entries<Scalar> entries;  // every second cell of row 0, and half as many others
  for (std::uint64_t j = 0; j < 50; ++j)
    for (std::uint64_t k = j % 2; k < 40; k += 2) {
      entries.push_back({{0, j, k}, static_cast<Scalar>(1 + (3 * j + k) % 7)});
      if (k % 4 < 2) entries.push_back({{1 + (j + 7 * k) % 29, j, k}, Scalar(1)});
    }
  auto const X = sporades::test::make_coo<Scalar>(dims, entries);
  auto const A = sporades::test::random_stochastic<Scalar>(dims, R, 2);
  auto const B = random_start<Scalar>(dims[0], R, 10.0);
  auto const options = row_options(method, 1e-3, method == CpAprMethod::pdnr ? 40 : 200);
  auto const whole = solve(exec, X, 0, A, B, options);
  auto const in_segments = solve(exec, X, 0, A, B, options, 50);
  auto const hub = sporades::test::plain_row(X, 0, 0, A);
  REQUIRE(hub.x.size() > X.nnz() / 2);
  for (std::uint64_t i = 0; i < dims[0]; ++i) {
    auto const row = sporades::test::plain_row(X, 0, i, A);
    if (row.x.empty()) continue;
    CAPTURE(i, row.x.size(), R);
    auto const b = row_of(whole.B, i), c = row_of(in_segments.B, i);
    CHECK(row.violation(b) <= 1.02e-3);
    CHECK(row.violation(c) <= 1.02e-3);
    // f is convex: with this violation it is at most so far above its minimum.
    double const mass = std::accumulate(row.x.begin(), row.x.end(), 0.0);
    CHECK(std::abs(row.value(b) - row.value(c)) <= 2.1e-3 * (mass + R));
  }
}

/// A row whose nonzeros the other factors make 0 (pi = 0), one that starts at 0, one whose start is
/// 0 where a nonzero needs it, and one without nonzeros.
TEMPLATE_LIST_TEST_CASE("rows without a model and models without a row", "[algorithms][cp_apr]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const method = GENERATE(CpAprMethod::pdnr, CpAprMethod::pqnr);
  auto const segment_length = GENERATE(Position{0}, Position{1});
  auto const X = sporades::test::make_coo<Scalar>(
      {5, 3},
      {{{0, 2}, 7}, {{1, 0}, 2}, {{1, 1}, 3}, {{2, 0}, 4}, {{2, 1}, 1}, {{2, 2}, 6}, {{4, 2}, 1}});
  HostFactors<Scalar> A{HostMatrix<Scalar>("a", 5, 2), HostMatrix<Scalar>("a", 3, 2)};
  A[1](0, 0) = A[1](1, 1) = Scalar(0.75);  // row 2 stays 0
  A[1](1, 0) = Scalar(0.25);
  A[1](0, 1) = Scalar(0);
  HostMatrix<Scalar> const B("b", 5, 2);
  B(0, 0) = 3;
  B(2, 1) = 2;  // component 1 does not reach nonzero (2, 0)
  B(3, 0) = B(3, 1) = Scalar(0.5);
  B(4, 0) = B(4, 1) = 1;
  auto const solved = solve(exec, X, 0, A, B, row_options(method, 1e-9, 500), segment_length);
  for (std::size_t i : {0, 3, 4}) CHECK(row_of(solved.B, i) == std::vector<double>{0, 0});
  for (std::size_t i : {1, 2}) {
    auto row = sporades::test::plain_row(X, 0, i, A);
    if (i == 2) {  // the nonzero that no b reaches
      row.x.pop_back();
      row.pi.pop_back();
    }
    auto const b = row_of(solved.B, i);
    double const least = row.value(row.minimum());
    CHECK(std::abs(row.value(b) - least) <= 1e-9 * std::abs(least));
  }
  CHECK(solved.violation >= 1);
  CHECK(std::isfinite(solved.violation));
}

TEMPLATE_LIST_TEST_CASE("tensors without nonzeros and modes without rows have rows of 0",
                        "[algorithms][cp_apr]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = sporades::test::make_coo<Scalar>({4, 3}, {});
  HostFactors<Scalar> const A{HostMatrix<Scalar>("a", 4, 2), HostMatrix<Scalar>("a", 3, 2)};
  auto const solved =
      solve(exec, X, 0, A, random_start<Scalar>(4, 2, 1.0), sporades::detail::RowOptions{});
  for (std::size_t i = 0; i < 4; ++i) CHECK(row_of(solved.B, i) == std::vector<double>{0, 0});
  CHECK(solved.violation > 0.1);
  CHECK(solved.inner_iterations == 0);
  auto const none = sporades::test::make_coo<Scalar>({0, 3}, {});
  HostFactors<Scalar> const C{HostMatrix<Scalar>("a", 0, 2), HostMatrix<Scalar>("a", 3, 2)};
  auto const nothing =
      solve(exec, none, 0, C, HostMatrix<Scalar>("b", 0, 2), sporades::detail::RowOptions{});
  CHECK(nothing.violation == 0);
  CHECK(nothing.inner_iterations == 0);
}

TEMPLATE_LIST_TEST_CASE("what is not a number does not pass for a solution", "[algorithms][cp_apr]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const method = GENERATE(CpAprMethod::pdnr, CpAprMethod::pqnr);
  auto const X = sporades::test::make_coo<Scalar>({2, 2}, {{{0, 0}, 7}, {{1, 0}, 2}, {{1, 1}, 3}});
  auto const A = sporades::test::random_stochastic<Scalar>({2, 2}, 2, 2);
  auto const B = random_start<Scalar>(2, 2, 1.0);
  B(1, 0) = std::numeric_limits<Scalar>::quiet_NaN();
  auto const solved = solve(exec, X, 0, A, B, row_options(method, 1e-4, 10));
  CHECK(solved.violation > 1e300);
  CHECK(std::isfinite(solved.B(0, 0)));
}

TEMPLATE_LIST_TEST_CASE("solved rows have the same bits on any number of threads",
                        "[algorithms][cp_apr][threads]", sporades::test::AllCases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const method = GENERATE(CpAprMethod::pdnr, CpAprMethod::pqnr);
  auto const segment_length = GENERATE(Position{0}, Position{100});
  Dims const dims{200, 60, 50};
  auto const X = sporades::test::distinct_counts<Scalar>(Kokkos::DefaultHostExecutionSpace{}, dims,
                                                         20000, 7, 3);
  auto const A = sporades::test::random_stochastic<Scalar>(dims, 17, 2);
  auto const solved = solve(exec, X, 0, A, random_start<Scalar>(dims[0], 17, 20.0),
                            row_options(method, 1e-4, 10), segment_length);
  auto const name =
      std::string("cp_apr rows ") + exec.name() + (is_double<Scalar> ? " double" : " float") +
      (method == CpAprMethod::pdnr ? " pdnr " : " pqnr ") + std::to_string(segment_length);
  sporades::test::check_same_bits(name, sporades::test::hash_bits(solved.B));
  sporades::test::check_same_bits(
      name + " violation",
      sporades::test::hash_bytes(&solved.inner_iterations, sizeof solved.inner_iterations,
                                 sporades::test::hash_bytes(&solved.violation, sizeof(double))));
}

TEMPLATE_LIST_TEST_CASE("row solvers launch with labels and on the instance",
                        "[algorithms][cp_apr]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const method = GENERATE(CpAprMethod::pdnr, CpAprMethod::pqnr);
  auto const segment_length = GENERATE(Position{0}, Position{5});
  Dims const dims{20, 5, 4};
  auto const X = sporades::test::sorted_for(
      exec, sporades::test::distinct_counts<Scalar>(exec, dims, 200, 3, 2), 0);
  auto const A =
      sporades::test::copy_factors(exec, sporades::test::random_stochastic<Scalar>(dims, 3, 2));
  auto const B = sporades::copy_matrix(exec, random_start<Scalar>(20, 3, 10.0));
  sporades::detail::RowWorkspace<typename TestType::MemorySpace> workspace;
  sporades::test::check_launches(exec, [&] {
    auto const problem = sporades::detail::make_row_subproblems(exec, X, 0, 3, segment_length);
    sporades::detail::solve_rows(exec, problem, A, B, row_options(method, 1e-4, 10), workspace);
    exec.fence();
  });
  auto const problem = sporades::detail::make_row_subproblems(exec, X, 0, 3, segment_length);
  auto const again = sporades::test::check_launches(exec, [&] {
    sporades::detail::solve_rows(exec, problem, A, B, row_options(method, 1e-4, 10), workspace);
  });
  std::string fences;
  for (auto const& fence : again.fences) fences += fence.label + "; ";
  CHECK(fences == "");
  for (auto const& label : again.allocations)  // scratch of teams
    CHECK((label == "[unlabeled]" || sporades::test::is_of_kokkos(label)));
}

TEST_CASE("row solvers refuse what does not fit", "[algorithms][cp_apr]") {
  Kokkos::DefaultHostExecutionSpace const exec{};
  using Tensor = sporades::CooTensor<double>;
  Dims const dims{6, 5, 4};
  Tensor const unsorted = sporades::test::random_coo<double, std::uint32_t>(exec, dims, 20);
  CHECK_THROWS_AS(sporades::detail::make_row_subproblems(exec, unsorted, 0, 3), sporades::Error);
  Tensor const X = sporades::test::sorted_for(
      exec, sporades::test::distinct_counts<double>(exec, dims, 20, 3), 1);
  CHECK_THROWS_AS(sporades::detail::make_row_subproblems(exec, X, 0, 3), sporades::Error);
  CHECK_THROWS_AS(sporades::detail::make_row_subproblems(exec, X, 1, 0), sporades::Error);
  auto const problem = sporades::detail::make_row_subproblems(exec, X, 1, 3);
  auto const A = sporades::test::random_stochastic<double>(dims, 3, 2);
  auto const wide = sporades::test::random_stochastic<double>(dims, 4, 2);
  sporades::detail::RowWorkspace<Kokkos::HostSpace> workspace;
  auto const attempt = [&](auto const& factors, auto const& B,
                           sporades::detail::RowOptions const& options) {
    sporades::detail::solve_rows(exec, problem, factors, B, options, workspace);
  };
  CHECK_NOTHROW(attempt(A, A[1], sporades::detail::RowOptions{}));
  CHECK_THROWS_AS(attempt(wide, A[1], sporades::detail::RowOptions{}), sporades::Error);
  CHECK_THROWS_AS(attempt(A, A[0], sporades::detail::RowOptions{}), sporades::Error);
  CHECK_THROWS_AS(attempt(A, wide[1], sporades::detail::RowOptions{}), sporades::Error);
  CHECK_THROWS_AS(attempt(HostFactors<double>{A[0], A[1]}, A[1], sporades::detail::RowOptions{}),
                  sporades::Error);
  CHECK_THROWS_AS(attempt(A, A[1], row_options(CpAprMethod::pdnr, 1e-4, 0)), sporades::Error);
  CHECK_THROWS_AS(attempt(A, A[1], row_options(CpAprMethod::pdnr, -1, 10)), sporades::Error);
}

}  // namespace
