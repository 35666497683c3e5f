// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <sporades/core/communicator.hpp>
#include <sporades/formats/coo_tensor.hpp>
#include <string>
#include <vector>

/// Random tensors, which are the same on every run, thread count and execution space: where the
/// mathematics library of a device might give another index, that of the host decides the draw.
/// They are drawn and sorted on the execution space that is passed in.

namespace sporades {

/// The seed that the published figures of the look-alikes were measured with.
inline constexpr std::uint64_t default_generate_seed = 20240607;

/// Names that generate_like knows: nell-2, nell-2s (20 million nonzeros), nell-1, delicious-4d,
/// vast-2015, uber, amazon-reviews, patents, reddit-2015, enron, lbnl-network, flickr, nips,
/// chicago-crime, freebase-music, freebase-sampled, choa, amazon-ratings, twitch, delicious-3d,
/// movielens, user-rated-movies, user-tagged-movies, user-tagged-bookmarks, user-tagged-artists,
/// ratings-m1, ratings-m20, user-shopping-x10, user-shopping-x22, user-shopping-x40.
std::vector<std::string> generate_like_names();

/// A tensor that resembles a published one: its dims, and, as far as they are known, its skewed
/// slices and its fibers' lengths. (algorithms/detail/generate/recipes.cpp says where the dims and
/// numbers of nonzeros are from, and what is known.) Coordinates are distinct and sorted by modes 0
/// to N-1; a value is the number of times that its cell was drawn. Scalar is to be named:
/// generate_like<double>(exec, "uber").
///
/// nnz: that many nonzeros with fibers of the same character, rather than as many as the published
/// tensor has (a recipe that runs out of new cells may give fewer). Fences exec. About 40 bytes of
/// memory a nonzero (64 where coordinates need over 64 bits). Throws Error for an unknown name, or
/// nnz past 2^33.
template <class Scalar, class ExecutionSpace>
CooTensor<Scalar, std::uint32_t, typename ExecutionSpace::memory_space> generate_like(
    ExecutionSpace const& exec, std::string const& name, std::optional<Position> nnz = {},
    std::uint64_t seed = default_generate_seed);

/// generate_like by several processes together: this process gets the nonzeros that follow those of
/// the process before, about as many as the others. The nonzeros of all processes are those that
/// one process makes; they travel once a round of draws. Collective. Fences exec. Throws Error as
/// on one process.
template <class Scalar, class ExecutionSpace>
CooTensor<Scalar, std::uint32_t, typename ExecutionSpace::memory_space> generate_like(
    Communicator const& processes, ExecutionSpace const& exec, std::string const& name,
    std::optional<Position> nnz = {}, std::uint64_t seed = default_generate_seed);

/// Exactly nnz distinct random coordinates, sorted by modes 0 to N-1. Each mode's indices follow a
/// power law, Zipf's: its slices, from the heaviest on, hold about 1, 2^-skew, 3^-skew ... of the
/// heaviest one's nonzeros, in a shuffled order of indices; 0 is uniform. Cells drawn again are
/// replaced by draws of half the skew, so that any skew and density end soon: the heaviest slices
/// of a dense or very skewed tensor are full, and lighter than the law. A value is the number of
/// times that its cell was drawn. Scalar and Index are to be named:
///   auto const X = generate<double, std::uint32_t>(exec, {1000, 800, 600}, 100000, 0.8);
/// A mode longer than 2^40 leaves many of a device's draws to the host. Fences exec. About 40 bytes
/// of memory a nonzero (64 where coordinates need over 64 bits). Throws Error if the dims do not
/// fit Index, their bits add to more than 128, nnz exceeds the number of cells or 2^33, or skew is
/// negative or not finite.
template <class Scalar, class Index, class ExecutionSpace>
CooTensor<Scalar, Index, typename ExecutionSpace::memory_space> generate(
    ExecutionSpace const& exec, Dims const& dims, Position nnz, double skew,
    std::uint64_t seed = default_generate_seed);

}  // namespace sporades

#include <sporades/algorithms/detail/generate/generate.hpp>
#include <sporades/eti/generate.hpp>
