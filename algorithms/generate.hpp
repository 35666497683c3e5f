// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <optional>
#include <sporades/algorithms/detail/generate/make_tensor.hpp>
#include <string>
#include <vector>

namespace sporades {

/// The seed that the published figures of the look-alikes were measured with.
inline constexpr std::uint64_t default_generate_seed = 20240607;

/// Names that generate_like knows: nell-2, nell-2s, nell-1, delicious-4d, vast-2015, uber.
std::vector<std::string> generate_like_names();

namespace detail {

inline void check_generated_nnz(Position nnz) {
  Position const most = Position{1} << 32;
  expects(nnz <= most, "generate: ", nnz, " nonzeros are wanted, at most ", most, " are possible");
}

}  // namespace detail

/// A tensor that resembles a published one: its dims, its skewed slices and its fibers' lengths.
/// Coordinates are distinct and sorted by modes 0 to N-1; a value is the number of times that its
/// cell was drawn. nnz: that many nonzeros with fibers of the same character, rather than as many
/// as the published tensor has (a recipe that runs out of new cells may give fewer).
/// The same tensor on every run, thread count and execution space: the host's mathematics library
/// settles the draws for which a device's might give another index.
/// Fences exec. About 40 bytes of memory a nonzero (64 where coordinates need over 64 bits).
/// Throws Error for an unknown name, or nnz past 2^32.
template <class Scalar, class ExecutionSpace>
CooTensor<Scalar, std::uint32_t, typename ExecutionSpace::memory_space> generate_like(
    ExecutionSpace const& exec, std::string const& name, std::optional<Position> nnz = {},
    std::uint64_t seed = default_generate_seed) {
  auto const recipe = detail::recipe_like(name, nnz);
  detail::check_generated_nnz(recipe.nnz);
  if (detail::KeyFields(recipe.dims()).total_bits() <= 64)
    return detail::generate_recipe<Scalar, std::uint64_t>(exec, recipe, seed);
  return detail::generate_recipe<Scalar, detail::Key128>(exec, recipe, seed);
}

/// Exactly nnz distinct random coordinates, sorted by modes 0 to N-1. Each mode's indices follow a
/// power law: the slice of rank k holds about k^-skew of the nonzeros, in a shuffled order of
/// slices; 0 is uniform. Cells drawn again are replaced by draws of half the skew, so that any
/// skew and density end soon: the heaviest slices of a dense or very skewed tensor are full, and
/// lighter than the law. A value is the number of times that its cell was drawn.
/// The same tensor on every run, thread count and execution space, as generate_like's; a
/// mode longer than 2^40 leaves many of a device's draws to the host. Fences exec.
/// Throws Error if the dims do not fit Index, their bits add to more than 128, nnz exceeds the
/// number of cells or 2^32, or skew is negative or not finite.
template <class Scalar, class Index, class ExecutionSpace>
CooTensor<Scalar, Index, typename ExecutionSpace::memory_space> generate(
    ExecutionSpace const& exec, Dims const& dims, Position nnz, double skew,
    std::uint64_t seed = default_generate_seed) {
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
        exec, dims, detail::DrawnCells<std::uint64_t, typename ExecutionSpace::memory_space>{}, 0);
  detail::Recipe recipe{"", {}, nnz, 0, 0, 0};
  for (auto dim : dims) recipe.modes.push_back({dim, skew, detail::SliceOrder::shuffled});
  if (bits <= 64) return detail::generate_skewed<Scalar, Index, std::uint64_t>(exec, recipe, seed);
  return detail::generate_skewed<Scalar, Index, detail::Key128>(exec, recipe, seed);
}

}  // namespace sporades

#include <sporades/eti/generate.hpp>
