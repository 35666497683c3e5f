// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/detail/tucker/tucker_method.hpp>
#include <sporades/algorithms/generate.hpp>
#include <sporades/formats/files/tns_file.hpp>
#include <sporades/kernels/detail/tucker_inner_product.hpp>
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

/// The core and the factors, on the host.
template <class Model>
auto entries_of_model(Model const& model) {
  return std::tuple(entries_of(model.core), entries_of(model.factors));
}

/// The factors of a shared run are rows of those of one process, the cores the same, bit for bit.
template <class Model, class Entries>
void check_same_model(Model const& distributed, Entries const& one,
                      std::vector<RowMap> const& rows) {
  auto const& [core, factors] = one;
  CHECK(wrong_entries(distributed.core, core) == 0);
  for (std::size_t n = 0; n < rows.size(); ++n) {
    CAPTURE(n);
    CHECK(wrong_entries(distributed.factors[n], factors[n], rows[n]) == 0);
  }
}

/// The shared run's choices, fits and model are those of one process with `fused`, bit for bit.
/// Returns how many modes' products are distributed, and the last fit.
template <class Exec, class Tensor>
std::pair<int, double> check_same_bits(Exec const& exec, Communicator const& processes,
                                       Tensor const& X, TuckerOptions options) {
  CAPTURE(to_string(X.dims), X.nnz(), processes.size(), processes.rank());
  auto const choices_of = [](auto const& chain) {
    std::vector<std::tuple<std::string, double>> choices;
    for (auto const& choice : chain.choices) choices.emplace_back(describe(choice), choice.flops);
    return choices;
  };
  auto alone = options;
  alone.strategy = TtmChainStrategy::fused;
  auto const [norm_squared, nnz, choices, used_rows, values, model] = made_once(processes, [&] {
    auto const whole = make_tucker_problem(exec, X, alone);
    auto const one = tucker(exec, X, alone);
    std::vector<std::uint64_t> used;
    for (auto const& rows : whole.chain.rows) used.push_back(rows.extent(0));
    return std::tuple(whole.norm_squared, whole.chain.nnz, choices_of(whole.chain), used,
                      one.values, entries_of_model(one.model));
  });
  auto const part = part_of(exec, X, processes);
  options.strategy = TtmChainStrategy::automatic;
  auto const distributed = tucker(processes, exec, part, options);
  auto const problem = make_tucker_problem(processes, exec, part, options);  // for its rows
  CHECK(problem.norm_squared == norm_squared);
  CHECK(problem.chain.nnz == nnz);
  if (processes.size() == 1) return {0, values.back()};
  CHECK(choices_of(problem.chain) == choices);
  int unfoldings = 0;  // whose rows are distributed
  for (std::size_t n = 0; n < X.dims.size(); ++n) {
    CHECK(problem.chain.work.where[n].used.begins.back() == used_rows[n]);
    unfoldings += problem.chain.work.where[n].product.is_whole() ? 0 : 1;
  }
  CHECK(distributed.values == values);
  check_same_model(distributed.model, model, problem.rows());
  return {unfoldings, values.back()};
}

TuckerOptions options_of(std::vector<int> const& ranks) {
  TuckerOptions options;
  options.ranks = ranks;
  options.iterations = 4;
  options.tolerance = 0;
  return options;
}

TEMPLATE_LIST_TEST_CASE("Tucker of several processes has the bits of one", "[mpi]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const& processes = test::all_processes();
  struct Trial {
    Dims dims;
    Position nnz;
    double skew;
    std::vector<int> ranks;
    int distributed;
  };
  auto const trial =
      GENERATE(Trial{{60, 50, 40}, 20000, 0.9, {5, 4, 3}, 3},
               Trial{{30000, 2, 700}, 50000, 0.5, {6, 2, 5}, 2},
               Trial{{1, 300, 4}, 500, 0, {1, 3, 3}, 1}, Trial{{4000, 30}, 9000, 0, {4, 4}, 2},
               Trial{{50}, 30, 0, {1}, 1}, Trial{{9000, 8000, 7000}, 60000, 1.2, {8, 7, 6}, 3},
               Trial{{5000, 40, 6, 30}, 30000, 0.4, {3, 4, 5, 6}, 1},
               Trial{{5, 4, 600, 3, 7}, 3000, 0.3, {2, 2, 3, 2, 2}, 1});
  auto const method = GENERATE(SingularVectorMethod::lanczos, SingularVectorMethod::gram,
                               SingularVectorMethod::svd);
  CAPTURE(static_cast<int>(method));
  if (std::is_same_v<Scalar, float> && method == SingularVectorMethod::gram) return;  // see below
  auto const X = made_once(processes, [&] {
    return generate<Scalar, std::uint32_t>(exec, trial.dims, trial.nnz, trial.skew);
  });
  auto options = options_of(trial.ranks);
  options.singular_vectors = method;
  int const distributed = check_same_bits(exec, processes, X, options).first;
  bool const are_whole = method == SingularVectorMethod::svd;  // on every process
  if (processes.size() > 1) CHECK(distributed == (are_whole ? 0 : trial.distributed));
}

