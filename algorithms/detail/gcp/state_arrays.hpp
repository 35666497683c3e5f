// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/gcp.hpp>

namespace sporades::detail {

/// The iterations as nine doubles each, which hold their counts exactly up to 2^53.
inline std::vector<double> numbers_of(std::vector<GcpIteration> const& iterations) {
  std::vector<double> numbers;
  for (auto const& one : iterations)
    for (double const number :
         {one.loss, one.gradient, one.step, one.error, one.undone ? 1.0 : 0.0, one.bare ? 1.0 : 0.0,
          one.raised ? 1.0 : 0.0, static_cast<double>(one.evaluations), one.seconds})
      numbers.push_back(number);
  return numbers;
}

/// The other way round.
inline std::vector<GcpIteration> gcp_iterations_of(std::vector<double> const& numbers) {
  std::vector<GcpIteration> iterations;
  for (std::size_t k = 0; k + 9 <= numbers.size(); k += 9)
    iterations.push_back({numbers[k], numbers[k + 1], numbers[k + 2], numbers[k + 3],
                          numbers[k + 4] != 0, numbers[k + 5] != 0, numbers[k + 6] != 0,
                          static_cast<std::int64_t>(numbers[k + 7]), numbers[k + 8]});
  return iterations;
}

template <class Scalar, class MemorySpace>
struct StateArrays<GcpState<Scalar, MemorySpace>> {
  static constexpr char const* name = "gcp";

  template <class State, class Arrays>
  static void visit(State& state, Arrays& arrays) {
    constexpr bool reads = !std::is_const_v<State>;
    arrays.flat_matrices("factor", state);
    std::vector<std::uint64_t> begun{state.steps.size(), state.is_random, state.has_begun,
                                     state.square_roots};
    arrays.numbers("begun", begun, begun.size());
    auto start_loss = state.start_loss;
    arrays.number("start_loss", start_loss);
    auto numbers = numbers_of(state.history);
    arrays.any_numbers("iterations", numbers);
    if constexpr (reads) {
      expects(begun[0] <= 1000, "gcp: the snapshot has ", begun[0], " pairs of steps and changes");
      state.steps.resize(begun[0]);
      state.changes.resize(begun[0]);
      state.is_random = begun[1] != 0;
      state.has_begun = begun[2] != 0;
      state.square_roots = begun[3] != 0;
      state.start_loss = start_loss;
      state.history = gcp_iterations_of(numbers);
    }
    for (std::size_t k = 0; k < begun[0]; ++k) {
      arrays.flat_matrices(array_name("step", k).c_str(), state.steps[k]);
      arrays.flat_matrices(array_name("change", k).c_str(), state.changes[k]);
    }
  }
};

}  // namespace sporades::detail
