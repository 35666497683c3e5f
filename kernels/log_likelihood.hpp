// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>
#include <sporades/core/detail/dense.hpp>
#include <sporades/core/detail/logarithm.hpp>
#include <sporades/kernels/detail/model_values.hpp>

namespace sporades {

/// Of counts under a Kruskal model: sum_{x_p > 0} x_p log m_p - sum of all entries of M. What does
/// not depend on the model, log x_p!, is left out, as Tensor Toolbox does.
struct LogLikelihood {
  double value = 0;                  // -infinity where zero_model_nonzeros > 0
  Position zero_model_nonzeros = 0;  // with x_p > 0 and m_p exactly 0
};

namespace detail {

/// Memory that calls of log_likelihood share one after another.
template <class MemorySpace>
struct LogLikelihoodBuffers {
  Workspace<MemorySpace> workspace;
  Kokkos::View<double*, MemorySpace> sums;  // 2 x 32 of the nonzeros, N x R of columns, R weights
  typename Kokkos::View<double*, MemorySpace>::HostMirror host;
};

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

  Position blocks() const { return (model.nnz + block - 1) / block; }
  Position items() const { return blocks() * (is_gpu<ExecutionSpace> ? lanes : 1); }

  KOKKOS_FUNCTION void operator()(Position item) const {
    if constexpr (is_gpu<ExecutionSpace>)
      sum_lane(item / lanes, item % lanes);
    else
      sum_block(item);
  }

  KOKKOS_INLINE_FUNCTION Position end_of(Position b) const {
    return (b + 1) * block < model.nnz ? (b + 1) * block : model.nnz;
  }

  KOKKOS_INLINE_FUNCTION void sum_lane(Position b, std::uint64_t lane) const {
    Position const end = end_of(b);
    double terms = 0, zeros = 0;
    for (Position p = b * block + lane; p < end; p += lanes) {
      double const x = static_cast<double>(model.values(p));
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
        x[q] = q < count ? static_cast<double>(model.values(p + q)) : 0;
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

}  // namespace detail

/// The log-likelihood of the model of these factors and weights (R doubles in the memory of X).
/// X: I_0 x ... x I_{N-1}, values >= 0; A[n]: I_n x R. In double and in an order given by the
/// shapes alone: the same bits on every run and number of threads. (N + 1) R nnz flops. Fences
/// exec. Throws Error if the shapes disagree; X's indices are trusted.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Weights>
LogLikelihood log_likelihood(ExecutionSpace const& exec,
                             CooTensor<Scalar, Index, MemorySpace> const& X,
                             Factors<Scalar, MemorySpace> const& A, Weights const& weights,
                             detail::LogLikelihoodBuffers<MemorySpace>& buffers) {
  using Kernel =
      detail::LogLikelihoodLanes<ExecutionSpace, detail::CooModel<Scalar, Index, MemorySpace>>;
  std::size_t const R = weights.extent(0), N = X.dims.size(), lanes = 2 * Kernel::lanes;
  expects(A.size() == N, "log_likelihood: ", A.size(), " factors for order ", N);
  for (std::size_t n = 0; n < N; ++n)
    expects(A[n].extent(0) == X.dims[n] && A[n].extent(1) == R, "log_likelihood: A[", n, "] is ",
            A[n].extent(0), " x ", A[n].extent(1), ", there are ", R, " weights, and mode ", n,
            " has ", X.dims[n]);
  std::size_t const size = lanes + (N + 1) * R;
  if (buffers.host.extent(0) != size) {  // the last of the two
    buffers.sums = detail::uninitialized<Kokkos::View<double*, MemorySpace>>(
        exec, "sporades::log_likelihood::sums", size);
    buffers.host = Kokkos::create_mirror_view(buffers.sums);
  }
  auto const part = [&](std::size_t begin, std::size_t size) {
    return Kokkos::subview(buffers.sums, std::make_pair(begin, begin + size));
  };
  for (std::size_t n = 0; n < N; ++n)
    detail::column_sums(exec, A[n], part(lanes + n * R, R), buffers.workspace);
  if (X.nnz() == 0) {
    Kokkos::deep_copy(exec, part(0, lanes), 0);
  } else {
    Kernel kernel{detail::coo_model(X, A, weights.data(), R), nullptr};
    Position const blocks = kernel.blocks();
    auto const partial = buffers.workspace.template get<double>(
        exec, blocks * lanes + detail::scratch_of_sum_blocks(blocks, lanes));
    kernel.out = partial.data();
    detail::launch_items(exec, "sporades::log_likelihood::terms", kernel.items(), kernel);
    double const* const sums =
        detail::sum_blocks<ExecutionSpace>(exec, partial.data(), blocks, lanes);
    Kokkos::deep_copy(
        exec, part(0, lanes),
        Kokkos::View<double const*, MemorySpace, Kokkos::MemoryUnmanaged>(sums, lanes));
  }
  Kokkos::deep_copy(exec, part(lanes + N * R, R), weights);
  Kokkos::deep_copy(exec, buffers.host, buffers.sums);
  detail::fence(exec, "sporades::log_likelihood");
  LogLikelihood result;
  double zeros = 0, mass = 0;
  for (std::size_t l = 0; l < Kernel::lanes; ++l) {
    result.value += buffers.host(l);
    zeros += buffers.host(Kernel::lanes + l);
  }
  for (std::size_t r = 0; r < R; ++r) {
    double product = buffers.host(lanes + N * R + r);
    for (std::size_t n = 0; n < N; ++n) product *= buffers.host(lanes + n * R + r);
    mass += product;
  }
  result.value -= mass;
  result.zero_model_nonzeros = static_cast<Position>(zeros);
  return result;
}

/// The same of a Kruskal tensor, with buffers of its own; Error also where an index is past its
/// mode.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
LogLikelihood log_likelihood(ExecutionSpace const& exec,
                             CooTensor<Scalar, Index, MemorySpace> const& X,
                             KruskalTensor<Scalar, MemorySpace> const& model) {
  check_coordinates(exec, X, "log_likelihood");
  detail::LogLikelihoodBuffers<MemorySpace> buffers;
  auto const weights = detail::uninitialized<Kokkos::View<double*, MemorySpace>>(
      exec, "sporades::log_likelihood::weights", model.weights.extent(0));
  Kokkos::deep_copy(exec, weights, model.weights);
  return log_likelihood(exec, X, model.factors, weights, buffers);
}

}  // namespace sporades
