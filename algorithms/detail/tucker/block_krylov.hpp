// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <sporades/core/detail/lapack.hpp>
#include <sporades/core/random.hpp>
#include <sporades/core/stop.hpp>

namespace sporades::detail {

/// The leading eigenpairs of a symmetric positive semidefinite M of order n, which is known
/// by its products M V for blocks V only: block Lanczos with all vectors kept and orthogonalised
/// against each other, and Rayleigh-Ritz over them (Golub & Van Loan, 4th ed., 10.3.6). On the
/// host, in double and in one order: the same bits wherever M V has the same.
class BlockKrylov {
 public:
  using Block = std::vector<double>;  // n numbers a vector, one vector after another

  /// stop is asked before each vector of the basis, and before each product.
  BlockKrylov(std::size_t n, int wanted, StopCheck stop = {})
      : n_(n), wanted_(wanted), stop_(std::move(stop)) {}

  /// The wanted Ritz vectors over the Krylov space of the start, until the sum of the wanted Ritz
  /// values, which never falls, grows by less than the relative tolerance; multiply(V, b) is M V
  /// for block b of the basis, from 0; a restart counts anew. start: vectors of any length; where
  /// fewer than wanted are independent, random ones join them. before: what the sum is known to be
  /// at least, so that one block can be enough; 0 where nothing is known.
  template <class Multiply>
  void solve(Block start, double before, double tolerance, Multiply const& multiply) {
    constexpr int most_blocks = 24, most_restarts = 20;
    for (int restart = 0; restart < most_restarts; ++restart) {
      basis_.clear();
      images_.clear();
      projected_.clear();
      Block next = orthonormalized(completed(std::move(start)));
      for (int block = 0; block < most_blocks && !next.empty(); ++block) {
        throw_if_stopped(stop_);
        Block const image = multiply(next, block);
        basis_.insert(basis_.end(), next.begin(), next.end());
        images_.insert(images_.end(), image.begin(), image.end());
        project(vectors_in(next));
        double const energy = ritz();
        bool const has_settled = energy - before <= tolerance * energy;
        before = energy;
        if (has_settled) return;
        next = orthonormalized(image);
      }
      if (next.empty()) return;  // the space is invariant: the Ritz vectors are exact
      start = vectors();
    }
  }

  /// Ritz values, descending; as many as were found, the wanted ones at most.
  std::vector<double> const& values() const { return values_; }

  /// The part of basis vector k in Ritz vector r.
  double coefficient(int r, int k) const {
    return coefficients_[static_cast<std::size_t>(r) * vectors_in(basis_) + k];
  }

  /// Ritz vectors, orthonormal.
  Block vectors() const {
    int const found = static_cast<int>(values_.size()), all = vectors_in(basis_);
    Block result(n_ * static_cast<std::size_t>(found));
    for (int r = 0; r < found; ++r)
      for (int k = 0; k < all; ++k) add(&result[r * n_], coefficient(r, k), &basis_[k * n_]);
    return result;
  }

 private:
  int vectors_in(Block const& block) const { return static_cast<int>(block.size() / n_); }

  double dot(double const* x, double const* y) const {
    double sum[8] = {};
    std::size_t i = 0;
    for (; i + 8 <= n_; i += 8)
      for (int l = 0; l < 8; ++l) sum[l] += x[i + l] * y[i + l];
    for (; i < n_; ++i) sum[0] += x[i] * y[i];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
  }
  void add(double* x, double factor, double const* y) const {
#pragma omp simd
    for (std::size_t i = 0; i < n_; ++i) x[i] += factor * y[i];
  }

  /// The block's vectors made orthonormal and orthogonal to the basis; those that are in its span,
  /// to rounding, are dropped.
  Block orthonormalized(Block block) const {
    constexpr double negligible = 1e-12;  // of the vector's length before
    Block result;
    int const known = vectors_in(basis_);
    for (int v = 0; v < vectors_in(block); ++v) {
      throw_if_stopped(stop_);
      double* const x = &block[v * n_];
      double const length = std::sqrt(dot(x, x));
      for (int pass = 0; pass < 2; ++pass) {
        for (int k = 0; k < known; ++k) add(x, -dot(x, &basis_[k * n_]), &basis_[k * n_]);
        for (int k = 0; k < vectors_in(result); ++k)
          add(x, -dot(x, &result[k * n_]), &result[k * n_]);
      }
      double const left = std::sqrt(dot(x, x));
      if (!(left > negligible * length)) continue;
      for (std::size_t i = 0; i < n_; ++i) x[i] /= left;
      result.insert(result.end(), x, x + n_);
    }
    return result;
  }

  /// The block, and random vectors where its own span less than is wanted.
  Block completed(Block block) const {
    auto const missing = static_cast<std::size_t>(
        std::max(0, std::min(wanted_, static_cast<int>(n_)) - vectors_in(orthonormalized(block))));
    for (std::size_t v = 0; v < missing; ++v)
      for (std::size_t i = 0; i < n_; ++i) block.push_back(random_entry<double>(1, 0, i, v) - 0.5);
    return block;
  }

  /// Adds the last `added` vectors' rows and columns to the projection of M on the basis.
  void project(int added) {
    int const all = vectors_in(basis_), before = all - added;
    std::vector<double> T(static_cast<std::size_t>(all) * all);
    for (int i = 0; i < before; ++i)
      std::copy_n(&projected_[static_cast<std::size_t>(i) * before], before,
                  &T[static_cast<std::size_t>(i) * all]);
    for (int j = before; j < all; ++j)
      for (int i = 0; i <= j; ++i)
        T[static_cast<std::size_t>(i) * all + j] = T[static_cast<std::size_t>(j) * all + i] =
            dot(&basis_[i * n_], &images_[j * n_]);
    projected_ = std::move(T);
  }

  /// Ritz values and coefficients; the sum of the wanted values.
  double ritz() {
    int const all = vectors_in(basis_);
    auto const eigen = leading_eigen(projected_, all, std::min(wanted_, all));
    values_ = eigen.values;
    coefficients_ = eigen.vectors;
    double sum = 0;
    for (double value : values_) sum += value;
    return sum;
  }

  std::size_t n_;
  int wanted_;
  StopCheck stop_;
  Block basis_, images_;
  std::vector<double> projected_, values_, coefficients_;
};

}  // namespace sporades::detail
