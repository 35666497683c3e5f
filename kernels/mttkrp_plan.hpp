// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/kernels/detail/mttkrp/choice.hpp>
#include <sporades/kernels/mttkrp.hpp>

namespace sporades {

/// What a plan of MTTKRP is made for.
struct MttkrpOptions {
  MttkrpStrategy strategy = MttkrpStrategy::automatic;
  int rank = 16;  // columns that the buffers are made for; any other works and reallocates once
  RowOrder order = RowOrder::automatic;  // of `sorted`; to ask for one is to ask for `sorted`
  bool atomic_flush = false;  // rows that chunks share are added up atomically: bits may change
  int split = -1;             // of `fibers`: modes multiplied once a run, up to N - 2; -1: N - 2
};

/// The formats that MTTKRP on every mode of one tensor wants, built once, and the buffers that its
/// kernels need, so that a product allocates nothing.
/// `sorted`, `fibers`: N sorted copies, packed where indices fit; `csf`: N trees;
/// `permuted`: one copy and N permutations; `alto`, `alto_atomic`: one copy; `atomic`,
/// `duplicated`: the tensor as it is; `automatic`: per mode, by the rules of
/// kernels/mttkrp/choice.hpp.
template <class ScalarType, class IndexType, class MemorySpaceType>
struct MttkrpPlan {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  Dims dims;
  Position nnz = 0;
  std::vector<MttkrpChoice> choices;                             // per mode
  std::vector<PackedTensor<Scalar, Index, MemorySpace>> packed;  // per mode; empty where not used
  std::vector<CooTensor<Scalar, Index, MemorySpace>> coo;        // per mode; empty where not used
  std::vector<CsfTensor<Scalar, Index, MemorySpace>> csf;        // per mode; empty where not used
  PermutedTensor<Scalar, Index, MemorySpace> permuted;
  AltoTensor<Scalar, Index, MemorySpace> alto;
  detail::CarryBuffers<Scalar, Index, MemorySpace> carry;

  int order() const { return static_cast<int>(dims.size()); }

