// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/loss/draw.hpp>
#include <sporades/kernels/loss_gradient.hpp>

/// Estimates of the loss L of a tensor X under a Kruskal model, and of its gradient, where absent
/// entries are zeros and f(0, m) is any function of m (loss_value.hpp, loss_gradient.hpp): from
/// cells that are drawn at random.
///
/// LossSampler::model. P is f(0, m) itself where that is a polynomial (LossDefaults::at_zero), else
/// its tangent at m = 0, P(m) = f(0, 0) + df/dm(0, 0) m. With g(m) = f(0, m) - P(m),
///   L = sum over entries p of (f(x_p, m_p) - P(m_p)) + sum over all cells of P(m)
///     + sum over cells without entry of g(m)
/// The first two sums are exact, the second in closed form. The third is estimated from S cells
/// that are drawn with replacement in proportion to the model of absolute values,
///   a = sum_r abs(weights(r)) prod_n abs(A_n(i_n, r)),   mass M = sum of a over all cells,
/// that is, a component r by its part of M, then an index of each mode by its part of the column
/// A_n(:, r). The estimate is
///   (M / S) sum over drawn cells s of g(m_s) / a_s, those with an entry dropped.
/// Gradients have dg/dm in place of g. Both are unbiased: where a = 0, m, g and dg/dm are 0. The
/// variance of the loss is, with sums over the cells without entry,
///   ( M sum of g^2 / a - (sum of g)^2 ) / S
/// and likewise of each entry of the gradient. abs(m) <= a, so that a drawn cell counts in the
/// gradient at most M / S times the largest abs(dg/dm) / abs(m), which f's second derivative
/// bounds: 1 for bernoulli-odds. Good where f(0, m) is near its tangent, or M is not far above S.
/// Losses with a pole at m = 0 (gamma, rayleigh, beta with b < 1) stay unbiased, but their error is
/// of no use: enumerate their cells, or draw them uniformly.
///
/// Drawing entries of a product by their values: Lu, Hu & Zeng, IJCAI 2017; all zeros in closed
/// form, by Gram matrices: arXiv 2104.10796. Their combination is new to our knowledge. The other
/// samplers are those of Kolda & Hong, SIAM J. Math. Data Sci. 2(4), 2020 (arXiv 1906.01687).

namespace sporades {

/// How cells are drawn. C: the number of cells; S: that of samples.
enum class LossSampler {
  /// In proportion to the model, beside an exact part; see above.
  model,
  /// All cells alike; a cell counts C / S times, whether it has an entry or not. Nothing is exact.
  uniform,
  /// Cells without entry alike, by rejection; each counts (C - nnz) / S times, with f(0, m).
  stratified,
  /// All cells alike; each counts C / S times, with f(0, m), and entries have f(x, m) - f(0, m).
  semi_stratified
};

namespace detail {
template <>
struct Names<LossSampler> {
  static constexpr char const* kind = "sampler of a loss";
  static constexpr char const* list[] = {"model", "uniform", "stratified", "semi-stratified"};
};
}  // namespace detail

/// What the calls of a plan draw.
struct LossSampleOptions {
  /// Only `model` is meant for use; the others are baselines.
  LossSampler sampler = LossSampler::model;
  /// S, the cells that a call draws; at least 2.
  Position samples = Position{1} << 16;
  /// The entries that a call draws, with replacement; each counts nnz / nonzeros times. 0: all
  /// entries count, exactly. Else at least 2. Of `uniform`: 0.
  Position nonzeros = 0;
  /// What is drawn depends on the seed, the step and the number of the sample alone.
  std::uint64_t seed = 1;
};

/// An estimate and its standard error, from the spread of the samples: 0 where nothing is sampled.
/// It is too small where the samples miss cells that matter; where they are fewer than M, say.
struct LossEstimate {
  double value;
  double standard_error;
};

/// What estimates of one tensor need, made once. X is not copied, except to look up cells where its
/// nonzeros are not in order: its Views must stay as they are.
template <class ScalarType, class IndexType, class MemorySpaceType>
struct LossSamplesPlan {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  LossSampleOptions options;
  LossGradientPlan<Scalar, Index, MemorySpace> exact;  // no formats where entries are drawn
  CooTensor<Scalar, Index, MemorySpace> ordered;       // X by modes 0 to N-1
  detail::LossSamples<Scalar, Index, MemorySpace> drawn;

