// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <filesystem>
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/formats/ktensor_file.hpp>
#include <sporades/formats/tns_file.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/same_bits.hpp>
#include <support/tensors.hpp>
#include <support/tools.hpp>
#include <typeinfo>

namespace {

using Catch::Matchers::ContainsSubstring;
using sporades::cp_als;
using sporades::cp_als_start;
using sporades::CpAlsInit;
using sporades::CpAlsOptions;
using sporades::CpAlsStop;
using sporades::Dims;
using sporades::Error;
using sporades::Position;
using sporades::test::matrix_on_host;
using sporades::test::new_instance;

CpAlsOptions options_of(int rank, int iterations, double tolerance = 0) {
  CpAlsOptions options;
  options.rank = rank;
  options.iterations = iterations;
  options.tolerance = tolerance;
  return options;
}

/// A tensor and its model as dense arrays of double, and one iteration by the definition: every
/// step is the plainest loop there is.
struct Dense {
  Dims dims;
  std::vector<double> values;                // row-major
  std::vector<std::vector<double>> factors;  // I_n x R
  std::vector<double> weights;

  std::size_t rank() const { return weights.size(); }

  std::vector<std::uint64_t> coordinates(std::size_t entry) const {
    std::vector<std::uint64_t> i(dims.size());
    for (std::size_t n = dims.size(); n-- > 0; entry /= dims[n]) i[n] = entry % dims[n];
    return i;
  }

  /// Product of all factors' entries but mode skip's.
  double term(std::vector<std::uint64_t> const& i, std::size_t r, std::size_t skip) const {
    double product = 1;
    for (std::size_t n = 0; n < dims.size(); ++n)
      if (n != skip) product *= factors[n][i[n] * rank() + r];
    return product;
  }

  double residual() const {
    double sum = 0;
    for (std::size_t e = 0; e < values.size(); ++e) {
      auto const i = coordinates(e);
      double model = 0;
      for (std::size_t r = 0; r < rank(); ++r) model += weights[r] * term(i, r, dims.size());
      sum += (values[e] - model) * (values[e] - model);
    }
    return std::sqrt(sum);
  }

  double norm() const {
    double sum = 0;
    for (double x : values) sum += x * x;
    return std::sqrt(sum);
  }

  double fit() const { return 1 - residual() / norm(); }

  void iterate(double ridge) {
    std::size_t const R = rank();
    for (std::size_t n = 0; n < dims.size(); ++n) {
      std::vector<double> V(dims[n] * R), H(R * R, 0.0);
      for (std::size_t e = 0; e < values.size(); ++e) {
        auto const i = coordinates(e);
        for (std::size_t r = 0; r < R; ++r) {
          V[i[n] * R + r] += values[e] * term(i, r, n);
          if (i[n] == 0)  // every row of the Khatri-Rao product once
            for (std::size_t s = 0; s < R; ++s) H[r * R + s] += term(i, r, n) * term(i, s, n);
        }
      }
      auto const inverse =
          sporades::inverse_or_pseudo_inverse(H, static_cast<int>(R), ridge).inverse;
      for (std::size_t r = 0; r < R; ++r) {
        double length = 0;
        for (std::size_t i = 0; i < dims[n]; ++i) {
          double sum = 0;
          for (std::size_t k = 0; k < R; ++k) sum += V[i * R + k] * inverse[k * R + r];
          factors[n][i * R + r] = sum;
          length += sum * sum;
        }
        weights[r] = std::sqrt(length);
        for (std::size_t i = 0; i < dims[n]; ++i)
          if (length > 0) factors[n][i * R + r] /= weights[r];
      }
    }
  }
};

template <class Scalar, class Index, class Memory>
Dense to_dense(sporades::CooTensor<Scalar, Index, Memory> const& X) {
  auto const i = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, X.coordinates);
  auto const x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, X.values);
  Dense dense{
      X.dims, std::vector<double>(static_cast<std::size_t>(sporades::dense_size(X.dims))), {}, {}};
  for (Position p = 0; p < X.nnz(); ++p) {
    std::size_t entry = 0;
    for (int n = 0; n < X.order(); ++n) entry = entry * X.dims[n] + i(n, p);
    dense.values[entry] += static_cast<double>(x(p));
  }
  return dense;
}

template <class Scalar, class Memory>
void set_model(Dense& dense, std::vector<double> const& weights,
               sporades::Factors<Scalar, Memory> const& factors) {
  dense.weights = weights;
  dense.factors.clear();
  for (auto const& A : factors) {
    auto const host = matrix_on_host(A);
    dense.factors.emplace_back();
    for (std::size_t i = 0; i < host.extent(0); ++i)
      for (std::size_t r = 0; r < host.extent(1); ++r)
        dense.factors.back().push_back(static_cast<double>(host(i, r)));
  }
}

