// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bytes/touched.hpp>
#include <sporades/formats/cfb_tensor.hpp>
#include <sporades/formats/hocfs_tensor.hpp>
#include <sporades/formats/hocoo_tensor.hpp>
#include <sporades/formats/hocsr_tensor.hpp>
#include <sporades/kernels/mttkrp.hpp>
#include <sporades/kernels/ttm_chain.hpp>
#include <support/tensors.hpp>

namespace sporades::test {

using Exec = Kokkos::DefaultHostExecutionSpace;
/// Kernels are not unrolled over the modes for indices of 64 bits: a tenth of the code to compile,
/// for tensors of any order.
using Index = std::uint64_t;
template <template <class, class, class> class Type>
using Of = Type<double, Index, Kokkos::HostSpace>;

/// Orders 1, 3, 4 and 6; a mode of one row; rows that hold most of the nonzeros; empty rows.
inline std::vector<Problem> problems() {
  return {{{200}, 150},
          {{3, 1, 50}, 70},
          {{40, 30, 20}, 3000, 4},
          {{500, 9, 11, 13}, 900},
          {{7, 5, 3, 4, 6, 2}, 800},
          {{4, 5, 6}, 0}};
}

/// 8 bytes for each 128 nonzeros or part of that: a chunk of them each, in tensors as short as
/// these.
inline double chunk_bytes(Position nonzeros) {
  return 8 * static_cast<double>((nonzeros + 127) / 128);
}

inline void watch_tensor(Of<CooTensor> const& X) {
  watch("coordinates", X.coordinates);
  watch("values", X.values);
}
inline void watch_tensor(Of<PackedTensor> const& X) {
  watch("narrow words", X.narrow);
  watch("wide words", X.wide);
  watch("values", X.values);
  watch("rows", X.rows);
  watch("marks", X.marks);
}
inline void watch_tensor(Of<AltoTensor> const& X) {
  watch("low words", X.low);
  watch("high words", X.high);
  watch("values", X.values);
  for (auto const& mode : X.partitions) {
    watch("parts", mode.parts);
    watch("begins of touched parts", mode.begins);
    watch("touched parts", mode.touched);
  }
}
inline void watch_tensor(Of<CsfTensor> const& X) {
  watch("values", X.values);
  for (auto const& level : X.indices) watch("indices", level);
  for (auto const& level : X.first_child) watch("first children", level);
  for (auto const& level : X.marks) watch("marks", level);
}
inline void watch_tensor(Of<FlycooTensor> const& X) {
  watch("records", X.records);
  watch("spare records", X.spare);
  for (auto const& mode : X.modes) {
    watch("pieces", mode.pieces);
    watch("partitions", mode.partitions);
    watch("remap ids", mode.next);
  }
}
inline void watch_tensor(Fibers<Index, Kokkos::HostSpace> const& fibers) {
  watch("coordinates", fibers.coordinates);
  watch("begins", fibers.begin);
  watch("indices", fibers.index);
  watch("marks", fibers.marks);
  watch("heads", fibers.heads);
}
inline void watch_tensor(Of<HierarchicalTensor> const& X) {
  watch_tensor(X.fibers);
  watch("values", X.values);
}
inline void watch_tensor(Of<HocooTensor> const& X) {
  watch_tensor(X.tensor);
}
inline void watch_tensor(Of<HocsrTensor> const& X) {
  watch("begins", X.begin);
  watch("indices", X.index);
  watch("values", X.values);
}
inline void watch_tensor(Of<CfbTensor> const& X) {
  watch("numbers", X.number);
  watch("begins", X.begin);
  watch("indices", X.index);
  watch("values", X.values);
}
inline void watch_tensor(Of<HocfsTensor> const& X) {
  for (auto const& level : X.indices) watch("nodes", level);
  for (auto const& level : X.first_child) watch("first children", level);
  watch("first fibers", X.first_fiber);
  watch("begins", X.begin);
  watch("indices", X.index);
  watch("values", X.values);
  watch("formats", X.formats);
}
inline void watch_tensor(Of<PermutedTensor> const& X) {
  for (auto const& order : X.orders) watch("permutation", order);
  watch_tensor(X.tensor);
}
inline void watch_tensor(Of<sporades::detail::SemiSparseChain> const& chain) {
  watch_tensor(chain.X);
  for (auto const& product : chain.plans) watch_tensor(product.fibers);
}
inline void watch_tensor(Of<MttkrpPlan> const& plan) {
  plan.formats.for_each([](auto const& X) { watch_tensor(X); });
}

}  // namespace sporades::test
