// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What plans of SpTV promise: bits, launches, allocations, storage, costs and refusals.

#include <sporades/kernels/sptv.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>
#include <support/vector_products.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

/// Calls function(format) with X in the format of a strategy.
template <class ExecutionSpace, class Tensor, class Function>
void with_format(ExecutionSpace const& exec, Tensor const& X, int n, SptvOptions const& options,
                 Function const& function) {
  switch (sporades::detail::with_same_format(options.strategy)) {
    case SptvStrategy::hocoo:
      return function(make_hocoo(exec, X, n));
    case SptvStrategy::hocsr:
      return function(make_hocsr(exec, X, n));
    case SptvStrategy::cfb:
      return function(make_cfb(exec, X, n));
    default:
      return function(make_hocfs(exec, X, n, options.slices, options.least_fill));
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("sptv gives the same bits on every run and number of threads",
                        "[kernels][sptv][threads]", AllCases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  for (auto const& dims : {Dims{20000}, Dims{3, 2, 20000}}) {
    auto const X = random_coo<Scalar, std::uint32_t>(exec, dims, 40000, 3, 2);
    for (int n = 0; n < X.order(); ++n) {  // the last mode: long fibers
      auto const v = random_vector<Scalar>(exec, dims[n], 5);
      auto const other = random_vector<Scalar>(exec, dims[n], 6);
      for (auto const& [way, options] : sptv_ways()) {
        std::string const name = std::string("sptv ") + way + " " + Exec::name() + " " +
                                 to_string(dims) + " mode " + std::to_string(n) + " bytes " +
                                 std::to_string(sizeof(Scalar));
        auto plan = make_sptv_plan(exec, X, n, options);
        auto const Y = make_sptv_output(exec, plan);
        auto const check = [&](auto& given, auto const& result) {
          Kokkos::deep_copy(exec, result.values, std::numeric_limits<Scalar>::quiet_NaN());
          sptv(exec, given, v, result);
          exec.fence();
          check_same_bits(name, hash_bits(result.values));
        };
        check(plan, Y);
        auto const bits = hash_bits(Y.values);
        sptv(exec, plan, other, Y);
        exec.fence();
        CHECK(hash_bits(Y.values) != bits);
        check(plan, Y);

        with_format(exec, X, n, options, [&](auto const& format) {
          auto of_format = make_sptv_plan(exec, format);
          if (plan.strategy != SptvStrategy::automatic) {  // a baseline, which is asked for
            of_format.strategy = plan.strategy;
            return check(of_format, make_sptv_output(exec, of_format));
          }
          CHECK(of_format.tensor.index() == plan.tensor.index());
          check(of_format, make_sptv_output(exec, of_format));
          auto const Z = sptv(exec, format, v);
          check_same_bits(name, hash_bits(Z.values));
          CHECK(hash_bits(Z.coordinates) == hash_bits(Y.coordinates));
          CHECK(Z.dims == Y.dims);
          CHECK(Z.sorted_modes == Y.sorted_modes);
        });
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("sptv of formats that keep fibers apart gives the same bits on hosts",
                        "[kernels][sptv]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  if constexpr (!sporades::detail::is_gpu<Exec>) {
    Exec const exec{};
    auto const dims =
        GENERATE(Dims{30, 20, 40}, Dims{90, 7, 300}, Dims{2000, 3, 5, 40}, Dims{9, 800});
    auto const X = random_coo<Scalar, std::uint32_t>(exec, dims, 12000, 3, 2);
    for (int n = 0; n < X.order(); ++n) {
      auto const v = random_vector<Scalar>(exec, dims[n], 5);
      auto const bits = hash_bits(sptv(exec, make_cfb(exec, X, n), v).values);
      INFO(to_string(dims) << ", mode " << n);
      CHECK(hash_bits(sptv(exec, make_hocsr(exec, X, n), v).values) == bits);
      for (auto slices : {HocfsSlices::csr, HocfsSlices::automatic})
        CHECK(hash_bits(sptv(exec, make_hocfs(exec, X, n, slices), v).values) == bits);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("sptv labels its kernels, runs them on its instance and allocates once",
                        "[kernels][sptv]", Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {2, 3, 20000}, 90000);
  for (int n = 0; n < 3; ++n) {  // mode 2 has long fibers
    auto const v = random_vector<Scalar>(exec, X.dims[n], 1);
    for (auto const& [name, options] : sptv_ways()) {
      INFO(name << ", mode " << n);
      SptvPlan<Scalar, std::uint32_t, typename TestType::MemorySpace> plan;
      CooTensor<Scalar, std::uint32_t, typename TestType::MemorySpace> Y;
      check_launches(exec, [&, &options = options] {
        plan = make_sptv_plan(exec, X, n, options);
        Y = make_sptv_output(exec, plan);
        sptv(exec, plan, v, Y);
        with_format(exec, X, n, options, [&](auto const& format) { sptv(exec, format, v); });
      });
      plan = make_sptv_plan(exec, X, n, options);
      Y = make_sptv_output(exec, plan);
      for (int run = 0; run < 2; ++run) {  // the first one allocates nothing either
        auto const recording = record([&] { sptv(exec, plan, v, Y); });
        CHECK(!recording.launches.empty());
        CHECK(recording.outside.empty());
        CHECK(recording.fences.empty());
        for (auto const& label : recording.allocations) CHECK(label == "[unlabeled]");
      }
      CHECK(Y.coordinates.data() == plan.coordinates.data());  // not copied
    }
  }
}

TEST_CASE("storage_bytes of a plan of sptv are those of its arrays", "[kernels][sptv]") {
  using Exec = Kokkos::DefaultExecutionSpace;
  Exec const exec{};
  auto const X = random_coo<double, std::uint64_t>(exec, {20, 3, 30000}, 90000, 1, 2);
  for (int n = 0; n < 3; ++n)
    for (auto const& [name, options] : sptv_ways()) {
      INFO(name << ", mode " << n);
      SptvPlan<double, std::uint64_t, Exec::memory_space> plan;
      auto recording =
          record([&, &options = options] { plan = make_sptv_plan(exec, X, n, options); });
      auto const held = recording.bytes[Exec::memory_space::name()].held;
      auto const bytes = static_cast<double>(plan.storage_bytes());
      CHECK(bytes > 90000 * 16);
      CHECK(bytes <= held);
      // Kokkos rounds up: the slices' formats, and on GPUs the fibers' starts, have a byte each.
      CHECK(held < bytes + 16);
    }
}

TEST_CASE("a plan takes hocfs where nothing else is asked for", "[kernels][sptv]") {
  Kokkos::DefaultExecutionSpace const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, {30, 20, 10}, 500);
  auto const place = [&](SptvOptions const& options) {
    return make_sptv_plan(exec, X, 1, options).tensor.index();
  };
  CHECK(place({}) == 0);
  CHECK(place({SptvStrategy::hocfs}) == 0);
  CHECK(place({SptvStrategy::hocoo}) == 1);
  CHECK(place({SptvStrategy::hocsr}) == 2);
  CHECK(place({SptvStrategy::cfb}) == 3);
  auto const entries = [&](HocfsSlices slices) {
    return std::get<0>(make_sptv_plan(exec, X, 1, {SptvStrategy::automatic, slices}).tensor)
        .entries();
  };
  CHECK(entries(HocfsSlices::csr) == 500);
  CHECK(entries(HocfsSlices::ell) > 800);
}

/// Two fibers of mode 2, and of mode 0, of two nonzeros and of one. Those of mode 2 are a slice
/// each, those of mode 0 are of one slice.
TEST_CASE("the cost of sptv is what counting gives", "[kernels][sptv][cost]") {
  Kokkos::DefaultHostExecutionSpace const exec{};
  auto const X = sporades::test::make_coo<double>({2, 3, 100},
                                                  {{{0, 1, 5}, 1}, {{1, 1, 5}, 3}, {{0, 1, 7}, 2}});
  auto const cost = [&](SptvOptions const& options, int n = 2) {
    auto const found = sptv_cost(exec, make_sptv_plan(exec, X, n, options));
    CHECK(found.flops == 2 * 3);
    return found.bytes - (2 + 2) * 8;  // without the used entries of v and Y's values
  };
  CHECK(cost({SptvStrategy::hocoo}) == 3 * (3 * 4 + 8));
  CHECK(cost({SptvStrategy::hocsr}) == 3 * (4 + 8) + 7 * 8);
  CHECK(cost({SptvStrategy::cfb}) == 3 * (4 + 8) + 3 * 8);
  CHECK(cost({SptvStrategy::hocfs, HocfsSlices::csr}) == 3 * (4 + 8) + 3 * 8);
  for (auto strategy : {SptvStrategy::hocfs_blocks, SptvStrategy::hocfs}) {
    SptvOptions const full{strategy, HocfsSlices::ell, false, 1};
    bool const is_own = strategy == SptvStrategy::hocfs;
    CHECK(cost({strategy, HocfsSlices::ell}) == 3 * (4 + 8) + 3 * 8 + 3 * 8 + 2);
    CHECK(cost({strategy, HocfsSlices::ell}, 0) == 4 * 4 + 3 * 8 + 2 * 8 + 2 * 8 + 1);
    CHECK(cost(full, 0) == 3 * (4 + 8) + 3 * 8 + (is_own ? 0 : 2 * 8 + 1));
  }
}

TEST_CASE("sptv refuses what does not fit", "[kernels][sptv]") {
  using Exec = Kokkos::DefaultExecutionSpace;
  using Catch::Matchers::ContainsSubstring;
  Exec const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, {6, 5, 4}, 10);
  auto const of_length = [&](std::size_t length) { return random_vector<double>(exec, length, 1); };
  for (auto const& [name, options] : sptv_ways()) {
    INFO(name);
    auto const make = [&, &options = options](auto const& tensor, int n) {
      return make_sptv_plan(exec, tensor, n, options);
    };
    auto plan = make(X, 1);
    auto const Y = make_sptv_output(exec, plan);
    auto const refused = [&](auto const& v, auto const& output) {
      return message_of([&] { sptv(exec, plan, v, output); });
    };
    CHECK(refused(of_length(5), Y) == "no error");
    CHECK(refused(of_length(6), Y) == "sptv: v has 6 entries, mode 1 has 5");
    CHECK(refused(of_length(0), Y) == "sptv: v has 0 entries, mode 1 has 5");

    auto fewer = Y;
    fewer.values = of_length(Y.nnz() - 1);
    CHECK_THAT(refused(of_length(5), fewer),
               ContainsSubstring("Y has " + std::to_string(Y.nnz() - 1) + " values, X has " +
                                 std::to_string(Y.nnz()) + " fibers"));
    auto const other = make(X, 1);
    CHECK_THAT(refused(of_length(5), make_sptv_output(exec, other)),
               ContainsSubstring("make it by make_sptv_output"));
    CHECK_THAT(refused(of_length(5), make_sptv_output(exec, make(X, 0))),
               ContainsSubstring("make it by make_sptv_output"));
    auto alias = Y;
    auto const numbers = of_length(std::max<Position>(Y.nnz(), 5));
    alias.values = decltype(alias.values)(numbers.data(), Y.nnz());
    CHECK(refused(decltype(alias.values)(numbers.data(), 5), alias) == "sptv: Y is v");

    CHECK_THAT(message_of([&] { make(X, 3); }),
               ContainsSubstring("make_sptv_plan: mode 3 of a tensor of order 3"));
    CHECK_THAT(message_of([&] { make(X, -1); }),
               ContainsSubstring("make_sptv_plan: mode -1 of a tensor of order 3"));
    auto const bad = sporades::test::make_coo<double>({2, 3}, {{{0, 1}, 1}, {{1, 3}, 1}});
    for (int n : {0, 1})
      CHECK_THAT(message_of([&] { make(copy_to(exec, bad), n); }),
                 ContainsSubstring("make_sptv_plan: nonzero 1, mode 1: the index 3"));
    with_format(exec, X, 1, options, [&](auto const& format) {
      CHECK(message_of([&] { sptv(exec, format, of_length(4)); }) ==
            "sptv: v has 4 entries, mode 1 has 5");
    });
  }
  CHECK_THROWS_WITH(from_name<SptvStrategy>("best"), ContainsSubstring("no SpTV strategy best"));
  CHECK(std::string(to_string(SptvStrategy::hocfs)) == "hocfs");
}
