// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <numeric>
#include <sporades/core/detail/bisect.hpp>
#include <sporades/kernels/detail/processes/home_order.hpp>
#include <sporades/kernels/detail/processes/slices.hpp>
#include <sporades/kernels/detail/processes/touched_rows.hpp>

/// With slices, what travels is a row of a factor to every process whose slices hold nonzeros of
/// the row, and a sum from there, except for the process that owns the row. Here a row's home is
/// one of these slices, and rows are renumbered by their homes, so that a process owns rows that it
/// works on. Which mode has slices, too, is chosen such that little travels. All of it depends on
/// the tensor and the number of slices alone.

namespace sporades::detail {

/// counts(k) <- the nonzeros of the k-th row that is touched.
template <class Coordinates>
struct CountNonzeros {
  using MemorySpace = typename Coordinates::memory_space;
  Coordinates coordinates;
  RowNumbers<MemorySpace> number;
  Permutation<MemorySpace> counts;
  int mode;

  KOKKOS_FUNCTION void operator()(Position p) const {
    Kokkos::atomic_add(&counts(number(coordinates(mode, p))), Position{1});
  }
};

/// A number for each slice.
using OfSlices = Kokkos::Array<std::uint64_t, most_slices>;

/// Slices that begin with a row each.
struct RowSlices {
  OfSlices begins;
  int count;

  KOKKOS_FUNCTION int operator()(std::uint64_t row) const {
    // The last slice that begins at the row or before.
    return bisect(1, count, [&](int s) { return begins[s] <= row; }) - 1;
  }
};

/// sets(k) <- the slices of the k-th row that is touched: bit s of slice s.
template <class Coordinates>
struct MarkSlices {
  using MemorySpace = typename Coordinates::memory_space;
  Coordinates coordinates;
  RowNumbers<MemorySpace> number;
  Permutation<MemorySpace> sets;
  RowSlices slices;
  int sliced, mode;

  KOKKOS_FUNCTION void operator()(Position p) const {
    std::uint64_t const bit = std::uint64_t{1} << slices(coordinates(sliced, p));
    std::uint64_t& set = sets(number(coordinates(mode, p)));
    if ((set & bit) == 0) Kokkos::atomic_fetch_or(&set, bit);
  }
};

KOKKOS_INLINE_FUNCTION int count_bits(std::uint64_t set) {
  return count_ones(static_cast<std::uint32_t>(set)) +
         count_ones(static_cast<std::uint32_t>(set >> 32));
}

/// Adds up the numbers of slices of all rows, without one slice of each.
template <class MemorySpace>
struct CountOutOfCoreSlices {
  Permutation<MemorySpace> sets;

  KOKKOS_FUNCTION void operator()(Position i, std::uint64_t& sum) const {
    int const slices = count_bits(sets(i));
    if (slices > 1) sum += static_cast<std::uint64_t>(slices - 1);
  }
};

/// homes(i) <- one of the row's slices, or one of all where it has none, by chance: as many rows
/// for each of equal slices.
template <class MemorySpace>
struct ChooseHomes {
  Permutation<MemorySpace> sets, homes;
  std::uint64_t first;  // row
  int slices;

  KOKKOS_FUNCTION void operator()(Position i) const {
    std::uint64_t const chance = splitmix64(first + i);
    std::uint64_t set = sets(i);
    int const count = count_bits(set);
    if (count == 0) {
      homes(i) = chance % static_cast<std::uint64_t>(slices);
      return;
    }
    for (auto k = chance % static_cast<std::uint64_t>(count); k > 0; --k) set &= set - 1;
    homes(i) = static_cast<Position>(count_bits((set & (~set + 1)) - 1));
  }
};

/// Numbers that ascend, for count_below.
template <class MemorySpace>
struct Ascending {
  Permutation<MemorySpace> numbers;

  KOKKOS_FUNCTION Position operator()(Position i) const { return numbers(i); }
  KOKKOS_FUNCTION static bool less(Position a, Position b) { return a < b; }
};

/// Homes in the order of rows by homes.
template <class MemorySpace>
struct HomesInOrder {
  Permutation<MemorySpace> homes, order;