template <class Scalar, class Memory>
void set_model(Dense& dense, sporades::Ktensor<Scalar, Memory> const& model) {
  auto const w = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, model.weights);
  set_model(dense, std::vector<double>(w.data(), w.data() + w.extent(0)), model.factors);
}

/// All entries of a dense tensor, given by a function of the coordinates, as nonzeros.
template <class Scalar, class ExecutionSpace, class Function>
auto full_tensor(ExecutionSpace const& exec, Dims const& dims, Function const& value) {
  Kokkos::DefaultHostExecutionSpace const host{};
  Dense const index{dims, {}, {}, {}};
  auto const size = static_cast<std::size_t>(sporades::dense_size(dims));
  auto const X = sporades::allocate_coo<Scalar, std::uint32_t>(host, dims, size);
  host.fence();
  for (std::size_t e = 0; e < size; ++e) {
    auto const i = index.coordinates(e);
    for (std::size_t n = 0; n < dims.size(); ++n)
      X.coordinates(n, e) = static_cast<std::uint32_t>(i[n]);
    X.values(e) = static_cast<Scalar>(value(i));
  }
  return sporades::copy_to(exec, X);
}

/// The sum of R rank-one tensors of random factors, some entries made negative if is_signed.
template <class Scalar, class ExecutionSpace>
auto planted(ExecutionSpace const& exec, Dims const& dims, std::size_t R, bool is_signed = true) {
  return full_tensor<Scalar>(exec, dims, [&](auto const& i) {
    double sum = 0;
    for (std::size_t r = 0; r < R; ++r) {
      double product = 1;
      for (std::size_t n = 0; n < dims.size(); ++n)
        product *= sporades::random_entry<double>(77, n, i[n], r) - (is_signed ? 0.5 : 0);
      sum += product;
    }
    return sum;
  });
}

template <class Scalar>
sporades::Ktensor<Scalar> host_ktensor(std::vector<Scalar> const& weights,
                                       std::vector<std::vector<std::vector<Scalar>>> const& rows) {
  sporades::Ktensor<Scalar> M;
  M.weights =
      sporades::Vector<Scalar, Kokkos::HostSpace>("sporades::test::weights", weights.size());
  std::copy(weights.begin(), weights.end(), M.weights.data());
  for (auto const& factor : rows) {
    sporades::Matrix<Scalar, Kokkos::HostSpace> const A("sporades::test::factor", factor.size(),
                                                        weights.size());
    for (std::size_t i = 0; i < factor.size(); ++i)
      std::copy(factor[i].begin(), factor[i].end(), &A(i, 0));
    M.factors.push_back(A);
  }
  return M;
}

/// The peers' file, or an empty path (the test says that it was left out).
std::string shared(std::string const& name) {
  std::string const path = std::string(SPORADES_SHARED_DATA) + "/" + name;
  if (std::filesystem::exists(path)) return path;
  WARN("left out: no file " << path);
  return {};
}

template <class Scalar, class ExecutionSpace>
auto read(ExecutionSpace const& exec, std::string const& path) {
  auto const tensor = sporades::read_tensor<Scalar>(path).tensor;
  return sporades::copy_to(exec, std::get<sporades::CooTensor<Scalar, std::uint32_t>>(tensor));
}

std::vector<Dims> const small_dims{{7},          {5, 6},          {4, 1, 5},         {6, 5, 4},
                                   {3, 4, 2, 5}, {3, 2, 3, 2, 4}, {2, 3, 2, 3, 2, 3}};

TEMPLATE_LIST_TEST_CASE("iterations equal their definition", "[algorithms][cp_als]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = GENERATE(from_range(small_dims));
  auto const rank = GENERATE(1, 3, 5);
  auto const ridge = GENERATE(0.0, 0.3);
  auto const X = sporades::test::random_coo<Scalar, std::uint32_t>(exec, dims, 60);
  auto options = options_of(rank, 2);
  options.regularization = ridge;
  auto dense = to_dense(X);
  auto const start = cp_als_start(exec, X, options);
  set_model(dense, start.weights, start.factors);
  int seen = 0;
  // Rank 5 of few rows is close to singular: the definition in double decides differently there.
  double const tolerance = std::is_same_v<Scalar, float> ? 3e-3 : 1e-7;
  auto const result = cp_als(exec, X, options, [&](auto const& state) {
    dense.iterate(ridge);
    CHECK(state.iteration() == ++seen);
    CHECK(std::abs(state.fits.back() - dense.fit()) < tolerance);
    return true;
  });
  CHECK(seen == 2);
  CHECK_FALSE(result.converged);
  CHECK(result.stop == CpAlsStop::iterations);
  REQUIRE(result.fits.size() == 2);
  // The model that comes back has that fit, too, however it was arranged.
  set_model(dense, result.model);
  CHECK(std::abs(result.fit() - dense.fit()) < tolerance);
}

