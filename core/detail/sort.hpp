// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/detail/sort/chunks.hpp>
#include <sporades/core/detail/sort/cuda.hpp>
#include <sporades/core/detail/sort/tiles.hpp>

namespace sporades::detail {

/// permutation(p') = p: the item at place p' of the new order was at place p of the old one.
template <class MemorySpace>
using Permutation = Kokkos::View<Position*, MemorySpace>;

/// All give the same order.
enum class SortAlgorithm {
  automatic,  // chunks on hosts; cub on CUDA, unless there are more than most_cub_items; else tiles
  chunks,     // for hosts: see sort/chunks.hpp
  tiles,      // for processors with many threads: see sort/tiles.hpp
  cub         // CUDA's own: see sort/cuda.hpp
};

/// A key of 128 bits, compared by high, then low.
struct Key128 {
  std::uint64_t high;
  std::uint64_t low;
};

/// Bits [begin, begin + width) of the keys, width at most 64.
template <class Keys>
struct KeyWindow {
  Keys keys;  // n
  int begin;
  int width;

  KOKKOS_FUNCTION std::uint64_t operator()(Position p) const {
    return width == 0 ? 0 : (bits(keys(p)) & low_bits(width));
  }
  KOKKOS_FUNCTION std::uint64_t bits(std::uint64_t key) const { return key >> begin; }
  KOKKOS_FUNCTION std::uint64_t bits(Key128 const& key) const {
    if (begin >= 64) return key.high >> (begin - 64);
    return begin == 0 ? key.low : key.low >> begin | key.high << (64 - begin);
  }
};

template <class Keys>
struct KeySource {
  Keys keys;
  KeyWindow<Keys> window(int begin, int width) const { return {keys, begin, width}; }
};

/// words(i) <- the window's bits of the key of the item at place i, above the item's number.
template <class MemorySpace, class Window>
struct PackWords {
  Words<MemorySpace> words;  // n; unless in_order, the low bits are the items' numbers already
  Window window;
  int item_bits;
  bool in_order;  // the item at place i is item i, and the words are not set

  KOKKOS_FUNCTION void operator()(Position i) const {
    Position const item = in_order ? i : words(i) & low_bits(item_bits);
    words(i) = window(item) << item_bits | item;
  }
};

/// Removes the key bits from the words, so that the items' numbers are left.
template <class MemorySpace>
struct UnpackItems {
  Words<MemorySpace> words;
  int item_bits;
  KOKKOS_FUNCTION void operator()(Position i) const { words(i) &= low_bits(item_bits); }
};

/// Sorts words by the given bits, stable. spare: as long as words, its contents are lost; the two
/// Views may be swapped. Enqueued on exec, does not fence. Throws Error if the backend does not
/// have the algorithm.
template <class ExecutionSpace, class MemorySpace>
void sort_words(ExecutionSpace const& exec, Words<MemorySpace>& words, Words<MemorySpace>& spare,
                BitRange bits, SortAlgorithm algorithm) {
  if (algorithm == SortAlgorithm::automatic)
    algorithm = has_cub<ExecutionSpace> && words.extent(0) <= most_cub_items ? SortAlgorithm::cub
                : is_gpu<ExecutionSpace>                                     ? SortAlgorithm::tiles
                                         : SortAlgorithm::chunks;
  if (algorithm == SortAlgorithm::cub) {
    expects(has_cub<ExecutionSpace>, "sort: the algorithm cub needs the CUDA backend");
    expects(words.extent(0) <= most_cub_items,
            "sort: this CUB counts in 32 bits: ", words.extent(0), " items are more than ",
            most_cub_items);
    if constexpr (has_cub<ExecutionSpace>) return sort_words_with_cub(exec, words, spare, bits);
  }
  if (algorithm == SortAlgorithm::chunks) {
    if constexpr (!is_gpu<ExecutionSpace>) return sort_words_in_chunks(exec, words, spare, bits);
    fail("sort: the algorithm chunks needs a host backend");
  }
  sort_words_in_tiles(exec, words, spare, bits);
}

/// Items in their new order. The item_bits low bits of a word are the item's number; above them are
/// the bits of its key from first_bit on.
template <class MemorySpace>
struct SortedWords {
  Words<MemorySpace> words;
  int item_bits;
  int first_bit;
};

/// Sorts the items 0 to n-1 by the given bits of their keys, stable. source.window(begin, width) is
/// a function that returns these bits of an item's key. So keys need not be stored, and may have
/// any length. The time of a sort is that of its memory traffic. The bits of the key and the item's
/// number therefore share one 64-bit word, and a pass moves nothing else. If the bits do not fit,
/// there are several rounds, and each calls the window again for its bits. The bits of the key
/// below bits.begin are carried in the words as far as they fit.
template <class ExecutionSpace, class Source>
auto sort_items(ExecutionSpace const& exec, Position n, Source const& source, BitRange bits,
                SortAlgorithm algorithm) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  int const item_bits = index_bits(n);
  int const capacity = 64 - item_bits;
  int const last_begin = std::max(0, bits.end - capacity);
  auto words = uninitialized<Words<MemorySpace>>(exec, "sporades::sort::words", n);
  bool const sorts = bits.width() > 0 && n > 1;
  auto spare = uninitialized<Words<MemorySpace>>(exec, "sporades::sort::spare", sorts ? n : 0);
  bool in_order = true;
  auto const round = [&](BitRange window, int from) {
    auto const keys = source.window(window.begin, window.width());
    launch_items(
        exec, "sporades::sort::pack_words", n,
        PackWords<MemorySpace, std::decay_t<decltype(keys)>>{words, keys, item_bits, in_order});
    int const shift = item_bits - window.begin;
    if (sorts)
      sort_words(exec, words, spare, BitRange{shift + from, shift + window.end}, algorithm);
    in_order = false;
  };
  for (int begin = bits.begin; begin < last_begin; begin += capacity)
    round({begin, std::min(begin + capacity, last_begin)}, begin);
  round({last_begin, bits.end}, std::max(bits.begin, last_begin));
  return SortedWords<MemorySpace>{words, item_bits, last_begin};
}