  KOKKOS_FUNCTION Position operator()(Position k) const { return homes(order(k)); }
  KOKKOS_FUNCTION static bool less(Position a, Position b) { return a < b; }
};

/// places(order(k)) <- k + shift[the row's home].
template <class MemorySpace>
struct PlaceRows {
  HomesInOrder<MemorySpace> homes;
  Permutation<MemorySpace> places;
  OfSlices shift;  // modulo 2^64

  KOKKOS_FUNCTION void operator()(Position k) const {
    places(homes.order(k)) = k + shift[homes(k)];
  }
};

/// to(mode, p) <- places(number of from(mode, p)).
template <class Coordinates>
struct RenumberRows {
  using MemorySpace = typename Coordinates::memory_space;
  Coordinates from, to;
  RowNumbers<MemorySpace> number;
  Permutation<MemorySpace> places;
  int mode;

  KOKKOS_FUNCTION void operator()(Position p) const {
    to(mode, p) =
        static_cast<typename Coordinates::non_const_value_type>(places(number(from(mode, p))));
  }
};

/// Finds the homes of X's rows, whose nonzeros are those that this process brings, each coordinate
/// once. Memory: 8 bytes for each row of a mode and 24 more for one mode at a time.
template <class ExecutionSpace, class Tensor>
class FindHomes {
  using MemorySpace = typename Tensor::MemorySpace;
  using Coordinates = typename Tensor::Coordinates;
  using Numbers = Permutation<MemorySpace>;

 public:
  /// rank: of the factors. Collective. Fences exec.
  FindHomes(Communicator const& processes, ExecutionSpace const& exec, Tensor const& X, int slices,
            int rank)
      : processes_(processes), exec_(exec), X_(X), slices_(slices) {
    auto const columns = padded_columns(static_cast<std::size_t>(rank));
    for (int n = 0; n < X.order(); ++n) {
      std::uint64_t const dim = X.dims[static_cast<std::size_t>(n)];
      auto begins = even_cuts(processes.size(), dim);
      begins.pop_back();
      rows_.push_back(make_row_map<ExecutionSpace>(processes, dim, begins, columns * columns));
      touched_.emplace_back(processes, exec, X, n, rows_.back().begins);
    }
  }

  /// X in the order of homes, which `order` becomes. Collective. Fences exec.
  Tensor renumber(HomeOrder<MemorySpace>& order) {
    int const longest = longest_mode(X_.dims);
    order.sliced = longest;
    RowSlices slices = slices_of(longest);
    std::uint64_t least = far_rows(longest, slices);
    for (int m = 0; m < X_.order(); ++m) {
      if (m == longest) continue;
      auto const other = slices_of(m);
      // Slices that share a row are cut there by other modes, which is not counted.
      if (std::adjacent_find(&other.begins[0], &other.begins[0] + slices_) !=
          &other.begins[0] + slices_)
        continue;
      std::uint64_t const rows = far_rows(m, other);
      if (rows >= least) continue;
      least = rows;
      order.sliced = m;
      slices = other;
    }

    std::size_t const N = X_.dims.size();
    order.rows.resize(N);
    order.places.resize(N);
    order.begins.resize(N);
    Tensor to{X_.dims,
              uninitialized<Coordinates>(exec_, "sporades::home_order::coordinates", N, X_.nnz()),
              X_.values,
              {}};
    copy_view(exec_, to.coordinates, X_.coordinates);
    for (std::size_t n = 0; n < N; ++n) {
      if (!order.moves(n)) continue;
      order.rows[n] = rows_[n];
      place_rows(n, slices, order);
      launch_items(exec_, "sporades::home_order::renumber", X_.nnz(),
                   RenumberRows<Coordinates>{X_.coordinates, to.coordinates, touched_[n].numbers(),
                                             touched_[n].from_owners(exec_, order.places[n]),
                                             static_cast<int>(n)});
    }
    fence(exec_, "sporades::home_order::renumber");
    return to;
  }

