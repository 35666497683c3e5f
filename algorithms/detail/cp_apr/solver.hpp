// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <sporades/algorithms/cp_apr.hpp>
#include <sporades/algorithms/detail/cp_apr/multiplicative.hpp>
#include <sporades/algorithms/detail/cp_apr/solve_rows.hpp>
#include <sporades/algorithms/detail/iterate.hpp>
#include <sporades/core/detail/region.hpp>
#include <sporades/kernels/log_likelihood.hpp>

namespace sporades::detail {

/// Marks for RaiseZeroModels, of rows of `rank` columns with their padding, as A and weights.
/// windows: of counts in out-of-core memory.
template <class ExecutionSpace, class Tensor, class Marks, class Weights>
void mark_zero_models(ExecutionSpace const& exec, Tensor const& counts,
                      Windows<typename Tensor::MemorySpace>* windows, Marks const& marks,
                      FactorsOf<Tensor> const& A, Weights const& weights, int rank,
                      typename Tensor::Scalar kappa_tolerance) {
  std::size_t const columns = weights.extent(0);
  for_coo_parts(exec, counts, windows, 1, [&](auto const& instance, auto const& part, Position) {
    auto const model = coo_model(part, A, weights.data(), columns);
    MarkZeroModels<ExecutionSpace, std::decay_t<decltype(model)>, typename Tensor::Scalar> mark{
        model, {}, kappa_tolerance, static_cast<std::uint64_t>(rank)};
    for (int n = 0; n < counts.order(); ++n) mark.marks[n] = marks[n];
    launch(instance, "sporades::cp_apr::mark_zero_models", part.nnz(), A.size() * columns, mark);
  });
}

/// The iterations of CP-APR on one tensor, with memory that is allocated once. Factors and weights
/// stay on the device; what the host reads is an inner iteration's KKT violation, and at the end of
/// an iteration the log-likelihood and the weights. All matrices are used with their padding.
template <class ExecutionSpace, class Scalar, class Index>
class CpAprSolver {
  using Memory = typename ExecutionSpace::memory_space;
  using MatrixType = Matrix<Scalar, Memory>;
  using State = CpAprState<Scalar, Memory>;
  using Weights = Kokkos::View<double*, Memory>;

 public:
  CpAprSolver(ExecutionSpace const& exec, CpAprProblem<Scalar, Index, Memory>& problem,
              CpAprOptions const& options, State& state, KernelTimes& times)
      : exec_(exec),
        problem_(problem),
        options_(options),
        state_(state),
        times_(times),
        columns_(padded_columns(state.rank())),
        weights_(Kokkos::view_alloc(exec, "sporades::cp_apr::weights"), columns_),
        host_weights_(Kokkos::create_mirror_view(weights_)) {
    std::size_t rows = 0;
    for (auto const& A : state.factors) {
      factors_.push_back(with_padding(A));
      rows = std::max(rows, A.extent(0));
    }
    phi_ = make_matrix<Scalar>(exec, "sporades::cp_apr::phi", rows, columns_);
    fence(exec, "sporades::cp_apr::solver");  // the host may be the device
    std::fill_n(host_weights_.data(), columns_, 0.0);
    std::copy(state.weights.begin(), state.weights.end(), host_weights_.data());
    copy_view(exec, weights_, host_weights_);
    factors_changed();
    zero_models_ = state.iterations() > 0 ? state.history.back().zero_model_nonzeros
                                          : likelihood().zero_model_nonzeros;
  }

  /// Updates every mode once and appends what is known of it to the state. Fences exec.
  void iterate() {
    Timer const timer;
    if (zero_models_ > 0) times_.measure(exec_, "raise zeros", [&] { raise_zero_models(); });
    CpAprIteration now;
    now.unchanged = true;
    for (int n = 0; n < state_.order(); ++n) {
      ModeUpdate const update = update_mode(n);
      now.kkt_violation = std::max(now.kkt_violation, update.kkt_violation);
      now.inner_iterations += update.inner_iterations;
      now.unchanged = now.unchanged && update.unchanged;
    }
    LogLikelihood value;
    times_.measure(exec_, "log_likelihood", [&] { value = likelihood(); });
    copy_view(exec_, host_weights_, weights_);
    fence(exec_, "sporades::cp_apr::iterate");
    std::copy_n(host_weights_.data(), state_.rank(), state_.weights.data());
    zero_models_ = value.zero_model_nonzeros;
    if (!std::isfinite(value.value) && zero_models_ == 0)
      throw RunError(concatenate("cp_apr: the log-likelihood of iteration ",
                                 state_.iterations() + 1,
                                 " is not a number: the numbers are too large for this precision"));
    now.log_likelihood = value.value;
    now.zero_model_nonzeros = zero_models_;
    now.seconds = timer.seconds();
    state_.history.push_back(now);
  }

  /// Every mode met the tolerance before any update, and no count has a model of 0.
  bool has_converged() const {
    if (state_.history.empty()) return false;
    auto const& last = state_.history.back();
    return last.unchanged && last.kkt_violation < options_.tolerance &&
           last.zero_model_nonzeros == 0;
  }

