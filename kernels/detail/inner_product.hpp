// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense.hpp>
#include <sporades/formats/detail/sort_across.hpp>
#include <sporades/kernels/detail/coo_windows.hpp>
#include <sporades/kernels/detail/model_values.hpp>

namespace sporades::detail {

/// Blocks of nonzeros whose sums are added: of a length, or for 0 so many equally long parts.
struct NonzeroBlocks {
  Position nnz, length, count;

  KOKKOS_INLINE_FUNCTION Position begin(Position b) const {
    if (length == 0) return nnz * b / count;
    return b * length < nnz ? b * length : nnz;
  }
  /// How many begin before the nonzero.
  Position before(Position p) const {
    if (length > 0) return chunks_of(p, length);
    Position b = nnz > 0 ? p * count / nnz : 0;
    while (b < count && begin(b) < p) ++b;
    return b;
  }
};

/// The block length, or the parts where a plan has some: see NonzeroBlocks.
template <class ExecutionSpace>
NonzeroBlocks nonzero_blocks(Position nnz, Position parts) {
  if (parts > 0) return {nnz, 0, parts};
  Position const length = block_length<ExecutionSpace>(nnz);
  return {nnz, length, chunks_of(nnz, length)};
}

/// What is summed over nonzeros: x_p m_p, or (x_p - m_p)^2.
enum class ModelSum { inner, residual };

/// Of each block from first_block on, each of 32 lanes adds every 32nd term. A block leaves the
/// sums of its lanes on GPUs, where each is a work item, and the sum of these on hosts.
template <class ExecutionSpace, class Model>
struct InnerProductLanes {
  static constexpr int lanes = 32;
  static constexpr int at_once = is_gpu<ExecutionSpace> ? 1 : lanes;  // lanes of one item
  static constexpr int width = lanes / at_once;                       // sums of a block

  Model model;
  NonzeroBlocks blocks;
  Position first_block;
  double* out;
  ModelSum what;

  Position items() const {
    Position const end = blocks.begin(first_block) + model.size();
    return (blocks.before(end) - first_block) * width;
  }

  KOKKOS_FUNCTION void operator()(Position item) const {
    Position const b = first_block + item / width, lane = item % width;
    Position const place = blocks.begin(first_block), end = blocks.begin(b + 1) - place;
    double sums[at_once] = {};
    for (Position p = blocks.begin(b) - place + lane; p < end; p += lanes)
      for (int l = 0; l < at_once && p + l < end; ++l)
        sums[l] += term(model.value(p + l), model.template at<ExecutionSpace>(p + l));
    double total = 0;
    for (double const sum : sums) total += sum;
    out[item] = total;
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION double term(double x, double m) const {
    return what == ModelSum::inner ? x * m : (x - m) * (x - m);
  }
};

/// <X, M>, or the residual's squared norm over the nonzeros, of a Kruskal model M with these
/// factors and weights (R doubles in the memory of X). X: I_0 x ... x I_{N-1}, or those of its
/// nonzeros that are here, in whole blocks; A[n]: I_n x R or more, of which R columns are read.
/// parts: of the linear order that X is in, or 0. In double, and in an order given by the nonzeros
/// alone: the same bits on every run and number of threads and processes. (N + 1) R nnz flops.
/// windows: of an X in out-of-core memory. Collective where there are several processes. Fences
/// exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
double inner_product(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                     Factors<Scalar, MemorySpace> const& A, double const* weights, std::size_t R,
                     Workspace<MemorySpace>& workspace, Position parts, NonzeroPlaces all = {},
                     Windows<MemorySpace>* windows = nullptr, ModelSum what = ModelSum::inner) {
  using Kernel = InnerProductLanes<ExecutionSpace, CooModel<Scalar, Index, MemorySpace>>;
  auto& places = all.places;
  if (places.empty()) places = {0, X.nnz()};
  if (places.back() == 0) return 0;
  constexpr std::size_t width = Kernel::width;
  auto const blocks = nonzero_blocks<ExecutionSpace>(places.back(), parts);
  std::vector<std::size_t> bounds;
  for (auto place : places) bounds.push_back(blocks.before(place) * width);
  auto const partial = workspace.template get<double>(
      exec, blocks.count * width + scratch_of_sum_blocks(blocks.count, width));
  auto const me = static_cast<std::size_t>(all.processes.rank());
  if (X.nnz() > 0)
    for_coo_parts(exec, X, windows, std::max<Position>(1, blocks.length),
                  [&](auto const& instance, auto const& part, Position first) {
                    Position const block = blocks.before(places[me] + first);
                    Kernel const terms{coo_model(part, A, weights, R), blocks, block,
                                       partial.data() + block * width, what};
                    launch_items(instance, "sporades::inner_product::terms", terms.items(), terms);
                  });
  all_gather_parts(exec, all.processes, "sums of values", partial.data(), bounds);
  double const* const sums = sum_blocks<ExecutionSpace>(exec, partial.data(), blocks.count, width);
  double host[width];
  copy_view(exec, Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(host, width),
            Kokkos::View<double const*, MemorySpace, Kokkos::MemoryUnmanaged>(sums, width));
  fence(exec, "sporades::inner_product");
  double total = 0;
  for (double sum : host) total += sum;
  return total;
}

}  // namespace sporades::detail