 private:
  /// Slices of mode m, as nearly of equally many nonzeros as whole rows allow.
  RowSlices slices_of(int m) const {
    auto const mode = static_cast<std::size_t>(m);
    auto const& rows = touched_[mode];
    auto const counts = zeroed<Numbers>(exec_, "sporades::home_order::counts", rows.count());
    launch_items(exec_, "sporades::home_order::count", X_.nnz(),
                 CountNonzeros<Coordinates>{X_.coordinates, rows.numbers(), counts, m});
    auto const before = rows.template at_owners<true>(exec_, counts);
    Position const here = exclusive_scan_total(exec_, before);
    auto const places = exclusive_scan_of_all(processes_, here);
    Position const first = places[static_cast<std::size_t>(processes_.rank())];
    std::vector<Position> cuts;
    for (Position const cut : even_cuts(slices_, places.back()))
      cuts.push_back(cut > first ? cut - first : 0);
    cuts.pop_back();
    OfSlices below{};
    auto const rows_below =
        count_below(exec_, Ascending<MemorySpace>{before}, before.extent(0), cuts);
    std::copy(rows_below.begin(), rows_below.end(), &below[0]);
    RowSlices slices{{}, slices_};
    for (auto const& part : all_gather(processes_, "homes of rows", below))
      for (int s = 0; s < slices_; ++s) slices.begins[s] += part[s];
    return slices;
  }

  /// The slices of mode m that each of the own rows of mode n has nonzeros in.
  Numbers sets_of(int m, RowSlices const& slices, int n) const {
    auto const& rows = touched_[static_cast<std::size_t>(n)];
    auto const sets = zeroed<Numbers>(exec_, "sporades::home_order::sets", rows.count());
    launch_items(exec_, "sporades::home_order::mark", X_.nnz(),
                 MarkSlices<Coordinates>{X_.coordinates, rows.numbers(), sets, slices, m, n});
    return rows.template at_owners<false>(exec_, sets);
  }

  /// How many rows travel where mode m has these slices, one way, with a process a slice.
  std::uint64_t far_rows(int m, RowSlices const& slices) const {
    std::uint64_t sum = 0;
    for (int n = 0; n < X_.order(); ++n) {
      if (n == m) continue;
      auto const sets = sets_of(m, slices, n);
      std::uint64_t rows = 0;
      Kokkos::parallel_reduce("sporades::home_order::count_far",
                              Range<ExecutionSpace>(exec_, 0, sets.extent(0)),
                              CountOutOfCoreSlices<MemorySpace>{sets}, rows);
      fence(exec_, "sporades::home_order::count_far");
      sum += rows;
    }
    return exclusive_scan_of_all(processes_, sum).back();
  }

  void place_rows(std::size_t n, RowSlices const& slices, HomeOrder<MemorySpace>& order) const {
    auto const sets = sets_of(order.sliced, slices, static_cast<int>(n));
    auto const homes = uninitialized<Numbers>(exec_, "sporades::home_order::homes", sets.extent(0));
    launch_items(exec_, "sporades::home_order::choose", sets.extent(0),
                 ChooseHomes<MemorySpace>{sets, homes, order.rows[n].first(), slices_});
    HomesInOrder<MemorySpace> const in_order{
        homes, sort_permutation(exec_, homes, index_bits(static_cast<std::uint64_t>(slices_)))};
    std::vector<Position> numbers(static_cast<std::size_t>(slices_) + 1);
    std::iota(numbers.begin(), numbers.end(), Position{0});
    // Where the rows of each home begin among those here, and the end.
    auto const here = count_below(exec_, in_order, homes.extent(0), numbers);
    OfSlices counts{};
    for (int s = 0; s < slices_; ++s)
      counts[s] = here[static_cast<std::size_t>(s) + 1] - here[static_cast<std::size_t>(s)];
    auto const all = all_gather(processes_, "homes of rows", counts);
    order.places[n] =
        uninitialized<Numbers>(exec_, "sporades::home_order::places", homes.extent(0));
    PlaceRows<MemorySpace> kernel{in_order, order.places[n], {}};
    auto const me = static_cast<std::size_t>(processes_.rank());
    auto& begins = order.begins[n];
    std::uint64_t next = 0;
    for (int s = 0; s < slices_; ++s) {
      begins.push_back(next);
      for (std::size_t p = 0; p < all.size(); ++p) {
        if (p == me) kernel.shift[s] = next - here[static_cast<std::size_t>(s)];
        next += all[p][s];
      }
    }
    begins.push_back(next);
    launch_items(exec_, "sporades::home_order::place", homes.extent(0), kernel);
  }

  Communicator processes_;
  ExecutionSpace exec_;
  Tensor X_;
  int slices_;
  std::vector<RowMap> rows_;                       // per mode: see HomeOrder
  std::vector<TouchedRows<MemorySpace>> touched_;  // per mode
};

}  // namespace sporades::detail
