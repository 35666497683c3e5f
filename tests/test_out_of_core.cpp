// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <filesystem>
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/cp_apr.hpp>
#include <sporades/formats/detail/sort_parts.hpp>
#include <sporades/formats/files/spt_file.hpp>
#include <sporades/kernels/mttkrp.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/memory.hpp>
#include <support/same_bits.hpp>
#include <support/tensors.hpp>
#include <support/tools.hpp>

// Sorts by parts, for tensors that do not fit memory, against those in memory.

using namespace sporades;
using namespace sporades::test;

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;
using HostCases = std::tuple<Case<Host, float, std::uint32_t>, Case<Host, float, std::uint64_t>,
                             Case<Host, double, std::uint32_t>, Case<Host, double, std::uint64_t>>;

std::vector<Problem> streamed_problems() {
  return {{{5}, 9, 1},
          {{2, 300, 200}, 9000, 1},    // a row is longer than a part
          {{500, 400, 300}, 6000, 6},  // one row has most nonzeros; many coordinates repeat
          {{9, 8, 1, 6}, 700, 1},      // most coordinates repeat
          {{3000, 2000, 2500, 1700}, 8000, 2},  // words of 64 bits
          {{4, 3}, 0, 1},
          {{1, 1, 1}, 300, 1}};  // all are the same
}

template <class View>
bool same_entries(View const& a, View const& b) {
  auto const x = on_host(a), y = on_host(b);
  return x.extent(0) == y.extent(0) && std::equal(x.data(), x.data() + x.extent(0), y.data());
}

template <class Tensor>
void check_same(Tensor const& X, Tensor const& Y) {
  CHECK(X.dims == Y.dims);
  CHECK(X.sorted_modes == Y.sorted_modes);
  REQUIRE(X.nnz() == Y.nnz());
  for (int n = 0; n < X.order(); ++n)
    CHECK(std::equal(X.indices(n), X.indices(n) + X.nnz(), Y.indices(n)));
  CHECK(std::equal(X.values.data(), X.values.data() + X.nnz(), Y.values.data()));
}

/// Checks that the views of a run take at most `most` bytes, and at least that share of them.
template <class Run>
void check_peak(double most, double share, Run const& run) {
  double const peak = record(run).bytes.at(Kokkos::HostSpace::name()).peak;
  INFO("held " << peak << " of " << most);
  CHECK(peak <= most);
  CHECK(peak >= share * most);
}

template <class Model>
void check_same_factors(Model const& out_of_core, Model const& resident) {
  REQUIRE(out_of_core.factors.size() == resident.factors.size());
  for (std::size_t n = 0; n < resident.factors.size(); ++n)
    CHECK(hash_bits(out_of_core.factors[n]) == hash_bits(resident.factors[n]));
}