TEMPLATE_LIST_TEST_CASE("a planted model is recovered", "[algorithms][cp_als]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  constexpr bool is_float = std::is_same_v<Scalar, float>;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const strategy = GENERATE(sporades::MttkrpStrategy::atomic, sporades::MttkrpStrategy::sorted,
                                 sporades::MttkrpStrategy::csf);
  auto const X = planted<Scalar>(exec, {9, 8, 7, 6}, 3);
  auto options = options_of(3, 500, is_float ? 1e-7 : 1e-12);
  options.strategy = strategy;
  auto const result = cp_als(exec, X, options);
  CHECK(result.fit() > (is_float ? 0.999 : 1 - 1e-6));
  auto const weights =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, result.model.weights);
  for (int r = 1; r < 3; ++r) CHECK(weights(r - 1) >= weights(r));
  // Each planted column is one of the model's, up to its sign.
  for (int n = 0; n < 4; ++n) {
    auto const A = matrix_on_host(result.model.factors[n]);
    for (int planted_column = 0; planted_column < 3; ++planted_column) {
      double best = 0;
      for (int r = 0; r < 3; ++r) {
        double dot = 0, length = 0;
        for (std::size_t i = 0; i < A.extent(0); ++i) {
          double const entry = sporades::random_entry<double>(77, n, i, planted_column) - 0.5;
          dot += entry * static_cast<double>(A(i, r));
          length += entry * entry;
        }
        best = std::max(best, std::abs(dot) / std::sqrt(length));
      }
      CHECK(best > (is_float ? 0.999 : 1 - 1e-6));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("GenTen's small problem from its start", "[algorithms][cp_als]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const path = shared("cp_als/test_sptensor.txt");
  if (path.empty()) return;
  auto const X = read<Scalar>(exec, path);
  auto const start = host_ktensor<Scalar>(
      {2, 1}, {{{Scalar(.8), Scalar(.5)}, {Scalar(.2), Scalar(.5)}},
               {{Scalar(.5), Scalar(.5)}, {Scalar(.1), Scalar(.5)}, {Scalar(.5), Scalar(.1)}},
               {{Scalar(.7), Scalar(.7)},
                {Scalar(.7), Scalar(.1)},
                {Scalar(.1), Scalar(.1)},
                {Scalar(.1), Scalar(.7)}}});
  auto const options = options_of(2, 100, 1e-6);
  auto problem = make_cp_als_problem(exec, X, options);
  auto state = cp_als_start(exec, X.dims, options, start);
  auto const result = cp_als(exec, problem, options, state);
  double const exact = std::is_same_v<Scalar, float> ? 1e-4 : 1e-9;
  CHECK(std::abs(result.fits[0] - .932788857) < exact);
  CHECK(std::abs(result.fits[1] - .984366844) < exact);
  CHECK(std::abs(result.fits[2] - .992954863) < exact);
  CHECK(result.fit() > 0.99);
  if (std::is_same_v<Scalar, double>) {
    CHECK(result.fits.size() == 30);
    CHECK(result.converged);
    CHECK(std::abs(result.fit() - .999997335) < 1e-9);
  }
  auto const weights =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, result.model.weights);
  CHECK(std::abs(double(weights(0)) - 2.828427) < 2.5e-3);  // ours are in descending order
  CHECK(std::abs(double(weights(1)) - 2.0) < 2.5e-3);
  double const h = std::sqrt(0.5);
  std::vector<std::vector<std::array<double, 2>>> const answer{
      {{h, 1}, {h, 0}}, {{h, h}, {h, 0}, {0, h}}, {{h, h}, {0, h}, {0, 0}, {h, 0}}};
  for (int n = 0; n < 3; ++n) {
    auto const A = matrix_on_host(result.model.factors[n]);
    for (std::size_t i = 0; i < A.extent(0); ++i)
      for (int r = 0; r < 2; ++r) CHECK(std::abs(double(A(i, r)) - answer[n][i][r]) < 2.5e-3);
  }
}

TEMPLATE_LIST_TEST_CASE("weights are sorted and signs fixed in pairs", "[algorithms][cp_als]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  // Tensor Toolbox: X = ktensor([1; 1], {[1 1; 1 -10], [1 1; 1 -10]}) has weights 101 and 2.
  auto const X = full_tensor<Scalar>(exec, {2, 2}, [](auto const& i) {
    return 1.0 + (i[0] ? -10.0 : 1.0) * (i[1] ? -10.0 : 1.0);
  });
  auto const start = host_ktensor<Scalar>({1, 1}, {{{1, 1}, {1, -10}}, {{1, 1}, {1, -10}}});
  auto const options = options_of(2, 50, 1e-9);
  auto problem = make_cp_als_problem(exec, X, options);
  auto state = cp_als_start(exec, X.dims, options, start);
  auto const result = cp_als(exec, problem, options, state);
  auto const weights =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, result.model.weights);
  CHECK(double(weights(0)) == Approx(101).epsilon(1e-4));
  CHECK(double(weights(1)) == Approx(2).epsilon(1e-3));
  for (int n = 0; n < 2; ++n) {
    auto const A = matrix_on_host(result.model.factors[n]);
    CHECK(double(A(0, 0)) == Approx(-0.0995).epsilon(1e-3));
    CHECK(double(A(1, 0)) == Approx(0.9950).epsilon(1e-3));
    CHECK(double(A(0, 1)) == Approx(0.7071).epsilon(1e-3));
    CHECK(double(A(1, 1)) == Approx(0.7071).epsilon(1e-3));
  }

  // Signs of three modes: pairs flip, an odd one stays in the last mode that had it.
  using State = sporades::CpAlsState<Scalar, typename TestType::MemorySpace>;
  State arranged;
  for (auto const& rows : {std::vector<Scalar>{-1, -1, 1}, {-1, 1, 1}, {-1, -1, -1}}) {
    auto const one = host_ktensor<Scalar>({1, 1, 1}, {{rows}});
    arranged.factors.push_back(sporades::copy_matrix(exec, one.factors[0]));
  }
  arranged.weights = {1, 2, 3};
  auto const model = sporades::arranged_model(exec, arranged);
  std::vector<std::array<int, 3>> const signs{{1, 1, 1}, {1, 1, 1}, {-1, 1, -1}};
  for (int n = 0; n < 3; ++n) {
    auto const A = matrix_on_host(model.factors[n]);
    for (int r = 0; r < 3; ++r) CHECK(double(A(0, r)) == signs[n][r]);
  }
}

