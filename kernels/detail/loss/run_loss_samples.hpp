// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/kernels/detail/loss/add_samples.hpp>
#include <sporades/kernels/detail/loss/draw_samples.hpp>
#include <sporades/kernels/detail/loss/sample_terms.hpp>
#include <sporades/kernels/loss_enumeration.hpp>

namespace sporades {
namespace detail {

/// What an estimate counts exactly of every cell: f(0, m), or its tangent.
template <class Loss>
struct ExactPart {
  LossPolynomial c;
  bool is_all;  // nothing is left to sample

  ExactPart(Loss const& loss, LossSampler sampler, int rank, char const* where)
      : c{}, is_all(false) {
    if (sampler != LossSampler::model) return;
    if (std::optional<LossPolynomial> const all = loss.at_zero();
        all && ((*all)[3] == 0 || rank <= most_cubic_rank)) {
      c = *all;
      is_all = true;
      return;
    }
    c = {static_cast<double>(loss.value(0.0, 0.0)), static_cast<double>(loss.derivative(0.0, 0.0)),
         0, 0};
    expects(c[0] - c[0] == 0 && c[1] - c[1] == 0, where, ": ", loss.name(),
            " of x = 0 has no tangent at m = 0, which the sampler model needs: its value is ", c[0],
            ", its slope ", c[1]);
  }
};

/// Terms of the samples of a kind, from number `begin` on, and their sums to the numbers. Enqueued
/// on exec.
template <class ExecutionSpace, class Plan, class Loss>
void sum_terms(ExecutionSpace const& exec, Plan& plan, Loss const& loss, LossPolynomial const& c,
               bool less_zero, bool wants_derivatives, std::size_t kind, Position begin,
               Position count, std::size_t rank) {
  using Memory = typename Plan::MemorySpace;
  using Kernel = SampleTerms<ExecutionSpace, typename Plan::Scalar, Loss>;
  static_assert(Kernel::sums == SampleNumbers::sums);
  if (count == 0) return;
  auto& drawn = plan.drawn;
  Position const blocks = LossBlocks::count(count);
  double* const partial =
      drawn.sums
          .template get<double>(exec,
                                blocks * Kernel::sums + scratch_of_sum_blocks(blocks, Kernel::sums))
          .data();
  double* const to = drawn.numbers.data() + SampleNumbers{rank}.of(kind);
  Kernel const kernel{loss,
                      c[0],
                      c[1],
                      c[2],
                      c[3],
                      less_zero,
                      drawn.entries.values.data() + begin,
                      drawn.models.data() + begin,
                      drawn.scales.data() + begin,
                      wants_derivatives ? drawn.derivatives.data() + begin : nullptr,
                      partial,
                      to + Kernel::sums,
                      count};
  launch(exec, "sporades::loss::sample_terms", kernel.items(), 20 * LossBlocks::length, kernel);
  copy_view(exec, Kokkos::View<double*, Memory>(to, Kernel::sums),
            Kokkos::View<double const*, Memory, Kokkos::MemoryUnmanaged>(
                sum_blocks<ExecutionSpace>(exec, partial, blocks, Kernel::sums), Kernel::sums));
}

/// The estimate of the samples of a kind, of its numbers; how many the loss does not allow.
inline std::pair<LossEstimate, double> estimate_of(double const* numbers, Position count) {
  if (count == 0) return {{0, 0}, 0};
  constexpr std::size_t lanes = LossBlocks::lanes;
  double sum = 0, squares = 0, refused = 0;
  for (std::size_t l = 0; l < lanes; ++l) {
    sum += numbers[l];
    squares += numbers[lanes + l];
    refused += numbers[2 * lanes + l];
  }
  auto const S = static_cast<double>(count);
  double const variance = S / (S - 1) * (squares - sum / S * sum);
  return {{S * numbers[3 * lanes] + sum, std::sqrt(variance < 0 ? 0.0 : variance)}, refused};
}

/// The estimates of what is drawn. wants_slopes: the derivatives of drawn cells without V. Fences
/// exec.
template <class ExecutionSpace, class Plan, class Model, class Loss>
LossEstimate estimate_samples(ExecutionSpace const& exec, Plan& plan, Model const& model,
                              Loss const& loss, ExactPart<Loss> const& part,
                              FactorsOf<Plan> const* V, bool wants_slopes, char const* where) {
  auto const& options = plan.options;
  auto& drawn = plan.drawn;
  auto& exact = plan.exact;
  auto const X = exact.X;
  auto const R = static_cast<std::size_t>(model.rank());
  bool const semi = options.sampler == LossSampler::semi_stratified;
  auto const counts = drawn.counts;
  Position const begin = part.is_all ? counts.cells : 0;  // cells may be held that are not needed
  drawn.first = begin;
  wants_slopes = wants_slopes || V;
  if (wants_slopes && drawn.derivatives.extent(0) != drawn.models.extent(0))
    drawn.derivatives = uninitialized<Vector<double, typename Plan::MemorySpace>>(
        exec, "sporades::loss::sample_derivatives", drawn.models.extent(0));
  auto const weights = put_weights(exec, drawn, model.weights);
  if (counts.all() > 0)
    run_model_values(exec, samples_of(drawn, 0, counts.all()), model.factors, weights,
                     drawn.models);
  sum_terms(exec, plan, loss, part.c, false, wants_slopes, 0, begin, counts.cells - begin, R);
  sum_terms(exec, plan, loss, part.c, semi, V != nullptr, 1, counts.cells, counts.entries, R);

  bool const all_entries = options.nonzeros == 0 && options.sampler != LossSampler::uniform;
  auto counted = X;
  if (!all_entries) counted = decltype(counted){X.dims, {}, {}, {}};
  auto& derivatives = exact.work.derivatives;
  if (V && derivatives.extent(0) != counted.nnz())
    derivatives = uninitialized<VectorOf<Plan>>(exec, "sporades::loss::derivatives", counted.nnz());
  auto* const slopes = V ? derivatives.data() : nullptr;
  double const value =
      semi ? run_loss(exec, counted, model, BesideZero<Loss>{loss}, part.c, where, exact.work,
                      slopes)
           : run_loss(exec, counted, model, loss, part.c, where, exact.work, slopes);
  copy_view(exec, drawn.host, drawn.numbers);
  fence(exec, where);
  SampleNumbers const layout{R};
  auto const cells = estimate_of(drawn.host.data() + layout.of(0), counts.cells - begin);
  auto const entries = estimate_of(drawn.host.data() + layout.of(1), counts.entries);
  if (cells.second + entries.second > 0)
    refuse_entry(exec, exact.work.places.processes, X, loss, where);
  if (V && R > 0) {
    if (all_entries)
      multiply_derivatives(exec, exact, model, part.c, *V);
    else
      add_cells(exec, model, part.c, exact.work, *V, false);
    if (counts.all() > begin) add_samples(exec, plan, model, begin, counts.all(), *V);
  }
  return {value + cells.first.value + entries.first.value,
          std::hypot(cells.first.standard_error, entries.first.standard_error)};
}

/// estimated_loss and estimated_gradient; V: null where only the loss is wanted; step: null for the
/// samples that are held.
template <class ExecutionSpace, class Plan, class Model, class Loss>
LossEstimate run_estimate(ExecutionSpace const& exec, Plan& plan, Model const& model,
                          Loss const& loss, std::uint64_t const* step, FactorsOf<Plan> const* V,
                          bool wants_slopes = false) {
  char const* const where = V ? "estimated_gradient" : "estimated_loss";
  Region const region("sporades::", where);
  check_model(model, where);
  check_same_dims(plan.exact.X.dims, model.dims(), where);
  if (V) check_gradient(model, *V, where);
  check_zeros(loss, where);
  ExactPart<Loss> const part(loss, plan.options.sampler, model.rank(), where);
  expects(step || plan.drawn.are_held, where,
          ": no samples are held: draw_loss_samples draws some");
  plan.exact.work.group_sums.clear();
  if (step) {
    plan.drawn.are_held = false;
    draw_samples(exec, plan, model, *step, !part.is_all);
  }
  return estimate_samples(exec, plan, model, loss, part, V, wants_slopes, where);
}

/// What sampled_slopes returns, of the last estimate, which left derivatives. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> slopes_of(
    ExecutionSpace const& exec, LossSamplesPlan<Scalar, Index, MemorySpace> const& plan) {
  auto const& drawn = plan.drawn;
  Position const end = std::max(drawn.first, drawn.counts.cells);
  auto const cells = samples_of(drawn, drawn.first, end);
  auto slopes = allocate_coo<Scalar, Index>(exec, cells.dims, cells.nnz());
  copy_view(exec, slopes.coordinates, cells.coordinates);
  copy_view(exec, slopes.values,
            Kokkos::subview(drawn.derivatives, std::make_pair(drawn.first, end)));
  return sum_duplicates(exec, hand_over(slopes)).tensor;
}

}  // namespace detail

