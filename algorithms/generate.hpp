// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <sporades/formats/coo_tensor.hpp>
#include <string>
#include <vector>

namespace sporades {

/// The seed that the published figures of the look-alikes were measured with.
inline constexpr std::uint64_t default_generate_seed = 20240607;

/// Names that generate_like knows: nell-2, nell-2s, nell-1, delicious-4d, vast-2015, uber.
std::vector<std::string> generate_like_names();

/// A tensor that resembles a published one: its dims, its skewed slices and its fibers' lengths.
/// Coordinates are distinct and sorted by modes 0 to N-1; a value is the number of times that its
/// cell was drawn. nnz: that many nonzeros with fibers of the same character, rather than as many
/// as the published tensor has (a recipe that runs out of new cells may give fewer).
/// The same tensor on every run, thread count and execution space of one mathematics library.
/// Fences exec. About 40 bytes of memory a nonzero (64 where coordinates need over 64 bits).
/// Throws Error for an unknown name, or nnz past 2^32.
template <class Scalar>
CooTensor<Scalar> generate_like(Kokkos::DefaultHostExecutionSpace const& exec,
                                std::string const& name, std::optional<Position> nnz = {},
                                std::uint64_t seed = default_generate_seed);

/// Exactly nnz distinct random coordinates, sorted by modes 0 to N-1. Each mode's indices follow a
/// power law: the slice of rank k holds about k^-skew of the nonzeros, in a shuffled order of
/// slices; 0 is uniform. Cells drawn again are replaced by draws of half the skew, so that any
/// skew and density end soon: the heaviest slices of a dense or very skewed tensor are full, and
/// lighter than the law. A value is the number of times that its cell was drawn.
/// The same tensor on every run and thread count. Fences exec.
/// Throws Error if the dims do not fit Index, their bits add to more than 128, nnz exceeds the
/// number of cells or 2^32, or skew is negative or not finite.
template <class Scalar, class Index>
CooTensor<Scalar, Index> generate(Kokkos::DefaultHostExecutionSpace const& exec, Dims const& dims,
                                  Position nnz, double skew,
                                  std::uint64_t seed = default_generate_seed);

}  // namespace sporades
