// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <atomic>
#include <mutex>
#include <set>
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/cp_apr.hpp>
#include <sporades/core/detail/launch.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>
#include <support/tools.hpp>
#include <thread>

#if defined(__linux__)
#include <dlfcn.h>

namespace {
std::atomic<int> parallel_regions{0};
}

/// GNU's OpenMP library starts each parallel region here: they are counted on the way.
extern "C" void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags) {
  static auto const next = reinterpret_cast<void (*)(void (*)(void*), void*, unsigned, unsigned)>(
      dlsym(RTLD_NEXT, "GOMP_parallel"));
  ++parallel_regions;
  next(body, data, threads, flags);
}
#else
namespace {
std::atomic<int> parallel_regions{0};
}
#endif

namespace {

using sporades::detail::is_small;
using sporades::detail::launch;
using sporades::detail::launch_max;
using sporades::detail::small_work;
using sporades::test::new_instance;

template <class Function>
int regions_of(Function const& function) {
  int const before = parallel_regions;
  function();
  return parallel_regions - before;
}

template <class Memory>
struct Square {
  Kokkos::View<double*, Memory> out;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { out(i) = 1 + 1.0 * i * i; }
  KOKKOS_FUNCTION void operator()(std::uint64_t i, double& largest) const {
    double const value = i % 2 == 0 ? -out(i) : out(i);
    if (largest < value) largest = value;
  }
};

/// True for OpenMP where GNU's library runs it, and several threads: what can be counted.
template <class ExecutionSpace>
bool can_count() {
  ExecutionSpace const exec{};
  using Memory = typename ExecutionSpace::memory_space;
  Square<Memory> const square{Kokkos::View<double*, Memory>("sporades::test::out", small_work + 1)};
  int const regions =
      regions_of([&] { launch(exec, "sporades::test::square", square.out.extent(0), 1, square); });
  return sporades::detail::wakes_threads<ExecutionSpace> && exec.concurrency() > 1 && regions == 1;
}

TEMPLATE_LIST_TEST_CASE("small launches do their work without waking threads", "[core][launch]",
                        sporades::test::Cases) {
  using ExecutionSpace = typename TestType::ExecutionSpace;
  using Memory = typename TestType::MemorySpace;
  auto const exec = new_instance<ExecutionSpace>();
  bool const counts = can_count<ExecutionSpace>();
  struct Case {
    std::uint64_t items, cost;
  };
  for (auto const& [items, cost] :
       {Case{0, 1}, Case{1, 1}, Case{1, 10 * small_work}, Case{small_work, 1},
        Case{small_work + 1, 1}, Case{7, 5000}, Case{6, 5000}, Case{2, ~std::uint64_t{0}}}) {
    INFO(items << " items of cost " << cost);
    bool const wakes = items > 1 && static_cast<double>(items) * static_cast<double>(cost) >
                                        static_cast<double>(small_work);
    CHECK(is_small<ExecutionSpace>(items, cost) ==
          (sporades::detail::wakes_threads<ExecutionSpace> && !wakes));
    Square<Memory> const square{Kokkos::View<double*, Memory>("sporades::test::out", items)};
    auto const regions = regions_of([&] {
      auto const seen = sporades::test::record(
          [&] { launch(exec, "sporades::test::square", items, cost, square); });
      REQUIRE(seen.launches.size() == 1);
      CHECK(seen.launches[0].label == "sporades::test::square");
      CHECK(seen.launches[0].device == sporades::test::device_id(exec));
      sporades::detail::fence(exec, "sporades::test::launch");
    });
    if (counts) CHECK(regions == (wakes ? 1 : 0));
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), square.out);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < items; ++i) wrong += host(i) != 1 + 1.0 * i * i;
    CHECK(wrong == 0);
    double largest = 0;
    auto const regions_of_max = regions_of([&] {
      auto const seen = sporades::test::record([&] {
        largest = launch_max<double>(exec, "sporades::test::largest", items, cost, square);
      });
      REQUIRE(seen.launches.size() == 1);
      CHECK(seen.launches[0].label == "sporades::test::largest");
    });
    if (counts) CHECK(regions_of_max == (wakes ? 1 : 0));
    if (items == 0) {
      CHECK(largest == std::numeric_limits<double>::lowest());
    } else {
      std::uint64_t const last_odd = items - 1 - items % 2;
      double const expected = items == 1 ? -1 : host(last_odd);
      CHECK(largest == expected);
    }
  }
}

