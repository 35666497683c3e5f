// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense.hpp>
#include <sporades/kernels/detail/loss/lanes.hpp>

/// The sums over all cells of m, m^2 and m^3 of a Kruskal model. The sum of m^d is, over all tuples
/// e of d components,
///   sum over e of prod_{r in e} weights(r) prod_n M_n(e),   M_n(e) = sum_i prod_{r in e} A_n(i, r)
/// M_n, the moments of degree d of mode n: R column sums, the R x R Gram matrix, R x R x R numbers.

namespace sporades::detail {

/// The highest degree of a closed form, and the highest rank for which that degree is computed.
inline constexpr int most_degree = 3, most_cubic_rank = 128;

/// Where the numbers of a loss are that the host gets: sums of entries, weights, and the moments of
/// the degrees that P has.
class LossNumbers {
 public:
  LossNumbers(std::size_t order, std::size_t rank, LossPolynomial const& c)
      : order_(order), rank_(rank), c_(c) {}

  static constexpr std::size_t weights = LossBlocks::sums;

  bool has(int d) const { return c_[static_cast<std::size_t>(d)] != 0; }
  std::size_t tuples(int d) const {
    std::size_t count = 1;
    for (; d > 0; --d) count *= rank_;
    return count;
  }
  /// Of the moments of degree d of mode n.
  std::size_t place(int d, std::size_t n) const {
    std::size_t begin = moments();
    for (int e = 1; e < d; ++e) begin += has(e) ? order_ * tuples(e) : 0;
    return begin + n * tuples(d);
  }
  std::size_t moments() const { return weights + rank_; }
  std::size_t size() const { return place(most_degree + 1, 0); }

  /// The product, for the e-th tuple of degree d, of its weights and its moments of all modes but
  /// one (or of all).
  double product(double const* numbers, int d, std::size_t e, std::size_t without) const {
    double product = 1;
    std::size_t rest = e;
    for (int k = 0; k < d; ++k, rest /= rank_) product *= numbers[weights + rest % rank_];
    for (std::size_t n = 0; n < order_; ++n)
      if (n != without) product *= numbers[place(d, n) + e];
    return product;
  }

 private:
  std::size_t order_, rank_;
  LossPolynomial c_;
};

/// B(i, r) = A(i, r) A(i, t)
template <class ExecutionSpace, class Scalar>
struct ColumnProducts {
  using Memory = typename ExecutionSpace::memory_space;
  Matrix<Scalar, Memory> A, B;
  std::size_t t;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    for (std::size_t r = 0; r < A.extent(1); ++r) B(i, r) = A(i, r) * A(i, t);
  }
};

/// Calls use(t, B) for each column t of A, with the matrix B of the columns' products with it. rows
/// is where B lives; the work that use enqueues is done before the next B is computed.
template <class ExecutionSpace, class Scalar, class Memory, class Use>
void for_column_products(ExecutionSpace const& exec, Matrix<Scalar, Memory> const& A,
                         Workspace<Memory>& rows, Use const& use) {
  std::size_t const R = A.extent(1), stride = padded_columns(R);
  auto const room = rows.template get<Scalar>(exec, A.extent(0) * stride);
  Matrix<Scalar, Memory> const padded(room.data(), A.extent(0), stride);
  auto const B = Matrix<Scalar, Memory>(
      Kokkos::subview(padded, Kokkos::ALL, std::make_pair(std::size_t{0}, R)));
  for (std::size_t t = 0; t < R; ++t) {
    launch(exec, "sporades::loss::column_products", A.extent(0), R + 1,
           ColumnProducts<ExecutionSpace, Scalar>{A, B, t});
    use(t, B);
  }
}

/// The moments of all modes to their places. group_sums: sums of groups of each factor's rows;
/// empty where there are none. Enqueued on exec, does not fence except where a workspace grows.
template <class ExecutionSpace, class Scalar, class Memory>
void store_moments(ExecutionSpace const& exec, Factors<Scalar, Memory> const& A,
                   std::vector<Matrix<double, Memory>> const& group_sums, LossNumbers const& layout,
                   double* numbers, Workspace<Memory>& workspace, Workspace<Memory>& rows) {
  for (std::size_t n = 0; n < A.size(); ++n) {
    std::size_t const R = A[n].extent(1);
    if (layout.has(1)) {
      Kokkos::View<double*, Memory> const sums(numbers + layout.place(1, n), R);
      if (group_sums.empty())
        column_sums(exec, A[n], sums, workspace);
      else
        column_sums(exec, group_sums[n], sums, workspace);
    }
    if (layout.has(2))
      gram(exec, A[n], Matrix<double, Memory>(numbers + layout.place(2, n), R, R), workspace);
    if (layout.has(3))
      for_column_products(exec, A[n], rows, [&](std::size_t t, auto const& B) {
        Matrix<double, Memory> const moments(numbers + layout.place(3, n) + t * R * R, R, R);
        transposed_product(exec, A[n], B, moments, workspace);
      });
  }
}

}  // namespace sporades::detail