TEMPLATE_LIST_TEST_CASE("singular systems take the pseudo-inverse", "[algorithms][cp_als]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = planted<Scalar>(exec, {5, 4, 3}, 1);
  auto const options = options_of(2, 5);
  // The start's columns are the same twice, so that every system is all one number.
  auto const start = host_ktensor<Scalar>({1, 1}, {{{1, 1}, {1, 1}, {2, 2}, {1, 1}, {1, 1}},
                                                   {{1, 1}, {-1, -1}, {1, 1}, {1, 1}},
                                                   {{1, 1}, {1, 1}, {3, 3}}});
  auto problem = make_cp_als_problem(exec, X, options);
  auto state = cp_als_start(exec, X.dims, options, start);
  auto const result = cp_als(exec, problem, options, state);
  CHECK(result.singular_systems == 15);
  CHECK(result.fit() > 0.998);

  auto const more = cp_als(exec, X, options_of(9, 20));  // more columns than 3 x 4 rows allow
  CHECK(more.fit() > 0.998);
}

TEMPLATE_LIST_TEST_CASE("non-negative models are so, and their fit never falls",
                        "[algorithms][cp_als]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  constexpr bool is_float = std::is_same_v<Scalar, float>;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const is_signed = GENERATE(false, true);
  auto const init = GENERATE(CpAlsInit::random, CpAlsInit::hosvd);
  auto const X = planted<Scalar>(exec, {8, 7, 6}, 3, is_signed);
  auto options = options_of(4, 60);
  options.non_negative = true;
  options.init = init;
  double before = -1e30;
  auto const result = cp_als(exec, X, options, [&](auto const& state) {
    CHECK(state.fits.back() > before - (is_float ? 2e-4 : 1e-12));
    before = state.fits.back();
    return true;
  });
  if (!is_signed) CHECK(result.fit() > 0.98);
  auto const weights =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, result.model.weights);
  for (int r = 0; r < 4; ++r) CHECK(weights(r) >= 0);
  for (auto const& factor : result.model.factors) {
    auto const A = matrix_on_host(factor);
    Scalar least = 0;
    for (std::size_t i = 0; i < A.extent(0); ++i)
      for (int r = 0; r < 4; ++r) least = std::min(least, A(i, r));
    CHECK(least == 0);
  }
  auto dense = to_dense(X);
  set_model(dense, result.model);
  CHECK(std::abs(dense.fit() - result.fit()) < (is_float ? 1e-3 : 1e-9));
  if (is_signed) {  // free signs fit better
    options.non_negative = false;
    CHECK(cp_als(exec, X, options).fit() > result.fit() + 0.01);
  }
}

