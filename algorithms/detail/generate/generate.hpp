// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/algorithms/detail/generate/make_tensor.hpp>
#include <sporades/algorithms/generate.hpp>
#include <sporades/core/detail/initialized.hpp>
#include <sporades/core/detail/processes/same_options.hpp>

namespace sporades {
namespace detail {

inline void check_generated_nnz(Position nnz) {
  expect_initialized("generate");
  Position const most = Position{1} << 33;
  expects(nnz <= most, "generate: ", nnz, " nonzeros are wanted, at most ", most, " are possible");
}

}  // namespace detail

template <class Scalar, class ExecutionSpace>
CooTensor<Scalar, std::uint32_t, typename ExecutionSpace::memory_space> generate_like(
    Communicator const& processes, ExecutionSpace const& exec, std::string const& name,
    std::optional<Position> nnz, std::uint64_t seed) {
  auto const named = [&] {
    return detail::types_of_call<Scalar, std::uint32_t>()
        .add("name", name)
        .add("nnz", nnz.value_or(0))
        .add("seed", seed);
  };
  return detail::together(processes, "generate_like", named, [&] {
    auto const recipe = detail::recipe_like(name, nnz);
    detail::check_generated_nnz(recipe.nnz);
    if (detail::KeyFields(recipe.dims()).total_bits() <= 64)
      return detail::generate_recipe<Scalar, std::uint64_t>(processes, exec, recipe, seed);
    return detail::generate_recipe<Scalar, detail::Key128>(processes, exec, recipe, seed);
  });
}

template <class Scalar, class ExecutionSpace>
CooTensor<Scalar, std::uint32_t, typename ExecutionSpace::memory_space> generate_like(
    ExecutionSpace const& exec, std::string const& name, std::optional<Position> nnz,
    std::uint64_t seed) {
  return generate_like<Scalar>(Communicator(), exec, name, nnz, seed);
}

template <class Scalar, class Index, class ExecutionSpace>
CooTensor<Scalar, Index, typename ExecutionSpace::memory_space> generate(ExecutionSpace const& exec,
                                                                         Dims const& dims,
                                                                         Position nnz, double skew,
                                                                         std::uint64_t seed) {
  detail::check_dims<Index>(dims, "generate");
  expects(std::isfinite(skew) && skew >= 0, "generate: skew is ", skew,
          ", expected a finite number that is not negative");
  double const cells = detail::dense_size(dims);
  expects(static_cast<double>(nnz) <= cells, "generate: ", nnz,
          " nonzeros are wanted, but a tensor of ", to_string(dims), " has ", cells, " cells");
  detail::check_generated_nnz(nnz);
  int const bits = detail::KeyFields(dims).total_bits();
  expects(bits <= 128, "generate: the indices of ", to_string(dims), " need ", bits,
          " bits a nonzero, at most 128 are possible");
  if (nnz == 0)
    return detail::to_tensor<Scalar, Index>(
        exec, dims, detail::DrawnCells<std::uint64_t, typename ExecutionSpace::memory_space>{}, 0,
        {{}, {0, 0}});
  detail::Recipe recipe{"", {}, nnz, 0, 0, 0};
  for (auto dim : dims) recipe.modes.push_back({dim, skew, detail::SliceOrder::shuffled});
  if (bits <= 64) return detail::generate_skewed<Scalar, Index, std::uint64_t>(exec, recipe, seed);
  return detail::generate_skewed<Scalar, Index, detail::Key128>(exec, recipe, seed);
}

}  // namespace sporades