template <class ScalarType, class IndexType, class MemorySpaceType>
std::uint64_t LossSamplesPlan<ScalarType, IndexType, MemorySpaceType>::storage_bytes() const {
  bool const is_copy = ordered.values.data() != exact.X.values.data();
  return exact.storage_bytes() + (is_copy ? ordered.storage_bytes() : 0) + drawn.bytes();
}

template <class ExecutionSpace, class Tensor>
auto make_loss_samples_plan(ExecutionSpace const& exec, Tensor const& X,
                            LossSampleOptions const& options,
                            MttkrpAllModesOptions const& products) {
  constexpr bool is_coo = detail::is_instance<Tensor, CooTensor>;
  static_assert(is_coo, "make_loss_samples_plan takes a CooTensor: make_coo makes one of Views");
  if constexpr (is_coo)
    if constexpr (detail::check_types<ExecutionSpace, Tensor>())
      return detail::build_loss_samples_plan({}, exec, X, options, products);
}

namespace detail {

/// Whether functions of estimates take these types; a static_assert says what they do not take.
template <class ExecutionSpace, class Plan, class Model, class Loss, class... Output>
constexpr bool check_estimate() {
  constexpr bool is_plan = is_instance<Plan, LossSamplesPlan>;
  static_assert(is_plan,
                "estimated_loss and estimated_gradient take a LossSamplesPlan that is not const");
  if constexpr (is_plan && check_loss<Model, Loss>())
    return check_types<ExecutionSpace, Plan, decltype(Model::factors), Output...>();
  return false;
}

}  // namespace detail