/// Most nonzeros are of one row, which all processes sum.
TEMPLATE_LIST_TEST_CASE("Tucker of several processes with a row of most nonzeros", "[mpi]",
                        sporades::test::ExecutionSpaces) {
  using Exec = TestType;
  Exec const exec{};
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const& processes = test::all_processes();
  auto const X =
      copy_to(host, made_once(processes, [&] {
                return generate<double, std::uint32_t>(exec, {2000, 300, 200}, 40000, 0.);
              }));
  for (Position p = 0; p < X.nnz(); ++p)
    if (p % 10 != 0) X.coordinates(0, p) = 1000;
  auto unsorted = X;
  unsorted.sorted_modes = {};
  check_same_bits(exec, processes, copy_to(exec, unsorted), options_of({4, 5, 6}));
}

/// A float's fit that is close to 1 comes from the nonzeros, of which each process has a share.
TEMPLATE_LIST_TEST_CASE("Tucker of several processes of a tensor that a model fits", "[mpi]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const& processes = test::all_processes();
  Dims dims = GENERATE(Dims{500, 7, 5}, Dims{4, 30, 10, 6});
  auto X = test::two_outer_products<Scalar>(dims);
  for (Position p = 0; p < X.nnz(); ++p)
    X.coordinates(0, p) = 3 * X.coordinates(0, p) + 1;  // most rows are empty
  X.dims[0] *= 3;
  auto options = options_of(std::vector<int>(dims.size(), 2));
  options.iterations = 2;
  CHECK(check_same_bits(exec, processes, copy_to(exec, X), options).second > 0.99);
}

TEST_CASE("Chunks of a float's fit do not cross parts", "[mpi]") {
  for (Position const nnz : {1, 255, 256, 5000, 100001})
    for (Position const length : {128, 384, 896, 4096})
      for (std::uint64_t const numbers : {1, 73, 1 << 18, 1 << 22}) {
        CAPTURE(nnz, length, numbers);
        detail::TuckerChunks const chunks(nnz, length, numbers);
        CHECK(chunks.length % length == 0);
        CHECK(chunks.count(chunks.length) * chunks.size < 2 * chunks.length);
        Position next = 0, longest = 0, wrong = 0;
        for (Position c = 0; c < chunks.count(nnz); ++c) {
          Position const begin = chunks.begin(c), end = chunks.end(c, nnz);
          if (begin >= end) continue;
          wrong += begin != next || begin / chunks.length != (end - 1) / chunks.length;
          next = end;
          longest = std::max(longest, end - begin);
        }
        CHECK(wrong == 0);
        CHECK(next == nnz);
        CHECK(longest <= chunks.size);
      }
}

/// Fewer nonzeros, and fewer rows with nonzeros, than processes.
TEMPLATE_LIST_TEST_CASE("Tucker of several processes of few nonzeros", "[mpi]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const& processes = test::all_processes();
  auto const nnz = GENERATE(Position{1}, Position{3});
  auto const X = made_once(processes, [&] {
    return generate<Scalar, std::uint32_t>(exec, {900, 800, 700}, nnz, 0.);
  });
  check_same_bits(exec, processes, X, options_of({2, 2, 2}));
}

