// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/cp_apr.hpp>
#include <sporades/algorithms/generate.hpp>
#include <sporades/formats/files/tns_file.hpp>
#include <sporades/kernels/phi.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/tensors.hpp>

#include "parts.hpp"

using namespace sporades;
using sporades::test::entries_of;
using sporades::test::made_once;
using sporades::test::part_of;
using sporades::test::wrong_entries;

namespace {

/// Counts from 1 to 9, times `unit`. hub: every second nonzero is moved to row 0 of mode 0.
template <class Scalar, class Exec>
auto generate_counts(Communicator const& processes, Exec const& exec, Dims const& dims,
                     Position nnz, double skew, bool hub = false, Scalar unit = 1) {
  auto const host = Kokkos::DefaultHostExecutionSpace{};
  auto const X = copy_to(host, made_once(processes, [&] {
                           return generate<Scalar, std::uint32_t>(exec, dims, nnz, skew);
                         }));
  auto const Y = detail::allocate_coo<Scalar, std::uint32_t>(host, dims, X.nnz());
  host.fence();
  for (Position p = 0; p < X.nnz(); ++p) {
    for (int n = 0; n < X.order(); ++n) Y.coordinates(n, p) = X.coordinates(n, p);
    if (hub && p % 2 == 0) Y.coordinates(0, p) = 0;
    Y.values(p) = unit * static_cast<Scalar>(1 + p * 7 % 9);
  }
  return copy_to(exec, Y);
}

CpAprOptions options_of(CpAprMethod method, int rank, int iterations = 3) {
  CpAprOptions options;
  options.method = method;
  options.rank = rank;
  options.iterations = iterations;
  options.inner_iterations = 3;
  options.tolerance = 0;
  return options;
}

/// What a run gave, on the host.
template <class Scalar, class Memory>
auto outcome_of(CpAprResult<Scalar, Memory> const& result) {
  return std::tuple(result.history, result.converged, entries_of(result.model.weights),
                    entries_of(result.model.factors));
}

template <class Problem, class Result, class Outcome>
void check_same(Problem const& problem, Result const& distributed, Outcome const& one) {
  auto const& [all, converged, weights, factors] = one;
  REQUIRE(distributed.history.size() == all.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    auto const& here = distributed.history[k];
    CAPTURE(k);
    CHECK(here.log_likelihood == all[k].log_likelihood);
    CHECK(here.kkt_violation == all[k].kkt_violation);
    CHECK(here.inner_iterations == all[k].inner_iterations);
    CHECK(here.zero_model_nonzeros == all[k].zero_model_nonzeros);
    CHECK(here.unchanged == all[k].unchanged);
  }
  CHECK(distributed.converged == converged);
  CHECK(entries_of(distributed.model.weights) == weights);
  for (std::size_t n = 0; n < factors.size(); ++n) {
    CAPTURE(n);
    auto const rows = problem.factor_rows.empty() ? RowMap{} : problem.factor_rows[n];
    CHECK(wrong_entries(distributed.model.factors[n], factors[n], rows) == 0);
  }
}

/// The shared run's history, weights and rows are those of one process, bit for bit. Returns the
/// history.
template <class Exec, class Tensor>
auto check_same_bits(Exec const& exec, Communicator const& processes, Tensor const& X,
                     CpAprOptions const& options) {
  CAPTURE(to_string(X.dims), X.nnz(), processes.size(), processes.rank(), options.rank,
          to_string(options.method));
  auto alone = options;
  if (options.method == CpAprMethod::mu && processes.size() > 1)
    alone.strategy = PhiStrategy::pull;  // which `automatic` is there
  auto const one = made_once(processes, [&] { return outcome_of(cp_apr(exec, X, alone)); });
  auto const part = part_of(exec, X, processes);
  auto const distributed = cp_apr(processes, exec, part, options);
  check_same(make_cp_apr_problem(processes, exec, part, options), distributed,
             one);  // for its rows
  return distributed.history;
}

auto const all_methods = {CpAprMethod::mu, CpAprMethod::pdnr, CpAprMethod::pqnr};

TEMPLATE_LIST_TEST_CASE("Phi of several processes has the bits of one", "[mpi]",
                        sporades::test::Cases) {
  using Exec = typename TestType::ExecutionSpace;
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  Exec const exec{};
  auto const& processes = test::all_processes();
  auto const dims = GENERATE(Dims{300, 2000, 7}, Dims(6, 8000));  // then indices of over 63 bits
  int const N = static_cast<int>(dims.size());
  auto const X = generate_counts<Scalar>(processes, exec, dims, 30000, 0.6);
  PhiOptions options;
  options.strategy = PhiStrategy::pull;
  // Seen on an H100: one process has other bits where rows are not padded. Several copy them into
  // padded rows. Products without padding are compared with their definition in test_mttkrp.cpp
  // and test_phi.cpp.
  bool const is_padded = GENERATE(true, false);
  if (!is_padded && processes.size() == 1 && detail::is_gpu<Exec>) return;
  options.rank = GENERATE(4, 5, 16, 33);
  int const R = options.rank;
  CAPTURE(processes.size(), N, R, is_padded);
  auto const factor_of = [&](std::uint64_t rows, int m, std::uint64_t first) {
    return detail::random_factor<Scalar>(exec, "factor", rows, R, 7, m, first);
  };
  auto const [nnz, wanted] = made_once(processes, [&] {
    auto one = make_phi_plan(exec, X, options);
    Factors<Scalar, Memory> A, V;
    for (int m = 0; m < N; ++m) A.push_back(factor_of(dims[static_cast<std::size_t>(m)], m, 0));
    for (int n = 0; n < N; ++n) {
      V.push_back(make_matrix<Scalar>(exec, "V", dims[static_cast<std::size_t>(n)], R));
      phi(exec, one, A, A[static_cast<std::size_t>(n)], n, V.back());
    }
    exec.fence();
    return std::tuple(one.nnz, entries_of(V));
  });
  auto distributed = make_phi_plan(processes, exec, part_of(exec, X, processes), options);
  CHECK(distributed.nnz == nnz);
  Factors<Scalar, Memory> own;
  for (int m = 0; m < N; ++m) {
    auto const rows = distributed.products.rows_of(m);
    auto const mode = static_cast<std::size_t>(m);
    auto const factor = factor_of(rows.here(dims[mode]), m, rows.first());
    own.push_back(is_padded ? factor : Matrix<Scalar, Memory>("own", factor.extent(0), R));
    detail::copy_view(exec, own.back(), factor);
  }
  for (int n = 0; n < N; ++n) {
    auto const mode = static_cast<std::size_t>(n);
    auto const rows = distributed.products.rows_of(n);
    std::uint64_t const here = rows.here(dims[mode]);
    auto const W =
        is_padded ? make_matrix<Scalar>(exec, "W", here, R) : Matrix<Scalar, Memory>("W", here, R);
    Kokkos::deep_copy(exec, W, Scalar(NAN));
    phi(exec, distributed, own, own[mode], n, W);
    exec.fence();
    CHECK(wrong_entries(W, wanted[mode], rows) == 0);
  }
}

TEMPLATE_LIST_TEST_CASE("CP-APR of several processes has the bits of one", "[mpi]",
                        sporades::test::Cases) {
  using Exec = typename TestType::ExecutionSpace;
  using Scalar = typename TestType::Scalar;
  Exec const exec{};
  auto const& processes = test::all_processes();
  auto const method = GENERATE(from_range(all_methods));
  struct Trial {
    Dims dims;
    Position nnz;
    double skew;
    bool hub;
    int rank;
  };
  auto const trial = GENERATE(
      Trial{{9000, 2, 700}, 20000, 0.5, false, 16}, Trial{{3000, 800, 90}, 20000, 0.4, true, 5},
      Trial{{1, 300, 4}, 500, 0, false, 33}, Trial{{1}, 1, 0, false, 2},
      Trial{{5000}, 900, 0, false, 3}, Trial{{40, 30}, 3, 0, false, 4},
      Trial{{5, 4, 6, 3, 7}, 1500, 0.3, false, 4}, Trial{{700, 20, 3, 30}, 9000, 0.9, true, 20});
  auto const X =
      generate_counts<Scalar>(processes, exec, trial.dims, trial.nnz, trial.skew, trial.hub);
  check_same_bits(exec, processes, X, options_of(method, trial.rank));
}

TEMPLATE_LIST_TEST_CASE("CP-APR of several processes: fractions, starts and convergence",
                        "[mpi][variants]", sporades::test::DoubleCases) {
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  auto const& processes = test::all_processes();
  auto options = options_of(GENERATE(from_range(all_methods)), 5);
  SECTION("fractions") {
    auto const X = generate_counts<double>(processes, exec, {3000, 50, 90}, 9000, 0.7, false, 0.3);
    check_same_bits(exec, processes, X, options);
  }
  SECTION("several starts") {
    options.starts = 3;
    auto const X = generate_counts<double>(processes, exec, {700, 50, 90}, 9000, 0.7);
    check_same_bits(exec, processes, X, options);
  }
  SECTION("convergence") {
    options.tolerance = 1e-2;
    options.iterations = 200;
    options.rank = 2;
    auto const X = generate_counts<double>(processes, exec, {30, 20, 10}, 3000, 0.2);
    check_same_bits(exec, processes, X, options);
  }
}

/// With a large epsilon small counts' models decay to 0, on several processes; and come back.
TEMPLATE_LIST_TEST_CASE("CP-APR of several processes raises models that are 0", "[mpi][variants]",
                        sporades::test::DoubleCases) {
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  auto const& processes = test::all_processes();
  auto const host = Kokkos::DefaultHostExecutionSpace{};
  auto const all = detail::allocate_coo<double, std::uint32_t>(host, {3000, 3000}, 9000);
  host.fence();
  for (std::uint32_t p = 0; p < 9000; ++p) {
    std::uint32_t const i = p / 3;
    all.coordinates(0, p) = i;
    all.coordinates(1, p) = (i + 10 * (p % 3)) % 3000;
    all.values(p) = i % 10 == 9 ? 30 : 1000000;
  }
  auto options = options_of(CpAprMethod::mu, 2, 30);
  options.epsilon = 1e3;
  auto const history = check_same_bits(exec, processes, copy_to(exec, all), options);
  int zeros = 0;
  for (auto const& iteration : history) zeros += iteration.zero_model_nonzeros > 0;
  CHECK(zeros > 0);
  CHECK(history.back().zero_model_nonzeros == 0);
}

TEMPLATE_LIST_TEST_CASE("CP-APR of several processes on real counts", "[mpi]",
                        sporades::test::DoubleCases) {
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  auto const& processes = test::all_processes();
  std::string const name = GENERATE("police-deaths-3d", "marvel-characters-7d");
  CAPTURE(name);
  auto const read = read_tensor<double>(test::data_file(name + ".tns.gz"));
  auto const X = copy_to(exec, std::get<0>(read.tensor));
  check_same_bits(exec, processes, X, options_of(GENERATE(from_range(all_methods)), 4));
}

TEMPLATE_LIST_TEST_CASE("CP-APR of several processes from a given model", "[mpi][variants]",
                        sporades::test::DoubleCases) {
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  auto const& processes = test::all_processes();
  auto const X = generate_counts<double>(processes, exec, {3000, 50, 90}, 9000, 0.7);
  auto options = options_of(GENERATE(from_range(all_methods)), 6);
  auto model = cp_apr(exec, X, options).model;
  options.init = CpAprInit::given;
  if (options.method == CpAprMethod::mu) options.strategy = PhiStrategy::pull;
  auto whole = make_cp_apr_problem(exec, X, options);
  auto start = cp_apr_start(exec, X.dims, options, model);
  auto const one = outcome_of(cp_apr(exec, whole, options, start));
  auto problem = make_cp_apr_problem(processes, exec, part_of(exec, X, processes), options);
  for (std::size_t n = 0; n < problem.factor_rows.size(); ++n) {
    auto const& rows = problem.factor_rows[n];
    auto& A = model.factors[n];
    A = Kokkos::subview(A, std::make_pair(rows.first(), rows.first() + rows.here(A.extent(0))),
                        Kokkos::ALL);
  }
  auto state = cp_apr_start(exec, problem, options, model);
  check_same(problem, cp_apr(exec, problem, options, state), one);
}

/// The order of sums in long rows is that of all counts.
TEMPLATE_LIST_TEST_CASE("CP-APR of several processes cuts rows as one does", "[mpi][variants]",
                        sporades::test::DoubleCases) {
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  auto const& processes = test::all_processes();
  auto const X = generate_counts<double>(processes, exec, {2000, 90, 30}, 60000, 0.);
  auto const options = options_of(CpAprMethod::pdnr, 1000);
  auto const lengths_of = [](auto const& problem) {
    std::vector<Position> lengths{problem.nnz};
    for (auto const& rows : problem.rows) lengths.push_back(rows.segment_length);
    return lengths;
  };
  auto const whole =
      made_once(processes, [&] { return lengths_of(make_cp_apr_problem(exec, X, options)); });
  CHECK(whole[0] > 8 * 4096);
  CHECK(lengths_of(make_cp_apr_problem(processes, exec, part_of(exec, X, processes), options)) ==
        whole);
}

TEMPLATE_LIST_TEST_CASE("CP-APR refuses what several processes cannot share", "[mpi]",
                        sporades::test::DoubleCases) {
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  auto const& world = test::all_processes();
  if (world.size() == 1) return;
  auto const X = generate_counts<double>(world, exec, {20, 30, 40}, 1000, 0.);
  auto options = options_of(CpAprMethod::mu, 3);
  auto const fails = [&](auto const& tensor, char const* text) {
    Communicator const processes(MPI_COMM_WORLD);
    CHECK_THROWS_WITH(cp_apr(processes, exec, tensor, options),
                      Catch::Matchers::ContainsSubstring(text));
  };
  auto longer = X;
  if (world.rank() == 1) longer.dims[2] = 41;
  fails(longer, "20 x 30 x 41 here and 20 x 30 x 40 on process 0");
  options.strategy = PhiStrategy::alto;
  fails(X, "strategy alto works on one process");
  options.strategy = PhiStrategy::automatic;
  options.pi = Pi::stored;
  fails(X, "pi is stored on one process");
  options.pi = Pi::on_the_fly;
  options.streaming.always = true;
  fails(X, "not streamed");
  options.method = CpAprMethod::pqnr;
  fails(X, "not streamed");
  options.streaming.always = false;
  auto wrong = X;
  if (world.rank() == world.size() - 1) {
    wrong = copy_to(exec, X);
    Kokkos::deep_copy(wrong.values, -1);
  }
  fails(wrong, "counts are finite");
}

}  // namespace
