// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fstream>
#include <numeric>
#include <sporades/formats/tns_file.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/cp_apr_rows.hpp>
#include <support/files.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>

namespace {

using sporades::Dims;
using sporades::Position;
using sporades::RowMethod;
using sporades::RowOptions;
using sporades::test::new_instance;
using sporades::test::on_host;
using sporades::test::row_of;

enum class Source { coo, packed };

template <class Scalar>
using HostFactors = sporades::Factors<Scalar, Kokkos::HostSpace>;

template <class Scalar>
using HostMatrix = sporades::Matrix<Scalar, Kokkos::HostSpace>;

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
                     RowOptions const& options, Position segment_length = 0,
                     Source source = Source::coo) {
  auto const sorted = sporades::test::sorted_for(exec, sporades::copy_to(exec, X), n);
  auto const factors = sporades::test::copy_factors(exec, A);
  auto const result = sporades::copy_matrix(exec, B);
  sporades::RowWorkspace<typename ExecutionSpace::memory_space> workspace;
  int const R = static_cast<int>(B.extent(1));
  auto const run = [&](auto const& problem) {
    sporades::solve_rows(exec, problem, factors, result, options, workspace);
  };
  if (source == Source::coo)
    run(sporades::make_row_subproblems(exec, sorted, n, R, segment_length));
  else
    run(sporades::make_row_subproblems(exec, sporades::make_packed_coo(exec, sorted, n), n, R,
                                       segment_length));
  exec.fence();
  return {sporades::test::matrix_on_host(result), on_host(workspace.violation)(),
          on_host(workspace.inner_iterations)()};
}

template <class Scalar>
HostMatrix<Scalar> random_start(std::size_t rows, int R, double scale, unsigned seed = 5) {
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const B = sporades::random_factor<Scalar>(host, "sporades::test::b", rows, R, seed, 0);
  host.fence();
  for (std::size_t i = 0; i < rows; ++i)
    for (int r = 0; r < R; ++r) B(i, r) *= static_cast<Scalar>(scale);
  return B;
}

RowOptions options_of(RowMethod method, double tolerance, int inner_iterations) {
  RowOptions options;
  options.method = method;
  options.tolerance = tolerance;
  options.inner_iterations = inner_iterations;
  return options;
}

template <class Scalar>
constexpr bool is_double = std::is_same_v<Scalar, double>;

TEMPLATE_LIST_TEST_CASE("rows reach the minimum that a slow and sure method finds",
                        "[algorithms][cp_apr]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const method = GENERATE(RowMethod::pdnr, RowMethod::pqnr);
  auto const [dims, R] = GENERATE(table<Dims, int>(
      {{{20, 5, 4}, 3}, {{15, 6}, 2}, {{12, 3, 4, 3}, 5}, {{12, 4, 3, 2, 3}, 4}, {{12}, 2}}));
  // With segments of 3 nonzeros, most rows are long ones.
  auto const [segment_length, source] =
      GENERATE(table<Position, Source>({{0, Source::coo}, {3, Source::coo}, {0, Source::packed}}));
  auto const scale = GENERATE(1.0, 1e4);
  auto const X = sporades::test::random_counts<Scalar>(Kokkos::DefaultHostExecutionSpace{}, dims,
                                                       8 * dims[0], 3, 1.5);
  auto const A = sporades::test::random_stochastic<Scalar>(dims, R, 2);
  auto const B = random_start<Scalar>(dims[0], R, scale);
  auto const options = options_of(method, 1e-9, method == RowMethod::pdnr ? 60 : 500);
  auto const solved = solve(exec, X, 0, A, B, options, segment_length, source);
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
  auto const method = GENERATE(RowMethod::pdnr, RowMethod::pqnr);
  auto const segment_length = GENERATE(Position{0}, Position{3});
  Dims const dims{40, 5, 4};
  auto const X =
      sporades::test::random_counts<Scalar>(Kokkos::DefaultHostExecutionSpace{}, dims, 400, 3, 1.5);
  auto const A = sporades::test::random_stochastic<Scalar>(dims, 3, 2);
  auto const first = solve(exec, X, 0, A, random_start<Scalar>(40, 3, 10.0),
                           options_of(method, 1e-5, 60), segment_length);
  CHECK(first.inner_iterations > 0);
  CHECK(first.violation > 1e-2);
  auto const again = solve(exec, X, 0, A, first.B, options_of(method, 1e-4, 60), segment_length);
  CHECK(again.inner_iterations == 0);
  CHECK(again.violation <= 1e-4);
  for (std::size_t i = 0; i < 40; ++i) CHECK(row_of(again.B, i) == row_of(first.B, i));
}