/// The modes from the last to the first.
std::vector<int> backwards(int order) {
  std::vector<int> modes;
  for (int n = order - 1; n >= 0; --n) modes.push_back(n);
  return modes;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("Sorting by parts gives the order of others", "[formats][out_of_core]",
                        HostCases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  auto const problem = GENERATE(from_range(streamed_problems()));
  std::uint64_t const memory = GENERATE(1, 40000, 1 << 30);
  if (memory == 1 && problem.nnz > 1000) return;  // parts of 64 nonzeros
  auto const given = random_coo<Scalar, Index>(exec, problem.dims, problem.nnz, 5, problem.skew);
  auto const modes = backwards(given.order());
  for (auto const& X : {given, sorted(exec, given, {0}), sorted(exec, given, modes)}) {
    INFO(to_string(X.dims) << ", memory " << memory << ", sorted by " << X.sorted_modes.size());
    auto const out_of_core = sporades::detail::sorted_out_of_core(exec, X, modes, memory);
    check_same(out_of_core.tensor, sorted(exec, X, modes));
    int const n = modes[0];
    auto const resident = make_packed(exec, sorted(exec, X, modes), n);
    auto const packed = sporades::detail::make_packed_out_of_core(exec, out_of_core.tensor, n);
    CHECK(packed.out_of_core);
    CHECK(packed.modes == resident.modes);
    CHECK(packed.shifts == resident.shifts);
    CHECK(same_entries(packed.narrow, resident.narrow));
    CHECK(same_entries(packed.wide, resident.wide));
    CHECK(same_entries(packed.values, resident.values));
    CHECK(same_entries(packed.rows, resident.rows));
    CHECK(same_entries(packed.marks, resident.marks));
    auto const summed = sporades::detail::summed_out_of_core(exec, X, memory);
    check_same(summed.tensor, sum_duplicates(exec, X).tensor);
    auto const again = sporades::detail::summed_out_of_core(exec, summed.tensor, memory);
    CHECK_FALSE(again.memory);
    CHECK(again.tensor.values.data() == summed.tensor.values.data());
  }
}

TEMPLATE_LIST_TEST_CASE("A sort by parts takes the memory that it may", "[formats][out_of_core]",
                        HostCases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  Position const nnz = 100000;
  std::uint64_t const memory = 1 << 19;
  auto const skew = GENERATE(1, 4);
  auto const X = random_coo<Scalar, Index>(exec, Dims{900, 40, 700}, nnz, 5, skew);
  auto const recording = record([&] {
    sporades::detail::summed_out_of_core(exec, X, memory);
    sporades::detail::sorted_out_of_core(exec, X, {2, 0, 1}, memory);
  });
  double const peak = recording.bytes.at(Kokkos::HostSpace::name()).peak;
  CHECK(peak > 0);
  CHECK(peak < 1.1 * static_cast<double>(memory));
  check_launches(exec, [&] { sporades::detail::sorted_out_of_core(exec, X, {2, 0, 1}, memory); });
}

TEMPLATE_LIST_TEST_CASE("A plan of many parts has the bits of others", "[kernels][out_of_core]",
                        HostCases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  auto const problem = GENERATE(from_range(streamed_problems()));
  auto const X = random_coo<Scalar, Index>(exec, problem.dims, problem.nnz, 5, problem.skew);
  MttkrpOptions options{MttkrpStrategy::automatic, 4, {RowOrder::lexicographic}};
  auto const resident = make_mttkrp_plan(exec, X, options);
  options.streaming.always = true;
  options.streaming.memory = GENERATE(0, 30000);
  auto const out_of_core = make_mttkrp_plan(exec, X, options);
  for (int n = 0; n < X.order(); ++n) {
    CHECK(out_of_core.choices[n].split == resident.choices[n].split);
    auto const& list = *out_of_core.formats.template as<PackedTensor>(n);
    auto const& expected = *resident.formats.template as<PackedTensor>(n);
    CHECK(list.out_of_core);
    CHECK(same_entries(list.narrow, expected.narrow));
    CHECK(same_entries(list.wide, expected.wide));
    CHECK(same_entries(list.values, expected.values));
    CHECK(same_entries(list.rows, expected.rows));
    CHECK(same_entries(list.marks, expected.marks));
  }
  options.rows.order = RowOrder::automatic;
  options.strategy = MttkrpStrategy::atomic;
  CHECK_THROWS_WITH(make_mttkrp_plan(exec, X, options),
                    Catch::Matchers::ContainsSubstring("atomic cannot stream"));
}

TEMPLATE_LIST_TEST_CASE("A reader leaves in files what it may not hold", "[formats][out_of_core]",
                        HostCases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  auto const problem = GENERATE(from_range(streamed_problems()));
  if (problem.nnz == 0) return;
  auto const given = random_coo<Scalar, Index>(Host{}, problem.dims, problem.nnz, 5, problem.skew);
  auto const once = sum_duplicates(Host{}, given).tensor;
  TemporaryFolder const folder;
  ReadOptions options;
  options.dims = problem.dims;
  for (std::string const name : {"x.spt", "x.tns", "x.tns.gz"})
    for (auto const& X : {given, once}) {
      INFO(to_string(problem.dims) << ", " << name);
      if (name == "x.spt")
        write_spt(folder / name, X);
      else
        write_tns(folder / name, X);
      options.memory = 0;
      auto const resident = read_tensor<double>(folder / name, options);
      CHECK_FALSE(resident.out_of_core);
      options.memory = 1;
      auto out_of_core = read_tensor<double>(folder / name, options);
      CHECK(out_of_core.out_of_core);
      CHECK(out_of_core.duplicates == resident.duplicates);
      CHECK(out_of_core.notes == resident.notes);
      check_same(std::get<0>(out_of_core.tensor), std::get<0>(resident.tensor));
      options.memory = 1 << 30;
      CHECK_FALSE(read_tensor<double>(folder / name, options).out_of_core);
      options.memory = 1;
      // The file may go while its nonzeros are in use.
      std::filesystem::remove(folder / name);
      check_same(std::get<0>(out_of_core.tensor), std::get<0>(resident.tensor));
    }
}

TEMPLATE_LIST_TEST_CASE("A streamed CP-ALS takes the memory that it may",
                        "[algorithms][out_of_core]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  if constexpr (!sporades::detail::is_gpu<Exec>) {
    Exec const exec{};
    Dims const dims = GENERATE(Dims{900, 40, 700}, Dims{5000, 7, 8, 9});
    Position const nnz = 100000;
    CpAlsOptions options;
    options.init = CpAlsInit::random;
    options.rank = 5;
    options.iterations = 1;
    options.tolerance = 0;
    auto X = random_coo<Scalar, std::uint32_t>(exec, dims, nnz, 5, 2);
    Kokkos::deep_copy(exec, Kokkos::subview(X.values, std::make_pair(0, 3)), Scalar(50));
    auto const resident = cp_als(exec, X, options);
    options.streaming.memory = 1 << 20;
    options.streaming.always = true;
    auto const need = test::streamed_need(exec, X, options);
    double const most = need.peak + static_cast<double>(options.streaming.memory);
    check_peak(most, 0.4, [&] {
      auto const out_of_core = cp_als(exec, X, options);
      CHECK(out_of_core.values == resident.values);
      check_same_factors(out_of_core.model, resident.model);
    });
  }
}