TEMPLATE_LIST_TEST_CASE("the non-negative solver ends at the optimum of each row",
                        "[algorithms][cp_als]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const R = GENERATE(1, 3, 16, 17);
  std::size_t const rows = 50;
  auto const K = sporades::test::random_matrix<Scalar>(exec, 200, R, 5);
  auto const V = sporades::test::random_matrix<Scalar>(exec, rows, R, 6);
  auto const A = sporades::random_factor<Scalar>(exec, "sporades::test::a", rows, R, 1, 0);
  auto const H = sporades::make_matrix<Scalar>(exec, "sporades::test::h", R, R);
  auto const gradient = sporades::make_matrix<Scalar>(exec, "sporades::test::g", rows, R);
  sporades::Vector<Scalar, Memory> const weights("sporades::test::weights", R);
  Kokkos::deep_copy(weights, Scalar(2));
  sporades::Workspace<Memory> workspace;
  sporades::transposed_product(exec, K, K, H, workspace);
  for (int repeat = 0; repeat < 20; ++repeat) {
    sporades::solve_non_negative(exec, V, H, weights, A, gradient);
    Kokkos::deep_copy(exec, weights, Scalar(1));
  }
  exec.fence();
  auto const a = matrix_on_host(A), h = matrix_on_host(H), v = matrix_on_host(V);
  double worst = 0;  // of the Karush-Kuhn-Tucker conditions
  for (std::size_t i = 0; i < rows; ++i)
    for (int r = 0; r < R; ++r) {
      double slope = -double(v(i, r));
      for (int k = 0; k < R; ++k) slope += double(a(i, k)) * double(h(k, r));
      worst = std::max({worst, -double(a(i, r)), a(i, r) > 0 ? std::abs(slope) : -slope});
    }
  CHECK(worst < (std::is_same_v<Scalar, float> ? 1e-5 : 1e-9));
}

TEMPLATE_LIST_TEST_CASE("a snapshot continues bit for bit", "[algorithms][cp_als]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = sporades::test::random_coo<Scalar, std::uint32_t>(exec, {40, 30, 20}, 2000);
  auto options = options_of(5, 8);
  options.non_negative = GENERATE(false, true);
  options.strategy = sporades::MttkrpStrategy::sorted;
  std::vector<sporades::CpAlsSnapshot<Scalar>> saved;
  auto state = cp_als_start(exec, X, options);
  saved.push_back(snapshot(exec, state));
  auto problem = make_cp_als_problem(exec, X, options);
  auto const whole = cp_als(exec, problem, options, state, [&](auto const& now) {
    saved.push_back(snapshot(exec, now));
    return true;
  });
  REQUIRE(saved.size() == 9);
  for (auto const& from : saved) {
    auto again = restore(exec, from);
    CHECK(again.iteration() == static_cast<int>(from.fits.size()));
    auto const part = cp_als(exec, problem, options, again);
    CHECK(part.fits == whole.fits);
    CHECK(sporades::test::hash_bits(part.model.weights) ==
          sporades::test::hash_bits(whole.model.weights));
    for (int n = 0; n < 3; ++n)
      CHECK(sporades::test::hash_bits(sporades::with_padding(part.model.factors[n])) ==
            sporades::test::hash_bits(sporades::with_padding(whole.model.factors[n])));
  }
  auto broken = saved[3];
  broken.factors[1].pop_back();
  CHECK_THROWS_AS(restore(exec, broken), Error);
  broken = saved[3];
  broken.weights.pop_back();
  CHECK_THROWS_AS(restore(exec, broken), Error);
}

