// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/formats/sort_coo.hpp>
#include <sporades/kernels/detail/loss/add_samples.hpp>
#include <sporades/kernels/detail/loss/sample_terms.hpp>
#include <sporades/kernels/loss_enumeration.hpp>
#include <sporades/kernels/loss_samples.hpp>

namespace sporades {
namespace detail {

/// Where the numbers of an estimate are that the host gets.
struct SampleNumbers {
  static constexpr std::size_t sums = 3 * LossBlocks::lanes;  // of a kind of sample, then y_0

  std::size_t rank;

  std::size_t weights() const { return 0; }
  std::size_t masses() const { return rank; }
  std::size_t of(std::size_t kind) const { return 2 * rank + kind * (sums + 1); }
  std::size_t size() const { return of(2); }
};

/// How many cells and entries a call draws.
struct SampleCounts {
  Position cells, entries;

  Position all() const { return cells + entries; }
};

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

/// The options, with X's shape.
template <class Tensor>
void check_sampling(Tensor const& X, LossSampleOptions const& options) {
  char const* const where = "make_loss_samples_plan";
  auto const sampler = options.sampler;
  expects(static_cast<std::size_t>(sampler) < std::size(Names<LossSampler>::list), where,
          ": sampler ", static_cast<int>(sampler), " is none");
  expects(options.samples >= 2, where, ": ", options.samples,
          " samples are fewer than the 2 that a standard error needs");
  expects(options.nonzeros != 1, where, ": 1 nonzero is fewer than the 2 that a standard error ",
          "needs; 0 stands for all");
  expects(options.nonzeros == 0 || sampler != LossSampler::uniform, where,
          ": the sampler uniform draws no nonzeros apart; LossSampleOptions::nonzeros is ",
          options.nonzeros);
  double const cells = dense_size(X.dims);
  expects(sampler != LossSampler::stratified || static_cast<double>(X.nnz()) <= cells / 2, where,
          ": the sampler stratified draws zeros by rejection, but ", X.nnz(), " of ", cells,
          " cells are nonzeros, more than half");
}

/// See make_loss_samples_plan. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
LossSamplesPlan<Scalar, Index, MemorySpace> build_loss_samples_plan(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
    LossSampleOptions const& options, MttkrpAllModesOptions const& products) {
  check_entries(exec, X, "make_loss_samples_plan");
  check_sampling(X, options);
  LossSamplesPlan<Scalar, Index, MemorySpace> plan;
  plan.options = options;
  plan.exact.X = X;
  if (options.nonzeros == 0 && options.sampler != LossSampler::uniform)
    plan.exact = build_loss_gradient_plan(exec, X, products);
  if (options.sampler != LossSampler::semi_stratified)
    plan.ordered = sorted(exec, X, with_other_modes({}, X.order()));
  Position const most = options.samples + options.nonzeros;
  auto& drawn = plan.drawn;
  drawn.entries = allocate_coo<Scalar, Index>(exec, X.dims, most);
  drawn.models = uninitialized<Vector<double, MemorySpace>>(exec, "sporades::loss::models", most);
  drawn.scales = uninitialized<Vector<double, MemorySpace>>(exec, "sporades::loss::scales", most);
  if (options.sampler == LossSampler::model)
    drawn.components = uninitialized<Kokkos::View<std::uint32_t*, MemorySpace>>(
        exec, "sporades::loss::components", options.samples);
  fence(exec, "sporades::make_loss_samples_plan");
  return plan;
}

/// Draws cells by the model, from sums of the factors' columns. Enqueued on exec.
template <class ExecutionSpace, class Plan, class Model>
void draw_by_model(ExecutionSpace const& exec, Plan& plan, Model const& model, std::uint64_t key) {
  auto& drawn = plan.drawn;
  std::size_t const R = model.weights.extent(0);
  std::uint64_t size = 0;
  for (auto const& A : model.factors) size += SumTree::size(A.extent(0), R);
  double* room = drawn.trees.template get<double>(exec, size).data();
  double* const numbers = drawn.numbers.data();
  SampleNumbers const layout{R};
  ComponentMasses masses{numbers + layout.weights(), {}, model.order(), numbers + layout.masses()};
  std::vector<SumTree> trees;
  for (std::size_t n = 0; n < model.factors.size(); ++n) {
    auto const& A = model.factors[n];
    using Kernel = AbsoluteSums<ExecutionSpace, typename Plan::Scalar>;
    Kernel const kernel{small_factor(A), A.extent(0), R, room};
    launch(exec, "sporades::loss::absolute_sums", kernel.items(), SumTree::group * R, kernel);
    masses.columns[n] =
        sum_blocks<ExecutionSpace>(exec, room, quotient_up(A.extent(0), SumTree::group), R);
    trees.push_back({room, A.extent(0), R});
    room += SumTree::size(A.extent(0), R);
  }
  launch(exec, "sporades::loss::masses", R, model.factors.size() + 1, masses);
  launch(exec, "sporades::loss::draw_components", plan.options.samples, R,
         DrawComponents{masses.masses, R, key, drawn.components.data()});
  for (std::size_t n = 0; n < trees.size(); ++n)
    launch(exec, "sporades::loss::draw_indices", plan.options.samples, SumTree::group,
           DrawIndices<typename Plan::Scalar, typename Plan::Index>{
               small_factor(model.factors[n]), trees[n], drawn.components.data(), key, n,
               drawn.entries.indices(static_cast<int>(n))});
}

/// Draws a step's cells and entries, and computes the model there and how often each counts.
/// Enqueued on exec; allocates in the first call.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void draw_samples(ExecutionSpace const& exec, LossSamplesPlan<Scalar, Index, MemorySpace>& plan,
                  KruskalTensor<Scalar, MemorySpace> const& model, SampleCounts const& counts,
                  std::uint64_t step) {
  auto const& options = plan.options;
  auto const& X = plan.exact.X;
  auto& drawn = plan.drawn;
  SampleNumbers const layout{model.weights.extent(0)};
  if (drawn.host.extent(0) != layout.size()) {  // the last of both
    drawn.numbers = uninitialized<Kokkos::View<double*, MemorySpace>>(
        exec, "sporades::loss::sample_numbers", layout.size());
    drawn.host = Kokkos::create_mirror_view(drawn.numbers);
  }
  double* const numbers = drawn.numbers.data();
  Kokkos::View<double*, MemorySpace> const weights(numbers + layout.weights(), layout.rank);
  copy_view(exec, weights, model.weights);
  auto const cells = small_indices(drawn.entries);
  bool const by_model = options.sampler == LossSampler::model;
  bool const rejects = options.sampler == LossSampler::stratified;
  FindCell<Index> const find{small_indices(plan.ordered), plan.ordered.nnz(), X.order()};
  if (counts.cells > 0) {
    std::uint64_t const key = sample_key(options.seed, step, 0);
    if (by_model) {
      draw_by_model(exec, plan, model, key);
    } else {
      DrawCells<Index> kernel{cells, find, rejects, key, {}};
      std::copy(X.dims.begin(), X.dims.end(), kernel.dims);
      launch(exec, "sporades::loss::draw_cells", counts.cells, 10 * X.dims.size(), kernel);
    }
    double const kinds = dense_size(X.dims) - (rejects ? static_cast<double>(X.nnz()) : 0);
    WeighCells<Scalar, Index> kernel{cells,
                                     find,
                                     plan.ordered.values.data(),
                                     drawn.entries.values.data(),
                                     drawn.scales.data(),
                                     kinds / static_cast<double>(counts.cells),
                                     by_model || options.sampler == LossSampler::uniform,
                                     by_model ? numbers + layout.masses() : nullptr,
                                     numbers + layout.weights(),
                                     layout.rank,
                                     counts.cells,
                                     {}};
    for (std::size_t n = 0; n < model.factors.size(); ++n)
      kernel.factors[n] = small_factor(model.factors[n]);
    launch(exec, "sporades::loss::weigh_cells", counts.cells,
           (X.dims.size() + 1) * layout.rank + 60, kernel);
  }
  if (counts.entries > 0) {
    launch(exec, "sporades::loss::draw_entries", counts.entries, 10 * X.dims.size(),
           DrawEntries<Scalar, Index>{small_indices(X), cells, X.values.data(),
                                      drawn.entries.values.data(), X.order(), X.nnz(), counts.cells,
                                      sample_key(options.seed, step, 1)});
    fill_view(exec, Kokkos::subview(drawn.scales, std::make_pair(counts.cells, counts.all())),
              static_cast<double>(X.nnz()) / static_cast<double>(counts.entries));
  }
  if (counts.all() > 0)
    run_model_values(exec, first_samples(drawn, counts.all()), model.factors, weights,
                     drawn.models);
}

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

/// estimated_loss and estimated_gradient; V: null where only the loss is wanted.
template <class ExecutionSpace, class Plan, class Model, class Loss>
LossEstimate run_estimate(ExecutionSpace const& exec, Plan& plan, Model const& model,
                          Loss const& loss, std::uint64_t step, FactorsOf<Plan> const* V,
                          char const* where) {
  auto const& options = plan.options;
  auto& drawn = plan.drawn;
  auto& exact = plan.exact;
  auto const X = exact.X;
  check_model(model, where);
  check_same_dims(X.dims, model.dims(), where);
  if (V) check_gradient(model, *V, where);
  check_zeros(loss, where);
  auto const R = static_cast<std::size_t>(model.rank());
  ExactPart<Loss> const part(loss, options.sampler, model.rank(), where);
  bool const by_model = options.sampler == LossSampler::model;
  bool const semi = options.sampler == LossSampler::semi_stratified;
  bool const no_cells = dense_size(X.dims) == 0 || part.is_all || (by_model && R == 0);
  SampleCounts const counts{no_cells ? 0 : options.samples, X.nnz() > 0 ? options.nonzeros : 0};
  if (V && drawn.derivatives.extent(0) != drawn.models.extent(0))
    drawn.derivatives = uninitialized<Vector<double, typename Plan::MemorySpace>>(
        exec, "sporades::loss::sample_derivatives", drawn.models.extent(0));
  draw_samples(exec, plan, model, counts, step);
  sum_terms(exec, plan, loss, part.c, false, V != nullptr, 0, 0, counts.cells, R);
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
  auto const cells = estimate_of(drawn.host.data() + layout.of(0), counts.cells);
  auto const entries = estimate_of(drawn.host.data() + layout.of(1), counts.entries);
  if (cells.second + entries.second > 0) refuse_entry(exec, X, loss, where);
  if (V && R > 0) {
    if (all_entries) {
      multiply_derivatives(exec, exact, model, part.c, *V);
    } else {
      for (auto const& of_mode : *V) fill_view(exec, of_mode, 0);
      add_cells(exec, model, part.c, exact.work, *V);
    }
    if (counts.all() > 0) add_samples(exec, plan, model, counts.all(), *V);
  }
  return {value + cells.first.value + entries.first.value,
          std::hypot(cells.first.standard_error, entries.first.standard_error)};
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
      return detail::build_loss_samples_plan(exec, X, options, products);
}

template <class ExecutionSpace, class Plan, class Model, class Loss>
LossEstimate estimated_loss(ExecutionSpace const& exec, Plan& plan, Model const& model,
                            Loss const& loss, std::uint64_t step) {
  constexpr bool is_plan = detail::is_instance<Plan, LossSamplesPlan>;
  static_assert(is_plan, "estimated_loss takes a LossSamplesPlan that is not const");
  if constexpr (is_plan && detail::check_loss<Model, Loss>())
    if constexpr (detail::check_types<ExecutionSpace, Plan, decltype(model.factors)>()) {
      detail::Region const region("sporades::estimated_loss");
      return detail::run_estimate(exec, plan, model, loss, step, nullptr, "estimated_loss");
    }
  return {};
}

template <class ExecutionSpace, class Plan, class Model, class Loss, class Output>
LossEstimate estimated_gradient(ExecutionSpace const& exec, Plan& plan, Model const& model,
                                Loss const& loss, std::uint64_t step, Output const& V) {
  constexpr bool is_plan = detail::is_instance<Plan, LossSamplesPlan>;
  static_assert(is_plan, "estimated_gradient takes a LossSamplesPlan that is not const");
  if constexpr (is_plan && detail::check_loss<Model, Loss>())
    if constexpr (detail::check_types<ExecutionSpace, Plan, decltype(model.factors), Output>()) {
      detail::Region const region("sporades::estimated_gradient");
      auto const& products = detail::as_factors<Plan>(V);
      return detail::run_estimate(exec, plan, model, loss, step, &products, "estimated_gradient");
    }
  return {};
}

}  // namespace sporades

#include <sporades/eti/run_loss_samples.hpp>
