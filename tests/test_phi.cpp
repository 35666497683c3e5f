// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <limits>
#include <sporades/kernels/phi.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/linear_order.hpp>
#include <support/same_bits.hpp>
#include <support/tensors.hpp>
#include <support/tools.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

std::vector<Problem> count_problems() {
  return {{{5}, 9, 1},
          {{7, 4}, 20, 1},
          {{6, 5, 4}, 40, 1},
          {{2, 300, 200}, 20000, 1},    // two rows: every chunk carries, three levels
          {{500, 400, 300}, 20000, 6},  // one row has most nonzeros; many are empty
          {{9, 8, 1, 6}, 700, 1},       // a mode of length 1
          {{30, 2, 20, 10}, 5000, 2},
          {{5, 4, 3, 4, 5}, 900, 1},
          {{3, 4, 2, 3, 2, 4}, 600, 1},
          {Dims(6, 8000), 3000, 2},  // indices of more than 63 bits
          {{4, 3}, 0, 1},            // nothing in it
          {{0, 3, 2}, 0, 1}};        // an empty mode
}

std::vector<PhiOptions> options_list() {
  return {{PhiStrategy::automatic, 4, Pi::on_the_fly},
          {PhiStrategy::atomic, 4, Pi::on_the_fly},
          {PhiStrategy::atomic, 4, Pi::stored},
          {PhiStrategy::pull, 4, Pi::on_the_fly},
          {PhiStrategy::pull, 4, Pi::stored},
          {PhiStrategy::alto, 4, Pi::on_the_fly},
          {PhiStrategy::alto_atomic, 4, Pi::on_the_fly},
          {PhiStrategy::coo_alto_atomic, 4, Pi::on_the_fly},
          {PhiStrategy::coo_alto_pull, 4, Pi::on_the_fly}};
}

std::string describe(PhiOptions const& options) {
  return std::string(to_string(options.strategy)) + ", pi " + to_string(options.pi);
}

/// Counts: the magnitudes of what random_coo gives, some of them 0.
template <class Scalar, class Index, class ExecutionSpace>
auto random_counts(ExecutionSpace const& exec, Dims const& dims, Position nnz, double skew) {
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const X = random_coo<Scalar, Index>(host, dims, nnz, 7, skew);
  host.fence();
  for (Position p = 0; p < nnz; ++p) X.values(p) = p % 11 == 3 ? 0 : std::abs(X.values(p)) * 20;
  return copy_to(exec, X);
}

/// Entries in [0, 1), every fifth of them 0.
template <class Scalar, class ExecutionSpace>
auto random_nonnegative(ExecutionSpace const& exec, std::size_t rows, std::size_t R, unsigned seed,
                        bool padded) {
  auto const A = random_matrix<Scalar>(Kokkos::DefaultHostExecutionSpace{}, rows, R, seed, false);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t r = 0; r < R; ++r)
      A(i, r) = (i + r) % 5 == 1 ? Scalar(0) : A(i, r) + Scalar(0.5);
  if (padded) return copy_matrix(exec, A);
  Matrix<Scalar, typename ExecutionSpace::memory_space> const B("B", rows, R);
  Kokkos::deep_copy(B, A);
  return B;
}

/// The definition, in double.
template <class Tensor, class FactorList, class MatrixType>
std::vector<double> define_phi(Tensor const& X, FactorList const& A, int n, MatrixType const& B,
                               double epsilon) {
  std::size_t const R = B.extent(1);
  std::vector<double> V(X.dims[n] * R, 0), pi(R);
  for (Position p = 0; p < X.nnz(); ++p) {
    double model = 0;
    auto const row = X.coordinates(n, p);
    for (std::size_t r = 0; r < R; ++r) {
      pi[r] = 1;
      for (int m = 0; m < X.order(); ++m)
        if (m != n) pi[r] *= A[m](X.coordinates(m, p), r);
      model += B(row, r) * pi[r];
    }
    for (std::size_t r = 0; r < R; ++r)
      V[row * R + r] += X.values(p) / std::max(model, epsilon) * pi[r];
  }
  return V;
}

template <class Case>
struct PhiProblem {
  using Scalar = typename Case::Scalar;
  using Exec = typename Case::ExecutionSpace;
  using Memory = typename Exec::memory_space;
  using Index = typename Case::Index;

  CooTensor<Scalar, Index, Memory> X;
  Factors<Scalar, Memory> A, B;

