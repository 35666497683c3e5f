// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/flat_factors.hpp>
#include <sporades/algorithms/detail/gcp/vectors.hpp>
#include <sporades/kernels/loss_samples.hpp>

namespace sporades::detail {

/// x(p) = max(x(p), least)
template <class Scalar>
struct RaiseTo {
  Scalar* x;
  Scalar least;

  KOKKOS_FUNCTION void operator()(Position p) const {
    if (x[p] < least) x[p] = least;
  }
};

/// A linear function of the model's values, sum_i T(i) m(i), with its gradient: in place of samples
/// that are held, of which it is the tangent. Processes share its terms.
template <class ExecutionSpace, class Scalar, class Index>
class SampledTangent {
  using Memory = typename ExecutionSpace::memory_space;
  using Variables = FlatFactors<Scalar, Memory>;

 public:
  /// The tangent of the last estimate of the plan, which left slopes. No slope falls below -most:
  /// then the function with the slope `most` of each cell beside it does not fall as a value grows.
  /// (Else some cells that are drawn by chance more often than others would.) Fences exec.
  void take(ExecutionSpace const& exec, LossSamplesPlan<Scalar, Index, Memory> const& plan,
            double most, MttkrpAllModesOptions options) {
    plan_ = {};
    auto T = slopes_of(exec, plan);
    is_zero_ = T.nnz() == 0;
    if (is_zero_) return;
    launch(exec, "sporades::gcp::raise_slopes", T.nnz(), 1,
           RaiseTo<Scalar>{T.values.data(), static_cast<Scalar>(-most)});
    processes_ = plan.exact.work.places.processes;
    auto const cuts = even_cuts(processes_.size(), T.nnz());
    auto const me = static_cast<std::size_t>(processes_.rank());
    auto const own = std::make_pair(cuts[me], cuts[me + 1]);
    T.coordinates = Kokkos::subview(T.coordinates, Kokkos::ALL, own);
    T.values = Kokkos::subview(T.values, own);
    options.products.updatable = false;
    plan_ = make_mttkrp_all_modes_plan(exec, hand_over(T), options);
  }

  /// Its value at the model of the factors x, and adds its gradient to V. room: overwritten. Fences
  /// exec.
  double add(ExecutionSpace const& exec, FlatOperations<ExecutionSpace, Scalar> const& op,
             Variables const& x, Variables const& V, Variables const& room) {
    if (is_zero_) return 0;
    factors_changed(plan_);
    mttkrp_all_modes(exec, plan_, x.factors, room.factors);
    combine_across<Add>(exec, processes_, "gradients", room.factors, shared_);
    op.combine("sporades::gcp::add_tangent", 1, V.entries, 1, room.entries, V.entries);
    auto const first = with_padding(x.factors[0]).size();
    auto const range = std::make_pair(std::size_t{0}, static_cast<std::size_t>(first));
    return dot(exec, Kokkos::subview(x.entries, range), Kokkos::subview(room.entries, range));
  }

 private:
  MttkrpAllModesPlan<Scalar, Index, Memory> plan_;
  Communicator processes_;
  Workspace<Memory> shared_;
  bool is_zero_ = true;
};

}  // namespace sporades::detail
