// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <iterator>
#include <sporades/core/detail/check_types.hpp>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/detail/region.hpp>
#include <sporades/formats/coo_tensor.hpp>

/// How make_coo reads the Views of an application, a View of one mode after another.

namespace sporades {
namespace detail {

/// The type of the entries of a vector or an array; void for anything else.
template <class List, class = void>
struct EntryOf {
  using type = void;
};
template <class List>
struct EntryOf<List, std::void_t<decltype(*std::begin(std::declval<List const&>()))>> {
  using type = std::decay_t<decltype(*std::begin(std::declval<List const&>()))>;
};

/// The type of the View of one mode: a row of one View, or an entry of a list.
template <class Coordinates, bool is_view = Kokkos::is_view<Coordinates>::value>
struct ModeView {
  using type = decltype(Kokkos::subview(std::declval<Coordinates const&>(), 0, Kokkos::ALL));
};
template <class Coordinates>
struct ModeView<Coordinates, false> {
  using type = typename EntryOf<Coordinates>::type;
};

/// Whether make_coo takes these types; a static_assert says what it does not take.
template <class Coordinates, class Values>
constexpr bool check_coo() {
  using Entry = typename EntryOf<Coordinates>::type;
  if constexpr (!Kokkos::is_view<Values>::value) {
    static_assert(never<Values>, "make_coo: values must be a Kokkos::View of nnz");
  } else if constexpr (int(Values::rank) != 1 ||
                       !std::is_arithmetic_v<typename Values::non_const_value_type>) {
    static_assert(never<Values>, "make_coo: values must be a Kokkos::View of rank 1 of numbers");
  } else if constexpr (Kokkos::is_view<Coordinates>::value) {
    constexpr bool is_table = int(Coordinates::rank) == 2 &&
                              std::is_integral_v<typename Coordinates::non_const_value_type>;
    static_assert(is_table, "make_coo: coordinates in one Kokkos::View must be integers, N x nnz");
    return is_table;
  } else if constexpr (!Kokkos::is_view<Entry>::value) {
    static_assert(
        never<Coordinates>,
        "make_coo: coordinates must be a Kokkos::View of N x nnz, or a vector or an array "
        "of N Views of nnz");
  } else {
    constexpr bool is_mode =
        int(Entry::rank) == 1 && std::is_integral_v<typename Entry::non_const_value_type>;
    static_assert(is_mode,
                  "make_coo: the coordinates of a mode must be integers, a View of rank 1");
    return is_mode;
  }
  return false;
}

template <class Table>
constexpr bool is_table() {
  if constexpr (Kokkos::is_view<Table>::value) return int(Table::rank) == 2;
  return false;
}

/// Whether make_coo<Index> takes this type of indices, or void where none is named; a static_assert
/// says which types it takes.
template <class Index>
constexpr bool check_index() {
  constexpr bool is_index = std::is_void_v<Index> || std::is_same_v<Index, std::uint32_t> ||
                            std::is_same_v<Index, std::uint64_t>;
  static_assert(is_index,
                "make_coo: the type in angle brackets is that of indices, std::uint32_t or "
                "std::uint64_t; the values' type is that of the View");
  return is_index;
}

/// The type of make_coo's tensor; void where it takes no such arguments.
template <class Index, class ExecutionSpace, class Coordinates, class Values>
auto made_coo() {
  if constexpr (check_index<Index>() && check_coo<Coordinates, Values>()) {
    using Given = typename ModeView<Coordinates>::type::non_const_value_type;
    using Wide = std::conditional_t<sizeof(Given) == 8, std::uint64_t, std::uint32_t>;
    using Value = typename Values::non_const_value_type;
    return CooTensor<std::conditional_t<std::is_floating_point_v<Value>, Value, double>,
                     std::conditional_t<std::is_void_v<Index>, Wide, Index>,
                     typename ExecutionSpace::memory_space>{};
  }
}

/// A View of rank 1 that exec can read: the given one, or a copy.
template <class ExecutionSpace, class Given>
auto readable(ExecutionSpace const& exec, Given const& x) {
  if constexpr (Kokkos::SpaceAccessibility<ExecutionSpace,
                                           typename Given::memory_space>::accessible) {
    return x;
  } else {  // Views with gaps cross memory spaces only as a contiguous block
    using Value = typename Given::non_const_value_type;
    using Space = typename Given::memory_space;
    fence_source<Space>(exec, "sporades::coo::source");
    typename Space::execution_space const there{};
    auto const packed =
        uninitialized<Kokkos::View<Value*, Space>>(there, "sporades::coo::pack", x.extent(0));
    copy_view(there, packed, x);
    there.fence();
    auto const arrived = uninitialized<Kokkos::View<Value*, typename ExecutionSpace::memory_space>>(
        exec, "sporades::coo::unpack", x.extent(0));
    copy_view(exec, arrived, packed);
    fence(exec, "sporades::coo::unpack");
    return arrived;
  }
}

/// to = from, number by number.
template <class From, class To>
struct ConvertValues {
  From from;
  To to;
  KOKKOS_FUNCTION void operator()(Position p) const {
    to(p) = static_cast<typename To::value_type>(from(p));
  }
};

/// Row n of the coordinates = from; the first nonzero whose index is not in [0, length).
template <class From, class Coordinates>
struct TakeIndices {
  using Given = typename From::non_const_value_type;

