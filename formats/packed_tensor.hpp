// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/bits.hpp>
#include <sporades/formats/coo_tensor.hpp>

namespace sporades {

/// Nonzeros in the order of one mode, the row mode, each with the indices of all other modes side
/// by side in one word: of 32 bits, or of 64 where they need more. The highest bit of a word marks
/// the first nonzero of a row (the flag of F-COO, Liu et al., CLUSTER 2017); which row it is, is
/// said once a row. 4 or 8 bytes and a value a nonzero, where COO takes N indices and a value.
template <class ScalarType, class IndexType = std::uint32_t,
          class MemorySpaceType = Kokkos::HostSpace>
struct PackedTensor {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  static constexpr Position mark_distance = 128;

  Dims dims;
  int row_mode = 0;
  std::vector<int> modes;                            // the others, highest bits of a word first
  std::vector<int> shifts;                           // of modes: their lowest bit in a word
  Kokkos::View<std::uint32_t*, MemorySpace> narrow;  // nnz, where 32 bits are enough
  Kokkos::View<std::uint64_t*, MemorySpace> wide;    // nnz, where they are not
  Kokkos::View<Scalar*, MemorySpace> values;         // nnz
  Kokkos::View<Index*, MemorySpace> rows;            // non-empty rows, ascending
  Kokkos::View<Position*, MemorySpace> marks;  // place in rows of every mark_distance-th nonzero

  int order() const { return static_cast<int>(dims.size()); }
  Position nnz() const { return values.extent(0); }

  std::uint64_t storage_bytes() const {
    return nnz() * sizeof(Scalar) + narrow.extent(0) * 4 + wide.extent(0) * 8 +
           rows.extent(0) * sizeof(Index) + marks.extent(0) * sizeof(Position);
  }
};

namespace detail {

/// Bits of a word: the flag, and the indices of every mode but the row mode.
inline int packed_bits(Dims const& dims, int row_mode) {
  int bits = 1;
  for (int m = 0; m < static_cast<int>(dims.size()); ++m)
    if (m != row_mode) bits += index_bits(dims[m]);
  return bits;
}

template <class Word>
inline constexpr Word row_flag = Word{1} << (8 * sizeof(Word) - 1);

/// words(p) <- the indices of nonzero p side by side.
template <class Word, class Coordinates>
struct PackIndices {
  Kokkos::View<Word*, typename Coordinates::memory_space> words;  // nnz
  Coordinates coordinates;                                        // N x nnz
  int others;
  int mode[max_order], shift[max_order];

  KOKKOS_FUNCTION void operator()(Position p) const {
    Word word = 0;
    for (int k = 0; k < others; ++k) word |= static_cast<Word>(coordinates(mode[k], p)) << shift[k];
    words(p) = word;
  }
};

/// Puts the flag where a row begins, and counts them.
template <class Word, class Rows>
struct FlagRows {
  Kokkos::View<Word*, typename Rows::memory_space> words;  // nnz
  Rows row_of;                                             // nnz

  KOKKOS_FUNCTION void operator()(Position p, Position& flags) const {
    if (p != 0 && row_of(p) == row_of(p - 1)) return;
    words(p) |= row_flag<Word>;
    ++flags;
  }
};

/// The rows that the flags begin, and the marks.
template <class Word, class Rows>
struct NumberRows {
  using Memory = typename Rows::memory_space;

  Kokkos::View<Word*, Memory> words;                                // nnz
  Rows row_of;                                                      // nnz
  Kokkos::View<typename Rows::non_const_value_type*, Memory> rows;  // flags
  Kokkos::View<Position*, Memory> marks;                            // every distance-th nonzero
  Position distance;

  KOKKOS_FUNCTION void operator()(Position p, Position& flags, bool is_last) const {
    if (words(p) & row_flag<Word>) {
      if (is_last) rows(flags) = row_of(p);
      ++flags;
    }
    if (is_last && p % distance == 0) marks(p / distance) = flags - 1;
  }
};

template <class Word, class ExecutionSpace, class Tensor, class Words>
void pack_words(ExecutionSpace const& exec, Tensor const& X,
                PackedTensor<typename Tensor::Scalar, typename Tensor::Index,
                             typename Tensor::MemorySpace>& packed,
                Words& words) {
  using Coordinates = typename Tensor::Coordinates;
  using Packed = std::decay_t<decltype(packed)>;
  Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>> const all(exec, 0, X.nnz());
  words = uninitialized<Words>(exec, "sporades::packed_coo::words", X.nnz());
  PackIndices<Word, Coordinates> pack{words, X.coordinates, X.order() - 1, {}, {}};
  std::copy(packed.modes.begin(), packed.modes.end(), pack.mode);
  std::copy(packed.shifts.begin(), packed.shifts.end(), pack.shift);
  Kokkos::parallel_for("sporades::packed_coo::pack", all, pack);
  auto const row_of = Kokkos::subview(X.coordinates, packed.row_mode, Kokkos::ALL);
  using Rows = std::decay_t<decltype(row_of)>;
  Position rows = 0;
  Kokkos::parallel_reduce("sporades::packed_coo::flag_rows", all,
                          FlagRows<Word, Rows>{words, row_of}, rows);
  packed.rows = uninitialized<decltype(packed.rows)>(exec, "sporades::packed_coo::rows", rows);
  packed.marks = uninitialized<decltype(packed.marks)>(
      exec, "sporades::packed_coo::marks",
      (X.nnz() + Packed::mark_distance - 1) / Packed::mark_distance);
  Kokkos::parallel_scan(
      "sporades::packed_coo::number_rows", all,
      NumberRows<Word, Rows>{words, row_of, packed.rows, packed.marks, Packed::mark_distance});
  fence(exec, "sporades::packed_coo::make");
}

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
    if (words(p) & row_flag<Word>) ++flags;
    if (!is_last) return;
    coordinates(row_mode, p) = rows(flags - 1);
    for (int k = 0; k < others; ++k)
      coordinates(mode[k], p) = static_cast<Index>(words(p) >> shift[k] & mask[k]);
  }
};

