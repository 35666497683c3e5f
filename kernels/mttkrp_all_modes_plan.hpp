// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/kernels/mttkrp_plan.hpp>

/// Plans of MTTKRP on all modes (kernels/mttkrp_all_modes.hpp), and what they are made for.

namespace sporades {
namespace detail {

/// The place of mode n among these, or their number where it is none of them.
inline std::size_t place_of(int n, std::vector<int> const& modes) {
  return static_cast<std::size_t>(std::find(modes.begin(), modes.end(), n) - modes.begin());
}

}  // namespace detail

/// What a plan of MTTKRP on all modes is made for.
struct MttkrpAllModesOptions {
  MttkrpOptions products = {};
  /// With strategy `automatic`: fuses modes where that pays.
  bool dimension_tree = true;
};

/// What mttkrp_all_modes needs of a tensor X. Some modes S, one after another in the order of
/// updates, may be fused into one mode of a tensor X' of lower order, whose index is that of a cell
/// of the grid of S. With
///   K = the Khatri-Rao product of the factors of S (a row a cell), and
///   T = MTTKRP of X' on the fused mode (a row a cell),
/// a mode outside S is an MTTKRP of X' with K as one factor, and a mode n of S
///   V(i, r) = sum over cells c with c_n = i of T(c, r) prod_{m in S, m != n} A_m(c_m, r),
/// which is an MTTKRP of the grid as a tensor of ones with T as one more factor. T serves all modes
/// of S, since none outside changes between them. Of several processes each computes the rows of K
/// that its nonzeros read: all have all rows of the factors of S.
template <class ScalarType, class IndexType, class MemorySpaceType>
struct MttkrpAllModesPlan {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  std::vector<int> fused;                        // S; none: products are those of `whole` alone
  std::vector<int> others;                       // rising
  MttkrpPlan<Scalar, Index, MemorySpace> whole;  // X, or X': the fused mode, then the others
  MttkrpPlan<Scalar, Index, MemorySpace> grid;   // the modes of S, then the cell
  CooTensor<Scalar, Index, MemorySpace> cells;   // of the grid: those that this process reads
  Matrix<Scalar, MemorySpace> K, T;              // of these cells x columns; of whole.rows_of(0)
  bool has_K = false, has_T = false;             // they are those of the present factors

  int order() const {
    return fused.empty() ? whole.order() : static_cast<int>(fused.size() + others.size());
  }
  /// The rows of mode n's factor, and of a product on it, that this process has.
  RowMap rows_of(int n) const {
    if (fused.empty()) return whole.rows_of(n);
    auto const place = detail::place_of(n, fused);
    return place < fused.size() ? grid.rows_of(static_cast<int>(place))
                                : whole.rows_of(1 + static_cast<int>(detail::place_of(n, others)));
  }
  /// The rows of each mode's factor that this process has.
  std::vector<RowMap> rows() const {
    std::vector<RowMap> all;
    for (int n = 0; n < order(); ++n) all.push_back(rows_of(n));
    return all;
  }
  std::uint64_t storage_bytes() const {
    return whole.storage_bytes() + (fused.empty() ? 0 : grid.storage_bytes()) +
           cells.storage_bytes() + (K.span() + T.span()) * sizeof(Scalar);
  }
};

}  // namespace sporades
