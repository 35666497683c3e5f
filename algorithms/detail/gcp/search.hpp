// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <sporades/algorithms/detail/gcp/lbfgs.hpp>
#include <sporades/algorithms/detail/gcp/line_search.hpp>
#include <sporades/algorithms/detail/gcp/start.hpp>
#include <sporades/algorithms/detail/gcp/tangent.hpp>
#include <sporades/algorithms/detail/iterate.hpp>
#include <sporades/core/detail/region.hpp>

namespace sporades::detail {

/// A function of the variables of a state, the loss as a rule, and steps of L-BFGS that lower it.
/// Vectors of all variables stay on the device; what the host reads are their products and losses.
template <class ExecutionSpace, class Scalar, class Index>
class GcpSearch {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  using State = GcpState<Scalar, Memory>;
  using Variables = FlatFactors<Scalar, Memory>;
  using Model = KruskalTensor<Scalar, Memory>;

  GcpSearch(ExecutionSpace const& exec, State& state, GcpSource<Scalar, Memory> source,
            bool is_bounded, int history, StopCheck stop, KernelTimes& times)
      : operations(exec, state.size()),
        exec_(exec),
        state_(state),
        times_(times),
        stop_(std::move(stop)),
        is_bounded_(is_bounded),
        history_(static_cast<std::size_t>(history)),
        lbfgs_(operations, state.steps, state.changes),
        source_(std::move(source)) {
    gradient = make();
    if (state.square_roots) squares_ = make();
    weights_ = uninitialized<Vector<Scalar, Memory>>(exec, "sporades::gcp::weights",
                                                     static_cast<std::size_t>(state.rank()));
    fill_view(exec, weights_, Scalar(1));
  }

  /// Room for steps of L-BFGS.
  void make_room() {
    for (auto* const one : {&direction_, &trial_, &trial_gradient_}) *one = make();
    if (is_bounded_)
      free_ = uninitialized<Kokkos::View<unsigned char*, Memory>>(exec_, "sporades::gcp::free",
                                                                  state_.size());
  }
  Variables make() const {
    Dims lengths;
    for (auto const& A : state_.factors) lengths.push_back(A.extent(0));
    return make_flat_factors<Scalar>(exec_, "sporades::gcp::variables", lengths, state_.rank());
  }
  void copy(Variables const& from, Variables const& to) const {
    operations.combine("sporades::gcp::copy", 1, from.entries, 0, from.entries, to.entries);
  }

  /// The factors of the variables x, and the model of these.
  Factors<Scalar, Memory> const& factors_of(Variables const& x) const {
    if (!state_.square_roots) return x.factors;
    operations.run("sporades::gcp::square",
                   SquareEntries<Scalar, Memory>{x.entries.data(), squares_.entries.data()});
    return squares_.factors;
  }

  /// The loss of the state, by that draw, or null. Fences exec.
  LossEstimate loss_of_state(GcpDraw const* by) const {
    LossEstimate now{};
    times_.measure(exec_, "loss", [&] {
      now = source_({weights_, factors_of(state_)}, nullptr, by);
    });
    return now;
  }

  /// Takes the function and its gradient at the state. Fences exec.
  void begin() { loss = evaluate(state_, gradient); }

  /// In place of so many samples of the step, which are drawn at the state: their tangent. Fences
  /// exec.
  template <class Plan>
  void begin_with_tangent(Plan const& plan, GcpDraw const& samples, double most,
                          MttkrpAllModesOptions const& products) {
    if (products_.factors.empty()) products_ = make();
    double const estimate = loss_of_state(&samples).value;
    tangent_.take(exec_, plan, most, products);
    draw = GcpDraw{};
    has_tangent_ = true;
    begin();
    offset_ = estimate - loss;
    loss = estimate;
  }
  /// The function is the loss again.
  void end() {
    draw.reset();
    has_tangent_ = false;
    offset_ = 0;
  }

  /// Takes a step, or where the one of L-BFGS fails, one of steepest descent; false where no step
  /// lowers the function. Fences exec.
  bool take_step() {
    if (search()) return true;
    if (!lbfgs_.has_pairs()) return false;
    lbfgs_.forget();
    return search();
  }
  void forget() { lbfgs_.forget(); }

  /// Raises the square roots that are nearly 0, where the loss falls as their squares grow: the
  /// nearer to 0, the longer takes L-BFGS to do so. (CP-APR raises such entries, too: Chi & Kolda
  /// 2012, inadmissible zeros.) Returns false, and changes nothing, where the loss would not fall.
  /// Fences exec.
  bool raise_roots() {
    if (!state_.square_roots) return false;
    double const squares = operations.dot(state_.entries, state_.entries) / state_.order();
    for (double const part : {1e-2, 1e-4}) {  // of a mode's mean square
      for (std::size_t n = 0; n < state_.factors.size(); ++n) {
        auto const b = with_padding(state_.factors[n]);
        auto const entries = static_cast<double>(state_.factors[n].size());
        launch(exec_, "sporades::gcp::raise_roots", b.size(), 1,
               RaiseRoots<Scalar, Memory>{
                   b.data(), gradient.factors[n].data(), trial_.factors[n].data(),
                   static_cast<Scalar>(std::sqrt(part * squares / entries))});
      }
      double const raised = evaluate(trial_, trial_gradient_);
      if (raised == loss) return false;  // none was raised
      if (!(raised < loss)) continue;
      lbfgs_.forget();
      std::swap(static_cast<Variables&>(state_), trial_);
      std::swap(gradient, trial_gradient_);
      loss = raised;
      now.raised = true;
      return true;
    }
    return false;
  }

