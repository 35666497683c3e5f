// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/core/detail/bits.hpp>
#include <sporades/core/detail/launch.hpp>
#include <sporades/formats/detail/modes.hpp>
#include <sporades/formats/detail/out_of_core_coo.hpp>
#include <sporades/formats/detail/sort_bytes.hpp>
#include <sporades/formats/packed_tensor.hpp>
#include <sporades/formats/sort_coo.hpp>

namespace sporades {
namespace detail {

/// Bits that a word needs: the flag, and the indices of every mode except the row mode.
inline int packed_bits(Dims const& dims, int row_mode) {
  int bits = 1;
  for (int m = 0; m < static_cast<int>(dims.size()); ++m)
    if (m != row_mode) bits += index_bits(dims[m]);
  return bits;
}

/// True if a word of 64 bits is enough.
inline bool fits_packed(Dims const& dims, int row_mode) {
  return packed_bits(dims, row_mode) <= 64;
}

template <class Word>
inline constexpr Word row_flag = Word{1} << (8 * sizeof(Word) - 1);

/// words(p) <- the indices of nonzero p, side by side. indices(m, p): that of mode m.
template <class Word, class Indices>
struct PackIndices {
  Kokkos::View<Word*, typename Indices::memory_space> words;  // nnz
  Indices indices;
  int others = 0;
  int mode[max_order] = {}, shift[max_order] = {};

  KOKKOS_FUNCTION void operator()(Position p) const {
    Word word = 0;
    for (int k = 0; k < others; ++k) word |= static_cast<Word>(indices(mode[k], p)) << shift[k];
    words(p) = word;
  }
};

/// Adds the indices of one more mode, which are in another order. A pass a mode: so fewer lines are
/// in the caches at a time.
template <class Word, class Indices>
struct AddIndices {
  using Memory = typename Indices::memory_space;

  Kokkos::View<Word*, Memory> words;  // nnz
  Indices from;                       // nnz
  ItemOf<Memory> order;
  int shift;

  KOKKOS_FUNCTION void operator()(Position p) const {
    words(p) |= static_cast<Word>(from(order(p))) << shift;
  }
};

/// Sets the flag of each row's first nonzero, and counts the flags.
template <class Word, class Indices>
struct FlagRows {
  Kokkos::View<Word*, typename Indices::memory_space> words;  // nnz
  Indices indices;
  int row_mode;

  KOKKOS_FUNCTION void operator()(Position p, Position& flags) const {
    if (p != 0 && indices(row_mode, p) == indices(row_mode, p - 1)) return;
    words(p) |= row_flag<Word>;
    ++flags;
  }
};

/// Stores the rows' indices and the marks. `flags` counts the flags up to and with nonzero p, so
/// that flags - 1 is its row's place in `rows`.
template <class Word, class Indices, class Index>
struct NumberRows {
  using Memory = typename Indices::memory_space;

  Kokkos::View<Word*, Memory> words;  // nnz
  Indices indices;
  int row_mode;
  Kokkos::View<Index*, Memory> rows;      // flags
  Kokkos::View<Position*, Memory> marks;  // of every distance-th nonzero
  Position distance;

