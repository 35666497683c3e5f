// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/algorithms/detail/generate/keys.hpp>
#include <sporades/algorithms/detail/generate/recipes.hpp>

namespace sporades::detail {

/// Draw number c of a tensor: its own random index in each mode, except those of pool_modes (a bit
/// each), which take theirs together from a pool of fixed tuples, some of them more popular: that
/// makes fibers long. The first draws take the indices that occur in one nonzero each.
struct CoordinateDraw {
  KeyFields fields;
  PowerLaw laws[max_order];
  PlaceToIndex indices[max_order];
  std::uint64_t seed = 0;
  unsigned pool_modes = 0;
  PowerLaw pool;
  std::uint64_t singles[max_order] = {};  // how many places after those of the law occur once
  std::uint64_t first_pooled = 0;         // draws before this one have singles, and no tuple

  CoordinateDraw(Recipe const& recipe, std::uint64_t from_seed)
      : fields(recipe.dims()), seed(from_seed) {
    if (recipe.pool > 0) {
      pool_modes = recipe.pool_modes;
      pool = PowerLaw(recipe.pool, recipe.pool_skew);
    }
    for (int n = 0; n < fields.order; ++n) {
      auto const& mode = recipe.modes[n];
      laws[n] = PowerLaw(mode.used > 0 ? mode.used : mode.dim, mode.skew);
      singles[n] = mode.singles;
      first_pooled = std::max(first_pooled, mode.singles);
      indices[n] = PlaceToIndex(mode.dim, mode.slices, seed * 31 + static_cast<unsigned>(n));
    }
  }

  /// Which tuple of the pool draw c takes.
  template <class Math>
  KOKKOS_INLINE_FUNCTION std::uint64_t tuple(std::uint64_t c, Math math, bool& is_certain) const {
    return pool.place(generate_unit(generate_bits(seed, c, 100)), math, is_certain);
  }

  /// The pooled modes' part of the key.
  template <class Key, class Math>
  KOKKOS_INLINE_FUNCTION Key tuple_key(std::uint64_t tuple, Math math, bool& is_certain) const {
    Key key{};
    for (int n = 0; n < fields.order; ++n)
      if ((pool_modes >> n & 1u) != 0)
        put(key, n, generate_bits(seed ^ 0x5bd1e995u, tuple, 200 + n), math, is_certain);
    return key;
  }

  KOKKOS_INLINE_FUNCTION bool takes_tuple(std::uint64_t c) const {
    return pool_modes != 0 && c >= first_pooled;
  }

  /// Adds the part of the key of the modes that draw c takes from no tuple.
  template <class Key, class Math>
  KOKKOS_INLINE_FUNCTION void put_own(Key& key, std::uint64_t c, Math math,
                                      bool& is_certain) const {
    unsigned const pooled = takes_tuple(c) ? pool_modes : 0;
    for (int n = 0; n < fields.order; ++n) {
      if ((pooled >> n & 1u) != 0) continue;
      if (c < singles[n])
        fields.put(key, n, indices[n](laws[n].n + c));
      else
        put(key, n, generate_bits(seed, c, n), math, is_certain);
    }
  }

  template <class Key, class Math>
  KOKKOS_INLINE_FUNCTION void put(Key& key, int n, std::uint64_t bits, Math math,
                                  bool& is_certain) const {
    fields.put(key, n, indices[n](laws[n].place(generate_unit(bits), math, is_certain)));
  }
};

/// The pooled parts of keys, tuple by tuple.
template <class KeyList>
struct TupleKeys {
  using Keys = KeyList;
  using Key = typename Keys::non_const_value_type;
  using OnHost = TupleKeys<Kokkos::View<Key*, Kokkos::HostSpace>>;

  CoordinateDraw draw;

  template <class Math>
  KOKKOS_INLINE_FUNCTION Key key(Position tuple, Math math, bool& is_certain) const {
    return draw.template tuple_key<Key>(tuple, math, is_certain);
  }
  OnHost on_host() const { return {draw}; }
};

/// The keys of the draws from number `first` on.
template <class KeyList>
struct CoordinateKeys {
  using Keys = KeyList;
  using Key = typename Keys::non_const_value_type;
  using OnHost = CoordinateKeys<Kokkos::View<Key*, Kokkos::HostSpace>>;

  CoordinateDraw draw;
  Position first;
  Keys tuples;  // of the whole pool, as TupleKeys gives them; empty: each draw computes its own

  template <class Math>
  KOKKOS_INLINE_FUNCTION Key key(Position t, Math math, bool& is_certain) const {
    Key result{};
    if (draw.takes_tuple(first + t)) {
      std::uint64_t const tuple = draw.tuple(first + t, math, is_certain);
      result = tuples.extent(0) > 0 ? tuples(tuple)
                                    : draw.template tuple_key<Key>(tuple, math, is_certain);
    }
    draw.put_own(result, first + t, math, is_certain);
    return result;
  }
  OnHost on_host() const { return {draw, first, {}}; }
};

}  // namespace sporades::detail