TEMPLATE_LIST_TEST_CASE("a run stops where it should", "[algorithms][cp_als]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = sporades::test::random_coo<Scalar, std::uint32_t>(exec, {20, 15, 10}, 600);
  auto options = options_of(2, 1000, 1e-4);
  auto const converged = cp_als(exec, X, options);
  CHECK(converged.converged);
  CHECK(converged.stop == CpAlsStop::converged);
  auto const count = converged.fits.size();
  REQUIRE(count > 3);
  CHECK(count < 1000);
  for (std::size_t k = 1; k < count; ++k)
    CHECK((std::abs(converged.fits[k] - converged.fits[k - 1]) < 1e-4) == (k + 1 == count));
  auto const stopped =
      cp_als(exec, X, options, [](auto const& state) { return state.iteration() < 3; });
  CHECK(stopped.stop == CpAlsStop::observer);
  CHECK(stopped.fits.size() == 3);
  CHECK(stopped.seconds.size() == 3);
  // Any change of the fit is below 1; the first fit is compared with nothing.
  CHECK(cp_als(exec, X, options_of(2, 1000, 1.0)).fits.size() == 2);
  // A state that has converged stays as it is.
  auto problem = make_cp_als_problem(exec, X, options);
  auto state = cp_als_start(exec, X, options);
  cp_als(exec, problem, options, state);
  CHECK(cp_als(exec, problem, options, state).fits.size() == count);
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

TEST_CASE("an iteration allocates nothing", "[algorithms][cp_als]") {
  Kokkos::DefaultExecutionSpace const exec{};
  auto const X = sporades::test::random_coo<double, std::uint32_t>(exec, {200, 150, 100}, 6000);
  auto options = options_of(6, 10);
  options.non_negative = GENERATE(false, true);
  auto problem = make_cp_als_problem(exec, X, options);
  auto state = cp_als_start(exec, X, options);
  std::vector<std::size_t> allocations;
  sporades::test::Recording* recording = nullptr;
  auto const all = sporades::test::record([&] {
    recording = sporades::test::detail::current_recording;
    cp_als(exec, problem, options, state, [&](auto const&) {
      allocations.push_back(recording->allocations.size());
      return true;
    });
  });
  REQUIRE(allocations.size() == 10);
  CHECK(allocations[0] > 0);
  CHECK(allocations[9] == allocations[0]);
}

TEMPLATE_LIST_TEST_CASE("bad arguments are refused", "[algorithms][cp_als]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Limits = std::numeric_limits<Scalar>;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  Dims const dims{4, 3, 2};
  auto const X = planted<Scalar>(exec, dims, 2);
  auto const refuses = [&](auto const& change, std::string const& text) {
    auto options = options_of(2, 3);
    change(options);
    CHECK_THROWS_WITH(cp_als(exec, X, options), ContainsSubstring(text));
  };
  refuses([](auto& o) { o.rank = 0; }, "rank 0");
  refuses([](auto& o) { o.rank = -3; }, "rank -3");
  refuses([](auto& o) { o.rank = 65536; }, "rank 65536");
  refuses([](auto& o) { o.iterations = 0; }, "0 iterations");
  refuses([](auto& o) { o.tolerance = -1; }, "tolerance -1");
  refuses([](auto& o) { o.tolerance = std::nan(""); }, "tolerance");
  refuses([](auto& o) { o.regularization = -1; }, "regularization -1");
  refuses([](auto& o) { o.init = CpAlsInit::given; }, "no start was given");

  auto const options = options_of(2, 3);
  auto const refuses_value = [&](Scalar value, std::string const& text) {
    auto const Y = full_tensor<Scalar>(
        exec, dims, [&](auto const& i) { return i[0] == 1 && i[1] == 2 ? value : Scalar(1); });
    CHECK_THROWS_WITH(cp_als(exec, Y, options), ContainsSubstring(text));
  };
  refuses_value(Limits::quiet_NaN(), "value 10 of X");
  refuses_value(Limits::infinity(), "value 10 of X");
  auto const zero = full_tensor<Scalar>(exec, dims, [](auto const&) { return 0.0; });
  CHECK_THROWS_WITH(cp_als(exec, zero, options), ContainsSubstring("norm of X is 0"));
  auto const none = sporades::allocate_coo<Scalar, std::uint32_t>(exec, dims, 0);
  CHECK_THROWS_WITH(cp_als(exec, none, options), ContainsSubstring("no nonzeros"));

  using Rows = std::vector<std::vector<std::vector<Scalar>>>;
  Rows const good{{{1, 2}, {3, 4}, {5, 6}, {7, 8}}, {{1, 0}, {0, 1}, {1, 1}}, {{1, 2}, {2, 1}}};
  auto const refuses_start = [&](auto const& change, std::string const& text,
                                 bool non_negative = false) {
    auto rows = good;
    std::vector<Scalar> weights{1, 1};
    change(rows, weights);
    auto with = options;
    with.non_negative = non_negative;
    CHECK_THROWS_WITH(cp_als_start(exec, dims, with, host_ktensor(weights, rows)),
                      ContainsSubstring(text));
  };
  CHECK_NOTHROW(cp_als_start(exec, dims, options, host_ktensor<Scalar>({1, 1}, good)));
  refuses_start([](auto& A, auto&) { A[1] = {{0, 0}, {0, 0}, {0, 0}}; }, "mode 1 is all zero");
  refuses_start([](auto& A, auto&) { A.pop_back(); }, "order 2");
  refuses_start([](auto& A, auto&) { A[2].push_back({1, 1}); }, "3 rows");
  refuses_start([](auto& A, auto&) { A[2][1][0] = Limits::quiet_NaN(); }, "mode 2 holds NaN");
  refuses_start(
      [](auto& A, auto& w) {
        w = {1};
        for (auto& F : A)
          for (auto& r : F) r = {1};
      },
      "rank 1");
  refuses_start([](auto&, auto& w) { w[1] = Limits::infinity(); }, "weight 1");
  refuses_start([](auto& A, auto&) { A[0][2][1] = -1; }, "mode 0 has negative", true);
  refuses_start([](auto&, auto& w) { w[0] = -1; }, "weight 0 is -1", true);
}

TEMPLATE_LIST_TEST_CASE("singular vectors of an unfolding", "[algorithms][hosvd]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  constexpr bool is_float = std::is_same_v<Scalar, float>;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = GENERATE(Dims{60, 9, 8}, Dims{5, 50}, Dims{7, 6, 5, 4}, Dims{12});
  auto const X = sporades::test::random_coo<Scalar, std::uint32_t>(exec, dims, 400, 3, 1.5);
  auto const dense = to_dense(X);
  for (int n = 0; n < X.order(); ++n) {
    auto const I = static_cast<int>(dims[n]);
    int const R = std::min(4, I);
    // X_(n) X_(n)^T by its definition.
    std::vector<double> M(static_cast<std::size_t>(I) * I);
    std::size_t stride = 1;
    for (int m = n + 1; m < X.order(); ++m) stride *= dims[m];
    for (std::size_t e = 0; e < dense.values.size(); ++e) {
      auto const i = dense.coordinates(e)[n];
      for (int k = 0; k < I; ++k)
        M[i * I + k] += dense.values[e] * dense.values[e + k * stride - i * stride];
    }
    auto const eigen = sporades::symmetric_eigen(M, I);
    auto const U = matrix_on_host(sporades::leading_singular_vectors(exec, X, n, R));
    int const rank = X.order() == 1 ? 1 : R;
    for (int r = 0; r < rank; ++r) {
      double dot = 0;
      for (int i = 0; i < I; ++i)
        dot += double(U(i, r)) * eigen.vectors[static_cast<std::size_t>(I - 1 - r) * I + i];
      CHECK(std::abs(dot) == Approx(1).epsilon(is_float ? 1e-2 : 1e-6));
    }
    // Past the rank come the random start's columns.
    for (int r = rank; r < R; ++r) CHECK(U(1, r) == sporades::random_entry<Scalar>(1, n, 1, r));
  }
  auto const wide = matrix_on_host(sporades::leading_singular_vectors(exec, X, 0, 70));
  CHECK(wide(3, 69) == sporades::random_entry<Scalar>(1, 0, 3, 69));
}

TEMPLATE_LIST_TEST_CASE("published fits of the amino acids data", "[algorithms][cp_als][hosvd]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const path = shared("cp_als/aminoacid_data.txt.gz");
  if (path.empty() || std::is_same_v<Scalar, float>) return;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = read<Scalar>(exec, path);
  CHECK(std::sqrt(sporades::norm_squared(exec, X.values)) ==
        Approx(47991.9501320893).epsilon(1e-12));

  // Tensor Toolbox's printed run from singular vectors: 7 digits.
  auto options = options_of(3, 100, 1e-6);
  options.init = CpAlsInit::hosvd;
  auto const hosvd = cp_als(exec, X, options);
  REQUIRE(hosvd.fits.size() == 73);
  CHECK(hosvd.converged);
  std::vector<std::pair<int, double>> const published{
      {10, .9334888}, {20, .9604549}, {30, .9712518}, {40, .9741285}, {43, .9744312},
      {50, .9747733}, {60, .9749128}, {70, .9749430}, {73, .9749461}};
  for (auto const& [iteration, fit] : published) {
    INFO("iteration " << iteration);
    CHECK(std::abs(hosvd.fits[iteration - 1] - fit) < 6e-8);
  }
  options.tolerance = 1e-4;
  CHECK(cp_als(exec, X, options).fits.size() == 43);

  auto const random = cp_als(exec, X, options_of(3, 1000, 1e-10));
  std::vector<std::pair<int, double>> const computed{
      {1, .528154253519},  {2, .806967750140},  {3, .860735875457},  {5, .935598725011},
      {10, .954508868616}, {20, .968213928070}, {100, .974951433871}};
  for (auto const& [iteration, fit] : computed) {
    INFO("iteration " << iteration);
    CHECK(std::abs(random.fits[iteration - 1] - fit) < 1e-11);
  }
  CHECK(std::abs(random.fit() - 0.97495148220) < 1e-9);
  auto const weights =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, random.model.weights);
  CHECK(std::abs(weights(0) - 33487.44) < 0.01);
  CHECK(std::abs(weights(1) - 23483.42) < 0.02);
  CHECK(std::abs(weights(2) - 21192.12) < 0.01);

  auto const more = cp_als(exec, X, options_of(16, 20, 1e-4));  // GenTen, another start: 0.98832
  CHECK(more.fit() > 0.985);
  CHECK(more.fit() < 0.9925);
}

