// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/cost.hpp>
#include <sporades/kernels/detail/mttkrp/alto.hpp>
#include <sporades/kernels/detail/mttkrp/alto_pull.hpp>
#include <sporades/kernels/mttkrp_plan.hpp>

/// Which format a plan's product reads, what it reads of it, and how many rows of a mode it uses.

namespace sporades::detail {

/// Bytes that a product on mode n reads.
template <class Scalar, class Index, class MemorySpace>
double bytes_read(CooTensor<Scalar, Index, MemorySpace> const& X, int) {
  return static_cast<double>(X.storage_bytes());
}
template <class Scalar, class Index, class MemorySpace>
double bytes_read(PackedTensor<Scalar, Index, MemorySpace> const& X, int) {
  return nonzero_bytes(X) + static_cast<double>(X.rows.extent(0) * sizeof(Index));
}
template <class Scalar, class Index, class MemorySpace>
double bytes_read(AltoTensor<Scalar, Index, MemorySpace> const& X, int n) {
  std::uint64_t bytes = X.nnz() * sizeof(Scalar) + 8 * (X.low.extent(0) + X.high.extent(0));
  auto const& mode = X.partitions[n];
  if (!needs_atomics<typename MemorySpace::execution_space>(X, n))
    bytes += mode.parts.extent(0) * sizeof(AltoPart) + 8 * mode.begins.extent(0) +
             4 * mode.touched.extent(0);
  return static_cast<double>(bytes);
}
template <class Scalar, class Index, class MemorySpace>
double bytes_read(CsfTensor<Scalar, Index, MemorySpace> const& X, int) {
  std::uint64_t bytes = X.storage_bytes();
  for (auto const& level : X.marks) bytes -= level.extent(0) * sizeof(Position);
  return static_cast<double>(bytes);
}
template <class Scalar, class Index, class MemorySpace>
double bytes_read(PermutedTensor<Scalar, Index, MemorySpace> const& X, int) {
  return static_cast<double>(X.tensor.storage_bytes() + X.nnz() * sizeof(Position));
}

/// Bytes of the records of a FlycooTensor.
template <class Scalar, class Index, class MemorySpace>
double record_bytes(FlycooTensor<Scalar, Index, MemorySpace> const& X) {
  return static_cast<double>(X.nnz()) * X.layout.units *
         static_cast<double>(sizeof(FlycooUnit<MemorySpace>));
}

/// Bytes of a remap: the records are read and written, and their places in the next order read.
template <class Scalar, class Index, class MemorySpace>
double remap_bytes(FlycooTensor<Scalar, Index, MemorySpace> const& X) {
  if (X.order() < 2) return 0;
  return 2 * record_bytes(X) + static_cast<double>(X.nnz()) * X.id_bits / 8;
}

/// Bytes that a product reads: its pieces, and its records or, where that is more, what the remap
/// after it moves.
template <class Scalar, class Index, class MemorySpace>
double bytes_read(FlycooTensor<Scalar, Index, MemorySpace> const& X, int n) {
  return std::max(record_bytes(X), remap_bytes(X)) +
         static_cast<double>(X.modes[n].pieces.extent(0) * sizeof(Position));
}

/// Calls run(X) with the format that a plan holds for mode n: one of those that `automatic` takes.
template <class Scalar, class Index, class MemorySpace, class Run>
void with_format(MttkrpPlan<Scalar, Index, MemorySpace> const& plan, int n, Run const& run) {
  plan.formats.visit(n, [&](auto const& X) {
    using Format = std::decay_t<decltype(X)>;
    if constexpr (is_instance<Format, PackedTensor> || is_instance<Format, AltoTensor> ||
                  is_instance<Format, CooTensor>)
      run(X);
    else
      fail("a plan of strategy ", to_string(plan.choices[static_cast<std::size_t>(n)].strategy),
           " where `automatic` is expected");
  });
}

/// Bytes that the plan's product on mode n reads of the nonzeros.
template <class Scalar, class Index, class MemorySpace>
double bytes_read(MttkrpPlan<Scalar, Index, MemorySpace> const& plan, int n) {
  if (plan.nnz == 0) return 0;
  double bytes = plan.formats.visit(n, [&](auto const& X) { return bytes_read(X, n); });
  if (plan.choices[n].strategy == MttkrpStrategy::flycoo_blocks) {  // partitions, not pieces
    auto const& mode = plan.formats.template as<FlycooTensor>(n)->modes[n];
    bytes += sizeof(Position) * (static_cast<double>(mode.partitions.extent(0)) -
                                 static_cast<double>(mode.pieces.extent(0)));
  }
  if (!plan.work.pulls.empty()) bytes += static_cast<double>(plan.work.pulls[n].bytes());
  if (plan.choices[n].slices > 1)
    bytes +=
        static_cast<double>((plan.work.parts[n].count() + plan.dims[n] + 1) * sizeof(Position));
  return bytes;
}

/// Rows of mode n that the plan's nonzeros use. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
double used_rows(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace> const& plan,
                 int n) {
  if (plan.choices[n].slices > 1) return static_cast<double>(plan.work.parts[n].rows());
  return plan.formats.visit(n, [&](auto const& X) -> double {
    using Format = std::decay_t<decltype(X)>;
    if constexpr (is_instance<Format, PackedTensor>)
      return static_cast<double>(X.rows.extent(0));
    else if constexpr (is_instance<Format, CsfTensor>)
      return static_cast<double>(X.nodes(0));
    else if constexpr (is_instance<Format, FlycooTensor>)
      return static_cast<double>(X.modes[static_cast<std::size_t>(n)].rows);
    else if constexpr (is_instance<Format, PermutedTensor>)
      return used_rows(exec, X.tensor, n);
    else if constexpr (is_instance<Format, AltoTensor>)
      return used_rows(exec, plan.dims[static_cast<std::size_t>(n)], plan.nnz,
                       AltoIndex<MemorySpace>{X.low, X.high, AltoMasks(X.layout), n});
    else
      return used_rows(exec, X, n);
  });
}

}  // namespace sporades::detail
