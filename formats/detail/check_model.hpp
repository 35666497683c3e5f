// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/check_types.hpp>
#include <sporades/formats/kruskal_tensor.hpp>
#include <sporades/formats/tucker_tensor.hpp>

/// What functions of models check of them. where begins the message.

namespace sporades::detail {

/// Throws Error unless there are 1 to max_order factors with a column for each weight.
template <class Scalar, class MemorySpace>
void check_model(KruskalTensor<Scalar, MemorySpace> const& model, char const* where) {
  check_dims<std::uint64_t>(model.dims(), where);
  for (std::size_t n = 0; n < model.factors.size(); ++n)
    expects(model.factors[n].extent(1) == model.weights.extent(0), where, ": factor ", n, " has ",
            model.factors[n].extent(1), " columns, there are ", model.weights.extent(0),
            " weights");
}

/// Throws Error unless there are 1 to max_order factors, each with a column at least, and a core of
/// their ranks.
template <class Scalar, class MemorySpace>
void check_model(TuckerTensor<Scalar, MemorySpace> const& model, char const* where) {
  check_dims<std::uint64_t>(model.dims(), where);
  auto const ranks = model.ranks();
  for (std::size_t n = 0; n < ranks.size(); ++n)
    expects(ranks[n] > 0, where, ": factor ", n, " has no columns");
  expects(core_size(ranks) == model.core.extent(0), where, ": the core has ", model.core.extent(0),
          " entries, the factors ask for ", core_size(ranks));
}

/// Throws Error unless the tensors have the same lengths of modes.
inline void check_same_dims(Dims const& first, Dims const& second, char const* where) {
  expects(first == second, where, ": one tensor is ", to_string(first), ", the other ",
          to_string(second));
}

/// The weights of a model as kernels take them, in double. Enqueued on exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
Kokkos::View<double*, MemorySpace> double_weights(ExecutionSpace const& exec,
                                                  Vector<Scalar, MemorySpace> const& weights) {
  auto const doubles = uninitialized<Kokkos::View<double*, MemorySpace>>(
      exec, "sporades::kruskal::double_weights", weights.extent(0));
  copy_view(exec, doubles, weights);
  return doubles;
}

/// Numbers of a model, such as its weights, in double and on the host. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
std::vector<double> numbers_on_host(ExecutionSpace const& exec,
                                    Vector<Scalar, MemorySpace> const& numbers) {
  auto const host = to_vector(exec, numbers);
  return {host.begin(), host.end()};
}

}  // namespace sporades::detail