TEMPLATE_LIST_TEST_CASE("fits of real tensors", "[algorithms][cp_als]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  struct Run {
    std::string file;
    int rank;
    double first, fifth, twentieth;
  };
  auto const run = GENERATE(values<Run>(
      {{"real/police-deaths-3d.tns.gz", 6, 0.352003279316, 0.410675953546, 0.455292265598},
       {"real/marvel-characters-7d.tns.gz", 6, 0.209402296640, 0.307661910175, 0.321844227330},
       {"splatt/med.tns.gz", 10, 0.000009108238, 0.000688857922, 0.000804685862},
       {"real/shakespeare-trigram-3d.tns.gz", 8, 0.013349567063, 0.047398699162, 0.052127574888},
       {"real/nyc-fhv-2015-3d.tns.gz", 5, 0.487982235278, 0.660484388843, 0.666158465117}}));
  auto const path = shared(run.file);
  if (path.empty()) return;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const fits = cp_als(exec, read<Scalar>(exec, path), options_of(run.rank, 20)).fits;
  INFO(run.file);
  bool const is_float = std::is_same_v<Scalar, float>;
  CHECK(std::abs(fits[0] - run.first) < (is_float ? 1e-5 : 1e-9));
  CHECK(std::abs(fits[4] - run.fifth) < (is_float ? 1e-3 : 1e-6));
  CHECK(std::abs(fits[19] - run.twentieth) < (is_float ? 1e-3 : 1e-6));
}