TEMPLATE_LIST_TEST_CASE("one row of most nonzeros, at any rank", "[algorithms][cp_apr]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const method = GENERATE(RowMethod::pdnr, RowMethod::pqnr);
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
  auto const options = options_of(method, 1e-3, method == RowMethod::pdnr ? 40 : 200);
  auto const whole = solve(exec, X, 0, A, B, options);
  auto const in_segments = solve(exec, X, 0, A, B, options, 50, Source::packed);
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
  auto const method = GENERATE(RowMethod::pdnr, RowMethod::pqnr);
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
  auto const solved = solve(exec, X, 0, A, B, options_of(method, 1e-9, 500), segment_length);
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
  auto const source = GENERATE(Source::coo, Source::packed);
  auto const X = sporades::test::make_coo<Scalar>({4, 3}, {});
  HostFactors<Scalar> const A{HostMatrix<Scalar>("a", 4, 2), HostMatrix<Scalar>("a", 3, 2)};
  auto const solved =
      solve(exec, X, 0, A, random_start<Scalar>(4, 2, 1.0), RowOptions{}, 0, source);
  for (std::size_t i = 0; i < 4; ++i) CHECK(row_of(solved.B, i) == std::vector<double>{0, 0});
  CHECK(solved.violation > 0.1);
  CHECK(solved.inner_iterations == 0);
  auto const none = sporades::test::make_coo<Scalar>({0, 3}, {});
  HostFactors<Scalar> const C{HostMatrix<Scalar>("a", 0, 2), HostMatrix<Scalar>("a", 3, 2)};
  auto const nothing =
      solve(exec, none, 0, C, HostMatrix<Scalar>("b", 0, 2), RowOptions{}, 0, source);
  CHECK(nothing.violation == 0);
  CHECK(nothing.inner_iterations == 0);
}

TEMPLATE_LIST_TEST_CASE("what is not a number does not pass for a solution", "[algorithms][cp_apr]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const method = GENERATE(RowMethod::pdnr, RowMethod::pqnr);
  auto const X = sporades::test::make_coo<Scalar>({2, 2}, {{{0, 0}, 7}, {{1, 0}, 2}, {{1, 1}, 3}});
  auto const A = sporades::test::random_stochastic<Scalar>({2, 2}, 2, 2);
  auto const B = random_start<Scalar>(2, 2, 1.0);
  B(1, 0) = std::numeric_limits<Scalar>::quiet_NaN();
  auto const solved = solve(exec, X, 0, A, B, options_of(method, 1e-4, 10));
  CHECK(solved.violation > 1e300);
  CHECK(std::isfinite(solved.B(0, 0)));
}

/// Calls of RowObjective by one team, and all that they need.
template <class ExecutionSpace, class Objective>
struct Evaluate {
  using Memory = typename ExecutionSpace::memory_space;
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;

  Objective objective;
  Position begin, end;
  Kokkos::View<double*, Memory> b;     // padded(R)
  Kokkos::View<int*, Memory> free;     // count
  Kokkos::View<double*, Memory> work;  // work_doubles(), and stored pi
  Kokkos::View<double*, Memory> sums;
  Kokkos::View<double*, Memory> H;  // count x padded(count)
  bool stored;

  KOKKOS_FUNCTION void operator()(Member const& team) const {
    double* const pi =
        stored ? work.data() + objective.template work_doubles<ExecutionSpace>() : nullptr;
    if (stored) objective.store_pi(team, begin, end, pi);
    objective.evaluate(team, begin, end, b.data(), pi, work.data(), sums.data());
    objective.hessian(team, begin, end, b.data(), free.data(), static_cast<int>(free.extent(0)), pi,
                      work.data(), H.data());
  }
};

