// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/definitions.hpp>
#include <sporades/algorithms/gcp.hpp>
#include <sporades/algorithms/generate.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>

#include "parts.hpp"

using namespace sporades;
using sporades::test::entries_of;
using sporades::test::made_once;
using sporades::test::part_of;

namespace {

/// What is asked of a loss: whose name, in which way.
struct Asked {
  char const* loss;
  GcpZeros zeros;
  AbsentEntries absent = AbsentEntries::zero;
  GcpMethod method = GcpMethod::automatic;
  Position nonzeros = 0;
};
auto const all_asked = {
    Asked{"gaussian", GcpZeros::closed_form},
    Asked{"poisson", GcpZeros::closed_form},
    Asked{"huber:0.5", GcpZeros::automatic, AbsentEntries::missing},
    Asked{"negative-binomial:2", GcpZeros::enumeration},
    Asked{"negative-binomial:2", GcpZeros::samples},
    Asked{"negative-binomial:2", GcpZeros::samples, AbsentEntries::zero, GcpMethod::adam, 500}};

GcpOptions options_of(Asked const& asked, int rank) {
  GcpOptions options;
  options.rank = rank;
  options.loss = loss_from_name(asked.loss);
  options.absent = asked.absent;
  options.method = asked.method;
  options.tuning.zeros = asked.zeros;
  options.tuning.samples = 3000;
  options.tuning.nonzeros = asked.nonzeros;
  return options;
}

/// Counts from 1 to 5; `repeats`: every fifth nonzero is there twice.
template <class Scalar, class Exec>
auto generate_counts(Communicator const& processes, Exec const& exec, Dims const& dims,
                     Position nnz, bool repeats) {
  auto const host = Kokkos::DefaultHostExecutionSpace{};
  auto const X = copy_to(host, made_once(processes, [&] {
                           return generate<Scalar, std::uint32_t>(exec, dims, nnz, 0.4);
                         }));
  Position const again = repeats ? X.nnz() / 5 : 0;
  auto const Y = detail::allocate_coo<Scalar, std::uint32_t>(host, dims, X.nnz() + again);
  host.fence();
  for (Position p = 0; p < Y.nnz(); ++p) {
    Position const of = p < X.nnz() ? p : 5 * (p - X.nnz());
    for (int n = 0; n < X.order(); ++n) Y.coordinates(n, p) = X.coordinates(n, of);
    Y.values(p) = static_cast<Scalar>(1 + p * 7 % 5);
  }
  return copy_to(exec, Y);
}

/// The loss of a model of random factors and its gradient, as a run takes them.
template <class Problem, class Exec>
auto evaluate(Exec const& exec, Problem& problem, GcpOptions const& options) {
  using M = detail::Method<Exec, Problem>;
  using Scalar = typename M::Scalar;
  int const R = options.rank;
  KruskalTensor<Scalar, typename M::MemorySpace> model;
  model.weights = detail::uninitialized<decltype(model.weights)>(exec, "weights", R);
  Kokkos::deep_copy(exec, model.weights, Scalar(0.5));
  for (std::size_t n = 0; n < problem.dims.size(); ++n)
    model.factors.push_back(
        detail::random_factor<Scalar>(exec, "factor", problem.dims[n], R, 7, static_cast<int>(n)));
  auto const V = detail::make_flat_factors<Scalar>(exec, "V", problem.dims, R);
  detail::GcpDraw const draw{3, 3000, false};
  bool const draws = problem.zeros == GcpZeros::samples;
  auto const loss =
      detail::gcp_source(exec, problem, options)(model, &V.factors, draws ? &draw : nullptr);
  exec.fence();
  return std::tuple(loss.value, loss.standard_error, entries_of(V.factors));
}

template <class T>
bool is_everywhere(Communicator const& processes, T const& here) {
  auto first = here;
  test::hand_out(processes, first);
  return detail::is_so_on_all(processes, "test", first == here);
}

TEMPLATE_LIST_TEST_CASE("losses and gradients of several processes are those of one", "[mpi]",
                        sporades::test::Cases) {
  using Exec = typename TestType::ExecutionSpace;
  using Scalar = typename TestType::Scalar;
  using Problem = GcpProblem<Scalar, std::uint32_t, typename TestType::MemorySpace>;
  Exec const exec{};
  auto const& processes = test::all_processes();
  auto const asked = GENERATE(from_range(all_asked));
  auto const [dims, nnz] = GENERATE(
      std::pair<Dims, Position>{{50, 20, 30}, 3000}, std::pair<Dims, Position>{{9, 1, 400}, 900},
      std::pair<Dims, Position>{{1}, 1}, std::pair<Dims, Position>{{700}, 300},
      std::pair<Dims, Position>{{4, 3}, 3}, std::pair<Dims, Position>{{5, 4, 6, 3, 7}, 1500});
  auto const X = generate_counts<Scalar>(processes, exec, dims, nnz, true);
  auto const options = options_of(asked, 5);
  CAPTURE(asked.loss, to_string(asked.zeros), to_string(dims), asked.nonzeros);
  auto const [value, error, V] = made_once(processes, [&] {
    Problem problem = make_gcp_problem(exec, X, options);
    return evaluate(exec, problem, options);
  });
  Problem problem = make_gcp_problem(processes, exec, part_of(exec, X, processes), options);
  auto const here = evaluate(exec, problem, options);
  CHECK(is_everywhere(processes, here));
  double const band = sizeof(Scalar) == 4 ? 1e-5 : 1e-12;
  CHECK(std::get<0>(here) == Approx(value).epsilon(band));
  CHECK(std::get<1>(here) == Approx(error).epsilon(1e-6));
  for (std::size_t n = 0; n < V.size(); ++n) {
    double largest = 0, difference = 0;
    for (std::size_t k = 0; k < V[n].size(); ++k) {
      largest = std::max(largest, std::abs(static_cast<double>(V[n][k])));
      difference =
          std::max(difference, std::abs(static_cast<double>(V[n][k]) - std::get<2>(here)[n][k]));
    }
    CAPTURE(n, largest);
    CHECK(difference <= band * largest);
  }
}

TEMPLATE_LIST_TEST_CASE("GCP of several processes goes the way of one", "[mpi]",
                        sporades::test::Cases) {
  using Exec = typename TestType::ExecutionSpace;
  using Scalar = typename TestType::Scalar;
  Exec const exec{};
  auto const& processes = test::all_processes();
  auto const asked = GENERATE(from_range(all_asked));
  CAPTURE(asked.loss, to_string(asked.zeros), asked.nonzeros);
  auto const X = generate_counts<Scalar>(processes, exec, {40, 20, 30}, 3000, false);
  auto options = options_of(asked, 3);
  options.iterations = 4;
  options.tuning.epoch = 20;
  double const loss = made_once(processes, [&] { return gcp(exec, X, options).loss(); });
  auto const part = part_of(exec, X, processes);
  auto const result = gcp(processes, exec, part, options);
  // Rounding grows over the hundred steps of each epoch.
  bool const is_near = sizeof(Scalar) == 8 && asked.zeros != GcpZeros::enumeration &&
                       asked.zeros != GcpZeros::samples;
  CHECK(result.loss() == Approx(loss).epsilon(is_near ? 1e-9 : 1e-2));
  std::vector<double> losses;
  for (auto const& one : result.history) losses.push_back(one.loss);
  CHECK(is_everywhere(processes, losses));
  CHECK(is_everywhere(processes, entries_of(result.model.weights)));
  // Each has its rows of the model, from which all go on.
  auto problem = make_gcp_problem(processes, exec, part, options);
  std::uint64_t rows = 0;
  for (auto const count : detail::all_gather(processes, "test", result.model.factors[0].extent(0)))
    rows += count;
  CHECK(rows == X.dims[0]);
  options.init = GcpInit::given;
  auto state = gcp_start(exec, problem, options, result.model);
  CHECK(state.factors[0].extent(0) == X.dims[0]);
  CHECK(is_everywhere(processes, entries_of(state.factors)));
  auto const more = gcp(exec, problem, options, state);
  CHECK(more.loss() <= result.loss() + 1e-3 * std::abs(result.loss()));
}

TEST_CASE("GCP of several processes from a random start, and from a snapshot", "[mpi]") {
  using Exec = Kokkos::DefaultExecutionSpace;
  Exec const exec{};
  auto const& processes = test::all_processes();
  auto const X = generate_counts<double>(processes, exec, {40, 20, 30}, 3000, true);
  auto options = options_of(*all_asked.begin(), 3);
  options.iterations = 6;
  auto problem = make_gcp_problem(processes, exec, part_of(exec, X, processes), options);
  auto whole = gcp_start(exec, problem, options);
  auto const wanted = gcp(exec, problem, options, whole);
  auto state = gcp_start(exec, problem, options);
  options.iterations = 3;
  gcp(exec, problem, options, state);
  auto again = restore<decltype(state)>(exec, snapshot(exec, state));
  options.iterations = 6;
  auto const result = gcp(exec, problem, options, again);
  CHECK(result.loss() == wanted.loss());
  CHECK(entries_of(again.factors) == entries_of(whole.factors));
}

TEST_CASE("bad input of GCP on several processes is refused on all", "[mpi][variants]") {
  using Exec = Kokkos::DefaultExecutionSpace;
  Exec const exec{};
  auto const& processes = test::all_processes();
  auto const X = generate_counts<double>(processes, exec, {40, 20, 30}, 300, false);
  auto const part = part_of(exec, X, processes);
  auto options = options_of({"poisson", GcpZeros::automatic}, 3);
  auto const fails = [&](auto const& tensor, char const* text) {
    Communicator const own(MPI_COMM_WORLD);
    CHECK_THROWS_WITH(gcp(own, exec, tensor, options), Catch::Matchers::ContainsSubstring(text));
  };
  auto wrong = copy_to(exec, part);
  if (processes.rank() == 0) {
    auto const first = Kokkos::subview(wrong.values, std::make_pair(0, 1));
    Kokkos::deep_copy(first, -1);
  }
  fails(wrong, "is -1, and poisson takes");  // on each process
  auto other = part;
  if (processes.rank() == processes.size() - 1) other.dims[0] += 1;
  if (processes.size() > 1) fails(other, "41 x 20 x 30 here and 40 x 20 x 30 on process 0");
  options.init = GcpInit::given;
  auto problem = make_gcp_problem(processes, exec, part, options);
  CHECK_THROWS_WITH(gcp_start(exec, problem, options),
                    Catch::Matchers::ContainsSubstring("no start was given"));
  options.init = GcpInit::random;
  if (processes.rank() == 0) options.tuning.samples = 77;
  if (processes.size() > 1) fails(part, "samples");
}

}  // namespace
