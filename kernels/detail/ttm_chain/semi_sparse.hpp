// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/ttm_chain/column_order.hpp>
#include <sporades/kernels/sspttm.hpp>
#include <sporades/kernels/ttm_chain_plan.hpp>

namespace sporades::detail {

/// A semi-sparse tensor whose values lie at `memory`, which may be none as yet.
template <class Scalar, class Index, class MemorySpace>
void place_values(ScooTensor<Scalar, Index, MemorySpace>& Y, Scalar* memory) {
  std::size_t const block = Y.values.extent(1);
  Y.values = matrix_at<Matrix<Scalar, MemorySpace>>(memory, Y.coordinates.extent(1), block,
                                                    padded_columns(block));
}

/// The chain's structure; its values have no memory yet. modes: n, then the columns' modes. Where
/// it is out of core, as Ma et al. keep copies on the host, products stream X and the fibers of
/// their operands; the values of partial products are resident.
template <class MemorySpace, class ExecutionSpace, class Scalar, class Index, class GivenSpace>
SemiSparseChain<Scalar, Index, MemorySpace> make_semi_sparse_chain(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, GivenSpace> const& X,
    std::vector<int> const& modes, std::vector<int> const& ranks, bool is_out_of_core) {
  SemiSparseChain<Scalar, Index, MemorySpace> chain;
  auto const made = make_hierarchical(builder_of<GivenSpace>(exec), X, modes);
  if (is_out_of_core) {
    chain.X = to_out_of_core<MemorySpace>(exec, made);
    chain.first = SpttmStrategy::lanes;  // which alone streams
    chain.out_of_core = chain.X.out_of_core;
  } else if constexpr (std::is_same_v<GivenSpace, MemorySpace>) {
    chain.X = made;
    chain.first = choose_spttm(exec, chain.X, ranks[modes.back()]).strategy;
  }
  auto dims = X.dims;
  std::vector<int> sparse = modes, dense;
  std::size_t block = 1;
  auto coordinates = chain.X.fibers.coordinates;
  auto memory = chain.out_of_core;  // of coordinates
  for (std::size_t k = modes.size() - 1; k > 0; --k) {
    int const mode = modes[k];
    if (!chain.results.empty()) {
      chain.plans.push_back(
          make_sspttm_plan(exec, chain.results.back(), mode, SspttmOptions{ranks[mode]}));
      chain.plans.back().carry = {};  // chains share one
      coordinates = chain.plans.back().fibers.coordinates;
      memory = chain.plans.back().out_of_core;
    }
    dims[mode] = static_cast<std::uint64_t>(ranks[mode]);
    sparse.pop_back();
    dense.insert(dense.begin(), mode);
    block *= static_cast<std::size_t>(ranks[mode]);
    ScooTensor<Scalar, Index, MemorySpace> Y{dims, sparse, dense, coordinates, {}, sparse};
    Y.out_of_core_coordinates = memory;
    Y.values = Matrix<Scalar, MemorySpace>(static_cast<Scalar*>(nullptr), 0, block);
    place_values(Y, static_cast<Scalar*>(nullptr));
    chain.results.push_back(Y);
  }
  return chain;
}

/// Numbers that a memory (0 or 1) needs at least. Results alternate between the two; the last one
/// is in memory 0.
template <class Scalar, class Index, class MemorySpace>
std::size_t numbers_of(SemiSparseChain<Scalar, Index, MemorySpace> const& chain, int memory) {
  std::size_t most = 0;
  auto const count = static_cast<int>(chain.results.size());
  for (int k = 0; k < count; ++k)
    if ((count - 1 - k) % 2 == memory)
      most = std::max<std::size_t>(most, chain.results[k].values.extent(0) *
                                             padded_columns(chain.results[k].values.extent(1)));
  return most;
}

template <class Scalar, class Index, class MemorySpace>
void place_results(SemiSparseChain<Scalar, Index, MemorySpace>& chain, Scalar* product,
                   Scalar* between) {
  auto const count = chain.results.size();
  for (std::size_t k = 0; k < count; ++k)
    place_values(chain.results[k], (count - 1 - k) % 2 == 0 ? product : between);
}

template <class Scalar, class MemorySpace>
struct ClearPadding {
  RawMatrix<Scalar, MemorySpace> Y;  // rows x columns, padding included
  std::size_t first;
  KOKKOS_FUNCTION void operator()(Position row) const {
    for (std::size_t c = first; c < Y.extent(1); ++c) Y(row, c) = 0;
  }
};

/// Strategy `semi_sparse`. Y: memory of the last result, with its padding. Fences exec where the
/// chain is out of core.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void ttm_chain_semi_sparse(ExecutionSpace const& exec,
                           SemiSparseChain<Scalar, Index, MemorySpace> const& chain,
                           Factors<Scalar, MemorySpace> const& A,
                           Matrix<Scalar, MemorySpace> const& Y,
                           CarryBuffers<Scalar, Position, MemorySpace>& carry) {
  if (chain.X.nnz() == 0) return;
  run_spttm(exec, chain.X, A[chain.X.mode()], chain.results[0], chain.first, carry);
  for (std::size_t k = 0; k < chain.plans.size(); ++k)
    run_sspttm(exec, chain.plans[k], chain.results[k], A[chain.plans[k].fibers.mode],
               chain.results[k + 1], carry);
  std::size_t const block = chain.results.back().values.extent(1);
  if (block < Y.extent(1))
    launch_items(exec, "sporades::ttm_chain::clear_padding", Y.extent(0),
                 ClearPadding<Scalar, MemorySpace>{Y, block});
}

}  // namespace sporades::detail
