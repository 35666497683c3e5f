// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/detail/cp_als/non_negative.hpp>
#include <sporades/algorithms/detail/cp_als/problem.hpp>
#include <sporades/algorithms/detail/cp_als/small_matrices.hpp>
#include <sporades/algorithms/detail/iterate.hpp>
#include <sporades/algorithms/detail/model_sums.hpp>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/detail/region.hpp>
#include <sporades/core/random.hpp>
#include <sporades/core/timer.hpp>
#include <sporades/kernels/mttkrp_all_modes.hpp>
#include <sporades/kernels/normal_equations.hpp>

namespace sporades::detail {

/// Fits are not told apart by less.
inline constexpr double fit_rounding = 1e-8;

/// Components of weight 0.
inline int dead_components(std::vector<double> const& weights) {
  return static_cast<int>(std::count(weights.begin(), weights.end(), 0.0));
}

/// The iterations of CP-ALS on one tensor, with memory that is allocated once. An iteration is
/// enqueued whole: all modes' small matrices stay on the device, and one copy and one fence at its
/// end bring them to the host's state. (Systems that invert_system solves on the host fence, too.)
/// All matrices are used with their padding, as whole tiles.
template <class ExecutionSpace, class Scalar, class Index>
class CpAlsSolver {
  using Memory = typename ExecutionSpace::memory_space;
  using MatrixType = Matrix<Scalar, Memory>;
  using SquareType = Kokkos::View<double**, Kokkos::LayoutRight, Memory>;
  using State = CpAlsState<Scalar, Memory>;

 public:
  CpAlsSolver(ExecutionSpace const& exec, CpAlsProblem<Scalar, Index, Memory>& problem,
              CpAlsOptions const& options, State& state, KernelTimes& times)
      : exec_(exec),
        problem_(problem),
        options_(options),
        state_(state),
        times_(times),
        columns_(padded_columns(state.rank())),
        small_(Kokkos::View<double*, Memory>(
                   Kokkos::view_alloc(exec, "sporades::cp_als::small_matrices"),
                   SmallMatrices<Memory>::size(state.factors.size(), columns_)),
               state.factors.size(), columns_),
        host_(Kokkos::create_mirror_view(small_.all), state.factors.size(), columns_),
        H_(Kokkos::view_alloc(exec, "sporades::cp_als::hadamard"), columns_, columns_),
        gram_(Kokkos::view_alloc(exec, "sporades::cp_als::gram"), columns_, columns_),
        system_(Kokkos::view_alloc(exec, "sporades::cp_als::system"),
                options.non_negative ? columns_ : 0, columns_),
        inverse_(Kokkos::view_alloc(exec, "sporades::cp_als::inverse"),
                 options.non_negative ? 0 : columns_, columns_),
        scale_(Kokkos::view_alloc(exec, "sporades::cp_als::scale"), columns_) {
    auto const lent = lend_rows(exec, problem.products, columns_);
    products_ = lent.products;
    std::size_t rows = 0, own_rows = 0;  // the most of a mode, and of one whose product is not lent
    for (std::size_t n = 0; n < state.factors.size(); ++n) {
      auto const& A = state.factors[n];
      factors_.push_back(lent.factors[n].data() != nullptr ? lent.factors[n] : with_padding(A));
      if (products_[n].data() == nullptr) own_rows = std::max(own_rows, A.extent(0));
      rows = std::max(rows, A.extent(0));
    }
    product_memory_ = make_matrix<Scalar>(exec, "sporades::cp_als::products", own_rows, columns_);
    for (std::size_t n = 0; n < factors_.size(); ++n)
      if (products_[n].data() == nullptr)
        products_[n] = MatrixType(product_memory_.data(), factors_[n].extent(0), columns_);
    if (misses())
      systems_memory_ = make_matrix<Scalar>(exec, "sporades::cp_als::systems", rows,
                                            normal_columns(state.rank()));
    if (options.non_negative)
      gradient_ = make_matrix<Scalar>(exec, "sporades::cp_als::gradient", rows, columns_);
    factors_changed(problem.products);
    given_ = state.factors;
    for (std::size_t n = 0; n < given_.size(); ++n)
      if (factors_[n].data() != given_[n].data()) {
        copy_view(exec, factors_[n], with_padding(given_[n]));
        state.factors[n] = Kokkos::subview(factors_[n], Kokkos::ALL,
                                           std::make_pair(std::size_t{0}, given_[n].extent(1)));
      }
    write_state();
  }

