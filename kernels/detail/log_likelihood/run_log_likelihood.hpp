// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense.hpp>
#include <sporades/core/detail/region.hpp>
#include <sporades/formats/detail/check_model.hpp>
#include <sporades/kernels/detail/coo_windows.hpp>
#include <sporades/kernels/detail/log_likelihood/lanes.hpp>
#include <sporades/kernels/log_likelihood.hpp>

/// log_likelihood by memory that calls share one after another.

namespace sporades {
namespace detail {

template <class MemorySpace>
struct LogLikelihoodBuffers {
  Workspace<MemorySpace> workspace;
  Kokkos::View<double*, MemorySpace> sums;  // 2 x 32 of the nonzeros, N x R of columns, R weights
  typename Kokkos::View<double*, MemorySpace>::host_mirror_type host;
};

/// What this process has of a model whose processes share the nonzeros.
template <class Scalar, class MemorySpace>
struct DistributedModel {
  RowMap nonzeros;                         // of all, that are here; they begin where a block does
  std::vector<RowMap> rows;                // of each mode's factor, that are here
  Factors<Scalar, MemorySpace> factors{};  // these rows
};

/// A: one factor a mode; weights: R doubles in the memory of X. X's indices are trusted. windows:
/// of an X in out-of-core memory, else none; the bits are the same, as windows end where blocks do.
/// Where processes share the nonzeros, A are the rows of factors that those here read, and this is
/// collective and gives the log-likelihood of all.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Weights>
LogLikelihood run_log_likelihood(ExecutionSpace const& exec,
                                 CooTensor<Scalar, Index, MemorySpace> const& X,
                                 Factors<Scalar, MemorySpace> const& A, Weights const& weights,
                                 LogLikelihoodBuffers<MemorySpace>& buffers,
                                 Windows<MemorySpace>* windows = nullptr,
                                 DistributedModel<Scalar, MemorySpace> const& distributed = {}) {
  Region const region("sporades::log_likelihood");
  using Kernel = LogLikelihoodLanes<ExecutionSpace, CooModel<Scalar, Index, MemorySpace>>;
  std::size_t const R = weights.extent(0), N = X.dims.size(), lanes = 2 * Kernel::lanes;
  expects(A.size() == N, "log_likelihood: ", A.size(), " factors for order ", N);
  for (std::size_t n = 0; n < N; ++n)
    expects(A[n].extent(0) == X.dims[n] && A[n].extent(1) == R, "log_likelihood: A[", n, "] is ",
            A[n].extent(0), " x ", A[n].extent(1), ", there are ", R, " weights, and mode ", n,
            " has ", X.dims[n]);
  std::size_t const size = lanes + (N + 1) * R;
  if (buffers.host.extent(0) != size) {  // the last of the two
    buffers.sums = uninitialized<Kokkos::View<double*, MemorySpace>>(
        exec, "sporades::log_likelihood::sums", size);
    buffers.host = Kokkos::create_mirror_view(buffers.sums);
  }
  auto const part = [&](std::size_t begin, std::size_t size) {
    return Kokkos::subview(buffers.sums, std::make_pair(begin, begin + size));
  };
  for (std::size_t n = 0; n < N; ++n)
    if (distributed.rows.empty())
      column_sums(exec, A[n], part(lanes + n * R, R), buffers.workspace);
    else
      column_sums(exec, distributed.factors[n], part(lanes + n * R, R), buffers.workspace,
                  distributed.rows[n]);
  Position const nnz = distributed.nonzeros.all(X.nnz()), before = distributed.nonzeros.first();
  if (nnz == 0) {
    fill_view(exec, part(0, lanes), 0);
  } else {
    Position blocks = chunks_of(nnz, Kernel::block);
    auto const partial = buffers.workspace.template get<double>(
        exec, blocks * lanes + scratch_of_sum_blocks(blocks, lanes));
    for_coo_parts(exec, X, windows, Kernel::block,
                  [&](auto const& instance, auto const& part, Position first) {
                    Kernel const kernel{coo_model(part, A, weights.data(), R),
                                        partial.data() + (before + first) / Kernel::block * lanes};
                    if (part.nnz() > 0)
                      launch_items(instance, "sporades::log_likelihood::terms", kernel.items(),
                                   kernel);
                  });
    double* const parts =
        share_blocks(exec, distributed.nonzeros, partial.data(), Kernel::block, blocks, lanes, 1);
    double const* const sums = sum_blocks<ExecutionSpace>(exec, parts, blocks, lanes);
    copy_view(exec, part(0, lanes),
              Kokkos::View<double const*, MemorySpace, Kokkos::MemoryUnmanaged>(sums, lanes));
  }
  copy_view(exec, part(lanes + N * R, R), weights);
  copy_view(exec, buffers.host, buffers.sums);
  fence(exec, "sporades::log_likelihood");
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

}  // namespace detail

template <class ExecutionSpace, class Tensor, class Model>
LogLikelihood log_likelihood(ExecutionSpace const& exec, Tensor const& X, Model const& model) {
  constexpr bool are_known =
      detail::is_instance<Tensor, CooTensor> && detail::is_instance<Model, KruskalTensor>;
  static_assert(are_known, "log_likelihood takes a CooTensor and a KruskalTensor");
  if constexpr (are_known)
    if constexpr (detail::check_types<ExecutionSpace, Tensor, decltype(model.factors)>()) {
      using MemorySpace = typename Tensor::MemorySpace;
      check_coordinates(exec, X, "log_likelihood");
      detail::LogLikelihoodBuffers<MemorySpace> buffers;
      auto const weights = detail::double_weights(exec, model.weights);
      return detail::run_log_likelihood(exec, X, model.factors, weights, buffers);
    }
  return {};
}

template <class Scalar, class Index, class MemorySpace>
Cost log_likelihood_cost(CooTensor<Scalar, Index, MemorySpace> const& X, int R) {
  double rows = 0;
  for (auto dim : X.dims) rows += static_cast<double>(dim);
  return {static_cast<double>(X.nnz()) * (X.order() + 1) * R,
          static_cast<double>(X.storage_bytes()) + rows * R * static_cast<double>(sizeof(Scalar))};
}

}  // namespace sporades
