// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/phi/pi.hpp>

namespace sporades::detail {

/// One nonzero an item: V(i_n, :) += w_p pi_p, atomically.
template <class ExecutionSpace, class Nonzeros, class Source>
struct AtomicPhi {
  using Memory = typename ExecutionSpace::memory_space;
  using Scalar = typename Nonzeros::Scalar;

  Nonzeros nonzeros;
  Source source;
  RawMatrix<Scalar const, Memory> B;  // I_n x R
  RawMatrix<Scalar, Memory> V;        // I_n x R
  Scalar epsilon;

  KOKKOS_FUNCTION void operator()(Position p) const {
    std::uint64_t const R = V.extent(1);
    auto const entry = nonzeros.fetch(p);
    Scalar const weight = phi_weight<ExecutionSpace>(
        nonzeros, source, entry, B.data() + entry.row * B.stride_0(), R, epsilon);
    for_tiles<ExecutionSpace>(0, R, [&](auto width_constant, std::uint64_t first) {
      constexpr int width = decltype(width_constant)::value;
      Scalar pi[width];
      source.template tile<width>(nonzeros, entry, first, pi);
      for (int c = 0; c < width; ++c) Kokkos::atomic_add(&V(entry.row, first + c), weight * pi[c]);
    });
  }
};

/// Strategies `atomic` and `coo_alto_atomic`, baselines that `automatic` never takes: nonzeros in
/// any order, pi from any source. On hosts each thread takes an equal share of neighbours in that
/// order, which is ALTO's partition where the order is linear. Not deterministic.
template <class ExecutionSpace, class Nonzeros, class Source, class Scalar, class MemorySpace>
void phi_atomic(ExecutionSpace const& exec, Nonzeros const& nonzeros, Source const& source,
                Matrix<Scalar, MemorySpace> const& B, Scalar epsilon,
                Matrix<Scalar, MemorySpace> const& V) {
  Kokkos::deep_copy(exec, V, Scalar(0));
  launch_items(exec, "sporades::phi::atomic", nonzeros.size(),
               AtomicPhi<ExecutionSpace, Nonzeros, Source>{nonzeros, source, B, V, epsilon});
}

}  // namespace sporades::detail
