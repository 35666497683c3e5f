// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <set>
#include <sporades/algorithms/detail/cp_als/cp_als_method.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/cp_als.hpp>
#include <support/same_bits.hpp>
#include <support/tensors.hpp>
#include <support/tools.hpp>
#include <typeinfo>

namespace {

using Catch::Matchers::ContainsSubstring;
using sporades::cp_als;
using sporades::cp_als_start;
using sporades::CpAlsInit;
using sporades::Error;
using sporades::StopReason;
using sporades::test::new_instance;
using sporades::test::options_of;

TEMPLATE_LIST_TEST_CASE("a snapshot continues bit for bit", "[algorithms][cp_als]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = sporades::test::random_coo<Scalar, std::uint32_t>(exec, {40, 30, 20}, 2000);
  auto options = options_of(5, 8);
  options.non_negative = GENERATE(false, true);
  options.strategy = sporades::MttkrpStrategy::sorted;
  options.slices = GENERATE(1, 3);
  std::vector<sporades::Snapshot> saved;
  auto state = cp_als_start(exec, X, options);
  using State = decltype(state);
  saved.push_back(snapshot(exec, state));
  auto problem = make_cp_als_problem(exec, X, options);
  auto const whole = cp_als(exec, problem, options, state, [&](auto const& now) {
    CHECK(now.iteration == state.iterations());
    saved.push_back(snapshot(exec, state));
    return true;
  });
  REQUIRE(saved.size() == 9);
  for (auto const& from : saved) {
    auto again = sporades::restore<State>(exec, from);
    CHECK(again.iterations() * sizeof(double) == from.arrays.at("fits").size());
    auto const part = cp_als(exec, problem, options, again);
    CHECK(part.values == whole.values);
    CHECK(sporades::test::hash_bits(part.model.weights) ==
          sporades::test::hash_bits(whole.model.weights));
    for (int n = 0; n < 3; ++n)
      CHECK(sporades::test::hash_bits(sporades::detail::with_padding(part.model.factors[n])) ==
            sporades::test::hash_bits(sporades::detail::with_padding(whole.model.factors[n])));
  }
  auto broken = saved[3];
  broken.arrays.at("factor-1").pop_back();
  CHECK_THROWS_WITH(sporades::restore<State>(exec, broken),
                    ContainsSubstring("cp_als: the snapshot's array factor-1 has") &&
                        ContainsSubstring("expected " + std::to_string(30 * 5 * sizeof(Scalar))));
  broken = saved[3];
  broken.arrays.at("weights").pop_back();
  CHECK_THROWS_AS(sporades::restore<State>(exec, broken), Error);
  broken = saved[3];
  broken.arrays.erase("gram-2");
  CHECK_THROWS_WITH(sporades::restore<State>(exec, broken),
                    "cp_als: the snapshot has no array gram-2");
  broken = saved[3];
  broken.ranks.pop_back();
  CHECK_THROWS_AS(sporades::restore<State>(exec, broken), Error);
}

TEMPLATE_LIST_TEST_CASE("slices change the order of rows in a run, and its model by roundings",
                        "[algorithms][cp_als]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  // Of modes 0 and 2 most rows are in few slices of mode 1.
  auto const X = sporades::test::random_coo<Scalar, std::uint32_t>(exec, {200, 90, 150}, 900);
  auto options = options_of(3, 4);
  options.strategy = sporades::MttkrpStrategy::sorted;
  auto const start = cp_als(exec, X, options).model;
  options.init = GENERATE(CpAlsInit::random, CpAlsInit::given, CpAlsInit::hosvd);
  auto const run = [&](int slices) {
    options.slices = slices;
    auto problem = make_cp_als_problem(exec, X, options);
    CHECK(problem.homes.is_none() == (slices == 1));
    auto state = options.init == CpAlsInit::given ? cp_als_start(exec, problem, options, start)
                                                  : cp_als_start(exec, X, options);
    return std::pair(cp_als(exec, problem, options, state), state);
  };
  auto const [whole, state] = run(1);
  CHECK(state.row_order == 0);
  int const slices = GENERATE(2, 5, 64);
  auto const [sliced, ordered] = run(slices);
  REQUIRE(sliced.values.size() == whole.values.size());
  double const band = sizeof(Scalar) == 4 ? 1e-3 : 1e-9;
  for (std::size_t k = 0; k < whole.values.size(); ++k)
    CHECK(std::abs(sliced.values[k] - whole.values[k]) < band);
  for (std::size_t n = 0; n < 3; ++n) {
    auto const on_host = [](auto const& A) {
      return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(),
                                                 sporades::detail::with_padding(A));
    };
    auto const one = on_host(sliced.model.factors[n]), other = on_host(whole.model.factors[n]);
    double largest = 0;
    for (std::size_t i = 0; i < one.extent(0); ++i)
      for (std::size_t r = 0; r < one.extent(1); ++r)
        largest = std::max(largest, std::abs(double(one(i, r)) - double(other(i, r))));
    CHECK(largest < band);
  }
  auto other = make_cp_als_problem(exec, X, options);
  options.slices = slices + (slices < 64 ? 1 : -1);
  auto another = make_cp_als_problem(exec, X, options);
  auto again = ordered;
  CHECK_NOTHROW(cp_als(exec, other, options, again));
  CHECK_THROWS_WITH(cp_als(exec, another, options, again),
                    "cp_als: the state's rows are in the order of another problem");
}

