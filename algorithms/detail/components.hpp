// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/components.hpp>
#include <sporades/algorithms/detail/chosen_components.hpp>
#include <sporades/algorithms/detail/column_norms.hpp>
#include <sporades/algorithms/detail/column_signs.hpp>
#include <sporades/algorithms/detail/tucker_signs.hpp>
#include <sporades/core/detail/region.hpp>
#include <sporades/formats/detail/check_model.hpp>

namespace sporades {
namespace detail {

/// The components that normalize makes, before they are copied. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
ChosenComponents normalized(ExecutionSpace const& exec,
                            KruskalTensor<Scalar, MemorySpace> const& model,
                            NormalizeOptions const& options) {
  int const N = model.order();
  auto chosen = unchanged(numbers_on_host(exec, model.weights), model.factors.size());
  auto& weights = chosen.weights;
  for (int n = 0; n < N; ++n) {
    auto& divisors = chosen.columns[n].divisors;
    divisors = column_norms(exec, model.factors[n], options.norm);
    for (std::size_t r = 0; r < weights.size(); ++r) {
      weights[r] *= divisors[r];
      if (divisors[r] == 0) divisors[r] = 1;
    }
  }
  for (std::size_t r = 0; r < weights.size(); ++r)
    if (weights[r] < 0) {
      weights[r] = -weights[r];
      chosen.columns[0].divisors[r] *= -1;
    }
  if (options.weights_into == keep_weights) return chosen;
  bool const spreads = options.weights_into == spread_weights;
  for (int n = 0; n < N; ++n) {
    if (!spreads && n != options.weights_into) continue;
    chosen.columns[n].factors = weights;
    if (spreads)
      for (double& factor : chosen.columns[n].factors) factor = std::pow(factor, 1.0 / N);
  }
  weights.assign(weights.size(), 1.0);
  return chosen;
}

/// The cosines of columns r of A and B, for as many as B has. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
std::vector<double> column_cosines(ExecutionSpace const& exec, Matrix<Scalar, MemorySpace> const& A,
                                   Matrix<Scalar, MemorySpace> const& B) {
  std::size_t const R = B.extent(1);
  auto const scaled = [&](Matrix<Scalar, MemorySpace> const& M) {
    auto divisors = column_norms(exec, M, ColumnNorm::two);
    for (double& divisor : divisors)
      if (divisor == 0) divisor = 1;
    divisors.resize(R, 1.0);
    return chosen_columns(exec, M, {all_components(R), divisors});
  };
  Workspace<MemorySpace> workspace;
  auto const sums =
      uninitialized<Kokkos::View<double*, MemorySpace>>(exec, "sporades::column_cosines::sums", R);
  column_dots(exec, scaled(A), scaled(B), sums, workspace);
  return to_vector(exec, sums);
}

/// Which columns to flip, an even number of a component: those of the most negative cosines.
/// cosines: R a mode.
inline std::vector<std::vector<bool>> flips_of_cosines(
    std::vector<std::vector<double>> const& cosines, std::size_t R) {
  std::size_t const N = cosines.size();
  std::vector<std::vector<bool>> flips(N, std::vector<bool>(R, false));
  for (std::size_t r = 0; r < (N == 0 ? 0 : cosines[0].size()); ++r) {
    std::vector<std::size_t> modes(N);
    std::iota(modes.begin(), modes.end(), std::size_t{0});
    std::stable_sort(modes.begin(), modes.end(),
                     [&](std::size_t m, std::size_t n) { return cosines[m][r] < cosines[n][r]; });
    std::size_t count = 0;
    while (count < N && cosines[modes[count]][r] < 0) ++count;
    if (count % 2 == 1) {  // one more or one less, whichever loses less
      bool const more = count < N && cosines[modes[count]][r] < -cosines[modes[count - 1]][r];
      count = more ? count + 1 : count - 1;
    }
    for (std::size_t k = 0; k < count; ++k) flips[modes[k]][r] = true;
  }
  return flips;
}

struct NotKruskal {
  template <class Given>
  NotKruskal(Given const&) {
    static_assert(never<Given>,
                  "the model must be a KruskalTensor, and a reference one of the same types");
  }
};

}  // namespace detail

template <class ExecutionSpace, class Scalar, class MemorySpace>
KruskalTensor<Scalar, MemorySpace> normalize(ExecutionSpace const& exec,
                                             KruskalTensor<Scalar, MemorySpace> const& model,
                                             NormalizeOptions const& options) {
  detail::check_types<ExecutionSpace, KruskalTensor<Scalar, MemorySpace>>();
  detail::Region const region("sporades::normalize");
  detail::check_model(model, "normalize");
  int const into = options.weights_into;
  expects(into == keep_weights || into == spread_weights || (into >= 0 && into < model.order()),
          "normalize: weights into mode ", into, " of a model of order ", model.order());
  return detail::kruskal_of(exec, model.factors, detail::normalized(exec, model, options));
}

template <class ExecutionSpace, class Scalar, class MemorySpace>
KruskalTensor<Scalar, MemorySpace> arrange(ExecutionSpace const& exec,
                                           KruskalTensor<Scalar, MemorySpace> const& model) {
  detail::check_types<ExecutionSpace, KruskalTensor<Scalar, MemorySpace>>();
  detail::Region const region("sporades::arrange");
  detail::check_model(model, "arrange");
  auto const chosen = detail::normalized(exec, model, {});
  return detail::kruskal_of(exec, model.factors,
                            detail::in_order(chosen, detail::components_by_weight(chosen.weights)));
}

template <class ExecutionSpace, class Scalar, class MemorySpace>
KruskalTensor<Scalar, MemorySpace> arrange(ExecutionSpace const& exec,
                                           KruskalTensor<Scalar, MemorySpace> const& model,
                                           std::vector<int> const& permutation) {
  auto in_order = permutation;
  std::sort(in_order.begin(), in_order.end());
  expects(in_order == detail::all_components(model.weights.extent(0)), "arrange: the list of ",
          permutation.size(), " numbers is no permutation of the ", model.weights.extent(0),
          " components");
  return extract(exec, model, permutation);
}

template <class ExecutionSpace, class Scalar, class MemorySpace>
KruskalTensor<Scalar, MemorySpace> extract(ExecutionSpace const& exec,
                                           KruskalTensor<Scalar, MemorySpace> const& model,
                                           std::vector<int> const& components) {
  detail::check_types<ExecutionSpace, KruskalTensor<Scalar, MemorySpace>>();
  detail::Region const region("sporades::extract");
  detail::check_model(model, "extract");
  for (int const r : components)
    expects(r >= 0 && r < model.rank(), "extract: there is no component ", r, " in a model of ",
            model.rank());
  auto const all =
      detail::unchanged(detail::numbers_on_host(exec, model.weights), model.factors.size());
  return detail::kruskal_of(exec, model.factors, detail::in_order(all, components));
}

template <class ExecutionSpace, class Scalar, class MemorySpace>
KruskalTensor<Scalar, MemorySpace> fixsigns(ExecutionSpace const& exec,
                                            KruskalTensor<Scalar, MemorySpace> const& model) {
  detail::check_types<ExecutionSpace, KruskalTensor<Scalar, MemorySpace>>();
  detail::Region const region("sporades::fixsigns");
  detail::check_model(model, "fixsigns");
  auto chosen =
      detail::unchanged(detail::numbers_on_host(exec, model.weights), model.factors.size());
  detail::flip(chosen, detail::paired_flips(exec, model.factors));
  return detail::kruskal_of(exec, model.factors, chosen);
}

template <class ExecutionSpace, class Scalar, class MemorySpace>
KruskalTensor<Scalar, MemorySpace> fixsigns(ExecutionSpace const& exec,
                                            KruskalTensor<Scalar, MemorySpace> const& model,
                                            KruskalTensor<Scalar, MemorySpace> const& reference) {
  detail::check_types<ExecutionSpace, KruskalTensor<Scalar, MemorySpace>>();
  detail::Region const region("sporades::fixsigns");
  detail::check_model(model, "fixsigns");
  detail::check_model(reference, "fixsigns");
  detail::check_same_dims(model.dims(), reference.dims(), "fixsigns");
  expects(reference.rank() <= model.rank(), "fixsigns: the reference has ", reference.rank(),
          " components, the model ", model.rank());
  std::vector<std::vector<double>> cosines;
  for (std::size_t n = 0; n < model.factors.size(); ++n)
    cosines.push_back(detail::column_cosines(exec, model.factors[n], reference.factors[n]));
  auto chosen =
      detail::unchanged(detail::numbers_on_host(exec, model.weights), model.factors.size());
  detail::flip(chosen, detail::flips_of_cosines(cosines, model.weights.extent(0)));
  return detail::kruskal_of(exec, model.factors, chosen);
}

template <class ExecutionSpace, class Scalar, class MemorySpace>
TuckerTensor<Scalar, MemorySpace> fixsigns(ExecutionSpace const& exec,
                                           TuckerTensor<Scalar, MemorySpace> const& model) {
  detail::check_types<ExecutionSpace, TuckerTensor<Scalar, MemorySpace>>();
  detail::Region const region("sporades::fixsigns");
  detail::check_model(model, "fixsigns");
  return detail::with_columns_up(exec, detail::numbers_on_host(exec, model.core), model.factors);
}

template <class ExecutionSpace>
void normalize(ExecutionSpace const&, detail::NotKruskal, NormalizeOptions const& = {}) {}
template <class ExecutionSpace, class... Others>
void arrange(ExecutionSpace const&, detail::NotKruskal, Others const&...) {}
template <class ExecutionSpace, class... Others>
void extract(ExecutionSpace const&, detail::NotKruskal, Others const&...) {}
template <class ExecutionSpace, class... Others>
void fixsigns(ExecutionSpace const&, detail::NotKruskal, Others const&...) {}

}  // namespace sporades

#include <sporades/eti/components.hpp>