  KOKKOS_FUNCTION void operator()(Position p, Position& flags, bool is_last) const {
    if (words(p) & row_flag<Word>) {
      if (is_last) rows(flags) = indices(row_mode, p);
      ++flags;
    }
    if (is_last && p % distance == 0) marks(p / distance) = flags - 1;
  }
};

/// Whether the indices of one mode are read in another order than they have.
template <class Coordinates>
bool is_gathered(SortedIndices<Coordinates> const& indices, int n) {
  return indices.shift[n] < 0;
}
template <class Coordinates>
bool is_gathered(Coordinates const&, int) {
  return false;
}

/// Makes words, rows and marks of the packed tensor, whose dims, modes and shifts are set, from its
/// nonzeros' indices. words: where they go, or empty.
template <class Word, class ExecutionSpace, class Indices, class Packed, class Words>
void pack_words(ExecutionSpace const& exec, Indices const& indices, Position nnz, Packed& packed,
                Words& words) {
  using Index = typename Packed::Index;
  Range<ExecutionSpace> const all(exec, 0, nnz);
  if (words.extent(0) != nnz) words = uninitialized<Words>(exec, "sporades::packed::words", nnz);
  PackIndices<Word, Indices> pack{words, indices};
  for (std::size_t k = 0; k < packed.modes.size(); ++k) {
    if (is_gathered(indices, packed.modes[k])) continue;
    pack.mode[pack.others] = packed.modes[k];
    pack.shift[pack.others++] = packed.shifts[k];
  }
  launch_items(exec, "sporades::packed::pack", nnz, pack);
  if constexpr (is_instance<Indices, SortedIndices>)
    for (std::size_t k = 0; k < packed.modes.size(); ++k) {
      if (!is_gathered(indices, packed.modes[k])) continue;
      auto const from = Kokkos::subview(indices.from, packed.modes[k], Kokkos::ALL);
      launch_items(exec, "sporades::packed::gather", nnz,
                   AddIndices<Word, std::decay_t<decltype(from)>>{
                       words, from, {indices.words, indices.item_bits}, packed.shifts[k]});
    }
  Position rows = 0;
  Kokkos::parallel_reduce("sporades::packed::flag_rows", all,
                          FlagRows<Word, Indices>{words, indices, packed.row_mode}, rows);
  packed.rows = uninitialized<decltype(packed.rows)>(exec, "sporades::packed::rows", rows);
  packed.marks = uninitialized<decltype(packed.marks)>(
      exec, "sporades::packed::marks", (nnz + Packed::mark_distance - 1) / Packed::mark_distance);
  Kokkos::parallel_scan(
      "sporades::packed::number_rows", all,
      NumberRows<Word, Indices, Index>{words, indices, packed.row_mode, packed.rows, packed.marks,
                                       Packed::mark_distance});
  fence(exec, "sporades::packed::make");
}

/// The dims and the layout of words of nonzeros in the order of these modes, the first of which is
/// that of rows. Throws Error if the words have no room for the others.
template <class Packed>
Packed packed_frame(Dims const& dims, std::vector<int> const& sorted_modes) {
  Packed packed;
  packed.dims = dims;
  packed.row_mode = sorted_modes.front();
  expects(fits_packed(dims, packed.row_mode), "make_packed: the indices of all modes except ",
          packed.row_mode, " take ", packed_bits(dims, packed.row_mode) - 1,
          " bits, a word has 63 for them");
  packed.modes = with_other_modes(sorted_modes, packed.order());
  packed.modes.erase(packed.modes.begin());  // row_mode
  int shift = 0;
  for (auto m = packed.modes.rbegin(); m != packed.modes.rend(); ++m) {
    packed.shifts.insert(packed.shifts.begin(), shift);
    shift += index_bits(dims[*m]);
  }
  return packed;
}

/// The dims and the layout of words for make_packed(exec, X, row_mode). Throws Error if X is not
/// sorted by row_mode first, or the words have no room for the indices of the other modes.
template <class Scalar, class Index, class MemorySpace>
PackedTensor<Scalar, Index, MemorySpace> packed_frame(
    CooTensor<Scalar, Index, MemorySpace> const& X, int row_mode) {
  expects(!X.sorted_modes.empty() && X.sorted_modes[0] == row_mode,
          "make_packed: the tensor is not sorted by mode ", row_mode, " first");
  return packed_frame<PackedTensor<Scalar, Index, MemorySpace>>(X.dims, X.sorted_modes);
}

/// Makes words, rows and marks of a packed tensor from its frame and its nonzeros' indices.
template <class ExecutionSpace, class Indices, class Packed>
void pack(ExecutionSpace const& exec, Indices const& indices, Position nnz, Packed& packed) {
  if (nnz == 0) return;
  if (packed_bits(packed.dims, packed.row_mode) <= 32)
    pack_words<std::uint32_t>(exec, indices, nnz, packed, packed.narrow);
  else
    pack_words<std::uint64_t>(exec, indices, nnz, packed, packed.wide);
}

/// make_packed(exec, X, row_mode) with words and values in out-of-core memory of exec, which is a
/// host's. Fences exec. Throws as allocate_out_of_core.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
PackedTensor<Scalar, Index, MemorySpace> make_packed_out_of_core(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X, int row_mode) {
  auto packed = packed_frame(X, row_mode);
  bool const is_narrow = packed_bits(X.dims, row_mode) <= 32;
  Position const narrow = is_narrow ? X.nnz() : 0, wide = is_narrow ? 0 : X.nnz();
  MemoryLayout all(nullptr);
  all.room<std::uint32_t>(narrow);
  all.room<std::uint64_t>(wide);
  all.room<Scalar>(X.nnz());
  packed.out_of_core = allocate_out_of_core(exec, all.bytes() + 1);
  MemoryLayout layout(packed.out_of_core.get());
  packed.narrow = layout.view<decltype(packed.narrow)>(narrow);
  packed.wide = layout.view<decltype(packed.wide)>(wide);
  packed.values = layout.view<decltype(packed.values)>(X.nnz());
  copy_view(exec, packed.values, X.values);
  pack(exec, X.coordinates, X.nnz(), packed);
  fence(exec, "sporades::packed::make_far");
  return packed;
}

/// The way back: the indices of nonzero p from its word and, by the flags, its row. The first row
/// may go on with one that is elsewhere, without a flag.
template <class Word, class Coordinates>
struct UnpackRows {
  using Memory = typename Coordinates::memory_space;
  using Index = typename Coordinates::non_const_value_type;

  Kokkos::View<Word*, Memory> words;  // nnz
  Kokkos::View<Index*, Memory> rows;
  Coordinates coordinates;  // N x nnz
  int row_mode, others;
  int mode[max_order], shift[max_order];
  Word mask[max_order];

