// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>
#include <sporades/algorithms/cp_apr.hpp>

namespace sporades {

template <class Scalar, class MemorySpace>
IterationInfo CpAprState<Scalar, MemorySpace>::info(int k) const {
  auto const& now = history[k];
  double const change = k > 0 ? now.log_likelihood - history[k - 1].log_likelihood
                              : std::numeric_limits<double>::infinity();
  return {0, k + 1, now.log_likelihood, change, now.seconds};
}

namespace detail {

/// The iterations as six doubles each, which hold their counts exactly up to 2^53.
inline std::vector<double> numbers_of(std::vector<CpAprIteration> const& iterations) {
  std::vector<double> numbers;
  for (auto const& one : iterations)
    for (double const number :
         {one.log_likelihood, one.kkt_violation, static_cast<double>(one.inner_iterations),
          static_cast<double>(one.zero_model_nonzeros), one.unchanged ? 1.0 : 0.0, one.seconds})
      numbers.push_back(number);
  return numbers;
}

/// The other way round.
inline std::vector<CpAprIteration> iterations_of(std::vector<double> const& numbers) {
  std::vector<CpAprIteration> iterations;
  for (std::size_t k = 0; k + 6 <= numbers.size(); k += 6)
    iterations.push_back({numbers[k], numbers[k + 1], static_cast<std::int64_t>(numbers[k + 2]),
                          static_cast<Position>(numbers[k + 3]), numbers[k + 4] != 0,
                          numbers[k + 5]});
  return iterations;
}

template <class Scalar, class MemorySpace>
struct StateArrays<CpAprState<Scalar, MemorySpace>> {
  static constexpr char const* name = "cp_apr";

  template <class State, class Arrays>
  static void visit(State& state, Arrays& arrays) {
    arrays.matrices("factor", state.factors);
    arrays.numbers("weights", state.weights, static_cast<std::size_t>(arrays.shape().ranks[0]));
    arrays.padded_views("lifts", state.zero_marks);
    auto numbers = numbers_of(state.history);
    arrays.any_numbers("iterations", numbers);
    if constexpr (!std::is_const_v<State>) state.history = iterations_of(numbers);
  }
};

}  // namespace detail
}  // namespace sporades