TEMPLATE_LIST_TEST_CASE("A streamed CP-APR takes the memory that it may",
                        "[algorithms][out_of_core]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  if constexpr (!sporades::detail::is_gpu<Exec>) {
    Exec const exec{};
    Dims const dims{900, 40, 700};
    Position const nnz = 50000;
    CpAprOptions options;
    options.rank = 3;
    options.iterations = 1;
    options.inner_iterations = 1;
    options.method = GENERATE(CpAprMethod::mu, CpAprMethod::pdnr, CpAprMethod::pqnr);
    if (options.method == CpAprMethod::mu) options.strategy = PhiStrategy::pull;
    auto const X = random_coo<Scalar, std::uint32_t>(exec, dims, nnz, 5, 2);
    for (Position p = 0; p < nnz; ++p) X.values(p) = static_cast<Scalar>(0.375 * (1 + p % 3));
    auto const resident = cp_apr(exec, X, options);
    options.streaming.memory = 1 << 20;
    options.streaming.always = true;
    auto const need = test::streamed_need(exec, X, options);
    double const most = need.peak + static_cast<double>(options.streaming.memory);
    check_peak(most, 0.5, [&] {
      auto const out_of_core = cp_apr(exec, X, options);
      CHECK(out_of_core.history.back().log_likelihood == resident.history.back().log_likelihood);
      check_same_factors(out_of_core.model, resident.model);
    });
  }
}

TEST_CASE("Counts that fit memory, in units, of nonzeros that do not, outlive their tensor",
          "[algorithms][out_of_core]") {
  Host const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, Dims{10, 9, 8}, 60000, 1, 1);
  Kokkos::deep_copy(exec, X.values, 0.75e-3);
  CpAprOptions options;
  options.rank = 3;
  options.iterations = 2;
  options.method = GENERATE(CpAprMethod::mu, CpAprMethod::pdnr, CpAprMethod::pqnr);
  if (options.method == CpAprMethod::mu)
    options.strategy = GENERATE(PhiStrategy::pull, PhiStrategy::alto);
  auto const resident = cp_apr(exec, X, options);
  options.streaming.memory = 1 << 18;
  auto problem = make_cp_apr_problem(exec, X, options);
  REQUIRE(problem.shared);
  CHECK(problem.unit < 1);
  auto state = cp_apr_start<double, Host>(exec, X.dims, options);
  auto const result = cp_apr(exec, problem, options, state);
  CHECK(result.history.back().log_likelihood == resident.history.back().log_likelihood);
  check_same_factors(result.model, resident.model);
}

TEMPLATE_LIST_TEST_CASE("A fit near 1 is computed again without the nonzeros in memory",
                        "[algorithms][out_of_core]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  if constexpr (!sporades::detail::is_gpu<Exec>) {
    Exec const exec{};
    Dims const dims = GENERATE(Dims{60, 50, 40}, Dims{2000, 3, 4, 5});
    Position nnz = 1;
    for (auto dim : dims) nnz *= dim;
    auto const X = sporades::detail::allocate_coo<Scalar, std::uint32_t>(exec, dims, nnz);
    exec.fence();
    for (Position p = 0; p < nnz; ++p) {  // of rank 1, with a little noise
      double product = 1 + 1e-5 * static_cast<double>(p % 7);
      Position rest = p;
      for (int n = 0; n < X.order(); rest /= dims[n++]) {
        X.indices(n)[p] = static_cast<std::uint32_t>(rest % dims[n]);
        product *= 1 + static_cast<double>(rest % dims[n] % 3);
      }
      X.values(p) = static_cast<Scalar>(product);
    }
    CpAlsOptions options;
    options.init = CpAlsInit::random;
    options.rank = 1;
    options.iterations = 3;
    options.tolerance = 0;
    auto const resident = cp_als(exec, X, options);
    CHECK(resident.fit() > 0.9999);
    options.streaming.memory = 1 << 19;
    options.streaming.always = true;
    auto const need = test::streamed_need(exec, X, options);
    double const most = need.peak + static_cast<double>(options.streaming.memory);
    check_peak(most, 0, [&] { CHECK(cp_als(exec, X, options).values == resident.values); });
  }
}
