// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/region.hpp>
#include <sporades/kernels/detail/cost.hpp>
#include <sporades/kernels/detail/ttm_chain/build_ttm_chain_plan.hpp>
#include <sporades/kernels/detail/ttm_chain/expand.hpp>
#include <sporades/kernels/detail/ttm_chain/fused.hpp>
#include <sporades/kernels/ttm_chain.hpp>

/// The products of kernels/ttm_chain.hpp.

namespace sporades {
namespace detail {

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TtmChainProduct<Scalar, Index, MemorySpace> run_ttm_chain(
    ExecutionSpace const& exec, TtmChainPlan<Scalar, Index, MemorySpace>& plan,
    Factors<Scalar, MemorySpace> const& A, int n) {
  expects(n >= 0 && n < plan.order(), "ttm_chain: mode ", n, " of a tensor of order ",
          plan.order());
  expects(static_cast<int>(A.size()) == plan.order(), "ttm_chain: ", A.size(),
          " factors for a tensor of order ", plan.order());
  for (int m = 0; m < plan.order(); ++m) {
    if (m == n) continue;
    auto const R = static_cast<std::size_t>(plan.ranks[m]);
    std::uint64_t const rows =
        plan.work.where.empty() ? plan.dims[m] : plan.work.where[m].factor.here(plan.dims[m]);
    expects(A[m].extent(0) == rows && A[m].extent(1) == R, "ttm_chain: the factor of mode ", m,
            " is ", A[m].extent(0), " x ", A[m].extent(1), ", expected ", rows, " x ", R);
    expects(A[m].extent(0) < 2 || A[m].stride(0) == padded_columns(R),
            "ttm_chain: the factor of mode ", m, " has a row stride of ", A[m].stride(0),
            ", expected ", padded_columns(R), ": see make_matrix");
  }
  auto const& choice = plan.choices[n];
  Region const region("sporades::ttm_chain ", to_string(choice.strategy), ", mode ", n);
  auto const& factors = gathered(exec, plan, A, n);
  return deliver(exec, plan, n, [&](auto const& chunks, ChainShape const& shape, auto const& Y) {
    plan.formats.visit(n, [&](auto& X) {
      using Format = std::decay_t<decltype(X)>;
      if constexpr (is_instance<Format, PackedTensor>)
        ttm_chain_fused(exec, X, chunks, {factors, choice.columns, Y, shape}, plan.work.buffers);
      else if constexpr (is_instance<Format, CsfTensor>)
        ttm_chain_csf(exec, X, factors, choice.columns, Y, plan.work.buffers);
      else
        ttm_chain_semi_sparse(exec, X, factors, Y, plan.work.semi_sparse_carry);
    });
  });
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_whole_ttm_chain(ExecutionSpace const& exec, TtmChainPlan<Scalar, Index, MemorySpace>& plan,
                         Factors<Scalar, MemorySpace> const& A, int n,
                         Matrix<Scalar, MemorySpace> const& Y) {
  expects(!plan.work.distributed,
          "ttm_chain: processes share the product: none has the whole of Y");
  auto const product = run_ttm_chain(exec, plan, A, n);
  std::size_t columns = 1;
  for (int rank : product.columns->ranks) columns *= static_cast<std::size_t>(rank);
  expects(Y.extent(0) == plan.dims[n] && Y.extent(1) == columns, "ttm_chain: Y is ", Y.extent(0),
          " x ", Y.extent(1), ", expected ", plan.dims[n], " x ", columns);
  fill_view(exec, Y, Scalar(0));
  scatter_rows(exec, product, plan.places[n], Y);
}

}  // namespace detail

template <class ExecutionSpace, class Plan, class FactorsType>
detail::PlanOf<TtmChainProduct, Plan> ttm_chain(ExecutionSpace const& exec, Plan& plan,
                                                FactorsType const& A, int n) {
  static_assert(detail::is_instance<Plan, TtmChainPlan>,
                "ttm_chain takes a TtmChainPlan that is not const");
  if constexpr (detail::is_instance<Plan, TtmChainPlan>)
    if constexpr (detail::check_types<ExecutionSpace, Plan, FactorsType>())
      return detail::run_ttm_chain(exec, plan, detail::as_factors<Plan>(A), n);
}

template <class ExecutionSpace, class Plan, class FactorsType, class Output>
void ttm_chain(ExecutionSpace const& exec, Plan& plan, FactorsType const& A, int n,
               Output const& Y) {
  static_assert(detail::is_instance<Plan, TtmChainPlan>,
                "ttm_chain takes a TtmChainPlan that is not const");
  if constexpr (detail::is_instance<Plan, TtmChainPlan>)
    if constexpr (detail::check_types<ExecutionSpace, Plan, FactorsType, Output>()) {
      detail::MatrixOf<Plan> const& whole = Y;
      detail::run_whole_ttm_chain(exec, plan, detail::as_factors<Plan>(A), n, whole);
    }
}

namespace detail {

/// Bytes that a chain reads of the nonzeros, and of the fibers of partial products.
template <class Scalar, class Index, class MemorySpace>
double chain_bytes_read(PackedTensor<Scalar, Index, MemorySpace> const& X) {
  return nonzero_bytes(X);
}
template <class Scalar, class Index, class MemorySpace>
double chain_bytes_read(SemiSparseChain<Scalar, Index, MemorySpace> const& chain) {
  double bytes =
      static_cast<double>(chain.X.nnz() * sizeof(Scalar)) + fiber_bytes(chain.X, chain.first);
  for (auto const& product : chain.plans)
    bytes += fiber_bytes(product.fibers, sums_windows(product.fibers));
  return bytes;
}
template <class Scalar, class Index, class MemorySpace>
double chain_bytes_read(CsfTensor<Scalar, Index, MemorySpace> const& tree) {
  double bytes = static_cast<double>(tree.nnz() * sizeof(Scalar));
  for (int l = 1; l < tree.order(); ++l)
    bytes += static_cast<double>(tree.nodes(l) * sizeof(Index) +
                                 tree.first_child[l - 1].extent(0) * sizeof(Position));
  return bytes;
}

}  // namespace detail

template <class Scalar, class Index, class MemorySpace>
Cost ttm_chain_cost(TtmChainPlan<Scalar, Index, MemorySpace> const& plan, int n) {
  expects(!plan.work.distributed, "ttm_chain_cost: the plan is one of several processes");
  expects(n >= 0 && n < plan.order(), "ttm_chain_cost: mode ", n, " of a tensor of order ",
          plan.order());
  auto const& choice = plan.choices[n];
  double numbers = static_cast<double>(plan.rows[n].extent(0) * choice.columns.count());
  for (int m = 0; m < plan.order(); ++m)
    if (m != n) numbers += static_cast<double>(plan.rows[m].extent(0)) * plan.ranks[m];
  double const read = plan.formats.visit(
      n, [&](auto const& X) { return plan.nnz == 0 ? 0 : detail::chain_bytes_read(X); });
  return {choice.flops, read + numbers * static_cast<double>(sizeof(Scalar))};
}

}  // namespace sporades

#include <sporades/eti/run_ttm_chain.hpp>