TEMPLATE_LIST_TEST_CASE("Tucker of several processes on real tensors", "[mpi]",
                        sporades::test::ExecutionSpaces) {
  using Exec = TestType;
  Exec const exec{};
  auto const& processes = test::all_processes();
  std::string const name = GENERATE("police-deaths-3d", "shakespeare-trigram-3d");
  CAPTURE(name);
  auto const read = read_tensor<double>(test::data_file(name + ".tns.gz"));
  auto const X = copy_to(exec, std::get<0>(read.tensor));
  check_same_bits(exec, processes, X, options_of({4, 4, 4}));
}

TEMPLATE_LIST_TEST_CASE("Tucker of several processes: all options", "[mpi][variants]",
                        sporades::test::ExecutionSpaces) {
  using Exec = TestType;
  Exec const exec{};
  auto const& processes = test::all_processes();
  auto const X = made_once(processes, [&] {
    return generate<double, std::uint32_t>(exec, {2700, 50, 90}, 30000, 0.7);
  });
  auto options = options_of({12, 14, 13});
  SECTION("Lanczos by automatic") {
    CHECK(detail::prefers_lanczos(options.singular_vectors, 2700, 14 * 16, 12));
  }
  SECTION("singular vectors") {
    options.init = TuckerInit::hosvd;
  }
  SECTION("several starts") {
    options.starts = 3;
    options.seed = 5;
  }
  SECTION("until it converges") {
    options.iterations = 40;
    options.tolerance = 1e-3;
  }
  check_same_bits(exec, processes, X, options);
}

TEMPLATE_LIST_TEST_CASE("Tucker of several processes from a given model", "[mpi][variants]",
                        sporades::test::ExecutionSpaces) {
  using Exec = TestType;
  Exec const exec{};
  auto const& processes = test::all_processes();
  auto const X = made_once(processes, [&] {
    return generate<double, std::uint32_t>(exec, {3000, 50, 90}, 30000, 0.7);
  });
  auto options = options_of({3, 4, 5});
  options.strategy = TtmChainStrategy::fused;
  options.iterations = 2;
  auto model = tucker(exec, X, options).model;
  Kokkos::deep_copy(Kokkos::subview(model.factors[1], 7, Kokkos::ALL), 5e150);
  options.init = TuckerInit::given;
  auto whole = make_tucker_problem(exec, X, options);
  auto start = tucker_start(exec, X.dims, options, model);
  auto const one = tucker(exec, whole, options, start);
  auto problem = make_tucker_problem(processes, exec, part_of(exec, X, processes), options);
  auto const rows = problem.rows();
  for (std::size_t n = 0; n < 3; ++n) {
    auto& A = model.factors[n];
    A = Kokkos::subview(
        A, std::make_pair(rows[n].first(), rows[n].first() + rows[n].here(A.extent(0))),
        Kokkos::ALL);
  }
  auto state = tucker_start(exec, problem, options, model);
  auto const distributed = tucker(exec, problem, options, state);
  CHECK(distributed.values == one.values);
  check_same_model(distributed.model, entries_of_model(one.model), rows);
}

TEMPLATE_LIST_TEST_CASE("Several processes refuse chains that they cannot share", "[mpi]",
                        sporades::test::ExecutionSpaces) {
  using Exec = TestType;
  Exec const exec{};
  auto const& world = test::all_processes();
  if (world.size() == 1) return;
  auto const X = generate<double, std::uint32_t>(exec, {20, 30, 40}, 1000, 0.);
  auto options = options_of({2, 3, 4});
  auto const fails = [&](auto const& tensor, char const* text) {
    Communicator const processes(MPI_COMM_WORLD);
    CHECK_THROWS_WITH(tucker(processes, exec, tensor, options),
                      Catch::Matchers::ContainsSubstring(text));
  };
  auto longer = X;
  if (world.rank() == 1) longer.dims[2] = 41;
  fails(longer, "20 x 30 x 41 here and 20 x 30 x 40 on process 0");
  options.strategy = TtmChainStrategy::csf;
  fails(X, "csf works on one process");
  options.strategy = TtmChainStrategy::fused;
  options.streaming.always = true;
  fails(X, "not streamed");
  options.streaming.always = false;
  options.memory_limit = 1000;
  fails(X, "the memory limit is");
  options.memory_limit = 0;
  auto wrong = X;
  if (world.rank() == world.size() - 1) {
    wrong = copy_to(exec, X);
    Kokkos::deep_copy(wrong.values, NAN);
  }
  fails(wrong, "NaN");
}

}  // namespace