  From from;
  Coordinates to;
  int n;
  std::uint64_t length;

  static KOKKOS_FORCEINLINE_FUNCTION bool is_negative(Given i) {
    if constexpr (std::is_signed_v<Given>) return i < 0;
    return false;
  }
  KOKKOS_FUNCTION void operator()(Position p, Position& first) const {
    Given const i = from(p);
    to(n, p) = static_cast<typename Coordinates::value_type>(i);
    bool const is_index = !is_negative(i) && static_cast<std::uint64_t>(i) < length;
    if (!is_index && p < first) first = p;
  }
};

/// Takes the indices of mode n into X; the first nonzero with an index that is none, or nnz.
template <class ExecutionSpace, class Tensor, class Given>
Position take_indices(ExecutionSpace const& exec, Tensor const& X, int n, Given const& from) {
  Position first = X.nnz();
  if (X.nnz() > 0)
    Kokkos::parallel_reduce(
        "sporades::coo::take_indices",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>(exec, 0, X.nnz()),
        TakeIndices<Given, typename Tensor::Coordinates>{from, X.coordinates, n, X.dims[n]},
        Kokkos::Min<Position>(first));
  return first < X.nnz() ? first : X.nnz();
}

/// What make_coo checks of the shapes.
template <class Index, class Coordinates>
void check_coo_shapes(Dims const& dims, Coordinates const& coordinates, std::size_t nnz) {
  check_dims<Index>(dims, "make_coo");
  if constexpr (Kokkos::is_view<Coordinates>::value) {
    expects(coordinates.extent(0) == dims.size() && coordinates.extent(1) == nnz,
            "make_coo: coordinates are ", coordinates.extent(0), " x ", coordinates.extent(1),
            ", expected ", dims.size(), " x ", nnz, ", the order x the number of values",
            coordinates.extent(0) == nnz && coordinates.extent(1) == dims.size()
                ? ": pass columns_of(table) of a table with a nonzero a row"
                : "");
  } else {
    expects(std::size(coordinates) == dims.size(), "make_coo: coordinates of ",
            std::size(coordinates), " modes, the order is ", dims.size());
    int n = 0;
    for (auto const& view : coordinates)
      expects(view.extent(0) == nnz, "make_coo: mode ", n++, " has ", view.extent(0),
              " indices, there are ", nnz, " values");
  }
}

}  // namespace detail

template <class Index, class ExecutionSpace, class Coordinates, class Values>
auto make_coo(ExecutionSpace const& exec, Dims const& dims, Coordinates const& coordinates,
              Values const& values) {
  using Tensor = decltype(detail::made_coo<Index, ExecutionSpace, Coordinates, Values>());
  if constexpr (!std::is_void_v<Tensor>) {
    detail::Region const region("sporades::make_coo");
    std::size_t const nnz = values.extent(0);
    detail::check_coo_shapes<typename Tensor::Index>(dims, coordinates, nnz);
    auto const X =
        detail::allocate_coo<typename Tensor::Scalar, typename Tensor::Index>(exec, dims, nnz);
    auto const given = detail::readable(exec, values);
    detail::launch_items(
        exec, "sporades::coo::convert_values", nnz,
        detail::ConvertValues<std::decay_t<decltype(given)>, typename Tensor::Values>{given,
                                                                                      X.values});
    auto const view_of = [&](int n) {
      if constexpr (Kokkos::is_view<Coordinates>::value)
        return detail::readable(exec, Kokkos::subview(coordinates, n, Kokkos::ALL));
      else
        return detail::readable(exec, *std::next(std::begin(coordinates), n));
    };
    int mode = -1;  // of the first nonzero that has an index which is none
    Position first = nnz;
    for (int n = 0; n < X.order(); ++n) {
      auto const place = detail::take_indices(exec, X, n, view_of(n));
      if (place >= first) continue;
      mode = n;
      first = place;
    }
    detail::fence(exec, "sporades::coo::make_coo");
    if (mode >= 0)
      fail("make_coo: nonzero ", first, ", mode ", mode, ": the index ",
           +detail::entry_at(exec, view_of(mode), first), " (from 0) is not in [0, ", dims[mode],
           ")");
    return X;
  }
}

template <class Table>
auto columns_of(Table const& table) {
  static_assert(detail::is_table<Table>(),
                "columns_of takes a table: a Kokkos::View of rank 2, nnz x N");
  if constexpr (detail::is_table<Table>()) {
    std::vector<decltype(Kokkos::subview(table, Kokkos::ALL, 0))> columns;
    for (std::size_t n = 0; n < table.extent(1); ++n)
      columns.push_back(Kokkos::subview(table, Kokkos::ALL, n));
    return columns;
  }
}

}  // namespace sporades
