// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/algorithms/cp_als/non_negative.hpp>
#include <sporades/algorithms/cp_als/options.hpp>
#include <sporades/algorithms/cp_als/state.hpp>
#include <sporades/core/lapack.hpp>
#include <sporades/core/timer.hpp>
#include <sporades/kernels/mttkrp_plan.hpp>

namespace sporades::detail {

/// A small View and its copy on the host, which is the same where the memory is.
template <class ViewType>
struct Mirrored {
  ViewType device;
  typename ViewType::HostMirror host;

  template <class ExecutionSpace, class... Extents>
  Mirrored(ExecutionSpace const& exec, std::string const& label, Extents... extents)
      : device(Kokkos::view_alloc(exec, label), extents...),
        host(Kokkos::create_mirror_view(device)) {}

  template <class ExecutionSpace>
  void to_device(ExecutionSpace const& exec) const {
    Kokkos::deep_copy(exec, device, host);
  }
  template <class ExecutionSpace>
  void to_host(ExecutionSpace const& exec) const {
    Kokkos::deep_copy(exec, host, device);
  }
};

/// The iterations of CP-ALS on one tensor, with memory that is allocated once. All matrices are
/// used with their padding, as whole tiles. The host writes a small matrix only after the fence
/// that follows its last use: one fence a mode.
template <class ExecutionSpace, class Scalar, class Index>
class CpAlsSolver {
  using Memory = typename ExecutionSpace::memory_space;
  using MatrixType = Matrix<Scalar, Memory>;
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
        system_(exec, "sporades::cp_als::system", columns_, columns_),
        gram_(exec, "sporades::cp_als::gram", columns_, columns_),
        dots_(exec, "sporades::cp_als::dots", columns_),
        scale_(exec, "sporades::cp_als::scale", columns_),
        weights_(exec, "sporades::cp_als::weights", columns_) {
    std::size_t rows = 0;
    for (auto const& A : state.factors) {
      factors_.push_back(with_padding(A));
      rows = std::max(rows, A.extent(0));
    }
    products_ = make_matrix<Scalar>(exec, "sporades::cp_als::products", rows, columns_);
    if (options.non_negative)
      gradient_ = make_matrix<Scalar>(exec, "sporades::cp_als::gradient", rows, columns_);
  }

  /// Updates every mode once and appends the fit to the state.
  void iterate() {
    Timer const timer;
    int const last = state_.order() - 1;
    for (int n = 0; n <= last; ++n) update(n, n == last);
    fence(exec_, "sporades::cp_als::iterate");
    state_.seconds.push_back(timer.seconds());
  }

  std::uint64_t singular_systems() const { return singular_systems_; }

 private:
  void update(int n, bool is_last) {
    MatrixType const V(products_.data(), factors_[n].extent(0), columns_);
    times_.measure(exec_, "mttkrp mode " + std::to_string(n),
                   [&] { mttkrp(exec_, problem_.plan, factors_, n, V); });
    auto const H = hadamard_of_grams(state_.grams, n);
    times_.measure(exec_, "solve", [&] { solve(n, H, V); });
    times_.measure(exec_, "gram", [&] {
      gram(exec_, factors_[n], gram_.device, workspace_);
      gram_.to_host(exec_);
    });
    if (is_last)
      times_.measure(exec_, "fit", [&] {
        column_dots(exec_, V, factors_[n], dots_.device, workspace_);
        dots_.to_host(exec_);
      });
    fence(exec_, "sporades::cp_als::gram");
    if (is_last) state_.fits.push_back(fit(H));
    times_.measure(exec_, "normalize", [&] { normalize(n); });
  }

