// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/kernels/mttkrp.hpp>
#include <sporades/kernels/normal_equations.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/models.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using sporades::Dims;
using sporades::make_matrix;
using sporades::MttkrpStrategy;
using sporades::normal_columns;
using sporades::Position;
using sporades::solve_normal_equations;
using sporades::test::hash_bits;
using sporades::test::new_instance;
using sporades::test::random_coo;
using sporades::test::random_kruskal;

/// A row's H and v by their definition, and sums of magnitudes.
struct PlainRow {
  std::vector<double> H, v, H_terms, v_terms;
  double squares = 0;  // of the values
};

template <class Tensor, class Factors>
std::vector<PlainRow> plain_rows(Tensor const& X, Factors const& factors, int n) {
  auto const Y = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  std::vector<decltype(sporades::test::matrix_on_host(factors[0]))> A;
  for (auto const& factor : factors) A.push_back(sporades::test::matrix_on_host(factor));
  std::size_t const R = factors[0].extent(1);
  std::vector<PlainRow> rows(X.dims[n], {std::vector<double>(R * R), std::vector<double>(R),
                                         std::vector<double>(R * R), std::vector<double>(R)});
  for (Position p = 0; p < Y.nnz(); ++p) {
    auto const at = sporades::test::coordinates_at(Y, p);
    std::vector<double> k(R, 1);
    for (int m = 0; m < X.order(); ++m)
      for (std::size_t r = 0; r < R && m != n; ++r) k[r] *= A[m](at[m], r);
    auto& row = rows[at[n]];
    double const x = Y.values(p);
    row.squares += x * x;
    for (std::size_t i = 0; i < R; ++i) {
      for (std::size_t j = 0; j < R; ++j) {
        row.H[i * R + j] += k[i] * k[j];
        row.H_terms[i * R + j] += std::abs(k[i] * k[j]);
      }
      row.v[i] += x * k[i];
      row.v_terms[i] += std::abs(x * k[i]);
    }
  }
  return rows;
}

/// Where S has H(i, j), j <= i.
std::size_t column_of(std::size_t i, std::size_t j) {
  std::size_t const I = i / 4, J = j / 4;
  return 16 * (I * (I + 1) / 2 + J) + 4 * (i % 4) + j % 4;
}

template <class Scalar, class S, class A, class Residue>
void check_rows(std::vector<PlainRow> const& rows, std::size_t R, double mu, S const& sums,
                A const& solved, Residue const& rest) {
  std::size_t const P = (R + 3) / 4 * 4;
  double const rounding = 200 * std::numeric_limits<Scalar>::epsilon();
  Position wrong_sums = 0, wrong_rows = 0, wrong_rest = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto const& row = rows[i];
    double a_norm = 0;
    for (std::size_t r = 0; r < R; ++r) a_norm += std::abs(static_cast<double>(solved(i, r)));
    for (std::size_t r = 0; r < R; ++r) {
      double gradient = mu * solved(i, r) - row.v[r], product = 0;
      double magnitude = row.v_terms[r] + mu * a_norm;
      for (std::size_t c = 0; c < R; ++c) {
        std::size_t const at = r * R + c;
        if (c <= r)
          wrong_sums +=
              !(std::abs(sums(i, column_of(r, c)) - row.H[at]) <= rounding * row.H_terms[at]);
        product += row.H[at] * solved(i, c);
        magnitude += row.H_terms[at] * std::abs(static_cast<double>(solved(i, c)));
      }
      wrong_sums +=
          !(std::abs(sums(i, P * (P + 4) / 2 + r) - row.v[r]) <= rounding * row.v_terms[r]);
      // The gradient is 0, except of coefficients that are 0, which may be hardly determined.
      double bound = 20 * rounding * magnitude;
      if (solved(i, r) == 0)
        bound += 2 * std::sqrt(32 * R * std::numeric_limits<Scalar>::epsilon() * row.H[r * R + r] *
                               row.squares);
      wrong_rows += !(std::abs(gradient + product) <= bound);
      wrong_rest += !(std::abs(rest(i, r) - (row.v[r] - product / 2)) <= rounding * magnitude);
    }
  }
  CHECK(wrong_sums == 0);
  CHECK(wrong_rows == 0);
  CHECK(wrong_rest == 0);
}

