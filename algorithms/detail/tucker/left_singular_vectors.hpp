// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/tucker/block_krylov.hpp>
#include <sporades/algorithms/detail/tucker/direct_svd.hpp>
#include <sporades/algorithms/detail/tucker/gpu_unfolding.hpp>
#include <sporades/algorithms/detail/tucker/host_unfolding.hpp>
#include <sporades/algorithms/detail/tucker/orthonormal.hpp>
#include <sporades/algorithms/tucker.hpp>
#include <sporades/core/detail/launch.hpp>
#include <sporades/kernels/detail/processes/ghost_rows.hpp>
#include <sporades/kernels/ttm_chain.hpp>
#include <type_traits>

namespace sporades::detail {

/// Products with an unfolding, where it is.
template <class ExecutionSpace, class Scalar>
using Unfolding = std::conditional_t<is_gpu<ExecutionSpace>, GpuUnfolding<ExecutionSpace, Scalar>,
                                     HostUnfolding<ExecutionSpace, Scalar>>;

/// Whether that many vectors of a rows x columns unfolding are found by Lanczos.
inline bool prefers_lanczos(SingularVectorMethod method, std::size_t rows, std::size_t columns,
                            int wanted) {
  if (method != SingularVectorMethod::automatic)
    return method == SingularVectorMethod::lanczos && wanted > 0;
  // A Gram matrix takes one pass of s flops an entry at half the speed, and LAPACK; Lanczos about
  // five passes of 4 R. Lanczos is faster from some 64 on; up to 128 being exact costs little.
  double const s = static_cast<double>(std::min(rows, columns));
  double const entries = static_cast<double>(rows) * static_cast<double>(columns);
  double const gram = 2 * entries * s + 20 * s * s * s;
  double const lanczos = 5 * 4.0 * entries * wanted + 100 * s * wanted * wanted;
  return s > 128 && lanczos < gram;
}

/// The leading left singular vectors of unfoldings, one after another.
template <class ExecutionSpace, class Scalar, class Index>
class LeftSingularVectors {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  using MatrixType = Matrix<Scalar, Memory>;
  using Product = TtmChainProduct<Scalar, Index, Memory>;

  explicit LeftSingularVectors(ExecutionSpace const& exec,
                               SingularVectorMethod method = SingularVectorMethod::automatic,
                               StopCheck stop = {})
      : exec_(exec), method_(method), stop_(std::move(stop)), tall_(exec) {}

  /// A becomes the R leading left singular vectors of the unfolding, best first, orthonormal to
  /// rounding; I_n x R. Those past the unfolding's rank are any that complete them. Lanczos starts
  /// from what A was, which must be orthonormal, and ends where its energy, which is no less than
  /// A's, grows by less than the relative tolerance. core: Y^T A, a column of A after another,
  /// where it is known: it saves a pass over Y. Where processes share the unfolding, A is the rows
  /// that are here, and this is collective. Fences exec.
  void operator()(Product const& product, MatrixType& A, std::uint64_t seed, int mode,
                  double tolerance, BlockKrylov::Block core = {}) {
    auto const& Y = product.Y;
    std::size_t const rows = product.all_rows(), columns = Y.extent(1);
    int const wanted = static_cast<int>(std::min({A.extent(1), rows, columns}));
    MatrixType U;
    if (method_ == SingularVectorMethod::svd)
      U = by_svd(Y, wanted);
    else if (prefers_lanczos(method_, rows, columns, wanted))
      U = by_lanczos(product, A, wanted, tolerance, std::move(core));
    else if (rows <= columns)
      U = by_rows(Y, wanted);
    else
      U = by_columns(product, wanted);
    U = moved(exec_, DistributedMatrix<Scalar, Memory>{U, product.where.product},
              product.where.used);
    auto const R = A.extent(1);
    A = make_matrix<Scalar>(exec_, "sporades::tucker::factor", A.extent(0), R);
    copy_rows<true>(exec_, "sporades::tucker::scatter_factor", U, product.rows, with_padding(A));
    U = {};
    tall_.orthonormalize(A, seed, mode, product.where.factor);
  }

  /// The first k columns of A, in the rows that Y has.
  MatrixType rows_of(Product const& product, MatrixType const& A, std::size_t k) const {
    return moved(
        exec_, DistributedMatrix<Scalar, Memory>{used_rows(product.rows, A, k), product.where.used},
        product.where.product);
  }

  /// The first k columns of A, in these rows alone.
  MatrixType used_rows(Vector<Index, Memory> const& rows, MatrixType const& A,
                       std::size_t k) const {
    auto const U = make_matrix<Scalar>(exec_, "sporades::tucker::left", rows.extent(0), k);
    MatrixType const columns = Kokkos::subview(A, Kokkos::ALL, std::make_pair(std::size_t{0}, k));
    copy_rows<false>(exec_, "sporades::tucker::gather_factor", columns, rows, with_padding(U));
    return U;
  }

  /// Squares of the singular values that belong to the last vectors.
  std::vector<double> const& squares() const { return squares_; }

  TallMatrices<ExecutionSpace, Scalar>& tall() { return tall_; }

 private:
  /// A^T A on the host; before and after it, the run may be stopped.
  std::vector<double> gram_on_host(MatrixType const& A, RowMap const& rows = {}) {
    throw_if_stopped(stop_);
    auto const G = tall_.gram_on_host(A, rows);
    throw_if_stopped(stop_);
    return G;
  }