struct Derivatives {
  std::vector<double> sums, H;
};

template <class ExecutionSpace, class Scalar>
Derivatives evaluate(ExecutionSpace const& exec,
                     sporades::CooTensor<Scalar, std::uint32_t> const& X,
                     HostFactors<Scalar> const& A, std::vector<double> const& b,
                     std::vector<int> const& free, int lanes, int threads, bool stored) {
  using Memory = typename ExecutionSpace::memory_space;
  auto const device_X = sporades::copy_to(exec, X);
  auto const factors = sporades::test::copy_factors(exec, A);
  auto const nonzeros = sporades::detail::row_nonzeros(device_X, 0, factors);
  using Objective = sporades::detail::RowObjective<std::decay_t<decltype(nonzeros)>>;
  int const R = static_cast<int>(b.size()), P = Objective::padded(R);
  Objective const objective{nonzeros, R, lanes};
  auto const n = static_cast<int>(free.size());
  auto const doubles = [](std::size_t count) {
    return Kokkos::View<double*, Memory>("sporades::test::doubles", count);
  };
  Evaluate<ExecutionSpace, Objective> const kernel{
      objective,
      1,
      X.nnz(),
      doubles(P),
      Kokkos::View<int*, Memory>("sporades::test::free", n),
      doubles(objective.template work_doubles<ExecutionSpace>() + X.nnz() * P),
      doubles(objective.sums()),
      doubles(static_cast<std::size_t>(n) * Objective::padded(n)),
      stored};
  auto const host_b = Kokkos::create_mirror_view(kernel.b);
  auto const host_free = Kokkos::create_mirror_view(kernel.free);
  Kokkos::fence();
  for (int r = 0; r < R; ++r) host_b(r) = b[r];
  for (int k = 0; k < n; ++k) host_free(k) = free[k];
  Kokkos::deep_copy(exec, kernel.b, host_b);
  Kokkos::deep_copy(exec, kernel.free, host_free);
  exec.fence();
  Kokkos::parallel_for("sporades::test::evaluate",
                       sporades::detail::team_policy(exec, kernel, 1, threads, 0), kernel);
  exec.fence();
  auto const sums = on_host(kernel.sums), H = on_host(kernel.H);
  Derivatives result;
  for (int r = 0; r < R; ++r) result.sums.push_back(sums(r));
  result.sums.push_back(sums(P));
  result.sums.push_back(sums(P + 1));
  for (int k = 0; k < n; ++k)
    for (int j = 0; j <= k; ++j) result.H.push_back(H(k * Objective::padded(n) + j));
  return result;
}

TEMPLATE_LIST_TEST_CASE("value and derivatives of a row are those of differences",
                        "[algorithms][cp_apr]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const R = GENERATE(1, 3, 8, 17);
  auto const order = GENERATE(1, 2, 3, 4, 6);
  auto const lanes = GENERATE(1, 8);
  auto const stored = GENERATE(false, true);
  Dims dims{1};
  for (int m = 1; m < order; ++m) dims.push_back(4);
  auto X = sporades::test::random_counts<Scalar>(Kokkos::DefaultHostExecutionSpace{}, dims, 150, 3);
  auto const A = sporades::test::random_stochastic<Scalar>(dims, R, 2);
  auto row = sporades::test::plain_row(X, 0, 0, A);
  row.x.erase(row.x.begin());  // nonzeros 1 to the last are evaluated
  row.pi.erase(row.pi.begin());
  std::vector<double> b;
  std::vector<int> free;
  for (int r = 0; r < R; ++r) {
    b.push_back(1 + sporades::random_entry<double>(1, 2, 3, r));
    if (r % 3 != 1) free.push_back(r);
  }
  auto const found = evaluate(exec, X, A, b, free, lanes, 4, stored);
  double const mass = std::accumulate(row.x.begin(), row.x.end(), 0.0);
  CHECK(found.sums[R + 1] == Approx(mass));
  CHECK(found.sums[R] ==
        Approx(std::accumulate(b.begin(), b.end(), 0.0) - row.value(b)).epsilon(1e-13));
  auto const shifted = [&](int r, double step) {
    auto c = b;
    c[r] += step;
    return c;
  };
  double const step = 1e-5;
  for (int r = 0; r < R; ++r) {
    double const difference =
        (row.value(shifted(r, step)) - row.value(shifted(r, -step))) / (2 * step);
    CHECK(std::abs(1 - found.sums[r] - difference) <= 1e-8 * (1 + mass));
  }
  std::size_t entry = 0;
  for (int r : free) {
    auto const above = row.gradient(shifted(r, step)), below = row.gradient(shifted(r, -step));
    for (int s : free) {
      if (s > r) break;
      CHECK(std::abs(found.H[entry++] - (above[s] - below[s]) / (2 * step)) <= 1e-8 * (1 + mass));
    }
  }
  CHECK(entry == found.H.size());
}

