// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <sporades/algorithms/detail/complete/problem.hpp>
#include <sporades/algorithms/detail/model_sums.hpp>
#include <sporades/core/detail/region.hpp>
#include <sporades/core/stop.hpp>
#include <sporades/core/timer.hpp>

namespace sporades::detail {

/// The iterations of complete on one tensor, with memory that is allocated once.
template <class ExecutionSpace, class Scalar, class Index>
class CompleteSolver {
  using Memory = typename ExecutionSpace::memory_space;
  using MatrixType = Matrix<Scalar, Memory>;
  using State = CompleteState<Scalar, Memory>;
  static constexpr std::size_t settled_changes = 5;

 public:
  CompleteSolver(ExecutionSpace const& exec, CompleteProblem<Scalar, Index, Memory>& problem,
                 CompleteOptions const& options, State& state, KernelTimes& times)
      : exec_(exec),
        problem_(problem),
        options_(options),
        state_(state),
        times_(times),
        columns_(static_cast<std::size_t>(state.rank())),
        systems_(make_matrix<Scalar>(exec, "sporades::complete::systems",
                                     *std::max_element(problem.dims.begin(), problem.dims.end()),
                                     normal_columns(state.rank()))),
        rest_(make_matrix<Scalar>(exec, "sporades::complete::rest",
                                  std::is_same_v<Scalar, double> ? problem.dims.back() : 0,
                                  columns_)),
        dots_(Kokkos::view_alloc(exec, "sporades::complete::dots"), columns_),
        ones_(Kokkos::view_alloc(exec, "sporades::complete::ones"), columns_) {
    fill_view(exec, ones_, 1.0);
    factors_changed(problem.products);
  }

  /// Updates every mode once and appends the errors to the state. Fences exec.
  void iterate() {
    Timer const timer;
    for (int n = 0; n < state_.order(); ++n) update(n);
    times_.measure(exec_, "error", [&] { state_.errors.push_back(error()); });
    if (problem_.held.nnz() > 0) {
      times_.measure(exec_, "error held out",
                     [&] { state_.held_errors.push_back(error_held_out()); });
      keep_best();
    }
    state_.seconds.push_back(timer.seconds());
  }

  /// The error passes through extremes while what is minimised falls on: several changes in a row
  /// are to be small.
  bool has_converged() const {
    auto const& errors = state_.errors;
    std::size_t const k = errors.size();
    if (!state_.held_errors.empty() &&
        k >= state_.kept_iteration + static_cast<std::uint64_t>(options_.patience))
      return true;
    double const least =  // a change below it is one of an error of 0, too
        std::max(k > 0 ? errors[k - 1] : 0, std::numeric_limits<double>::min());
    return fit_has_settled(errors, settled_changes, options_.tolerance * least);
  }

 private:
  void update(int n) {
    Region const region("mode ", n);
    throw_if_stopped(options_.stop);
    auto const mode = static_cast<std::size_t>(n);
    auto const& A = state_.factors[mode];
    MatrixType const S(systems_.data(), A.extent(0), systems_.extent(1));
    bool const is_last = n == state_.order() - 1;
    times_.measure(exec_, "rows of mode " + std::to_string(n), [&] {
      run_normal_rows(exec_, problem_.products.whole, state_.factors, n, S, penalty(mode),
                      is_last ? rest_ : MatrixType(), workspace_);
    });
  }

  RowPenalty penalty(std::size_t n) const {
    auto const& asked = options_.penalty;
    RowPenalty penalty{lambda_of(options_, n)};
    penalty.smoothness = smoothness_of(options_, n);
    penalty.differences = differences_of(asked, n);
    if (!options_.offsets) return penalty;
    penalty.free = options_.rank;
    penalty.offset = options_.rank + static_cast<int>(n);
    penalty.offset_mu = asked.offsets;
    penalty.power = asked.power;
    return penalty;
  }

  /// The root mean square of what the model leaves of entries, of the sum of its squares.
  double root(double squares, Position count, char const* which) const {
    double const error = std::sqrt(std::max(squares, 0.0) / static_cast<double>(count));
    if (!std::isfinite(error))
      throw RunError(concatenate("complete: the error of iteration ", state_.errors.size() + 1,
                                 which, " is ", std::isnan(error) ? std::abs(error) : error,
                                 ": the numbers are too large for this precision"));
    return error;
  }

  /// From the last mode's systems: sum_p x_p^2 - 2 sum_i a_i . (v_i - H_i a_i / 2). Entry by entry
  /// where that difference has lost its digits, and where the systems are not in double: large
  /// coefficients that cancel one another are not seen in it.
  double error() {
    double squares = 0, rounding = std::numeric_limits<double>::infinity();
    if constexpr (std::is_same_v<Scalar, double>) {
      column_dots(exec_, rest_, state_.factors.back(), dots_, workspace_);
      double explained = 0, terms = problem_.norm_squared;
      for (double const dot : to_vector(exec_, dots_)) {
        explained += dot;
        terms += 2 * std::abs(dot);
      }
      squares = problem_.norm_squared - 2 * explained;
      rounding = 16 * std::numeric_limits<double>::epsilon() * terms;
    }
    if (!(rounding < 1e-5 * squares))
      squares = sums_(exec_, problem_.products, state_.factors, ones_.data(), state_.rank(),
                      workspace_, ModelSum::residual);
    return root(squares, problem_.nnz, "");
  }

  double error_held_out() {
    Windows<Memory>* const none = nullptr;
    double const squares = inner_product(exec_, problem_.held, state_.factors, ones_.data(),
                                         columns_, workspace_, 0, {}, none, ModelSum::residual);
    return root(squares, problem_.held.nnz(), " of entries held out");
  }

  /// Keeps the factors where no iteration before had a lesser error.
  void keep_best() {
    auto const& errors = state_.held_errors;
    std::uint64_t const kept = state_.kept_iteration;
    if (kept > 0 && !(errors.back() < errors[kept - 1])) return;
    state_.kept_iteration = errors.size();
    for (int n = 0; n < state_.order(); ++n) {
      auto const& A = state_.factors[static_cast<std::size_t>(n)];
      if (static_cast<int>(state_.kept_factors.size()) == n)
        state_.kept_factors.push_back(
            make_matrix<Scalar>(exec_, "sporades::complete::kept_factor", A.extent(0), columns_));
      copy_view(exec_, with_padding(state_.kept_factors[static_cast<std::size_t>(n)]),
                with_padding(A));
    }
    fence(exec_, "sporades::complete::keep_best");
  }

  ExecutionSpace exec_;
  CompleteProblem<Scalar, Index, Memory>& problem_;
  CompleteOptions options_;
  State& state_;
  KernelTimes& times_;
  std::size_t columns_;  // C
  MatrixType systems_;   // of a mode
  MatrixType rest_;      // of the last mode
  Kokkos::View<double*, Memory> dots_, ones_;
  Workspace<Memory> workspace_;
  ModelSums<Scalar, Index, Memory> sums_;
};

}  // namespace sporades::detail