/// Whether the indices of all modes but row_mode and a flag fit a word of 64 bits.
inline bool fits_packed(Dims const& dims, int row_mode) {
  return packed_bits(dims, row_mode) <= 64;
}

/// X.sorted_modes but the first, and the modes that it does not name.
inline std::vector<int> other_modes(std::vector<int> const& sorted_modes, int order) {
  std::vector<int> others(sorted_modes.begin() + 1, sorted_modes.end());
  for (int m = 0; m < order; ++m)
    if (std::find(sorted_modes.begin(), sorted_modes.end(), m) == sorted_modes.end())
      others.push_back(m);
  return others;
}

}  // namespace detail

/// X packed for products on row_mode, in the order in which its nonzeros lie. The fields of a word
/// follow X.sorted_modes, so that words of a row ascend where X is sorted by all its modes; fibers
/// are then runs of words that differ in the lowest field. Shares X's values where these begin at a
/// multiple of 16 bytes, as kernels load them. Fences exec.
/// X's indices are trusted: check_coordinates checks them. Throws Error unless X is sorted with
/// row_mode first and its indices fit (fits_packed).
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
PackedTensor<Scalar, Index, MemorySpace> make_packed(ExecutionSpace const& exec,
                                                     CooTensor<Scalar, Index, MemorySpace> const& X,
                                                     int row_mode) {
  expects(!X.sorted_modes.empty() && X.sorted_modes[0] == row_mode,
          "make_packed: the tensor is not sorted by mode ", row_mode, " first");
  expects(detail::fits_packed(X.dims, row_mode), "make_packed: the indices of all modes but ",
          row_mode, " take ", detail::packed_bits(X.dims, row_mode) - 1,
          " bits, a word has 63 for them");
  PackedTensor<Scalar, Index, MemorySpace> packed;
  packed.dims = X.dims;
  packed.row_mode = row_mode;
  packed.values = X.values;
  if (reinterpret_cast<std::uintptr_t>(X.values.data()) % 16 != 0) {  // a part of other values
    packed.values = detail::uninitialized<decltype(packed.values)>(
        exec, "sporades::packed_coo::values", X.nnz());
    Kokkos::deep_copy(exec, packed.values, X.values);
  }
  packed.modes = detail::other_modes(X.sorted_modes, X.order());
  int shift = 0;
  for (auto m = packed.modes.rbegin(); m != packed.modes.rend(); ++m) {
    packed.shifts.insert(packed.shifts.begin(), shift);
    shift += detail::index_bits(X.dims[*m]);
  }
  if (X.nnz() == 0) return packed;
  if (detail::packed_bits(X.dims, row_mode) <= 32)
    detail::pack_words<std::uint32_t>(exec, X, packed, packed.narrow);
  else
    detail::pack_words<std::uint64_t>(exec, X, packed, packed.wide);
  return packed;
}

/// The nonzeros in the order in which they lie. Exact. Enqueued on exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(
    ExecutionSpace const& exec, PackedTensor<Scalar, Index, MemorySpace> const& packed) {
  auto X = detail::allocate_coo<Scalar, Index>(exec, packed.dims, packed.nnz());
  Kokkos::deep_copy(exec, X.values, packed.values);
  X.sorted_modes = {packed.row_mode};
  auto const unpack = [&](auto const& words) {
    using Word = typename std::decay_t<decltype(words)>::non_const_value_type;
    detail::UnpackRows<Word, decltype(X.coordinates)> functor{
        words, packed.rows, X.coordinates, packed.row_mode, packed.order() - 1, {}, {}, {}};
    for (int k = 0; k < packed.order() - 1; ++k) {
      functor.mode[k] = packed.modes[k];
      functor.shift[k] = packed.shifts[k];
      functor.mask[k] =
          static_cast<Word>(detail::low_bits(detail::index_bits(packed.dims[packed.modes[k]])));
    }
    Kokkos::parallel_scan(
        "sporades::packed_coo::unpack",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>(exec, 0, words.extent(0)),
        functor);
  };
  if (packed.narrow.extent(0) > 0)
    unpack(packed.narrow);
  else
    unpack(packed.wide);
  return X;
}

}  // namespace sporades