  /// A_n = argmin ||X_(n) - A K^T||^2 + mu ||A||^2, the columns not normalised.
  void solve(int n, std::vector<double> const& H, MatrixType const& V) {
    int const R = state_.rank();
    if (options_.non_negative) {
      for (int i = 0; i < R; ++i)
        for (int j = 0; j < R; ++j)
          system_.host(i, j) = static_cast<Scalar>(H[static_cast<std::size_t>(i) * R + j] +
                                                   (i == j ? options_.regularization : 0));
      for (int r = 0; r < R; ++r) weights_.host(r) = static_cast<Scalar>(state_.weights[r]);
      system_.to_device(exec_);
      weights_.to_device(exec_);
      MatrixType const gradient(gradient_.data(), V.extent(0), columns_);
      solve_non_negative(exec_, V, system_.device, weights_.device, factors_[n], gradient);
      return;
    }
    auto const inverse = inverse_or_pseudo_inverse(H, R, options_.regularization,
                                                   std::numeric_limits<Scalar>::epsilon());
    if (inverse.is_pseudo) ++singular_systems_;
    for (int i = 0; i < R; ++i)
      for (int j = 0; j < R; ++j)
        system_.host(i, j) =
            static_cast<Scalar>(inverse.inverse[static_cast<std::size_t>(i) * R + j]);
    system_.to_device(exec_);
    multiply(exec_, V, system_.device, factors_[n]);
  }

  /// 1 - ||X - M|| / ||X|| with ||X - M||^2 = ||X||^2 - 2 <X, M> + ||M||^2, where <X, M> is the sum
  /// of V .* A_n, and ||M||^2 that of H .* (A_n^T A_n), of the last mode before it is normalised.
  /// Rounding leaves about sqrt(epsilon) of the relative residual: fits past 1 - 1e-8 are not told
  /// apart, and what is left below zero counts as zero.
  double fit(std::vector<double> const& H) const {
    int const R = state_.rank();
    double inner = 0, model = 0;
    for (int i = 0; i < R; ++i) {
      inner += dots_.host(i);
      for (int j = 0; j < R; ++j)
        model += H[static_cast<std::size_t>(i) * R + j] * gram_.host(i, j);
    }
    double const residual = std::max(0.0, problem_.norm_squared - 2 * inner + model);
    double const value = 1 - std::sqrt(residual / problem_.norm_squared);
    if (!std::isfinite(value))
      throw RunError(concatenate("cp_als: the fit of iteration ", state_.iteration() + 1, " is ",
                                 value, ": the numbers are too large for this precision"));
    return value;
  }

  /// Columns of length 1, their lengths into the weights; a column of zeros stays, with weight 0.
  void normalize(int n) {
    int const R = state_.rank();
    for (int r = 0; r < R; ++r) {
      double const length = std::sqrt(gram_.host(r, r));
      state_.weights[r] = length;
      scale_.host(r) = static_cast<Scalar>(length > 0 ? 1 / length : 1);
    }
    scale_.to_device(exec_);
    scale_columns(exec_, factors_[n], scale_.device);
    auto& G = state_.grams[n];
    for (int i = 0; i < R; ++i)
      for (int j = 0; j < R; ++j) {
        double const lengths = state_.weights[i] * state_.weights[j];
        G[static_cast<std::size_t>(i) * R + j] = lengths > 0 ? gram_.host(i, j) / lengths : 0;
      }
  }

  ExecutionSpace exec_;
  CpAlsProblem<Scalar, Index, Memory>& problem_;
  CpAlsOptions options_;
  State& state_;
  KernelTimes& times_;
  std::size_t columns_;  // R with padding
  Mirrored<MatrixType> system_;
  Mirrored<Kokkos::View<double**, Kokkos::LayoutRight, Memory>> gram_;
  Mirrored<Kokkos::View<double*, Memory>> dots_;
  Mirrored<Vector<Scalar, Memory>> scale_;
  Mirrored<Vector<Scalar, Memory>> weights_;  // as the non-negative solver starts from them
  Factors<Scalar, Memory> factors_;
  MatrixType products_;  // V of every mode, one after another
  MatrixType gradient_;
  Workspace<Memory> workspace_;
  std::uint64_t singular_systems_ = 0;
};

}  // namespace sporades::detail
