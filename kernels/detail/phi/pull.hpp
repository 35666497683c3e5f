// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/nonzeros/alto.hpp>
#include <sporades/kernels/detail/nonzeros/packed.hpp>
#include <sporades/kernels/detail/phi/fused.hpp>
#include <sporades/kernels/detail/phi/pi.hpp>
#include <sporades/kernels/detail/row_chunks.hpp>

/// Phi in two passes, where one does not do: w_p = x_p / max(model_p, epsilon) of every nonzero,
/// then sums of rows.

namespace sporades::detail {

/// weights(p) = w_p, of a run of nonzeros an item.
template <class ExecutionSpace, class Nonzeros>
struct WeighNonzeros {
  using Memory = typename ExecutionSpace::memory_space;
  using Scalar = typename Nonzeros::Scalar;
  static constexpr Position length = PackedTensor<Scalar>::mark_distance;

  Nonzeros nonzeros;
  RawVector<Scalar, Memory> weights;  // nnz
  RawMatrix<Scalar const, Memory> B;  // I_n x R
  Scalar epsilon;

  KOKKOS_FUNCTION void operator()(Position item) const {
    Position const begin = item * length;
    Position const end = begin + length < nonzeros.size() ? begin + length : nonzeros.size();
    auto rows = nonzeros.rows(begin);
    for (Position p = begin; p < end; ++p) {
      auto const entry = nonzeros.fetch(p);
      if (p > begin && nonzeros.leaves(rows, entry)) rows.enter(entry);
      weights(p) = phi_weight<ExecutionSpace>(nonzeros, entry, B.data() + rows.row * B.stride(0),
                                              B.extent(1), epsilon);
    }
  }
};

/// weights(p) = x_p / max(sum_s B(i_n, s) pi_p(s), epsilon). Enqueued.
template <class ExecutionSpace, class Nonzeros, class Scalar, class MemorySpace>
void weigh_nonzeros(ExecutionSpace const& exec, Nonzeros const& nonzeros,
                    PhiOperands<Scalar, MemorySpace> const& operands,
                    Vector<Scalar, MemorySpace> const& weights) {
  using Kernel = WeighNonzeros<ExecutionSpace, Nonzeros>;
  launch_items(exec, "sporades::phi::weigh", chunks_of(nonzeros.size(), Kernel::length),
               Kernel{nonzeros, weights, operands.B, operands.least()});
}

/// The sums of `rows` (see walk_rows) of nonzeros each of which names its row: in one pass where
/// rows are one tile, else in two, the first of which leaves w_p in what weights() returns.
/// aligned: rows of all that is gathered.
template <class ExecutionSpace, class Nonzeros, class Scalar, class MemorySpace, class Rows,
          class Weights>
void sum_weighed_rows(ExecutionSpace const& exec, char const* label, Nonzeros nonzeros,
                      PhiOperands<Scalar, MemorySpace> const& operands, Rows const& rows,
                      bool aligned, Weights const& weights) {
  aligned = aligned && rows_are_aligned(operands.V);
  if (walk_weighed(exec, label, nonzeros, operands, rows, aligned)) return;
  auto const weighed = weights();
  weigh_nonzeros(exec, nonzeros, operands, weighed);
  nonzeros.values = weighed;
  walk_rows<TileWidths::coarse>(exec, label, nonzeros, rows, operands.V.extent(1), aligned);
}

/// w_p on mode n of any format, in the order of its nonzeros, with pi computed.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void weigh(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
           PhiOperands<Scalar, MemorySpace> const& operands,
           Vector<Scalar, MemorySpace> const& weights) {
  weigh_nonzeros(exec, coo_nonzeros<any_number>(X, operands.A, operands.n), operands, weights);
}
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void weigh(ExecutionSpace const& exec, PackedTensor<Scalar, Index, MemorySpace> const& X,
           PhiOperands<Scalar, MemorySpace> const& operands,
           Vector<Scalar, MemorySpace> const& weights) {
  weigh_nonzeros(exec, packed_nonzeros(X, operands.A), operands, weights);
}
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void weigh(ExecutionSpace const& exec, AltoTensor<Scalar, Index, MemorySpace> const& X,
           PhiOperands<Scalar, MemorySpace> const& operands,
           Vector<Scalar, MemorySpace> const& weights) {
  auto const& A = operands.A;
  int const n = operands.n;
  if (X.layout.has_two_words())
    weigh_nonzeros(exec, alto_nonzeros<any_number, true>(X, A, n), operands, weights);
  else
    weigh_nonzeros(exec, alto_nonzeros<any_number, false>(X, A, n), operands, weights);
}

/// Strategy `pull` with pi stored, on nonzeros sorted by mode n. weights: called where rows are not
/// one tile, for a vector of nnz numbers.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Weights>
void phi_pull_stored(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                     Matrix<Scalar, MemorySpace> const& pi,
                     PhiOperands<Scalar, MemorySpace> const& operands, Weights const& weights,
                     CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  all_chunks<ExecutionSpace>(X).sum(
      exec, X, operands.V, carry, [&](auto const& instance, auto const& part, auto const& rows) {
        sum_weighed_rows(instance, "sporades::phi::pull", stored_nonzeros(part, operands.n, pi),
                         operands, rows, rows_are_aligned(pi), weights);
      });
}

}  // namespace sporades::detail
