// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <numeric>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/cp_apr_rows.hpp>
#include <support/same_bits.hpp>

namespace {

using sporades::Dims;
using sporades::Position;
using sporades::test::HostFactors;
using sporades::test::is_double;
using sporades::test::new_instance;
using sporades::test::on_host;

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
  auto X =
      sporades::test::distinct_counts<Scalar>(Kokkos::DefaultHostExecutionSpace{}, dims, 150, 3);
  auto const A = sporades::test::random_stochastic<Scalar>(dims, R, 2);
  auto row = sporades::test::plain_row(X, 0, 0, A);
  row.x.erase(row.x.begin());  // nonzeros 1 to the last are evaluated
  row.pi.erase(row.pi.begin());
  std::vector<double> b;
  std::vector<int> free;
  for (int r = 0; r < R; ++r) {
    b.push_back(1 + sporades::detail::random_entry<double>(1, 2, 3, r));
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
                        "[algorithms][cp_apr][threads]", sporades::test::AllCases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const X = sporades::test::distinct_counts<Scalar>(Kokkos::DefaultHostExecutionSpace{},
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

}  // namespace