/// Turns the words into the permutation, in place. Enqueued on exec, does not fence.
template <class ExecutionSpace, class MemorySpace>
Permutation<MemorySpace> unpack_items(ExecutionSpace const& exec,
                                      SortedWords<MemorySpace> const& sorted) {
  launch_items(exec, "sporades::sort::unpack_items", sorted.words.extent(0),
               UnpackItems<MemorySpace>{sorted.words, sorted.item_bits});
  return sorted.words;
}

/// to(i) <- from(order(i)).
template <class From, class To, class Order>
struct Gather {
  From from;    // n
  To to;        // n
  Order order;  // n
  KOKKOS_FUNCTION void operator()(Position i) const { to(i) = from(order(i)); }
};

/// values(i) <- values(order(i)), through a copy. Enqueued on exec, does not fence.
template <class ExecutionSpace, class Values, class Order>
void gather_in_place(ExecutionSpace const& exec, Values const& values, Order const& order) {
  using Copy =
      Kokkos::View<typename Values::non_const_value_type*, typename ExecutionSpace::memory_space>;
  auto const copy = uninitialized<Copy>(exec, "sporades::sort::gathered", values.extent(0));
  launch_items(exec, "sporades::sort::gather", values.extent(0),
               Gather<Values, Copy, Order>{values, copy, order});
  copy_view(exec, values, copy);
}

/// The permutation that sorts keys by their `bits` low bits, stable. The keys stay as they are.
/// Key: std::uint64_t or Key128. A radix sort, least significant digit first; on hosts it moves
/// about 24 n bytes for every 11 bits. Enqueued on exec, does not fence. Throws Error if bits is
/// negative or more than a key has.
template <class ExecutionSpace, class Key, class... Properties>
Permutation<typename ExecutionSpace::memory_space> sort_permutation(
    ExecutionSpace const& exec, Kokkos::View<Key*, Properties...> const& keys, int bits,
    SortAlgorithm algorithm = SortAlgorithm::automatic) {
  using Keys = Kokkos::View<Key*, Properties...>;
  using Plain = typename Keys::non_const_value_type;
  static_assert(std::is_same_v<Plain, std::uint64_t> || std::is_same_v<Plain, Key128>,
                "Keys must be of type std::uint64_t or Key128.");
  int const longest = 8 * sizeof(Plain);
  expects(0 <= bits && bits <= longest, "sort_permutation: ", bits, " bits of a key of ", longest);
  return unpack_items(
      exec, sort_items(exec, keys.extent(0), KeySource<Keys>{keys}, BitRange{0, bits}, algorithm));
}

/// A new View with to(p) = from(order(p)). Enqueued on exec, does not fence.
template <class ExecutionSpace, class From, class MemorySpace>
auto in_order(ExecutionSpace const& exec, From const& from, Permutation<MemorySpace> const& order) {
  using To = Kokkos::View<typename From::non_const_value_type*, Kokkos::LayoutRight, MemorySpace>;
  auto const to = uninitialized<To>(exec, "sporades::sort::in_order", order.extent(0));
  launch_items(exec, "sporades::sort::in_order", order.extent(0),
               Gather<From, To, Permutation<MemorySpace>>{from, to, order});
  return to;
}

}  // namespace sporades::detail

#include <sporades/eti/sort.hpp>