  CpAlsSolver(CpAlsSolver const&) = delete;
  CpAlsSolver& operator=(CpAlsSolver const&) = delete;

  /// The state has its factors in its own memory again. Fences exec. Where another process has
  /// failed, the next exchange says so.
  ~CpAlsSolver() {
    for (std::size_t n = 0; n < given_.size(); ++n) {
      if (state_.factors[n].data() == given_[n].data()) continue;
      copy_view(exec_, with_padding(given_[n]), factors_[n]);
      state_.factors[n] = given_[n];
    }
    try {
      fence(exec_, "sporades::cp_als::end");
    } catch (RunError const&) {
      exec_.fence();
    }
  }

  /// Updates every mode once and appends the fit to the state. Fences exec.
  void iterate() {
    Timer const timer;
    keep_iterate();
    for (int n = 0; n < state_.order(); ++n) {
      multiply(n);
      update(n);
    }
    copy_view(exec_, host_.all, small_.all);
    fence(exec_, "sporades::cp_als::iterate");
    state_.fits.push_back(fit());
    read_state();
    compare_with_kept();
    if (options_.non_negative) refill_zero_columns();
    state_.seconds.push_back(timer.seconds());
  }

  /// Dead components of a non-negative model, whose columns are refilled, get five iterations to
  /// lower the residual. Where a system is singular to the precision of a Scalar that is not
  /// double, roundings move the fit by more than many a tolerance, and one small change may be a
  /// chance: three are asked for.
  bool has_converged() const {
    bool const is_rough =
        sizeof(Scalar) < sizeof(double) && (state_.system_kinds & pseudo_inverse_kind) != 0;
    bool const has_dead = options_.non_negative && dead_components(state_.weights) > 0;
    return fit_has_settled(state_.fits, has_dead ? 5 : is_rough ? 3 : 1, options_.tolerance);
  }

  std::uint64_t singular_systems() const { return singular_systems_; }

 private:
  /// Whether absent entries are missing: see kernels/normal_equations.hpp.
  bool misses() const { return options_.absent == AbsentEntries::missing; }

  /// The rows' systems of mode n then.
  MatrixType systems(int n) const {
    return MatrixType(systems_memory_.data(), factors_[static_cast<std::size_t>(n)].extent(0),
                      systems_memory_.extent(1));
  }

  /// products_[n] <- the MTTKRP of mode n; or the systems of its rows
  void multiply(int n) {
    Region const region("mode ", n);
    throw_if_stopped(options_.stop);
    if (misses())
      return times_.measure(exec_, "normal equations mode " + std::to_string(n), [&] {
        run_normal_equations(exec_, problem_.products.whole, factors_, n, systems(n));
      });
    times_.measure(exec_, "mttkrp mode " + std::to_string(n), [&] {
      mttkrp(exec_, problem_.products, factors_, n, products_[static_cast<std::size_t>(n)]);
    });
  }

  /// Before an iteration whose model may be worse than the last one, as a system was
  /// ill-conditioned: keeps that, unless an earlier one is better, which is kept already. Enqueued.
  void keep_iterate() {
    is_kept_ = false;
    if (!keeps_best(options_) || state_.iterations() == 0 || state_.kept_iteration > 0 ||
        (state_.system_kinds & ill_conditioned_kind) == 0)
      return;
    for (int n = 0; n < state_.order(); ++n) {
      if (static_cast<int>(state_.kept_factors.size()) == n)
        state_.kept_factors.push_back(make_matrix<Scalar>(
            exec_, "sporades::cp_als::kept_factor", factors_[n].extent(0), state_.weights.size()));
      copy_view(exec_, with_padding(state_.kept_factors[n]), factors_[n]);
    }
    state_.kept_weights = state_.weights;
    is_kept_ = true;
  }