  PhiProblem(Exec const& exec, Problem const& problem, std::size_t R, bool padded)
      : X(random_counts<Scalar, Index>(exec, problem.dims, problem.nnz, problem.skew)) {
    for (std::size_t m = 0; m < X.dims.size(); ++m) {
      auto const seed = static_cast<unsigned>(100 + m);
      A.push_back(random_nonnegative<Scalar>(exec, X.dims[m], R, seed, padded));
      B.push_back(random_nonnegative<Scalar>(exec, X.dims[m], R, seed + 50, padded));
    }
  }
};

template <class Case>
void check_all_modes(Problem const& shape, std::size_t R, PhiOptions const& options, bool padded,
                     double epsilon = 1e-10) {
  using Scalar = typename Case::Scalar;
  typename Case::ExecutionSpace const exec{};
  PhiProblem<Case> const problem(exec, shape, R, padded);
  auto const& X = problem.X;
  if (is_refused(exec, X, options.strategy)) {
    std::string const lacks = options.strategy == PhiStrategy::alto
                                  ? "make_phi_plan: strategy alto needs atomics on mode"
                                  : "make_phi_plan: strategy coo-alto-pull has no buffers for mode";
    CHECK_THROWS_WITH(make_phi_plan(exec, X, options), Catch::Matchers::ContainsSubstring(lacks));
    return;
  }
  auto plan = make_phi_plan(exec, X, options);
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const host_X = copy_to(host, X);
  Factors<Scalar, Kokkos::HostSpace> host_A;
  for (auto const& a : problem.A) host_A.push_back(matrix_on_host(a));
  for (int n = 0; n < X.order(); ++n) {
    auto const expected =
        define_phi(host_X, host_A, n, matrix_on_host(problem.B[n]), double(Scalar(epsilon)));
    auto const V = padded ? make_matrix<Scalar>(exec, "V", X.dims[n], R)
                          : Matrix<Scalar, typename Case::MemorySpace>("V", X.dims[n], R);
    Kokkos::deep_copy(exec, V, std::numeric_limits<Scalar>::quiet_NaN());
    update_pi(exec, plan, problem.A, n);
    phi(exec, plan, problem.A, problem.B[n], n, V, epsilon);
    exec.fence();
    auto const result = matrix_on_host(V);
    // All terms are positive: each rounds once a factor, the model once a column, and the sum of
    // at most nnz of them once a term.
    double const unit = static_cast<double>(shape.nnz + 2 * X.order() + R + 2) *
                        static_cast<double>(std::numeric_limits<Scalar>::epsilon());
    Position wrong = 0;
    for (std::size_t i = 0; i < X.dims[n]; ++i)
      for (std::size_t r = 0; r < R; ++r) {
        double const exact = expected[i * R + r];
        if (!(std::abs(double(result(i, r)) - exact) <= unit * exact)) ++wrong;
      }
    INFO(to_string(shape.dims) << ", nnz " << shape.nnz << ", R " << R << ", mode " << n << ", "
                               << describe(options) << (padded ? ", padded" : ""));
    CHECK(wrong == 0);
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("phi equals its definition", "[kernels][phi]", Cases) {
  for (auto const& problem : count_problems())
    for (auto const& options : options_list()) {
      bool const is_automatic = options.strategy == PhiStrategy::automatic;
      for (std::size_t R : {1, 3, 4, 16, 17, 32, 33})
        if (is_automatic || R == 3 || R == 16)
          check_all_modes<TestType>(problem, R, options, R != 3 && R != 33);
    }
}

TEMPLATE_LIST_TEST_CASE("phi divides by epsilon where the model is below it", "[kernels][phi]",
                        Cases) {
  for (auto const& options : options_list())
    check_all_modes<TestType>({{6, 5, 4}, 60, 1}, 3, options, true, 0.3);
}

TEST_CASE("phi with 64-bit indices equals its definition", "[kernels][phi]") {
  using Wide = Case<Kokkos::DefaultExecutionSpace, double, std::uint64_t>;
  for (auto const& problem : count_problems())
    for (auto const& options : options_list()) check_all_modes<Wide>(problem, 17, options, true);
}

TEST_CASE("phi of order 16 equals its definition", "[kernels][phi]") {
  using Plain = Case<Kokkos::DefaultExecutionSpace, double>;
  for (auto const& options : options_list())
    check_all_modes<Plain>({Dims(16, 3), 500, 1}, 5, options, true);
}

TEMPLATE_LIST_TEST_CASE("phi of factors beyond the cache equals its definition", "[kernels][phi]",
                        Cases) {
  // Few cells, long modes: `automatic` takes the linear order on CPUs.
  for (int R : {17, 32})
    check_all_modes<TestType>({{6000, 5000, 7000}, 60000, 12}, static_cast<std::size_t>(R),
                              {PhiStrategy::automatic, R}, true);
}

TEMPLATE_LIST_TEST_CASE("phi of a tensor without a plan equals that with one", "[kernels][phi]",
                        Cases) {
  typename TestType::ExecutionSpace const exec{};
  using Scalar = typename TestType::Scalar;
  PhiProblem<TestType> const problem(exec, {{30, 20, 10}, 900, 1}, 5, true);
  auto plan = make_phi_plan(exec, problem.X, {PhiStrategy::pull, 5});
  auto const V = make_matrix<Scalar>(exec, "V", 30, 5), W = make_matrix<Scalar>(exec, "W", 30, 5);
  phi(exec, problem.X, problem.A, problem.B[0], 0, V, 1e-10);
  phi(exec, plan, problem.A, problem.B[0], 0, W, 1e-10);
  exec.fence();
  auto const v = matrix_on_host(V), w = matrix_on_host(W);
  for (int i = 0; i < 30; ++i)
    for (int r = 0; r < 5; ++r) CHECK(double(v(i, r)) == Approx(double(w(i, r))).epsilon(1e-4));
}

TEMPLATE_LIST_TEST_CASE("phi gives the same bits on every run and number of threads",
                        "[kernels][phi][threads]", AllCases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  PhiProblem<TestType> const problem(exec, {{40, 2, 3000, 50}, 60000, 2}, 16, true);
  for (auto const& options : {PhiOptions{PhiStrategy::pull, 16, Pi::on_the_fly},
                              PhiOptions{PhiStrategy::pull, 16, Pi::stored},
                              PhiOptions{PhiStrategy::alto, 16, Pi::on_the_fly},
                              PhiOptions{PhiStrategy::coo_alto_pull, 16, Pi::on_the_fly},
                              PhiOptions{PhiStrategy::coo_alto_pull, 12, Pi::on_the_fly}}) {
    auto plan = make_phi_plan(exec, problem.X, options);
    for (int n = 0; n < 4; ++n) {
      auto const V = make_matrix<Scalar>(exec, "V", problem.X.dims[n], 16);
      update_pi(exec, plan, problem.A, n);
      for (int repeat = 0; repeat < 2; ++repeat) {
        phi(exec, plan, problem.A, problem.B[n], n, V, 1e-10);
        exec.fence();
        check_same_bits("phi " + describe(options) + " " + Exec::name() + " mode " +
                            std::to_string(n) + " bytes " + std::to_string(sizeof(Scalar)),
                        hash_bits(V));
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("phi labels its kernels, runs them on its instance and allocates nothing",
                        "[kernels][phi]", Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  PhiProblem<TestType> const problem(exec, {{30, 20, 10}, 5000, 1}, 8, true);
  auto const V = make_matrix<Scalar>(exec, "V", 30, 8);
  exec.fence();
  for (auto const& options : options_list()) {
    if (is_refused(exec, problem.X, options.strategy)) continue;
    PhiOptions with = options;
    with.rank = 8;
    auto plan = make_phi_plan(exec, problem.X, with);
    auto const compute = [&] {
      update_pi(exec, plan, problem.A, 0);
      phi(exec, plan, problem.A, problem.B[0], 0, V, 1e-10);
    };
    compute();  // Kokkos may allocate its own, once
    auto const recording = check_launches(exec, compute);
    INFO(describe(options));
    CHECK(recording.allocations.empty());
    if (with.strategy != PhiStrategy::atomic)  // which takes the tensor as it is
      check_launches(exec, [&] { make_phi_plan(exec, problem.X, with); });
  }
}

TEMPLATE_LIST_TEST_CASE("phi's alto is refused where it needs atomics, which alto-atomic takes",
                        "[kernels][phi]", Cases) {
  Problem const sparse{{20000, 300, 200}, 60000, 1};  // three nonzeros a row of mode 0
  typename TestType::ExecutionSpace const exec{};
  PhiProblem<TestType> const problem(exec, sparse, 3, true);
  if (sporades::detail::is_gpu<typename TestType::ExecutionSpace>)
    check_all_modes<TestType>(sparse, 3, {PhiStrategy::alto, 3}, true);
  else
    CHECK_THROWS_WITH(
        make_phi_plan(exec, problem.X, {PhiStrategy::alto, 3}),
        Catch::Matchers::ContainsSubstring("make_phi_plan: strategy alto needs atomics on mode "
                                           "0") &&
            Catch::Matchers::ContainsSubstring("alto-atomic allows them, pull works without"));
  auto const plan = make_phi_plan(exec, problem.X, {PhiStrategy::alto_atomic, 3});
  CHECK(plan.strategy == PhiStrategy::alto_atomic);
  check_all_modes<TestType>(sparse, 3, {PhiStrategy::alto_atomic, 3}, true);
  CHECK(from_name<PhiStrategy>("alto-atomic") == PhiStrategy::alto_atomic);
  CHECK(from_name<PhiStrategy>("coo-alto-pull") == PhiStrategy::coo_alto_pull);
  CHECK_THROWS_WITH(
      make_phi_plan(exec, problem.X, {PhiStrategy::coo_alto_pull, 3}),
      Catch::Matchers::ContainsSubstring("has no buffers for mode 0, whose rows are used too "
                                         "seldom (20000 rows, 60000 nonzeros)"));
  check_all_modes<TestType>(sparse, 3, {PhiStrategy::coo_alto_atomic, 3}, true);
  CHECK_THROWS_WITH(from_name<PhiStrategy>("best"),
                    Catch::Matchers::ContainsSubstring("there is no Phi strategy best"));
}

TEST_CASE("phi refuses what does not fit", "[kernels][phi]") {
  using Exec = Kokkos::DefaultExecutionSpace;
  using Catch::Matchers::ContainsSubstring;
  Exec const exec{};
  PhiProblem<Case<Exec, double>> const problem(exec, {{6, 5, 4}, 10, 1}, 3, true);
  auto const& X = problem.X;
  auto const& A = problem.A;
  auto const& B = problem.B;
  auto const V = make_matrix<double>(exec, "V", 6, 3);
  auto const run = [&](auto const& factors, int n, auto const& b, auto const& output,
                       double epsilon = 1e-10) { phi(exec, X, factors, b, n, output, epsilon); };
  CHECK_THROWS_WITH(run(A, 3, B[0], V), ContainsSubstring("mode 3 of a tensor of order 3"));
  CHECK_THROWS_WITH(run(A, -1, B[0], V), ContainsSubstring("mode -1"));
  CHECK_THROWS_WITH(run(A, 1, B[1], V), ContainsSubstring("V has 6 rows, mode 1 has 5"));
  CHECK_THROWS_WITH(run(A, 0, B[1], V), ContainsSubstring("B is 5 x 3, V is 6 x 3"));
  CHECK_THROWS_WITH(run(A, 0, V, V), ContainsSubstring("V is B"));
  CHECK_THROWS_WITH(run(A, 0, B[0], V, 0), ContainsSubstring("epsilon 0"));
  CHECK_THROWS_WITH(run(A, 0, B[0], V, std::nan("")), ContainsSubstring("epsilon"));
  auto fewer = A;
  fewer.pop_back();
  CHECK_THROWS_WITH(run(fewer, 0, B[0], V), ContainsSubstring("2 factors for order 3"));
  auto wrong = A;
  wrong[1] = A[0];
  CHECK_THROWS_WITH(run(wrong, 0, B[0], V), ContainsSubstring("A[1] has 6 rows, mode 1 has 5"));
  CHECK_THROWS_WITH(make_phi_plan(exec, X, {PhiStrategy::pull, 0}), ContainsSubstring("rank 0"));
  CHECK_THROWS_WITH(make_phi_plan(exec, X, {PhiStrategy::alto, 3, Pi::stored}),
                    ContainsSubstring("pi is not stored for strategy alto"));
  CHECK_THROWS_WITH(make_phi_plan(exec, X, {PhiStrategy::coo_alto_pull, 3, Pi::stored}),
                    ContainsSubstring("pi is not stored for strategy coo-alto-pull"));
  auto plan = make_phi_plan(exec, X, {PhiStrategy::pull, 3, Pi::stored});
  auto narrow = A;
  narrow[2] = make_matrix<double>(exec, "A", A[2].extent(0), 2);
  CHECK_THROWS_WITH(update_pi(exec, plan, narrow, 0),
                    ContainsSubstring("A[2] has 2 columns, others have 3"));
  update_pi(exec, plan, A, 1);
  CHECK_THROWS_WITH(phi(exec, plan, A, B[0], 0, V, 1e-10),
                    ContainsSubstring("the stored pi is of mode 1"));
}