  /// All rows of Y are here.
  MatrixType by_svd(MatrixType const& Y, int wanted) {
    std::size_t const rows = Y.extent(0), columns = Y.extent(1);
    throw_if_stopped(stop_);
    constexpr auto most = static_cast<std::size_t>(std::numeric_limits<int>::max());
    expects(rows <= most && columns <= most, "tucker: singular vectors of ", rows, " x ", columns,
            " are not found by svd, but by gram and lanczos");
    auto const found = direct_svd(exec_, Y, wanted);
    throw_if_stopped(stop_);
    squares_.clear();
    for (double value : found.values) squares_.push_back(value * value);
    return found.vectors;
  }

  /// From Y Y^T, rows x rows: its eigenvectors are what is wanted. All rows of Y are here.
  MatrixType by_rows(MatrixType const& Y, int wanted) {
    std::size_t const rows = Y.extent(0), columns = Y.extent(1);
    auto const transposed =
        make_matrix<Scalar>(exec_, "sporades::tucker::transposed", columns, rows);
    launch_items(exec_, "sporades::tucker::transpose", rows * columns,
                 TransposeMatrix<MatrixType>{Y, transposed});
    auto const eigen = leading_eigen(gram_on_host(transposed), static_cast<int>(rows), wanted);
    squares_ = eigen.values;
    return to_columns(eigen.vectors, rows, wanted);
  }

  /// From Y^T Y, columns x columns: with its eigenvectors V, Y V has the wanted columns times the
  /// singular values. Values below the rounding of the squares are dropped.
  MatrixType by_columns(Product const& product, int wanted) {
    auto const& Y = product.Y;
    std::size_t const columns = Y.extent(1);
    auto const eigen =
        leading_eigen(gram_on_host(Y, product.where.product), static_cast<int>(columns), wanted);
    squares_ = eigen.values;
    Unfolding<ExecutionSpace, Scalar> const unfolding(exec_, Y, static_cast<std::size_t>(wanted),
                                                      tall_.workspace(), product.where.product);
    return images(unfolding, Y, eigen.vectors);
  }

  MatrixType by_lanczos(Product const& product, MatrixType const& A, int wanted, double tolerance,
                        BlockKrylov::Block core) {
    auto const& Y = product.Y;
    std::size_t const rows = Y.extent(0), columns = Y.extent(1);
    auto const k = static_cast<std::size_t>(wanted);
    Unfolding<ExecutionSpace, Scalar> const unfolding(exec_, Y, k, tall_.workspace(),
                                                      product.where.product);
    BlockKrylov krylov(columns, wanted, stop_);
    if (core.empty()) core = unfolding.transposed(rows_of(product, A, k));  // Y^T A
    core.resize(k * columns);
    // A is orthonormal: the sum of squares of Y^T A is its energy, and what starts from Y^T A has
    // no less.
    double energy = 0;
    for (double g : core) energy += g * g;
    // Y times each block of the basis is kept, so that Y times the result takes no pass over Y.
    std::vector<MatrixType> lefts;
    krylov.solve(std::move(core), energy, tolerance, [&](BlockKrylov::Block const& V, int block) {
      lefts.resize(block);
      lefts.push_back(
          make_matrix<Scalar>(exec_, "sporades::tucker::left", rows, V.size() / columns));
      return unfolding.normal(V, lefts.back());
    });
    squares_ = krylov.values();
    std::size_t const found = found_values(columns);
    auto const images = make_matrix<Scalar>(exec_, "sporades::tucker::left", rows, found);
    std::size_t first = 0;
    for (auto const& left : lefts) {
      std::size_t const count = left.extent(1);
      std::vector<double> C(count * found);
      for (std::size_t q = 0; q < count; ++q)
        for (std::size_t r = 0; r < found; ++r)
          C[q * found + r] = krylov.coefficient(static_cast<int>(r), static_cast<int>(first + q));
      multiply(exec_, left, tall_.on_device(C, count, found), images, first > 0);
      first += count;
    }
    return images;
  }

  /// How many squares are above the rounding of the largest.
  std::size_t found_values(std::size_t columns) const {
    double const negligible =
        static_cast<double>(columns) * double{std::numeric_limits<Scalar>::epsilon()} * squares_[0];
    std::size_t found = 0;
    while (found < squares_.size() && squares_[found] > negligible) ++found;
    return found;
  }

  /// Y V for the vectors that have a singular value, a row each.
  MatrixType images(Unfolding<ExecutionSpace, Scalar> const& unfolding, MatrixType const& Y,
                    std::vector<double> vectors) {
    std::size_t const columns = Y.extent(1), found = found_values(columns);
    vectors.resize(found * columns);
    auto const U = make_matrix<Scalar>(exec_, "sporades::tucker::left", Y.extent(0), found);
    unfolding.images(vectors, U);
    return U;
  }

  /// The first `count` rows of length `rows`, as columns.
  MatrixType to_columns(std::vector<double> const& vectors, std::size_t rows, int count) {
    auto const k = static_cast<std::size_t>(count);
    std::vector<double> entries(rows * k);
    for (std::size_t r = 0; r < k; ++r)
      for (std::size_t i = 0; i < rows; ++i) entries[i * k + r] = vectors[r * rows + i];
    return tall_.on_device(entries, rows, k);
  }

  ExecutionSpace exec_;
  SingularVectorMethod method_;
  StopCheck stop_;
  TallMatrices<ExecutionSpace, Scalar> tall_;
  std::vector<double> squares_;
};

}  // namespace sporades::detail