TEMPLATE_LIST_TEST_CASE("sums over a row do not depend on the size of the team",
                        "[algorithms][cp_apr][threads]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const X = sporades::test::random_counts<Scalar>(Kokkos::DefaultHostExecutionSpace{},
                                                       {1, 40, 40}, 700, 3);
  int const R = 17;
  auto const A = sporades::test::random_stochastic<Scalar>({1, 40, 40}, R, 2);
  std::vector<double> b(R, 0.3);
  std::vector<int> free{0, 2, 3, 5, 6, 7, 9, 10, 16};
  auto const one = evaluate(exec, X, A, b, free, 8, 1, false);
  for (int threads : {2, 4, 8})
    for (bool stored : {false, true}) {
      auto const more = evaluate(exec, X, A, b, free, 8, threads, stored);
      CHECK(more.sums == one.sums);
      CHECK(more.H == one.H);
    }
  sporades::test::check_same_bits(
      std::string("cp_apr row sums ") + TestType::MemorySpace::name() +
          (is_double<Scalar> ? " double" : " float"),
      sporades::test::hash_bytes(one.H.data(), one.H.size() * sizeof(double)));
}

TEMPLATE_LIST_TEST_CASE("solved rows have the same bits on any number of threads",
                        "[algorithms][cp_apr][threads]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const method = GENERATE(RowMethod::pdnr, RowMethod::pqnr);
  auto const segment_length = GENERATE(Position{0}, Position{100});
  Dims const dims{200, 60, 50};
  auto const X =
      sporades::test::random_counts<Scalar>(Kokkos::DefaultHostExecutionSpace{}, dims, 20000, 7, 3);
  auto const A = sporades::test::random_stochastic<Scalar>(dims, 17, 2);
  auto const solved = solve(exec, X, 0, A, random_start<Scalar>(dims[0], 17, 20.0),
                            options_of(method, 1e-4, 10), segment_length);
  auto const name =
      std::string("cp_apr rows ") + exec.name() + (is_double<Scalar> ? " double" : " float") +
      (method == RowMethod::pdnr ? " pdnr " : " pqnr ") + std::to_string(segment_length);
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
  auto const method = GENERATE(RowMethod::pdnr, RowMethod::pqnr);
  auto const segment_length = GENERATE(Position{0}, Position{5});
  Dims const dims{20, 5, 4};
  auto const X = sporades::test::sorted_for(
      exec, sporades::test::random_counts<Scalar>(exec, dims, 200, 3, 2), 0);
  auto const A =
      sporades::test::copy_factors(exec, sporades::test::random_stochastic<Scalar>(dims, 3, 2));
  auto const B = sporades::copy_matrix(exec, random_start<Scalar>(20, 3, 10.0));
  sporades::RowWorkspace<typename TestType::MemorySpace> workspace;
  sporades::test::check_launches(exec, [&] {
    auto const packed = sporades::make_packed_coo(exec, X, 0);
    auto const problem = sporades::make_row_subproblems(exec, packed, 0, 3, segment_length);
    sporades::solve_rows(exec, problem, A, B, options_of(method, 1e-4, 10), workspace);
    exec.fence();
  });
  auto const problem = sporades::make_row_subproblems(exec, X, 0, 3, segment_length);
  auto const again = sporades::test::check_launches(exec, [&] {
    sporades::solve_rows(exec, problem, A, B, options_of(method, 1e-4, 10), workspace);
  });
  CHECK(again.fences.empty());
  for (auto const& label : again.allocations) CHECK(label == "[unlabeled]");  // scratch of teams
}