  /// Of the formats and the buffers. Strategies that share the given tensor count it once.
  std::uint64_t storage_bytes() const {
    std::uint64_t bytes = carry.bytes();
    bool shared = false;
    for (int n = 0; n < order(); ++n) {
      auto const strategy = choices[n].strategy;
      shared =
          shared || strategy == MttkrpStrategy::atomic || strategy == MttkrpStrategy::duplicated;
      if (packed[n].order() > 0) bytes += packed[n].storage_bytes();
      if (csf[n].order() > 0) bytes += csf[n].storage_bytes();
      if (coo[n].order() > 0 && !shared) bytes += coo[n].storage_bytes();
    }
    if (shared) bytes += coo[0].storage_bytes();
    if (permuted.order() > 0) bytes += permuted.storage_bytes();
    if (alto.order() > 0) bytes += alto.storage_bytes();
    return bytes;
  }
};

/// Builds what the strategy wants for every mode. X may be in any order; duplicates are allowed.
/// The memory of an X that is handed over is given back as soon as there is a sorted copy. Fences
/// exec. Throws Error if the rank is not positive, an index is past its mode, the split is not
/// possible, indices do not fit the words of strategy `fibers` or `alto`, or of order `morton`, or
/// strategy `alto` needs atomics.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MttkrpPlan<Scalar, Index, MemorySpace> make_mttkrp_plan(ExecutionSpace const& exec,
                                                        CooTensor<Scalar, Index, MemorySpace> X,
                                                        MttkrpOptions const& options = {}) {
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;
  expects(options.rank > 0, "make_mttkrp_plan: rank ", options.rank, " is not positive");
  check_coordinates(exec, X, "make_mttkrp_plan");
  int const N = X.order();
  int const deepest = std::max(0, N - 2);
  MttkrpPlan<Scalar, Index, MemorySpace> plan;
  plan.dims = X.dims;
  plan.nnz = X.nnz();
  plan.packed.resize(N);
  plan.coo.resize(N);
  plan.csf.resize(N);
  plan.carry.atomic = options.atomic_flush;
  bool const is_automatic = options.strategy == MttkrpStrategy::automatic;
  expects(options.split == -1 || options.strategy == MttkrpStrategy::fibers,
          "make_mttkrp_plan: split ", options.split, " is for strategy fibers, not ",
          to_string(options.strategy));
  expects(-1 <= options.split && options.split <= deepest, "make_mttkrp_plan: split ",
          options.split, " of a tensor of order ", N, ": -1 to ", deepest);
  bool const by_layout = is_automatic && options.order == RowOrder::automatic;
  MttkrpChoice common{options.strategy, options.order, options.split < 0 ? deepest : options.split,
                      "asked for"};
  if (by_layout) {
    common = detail::automatic_layout(exec, X, options.rank);
  } else if (is_automatic) {
    common = {MttkrpStrategy::sorted, options.order, 0, "this order was asked for; "};
  }
  if (common.order == RowOrder::automatic) common.order = RowOrder::lexicographic;
  plan.choices.assign(N, common);

  Tensor base;  // X along the curve, or in order of all modes: a stable sort by one is what is left
  bool needs_carry = false;
  for (int n = 0; n < N; ++n) {
    auto& choice = plan.choices[n];
    auto const modes = detail::mttkrp_mode_order(plan.dims, n);
    if (detail::is_linear(choice.strategy) && n == 0) plan.alto = make_alto(exec, X);
    if (choice.strategy == MttkrpStrategy::alto) {
      if (by_layout && detail::needs_atomics<ExecutionSpace>(plan.alto, n))
        choice = {MttkrpStrategy::sorted, RowOrder::lexicographic, 0,
                  "a linear order would need atomics; "};
      else
        detail::refuse_atomics<ExecutionSpace>("make_mttkrp_plan", plan.alto, n,
                                               "sorted, fibers, csf and permuted work");
    }
    switch (choice.strategy) {
      case MttkrpStrategy::atomic:
      case MttkrpStrategy::duplicated:
        plan.coo[n] = X;
        break;
      case MttkrpStrategy::permuted:
        if (n == 0) plan.permuted = make_permuted(exec, X);
        needs_carry = true;
        break;
      case MttkrpStrategy::alto:
      case MttkrpStrategy::alto_atomic:
        plan.carry.own_rows(exec, plan.alto.partitions[n].own_rows, options.rank);
        break;
      case MttkrpStrategy::csf:
        plan.csf[n] = make_csf(exec, X, modes);
        needs_carry = true;
        break;
      default: {
        needs_carry = true;
        bool const fits = detail::fits_packed(plan.dims, n);
        expects(fits || choice.strategy == MttkrpStrategy::sorted,
                "make_mttkrp_plan: strategy fibers: the indices of all modes but ", n, " take ",
                detail::packed_bits(plan.dims, n) - 1, " bits, a word has 63");
        bool const along_curve = choice.order == RowOrder::morton;
        if (base.order() == 0) {
          base = along_curve ? to_coo(exec, make_alto(exec, X))
                             : sorted(exec, X, detail::modes_by_length(plan.dims));
          X = {};
        }
        auto const list = sorted(exec, base, {n});
        if (!fits) {
          plan.coo[n] = list;
          if (is_automatic) choice.reason = "indices do not fit 63 bits";
          break;
        }
        plan.packed[n] = make_packed(exec, list, n);
        if (!is_automatic) break;
        choice.split = detail::measured_split(exec, plan.packed[n], choice.reason);
        if (choice.split > 0) choice.strategy = MttkrpStrategy::fibers;
      }
    }
  }
  if (needs_carry && !options.atomic_flush)
    plan.carry.reserve(exec,
                       detail::chunks_of(plan.nnz, detail::chunk_length<ExecutionSpace>(plan.nnz)),
                       options.rank);
  detail::fence(exec, "sporades::mttkrp::make_plan");
  return plan;
}

/// The nonzeros that the plan was made of, in an order given by the plan: those that it holds as
/// coordinates, else an unpacked copy of one of its formats. Enqueued on exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             MttkrpPlan<Scalar, Index, MemorySpace> const& plan) {
  if (plan.permuted.order() > 0) return plan.permuted.tensor;
  for (auto const& list : plan.coo)
    if (list.order() > 0) return list;
  for (auto const& packed : plan.packed)
    if (packed.order() > 0) return to_coo(exec, packed);
  return plan.alto.order() > 0 ? to_coo(exec, plan.alto) : to_coo(exec, plan.csf.front());
}

/// MTTKRP on mode n with what the plan holds for it; see kernels/mttkrp.hpp. The plan is changed
/// only in its buffers: one product of a plan at a time.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan,
            Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& V) {
  expects(n >= 0 && n < plan.order(), "mttkrp: mode ", n, " of a tensor of order ", plan.order());
  MttkrpStrategy const strategy = plan.choices[n].strategy;
  if (plan.packed[n].order() > 0)
    return mttkrp(exec, plan.packed[n], A, n, V, strategy, plan.carry, plan.choices[n].split);
  if (strategy == MttkrpStrategy::csf)
    return mttkrp(exec, plan.csf[n], A, n, V, strategy, plan.carry);
  if (detail::is_linear(strategy)) return mttkrp(exec, plan.alto, A, n, V, strategy, plan.carry);
  if (strategy == MttkrpStrategy::permuted)
    return mttkrp(exec, plan.permuted, A, n, V, strategy, plan.carry);
  mttkrp(exec, plan.coo[n], A, n, V, strategy, plan.carry);
}

}  // namespace sporades

#include <sporades/eti/mttkrp_plan.hpp>
