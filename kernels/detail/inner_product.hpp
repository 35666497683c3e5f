// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense.hpp>
#include <sporades/kernels/detail/coo_windows.hpp>
#include <sporades/kernels/detail/model_values.hpp>

namespace sporades::detail {

/// Nonzeros in blocks, of which each of 32 lanes adds every 32nd; a block leaves 32 sums of x_p
/// m_p.
template <class ExecutionSpace, class Model>
struct InnerProductLanes {
  static constexpr int lanes = 32;
  static constexpr int at_once = is_gpu<ExecutionSpace> ? 1 : lanes;  // lanes of one item

  Model model;
  Position block;
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
/// X: I_0 x ... x I_{N-1}, or the nonzeros places[p] to places[p + 1] - 1 of X that process p has,
/// in whole blocks (block_length); A[n]: I_n x R or more, of which R columns are read. In double,
/// and in an order given by the nonzeros alone: the same bits on every run and number of threads
/// and processes. (N + 1) R nnz flops. windows: of an X in far memory. Collective where there are
/// several processes. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
double inner_product(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                     Factors<Scalar, MemorySpace> const& A, double const* weights, std::size_t R,
                     Workspace<MemorySpace>& workspace, Windows<MemorySpace>* windows = nullptr,
                     Communicator const& processes = {}, std::vector<Position> places = {}) {
  using Kernel = InnerProductLanes<ExecutionSpace, CooModel<Scalar, Index, MemorySpace>>;
  if (places.empty()) places = {0, X.nnz()};
  if (places.back() == 0) return 0;
  constexpr std::size_t lanes = Kernel::lanes;
  Position const block = block_length<ExecutionSpace>(places.back());
  std::vector<std::size_t> bounds;
  for (auto place : places) bounds.push_back(chunks_of(place, block) * lanes);
  Position const blocks = bounds.back() / lanes;
  auto const partial =
      workspace.template get<double>(exec, blocks * lanes + scratch_of_sum_blocks(blocks, lanes));
  double* const own = partial.data() + bounds[static_cast<std::size_t>(processes.rank())];
  if (X.nnz() > 0)
    for_coo_parts(
        exec, X, windows, block, [&](auto const& instance, auto const& part, Position first) {
          Kernel const terms{coo_model(part, A, weights, R), block, own + first / block * lanes};
          launch_items(instance, "sporades::inner_product::terms", terms.items(), terms);
        });
  if constexpr (has_mpi)
    if (processes.size() > 1)
      all_gather_parts(exec, processes, "sums of values", partial.data(), bounds);
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