  KOKKOS_FUNCTION void operator()(Position p, Position& flags, bool is_last) const {
    if (p == 0 || words(p) & row_flag<Word>) ++flags;
    if (!is_last) return;
    coordinates(row_mode, p) = rows(flags - 1);
    for (int k = 0; k < others; ++k)
      coordinates(mode[k], p) = static_cast<Index>(words(p) >> shift[k] & mask[k]);
  }
};

/// coordinates, N x nnz, of the packed nonzeros. Enqueued on exec.
template <class ExecutionSpace, class Packed, class Coordinates>
void unpack(ExecutionSpace const& exec, Packed const& packed, Coordinates const& coordinates) {
  auto const unpack_words = [&](auto const& words) {
    using Word = typename std::decay_t<decltype(words)>::non_const_value_type;
    UnpackRows<Word, Coordinates> functor{
        words, packed.rows, coordinates, packed.row_mode, packed.order() - 1, {}, {}, {}};
    for (int k = 0; k < packed.order() - 1; ++k) {
      functor.mode[k] = packed.modes[k];
      functor.shift[k] = packed.shifts[k];
      functor.mask[k] = static_cast<Word>(low_bits(index_bits(packed.dims[packed.modes[k]])));
    }
    Kokkos::parallel_scan("sporades::packed::unpack",
                          Range<ExecutionSpace>(exec, 0, words.extent(0)), functor);
  };
  if (packed.narrow.extent(0) > 0)
    unpack_words(packed.narrow);
  else
    unpack_words(packed.wide);
}

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
PackedTensor<Scalar, Index, MemorySpace> make_packed(ExecutionSpace const& exec,
                                                     CooTensor<Scalar, Index, MemorySpace> const& X,
                                                     int row_mode) {
  auto packed = detail::packed_frame(X, row_mode);
  packed.values = X.values;
  if (reinterpret_cast<std::uintptr_t>(X.values.data()) % 16 != 0) {  // part of a larger View
    packed.values =
        detail::uninitialized<decltype(packed.values)>(exec, "sporades::packed::values", X.nnz());
    detail::copy_view(exec, packed.values, X.values);
  }
  detail::pack(exec, X.coordinates, X.nnz(), packed);
  return packed;
}

namespace detail {

/// make_packed(exec, sorted(exec, X, modes), modes[0]), without the sorted coordinates in between.
/// Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
PackedTensor<Scalar, Index, MemorySpace> sorted_packed(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
    std::vector<int> const& modes) {
  auto const reordering = plan_reordering(X.sorted_modes, modes);
  if (reordering.compared == 0) return make_packed(exec, X, modes[0]);
  using Packed = PackedTensor<Scalar, Index, MemorySpace>;
  auto packed = packed_frame<Packed>(X.dims, reordering.modes);
  auto const nonzeros = sort_nonzeros(exec, X, reordering, SortAlgorithm::automatic);
  pack(exec, sorted_indices(X, nonzeros), X.nnz(), packed);
  using Values = decltype(packed.values);
  using Order = ItemOf<MemorySpace>;
  packed.values = uninitialized<Values>(exec, "sporades::packed::values", X.nnz());
  launch_items(exec, "sporades::packed::gather_values", X.nnz(),
               Gather<typename CooTensor<Scalar, Index, MemorySpace>::Values, Values, Order>{
                   X.values, packed.values, {nonzeros.order.words, nonzeros.order.item_bits}});
  fence(exec, "sporades::packed::make_sorted");
  return packed;
}

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(
    ExecutionSpace const& exec, PackedTensor<Scalar, Index, MemorySpace> const& packed) {
  auto X = detail::allocate_coo<Scalar, Index>(exec, packed.dims, packed.nnz());
  X.sorted_modes = {packed.row_mode};
  detail::copy_view(exec, X.values, packed.values);
  detail::unpack(exec, packed, X.coordinates);
  return X;
}

namespace detail {

/// The words of a packed tensor of row mode n.
inline double packed_word_bytes(CooShape const& X, int n) {
  return X.nnz * (packed_bits(X.dims, n) <= 32 ? 4 : 8);
}

/// The rows and marks of a packed tensor.
inline double packed_row_bytes(CooShape const& X, double rows) {
  return rows * X.index_bytes + 8 * std::ceil(X.nnz / double{PackedTensor<double>::mark_distance});
}

/// sorted_packed(X, modes), which shares the values of an X in that order.
template <class ExecutionSpace>
MadeBytes sorted_packed_bytes(ExecutionSpace const& exec, CooShape const& X,
                              std::vector<int> const& modes, double rows) {
  double const tensor = packed_word_bytes(X, modes[0]) + packed_row_bytes(X, rows);
  if (is_sorted_by(X, modes)) return {tensor, tensor};
  return in_sorted_order(sort_bytes(exec, X.count()), tensor + X.value_bytes());
}

}  // namespace detail

// What is no CooTensor is refused.
template <class ExecutionSpace>
PackedTensor<double, std::uint32_t, typename ExecutionSpace::memory_space> make_packed(
    ExecutionSpace const&, detail::NotCoo, int) {
  return {};
}

}  // namespace sporades

#include <sporades/eti/packed_tensor.hpp>