/// Every row has one place, among those of its home.
TEMPLATE_LIST_TEST_CASE("rows have homes among the slices that they have nonzeros in",
                        "[algorithms][cp_als]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  auto const exec = new_instance<Exec>();
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const X = sporades::test::random_coo<Scalar, std::uint32_t>(exec, {40, 500, 7}, 2000);
  int const slices = GENERATE(2, 7, 64);
  sporades::detail::HomeOrder<typename Exec::memory_space> order;
  auto const given = sum_duplicates(exec, X).tensor;
  auto const to = copy_to(host, sporades::detail::FindHomes<Exec, std::decay_t<decltype(given)>>(
                                    {}, exec, given, slices, 3)
                                    .renumber(order));
  auto const from = copy_to(host, given);
  host.fence();
  REQUIRE(!order.is_none());
  auto const sliced = static_cast<std::size_t>(order.sliced);
  std::vector<sporades::Position> counts(X.dims[sliced], 0);
  for (sporades::Position p = 0; p < from.nnz(); ++p) ++counts[from.coordinates(sliced, p)];
  auto const cuts = sporades::detail::even_cuts(slices, from.nnz());
  std::vector<int> slice_of_row;  // the last one that begins with the row or before
  for (sporades::Position row = 0, before = 0; row < counts.size(); before += counts[row++]) {
    int slice = slice_of_row.empty() ? 0 : slice_of_row.back();
    while (slice + 1 < slices && cuts[static_cast<std::size_t>(slice) + 1] <= before) ++slice;
    slice_of_row.push_back(slice);
  }
  for (std::size_t n = 0; n < 3; ++n) {
    for (sporades::Position p = 0; n == sliced && p < from.nnz(); ++p)
      REQUIRE(to.coordinates(n, p) == from.coordinates(n, p));
    if (n == sliced) continue;
    auto const places = sporades::detail::to_vector(exec, order.places[n]);
    std::vector<bool> taken(X.dims[n], false);
    REQUIRE(places.size() == X.dims[n]);
    for (auto const place : places) {
      REQUIRE(place < X.dims[n]);
      CHECK(!taken[place]);
      taken[place] = true;
    }
    auto const& begins = order.begins[n];
    REQUIRE(begins.size() == static_cast<std::size_t>(slices) + 1);
    CHECK(begins.front() == 0);
    CHECK(begins.back() == X.dims[n]);
    CHECK(std::is_sorted(begins.begin(), begins.end()));
    std::vector<std::set<int>> slices_of(X.dims[n]);
    for (sporades::Position p = 0; p < from.nnz(); ++p) {
      REQUIRE(to.coordinates(n, p) == places[from.coordinates(n, p)]);
      slices_of[from.coordinates(n, p)].insert(slice_of_row[from.coordinates(sliced, p)]);
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
      int const home = static_cast<int>(std::upper_bound(begins.begin(), begins.end(), places[i]) -
                                        begins.begin()) -
                       1;
      CHECK((slices_of[i].empty() || slices_of[i].count(home) == 1));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("a run stops where it should", "[algorithms][cp_als]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = sporades::test::random_coo<Scalar, std::uint32_t>(exec, {20, 15, 10}, 600);
  auto options = options_of(2, 1000, 1e-4);
  auto const converged = cp_als(exec, X, options);
  CHECK(converged.converged);
  CHECK(converged.stop == StopReason::converged);
  auto const count = converged.values.size();
  REQUIRE(count > 3);
  CHECK(count < 1000);
  for (std::size_t k = 1; k < count; ++k)
    CHECK((std::abs(converged.values[k] - converged.values[k - 1]) < 1e-4) == (k + 1 == count));
  auto const stopped = cp_als(exec, X, options, [](auto const& now) { return now.iteration < 3; });
  CHECK(stopped.stop == StopReason::observer);
  CHECK(stopped.values.size() == 3);
  CHECK(stopped.seconds.size() == 3);
  // Any change of the fit is below 1; the first fit is compared with nothing.
  CHECK(cp_als(exec, X, options_of(2, 1000, 1.0)).values.size() == 2);
  // A state that has converged stays as it is.
  auto problem = make_cp_als_problem(exec, X, options);
  auto state = cp_als_start(exec, X, options);
  cp_als(exec, problem, options, state);
  CHECK(cp_als(exec, problem, options, state).values.size() == count);
}

TEMPLATE_LIST_TEST_CASE("kernels are timed when asked for, and run where they should",
                        "[algorithms][cp_als]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = sporades::test::random_coo<Scalar, std::uint32_t>(exec, {20, 15, 10}, 600);
  auto options = options_of(3, 4);
  options.non_negative = GENERATE(false, true);
  options.init = GENERATE(CpAlsInit::random, CpAlsInit::hosvd);
  CHECK(cp_als(exec, X, options).kernels.empty());
  options.time_kernels = true;
  sporades::test::check_launches(exec, [&] {
    auto const kernels = cp_als(exec, X, options).kernels;
    REQUIRE(kernels.count("mttkrp mode 2") == 1);
    CHECK(kernels.at("mttkrp mode 2").calls == 4);
    CHECK(kernels.at("solve").calls == 12);
    CHECK(kernels.at("fit").calls == 4);
    for (auto const& [label, time] : kernels) CHECK(time.seconds > 0);
  });
}

TEMPLATE_LIST_TEST_CASE("an iteration allocates nothing and waits once, for what the host reads",
                        "[algorithms][cp_als]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  constexpr bool is_gpu = sporades::detail::is_gpu<typename TestType::ExecutionSpace>;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = sporades::test::random_coo<Scalar, std::uint32_t>(exec, {200, 150, 100}, 6000);
  auto options = options_of(6, 10);
  options.non_negative = GENERATE(false, true);
  auto problem = make_cp_als_problem(exec, X, options);
  auto state = cp_als_start(exec, X, options);
  struct Counts {
    std::size_t allocations, fences, copies;
  };
  std::vector<Counts> counts;
  sporades::test::Recording* recording = nullptr;
  auto const all = sporades::test::record([&] {
    recording = sporades::test::internal::current_recording;
    cp_als(exec, problem, options, state, [&](auto const&) {
      counts.push_back(
          {recording->allocations.size(), recording->fences.size(), recording->copies.size()});
      return true;
    });
  });
  REQUIRE(counts.size() == 10);
  CHECK(counts[0].allocations > 0);
  std::string allocated;
  for (std::size_t a = counts[0].allocations; a < counts[9].allocations; ++a)
    allocated += all.allocations[a] + "; ";
  INFO(allocated);
  CHECK(counts[9].allocations == counts[0].allocations);
  std::size_t iterations = 0, systems = 0;
  for (std::size_t f = counts[0].fences; f < counts[9].fences; ++f) {
    auto const& label = all.fences[f].label;
    INFO("fence " << label);
    iterations += label == "sporades::cp_als::iterate";
    systems += label == "sporades::dense::invert_on_host";
    // Kokkos waits on its own where both sides of a copy are the same memory.
    bool const is_same_memory = !is_gpu && sporades::test::is_of_kokkos(label);
    CHECK((is_same_memory || label == "sporades::cp_als::iterate" ||
           label == "sporades::dense::invert_on_host"));
  }
  bool const sees_fences = KOKKOS_VERSION >= 30700;
  CHECK(iterations == (sees_fences ? 9 : 0));
  CHECK(systems == (sees_fences && !is_gpu && !options.non_negative ? 27 : 0));
  // Systems of 8 x 8 with padding, 3 modes, 3 vectors of 8 and 3 flags.
  std::size_t const bytes = (3 * 8 * 8 + 3 * 8 + 3) * sizeof(double);
  std::size_t to_host = 0;
  for (std::size_t c = counts[0].copies; c < counts[9].copies; ++c) {
    auto const& copy = all.copies[c];
    INFO("copy of " << copy.from << " to " << copy.to);
    to_host += copy.from == "sporades::cp_als::small_matrices";
    CHECK((copy.bytes == bytes || !copy.crosses));
    CHECK((copy.from == "sporades::cp_als::small_matrices" || !copy.crosses));
  }
  if (is_gpu) CHECK(to_host == 9);
}

TEMPLATE_LIST_TEST_CASE("what an observer sees are the factors' weights and Gram matrices",
                        "[algorithms][cp_als]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = sporades::test::random_coo<Scalar, std::uint32_t>(exec, {20, 15, 10}, 600);
  auto options = options_of(5, 3);
  options.non_negative = GENERATE(false, true);
  double const exact = std::is_same_v<Scalar, float> ? 1e-5 : 1e-13;
  int seen = 0;
  auto problem = make_cp_als_problem(exec, X, options);
  auto state = cp_als_start(exec, X, options);
  cp_als(exec, problem, options, state, [&](auto const&) {
    ++seen;
    for (int n = 0; n < 3; ++n) {
      auto const A = sporades::test::matrix_on_host(state.factors[n]);
      REQUIRE(state.grams[n].size() == 25);
      for (int r = 0; r < 5; ++r)
        for (int s = 0; s < 5; ++s) {
          double sum = 0;
          for (std::size_t i = 0; i < A.extent(0); ++i) sum += double(A(i, r)) * double(A(i, s));
          CHECK(std::abs(state.grams[n][r * 5 + s] - sum) < exact);
        }
    }
    auto dense = sporades::test::to_dense(X);
    set_model(dense, state.weights, state.factors);
    CHECK(std::abs(dense.fit() - state.fits.back()) < 10 * exact);
    return true;
  });
  CHECK(seen == 3);
}

TEMPLATE_LIST_TEST_CASE("a start in any unit gives the same model", "[algorithms][cp_als]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = sporades::test::random_coo<Scalar, std::uint32_t>(exec, {2, 2, 2}, 12);
  auto options = options_of(1, 5);
  options.init = CpAlsInit::given;
  options.non_negative = GENERATE(false, true);
  auto problem = make_cp_als_problem(exec, X, options);
  auto const run = [&](int k) {
    auto const a = static_cast<Scalar>(std::ldexp(1.25, k)), b = a * 2;
    auto const start =
        sporades::test::host_ktensor<Scalar>({2}, {{{a}, {b}}, {{b}, {a}}, {{a}, {a}}});
    auto state = cp_als_start(exec, X.dims, options, start);
    for (double& weight : state.weights) weight = std::ldexp(weight, -3 * k);
    return cp_als(exec, problem, options, state);
  };
  auto const expected = run(0);
  int const most = std::is_same_v<Scalar, float> ? 120 : 320;
  for (int k : {-most, -50, 3, most}) {
    auto const result = run(k);
    CHECK(result.values == expected.values);
    CHECK(sporades::test::hash_bits(result.model.weights) ==
          sporades::test::hash_bits(expected.model.weights));
  }
}

TEMPLATE_LIST_TEST_CASE("one seed gives one model on any number of threads",
                        "[algorithms][cp_als][threads]", sporades::test::AllCases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  typename TestType::ExecutionSpace const exec{};
  auto const X =
      sporades::test::random_coo<Scalar, std::uint32_t>(exec, {3000, 200, 50}, 40000, 9, 2);
  auto options = options_of(GENERATE(5, 16), 4);
  options.non_negative = GENERATE(false, true);
  options.init = GENERATE(CpAlsInit::random, CpAlsInit::hosvd);
  auto const result = cp_als(exec, X, options);
  // Serial and OpenMP share a memory space, and their bits.
  auto const name = std::string("cp_als ") + Memory::name() + " " + typeid(Scalar).name() + " " +
                    std::to_string(options.rank) + (options.non_negative ? " non-negative" : "") +
                    (options.init == CpAlsInit::hosvd ? " hosvd" : "");
  sporades::test::check_same_bits(
      name + " fits",
      sporades::test::hash_bytes(result.values.data(), result.values.size() * sizeof(double)));
  sporades::test::check_same_bits(name + " weights",
                                  sporades::test::hash_bits(result.model.weights));
  for (int n = 0; n < 3; ++n)
    sporades::test::check_same_bits(
        name + " factor " + std::to_string(n),
        sporades::test::hash_bits(sporades::detail::with_padding(result.model.factors[n])));
}

}  // namespace
