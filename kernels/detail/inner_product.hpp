// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense.hpp>
#include <sporades/kernels/detail/coo_windows.hpp>
#include <sporades/kernels/detail/model_values.hpp>

namespace sporades::detail {

/// Nonzeros in blocks of 32 lanes of 64, as DotLanes has them; a block leaves 32 sums of x_p m_p.
template <class ExecutionSpace, class Model>
struct InnerProductLanes {
  static constexpr int lanes = 32;
  static constexpr Position block = 64 * lanes;
  static constexpr int at_once = is_gpu<ExecutionSpace> ? 1 : lanes;  // lanes of one item

  Model model;
  double* out;  // 32 a block

  Position items() const { return chunks_of(model.size(), block) * lanes / at_once; }

  KOKKOS_FUNCTION void operator()(Position item) const {
    Position const first = item * at_once, b = first / lanes, lane = first % lanes;
    Position const end = (b + 1) * block < model.size() ? (b + 1) * block : model.size();
    double sums[at_once] = {};
    for (Position p = b * block + lane; p < end; p += lanes)
      for (int l = 0; l < at_once && p + l < end; ++l)
        sums[l] += model.value(p + l) * model.template at<ExecutionSpace>(p + l);
    for (int l = 0; l < at_once; ++l) out[first + l] = sums[l];
  }
};

/// <X, M> of a Kruskal model M with these factors and weights (R doubles in the memory of X).
/// X: I_0 x ... x I_{N-1}; A[n]: I_n x R or more, of which R columns are read. In double, and in an
/// order given by the nonzeros alone: the same bits on every run and number of threads.
/// (N + 1) R nnz flops. windows: of an X in far memory. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
double inner_product(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                     Factors<Scalar, MemorySpace> const& A, double const* weights, std::size_t R,
                     Workspace<MemorySpace>& workspace, Windows<MemorySpace>* windows = nullptr) {
  using Kernel = InnerProductLanes<ExecutionSpace, CooModel<Scalar, Index, MemorySpace>>;
  if (X.nnz() == 0) return 0;
  constexpr std::size_t lanes = Kernel::lanes;
  Position const blocks = chunks_of(X.nnz(), Kernel::block);
  auto const partial =
      workspace.template get<double>(exec, blocks * lanes + scratch_of_sum_blocks(blocks, lanes));
  for_coo_parts(exec, X, windows, Kernel::block,
                [&](auto const& instance, auto const& part, Position first) {
                  Kernel const terms{coo_model(part, A, weights, R),
                                     partial.data() + first / Kernel::block * lanes};
                  launch_items(instance, "sporades::inner_product::terms", terms.items(), terms);
                });
  double const* const sums = sum_blocks<ExecutionSpace>(exec, partial.data(), blocks, lanes);
  double host[lanes];
  copy_view(exec, Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(host, lanes),
            Kokkos::View<double const*, MemorySpace, Kokkos::MemoryUnmanaged>(sums, lanes));
  fence(exec, "sporades::inner_product");
  double total = 0;
  for (double sum : host) total += sum;
  return total;
}

}  // namespace sporades::detail
