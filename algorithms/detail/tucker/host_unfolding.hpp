// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/algorithms/detail/tucker/block_krylov.hpp>
#include <sporades/algorithms/detail/tucker/normal_product.hpp>

namespace sporades::detail {

/// Products with an unfolding Y, I x P, for blocks of up to `most` vectors, which are on the host,
/// one after another, as BlockKrylov has them. This is the one for CPUs: each is one pass over Y.
/// Y, and U of its products, may be the rows that are here of distributed matrices: then sums over
/// rows are collective.
template <class ExecutionSpace, class Scalar>
class HostUnfolding {
  using Memory = typename ExecutionSpace::memory_space;
  using Block = BlockKrylov::Block;
  using MatrixType = Matrix<Scalar, Memory>;
  using Panel =
      Kokkos::View<double**, Kokkos::LayoutRight, Memory>;  // P x padded: a vector a column

 public:
  HostUnfolding(ExecutionSpace const& exec, MatrixType const& Y, std::size_t most,
                Workspace<Memory>& workspace, RowMap rows = {})
      : exec_(exec),
        Y_(Y),
        V_(Kokkos::view_alloc(exec, "sporades::tucker::right"), Y.extent(1), padded_columns(most)),
        Z_(Kokkos::view_alloc(exec, "sporades::tucker::image"), Y.extent(1), padded_columns(most)),
        workspace_(workspace),
        rows_(std::move(rows)) {}

  /// Y^T U. Fences exec.
  Block transposed(MatrixType const& U) const {
    normal_product<NormalStep::right>(exec_, Y_, V_, U, Z_, workspace_, rows_);
    return image(U.extent(1));
  }

  /// Y^T U of U = Y V. Fences exec.
  Block normal(Block const& V, MatrixType const& U) const {
    take(V);
    normal_product<NormalStep::both>(exec_, Y_, V_, U, Z_, workspace_, rows_);
    return image(V.size() / Y_.extent(1));
  }

  /// U = Y V. Fences exec before, not after.
  void images(Block const& V, MatrixType const& U) const {
    take(V);
    normal_product<NormalStep::left>(exec_, Y_, V_, U, Z_, workspace_);
  }

 private:
  /// V_ <- V and zeros.
  void take(Block const& V) const {
    fence(exec_, "sporades::tucker::take");  // kernels may still read V_
    std::fill_n(V_.data(), V_.size(), 0.0);
    std::size_t const P = Y_.extent(1);
    for (std::size_t e = 0; e < V.size(); ++e) V_(e % P, e / P) = V[e];
  }

  /// The first `count` vectors of Z_.
  Block image(std::size_t count) const {
    fence(exec_, "sporades::tucker::image");
    std::size_t const P = Y_.extent(1);
    Block block(count * P);
    for (std::size_t e = 0; e < block.size(); ++e) block[e] = Z_(e % P, e / P);
    return block;
  }

  ExecutionSpace exec_;
  MatrixType Y_;
  Panel V_, Z_;
  Workspace<Memory>& workspace_;
  RowMap rows_;
};

}  // namespace sporades::detail
