// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/algorithms/tucker/options.hpp>
#include <sporades/algorithms/tucker/state.hpp>
#include <sporades/core/timer.hpp>

namespace sporades::detail {

/// The iterations of HOOI on one tensor.
template <class ExecutionSpace, class Scalar, class Index>
class HooiSolver {
  using Memory = typename ExecutionSpace::memory_space;
  using State = HooiState<Scalar, Memory>;
  using Product = TtmChainProduct<Scalar, Index, Memory>;

 public:
  HooiSolver(ExecutionSpace const& exec, HooiProblem<Scalar, Index, Memory>& problem,
             HooiOptions const& options, State& state, KernelTimes& times)
      : exec_(exec),
        problem_(problem),
        options_(options),
        state_(state),
        times_(times),
        left_(exec, options.singular_vectors) {}

  /// Updates every mode once, then the core, and appends the fit to the state. Fences exec.
  void iterate() {
    Timer const timer;
    Product product;
    int const last = state_.order() - 1;
    for (int n = 0; n <= last; ++n) {
      times_.measure(exec_, "ttm_chain mode " + std::to_string(n),
                     [&] { product = ttm_chain(exec_, problem_.chain, state_.factors, n); });
      times_.measure(exec_, "singular vectors mode " + std::to_string(n), [&] {
        left_(product, state_.factors[n], options_.seed, n, tolerance(product.Y, n),
              n == 0 ? known_core(product) : std::vector<double>{});
      });
    }
    times_.measure(exec_, "core", [&] { update_core(product); });
    state_.fits.push_back(fit());
    state_.seconds.push_back(timer.seconds());
  }

 private:
  /// Y_(0)^T A_0 when mode 0 is next: no factor has changed since the last iteration's core, which
  /// holds it. Empty before there is one.
  std::vector<double> known_core(Product const& product) const {
    if (state_.iteration() == 0) return {};
    auto const places = ascending_places(*product.columns);
    std::size_t const R = state_.factors[0].extent(1), columns = places.size();
    std::vector<double> core(R * columns);
    for (std::size_t r = 0; r < R; ++r)
      for (std::size_t c = 0; c < columns; ++c)
        if (places[c] >= 0)
          core[r * columns + c] = state_.core[r + R * static_cast<std::size_t>(places[c])];
    return core;
  }

  /// How exactly singular vectors of Y are wanted that are iterated for, relative to the model's
  /// energy, which is about 2 fit ||X||^2. One more pass over Y pays if it gains more than an
  /// iteration does in the same time, as the last one did; before there are two, an iteration may
  /// gain all. A pass runs at about twice the flops a second of the chains.
  double tolerance(Matrix<Scalar, Memory> const& Y, int n) const {
    constexpr double most = 0.3;
    double const finest = 500 * double{std::numeric_limits<Scalar>::epsilon()};
    double chains = 1;
    for (auto const& choice : problem_.chain.choices) chains += choice.flops;
    double const pass = 2.0 * static_cast<double>(Y.size() * state_.factors[n].extent(1));
    auto const& fits = state_.fits;
    double const gain = fits.size() < 2 ? 1 : (fits.back() - fits[fits.size() - 2]) / fits.back();
    return std::max(finest, std::min(most, pass / chains) * gain);
  }

  /// G_(N-1) = A_{N-1}^T Y_(N-1), in the order of TuckerTensor.
  void update_core(Product const& product) {
    int const last = state_.order() - 1;
    auto const& A = state_.factors[last];
    std::size_t const R = A.extent(1), columns = product.Y.extent(1);
    auto const U = make_matrix<Scalar>(exec_, "sporades::tucker::left", product.Y.extent(0), R);
    Kokkos::parallel_for(
        "sporades::tucker::gather_factor", Range<ExecutionSpace>(exec_, 0, U.extent(0)),
        GatherFactor<Matrix<Scalar, Memory>, Vector<Index, Memory>>{A, U, product.rows});
    Kokkos::View<double**, Kokkos::LayoutRight, Memory> const G(
        Kokkos::view_alloc(exec_, "sporades::tucker::core"), R, columns);
    transposed_product(exec_, U, product.Y, G, left_.tall().workspace());
    auto const host = Kokkos::create_mirror_view(G);
    Kokkos::deep_copy(exec_, host, G);
    fence(exec_, "sporades::tucker::core");
    auto const places = ascending_places(*product.columns);
    std::size_t const others = state_.core.size() / R;
    for (std::size_t r = 0; r < R; ++r)
      for (std::size_t c = 0; c < columns; ++c)
        if (places[c] >= 0) state_.core[r * others + places[c]] = host(r, c);
  }

  /// 1 - ||X - M|| / ||X|| with ||X - M||^2 = ||X||^2 - ||G||^2, as the factors are orthonormal.
  /// Rounding leaves about sqrt(epsilon) of the relative residual.
  double fit() const {
    double core = 0;
    for (double g : state_.core) core += g * g;
    double const residual = problem_.norm_squared - core;
    double const value =
        1 - std::sqrt((residual < 0 ? 0 : residual) / problem_.norm_squared);  // NaN stays
    if (!std::isfinite(value))
      throw RunError(concatenate("hooi: the fit of iteration ", state_.iteration() + 1, " is ",
                                 std::isnan(value) ? std::abs(value) : value,
                                 ": the numbers are too large for this precision"));
    return value;
  }

  ExecutionSpace exec_;
  HooiProblem<Scalar, Index, Memory>& problem_;
  HooiOptions options_;
  State& state_;
  KernelTimes& times_;
  LeftSingularVectors<ExecutionSpace, Scalar, Index> left_;
};

}  // namespace sporades::detail
