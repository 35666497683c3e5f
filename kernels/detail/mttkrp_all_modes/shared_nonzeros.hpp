// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <numeric>
#include <sporades/kernels/detail/mttkrp/shared.hpp>
#include <sporades/kernels/detail/mttkrp_all_modes/dimension_tree.hpp>

namespace sporades::detail {

/// The nonzeros of a tree of several processes, and the rows of factors that they read. Each
/// process has those of its share of the first rows in order, which nonzeros_of gives in one
/// process.
template <class Scalar, class Index, class MemorySpace>
class SharedNonzeros {
  using Tree = MttkrpAllModesPlan<Scalar, Index, MemorySpace>;
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;

 public:
  /// The tree outlives it. Collective. Fences exec.
  template <class ExecutionSpace>
  SharedNonzeros(ExecutionSpace const& exec, Tree const& tree) : tree_(tree) {
    auto const& share = this->share();
    places_ = first_places(shared().processes, share.nnz);
    if (tree.fused.empty()) {  // the rows of the share
      std::vector<std::uint64_t> rows(share.count);
      std::iota(rows.begin(), rows.end(), share.row);
      add(exec, 0, rows);
    }
    for (std::size_t k = 0; k < tree.fused.size(); ++k) {  // few rows: all of them
      std::vector<std::uint64_t> rows(tree.grid.dims[k]);
      std::iota(rows.begin(), rows.end(), std::uint64_t{0});
      add(exec, tree.fused[k], rows);
    }
  }

  Communicator const& processes() const { return shared().processes; }
  /// Of all nonzeros, process p has places()[p] to places()[p + 1] - 1.
  std::vector<Position> const& places() const { return places_; }

  /// Their indices are the rows that gather() gives. Fences exec.
  template <class ExecutionSpace>
  Tensor tensor(ExecutionSpace const& exec) const {
    auto const& share = this->share();
    auto const N = static_cast<std::size_t>(tree_.order());
    Tensor split;
    split.dims.assign(N, 0);
    if (share.nnz == 0) return split;
    auto const packed = to_coo(exec, share.packed);
    split = allocate_coo<Scalar, Index>(exec, split.dims, share.nnz);
    split.values = Kokkos::subview(packed.values, std::make_pair(Position{0}, share.nnz));
    SplitIndices<typename Tensor::Coordinates> indices{
        packed.coordinates, split.coordinates, 1, static_cast<int>(N) - 1, {}, {},
        ~std::uint64_t{0}};
    if (tree_.fused.empty()) {  // a cell is a row of the first mode
      std::iota(indices.mode, indices.mode + N, 0);
      indices.dims[0] = share.count;
    } else {
      auto const S = tree_.fused.size();
      indices.fused = static_cast<int>(S);
      indices.others = static_cast<int>(N - S);
      std::copy(tree_.fused.begin(), tree_.fused.end(), indices.mode);
      std::copy(tree_.others.begin(), tree_.others.end(), indices.mode + S);
      std::copy(tree_.grid.dims.begin(), tree_.grid.dims.end() - 1, indices.dims);
      indices.offset += share.row;
    }
    launch_items(exec, "sporades::mttkrp_all_modes::split_indices", share.nnz, indices);
    fence(exec, "sporades::mttkrp_all_modes::split_indices");
    return split;
  }

  /// The rows that they read of factors, which processes own as the tree says. Collective. Fences
  /// exec.
  template <class ExecutionSpace>
  Factors<Scalar, MemorySpace> gather(ExecutionSpace const& exec,
                                      Factors<Scalar, MemorySpace> const& A) {
    Factors<Scalar, MemorySpace> rows(A.size());
    auto const take = [&](SharedRows<Scalar, MemorySpace>& read, std::size_t m) {
      rows[m] = read.gather(exec, "rows of factors", A[m]);
    };
    for (std::size_t k = 0; k < modes_.size(); ++k) take(rows_[k], modes_[k]);
    for (std::size_t m = 0; m < A.size(); ++m) {
      auto const mode = whole_mode(tree_, static_cast<int>(m));
      if (mode > 0) take(shared().read[mode], m);
    }
    return rows;
  }

 private:
  SharedProducts<Scalar, Index, MemorySpace>& shared() const { return *tree_.whole.shared; }
  PackedShare<Scalar, Index, MemorySpace> const& share() const { return shared().shares.front(); }

  template <class ExecutionSpace>
  void add(ExecutionSpace const& exec, int mode, std::vector<std::uint64_t> const& rows) {
    modes_.push_back(static_cast<std::size_t>(mode));
    rows_.emplace_back(processes(), exec, tree_.rows_of(mode).begins, rows);
  }

  Tree const& tree_;
  std::vector<Position> places_;
  std::vector<std::size_t> modes_;                     // those of the first mode of the order
  std::vector<SharedRows<Scalar, MemorySpace>> rows_;  // of each of them
};

}  // namespace sporades::detail