 private:
  /// A_n and the weights, by the method of the options; marks what is to be raised next time.
  ModeUpdate update_mode(int n) {
    Region const region("mode ", n);
    throw_if_stopped(options_.stop);
    auto const a = all_entries(factors_[n]);
    MatrixType const phi(phi_.data(), factors_[n].extent(0), columns_);
    times_.measure(exec_, "shift_weights", [&] {
      launch(exec_, "sporades::cp_apr::shift_weights", a.extent(0), 1,
             ShiftWeights<Scalar, Memory>{a, state_.zero_marks[n], weights_, 1 / problem_.unit,
                                          static_cast<Scalar>(options_.kappa),
                                          least_entry<Scalar>(factors_.size()), options_.seed,
                                          static_cast<std::uint64_t>(n), rows_of(n).first(),
                                          static_cast<std::uint64_t>(state_.rank())});
    });
    ModeUpdate const update = improve(n, phi);
    times_.measure(exec_, "normalize", [&] {
      column_sums(exec_, factors_[n], weights_, workspace_, rows_of(n));
      launch(exec_, "sporades::cp_apr::divide_by_sums", a.extent(0), 8,
             DivideBySums<Scalar, Memory>{a, weights_, least_entry<Scalar>(factors_.size()),
                                          static_cast<std::uint64_t>(state_.rank()),
                                          1 / static_cast<double>(problem_.dims[n])});
      launch(
          exec_, "sporades::cp_apr::mark_zeros", a.extent(0), 1,
          MarkInadmissibleZeros<Scalar, Memory>{a, all_entries(phi), state_.zero_marks[n], weights_,
                                                static_cast<Scalar>(options_.kappa_tolerance)});
      if (problem_.unit != 1)
        launch(exec_, "sporades::cp_apr::scale_weights", columns_, 1,
               Scale<double, Memory>{weights_, weights_, problem_.unit});
    });
    if (problem_.share) problem_.share->gathered[n] = false;
    return update;
  }

  /// B = A_n Lambda, in place; phi is left as of the last B that it was computed for, or zero.
  ModeUpdate improve(int n, MatrixType const& phi) {
    if (options_.method == CpAprMethod::mu)
      return multiplicative_update(exec_, problem_.plan, options_, epsilon(), factors_, n, phi,
                                   times_);
    fill_view(exec_, phi, Scalar(0));  // the rows' solvers raise zeros themselves
    RowOptions options;
    options.steps =
        options_.method == CpAprMethod::pdnr ? RowSteps::damped_newton : RowSteps::quasi_newton;
    options.inner_iterations = options_.inner_iterations;
    options.tolerance = options_.tolerance;
    if (has_outliers()) options.warm_up = 0;
    options = in_outer_iteration(options, state_.iterations());
    ModeUpdate update;
    times_.measure(exec_, "rows mode " + std::to_string(n), [&] {
      solve_rows_of(n, options);
      std::uint64_t steps = 0;
      Kokkos::deep_copy(exec_, update.kkt_violation, rows_.violation);
      Kokkos::deep_copy(exec_, steps, rows_.inner_iterations);
      fence(exec_, "sporades::cp_apr::improve");
      auto const& processes = problem_.processes;
      update.kkt_violation = largest_of_all(processes, "KKT violations", update.kkt_violation);
      for (std::uint64_t const here : all_gather(processes, "inner iterations", steps))
        update.inner_iterations += static_cast<std::int64_t>(here);
    });
    update.unchanged = update.kkt_violation < options_.tolerance;
    return update;
  }

  /// Solves the rows of mode n, each where all of its nonzeros are.
  void solve_rows_of(int n, RowOptions const& options) {
    auto const& problem = problem_.rows[n];
    if (problem_.share) {
      auto& share = *problem_.share;
      auto const whole = std::make_pair(std::size_t{0}, static_cast<std::size_t>(state_.rank()));
      auto const& solved = share.solved[n];
      MatrixType const B = share.rows_to_solve(exec_, rows_of(n), n, factors_[n]);
      Factors<Scalar, Memory> A;
      for (auto const& read : share.gather(exec_, factors_, n))  // mode n's may be none
        A.emplace_back(read.extent(1) == 0 ? read
                                           : MatrixType(Kokkos::subview(read, Kokkos::ALL, whole)));
      solve_rows(exec_, problem, A, MatrixType(Kokkos::subview(B, Kokkos::ALL, whole)), options,
                 rows_);
      return move_rows(exec_, rows_of(n), solved.begins, solved.ends, B, factors_[n]);
    }
    solve_rows(exec_, problem, state_.factors, state_.factors[n], options, rows_, windows());
  }

