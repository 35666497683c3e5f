// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <numeric>
#include <sporades/kernels/detail/inner_product.hpp>
#include <sporades/kernels/detail/mttkrp_all_modes/dimension_tree.hpp>
#include <sporades/kernels/detail/processes/mttkrp.hpp>
#include <sporades/kernels/mttkrp_all_modes_plan.hpp>

namespace sporades::detail {

/// to(p) <- cells(numbers(p))
template <class Indices>
struct NameCells {
  Kokkos::View<std::uint64_t*, typename Indices::memory_space> cells;
  Indices numbers;  // of mode 0, nnz

  KOKKOS_FUNCTION void operator()(Position p) const {
    numbers(p) = static_cast<typename Indices::non_const_value_type>(cells(numbers(p)));
  }
};

/// The nonzeros of a tree of several processes, and the rows of factors that they read. Each
/// process has those of its part of the linear order, or else of its share of the first mode's rows
/// in order, which nonzeros_of gives in one process.
template <class Scalar, class Index, class MemorySpace>
class DistributedNonzeros {
  using Tree = MttkrpAllModesPlan<Scalar, Index, MemorySpace>;
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;

 public:
  /// The tree outlives it. Collective. Fences exec.
  template <class ExecutionSpace>
  DistributedNonzeros(ExecutionSpace const& exec, Tree const& tree) : tree_(tree) {
    auto const& processes = distributed().processes;
    places_ = {processes, exclusive_scan_of_all(processes, nnz())};
    if (tree.fused.empty() && !is_linear()) {  // the rows of the share
      std::vector<std::uint64_t> rows(share().count);
      std::iota(rows.begin(), rows.end(), share().row);
      add(exec, row_mode(), rows);
    }
    for (std::size_t k = 0; k < tree.fused.size(); ++k) {  // few rows: all of them
      std::vector<std::uint64_t> rows(tree.grid.dims[k]);
      std::iota(rows.begin(), rows.end(), std::uint64_t{0});
      add(exec, tree.fused[k], rows);
    }
  }

  NonzeroPlaces const& places() const { return places_; }

  /// The nonzeros as a tensor whose indices are the rows that gather() gives. Fences exec.
  template <class ExecutionSpace>
  Tensor tensor(ExecutionSpace const& exec) const {
    auto const N = static_cast<std::size_t>(tree_.order());
    auto split = allocate_coo<Scalar, Index>(exec, Dims(N, 0), nnz());
    if (nnz() == 0) return split;
    auto whole = is_linear() ? to_coo(exec, *tree_.whole.formats.template first<AltoTensor>())
                             : to_coo_of_mode(exec, tree_.whole, row_mode());
    Position const before = is_linear() ? 0 : share().chunks_before * share().length;
    auto const here = std::make_pair(before, before + nnz());
    whole.coordinates = Kokkos::subview(whole.coordinates, Kokkos::ALL, here);
    split.values = Kokkos::subview(whole.values, here);
    SplitIndices<typename Tensor::Coordinates> indices{
        whole.coordinates, split.coordinates, 1, static_cast<int>(N) - 1, {}, {}, 0};
    if (!is_linear()) indices.offset = ~std::uint64_t{0};  // a share's rows are called 1, 2, ...
    if (tree_.fused.empty()) {                             // a cell is a row
      int* next = indices.mode;
      *next++ = indices.cell = row_mode();
      for (int m = 0; m < static_cast<int>(N); ++m)
        if (m != indices.cell) *next++ = m;
      indices.dims[0] = ~std::uint64_t{0};
    } else {
      auto const S = tree_.fused.size();
      indices.fused = static_cast<int>(S);
      indices.others = static_cast<int>(N - S);
      std::copy(tree_.fused.begin(), tree_.fused.end(), indices.mode);
      std::copy(tree_.others.begin(), tree_.others.end(), indices.mode + S);
      std::copy(tree_.grid.dims.begin(), tree_.grid.dims.end() - 1, indices.dims);
      if (!is_linear()) {
        indices.offset += share().row;
      } else {
        using Indices = Kokkos::View<Index*, MemorySpace, Kokkos::MemoryUnmanaged>;
        auto const cells = to_view(exec, "sporades::mttkrp_all_modes::cells", distributed().cells);
        launch_items(exec, "sporades::mttkrp_all_modes::name_cells", nnz(),
                     NameCells<Indices>{cells, Indices(whole.indices(0), nnz())});
        fence(exec, "sporades::mttkrp_all_modes::name_cells");
      }
    }
    launch_items(exec, "sporades::mttkrp_all_modes::split_indices", nnz(), indices);
    fence(exec, "sporades::mttkrp_all_modes::split_indices");
    return split;
  }

  /// The rows that they read of factors, which processes own as the tree says. Collective. Fences
  /// exec.
  template <class ExecutionSpace>
  Factors<Scalar, MemorySpace> gather(ExecutionSpace const& exec,
                                      Factors<Scalar, MemorySpace> const& A) {
    Factors<Scalar, MemorySpace> rows(A.size());
    auto const take = [&](GhostRows<Scalar, MemorySpace>& read, std::size_t m) {
      rows[m] = read.gather(exec, "rows of factors", A[m]);
    };
    for (std::size_t k = 0; k < modes_.size(); ++k) take(rows_[k], modes_[k]);
    for (std::size_t m = 0; m < A.size(); ++m)
      if (std::find(modes_.begin(), modes_.end(), m) == modes_.end())
        take(distributed().read[whole_mode(tree_, static_cast<int>(m))], m);
    return rows;
  }

 private:
  DistributedProducts<Scalar, Index, MemorySpace>& distributed() const {
    return *tree_.whole.work.distributed;
  }
  bool is_linear() const { return distributed().parts > 0; }
  /// The mode in whose order they are, as nonzeros_of has them, which has no slices; of X', where
  /// modes are fused.
  int row_mode() const {
    if (is_linear() || !tree_.fused.empty()) return 0;
    int first = -1;
    for (int n = 0; n < tree_.whole.order(); ++n) {
      auto const mode = static_cast<std::size_t>(n);
      if (tree_.whole.choices[mode].slices > 1) continue;
      if (!fits_packed(tree_.whole.dims, n)) return n;  // to_coo takes those first
      if (first < 0) first = n;
    }
    return first;
  }
  RowShare const& share() const {
    return distributed().shares[static_cast<std::size_t>(row_mode())];
  }
  Position nnz() const {
    return is_linear() ? tree_.whole.formats.template first<AltoTensor>()->nnz() : share().nnz;
  }

  template <class ExecutionSpace>
  void add(ExecutionSpace const& exec, int mode, std::vector<std::uint64_t> const& rows) {
    modes_.push_back(static_cast<std::size_t>(mode));
    rows_.emplace_back(distributed().processes, exec, tree_.rows_of(mode).begins, rows);
  }

  Tree const& tree_;
  NonzeroPlaces places_;
  std::vector<std::size_t> modes_;                    // whose rows are gathered for them alone
  std::vector<GhostRows<Scalar, MemorySpace>> rows_;  // of each of these
};

}  // namespace sporades::detail