  int order() const { return exact.order(); }
  /// Bytes of X, its copy, the formats and the buffers.
  std::uint64_t storage_bytes() const;
};

/// A plan for a CooTensor X, in any order, that has each coordinate once. products: of MTTKRP, for
/// the gradients of all entries. On one process. Fences exec. Throws Error where an option is bad,
/// X has no zeros to draw by rejection (`stratified`: more than half of its cells are entries), or
/// as make_loss_gradient_plan does.
template <class ExecutionSpace, class Tensor>
auto make_loss_samples_plan(ExecutionSpace const& exec, Tensor const& X,
                            LossSampleOptions const& options = {},
                            MttkrpAllModesOptions const& products = {});

/// An estimate of L.
/// - model: a KruskalTensor of X's dims; loss: one of loss.hpp that allows x = 0, or your own.
/// - step: other steps draw other samples; the same step draws the same ones, at places that the
///   model decides.
///
/// Computed in double. The same bits on every run and number of threads. Cost: loss_value of the
/// entries and of P; for each sample 2 (N + 1) R flops, log2 nnz steps of a search, and up to 16
/// log16 I_n additions a mode; and R I_n additions a mode for the sums of columns that `model`
/// draws from. Allocates in the first call, and in each for sorts. Fences exec. Throws Error as
/// loss_value does, except that f(0, m) may be any function.
template <class ExecutionSpace, class Plan, class Model, class Loss>
LossEstimate estimated_loss(ExecutionSpace const& exec, Plan& plan, Model const& model,
                            Loss const& loss, std::uint64_t step);

/// estimated_loss, with the same bits, and an estimate of the gradient from the same samples: V[n]
/// is of dL / dA_n. V: N matrices, I_n x R, overwritten; they alias neither a factor nor one
/// another.
///
/// Beside the cost of estimated_loss: MTTKRP on all modes where all entries count; for the samples
/// N sorts and N^2 R flops each; and R I_n a mode, for V is dense and so is the gradient of P.
/// Products are rounded to X's scalar type. The same bits on every run and number of threads, if
/// those of the plan's MTTKRP strategies are. Fences exec before it enqueues the products.
///   auto plan = make_loss_samples_plan(exec, X, options);
///   auto const L = estimated_gradient(exec, plan, model, BernoulliOddsLoss{}, step, V);
template <class ExecutionSpace, class Plan, class Model, class Loss,
          class Output = detail::FactorsOf<Plan>>
LossEstimate estimated_gradient(ExecutionSpace const& exec, Plan& plan, Model const& model,
                                Loss const& loss, std::uint64_t step, Output const& V);

/// The slopes of the sampled part of an estimate of that step, a CooTensor T of X's dims that has
/// each coordinate once: the tangent, at this model, of the estimate of the sum of g is
///   constant + sum over entries i of T(i) m(i)
/// Where f(0, m) is concave, the loss with this tangent in place of held samples is the better one
/// to search for a lower one: g of held samples falls without bound as m grows; the tangent does
/// not, where no slope is below -df/dm(0, 0), as of most samples, if they are at least as many as
/// M. Cost: estimated_loss, and sum_duplicates. Fences exec. Throws as estimated_loss does.
template <class ExecutionSpace, class Plan, class Model, class Loss>
auto sampled_slopes(ExecutionSpace const& exec, Plan& plan, Model const& model, Loss const& loss,
                    std::uint64_t step);

/// Draws the samples of a step for this model, and holds them in the plan. The estimates below take
/// them for other models, so that a line search compares like with like. Unbiased for any model
/// whose values are 0 where a of the model that they were drawn for is 0 (other samplers: for any);
/// but not where the other model was chosen by the samples, and the less exact the more it differs.
/// Enqueued on exec; allocates in the first call. Throws Error where the shapes disagree.
template <class ExecutionSpace, class Plan, class Model>
void draw_loss_samples(ExecutionSpace const& exec, Plan& plan, Model const& model,
                       std::uint64_t step);

/// estimated_loss from the samples that draw_loss_samples holds. An estimate with a step ends that.
/// Throws Error where none are held, and as estimated_loss does.
template <class ExecutionSpace, class Plan, class Model, class Loss>
LossEstimate estimated_loss(ExecutionSpace const& exec, Plan& plan, Model const& model,
                            Loss const& loss);

/// estimated_gradient from the samples that draw_loss_samples holds.
template <class ExecutionSpace, class Plan, class Model, class Loss,
          class Output = detail::FactorsOf<Plan>>
LossEstimate estimated_gradient(ExecutionSpace const& exec, Plan& plan, Model const& model,
                                Loss const& loss, Output const& V);

}  // namespace sporades

#include <sporades/kernels/detail/loss/run_loss_samples.hpp>
