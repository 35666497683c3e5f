// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// First the front door, which includes this file where it belongs: hence a guard.
#include <sporades/kernels/loss_samples.hpp>

#ifndef SPORADES_KERNELS_LOSS_ADD_SAMPLES
#define SPORADES_KERNELS_LOSS_ADD_SAMPLES

#include <sporades/formats/detail/sort_coo.hpp>
#include <sporades/kernels/detail/loss/draw.hpp>
#include <sporades/kernels/detail/reduce_carries.hpp>

namespace sporades::detail {

/// Products of the samples for the gradient of mode n, in the order of their rows:
///   sums(p, r) = d_s weights(r) prod_{m != n} A_m(i_m, r),   s = order[p]
/// They are carries (row_sums.hpp) of as many slots as samples: reduce_carries adds them to the
/// rows that they belong to, and touches no other row. CPU: an item is a slot; GPU: an entry.
template <class ExecutionSpace, class Scalar, class Index>
struct SampleProducts {
  Position const* order;
  SmallIndices<Index> indices;
  int modes, n;
  double const *weights, *derivatives;  // R; of the samples
  Index* rows;                          // slots
  Scalar* sums;                         // slots x stride; zeros in the padding
  std::size_t columns, stride;
  Position count, slots;  // slots past the samples are zeros of the last row
  SmallFactor<Scalar> factors[max_order];

  std::uint64_t items() const { return slots * (is_gpu<ExecutionSpace> ? stride : 1); }

  KOKKOS_FUNCTION void operator()(std::uint64_t item) const {
    if constexpr (is_gpu<ExecutionSpace>)
      write(item / stride, item % stride, item % stride + 1);
    else
      write(item, 0, stride);
  }

  KOKKOS_INLINE_FUNCTION void write(Position slot, std::size_t first, std::size_t end) const {
    bool const is_sample = slot < count;
    Position const s = order[is_sample ? slot : count - 1];
    if (first == 0) rows[slot] = indices(n, s);
    double const scale = is_sample ? derivatives[s] : 0;
    for (std::size_t r = first; r < end; ++r) {
      double product = 0;
      if (r < columns && scale != 0) {
        product = scale * weights[r];
        for (int m = 0; m < modes; ++m)
          if (m != n) product *= factors[m](indices(m, s), r);
      }
      sums[slot * stride + r] = static_cast<Scalar>(product);
    }
  }
};

/// Adds the products of samples begin to end - 1, one at least, to V. Allocates for sorts; enqueued
/// on exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void add_samples(ExecutionSpace const& exec, LossSamplesPlan<Scalar, Index, MemorySpace>& plan,
                 KruskalTensor<Scalar, MemorySpace> const& model, Position begin, Position end,
                 Factors<Scalar, MemorySpace> const& V) {
  auto& drawn = plan.drawn;
  auto const samples = samples_of(drawn, begin, end);
  Position const count = end - begin;
  Position const chunks = std::max<Position>(2, chunks_of(count, 2));  // one is not reduced
  std::size_t const R = model.weights.extent(0);
  drawn.carry.reserve(exec, chunks, R);
  auto const& slots = drawn.carry.level(0);
  for (int n = 0; n < model.order(); ++n) {
    auto const order = sort_permutation(exec, samples, {n});
    SampleProducts<ExecutionSpace, Scalar, Index> kernel{order.data(),
                                                         small_indices(samples),
                                                         model.order(),
                                                         n,
                                                         drawn.numbers.data(),
                                                         drawn.derivatives.data() + begin,
                                                         slots.rows.data(),
                                                         slots.sums.data(),
                                                         R,
                                                         slots.sums.extent(1),
                                                         count,
                                                         2 * chunks,
                                                         {}};
    for (std::size_t m = 0; m < model.factors.size(); ++m)
      kernel.factors[m] = small_factor(model.factors[m]);
    launch(exec, "sporades::loss::sample_products", kernel.items(),
           is_gpu<ExecutionSpace> ? 1 : R * model.factors.size() + 1, kernel);
    reduce_carries(exec, V[static_cast<std::size_t>(n)], drawn.carry, chunks);
  }
}

}  // namespace sporades::detail

#endif