TEMPLATE_LIST_TEST_CASE("matrix multiplication has rank 7, not 6", "[algorithms][cp_als]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const path = shared("matmul/matmul_2-2-2.tns");
  auto const strassen = shared("matmul/strassen_rank7.ktns");
  if (path.empty() || strassen.empty()) return;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = read<Scalar>(exec, path);
  double const exact = std::is_same_v<Scalar, float> ? 1e-3 : 1e-7;
  auto options = options_of(7, 5);
  auto problem = make_cp_als_problem(exec, X, options);
  auto state = cp_als_start(exec, X.dims, options, sporades::read_ktensor<Scalar>(strassen));
  CHECK(cp_als(exec, problem, options, state).fit() > 1 - exact);

  if (std::is_same_v<Scalar, float>) return;
  // Plain iterations from most random starts creep along degenerate models; a ridge keeps clear of
  // them, and without it the rest of the way is short.
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    auto from = options_of(7, 1500, 1e-12);
    from.seed = seed;
    from.regularization = 0.01;
    auto random = cp_als_start(exec, X, from);
    auto const near = cp_als(exec, problem, from, random);
    CHECK(near.fit() < 0.96);
    auto to = options_of(7, random.iteration() + 300);
    CHECK(cp_als(exec, problem, to, random).fit() > 1 - 1e-6);

    from.rank = to.rank = 6;
    auto fewer = cp_als_start(exec, X, from);
    cp_als(exec, problem, from, fewer);
    to.iterations = fewer.iteration() + 300;
    CHECK(cp_als(exec, problem, to, fewer).fit() < 0.9);
  }
}

TEMPLATE_LIST_TEST_CASE("one seed gives one model on any number of threads",
                        "[algorithms][cp_als][threads]", sporades::test::Cases) {
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
      sporades::test::hash_bytes(result.fits.data(), result.fits.size() * sizeof(double)));
  sporades::test::check_same_bits(name + " weights",
                                  sporades::test::hash_bits(result.model.weights));
  for (int n = 0; n < 3; ++n)
    sporades::test::check_same_bits(
        name + " factor " + std::to_string(n),
        sporades::test::hash_bits(sporades::with_padding(result.model.factors[n])));
}

}  // namespace