TEMPLATE_LIST_TEST_CASE("normal equations of rows equal their definition, and are solved",
                        "[kernels][normal_equations]", sporades::test::IndexCases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = GENERATE(Dims{7}, Dims{5, 6}, Dims{30, 20, 10}, Dims{3, 400, 2, 5},
                             Dims{3, 2, 3, 1, 4}, Dims{2, 3, 2, 3, 2, 3});
  int const rank = GENERATE(1, 3, 8, 11, 17, 40);
  int const nnz = GENERATE(1, 5000);
  double const mu = GENERATE(0.0, 0.5);
  auto const strategy = mu == 0 ? MttkrpStrategy::sorted : MttkrpStrategy::fibers;
  auto const X = random_coo<Scalar, typename TestType::Index>(exec, dims, nnz);
  auto const A = random_kruskal<Scalar>(exec, dims, rank, 1, true).factors;
  auto plan = make_mttkrp_plan(exec, X, {strategy, rank});
  for (int n = 0; n < X.order(); ++n) {
    auto const S = make_matrix<Scalar>(exec, "S", dims[n], normal_columns(rank));
    auto const solved = make_matrix<Scalar>(exec, "A", dims[n], rank);
    auto const rest = make_matrix<Scalar>(exec, "rest", dims[n], rank);
    normal_equations(exec, plan, A, n, S);
    solve_normal_equations(exec, S, {mu}, solved, rest);
    check_rows<Scalar>(plain_rows(X, A, n), rank, mu, sporades::test::on_host(S),
                       sporades::test::matrix_on_host(solved),
                       sporades::test::matrix_on_host(rest));
  }
}

TEMPLATE_LIST_TEST_CASE("normal equations of a row that all nonzeros share",
                        "[kernels][normal_equations][threads]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = GENERATE(Dims{1, 300, 200}, Dims{1, 70000, 60000, 50000, 40000});
  auto const X = random_coo<Scalar, std::uint32_t>(exec, dims, 30000);
  auto const A = random_kruskal<Scalar>(exec, dims, 5, 1, true).factors;
  auto plan = make_mttkrp_plan(exec, X, {MttkrpStrategy::sorted, 5});
  auto const S = make_matrix<Scalar>(exec, "S", 1, normal_columns(5));
  auto const solved = make_matrix<Scalar>(exec, "A", 1, 5),
             rest = make_matrix<Scalar>(exec, "r", 1, 5);
  normal_equations(exec, plan, A, 0, S);
  solve_normal_equations(exec, S, {}, solved, rest);
  check_rows<Scalar>(plain_rows(X, A, 0), 5, 0, sporades::test::on_host(S),
                     sporades::test::matrix_on_host(solved), sporades::test::matrix_on_host(rest));
}

TEMPLATE_LIST_TEST_CASE("normal equations of more columns than a team's memory has room for",
                        "[kernels][normal_equations]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  Dims const dims{12, 20, 10};
  auto const X = random_coo<Scalar, std::uint32_t>(exec, dims, 2000);
  auto const A = random_kruskal<Scalar>(exec, dims, 130, 1, true).factors;
  auto plan = make_mttkrp_plan(exec, X, {MttkrpStrategy::sorted, 130});
  auto const S = make_matrix<Scalar>(exec, "S", 12, normal_columns(130));
  auto const solved = make_matrix<Scalar>(exec, "A", 12, 130);
  auto const rest = make_matrix<Scalar>(exec, "rest", 12, 130);
  normal_equations(exec, plan, A, 0, S);
  solve_normal_equations(exec, S, {0.5}, solved, rest);
  check_rows<Scalar>(plain_rows(X, A, 0), 130, 0.5, sporades::test::on_host(S),
                     sporades::test::matrix_on_host(solved), sporades::test::matrix_on_host(rest));
}

/// The factors with ones in column c of all but one of them.
template <class ExecutionSpace, class Factors>
void set_ones(ExecutionSpace const& exec, Factors& A, std::size_t c, std::size_t but) {
  for (std::size_t m = 0; m < A.size(); ++m) {
    if (m == but) continue;
    auto const host = sporades::test::matrix_on_host(A[m]);
    for (std::size_t i = 0; i < host.extent(0); ++i) host(i, c) = 1;
    A[m] = sporades::copy_matrix(exec, host);
  }
}

