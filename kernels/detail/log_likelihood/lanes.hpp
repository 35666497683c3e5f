// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>
#include <sporades/core/detail/logarithm.hpp>
#include <sporades/kernels/detail/model_values.hpp>

namespace sporades::detail {

/// Nonzeros in blocks of 32 lanes of 64, as DotLanes has them; a block leaves 32 sums of
/// x_p log m_p and 32 numbers of zero models.
template <class ExecutionSpace, class Model>
struct LogLikelihoodLanes {
  static constexpr std::uint64_t lanes = 32;
  static constexpr Position block = 64 * lanes;
  static constexpr double least_normal = std::numeric_limits<double>::min();
  static constexpr double greatest = std::numeric_limits<double>::max();

  Model model;
  double* out;  // 64 a block

  Position blocks() const { return (model.size() + block - 1) / block; }
  Position items() const { return blocks() * (is_gpu<ExecutionSpace> ? lanes : 1); }

  KOKKOS_FUNCTION void operator()(Position item) const {
    if constexpr (is_gpu<ExecutionSpace>)
      sum_lane(item / lanes, item % lanes);
    else
      sum_block(item);
  }

  KOKKOS_INLINE_FUNCTION Position end_of(Position b) const {
    return (b + 1) * block < model.size() ? (b + 1) * block : model.size();
  }

  KOKKOS_INLINE_FUNCTION void sum_lane(Position b, std::uint64_t lane) const {
    Position const end = end_of(b);
    double terms = 0, zeros = 0;
    for (Position p = b * block + lane; p < end; p += lanes) {
      double const x = model.value(p);
      if (x == 0) continue;
      double const m = model.template at<ExecutionSpace>(p);
      terms += x * math::log(m);
      if (m == 0) zeros += 1;
    }
    out[2 * lanes * b + lane] = terms;
    out[2 * lanes * b + lanes + lane] = zeros;
  }

  /// All lanes of a block, in the order in which the nonzeros lie.
  KOKKOS_INLINE_FUNCTION void sum_block(Position b) const {
    constexpr int batch = 8;
    Position const end = end_of(b);
    double terms[lanes] = {}, zeros[lanes] = {};
    for (Position p = b * block; p < end; p += batch) {
      int const count = static_cast<int>(end - p < batch ? end - p : batch);
      double* const lane_terms = terms + p % lanes;
      double* const lane_zeros = zeros + p % lanes;
      double x[batch], m[batch];
      for (int q = 0; q < batch; ++q) {
        x[q] = q < count ? model.value(p + q) : 0;
        m[q] = x[q] != 0 ? model.template at<ExecutionSpace>(p + q) : 1;
      }
      int regular = 0;
#pragma omp simd reduction(+ : regular)
      for (int q = 0; q < batch; ++q) {
        bool const is_normal = m[q] >= least_normal && m[q] <= greatest;
        lane_terms[q] += x[q] * math::log_of_normal(is_normal ? m[q] : 1.0);
        regular += is_normal ? 1 : 0;
      }
      if (regular == batch) continue;
      for (int q = 0; q < batch; ++q) {
        if (m[q] >= least_normal && m[q] <= greatest) continue;
        lane_terms[q] += x[q] * math::log(m[q]);
        if (m[q] == 0) lane_zeros[q] += 1;
      }
    }
    for (std::uint64_t lane = 0; lane < lanes; ++lane) {
      out[2 * lanes * b + lane] = terms[lane];
      out[2 * lanes * b + lanes + lane] = zeros[lane];
    }
  }
};

}  // namespace sporades::detail
