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

      // Those below have the dims and numbers of nonzeros that their sources state. Which modes
      // come together follows from what they are; skews and sizes of pools are guesses.

      // User, product, word of a review (FROSTT).
      {"amazon-reviews",
       {{4821207, .5, shuffled}, {1774269, .6, shuffled}, {1805187, .8, shuffled}},
       1741809018,
       0b011,
       34700000,
       .1},
      // Year, term, term (FROSTT).
      {"patents",
       {{46, .3, natural}, {239172, .6, shuffled}, {239172, .6, shuffled}},
       3596640708,
       0,
       0,
       0},
      // User, subreddit, word (FROSTT).
      {"reddit-2015",
       {{8211298, .6, shuffled}, {176962, .9, shuffled}, {8116559, .8, shuffled}},
       4687474081,
       0b011,
       150000000,
       .3},
      // Sender, receiver, word and date of a message (FROSTT).
      {"enron",
       {{6066, .8, shuffled}, {5699, .7, shuffled}, {244268, .8, shuffled}, {1176, .4, centred}},
       54202099,
       0b1011,
       500000,
       .3},
      // Addresses and ports of a connection, and seconds (FROSTT).
      {"lbnl-network",
       {{1605, .8, shuffled},
        {4198, .4, shuffled},
        {1631, .8, shuffled},
        {4209, .4, shuffled},
        {868131, .1, natural}},
       1698825,
       0b01111,
       60000,
       .7},
      // User, image, tag, date (FROSTT).
      {"flickr",
       {{319686, .7, shuffled},
        {28153045, .1, shuffled},
        {1607191, .85, shuffled},
        {731, .3, natural}},
       112890310,
       0b1011,
       28200000,
       .1},
      // Paper, author, word, year (FROSTT).
      {"nips",
       {{2482, .1, natural}, {2862, .5, shuffled}, {14036, .8, shuffled}, {17, .1, natural}},
       3101609,
       0b1011,
       5500,
       .1},
      // Day, hour, community, type of a crime (FROSTT, chicago-crime-comm).
      {"chicago-crime",
       {{6186, .1, natural}, {24, .3, centred}, {77, .5, shuffled}, {32, 1., shuffled}},
       5330673,
       0,
       0,
       0},
      // Entity, entity, relation (FROSTT's fb-m, of HaTen2).
      {"freebase-music",
       {{23344784, .5, shuffled}, {23344784, .6, shuffled}, {166, .9, shuffled}},
       99546551,
       0b101,
       40000000,
       .1},
      // Entity, entity, relation, of other entities (rounded: Ma et al. 2018, table 3; of HaTen2).
      {"freebase-sampled",
       {{39000000, .5, shuffled}, {39000000, .6, shuffled}, {532, .9, shuffled}},
       140000000,
       0b101,
       60000000,
       .1},
      // Patient, medication, diagnosis (rounded: Ma et al. 2018, table 3).
      {"choa",
       {{712000, .5, shuffled}, {10000, .8, shuffled}, {767, .6, shuffled}},
       27000000,
       0b101,
       4000000,
       .2},
      // User, item, day of a rating (rounded: Wijeratne et al. 2024, table 3).
      {"amazon-ratings",
       {{15200000, .4, shuffled}, {43500000, .6, shuffled}, {7800, .2, natural}},
       233100000,
       0,
       0,
       0},
      // User, stream, streamer, start and end of a visit (rounded: Wijeratne et al. 2024, table 3).
      {"twitch",
       {{15500000, .5, shuffled},
        {6200000, .5, shuffled},
        {783900, .8, shuffled},
        {6100, .1, natural},
        {6100, .1, natural}},
       474700000,
       0b00110,
       6200000,
       .6},
      // User, item, tag: delicious-4d without dates (FROSTT; deli of Ma et al. 2018).
      {"delicious-3d",
       {{532924, .7, shuffled}, {17262471, .55, shuffled}, {2480308, .85, shuffled}},
       140126181,
       0b011,
       49000000,
       .15},
      // User, film, day of the month (Yang et al. 2019, table 3, ratings-m20).
      {"movielens",
       {{71567, .6, shuffled}, {130642, .9, shuffled}, {31, .1, natural}},
       1048575,
       0,
       0,
       0},

      // Yang et al. 2019, table 3. Numbers of used slices and of fibers are within 10 % of those in
      // tables 4 to 6, which give fibers along mode n with slices of the mode after it. Third modes
      // seem to be days (31), and seconds or minutes (60). Cells are distinct: where a user puts
      // several tags on an item at a time, a few users and items share more times instead.

      // User, film, second or minute of a rating: each user has few of them.
      {"user-rated-movies",
       {{71534, 0, shuffled, 2113}, {65133, .55, shuffled, 8600, 1509}, {60, 1.65, shuffled}},
       855598,
       0b101,
       86000,
       .9},
      // User, film, day of the month of a tag.
      {"user-tagged-movies",
       {{71534, .6, shuffled, 88, 2025}, {65133, .5, shuffled, 1930, 3978}, {31, 1.3, shuffled}},
       47957,
       0b011,
       72000,
       .7},
      // User, bookmark, day of the month of a tag.
      {"user-tagged-bookmarks",
       {{108035, .5, shuffled, 1067, 800}, {107253, 0, shuffled, 1050, 68173}, {31, 1, shuffled}},
       437593,
       0b011,
       40000,
       0},
      // User, artist, second or minute of a tag: most tags are of a hundred users.
      {"user-tagged-artists",
       {{2100, .3, shuffled, 100, 1792},
        {18745, 0, shuffled, 600, 11923},
        {60, 0, shuffled, 4, 56}},
       186479,
       0b011,
       180000,
       .1},
      // User, film, day of the month of a rating.
      {"ratings-m1",
       {{6040, 0, shuffled, 5130, 909}, {3952, .2, shuffled, 3000, 706}, {31, 1.2, shuffled}},
       1000209,
       0b101,
       21000,
       .4},
      // The tensor that movielens has the dims of.
      {"ratings-m20",
       {{71567, 0, shuffled, 3550, 3569}, {130642, .5, shuffled, 10300, 3726}, {31, 1.6, shuffled}},
       1048575,
       0b101,
       49000,
       .8},
      // Customer, product, category: drawn evenly, as the paper's fibers are.
      {"user-shopping-x10",
       {{100208, 0, shuffled, 99999}, {10147, 0, shuffled, 9999}, {10000, 0, shuffled, 9999}},
       9999998,
       0,
       0,
       0},
      {"user-shopping-x22",
       {{100208, 0, shuffled, 99999}, {10392, 0, shuffled, 9999}, {2000, 0, shuffled, 1999}},
       19999898,
       0,
       0,
       0},
      {"user-shopping-x40",
       {{100208, 0, shuffled, 99999}, {10504, 0, shuffled, 9999}, {1000, 0, shuffled, 999}},
       29999529,
       0,
       0,
       0},
  };
  return all;
}

}  // namespace

Recipe recipe_like(std::string const& name, std::optional<Position> nnz) {
  for (auto recipe : recipes()) {
    if (recipe.name != name) continue;
    if (nnz) {  // as many nonzeros a fiber, so pool and singles change by the same factor
      auto const scaled = [&](std::uint64_t count) {
        return static_cast<std::uint64_t>(static_cast<double>(count) * static_cast<double>(*nnz) /
                                          static_cast<double>(recipe.nnz));
      };
      recipe.pool = std::max<std::uint64_t>(16, scaled(recipe.pool));
      for (auto& mode : recipe.modes)
        if (mode.singles > 0) mode.singles = std::min(scaled(mode.singles), mode.dim - mode.used);
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