  /// Whether the last iterate is the best, to the rounding of its fit; else the one that is kept
  /// is, if there is one.
  void compare_with_kept() {
    double const best = *std::max_element(state_.fits.begin(), state_.fits.end());
    if (state_.fits.back() >= best - std::max(fit_rounding, fit_error_))
      state_.kept_iteration = 0;
    else if (is_kept_)
      state_.kept_iteration = static_cast<std::uint64_t>(state_.iterations()) - 1;
  }

  /// The state's weights and Gram matrices to the device. The weights are in the unit of X, except
  /// those of a random or HOSVD start. Fences exec.
  void write_state() {
    int const R = state_.rank();
    fence(exec_, "sporades::cp_als::write_state");  // the host may be the device
    std::fill_n(host_.all.data(), host_.all.size(), 0.0);
    bool const is_scaled = state_.iterations() == 0 && options_.init != CpAlsInit::given;
    int const exponent = is_scaled ? 0 : problem_.exponent;
    for (int r = 0; r < R; ++r) host_.weights(r) = std::ldexp(state_.weights[r], -exponent);
    for (int n = 0; n < state_.order(); ++n)
      for (int i = 0; i < R; ++i)
        for (int j = 0; j < R; ++j)
          host_.grams(n, i, j) = state_.grams[n][static_cast<std::size_t>(i) * R + j];
    copy_view(exec_, small_.all, host_.all);
    fence(exec_, "sporades::cp_als::write_state");
  }

  void read_state() {
    int const R = state_.rank();
    state_.system_kinds = 0;
    for (int r = 0; r < R; ++r) state_.weights[r] = std::ldexp(host_.weights(r), problem_.exponent);
    for (int n = 0; n < state_.order(); ++n) {
      for (int i = 0; i < R; ++i)
        for (int j = 0; j < R; ++j)
          state_.grams[n][static_cast<std::size_t>(i) * R + j] = host_.grams(n, i, j);
      auto const kind = static_cast<unsigned>(host_.kinds(n));
      singular_systems_ += (kind & pseudo_inverse_kind) != 0;
      state_.system_kinds |= kind;
    }
    if (misses()) state_.system_kinds |= ill_conditioned_kind;  // rows' systems may be
  }

  void update(int n) {
    Region const region("mode ", n);
    MatrixType const& V = products_[n];
    throw_if_stopped(options_.stop);
    // Rows go to other processes while lengths of columns are computed; both ends then scale them.
    MatrixType rows = factors_[n];
    bool is_beside = false;
    times_.measure(exec_, "solve", [&] {
      solve(n, V);
      is_beside = gather_beside(exec_, problem_.products, n, factors_[n], rows);
    });
    times_.measure(exec_, "gram", [&] {
      gram(exec_, factors_[n], gram_, workspace_, problem_.products.rows_of(n));
    });
    if (n == state_.order() - 1)
      times_.measure(exec_, "fit", [&] {
        column_dots(exec_, V, factors_[n], small_.inner, workspace_, problem_.products.rows_of(n));
        if (misses()) return;
        launch(exec_, "sporades::cp_als::model_squares", columns_, columns_,
               ModelSquares<Memory>{H_, gram_, small_.squares});
      });
    times_.measure(exec_, "normalize", [&] {
      if (is_beside) join_exchange(problem_.processes);
      normalize(n, small_.weights, rows);
    });
  }

  /// Columns of length 1 in `rows`, and the Gram matrix that mode n has then, from gram_.
  template <class Lengths>
  void normalize(int n, Lengths const& lengths, MatrixType const& rows) {
    launch(exec_, "sporades::cp_als::normalize_gram", columns_ * columns_, 16,
           NormalizeGram<Scalar, Memory>{gram_, small_.grams, lengths, scale_,
                                         static_cast<std::uint64_t>(n)});
    scale_columns(exec_, rows, scale_);
  }

