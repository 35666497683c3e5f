// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fstream>
#include <sporades/formats/files/tns_file.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/cp_apr_rows.hpp>
#include <support/files.hpp>

namespace {

using sporades::CpAprMethod;
using sporades::Dims;
using sporades::test::HostFactors;
using sporades::test::HostMatrix;
using sporades::test::is_double;
using sporades::test::new_instance;
using sporades::test::row_options;

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

struct Optimum {
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
    auto const method = GENERATE(CpAprMethod::pdnr, CpAprMethod::pqnr);
    auto const gold = GENERATE(
        Optimum{"count", -3145.325606102, 250}, Optimum{"binary", -485.1933936314, 26},
        Optimum{"count_dense", 568166649.2445, 5}, Optimum{"binary_dense", -12000.00004602, 4});
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
    auto const run = sporades::test::run_rows(exec, X, A, row_options(method, 1e-4, 10), 100);
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
    auto const method = GENERATE(CpAprMethod::pdnr, CpAprMethod::pqnr);
    auto const seed = GENERATE(1, 2, 3);
    auto const path = sporades::test::shared_file("cp_apr/cpapr_10x10x10_tensor.txt");
    if (path.empty()) return;
    auto const X = std::get<0>(sporades::read_tensor<double>(path).tensor);
    auto const A = sporades::random_factors<double>(Kokkos::DefaultHostExecutionSpace{}, X.dims, 5,
                                                    static_cast<std::uint64_t>(seed));
    Kokkos::fence();
    auto const run = sporades::test::run_rows(exec, X, A, row_options(method, 1e-4, 10), 60);
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
    auto const method = GENERATE(CpAprMethod::pdnr, CpAprMethod::pqnr);
    auto const path = sporades::test::shared_file("cp_apr/cpapr_10x10x10_tensor.txt");
    if (path.empty()) return;
    auto const X = std::get<0>(sporades::read_tensor<Scalar>(path).tensor);
    auto const A =
        sporades::random_factors<Scalar>(Kokkos::DefaultHostExecutionSpace{}, X.dims, 5, 1);
    Kokkos::fence();
    auto const run = sporades::test::run_rows(exec, X, A, row_options(method, 1e-3, 10), 60);
    CHECK(run.converged);
    CHECK(run.log_likelihoods.back() == Approx(8794116.732462).epsilon(1e-6));
  }
}

}  // namespace
