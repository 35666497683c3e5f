// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <sporades/algorithms/detail/gcp/lbfgs.hpp>
#include <sporades/algorithms/detail/gcp/line_search.hpp>
#include <sporades/algorithms/detail/gcp/start.hpp>
#include <sporades/algorithms/detail/iterate.hpp>
#include <sporades/core/detail/region.hpp>

namespace sporades::detail {

/// The iterations of GCP on one tensor, with memory that is allocated once. Vectors of all
/// variables stay on the device; what the host reads are their products and the losses.
template <class ExecutionSpace, class Scalar, class Index>
class GcpSolver {
  using Memory = typename ExecutionSpace::memory_space;
  using Problem = GcpProblem<Scalar, Index, Memory>;
  using State = GcpState<Scalar, Memory>;
  using Variables = FlatFactors<Scalar, Memory>;
  using Model = KruskalTensor<Scalar, Memory>;

 public:
  template <class Loss>
  GcpSolver(ExecutionSpace const& exec, Problem& problem, GcpOptionsOf<Loss> const& options,
            State& state, KernelTimes& times)
      : exec_(exec),
        state_(state),
        times_(times),
        stop_(options.stop),
        tolerance_(options.tolerance),
        history_(static_cast<std::size_t>(options.history)),
        is_bounded_(has_bound(options) && !has_roots(options)),
        operations_(exec, state.size()),
        lbfgs_(operations_, state.steps, state.changes) {
    begin_gcp(exec, problem, options, state);
    loss_of_ = [&problem, exec, loss = options.loss, absent = options.absent](
                   Model const& model, Factors<Scalar, Memory> const& V) {
      return with_loss(loss, [&](auto const& one) {
        return loss_gradient(exec, problem.plan, model, one, absent, V);
      });
    };
    for (auto* const one : {&gradient_, &direction_, &trial_, &trial_gradient_}) *one = make();
    if (state.square_roots) squares_ = make();
    if (is_bounded_)
      free_ = uninitialized<Kokkos::View<unsigned char*, Memory>>(exec, "sporades::gcp::free",
                                                                  state.size());
    weights_ = uninitialized<Vector<Scalar, Memory>>(exec, "sporades::gcp::weights",
                                                     static_cast<std::size_t>(options.rank));
    fill_view(exec, weights_, Scalar(1));
    loss_ = evaluate(state, gradient_);
    if (!std::isfinite(loss_))
      throw RunError(concatenate("gcp: the loss of ",
                                 state.iterations() == 0 ? "the start" : "the state", " is ",
                                 std::isnan(loss_) ? std::abs(loss_) : loss_));
    if (state.history.empty()) state.start_loss = loss_;
  }

  /// Takes a step, or where the one of L-BFGS fails, one of steepest descent, and appends what is
  /// known of it to the state. Fences exec.
  void iterate() {
    Timer const timer;
    now_ = {};
    if (!raise_roots() && !take_step() && lbfgs_.has_pairs()) {
      lbfgs_.forget();
      take_step();
    }
    now_.loss = loss_;
    auto free_gradient = gradient_.entries;
    if (is_bounded_) {
      find_free();
      free_gradient = trial_gradient_.entries;
      operations_.combine("sporades::gcp::free_gradient", 1, gradient_.entries, 0,
                          gradient_.entries, free_gradient, free_.data());
    }
    now_.gradient = std::sqrt(operations_.dot(free_gradient, free_gradient));
    now_.seconds = timer.seconds();
    state_.history.push_back(now_);
    // Projection may have cut short a step that the pairs made long: the next one is without them.
    if (is_bounded_ && is_small(state_.history.size() - 1)) lbfgs_.forget();
  }

  /// The last two iterations have hardly lowered the loss, or the last one found no step.
  bool has_converged() const {
    std::size_t const k = state_.history.size();
    return is_stuck() || (k > 1 && is_small(k - 1) && is_small(k - 2));
  }

  /// Whether the last iteration found no step.
  bool is_stuck() const {
    return !state_.history.empty() && state_.history.back().step == 0 &&
           !state_.history.back().raised;
  }

  /// The factors of the state.
  Factors<Scalar, Memory> const& factors() {
    if (!state_.square_roots) return state_.factors;
    square(state_);
    return squares_.factors;
  }

 private:
  Variables make() {
    return make_flat_factors<Scalar>(exec_, "sporades::gcp::variables", dims(), state_.rank());
  }
  Dims dims() const {
    Dims lengths;
    for (auto const& A : state_.factors) lengths.push_back(A.extent(0));
    return lengths;
  }

  /// The least decrease of the loss that counts.
  double least_decrease() const {
    return tolerance_ * std::max(std::abs(loss_), 1e-6 * (state_.start_loss - loss_));
  }
  /// Whether iteration k, from 0, was a step that lowered the loss by less than that.
  bool is_small(std::size_t k) const {
    double const before = k > 0 ? state_.history[k - 1].loss : state_.start_loss;
    return !state_.history[k].raised && before - state_.history[k].loss < least_decrease();
  }

  void square(Variables const& x) {
    operations_.run("sporades::gcp::square",
                    SquareEntries<Scalar, Memory>{x.entries.data(), squares_.entries.data()});
  }

  void find_free() {
    operations_.run(
        "sporades::gcp::find_free",
        FindFree<Scalar, Memory>{state_.entries.data(), gradient_.entries.data(), free_.data()});
  }