  /// The length of the gradient, without entries that a bound holds. Fences exec.
  double gradient_length() {
    auto by = gradient.entries;
    if (is_bounded_ && free_.extent(0) > 0) {
      find_free();
      by = trial_gradient_.entries;
      operations.combine("sporades::gcp::free_gradient", 1, gradient.entries, 0, gradient.entries,
                         by, free_.data());
    }
    return std::sqrt(operations.dot(by, by));
  }

  FlatOperations<ExecutionSpace, Scalar> const operations;
  Variables gradient;           // of the state
  double loss = 0;              // of the state
  GcpIteration now;             // what becomes known of the iteration
  std::optional<GcpDraw> draw;  // of evaluations; none: all zeros, exact

 private:
  void find_free() {
    operations.run(
        "sporades::gcp::find_free",
        FindFree<Scalar, Memory>{state_.entries.data(), gradient.entries.data(), free_.data()});
  }

  /// The function at x, and g, its gradient by x. Fences exec.
  double evaluate(Variables const& x, Variables const& g) {
    throw_if_stopped(stop_);
    ++now.evaluations;
    double value = 0;
    times_.measure(exec_, "loss_gradient", [&] {
      value = source_({weights_, factors_of(x)}, &g.factors, draw ? &*draw : nullptr).value;
      if (has_tangent_)
        value += offset_ +
                 tangent_.add(exec_, operations, state_.square_roots ? squares_ : x, g, products_);
      if (state_.square_roots)
        operations.run("sporades::gcp::by_roots",
                       ByRoots<Scalar, Memory>{x.entries.data(), g.entries.data()});
    });
    return value;
  }

  /// Moves the state along the direction of L-BFGS; false where no step lowers the function. Fences
  /// exec.
  bool search() {
    auto const& x = state_.entries;
    auto const& d = direction_.entries;
    times_.measure(exec_, "direction", [&] {
      if (is_bounded_) find_free();
      lbfgs_.find_direction(gradient.entries, is_bounded_ ? free_.data() : nullptr, trial_.entries,
                            d);
    });
    SearchPoint const start{0, loss, operations.dot(gradient.entries, d)};
    if (!(start.slope < 0) || !std::isfinite(start.slope)) return false;
    auto const found = search_line(start, lbfgs_.has_pairs() ? 1 : first_step(), !is_bounded_, 25,
                                   [&](double step) {
                                     operations.combine("sporades::gcp::step", 1, x, step, d,
                                                        trial_.entries, nullptr, is_bounded_);
                                     SearchPoint point{step, evaluate(trial_, trial_gradient_), 0};
                                     if (!is_bounded_)
                                       point.slope = operations.dot(trial_gradient_.entries, d);
                                     return point;
                                   });
    if (found.step == 0) return false;
    accept(found);
    return true;
  }

  /// A step by a tenth of the variables' length, where nothing is known of second derivatives.
  double first_step() const {
    auto const& x = state_.entries;
    auto const& d = direction_.entries;
    double const step = 0.1 * std::sqrt(operations.dot(x, x) / operations.dot(d, d));
    return step > 0 && std::isfinite(step) ? step : 1;
  }

  /// The last trial becomes the state, and its difference from it a pair of L-BFGS.
  void accept(SearchPoint const& found) {
    if (step_.factors.empty() && history_ > 0) {
      step_ = make();
      change_ = make();
    }
    if (history_ > 0) {
      operations.combine("sporades::gcp::difference", 1, trial_.entries, -1, state_.entries,
                         step_.entries);
      operations.combine("sporades::gcp::difference", 1, trial_gradient_.entries, -1,
                         gradient.entries, change_.entries);
      lbfgs_.take(step_, change_, history_, [&] { return make(); });
    }
    std::swap(static_cast<Variables&>(state_), trial_);
    std::swap(gradient, trial_gradient_);
    loss = found.value;
    now.step = found.step;
  }

  ExecutionSpace exec_;
  State& state_;
  KernelTimes& times_;
  StopCheck stop_;
  bool is_bounded_;  // variables are 0 at least
  std::size_t history_;
  Lbfgs<ExecutionSpace, Scalar> lbfgs_;
  GcpSource<Scalar, Memory> source_;
  Variables direction_, trial_, trial_gradient_;  // of the next state
  Variables step_, change_;                       // room for the next pair
  Variables squares_;                             // of the variables, if they are roots
  Kokkos::View<unsigned char*, Memory> free_;     // see find_free
  Vector<Scalar, Memory> weights_;                // ones
  SampledTangent<ExecutionSpace, Scalar, Index> tangent_;
  Variables products_;  // of the tangent
  bool has_tangent_ = false;
  double offset_ = 0;  // what the loss has beside the function with the tangent
};

}  // namespace sporades::detail
