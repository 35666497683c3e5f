// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <sporades/algorithms/detail/iterate.hpp>
#include <sporades/algorithms/detail/tucker/left_singular_vectors.hpp>
#include <sporades/algorithms/tucker.hpp>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/detail/region.hpp>
#include <sporades/core/timer.hpp>
#include <sporades/kernels/detail/coo_windows.hpp>
#include <sporades/kernels/detail/core_product.hpp>
#include <sporades/kernels/detail/tucker_inner_product.hpp>

namespace sporades::detail {

/// The iterations of HOOI on one tensor.
template <class ExecutionSpace, class Scalar, class Index>
class TuckerSolver {
  using Memory = typename ExecutionSpace::memory_space;
  using State = TuckerState<Scalar, Memory>;
  using Product = TtmChainProduct<Scalar, Index, Memory>;

 public:
  TuckerSolver(ExecutionSpace const& exec, TuckerProblem<Scalar, Index, Memory>& problem,
               TuckerOptions const& options, State& state, KernelTimes& times)
      : exec_(exec),
        problem_(problem),
        options_(options),
        state_(state),
        times_(times),
        left_(exec, options.singular_vectors, options.stop) {
    for (double g : state.core) core_.push_back(std::ldexp(g, -problem.exponent));
    forget_gathered(problem.chain);
  }

  /// Updates every mode once, then the core, and appends the fit to the state. Fences exec.
  void iterate() {
    Timer const timer;
    Product product;
    int const last = state_.order() - 1;
    for (int n = 0; n <= last; ++n) {
      Region const region("mode ", n);
      throw_if_stopped(options_.stop);
      auto const keeping = keep_gathered(problem_.chain, static_cast<std::size_t>(n));
      times_.measure(exec_, "ttm_chain mode " + std::to_string(n),
                     [&] { product = ttm_chain(exec_, problem_.chain, state_.factors, n); });
      times_.measure(exec_, "singular vectors mode " + std::to_string(n), [&] {
        left_(product, state_.factors[n], options_.seed, n, tolerance(product, n),
              n == 0 ? known_core(product) : std::vector<double>{});
      });
    }
    times_.measure(exec_, "core", [&] { update_core(product); });
    state_.fits.push_back(fit());
    state_.seconds.push_back(timer.seconds());
  }

  bool has_converged() const { return fit_has_settled(state_.fits, 1, options_.tolerance); }

 private:
  /// Y_(0)^T A_0 when mode 0 is next: no factor has changed since the last iteration's core, which
  /// holds it. Empty before there is one.
  std::vector<double> known_core(Product const& product) const {
    if (state_.iterations() == 0) return {};
    auto const places = ascending_places(*product.columns);
    std::size_t const R = state_.factors[0].extent(1), columns = places.size();
    std::vector<double> core(R * columns);
    for (std::size_t r = 0; r < R; ++r)
      for (std::size_t c = 0; c < columns; ++c)
        if (places[c] >= 0)
          core[r * columns + c] = core_[r + R * static_cast<std::size_t>(places[c])];
    return core;
  }

  /// How exactly iterated singular vectors of Y are to be computed, relative to the model's energy,
  /// which is about 2 fit ||X||^2. One more pass over Y pays if it gains more than an iteration
  /// does in the same time, as the last one did; before there are two, an iteration may gain all. A
  /// pass runs at about twice the flops a second of the chains.
  double tolerance(Product const& product, int n) const {
    constexpr double most = 0.3;
    double const finest = 500 * double{std::numeric_limits<Scalar>::epsilon()};
    double chains = 1;
    for (auto const& choice : problem_.chain.choices) chains += choice.flops;
    double const pass = 2.0 * static_cast<double>(product.all_rows() * product.Y.extent(1) *
                                                  state_.factors[n].extent(1));
    auto const& fits = state_.fits;
    double const gain = fits.size() < 2 ? 1 : (fits.back() - fits[fits.size() - 2]) / fits.back();
    return std::max(finest, std::min(most, pass / chains) * gain);
  }