TEMPLATE_LIST_TEST_CASE("rows with penalties and given coefficients are solved",
                        "[kernels][normal_equations]", sporades::test::IndexCases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  Dims const dims{31, 20, 10};
  std::size_t const free = GENERATE(1, 5, 12);
  std::size_t const R = free + 3;
  double const smoothness = GENERATE(0.0, 0.7), power = GENERATE(0.0, 0.5);
  int const differences = smoothness > 0 ? GENERATE(1, 2) : 1;
  auto const X = random_coo<Scalar, typename TestType::Index>(exec, dims, GENERATE(25, 3000));
  auto A = random_kruskal<Scalar>(exec, dims, static_cast<int>(R), 1, true).factors;
  for (std::size_t m = 0; m < 3; ++m) set_ones(exec, A, free + m, m);
  auto plan = make_mttkrp_plan(exec, X, {MttkrpStrategy::sorted, static_cast<int>(R)});
  for (int n = 0; n < 3; ++n) {
    auto const S = make_matrix<Scalar>(exec, "S", dims[n], normal_columns(static_cast<int>(R)));
    normal_equations(exec, plan, A, n, S);
    auto const before = sporades::test::matrix_on_host(A[n]);
    std::size_t const offset = free + static_cast<std::size_t>(n);
    sporades::RowPenalty const penalty{
        0.3, static_cast<int>(free), static_cast<int>(offset), 1.1, power, smoothness, differences};
    auto const rest = make_matrix<Scalar>(exec, "rest", dims[n], R);
    solve_normal_equations(exec, S, penalty, A[n], rest);
    auto const after = sporades::test::matrix_on_host(A[n]);
    auto const remains = sporades::test::matrix_on_host(rest);
    auto const rows = plain_rows(X, A, n);
    Position wrong = 0, changed = 0, wrong_rest = 0;
    for (std::size_t i = 0; i < dims[n]; ++i)
      for (std::size_t r = 0; r < R; ++r) {
        double product = 0, magnitude = rows[i].v_terms[r];
        for (std::size_t c = 0; c < R; ++c) {
          product += rows[i].H[r * R + c] * after(i, c);
          magnitude += rows[i].H_terms[r * R + c] * std::abs(static_cast<double>(after(i, c)));
        }
        double const rounding = 4000 * std::numeric_limits<Scalar>::epsilon();
        wrong_rest +=
            !(std::abs(remains(i, r) - (rows[i].v[r] - product / 2)) <= rounding * magnitude);
        if (r >= free && r != offset) {
          changed += before(i, r) != after(i, r);
          continue;
        }
        double const own = after(i, r);
        double gradient = product - rows[i].v[r];
        double const count = rows[i].H[offset * R + offset];
        gradient += (r == offset ? 1.1 : 0.3) * std::pow(count, power) * own;
        std::vector<double> const by =
            differences == 1 ? std::vector<double>{-1, 1} : std::vector<double>{1, -2, 1};
        for (std::size_t first = 0; first + by.size() <= dims[n]; ++first) {
          if (i < first || i >= first + by.size() || r >= free) continue;  // offsets are not smooth
          for (std::size_t k = first; k < first + by.size(); ++k) {
            // Of every second or third row first.
            bool const is_solved = k % by.size() <= i % by.size();
            double const a = is_solved ? after(k, r) : before(k, r);
            gradient += smoothness * by[i - first] * by[k - first] * a;
            magnitude += 4 * std::abs(a);
          }
        }
        wrong += !(std::abs(gradient) <= rounding * (magnitude + std::abs(own) + 1));
      }
    CAPTURE(n, free, smoothness, differences, power, X.nnz());
    CHECK(wrong == 0);
    CHECK(changed == 0);
    CHECK(wrong_rest == 0);
  }
}

