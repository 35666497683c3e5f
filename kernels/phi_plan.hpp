// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/mttkrp_plan.hpp>

/// Plans of Phi (kernels/phi.hpp), and what they are made for.

namespace sporades {

/// How Phi adds up output rows. "Same bits": on every run and number of threads.
enum class PhiStrategy {
  /// On hosts `alto` or `pull`, by a decision tree (PhiPlan::products.choices); on GPUs, and where
  /// several processes share the nonzeros, `pull`.
  automatic,
  /// A baseline, in a plan only if it is asked for: nonzeros in any order; each sum of a row is
  /// added atomically. Bits change from run to run.
  atomic,
  /// Nonzeros sorted by mode n, a copy a mode. Same bits.
  pull,
  /// One copy of the nonzeros in a linear order, for all modes. Same bits. On hosts refused for
  /// modes whose rows are used too seldom: these would need atomics.
  alto,
  /// Never chosen: as `alto`, with atomic additions where it needs them. Bits change there.
  alto_atomic,
  /// A baseline, never chosen: one list of coordinates for all modes, in the order of `alto`, of
  /// which each thread of a host takes an equal share; each sum of a row is added atomically. Bits
  /// change from run to run. "COO ALTO, Atomic Edition" of Anderson et al. 2021.
  coo_alto_atomic,
  /// A baseline, never chosen: the list of `coo_alto_atomic` in the parts of `alto`. Each part adds
  /// into a buffer of its own, and a second stage pulls each row from the buffers that hold it.
  /// Same bits. Refused for modes whose rows are used too seldom for buffers. Runs on GPUs, too,
  /// where 1024 parts at most leave most threads without work. "COO ALTO, Pull-based Edition" of
  /// Anderson et al. 2021.
  coo_alto_pull
};

/// Where pi comes from.
enum class Pi {
  /// Computed where it is read.
  on_the_fly,
  /// Kept, nnz x R numbers, from one call of update_pi to the next. Not with the linear orders.
  stored
};

namespace detail {
template <>
struct Names<PhiStrategy> {
  static constexpr char const* kind = "Phi strategy";
  static constexpr char const* list[] = {"automatic",   "atomic",          "pull",         "alto",
                                         "alto-atomic", "coo-alto-atomic", "coo-alto-pull"};
};
template <>
struct Names<Pi> {
  static constexpr char const* kind = "source of pi";
  static constexpr char const* list[] = {"on-the-fly", "stored"};
};
}  // namespace detail

/// What a plan of Phi is made for.
struct PhiOptions {
  PhiStrategy strategy = PhiStrategy::automatic;
  int rank = 16;  // columns that the buffers are made for; any other works and reallocates once
  Pi pi = Pi::on_the_fly;
  Streaming streaming = {};  // where the nonzeros take too much memory, of `pull` on the fly
  bool updatable = false;    // as MttkrpOptions::updatable
};

/// The formats for Phi on every mode of one tensor, built once, and the buffers that its kernels
/// need, so that a call allocates nothing. Where pi is computed on the fly, `pull` and `alto` are
/// MTTKRP's sorted copies and its linear order. They take one pass over the nonzeros where a row
/// fits the registers. Else they take two passes: the nonzeros are weighed by w_p = x_p /
/// max(model_p, epsilon), one more number each, and Phi is the MTTKRP of the weights.
template <class ScalarType, class IndexType, class MemorySpaceType>
struct PhiPlan {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  Dims dims;
  Position nnz = 0;
  PhiStrategy strategy = PhiStrategy::automatic;  // as it turned out, never `automatic`
  Pi pi_source = Pi::on_the_fly;
  MttkrpPlan<Scalar, Index, MemorySpace> products;  // `pull` and `alto`, pi on the fly
  // Per mode: of `atomic` and stored pi, and of `coo_alto_atomic` and `coo_alto_pull`.
  std::vector<CooTensor<Scalar, Index, MemorySpace>> coo;
  std::vector<detail::AltoPartition<MemorySpace>> partitions;  // per mode: of `coo_alto_pull`
  detail::ValueLists<Scalar, MemorySpace> values;              // of `coo`, where they are updatable
  Vector<Scalar, MemorySpace> weights;  // of the nonzeros here: w of the mode at work, once two
                                        // passes are needed
  Matrix<Scalar, MemorySpace> pi;       // nnz x R, where stored
  int pi_mode = -1;                     // the mode that pi is for

  int order() const { return static_cast<int>(dims.size()); }

  /// Bytes of the formats, the buffers, the weights and pi.
  std::uint64_t storage_bytes() const;
};

}  // namespace sporades
