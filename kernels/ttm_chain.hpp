// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <iterator>
#include <sporades/kernels/detail/row_sums.hpp>
#include <sporades/kernels/detail/ttm_chain/columns.hpp>

/// TTM chain: a sparse tensor times the factor matrices of all modes but one,
///   Y_(n) = X_(n) (A_{N-1} (x) ... (x) A_{n+1} (x) A_{n-1} (x) ... (x) A_0)
/// X: I_0 x ... x I_{N-1}. A[m]: I_m x R_m. Y_(n): I_n x prod_{m != n} R_m, dense. Only the rows of
/// non-empty slices are computed. Kolda & Bader, SIAM Review 51(3), 2009, Section 4.2; their order
/// of columns, the first of the other modes fastest, is Tensor Toolbox's too. A tensor of order 1
/// is its own Y_(0), one column: the product over no modes is 1. Plans and products are in
/// ttm_chain_plan.hpp.

namespace sporades {

/// semi_sparse: SpTTM on one mode, then SspTTMs on the semi-sparse results (Ma et al., JPDC 2018).
/// csf: partial products down the fiber tree of mode n (Smith & Karypis, Euro-Par 2017).
/// fused: Kronecker rows accumulated straight into Y_(n), nothing between.
/// automatic: on CPUs csf or fused, the cheaper by a model of flops (ttm_chain/mode_order.hpp):
/// what semi_sparse sends through memory stays in cache there. On GPUs semi_sparse if what lies
/// between its products fits the memory, else csf or fused, which give each thread a chunk of
/// nonzeros and are made for CPUs. All give the same bits on every run and number of threads; no
/// atomics.
enum class TtmChainStrategy { automatic, semi_sparse, csf, fused };

namespace detail {

inline constexpr char const* ttm_chain_strategy_names[] = {"automatic", "semi_sparse", "csf",
                                                           "fused"};

}  // namespace detail

/// The name that ttm_chain_strategy knows.
inline char const* to_string(TtmChainStrategy strategy) {
  return detail::ttm_chain_strategy_names[static_cast<int>(strategy)];
}

/// The strategy of that name. Throws Error if there is none.
inline TtmChainStrategy ttm_chain_strategy(std::string const& name) {
  for (std::size_t k = 0; k < std::size(detail::ttm_chain_strategy_names); ++k)
    if (name == detail::ttm_chain_strategy_names[k]) return static_cast<TtmChainStrategy>(k);
  fail("ttm_chain: '", name, "' is no strategy");
}

/// What a plan computes: the rows of non-empty slices, in a strategy's own order of columns, which
/// changes no left singular vector. Views into the plan, overwritten by its next product.
template <class Scalar, class Index, class MemorySpace>
struct TtmChainProduct {
  Matrix<Scalar, MemorySpace> Y;    // rows x columns.count(), contiguous
  Vector<Index, MemorySpace> rows;  // their indices in mode n, ascending
  TtmChainColumns const* columns;   // of Y
};

}  // namespace sporades