template <class ExecutionSpace, class Plan, class Model>
void draw_loss_samples(ExecutionSpace const& exec, Plan& plan, Model const& model,
                       std::uint64_t step) {
  constexpr bool is_plan =
      detail::is_instance<Plan, LossSamplesPlan> && detail::is_instance<Model, KruskalTensor>;
  static_assert(is_plan,
                "draw_loss_samples takes a LossSamplesPlan that is not const, and a KruskalTensor");
  if constexpr (is_plan)
    if constexpr (detail::check_types<ExecutionSpace, Plan, decltype(model.factors)>()) {
      detail::Region const region("sporades::draw_loss_samples");
      detail::check_model(model, "draw_loss_samples");
      detail::check_same_dims(plan.exact.X.dims, model.dims(), "draw_loss_samples");
      detail::draw_samples(exec, plan, model, step, true);
      plan.exact.work.group_sums.clear();
      plan.drawn.are_held = true;
    }
}

template <class ExecutionSpace, class Plan, class Model, class Loss>
auto sampled_slopes(ExecutionSpace const& exec, Plan& plan, Model const& model, Loss const& loss,
                    std::uint64_t step) {
  if constexpr (detail::check_estimate<ExecutionSpace, Plan, Model, Loss>()) {
    detail::run_estimate(exec, plan, model, loss, &step, nullptr, true);
    return detail::slopes_of(exec, plan);
  }
}

template <class ExecutionSpace, class Plan, class Model, class Loss>
LossEstimate estimated_loss(ExecutionSpace const& exec, Plan& plan, Model const& model,
                            Loss const& loss, std::uint64_t step) {
  if constexpr (detail::check_estimate<ExecutionSpace, Plan, Model, Loss>())
    return detail::run_estimate(exec, plan, model, loss, &step, nullptr);
  return {};
}

template <class ExecutionSpace, class Plan, class Model, class Loss>
LossEstimate estimated_loss(ExecutionSpace const& exec, Plan& plan, Model const& model,
                            Loss const& loss) {
  if constexpr (detail::check_estimate<ExecutionSpace, Plan, Model, Loss>())
    return detail::run_estimate(exec, plan, model, loss, nullptr, nullptr);
  return {};
}

template <class ExecutionSpace, class Plan, class Model, class Loss, class Output>
LossEstimate estimated_gradient(ExecutionSpace const& exec, Plan& plan, Model const& model,
                                Loss const& loss, std::uint64_t step, Output const& V) {
  if constexpr (detail::check_estimate<ExecutionSpace, Plan, Model, Loss, Output>()) {
    auto const& products = detail::as_factors<Plan>(V);
    return detail::run_estimate(exec, plan, model, loss, &step, &products);
  }
  return {};
}

template <class ExecutionSpace, class Plan, class Model, class Loss, class Output>
LossEstimate estimated_gradient(ExecutionSpace const& exec, Plan& plan, Model const& model,
                                Loss const& loss, Output const& V) {
  if constexpr (detail::check_estimate<ExecutionSpace, Plan, Model, Loss, Output>()) {
    auto const& products = detail::as_factors<Plan>(V);
    return detail::run_estimate(exec, plan, model, loss, nullptr, &products);
  }
  return {};
}

}  // namespace sporades

#include <sporades/eti/run_loss_samples.hpp>