TEST_CASE("row solvers refuse what does not fit", "[algorithms][cp_apr]") {
  Kokkos::DefaultHostExecutionSpace const exec{};
  using Tensor = sporades::CooTensor<double>;
  Dims const dims{6, 5, 4};
  Tensor const unsorted = sporades::test::random_coo<double, std::uint32_t>(exec, dims, 20);
  CHECK_THROWS_AS(sporades::make_row_subproblems(exec, unsorted, 0, 3), sporades::Error);
  Tensor const X =
      sporades::test::sorted_for(exec, sporades::test::random_counts<double>(exec, dims, 20, 3), 1);
  CHECK_THROWS_AS(sporades::make_row_subproblems(exec, X, 0, 3), sporades::Error);
  CHECK_THROWS_AS(sporades::make_row_subproblems(exec, X, 1, 0), sporades::Error);
  CHECK_THROWS_AS(sporades::make_row_subproblems(exec, sporades::make_packed_coo(exec, X, 1), 2, 3),
                  sporades::Error);
  auto const problem = sporades::make_row_subproblems(exec, X, 1, 3);
  auto const A = sporades::test::random_stochastic<double>(dims, 3, 2);
  auto const wide = sporades::test::random_stochastic<double>(dims, 4, 2);
  sporades::RowWorkspace<Kokkos::HostSpace> workspace;
  auto const attempt = [&](auto const& factors, auto const& B, RowOptions const& options) {
    sporades::solve_rows(exec, problem, factors, B, options, workspace);
  };
  CHECK_NOTHROW(attempt(A, A[1], RowOptions{}));
  CHECK_THROWS_AS(attempt(wide, A[1], RowOptions{}), sporades::Error);
  CHECK_THROWS_AS(attempt(A, A[0], RowOptions{}), sporades::Error);
  CHECK_THROWS_AS(attempt(A, wide[1], RowOptions{}), sporades::Error);
  CHECK_THROWS_AS(attempt(HostFactors<double>{A[0], A[1]}, A[1], RowOptions{}), sporades::Error);
  CHECK_THROWS_AS(attempt(A, A[1], options_of(RowMethod::pdnr, 1e-4, 0)), sporades::Error);
  CHECK_THROWS_AS(attempt(A, A[1], options_of(RowMethod::pdnr, -1, 10)), sporades::Error);
}

/// The matrix in a file of rows of numbers.
template <class Scalar>
HostMatrix<Scalar> read_matrix(std::string const& path, std::size_t rows, std::size_t columns) {
  HostMatrix<Scalar> const A("sporades::test::factor", rows, columns);
  std::ifstream file(path);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t r = 0; r < columns; ++r) {
      double entry = 0;
      file >> entry;
      A(i, r) = static_cast<Scalar>(entry);
    }
  REQUIRE(file);
  return A;
}

struct Gold {
  std::string name;
  double multiplicative;  // log-likelihood at which multiplicative updates end
  int iterations;         // outer ones that they take
};