  /// Whether some counts, no more than there are components, are larger than all others by far: the
  /// others are below 1e-4 of the largest. Single steps draw all components to those counts, and
  /// each column then is nearly 1 in one row: a poor optimum that later steps cannot leave. Rows
  /// that are solved at once give a count to the component that has most of it.
  bool has_outliers() const {
    return problem_.large_counts <= static_cast<std::uint64_t>(state_.rank()) &&
           problem_.large_counts < problem_.nnz;
  }

  /// The epsilon of multiplicative updates. Where it is above the model of a nonzero, they shrink
  /// the entries that should grow, down to a model of 0. So it is lowered to what overflow asks for
  /// - where that has happened in this run, or
  /// - where the mean of the model is so small that it would happen in the first iteration.
  double epsilon() const {
    constexpr double thin = 1e-8;  // 100 times the default epsilon
    auto const has_zeros = [](CpAprIteration const& one) { return one.zero_model_nonzeros > 0; };
    bool const is_too_large = problem_.density < thin ||
                              std::any_of(state_.history.begin(), state_.history.end(), has_zeros);
    return is_too_large ? std::min(options_.epsilon, problem_.least_epsilon) : options_.epsilon;
  }

  /// Raises the zeros in all rows of counts whose model is 0, in all modes at once, those of dead
  /// components among them. Phi gets nothing from such a count, so that no update brings it back.
  void raise_zero_models() {
    for (auto const& A : factors_)
      launch(exec_, "sporades::cp_apr::empty_dead_components", all_entries(A).extent(0), 1,
             EmptyDeadComponents<Scalar, Memory>{all_entries(A), weights_});
    factors_changed();
    mark_zero_models();
    launch(exec_, "sporades::cp_apr::weigh_dead_components", columns_, 1,
           WeighDeadComponents<Memory>{weights_, options_.kappa * problem_.unit});
    for (int n = 0; n < state_.order(); ++n) {
      auto const a = all_entries(factors_[n]);
      launch(exec_, "sporades::cp_apr::raise_zero_models", a.extent(0), 1,
             RaiseZeroModels<Scalar, Memory>{a, state_.zero_marks[n], options_.kappa, columns_,
                                             options_.seed, static_cast<std::uint64_t>(n),
                                             rows_of(n).first()});
    }
    factors_changed();
  }

  /// The state's zero_marks, of all rows in which a process has such a count.
  void mark_zero_models() {
    auto const tolerance = static_cast<Scalar>(options_.kappa_tolerance);
    if (problem_.share) {
      auto& share = *problem_.share;
      auto const& A = share.gather(exec_, factors_);
      std::vector<typename State::ZeroMarks> marks;
      for (auto const& rows : A)
        marks.emplace_back(Kokkos::view_alloc(exec_, "sporades::cp_apr::zero_marks"),
                           rows.extent(0) * columns_);
      detail::mark_zero_models(exec_, problem_.counts, nullptr, marks, A, weights_, state_.rank(),
                               tolerance);
      using Marks = Matrix<unsigned char, Memory>;
      for (std::size_t n = 0; n < A.size(); ++n)
        share.read[n].give_back(
            exec_, "zero models", Marks(marks[n].data(), A[n].extent(0), columns_),
            [&](Marks const& from, auto const& rows) {
              launch_items(exec_, "sporades::cp_apr::merge_zero_models", from.size(),
                           MergeZeroModels<Memory>{from, rows, state_.zero_marks[n]});
            });
      return;
    }
    detail::mark_zero_models(exec_, problem_.counts, windows(), state_.zero_marks, factors_,
                             weights_, state_.rank(), tolerance);
  }

  LogLikelihood likelihood() {
    if (problem_.share)
      return run_log_likelihood(exec_, problem_.counts, problem_.share->gather(exec_, factors_),
                                weights_, likelihood_, windows(),
                                {problem_.share->counts, problem_.factor_rows, factors_});
    return run_log_likelihood(exec_, problem_.counts, factors_, weights_, likelihood_, windows());
  }

  /// The rows of mode n's factor that are here.
  RowMap rows_of(int n) const {
    return problem_.factor_rows.empty() ? RowMap{} : problem_.factor_rows[n];
  }

  /// What was gathered of them from other processes is void.
  void factors_changed() {
    if (problem_.share) problem_.share->forget();
    forget_gathered(problem_.plan.products);
  }

  /// Windows of the counts where they are out of core; those of the plan, so that all streams take
  /// the same memory.
  Windows<Memory>* windows() {
    return problem_.out_of_core ? &problem_.plan.products.work.carry.windows : nullptr;
  }

  ExecutionSpace exec_;
  CpAprProblem<Scalar, Index, Memory>& problem_;
  CpAprOptions options_;
  State& state_;
  KernelTimes& times_;
  std::size_t columns_;  // R with padding
  Weights weights_;      // of the columns
  typename Weights::host_mirror_type host_weights_;
  Factors<Scalar, Memory> factors_;
  MatrixType phi_;  // of every mode, one after another
  Workspace<Memory> workspace_;
  LogLikelihoodBuffers<Memory> likelihood_;
  RowWorkspace<Memory> rows_;
  Position zero_models_ = 0;
};

}  // namespace sporades::detail