  /// Columns of zeros become random ones. A component whose column is zero in one mode has no
  /// gradient in the others, and would stay zero forever. Its weight is 0 as before, so that the
  /// model is the same, and the next iteration gives it a weight where that lowers the residual.
  void refill_zero_columns() {
    bool any = false;
    for (int n = 0; n < state_.order(); ++n) {
      bool here = false;
      for (int r = 0; r < state_.rank(); ++r) {
        if (state_.grams[n][static_cast<std::size_t>(r) * (state_.rank() + 1)] > 0) continue;
        std::uint64_t const seed = splitmix64(options_.seed + state_.fits.size());
        auto const column = Kokkos::subview(factors_[n], Kokkos::ALL, std::make_pair(r, r + 1));
        launch_items(exec_, "sporades::cp_als::refill_zero_column", column.extent(0),
                     FillRandom<Scalar, Memory>{
                         column, splitmix64(seed + static_cast<std::uint64_t>(r)),
                         static_cast<std::uint64_t>(n), problem_.products.rows_of(n).first()});
        here = any = true;
      }
      if (!here) continue;
      gram(exec_, factors_[n], gram_, workspace_, problem_.products.rows_of(n));
      normalize(n, small_.inner, factors_[n]);
    }
    if (!any) return;
    factors_changed(problem_.products);
    copy_view(exec_, host_.all, small_.all);
    fence(exec_, "sporades::cp_als::refill_zero_columns");
    read_state();
  }

  /// A_n = argmin ||X_(n) - A K^T||^2 + mu ||A||^2, the columns not normalised. Where absent
  /// entries are missing, V becomes what makes `inner` of the last mode half of what the model
  /// explains.
  void solve(int n, MatrixType const& V) {
    auto const R = static_cast<std::size_t>(state_.rank());
    if (misses()) {
      auto const columns = std::make_pair(std::size_t{0}, R);
      MatrixType const A = Kokkos::subview(factors_[n], Kokkos::ALL, columns);
      MatrixType const explained = Kokkos::subview(V, Kokkos::ALL, columns);
      return run_normal_solve(exec_, systems(n), RowPenalty{options_.regularization}, A,
                              n == state_.order() - 1 ? explained : MatrixType(), workspace_);
    }
    launch(exec_, "sporades::cp_als::hadamard_of_grams", columns_ * columns_, factors_.size(),
           HadamardOfGrams<Memory>{small_.grams, H_, static_cast<std::uint64_t>(n), R});
    if (options_.non_negative) {
      launch(exec_, "sporades::cp_als::add_ridge", columns_ * columns_, 1,
             AddRidge<Scalar, Memory>{H_, system_, options_.regularization, R});
      MatrixType const gradient(gradient_.data(), V.extent(0), columns_);
      solve_non_negative(exec_, V, system_, small_.weights, factors_[n], gradient);
      return;
    }
    auto const whole = std::make_pair(std::size_t{0}, R);
    SquareType const H = Kokkos::subview(H_, whole, whole);
    // Where the least eigenvalues that are kept are too small for an inverse in double. gram_ is
    // free until the factor is known.
    constexpr bool may_factor = std::is_same_v<Scalar, double>;
    InvertedSystem<Memory> const system{inverse_, may_factor ? gram_ : SquareType(),
                                        Kokkos::subview(small_.kinds, n)};
    InvertedSystem<Memory> part = system;
    part.inverse = Kokkos::subview(inverse_, whole, whole);
    if (may_factor) part.transposed = Kokkos::subview(gram_, whole, whole);
    invert_system(exec_, H, options_.regularization,
                  static_cast<double>(std::numeric_limits<Scalar>::epsilon()), part, workspace_);
    multiply_by_inverse(exec_, V, system, factors_[n]);
  }