/// MATLAB's start leads the multiplicative updates to these values. The objective has many local
/// maxima; the ones that the row solvers reach lie above.
TEMPLATE_LIST_TEST_CASE("row solvers reach the likelihood of multiplicative updates in fewer steps",
                        "[algorithms][cp_apr]", sporades::test::Cases) {
  if constexpr (is_double<typename TestType::Scalar>) {
    auto const exec = new_instance<typename TestType::ExecutionSpace>();
    auto const method = GENERATE(RowMethod::pdnr, RowMethod::pqnr);
    auto const gold =
        GENERATE(Gold{"count", -3145.325606102, 250}, Gold{"binary", -485.1933936314, 26},
                 Gold{"count_dense", 568166649.2445, 5}, Gold{"binary_dense", -12000.00004602, 4});
    if (sporades::test::shared_file("cp_apr/init_mode0.txt").empty()) return;
    Dims const dims{10, 30, 40};
    sporades::CooTensor<double> X;
    if (gold.name == "count" || gold.name == "binary") {
      sporades::ReadOptions reading;
      reading.dims = dims;
      X = std::get<0>(
          sporades::read_tensor<double>(
              sporades::test::shared_file("cp_apr/" + gold.name + "_10x30x40.tns"), reading)
              .tensor);
    } else {
      sporades::test::Entries<double> entries;
      for (std::uint64_t e = 0; e < 12000; ++e)
        entries.push_back({{e / 1200, e / 40 % 30, e % 40},
                           gold.name == "binary_dense" ? 1.0 : static_cast<double>(e + 1)});
      X = sporades::test::make_coo<double>(dims, entries);
    }
    HostFactors<double> A;
    for (int m = 0; m < 3; ++m)
      A.push_back(read_matrix<double>(
          sporades::test::shared_file("cp_apr/init_mode" + std::to_string(m) + ".txt"), dims[m],
          2));
    auto const run = sporades::test::run_rows(exec, X, A, options_of(method, 1e-4, 10), 100);
    CAPTURE(gold.name, run.log_likelihoods);
    CHECK(run.converged);
    CHECK(run.log_likelihoods.back() >= gold.multiplicative);
    REQUIRE(run.log_likelihoods.size() >= 2);
    auto const reached = std::find_if(run.log_likelihoods.begin(), run.log_likelihoods.end(),
                                      [&](double value) { return value >= gold.multiplicative; });
    CHECK(reached - run.log_likelihoods.begin() + 1 < gold.iterations);
    for (std::size_t k = 1; k < run.log_likelihoods.size(); ++k)  // each row's objective falls
      CHECK(run.log_likelihoods[k] >=
            run.log_likelihoods[k - 1] - 1e-12 * std::abs(run.log_likelihoods[k]));
  }
}

/// SparTen's own problem: multiplicative updates reach the same maximum in 83, 86 and 79 iterations
/// from three random starts.
TEMPLATE_LIST_TEST_CASE("row solvers find the maximum of SparTen's problem", "[algorithms][cp_apr]",
                        sporades::test::Cases) {
  if constexpr (is_double<typename TestType::Scalar>) {
    auto const exec = new_instance<typename TestType::ExecutionSpace>();
    auto const method = GENERATE(RowMethod::pdnr, RowMethod::pqnr);
    auto const seed = GENERATE(1, 2, 3);
    auto const path = sporades::test::shared_file("cp_apr/cpapr_10x10x10_tensor.txt");
    if (path.empty()) return;
    auto const X = std::get<0>(sporades::read_tensor<double>(path).tensor);
    auto const A = sporades::random_factors<double>(Kokkos::DefaultHostExecutionSpace{}, X.dims, 5,
                                                    static_cast<std::uint64_t>(seed));
    Kokkos::fence();
    auto const run = sporades::test::run_rows(exec, X, A, options_of(method, 1e-4, 10), 60);
    CAPTURE(run.log_likelihoods.size());
    CHECK(run.converged);
    CHECK(run.log_likelihoods.back() == Approx(8794116.732462).epsilon(1e-11));
    CHECK(run.log_likelihoods.size() < 40);
  }
}

TEMPLATE_LIST_TEST_CASE("row solvers in float come near", "[algorithms][cp_apr]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  if constexpr (!is_double<Scalar>) {
    auto const exec = new_instance<typename TestType::ExecutionSpace>();
    auto const method = GENERATE(RowMethod::pdnr, RowMethod::pqnr);
    auto const path = sporades::test::shared_file("cp_apr/cpapr_10x10x10_tensor.txt");
    if (path.empty()) return;
    auto const X = std::get<0>(sporades::read_tensor<Scalar>(path).tensor);
    auto const A =
        sporades::random_factors<Scalar>(Kokkos::DefaultHostExecutionSpace{}, X.dims, 5, 1);
    Kokkos::fence();
    auto const run = sporades::test::run_rows(exec, X, A, options_of(method, 1e-3, 10), 60);
    CHECK(run.converged);
    CHECK(run.log_likelihoods.back() == Approx(8794116.732462).epsilon(1e-6));
  }
}

}  // namespace