  /// The loss at x, and g, its gradient by x. Fences exec.
  double evaluate(Variables const& x, Variables const& g) {
    throw_if_stopped(stop_);
    ++now_.evaluations;
    double loss = 0;
    times_.measure(exec_, "loss_gradient", [&] {
      if (state_.square_roots) square(x);
      loss = loss_of_({weights_, state_.square_roots ? squares_.factors : x.factors}, g.factors);
      if (state_.square_roots)
        operations_.run("sporades::gcp::by_roots",
                        ByRoots<Scalar, Memory>{x.entries.data(), g.entries.data()});
    });
    return loss;
  }

  /// Moves the state along the direction of L-BFGS; false where no step lowers the loss. Fences
  /// exec.
  bool take_step() {
    auto const& x = state_.entries;
    auto const& d = direction_.entries;
    times_.measure(exec_, "direction", [&] {
      if (is_bounded_) find_free();
      lbfgs_.find_direction(gradient_.entries, is_bounded_ ? free_.data() : nullptr, trial_.entries,
                            d);
    });
    SearchPoint const start{0, loss_, operations_.dot(gradient_.entries, d)};
    if (!(start.slope < 0) || !std::isfinite(start.slope)) return false;
    auto const found = search_line(start, lbfgs_.has_pairs() ? 1 : first_step(), !is_bounded_, 25,
                                   [&](double step) {
                                     operations_.combine("sporades::gcp::step", 1, x, step, d,
                                                         trial_.entries, nullptr, is_bounded_);
                                     SearchPoint point{step, evaluate(trial_, trial_gradient_), 0};
                                     if (!is_bounded_)
                                       point.slope = operations_.dot(trial_gradient_.entries, d);
                                     return point;
                                   });
    if (found.step == 0) return false;
    accept(found);
    return true;
  }

  /// Raises the square roots that are nearly 0, where the loss falls as their squares grow: the
  /// nearer to 0, the longer takes L-BFGS to do so. (CP-APR raises such entries, too: Chi & Kolda
  /// 2012, inadmissible zeros.) After every 25 iterations; and where the last one has hardly
  /// lowered the loss, if those since the roots were raised before have. Returns false, and changes
  /// nothing, else, and where the loss would not fall. Fences exec.
  bool raise_roots() {
    auto const& history = state_.history;
    if (!state_.square_roots || history.empty()) return false;
    if (history.size() % 25 != 0) {
      if (!is_small(history.size() - 1)) return false;
      auto const last = std::find_if(history.rbegin(), history.rend(),
                                     [](GcpIteration const& one) { return one.raised; });
      if (last != history.rend() && last->loss - loss_ < 100 * least_decrease()) return false;
    }
    double const squares = operations_.dot(state_.entries, state_.entries) / state_.order();
    for (double const part : {1e-2, 1e-4}) {  // of a mode's mean square
      for (std::size_t n = 0; n < state_.factors.size(); ++n) {
        auto const b = with_padding(state_.factors[n]);
        auto const entries = static_cast<double>(state_.factors[n].size());
        launch(exec_, "sporades::gcp::raise_roots", b.size(), 1,
               RaiseRoots<Scalar, Memory>{
                   b.data(), gradient_.factors[n].data(), trial_.factors[n].data(),
                   static_cast<Scalar>(std::sqrt(part * squares / entries))});
      }
      double const loss = evaluate(trial_, trial_gradient_);
      if (loss == loss_) return false;  // none was raised
      if (!(loss < loss_)) continue;
      lbfgs_.forget();
      std::swap(static_cast<Variables&>(state_), trial_);
      std::swap(gradient_, trial_gradient_);
      loss_ = loss;
      now_.raised = true;
      return true;
    }
    return false;
  }

  /// A step by a tenth of the variables' length, where nothing is known of second derivatives.
  double first_step() const {
    auto const& x = state_.entries;
    auto const& d = direction_.entries;
    double const step = 0.1 * std::sqrt(operations_.dot(x, x) / operations_.dot(d, d));
    return step > 0 && std::isfinite(step) ? step : 1;
  }

  /// The last trial becomes the state, and its difference from it a pair of L-BFGS.
  void accept(SearchPoint const& found) {
    if (step_.factors.empty() && history_ > 0) {
      step_ = make();
      change_ = make();
    }
    if (history_ > 0) {
      operations_.combine("sporades::gcp::difference", 1, trial_.entries, -1, state_.entries,
                          step_.entries);
      operations_.combine("sporades::gcp::difference", 1, trial_gradient_.entries, -1,
                          gradient_.entries, change_.entries);
      lbfgs_.take(step_, change_, history_, [&] { return make(); });
    }
    std::swap(static_cast<Variables&>(state_), trial_);
    std::swap(gradient_, trial_gradient_);
    loss_ = found.value;
    now_.step = found.step;
  }

  ExecutionSpace exec_;
  State& state_;
  KernelTimes& times_;
  StopCheck stop_;
  double tolerance_;
  std::size_t history_;
  bool is_bounded_;  // variables are 0 at least
  FlatOperations<ExecutionSpace, Scalar> operations_;
  Lbfgs<ExecutionSpace, Scalar> lbfgs_;
  std::function<double(Model const&, Factors<Scalar, Memory> const&)> loss_of_;
  Variables gradient_, direction_, trial_, trial_gradient_;  // of the state; of the next one
  Variables step_, change_;                                  // room for the next pair
  Variables squares_;                                        // of the variables, if they are roots
  Kokkos::View<unsigned char*, Memory> free_;                // see find_free
  Vector<Scalar, Memory> weights_;                           // ones
  double loss_ = 0;                                          // of the state
  GcpIteration now_;
};

}  // namespace sporades::detail