  /// 1 - ||X - M|| / ||X|| with ||X - M||^2 = ||X||^2 - 2 <X, M> + ||M||^2, where <X, M> is the sum
  /// of V .* A_n, and ||M||^2 that of H .* (A_n^T A_n), of the last mode before it is normalised.
  /// The difference of these leaves an error, relative to ||X||^2, of some roundings of their
  /// terms, the largest of which are the weights' squares where all cells count. In float and where
  /// absent entries are missing, where that is too much for a fit to 1e-5, the residual is computed
  /// again in double. A residual below zero counts as zero: fits past 1 - 1e-8 are not told apart.
  double fit() {
    constexpr double roundings = 16, wanted = 1e-5;
    double inner = 0, model = 0, terms = 0;  // where entries are missing, inner has half of model
    for (int r = 0; r < state_.rank(); ++r) {
      inner += host_.inner(r);
      model += host_.squares(r);
      terms += std::abs(host_.inner(r)) + (misses() ? 0 : host_.weights(r) * host_.weights(r));
    }
    double residual = (problem_.norm_squared - 2 * inner + model) / problem_.norm_squared;
    auto const error_in = [&](double epsilon) {
      return roundings * epsilon * terms / problem_.norm_squared;
    };
    double error = error_in(std::numeric_limits<Scalar>::epsilon());
    bool const is_rough = error > 2 * wanted * std::sqrt(std::max(residual, 0.0));
    if ((sizeof(Scalar) < sizeof(double) || misses()) && residual - residual == 0 && is_rough) {
      residual = residual_in_double();
      error = error_in(std::numeric_limits<double>::epsilon());
      if (misses()) error *= error;  // a sum of squares has no difference to lose digits in
    }
    fit_error_ = error / std::sqrt(std::max(residual, error));
    return fit_of("cp_als", state_.iterations() + 1, residual);
  }

  /// ||X - M||^2 / ||X||^2 of the factors as they are stored, with <X, M> nonzero by nonzero. About
  /// the flops of an MTTKRP, and while it runs the coordinates of the nonzeros beside the plan.
  /// Fences exec.
  double residual_in_double() {
    if (misses()) return sum_with_model(ModelSum::residual) / problem_.norm_squared;
    double const inner = sum_with_model(ModelSum::inner);
    for (int n = 0; n < state_.order(); ++n) {
      gram(exec_, factors_[n], gram_, workspace_, problem_.products.rows_of(n));
      launch(exec_, "sporades::cp_als::multiply_by_gram", columns_ * columns_, 1,
             MultiplyByGram<Memory>{gram_, H_, small_.weights, n == 0});
    }
    launch(exec_, "sporades::cp_als::sum_of_column", columns_, columns_,
           SumOfColumn<Memory>{H_, small_.squares});
    copy_view(exec_, host_.all, small_.all);
    fence(exec_, "sporades::cp_als::residual");
    double model = 0;
    for (int r = 0; r < state_.rank(); ++r) model += host_.squares(r);
    return (problem_.norm_squared - 2 * inner + model) / problem_.norm_squared;
  }

  double sum_with_model(ModelSum what) {
    return sums_(exec_, problem_.products, factors_, small_.weights.data(), state_.rank(),
                 workspace_, what);
  }

  ExecutionSpace exec_;
  CpAlsProblem<Scalar, Index, Memory>& problem_;
  CpAlsOptions options_;
  State& state_;
  KernelTimes& times_;
  std::size_t columns_;  // R with padding
  SmallMatrices<Memory> small_;
  SmallMatrices<typename Kokkos::View<double*, Memory>::host_mirror_type::memory_space> host_;
  SquareType H_, gram_;
  MatrixType system_;   // for the non-negative solver: H
  SquareType inverse_;  // else: its inverse
  Vector<Scalar, Memory> scale_;
  Factors<Scalar, Memory> given_;    // the state's
  Factors<Scalar, Memory> factors_;  // the state's, or those that the plan reads
  MatrixType product_memory_;
  MatrixType systems_memory_;         // where absent entries are missing
  Factors<Scalar, Memory> products_;  // V of every mode, in this or the plan's memory
  MatrixType gradient_;
  Workspace<Memory> workspace_;
  ModelSums<Scalar, Index, Memory> sums_;
  std::uint64_t singular_systems_ = 0;
  bool is_kept_ = false;  // the iterate before the one that runs
  double fit_error_ = 0;  // what the last fit may be off by
};

}  // namespace sporades::detail