  /// G_(N-1) = A_{N-1}^T Y_(N-1), in the order of TuckerTensor.
  void update_core(Product const& product) {
    int const last = state_.order() - 1;
    std::size_t const R = state_.factors[last].extent(1), columns = product.Y.extent(1);
    auto const U = left_.rows_of(product, state_.factors[last], R);
    Kokkos::View<double**, Kokkos::LayoutRight, Memory> const G(
        Kokkos::view_alloc(exec_, "sporades::tucker::core"), R, columns);
    transposed_product(exec_, U, product.Y, G, left_.tall().workspace(), product.where.product);
    auto const host = Kokkos::create_mirror_view(G);
    copy_view(exec_, host, G);
    fence(exec_, "sporades::tucker::core");
    auto const places = ascending_places(*product.columns);
    std::size_t const others = core_.size() / R;
    for (std::size_t r = 0; r < R; ++r)
      for (std::size_t c = 0; c < columns; ++c)
        if (places[c] >= 0) core_[r * others + places[c]] = host(r, c);
    for (std::size_t g = 0; g < core_.size(); ++g)
      state_.core[g] = std::ldexp(core_[g], problem_.exponent);
  }

  /// 1 - ||X - M|| / ||X|| with ||X - M||^2 = ||X||^2 - ||G||^2, as the factors are orthonormal.
  /// This leaves an error of some roundings relative to ||X||^2. In float, where that is too much
  /// for a fit to 1e-5, the residual is computed again in double. A residual below zero counts as
  /// zero: fits past 1 - 1e-8 are not told apart.
  double fit() {
    constexpr double roundings = 32, wanted = 1e-5;
    double core = 0;
    for (double g : core_) core += g * g;
    double residual = (problem_.norm_squared - core) / problem_.norm_squared;
    if constexpr (sizeof(Scalar) < sizeof(double)) {
      double const error = roundings * double{std::numeric_limits<Scalar>::epsilon()};
      if (residual - residual == 0 && error > 2 * wanted * std::sqrt(std::max(residual, 0.0)))
        residual = residual_in_double();
    }
    return fit_of("tucker", state_.iterations() + 1, residual);
  }

  /// ||X - M||^2 / ||X||^2 = 1 - (2 <X, M> - ||M||^2) / ||X||^2 of the factors as they are, which
  /// are orthonormal to their rounding only: ||M||^2 = <G x_0 A_0^T A_0 ... x_{N-1}, G>. Holds the
  /// coordinates of the nonzeros while it runs. Fences exec.
  double residual_in_double() {
    double const inner = inner_product_with_model();
    auto image = core_;
    std::size_t stride = 1;
    for (int n = 0; n < state_.order(); ++n) {
      auto const& A = state_.factors[n];
      std::size_t const R = A.extent(1);
      image = core_product(image, left_.tall().gram_on_host(A, problem_.rows_of(n)), stride, R);
      stride *= R;
    }
    double model = 0;
    for (std::size_t g = 0; g < core_.size(); ++g) model += image[g] * core_[g];
    return (problem_.norm_squared - 2 * inner + model) / problem_.norm_squared;
  }

  /// <X, M> of the factors and the core as they are. Fences exec.
  double inner_product_with_model() {
    auto& chain = problem_.chain;
    auto const& A = state_.factors;
    auto const& columns = chain.choices[0].columns;
    auto modes = columns.modes;
    modes.insert(modes.begin(), 0);
    Position const length = chain_chunk_length<ExecutionSpace>(chain.nnz, columns.count());
    if (chain.work.distributed) {
      auto const keeping = keep_gathered(chain, 0);
      auto const U = left_.used_rows(chain.rows[0], A[0], A[0].extent(1));
      auto const share = named_share(exec_, chain, A, U, 0);
      return tucker_inner_product(exec_, share.X, share.factors, core_, modes, length,
                                  share.places);
    }
    OutOfCoreTensor<CooTensor<Scalar, Index, Memory>> X;
    if (!is_out_of_core(chain.formats, 0))
      X.tensor = to_coo(exec_, chain, 0);
    else if (auto const* const semi_sparse = chain.formats.template as<SemiSparseChain>(0))
      X = to_out_of_core_coo(exec_, semi_sparse->X);
    else
      X = to_out_of_core_coo(exec_, *chain.formats.template as<PackedTensor>(0));
    return tucker_inner_product(exec_, X.tensor, A, core_, modes, length, {},
                                X.memory ? &chain.work.buffers.carry.windows : nullptr);
  }

  ExecutionSpace exec_;
  TuckerProblem<Scalar, Index, Memory>& problem_;
  TuckerOptions options_;
  State& state_;
  KernelTimes& times_;
  std::vector<double> core_;  // the state's in the problem's unit
  LeftSingularVectors<ExecutionSpace, Scalar, Index> left_;
};

}  // namespace sporades::detail
