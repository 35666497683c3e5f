// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/algorithms/detail/tucker/block_krylov.hpp>
#include <sporades/core/detail/dense.hpp>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/matrix.hpp>

namespace sporades::detail {

/// Products with an unfolding Y, I x P, for blocks of up to `most` vectors, which are on the host,
/// one after another, as BlockKrylov has them. This is the one for GPUs: of dense products. Y, and
/// U of its products, may be the rows that are here of distributed matrices: then sums over rows
/// are collective.
template <class ExecutionSpace, class Scalar>
class GpuUnfolding {
  using Memory = typename ExecutionSpace::memory_space;
  using Block = BlockKrylov::Block;
  using MatrixType = Matrix<Scalar, Memory>;
  using Panel = Kokkos::View<double**, Kokkos::LayoutRight, Memory>;  // padded x P: a vector a row

 public:
  GpuUnfolding(ExecutionSpace const& exec, MatrixType const& Y, std::size_t most,
               Workspace<Memory>& workspace, RowMap rows = {})
      : exec_(exec),
        Y_(Y),
        V_(Kokkos::view_alloc(exec, "sporades::tucker::right"), padded_columns(most), Y.extent(1)),
        Z_(Kokkos::view_alloc(exec, "sporades::tucker::image"), padded_columns(most), Y.extent(1)),
        host_(Kokkos::create_mirror_view(Z_)),
        right_(Kokkos::view_alloc(exec, "sporades::tucker::right"), Y.extent(1),
               padded_columns(most)),
        workspace_(workspace),
        rows_(std::move(rows)) {}

  /// Y^T U. Fences exec.
  Block transposed(MatrixType const& U) const {
    transposed_product(
        exec_, U, Y_, Kokkos::subview(Z_, std::make_pair(std::size_t{0}, U.extent(1)), Kokkos::ALL),
        workspace_, rows_);
    copy_view(exec_, host_, Z_);
    fence(exec_, "sporades::tucker::image");
    return Block(host_.data(), host_.data() + U.extent(1) * Y_.extent(1));
  }

  /// Y^T U of U = Y V. Fences exec.
  Block normal(Block const& V, MatrixType const& U) const {
    images(V, U);
    return transposed(U);
  }

  /// U = Y V. Fences exec before, not after.
  void images(Block const& V, MatrixType const& U) const {
    fence(exec_, "sporades::tucker::send");  // a copy may still read host_
    std::copy(V.begin(), V.end(), host_.data());
    std::fill(host_.data() + V.size(), host_.data() + host_.size(), 0.0);
    copy_view(exec_, V_, host_);
    launch_items(exec_, "sporades::tucker::transpose_block", V_.extent(0) * V_.extent(1),
                 TransposeMatrix<Panel, MatrixType>{V_, right_});
    multiply(exec_, Y_,
             Kokkos::subview(right_, Kokkos::ALL, std::make_pair(std::size_t{0}, U.extent(1))), U);
  }

 private:
  ExecutionSpace exec_;
  MatrixType Y_;
  Panel V_, Z_;
  typename Panel::host_mirror_type host_;  // of Z_
  MatrixType right_;                       // P x padded: V in Scalar
  Workspace<Memory>& workspace_;
  RowMap rows_;
};

}  // namespace sporades::detail
