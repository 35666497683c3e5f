// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <sporades/algorithms/detail/generate/power_law.hpp>
#include <string>
#include <vector>

namespace sporades::detail {

struct ModeRecipe {
  std::uint64_t dim;
  double skew;
  SliceOrder slices;
  std::uint64_t used = 0;     // how many indices the skewed law draws; 0: all
  std::uint64_t singles = 0;  // and how many others occur in one nonzero each
};

/// What a tensor is drawn from.
struct Recipe {
  std::string name;
  std::vector<ModeRecipe> modes;
  Position nnz;
  unsigned pool_modes;  // a bit each: these take their indices together, from a pool of tuples
  std::uint64_t pool;   // number of tuples, 0 for none
  double pool_skew;

  Dims dims() const {
    Dims result;
    for (auto const& mode : modes) result.push_back(mode.dim);
    return result;
  }
};

/// The recipe of a published tensor's look-alike, for nnz nonzeros where given.
/// Throws Error for an unknown name.
Recipe recipe_like(std::string const& name, std::optional<Position> nnz);

}  // namespace sporades::detail
