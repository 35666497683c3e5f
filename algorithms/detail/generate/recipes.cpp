// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <sporades/algorithms/generate.hpp>

namespace sporades::detail {
namespace {

constexpr auto natural = SliceOrder::natural;
constexpr auto shuffled = SliceOrder::shuffled;
constexpr auto centred = SliceOrder::centred;

std::vector<Recipe> const& recipes() {
  static std::vector<Recipe> const all = {
      // A pool of (i, j) pairs keeps mode 2's fibers as long as the published tensor's.
      {"nell-2",
       {{12092, .7, shuffled}, {9184, .8, shuffled}, {28818, .8, shuffled}},
       77000000,
       0b011,
       1200000,
       .45},
      {"nell-2s",
       {{12092, .7, shuffled}, {9184, .8, shuffled}, {28818, .8, shuffled}},
       20000000,
       0b011,
       600000,
       .45},
      // Hypersparse, about eight nonzeros a fiber.
      {"nell-1",
       {{2902330, .75, shuffled}, {2143368, .8, shuffled}, {25495389, .6, shuffled}},
       40000000,
       0b011,
       5000000,
       .3},
      // A user, an item and a date come together, with a few tags each.
      {"delicious-4d",
       {{532924, .7, shuffled},
        {17262471, .55, shuffled},
        {2480308, .85, shuffled},
        {1443, .3, natural}},
       40000000,
       0b1011,
       14000000,
       .15},
      // Time, person, type and a place of which few are visited.
      {"vast-2015",
       {{165427, .1, natural},
        {11374, .3, shuffled},
        {2, 5., natural},
        {100, .2, centred},
        {89, .2, centred}},
       26000000,
       0b11100,
       2600,
       .5},
      // Day, hour, latitude, longitude.
      {"uber",
       {{183, .1, natural}, {24, .2, natural}, {1140, .9, centred}, {1717, .9, centred}},
       3300000,
       0b1100,
       400000,
       .6},
  };
  return all;
}

}  // namespace

Recipe recipe_like(std::string const& name, std::optional<Position> nnz) {
  for (auto recipe : recipes()) {
    if (recipe.name != name) continue;
    if (nnz) {  // as many nonzeros a fiber, so a pool smaller or larger by the same factor
      double const tuples = static_cast<double>(recipe.pool) * static_cast<double>(*nnz) /
                            static_cast<double>(recipe.nnz);
      recipe.pool = std::max<std::uint64_t>(16, static_cast<std::uint64_t>(tuples));
      recipe.nnz = *nnz;
    }
    return recipe;
  }
  std::string names;
  for (auto const& recipe : recipes()) names += (names.empty() ? "" : ", ") + recipe.name;
  fail("generate: no tensor is known as '", name, "'; expected one of ", names);
}

}  // namespace sporades::detail

std::vector<std::string> sporades::generate_like_names() {
  std::vector<std::string> names;
  for (auto const& recipe : detail::recipes()) names.push_back(recipe.name);
  return names;
}
