// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <sporades/algorithms/generate.hpp>
#include <sporades/algorithms/generate/draw.hpp>
#include <sporades/core/sort.hpp>
#include <utility>

namespace sporades {
namespace detail {
namespace {

using Exec = Kokkos::DefaultHostExecutionSpace;
using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<Position>>;
using Counts = Kokkos::View<std::uint32_t*, Exec::memory_space>;

constexpr Position most_nonzeros = Position{1} << 32;

struct ModeRecipe {
  std::uint64_t dim;
  double skew;
  SliceOrder slices;
};

struct Recipe {
  std::string name;
  std::vector<ModeRecipe> modes;
  Position nnz;
  unsigned pool_modes;
  std::uint64_t pool;
  double pool_skew;
};

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

CoordinateDraw make_draw(Recipe const& recipe, std::uint64_t seed) {
  Dims dims;
  for (auto const& mode : recipe.modes) dims.push_back(mode.dim);
  CoordinateDraw draw;
  draw.fields = KeyFields(dims);
  draw.seed = seed;
  draw.has_pool = recipe.pool > 0;
  draw.pool_modes = recipe.pool_modes;
  if (draw.has_pool) draw.pool = ZipfRank(recipe.pool, recipe.pool_skew);
  for (int n = 0; n < draw.fields.order; ++n) {
    auto const& mode = recipe.modes[n];
    draw.rank[n] = ZipfRank(mode.dim, mode.skew);
    draw.index[n] = RankToIndex(mode.dim, mode.slices, seed * 31 + static_cast<unsigned>(n));
  }
  return draw;
}

/// Sorted distinct keys and how often each was drawn.
template <class Key>
struct DrawnCells {
  using Keys = Kokkos::View<Key*, Exec::memory_space>;
  Keys keys;
  Counts counts;
  Position size() const { return keys.extent(0); }
};

template <class Keys>
struct DrawKeys {
  CoordinateDraw draw;
  Position first;
  Keys keys;
  KOKKOS_INLINE_FUNCTION void operator()(Position t) const {
    keys(t) = draw.template key<typename Keys::non_const_value_type>(first + t);
  }
};

/// Whether a run of equal keys starts at place i.
template <class Keys>
struct StartsRun {
  Keys keys;
  KOKKOS_INLINE_FUNCTION bool operator()(Position i) const {
    return i == 0 || key_less(keys(i - 1), keys(i));
  }
};

template <class Keys>
struct CountRuns {
  StartsRun<Keys> starts_run;
  KOKKOS_INLINE_FUNCTION void operator()(Position i, Position& runs) const {
    runs += starts_run(i) ? 1 : 0;
  }
};

template <class Keys>
struct FindRuns {
  StartsRun<Keys> starts_run;
  Kokkos::View<Position*, Exec::memory_space> starts;
  KOKKOS_INLINE_FUNCTION void operator()(Position i, Position& runs, bool is_last) const {
    if (!starts_run(i)) return;
    if (is_last) starts(runs) = i;
    ++runs;
  }
};

template <class Key>
struct SumRuns {
  typename DrawnCells<Key>::Keys keys;
  Counts counts;  // empty: each key counts one
  Kokkos::View<Position*, Exec::memory_space> starts;
  DrawnCells<Key> result;
  KOKKOS_INLINE_FUNCTION void operator()(Position run) const {
    Position const end = run + 1 < starts.extent(0) ? starts(run + 1) : keys.extent(0);
    result.keys(run) = keys(starts(run));
    if (counts.extent(0) == 0) {
      result.counts(run) = static_cast<std::uint32_t>(end - starts(run));
    } else {
      std::uint32_t sum = 0;
      for (Position i = starts(run); i < end; ++i) sum += counts(i);
      result.counts(run) = sum;
    }
  }
};

template <class Key>
DrawnCells<Key> allocate_cells(Exec const& exec, Position size) {
  using Keys = typename DrawnCells<Key>::Keys;
  return {uninitialized<Keys>(exec, "sporades::generate::cells", size),
          uninitialized<Counts>(exec, "sporades::generate::counts", size)};
}

/// Sorted keys, each once, with the sums of their counts.
template <class Key>
DrawnCells<Key> sum_runs(Exec const& exec, typename DrawnCells<Key>::Keys const& keys,
                         Counts const& counts) {
  using Starts = Kokkos::View<Position*, Exec::memory_space>;
  using Keys = typename DrawnCells<Key>::Keys;
  Position const size = keys.extent(0);
  Position runs = 0;
  Kokkos::parallel_reduce("sporades::generate::count_runs", Range(exec, 0, size),
                          CountRuns<Keys>{{keys}}, runs);
  auto const starts = uninitialized<Starts>(exec, "sporades::generate::starts", runs);
  Kokkos::parallel_scan("sporades::generate::find_runs", Range(exec, 0, size),
                        FindRuns<Keys>{{keys}, starts});
  auto const result = allocate_cells<Key>(exec, runs);
  Kokkos::parallel_for("sporades::generate::sum_runs", Range(exec, 0, runs),
                       SumRuns<Key>{keys, counts, starts, result});
  exec.fence();
  return result;
}

Words<Exec::memory_space> sorted_keys(Exec const& exec, Words<Exec::memory_space> keys, int bits) {
  auto spare =
      uninitialized<Words<Exec::memory_space>>(exec, "sporades::generate::spare", keys.extent(0));
  sort_words(exec, keys, spare, BitRange{0, bits}, SortAlgorithm::automatic);
  return keys;
}

template <class Keys>
Keys sorted_keys(Exec const& exec, Keys const& keys, int bits) {
  gather_in_place(exec, keys, sort_permutation(exec, keys, bits));
  return keys;
}

template <class Key>
DrawnCells<Key> draw_cells(Exec const& exec, CoordinateDraw const& draw, Position first,
                           Position count) {
  using Keys = typename DrawnCells<Key>::Keys;
  auto const keys = uninitialized<Keys>(exec, "sporades::generate::keys", count);
  Kokkos::parallel_for("sporades::generate::draw", Range(exec, 0, count),
                       DrawKeys<Keys>{draw, first, keys});
  return sum_runs<Key>(exec, sorted_keys(exec, keys, draw.fields.total_bits()), {});
}

/// Where keys of one sorted list come in the merged one: after the smaller keys of the other, and,
/// for the second list, after equal ones.
template <class Key, bool after_equal>
struct PlaceMerged {
  DrawnCells<Key> from;
  DrawnCells<Key> other;
  DrawnCells<Key> merged;
  KOKKOS_INLINE_FUNCTION void operator()(Position i) const {
    Key const key = from.keys(i);
    Position low = 0;
    Position high = other.keys.extent(0);
    while (low < high) {
      Position const middle = low + (high - low) / 2;
      bool const is_before =
          after_equal ? !key_less(key, other.keys(middle)) : key_less(other.keys(middle), key);
      if (is_before)
        low = middle + 1;
      else
        high = middle;
    }
    merged.keys(i + low) = key;
    merged.counts(i + low) = from.counts(i);
  }
};

template <class Key>
DrawnCells<Key> merge_cells(Exec const& exec, DrawnCells<Key> const& a, DrawnCells<Key> const& b) {
  if (a.size() == 0) return b;
  if (b.size() == 0) return a;
  auto const merged = allocate_cells<Key>(exec, a.size() + b.size());
  Kokkos::parallel_for("sporades::generate::merge_first", Range(exec, 0, a.size()),
                       PlaceMerged<Key, false>{a, b, merged});
  Kokkos::parallel_for("sporades::generate::merge_second", Range(exec, 0, b.size()),
                       PlaceMerged<Key, true>{b, a, merged});
  return sum_runs<Key>(exec, merged.keys, merged.counts);
}

/// floor(i rem / all) of the cells before i are dropped, so that drops spread evenly.
template <class Key, class Tensor>
struct UnpackCells {
  DrawnCells<Key> cells;
  KeyFields fields;
  Position surplus;
  typename Tensor::Coordinates coordinates;
  typename Tensor::Values values;
  KOKKOS_INLINE_FUNCTION void operator()(Position i) const {
    Position const all = cells.keys.extent(0);
    Position const dropped = multiply_divide(i, all);
    if (multiply_divide(i + 1, all) > dropped) return;
    for (int n = 0; n < fields.order; ++n)
      coordinates(n, i - dropped) =
          static_cast<typename Tensor::Index>(fields.get(cells.keys(i), n));
    values(i - dropped) = static_cast<typename Tensor::Scalar>(cells.counts(i));
  }
  /// floor(i surplus / all), which may not overflow: both factors are split at 2^32.
  KOKKOS_INLINE_FUNCTION Position multiply_divide(Position i, Position all) const {
    return i / all * surplus + i % all * surplus / all;
  }
};

template <class Scalar, class Index, class Key>
CooTensor<Scalar, Index> to_tensor(Exec const& exec, Dims const& dims, KeyFields const& fields,
                                   DrawnCells<Key> const& cells, Position nnz) {
  using Tensor = CooTensor<Scalar, Index>;
  Tensor X = allocate_coo<Scalar, Index>(exec, dims, nnz);
  Kokkos::parallel_for(
      "sporades::generate::unpack", Range(exec, 0, cells.size()),
      UnpackCells<Key, Tensor>{cells, fields, cells.size() - nnz, X.coordinates, X.values});
  exec.fence();
  for (int n = 0; n < X.order(); ++n) X.sorted_modes.push_back(n);
  return X;
}

template <class Scalar, class Key>
CooTensor<Scalar> generate_recipe(Exec const& exec, Recipe const& recipe, std::uint64_t seed) {
  auto const draw = make_draw(recipe, seed);
  DrawnCells<Key> cells;
  Position drawn = 0;
  double draws_a_cell = 1.08;
  for (int round = 0; round < 8 && cells.size() < recipe.nnz; ++round) {
    Position const missing = recipe.nnz - cells.size();
    auto const count = static_cast<Position>(static_cast<double>(missing) * draws_a_cell) + 1000;
    Position const before = cells.size();
    cells = merge_cells(exec, cells, draw_cells<Key>(exec, draw, drawn, count));
    drawn += count;
    double const gained = static_cast<double>(cells.size() - before) / static_cast<double>(count);
    draws_a_cell = 1.05 / std::max(gained, .05);
  }
  Dims dims;
  for (auto const& mode : recipe.modes) dims.push_back(mode.dim);
  return to_tensor<Scalar, std::uint32_t>(exec, dims, draw.fields, cells,
                                          std::min(cells.size(), recipe.nnz));
}

/// The cell's number in row-major order.
template <class Key>
struct CellNumbers {
  KeyFields fields;
  std::uint64_t dims[max_order];
  KOKKOS_INLINE_FUNCTION std::uint64_t number(Key const& key) const {
    std::uint64_t result = 0;
    for (int n = 0; n < fields.order; ++n) result = result * dims[n] + fields.get(key, n);
    return result;
  }
  KOKKOS_INLINE_FUNCTION Key key(std::uint64_t number) const {
    Key packed{};
    for (int n = fields.order - 1; n >= 0; --n) {
      fields.put(packed, n, number % dims[n]);
      number /= dims[n];
    }
    return packed;
  }
};

/// Of the cells that were never drawn, cut into as many strata as cells are wanted, one of each.
template <class Key>
struct FillCells {
  CellNumbers<Key> cells;
  typename DrawnCells<Key>::Keys drawn;
  DrawnCells<Key> fill;
  std::uint64_t absent;
  std::uint64_t seed;
  KOKKOS_INLINE_FUNCTION std::uint64_t stratum(Position i) const {
    Position const wanted = fill.keys.extent(0);
    return absent / wanted * i + absent % wanted * i / wanted;
  }
  KOKKOS_INLINE_FUNCTION void operator()(Position i) const {
    std::uint64_t const first = stratum(i);
    std::uint64_t const ordinal = first + generate_bits(seed, i, 300) % (stratum(i + 1) - first);
    Position low = 0;  // the drawn cells that come before the absent cell of this ordinal
    Position high = drawn.extent(0);
    while (low < high) {
      Position const middle = low + (high - low) / 2;
      if (cells.number(drawn(middle)) - middle > ordinal)
        high = middle;
      else
        low = middle + 1;
    }
    fill.keys(i) = cells.key(ordinal + low);
    fill.counts(i) = 1;
  }
};

template <class Scalar, class Index, class Key>
CooTensor<Scalar, Index> generate_skewed(Exec const& exec, Recipe recipe, Dims const& dims,
                                         std::uint64_t seed) {
  DrawnCells<Key> drawn;
  Position draws = 0;
  bool const countable = dense_size(dims) < 0x1p62;
  for (int round = 0; drawn.size() < recipe.nnz && (round < 6 || !countable); ++round) {
    auto const draw = make_draw(recipe, seed);
    Position const missing = recipe.nnz - drawn.size();
    Position const count = missing + missing / 16;
    drawn = merge_cells(exec, drawn, draw_cells<Key>(exec, draw, draws, count));
    draws += count;
    for (auto& mode : recipe.modes) mode.skew = round < 4 ? mode.skew / 2 : 0;
  }
  KeyFields const fields(dims);
  if (drawn.size() < recipe.nnz) {
    FillCells<Key> fill{{fields, {}}, drawn.keys, {}, 1, seed};
    for (int n = 0; n < fields.order; ++n) {
      fill.cells.dims[n] = dims[n];
      fill.absent *= dims[n];
    }
    fill.absent -= drawn.size();
    fill.fill = allocate_cells<Key>(exec, recipe.nnz - drawn.size());
    Kokkos::parallel_for("sporades::generate::fill", Range(exec, 0, fill.fill.size()), fill);
    drawn = merge_cells(exec, drawn, fill.fill);
  }
  return to_tensor<Scalar, Index>(exec, dims, fields, drawn, recipe.nnz);
}

}  // namespace
}  // namespace detail

std::vector<std::string> generate_like_names() {
  std::vector<std::string> names;
  for (auto const& recipe : detail::recipes()) names.push_back(recipe.name);
  return names;
}

template <class Scalar>
CooTensor<Scalar> generate_like(Kokkos::DefaultHostExecutionSpace const& exec,
                                std::string const& name, std::optional<Position> nnz,
                                std::uint64_t seed) {
  auto const recipe = detail::recipe_like(name, nnz);
  expects(recipe.nnz <= detail::most_nonzeros, "generate: ", recipe.nnz,
          " nonzeros are wanted, at most ", detail::most_nonzeros, " are possible");
  if (detail::make_draw(recipe, seed).fields.total_bits() <= 64)
    return detail::generate_recipe<Scalar, std::uint64_t>(exec, recipe, seed);
  return detail::generate_recipe<Scalar, Key128>(exec, recipe, seed);
}

template <class Scalar, class Index>
CooTensor<Scalar, Index> generate(Kokkos::DefaultHostExecutionSpace const& exec, Dims const& dims,
                                  Position nnz, double skew, std::uint64_t seed) {
  check_dims<Index>(dims, "generate");
  expects(std::isfinite(skew) && skew >= 0, "generate: skew is ", skew,
          ", expected a finite number that is not negative");
  double const cells = dense_size(dims);
  expects(static_cast<double>(nnz) <= cells, "generate: ", nnz,
          " nonzeros are wanted, but a tensor of ", to_string(dims), " has ", cells, " cells");
  expects(nnz <= detail::most_nonzeros, "generate: ", nnz, " nonzeros are wanted, at most ",
          detail::most_nonzeros, " are possible");
  detail::KeyFields const fields(dims);
  expects(fields.total_bits() <= 128, "generate: the indices of ", to_string(dims), " need ",
          fields.total_bits(), " bits a nonzero, at most 128 are possible");
  if (nnz == 0) return detail::to_tensor<Scalar, Index, std::uint64_t>(exec, dims, fields, {}, 0);
  detail::Recipe recipe{"", {}, nnz, 0, 0, 0};
  for (auto dim : dims) recipe.modes.push_back({dim, skew, detail::shuffled});
  if (fields.total_bits() <= 64)
    return detail::generate_skewed<Scalar, Index, std::uint64_t>(exec, recipe, dims, seed);
  return detail::generate_skewed<Scalar, Index, Key128>(exec, recipe, dims, seed);
}

template CooTensor<double> generate_like<double>(Kokkos::DefaultHostExecutionSpace const&,
                                                 std::string const&, std::optional<Position>,
                                                 std::uint64_t);
template CooTensor<float> generate_like<float>(Kokkos::DefaultHostExecutionSpace const&,
                                               std::string const&, std::optional<Position>,
                                               std::uint64_t);
template CooTensor<double, std::uint32_t> generate(Kokkos::DefaultHostExecutionSpace const&,
                                                   Dims const&, Position, double, std::uint64_t);
template CooTensor<double, std::uint64_t> generate(Kokkos::DefaultHostExecutionSpace const&,
                                                   Dims const&, Position, double, std::uint64_t);
template CooTensor<float, std::uint32_t> generate(Kokkos::DefaultHostExecutionSpace const&,
                                                  Dims const&, Position, double, std::uint64_t);
template CooTensor<float, std::uint64_t> generate(Kokkos::DefaultHostExecutionSpace const&,
                                                  Dims const&, Position, double, std::uint64_t);

}  // namespace sporades