template <class Memory>
struct CountCalls {
  Kokkos::View<int*, Memory> calls;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { Kokkos::atomic_add(&calls(i), 1); }
};

TEMPLATE_LIST_TEST_CASE("each item is launched once", "[core][launch][threads]",
                        sporades::test::ExecutionSpaces) {
  auto const exec = new_instance<TestType>();
  using Memory = typename TestType::memory_space;
  for (std::uint64_t const items : {0, 1, 2, 3, 5, 7, 8, 9, 1000, 100003}) {
    INFO(items << " items");
    CountCalls<Memory> const once{Kokkos::View<int*, Memory>("sporades::test::calls", items)};
    CountCalls<Memory> const twice{Kokkos::View<int*, Memory>("sporades::test::calls", items)};
    auto const seen = sporades::test::record([&] {
      sporades::detail::launch_items(exec, "sporades::test::equal", items, once);
      sporades::detail::launch_items(exec, "sporades::test::equal", items, twice);
      sporades::detail::launch_unequal_items(exec, "sporades::test::unequal", items, twice);
    });
    REQUIRE(seen.launches.size() == 3);
    CHECK(seen.launches[0].label == "sporades::test::equal");
    CHECK(seen.launches[2].label == "sporades::test::unequal");
    CHECK(seen.launches[2].device == sporades::test::device_id(exec));
    sporades::detail::fence(exec, "sporades::test::launch");
    auto const one = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), once.calls);
    auto const two = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), twice.calls);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < items; ++i) wrong += one(i) != 1 || two(i) != 2;
    CHECK(wrong == 0);
  }
}

/// Of the second to the last iteration, one each: the first also starts and plans.
template <class Run>
void check_regions(int most, Run const& run) {
  std::vector<int> at;
  run([&](auto const&) {
    at.push_back(parallel_regions);
    return true;
  });
  REQUIRE(at.size() > 2);
  int const count = (at.back() - at.front()) / static_cast<int>(at.size() - 1);
  INFO(count << " parallel regions an iteration");
  CHECK(count > 0);
  CHECK(count <= most);
}

TEMPLATE_LIST_TEST_CASE("an iteration wakes threads for large work only", "[algorithms][launch]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using ExecutionSpace = typename TestType::ExecutionSpace;
  if (!can_count<ExecutionSpace>()) return;
  ExecutionSpace const exec{};
  auto const X = sporades::test::random_coo<Scalar, std::uint32_t>(exec, {3000, 2000, 9}, 60000);
  SECTION("of CP-ALS") {
    sporades::CpAlsOptions options;
    options.init = sporades::CpAlsInit::random;
    options.rank = 24;
    options.iterations = 5;
    options.tolerance = 0;
    // A long mode: MTTKRP, the solution, its Gram matrix, and scaling. The short mode: MTTKRP.
    check_regions(10, [&](auto const& observer) { cp_als(exec, X, options, observer); });
  }
  SECTION("of CP-APR") {
    auto counts = X;
    Kokkos::deep_copy(counts.values, Scalar(1));
    sporades::CpAprOptions options;
    options.rank = 24;
    options.iterations = 5;
    options.tolerance = 0;
    options.method = sporades::CpAprMethod::mu;
    options.inner_iterations = 10;
    options.strategy = sporades::PhiStrategy::pull;
    // A long mode: ten times Phi, the violation and the update, and four launches more. The short
    // mode: ten times Phi. The log-likelihood: three.
    check_regions(90, [&](auto const& observer) { cp_apr(exec, counts, options, observer); });
  }
}

}  // namespace
