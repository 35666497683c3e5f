// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/starts.hpp>
#include <sporades/algorithms/run.hpp>
#include <sporades/core/communicator.hpp>
#include <sporades/core/detail/check_types.hpp>
#include <sporades/execution_spaces.hpp>
#include <sporades/formats/coo_tensor.hpp>

/// What the public functions of the methods call. The library holds it for its own types
/// (method.in), so that applications need not read how it works: decompose.hpp and the headers of
/// each method. For other types algorithms/definitions.hpp includes these.

namespace sporades::detail {

/// Whether the library holds the calls of these types.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
inline constexpr bool is_held = is_one_of<ExecutionSpace, ExecutionSpaces>&& is_one_of<
    Scalar, Scalars>&& is_one_of<Index, std::tuple<std::uint32_t, std::uint64_t>>&&
    is_one_of<MemorySpace, std::tuple<typename ExecutionSpace::memory_space, Kokkos::HostSpace>>;

/// Complete where algorithms/definitions.hpp is included.
template <class ExecutionSpace, class Scalar>
struct Definitions;

template <class T, class = void>
inline constexpr bool is_complete = false;
template <class T>
inline constexpr bool is_complete<T, std::void_t<decltype(sizeof(T))>> = true;

/// Whether the calls of these types can be compiled here, or the library holds them.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
constexpr bool check_held() {
  if constexpr (is_held<ExecutionSpace, Scalar, Index, MemorySpace>) {
    return true;
  } else {
    constexpr bool is_defined = is_complete<Definitions<ExecutionSpace, Scalar>>;
    static_assert(
        is_defined,
        "the library is not compiled for this scalar type, index type or execution space: "
        "include <sporades/algorithms/definitions.hpp> first, and link sporades::simd");
    return is_defined;
  }
}

/// check_held, and exec can work on the tensor.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
constexpr bool check_call() {
  if constexpr (check_types<ExecutionSpace, CooTensor<Scalar, Index, MemorySpace>>())
    return check_held<ExecutionSpace, Scalar, Index, MemorySpace>();
  return false;
}

/// check_held, and exec can work on the tensor, or is a GPU that streams it from the host.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
constexpr bool check_maker() {
  if constexpr (check_builder<ExecutionSpace, CooTensor<Scalar, Index, MemorySpace>>())
    return check_held<ExecutionSpace, Scalar, Index, MemorySpace>();
  return false;
}

/// The State and the Result of a method, by its Problem; specialised beside each.
template <class Problem>
struct MethodTypes;
template <class Problem>
using StateOf = typename MethodTypes<Problem>::State;
template <class Problem>
using ResultOf = typename MethodTypes<Problem>::Result;
template <class Problem>
using EndOfStart = std::function<void(ResultOf<Problem> const&)>;

/// The state before the first iteration, of any start except a given one. X: all nonzeros, or none
/// where the start does not need them. Fences exec.
template <class Problem, class ExecutionSpace, class Tensor, class Options>
StateOf<Problem> first_start(ExecutionSpace const& exec, Tensor const& X, Options const& options);

/// The random start of the options. Collective. Fences exec.
template <class ExecutionSpace, class Problem, class Options>
StateOf<Problem> random_start(ExecutionSpace const& exec, Problem const& problem,
                              Options const& options);

/// The start of a model of these dims. Fences exec.
template <class Problem, class ExecutionSpace, class Options, class Model>
StateOf<Problem> start_of_model(ExecutionSpace const& exec, Dims const& dims,
                                Options const& options, Model const& model);

/// The start of a model, of which each process hands in its rows. Collective. Fences exec.
template <class ExecutionSpace, class Problem, class Options, class Model>
StateOf<Problem> start_of_model(ExecutionSpace const& exec, Problem const& problem,
                                Options const& options, Model const& model);

/// The problem of a tensor on one process. Fences exec.
template <class Problem, class ExecutionSpace, class Tensor, class Options>
Problem make_problem(ExecutionSpace const& exec, Tensor X, Options const& options);

/// The problem of the nonzeros of all processes. start: null, or gets the state before the first
/// iteration, as first_start makes it of all nonzeros. Collective. Fences exec.
template <class Problem, class ExecutionSpace, class Tensor, class Options>
Problem make_problem(Communicator const& processes, ExecutionSpace const& exec, Tensor X,
                     Options const& options, StateOf<Problem>* start);

/// A run that goes on from the state, which is changed. Collective. Fences exec.
template <class ExecutionSpace, class Problem, class Options>
ResultOf<Problem> run_from(ExecutionSpace const& exec, Problem& problem, Options const& options,
                           StateOf<Problem>& state, Observer const& observer);

/// Runs from starts.state, and from random starts of other seeds (Starts::seed_of), until
/// options.starts have ended or the observer stops one. The value of its model is what a start is
/// judged by; larger is better. Returns the result of the best, the first of equal ones, with the
/// kernel times of all; a start that was stopped counts as well. ended: sees the result of each
/// start that ends. Collective. Fences exec.
template <class ExecutionSpace, class Problem, class Options>
ResultOf<Problem> run_from_starts(ExecutionSpace const& exec, Problem& problem,
                                  Options const& options, Starts<StateOf<Problem>>& starts,
                                  Observer const& observer = {},
                                  EndOfStart<Problem> const& ended = {});

/// The whole decomposition on one process, by options that fit the memory. Fences exec.
template <class Problem, class ExecutionSpace, class Tensor, class Options>
ResultOf<Problem> decompose(ExecutionSpace const& exec, Tensor X, Options const& options,
                            Observer const& observer);

/// The whole decomposition of the nonzeros of all processes. Collective. Fences exec.
template <class Problem, class ExecutionSpace, class Tensor, class Options>
ResultOf<Problem> decompose(Communicator const& processes, ExecutionSpace const& exec, Tensor X,
                            Options const& options, Observer const& observer);

}  // namespace sporades::detail
