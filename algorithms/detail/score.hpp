// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/algorithms/components.hpp>
#include <sporades/algorithms/detail/match.hpp>
#include <sporades/algorithms/score.hpp>
#include <sporades/kernels/detail/run_innerprod.hpp>

namespace sporades {
namespace detail {

/// C(r, s) of score, R x S row by row. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
std::vector<double> congruences(ExecutionSpace const& exec,
                                KruskalTensor<Scalar, MemorySpace> const& A,
                                KruskalTensor<Scalar, MemorySpace> const& B, bool weight_penalty) {
  auto const chosen_A = normalized(exec, A, {}), chosen_B = normalized(exec, B, {});
  auto const &a = chosen_A.weights, &b = chosen_B.weights;
  std::vector<double> C(a.size() * b.size(), 1.0);
  for (std::size_t n = 0; n < A.factors.size(); ++n) {
    // One mode at a time, so that two copies of factors suffice.
    auto const products = factor_products<ExecutionSpace, Scalar, MemorySpace>(
        exec, {chosen_columns(exec, A.factors[n], chosen_A.columns[n])},
        {chosen_columns(exec, B.factors[n], chosen_B.columns[n])});
    for (std::size_t k = 0; k < C.size(); ++k) C[k] *= std::abs(products[0][k]);
  }
  if (weight_penalty)
    for (std::size_t r = 0; r < a.size(); ++r)
      for (std::size_t s = 0; s < b.size(); ++s) {
        double const larger = std::max(a[r], b[s]);
        if (larger > 0) C[r * b.size() + s] *= 1 - std::abs(a[r] - b[s]) / larger;
      }
  return C;
}

struct NotTwoKruskals {
  template <class Given>
  NotTwoKruskals(Given const&) {
    static_assert(never<Given>,
                  "score takes two KruskalTensors of one scalar type and memory space");
  }
};

}  // namespace detail

template <class ExecutionSpace, class Scalar, class MemorySpace>
Score score(ExecutionSpace const& exec, KruskalTensor<Scalar, MemorySpace> const& A,
            KruskalTensor<Scalar, MemorySpace> const& B, ScoreOptions const& options) {
  detail::check_types<ExecutionSpace, KruskalTensor<Scalar, MemorySpace>>();
  detail::Region const region("sporades::score");
  detail::check_model(A, "score");
  detail::check_model(B, "score");
  detail::check_same_dims(A.dims(), B.dims(), "score");
  std::size_t const R = A.weights.extent(0), S = B.weights.extent(0);
  expects(R >= S && S > 0, "score: the first model has ", R, " components, the second ", S,
          ": the second needs one at least, and the first as many");
  auto const C = detail::congruences(exec, A, B, options.weight_penalty);
  for (double const c : C) expects(std::isfinite(c), "score: a model holds NaN or infinity");
  Score result;
  result.permutation = options.matching == ScoreMatching::exact ? detail::match_exactly(C, R, S)
                                                                : detail::match_greedily(C, R, S);
  std::vector<bool> is_taken(R, false);
  for (std::size_t s = 0; s < S; ++s) {
    auto const r = static_cast<std::size_t>(result.permutation[s]);
    is_taken[r] = true;
    result.components.push_back(C[r * S + s]);
    result.value += C[r * S + s] / static_cast<double>(S);
  }
  result.value = std::min(result.value, 1.0);  // a rounding above it
  for (std::size_t r = 0; r < R; ++r)
    if (!is_taken[r]) result.permutation.push_back(static_cast<int>(r));
  return result;
}

template <class ExecutionSpace>
Score score(ExecutionSpace const&, detail::NotTwoKruskals, detail::NotTwoKruskals,
            ScoreOptions const& = {}) {
  return {};
}

}  // namespace sporades

#include <sporades/eti/score.hpp>