TEMPLATE_LIST_TEST_CASE("rows are solved as they are summed, with the same bits",
                        "[kernels][normal_equations]", sporades::test::IndexCases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  // Long rows that chunks share, rows of one nonzero, and rows without.
  auto const dims = GENERATE(Dims{7, 900, 40}, Dims{300, 300}, Dims{9, 1, 8, 7});
  std::size_t const free = dims.size() > 3 ? GENERATE(1, 61) : 10;  // 61: S in two panels
  double const smoothness = GENERATE(0.0, 0.7);
  bool const has_offset = GENERATE(true, false);
  std::size_t const R = free + 3;
  auto const X = random_coo<Scalar, typename TestType::Index>(exec, dims, 1500, 3, 1.5);
  auto A = random_kruskal<Scalar>(exec, dims, static_cast<int>(R), 1, true).factors;
  auto plan = make_mttkrp_plan(exec, X, {MttkrpStrategy::sorted, static_cast<int>(R)});
  sporades::detail::Workspace<typename TestType::ExecutionSpace::memory_space> workspace;
  for (int n = 0; n < X.order(); ++n) {
    sporades::RowPenalty penalty{0.3, static_cast<int>(free)};
    if (has_offset) {
      penalty.offset = static_cast<int>(free) + 1;
      penalty.offset_mu = 1.1;
      penalty.power = 0.5;
      set_ones(exec, A, free + 1, static_cast<std::size_t>(n));
    }
    penalty.smoothness = smoothness;
    auto const make = [&](std::size_t columns) {
      return make_matrix<Scalar>(exec, "M", dims[n], columns);
    };
    auto const S = make(normal_columns(static_cast<int>(R))), T = make(S.extent(1));
    auto const rest = make(R), other_rest = make(R);
    auto at_once = A;
    at_once[n] = sporades::copy_matrix(exec, A[n]);
    normal_equations(exec, plan, A, n, S);
    solve_normal_equations(exec, S, penalty, A[n], rest);
    bool const is_done = sporades::detail::solve_rows_at_once(exec, plan, at_once, n, T, penalty,
                                                              other_rest, workspace);
    bool const on_gpu = sporades::detail::is_gpu<typename TestType::ExecutionSpace>;
    CHECK(is_done == (!on_gpu && smoothness == 0 && free < 61));
    if (!is_done)
      sporades::detail::run_normal_rows(exec, plan, at_once, n, T, penalty, other_rest, workspace);
    exec.fence();
    CAPTURE(sporades::to_string(dims), n, free, smoothness, has_offset);
    CHECK(hash_bits(A[n]) == hash_bits(at_once[n]));
    CHECK(hash_bits(rest) == hash_bits(other_rest));
  }
}

TEST_CASE("normal equations refuse what does not fit", "[kernels][normal_equations]") {
  Kokkos::DefaultExecutionSpace const exec;
  auto const X = random_coo<double, std::uint32_t>(exec, {9, 8, 7}, 100);
  auto A = random_kruskal<double>(exec, X.dims, 4, 1, true).factors;
  auto plan = make_mttkrp_plan(exec, X, {MttkrpStrategy::sorted, 4});
  auto const S = make_matrix<double>(exec, "S", 8, normal_columns(4));
  CHECK_THROWS_WITH(normal_equations(exec, plan, A, 3, S), ContainsSubstring("mode 3"));
  CHECK_THROWS_WITH(normal_equations(exec, plan, A, 0, S), ContainsSubstring("S is 8 x"));
  CHECK_THROWS_WITH(solve_normal_equations(exec, S, {-1}, A[1]), ContainsSubstring("-1 of the"));
  CHECK_THROWS_WITH(solve_normal_equations(exec, S, {}, A[0]), ContainsSubstring("S is 8 x"));
  CHECK_THROWS_WITH(solve_normal_equations(exec, S, {0, 5}, A[1]), ContainsSubstring("5 free"));
  CHECK_THROWS_WITH(solve_normal_equations(exec, S, {0, 2, 1}, A[1]),
                    ContainsSubstring("column 1"));
  CHECK_THROWS_WITH(solve_normal_equations(exec, S, {0, 2, -1, 0, 1}, A[1]),
                    ContainsSubstring("takes counts"));
  auto linear = make_mttkrp_plan(exec, X, {MttkrpStrategy::alto, 4});
  CHECK_THROWS_WITH(normal_equations(exec, linear, A, 1, S), ContainsSubstring("alto"));
  A[2] = make_matrix<double>(exec, "A", 7, 3);
  CHECK_THROWS_WITH(normal_equations(exec, plan, A, 1, S), ContainsSubstring("A[2] is 7 x 3"));
}

}  // namespace
