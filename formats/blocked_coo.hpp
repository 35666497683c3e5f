// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/packed_coo.hpp>
#include <sporades/formats/sort_coo.hpp>

namespace sporades {

/// A run of nonzeros of one block of rows.
struct RowSlice {
  static constexpr Position none = ~Position{0};

  Position begin, end;  // nonzeros
  Position run;         // of nonzero begin, among the runs of nonzeros of one row
  Position row;         // the first of the block
  Position row_count;
  Position part;  // the first of the slice's own rows; none where it adds to the product
};

/// A block of rows of several slices.
struct SharedRows {
  Position first;  // of its rows among the rows of all such blocks
  Position row;    // the first of the block
  Position row_count;
  Position part;  // the first slice's own rows; the others' follow
  Position slices;
};

/// Nonzeros gathered into blocks of 2^block_bits indices in every mode, so that the rows that a
/// block touches stay in a cache: blocks of rows of the row mode one after another, inside them
/// blocks of the other modes along a Morton curve, inside a block by row and then by the others. A
/// row comes again in many blocks. Work is divided into slices, runs of nonzeros of one block of
/// rows: where a block of rows is one slice, that adds into the product directly, else each slice
/// adds into rows of its own, which are summed in order. Slices depend on the tensor alone.
template <class ScalarType, class IndexType = std::uint32_t,
          class MemorySpaceType = Kokkos::HostSpace>
struct BlockedCoo {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  PackedCoo<Scalar, Index, MemorySpace> nonzeros;
  int block_bits = 0;
  Kokkos::View<RowSlice*, MemorySpace> slices;
  Kokkos::View<SharedRows*, MemorySpace> shared;
  Position shared_rows = 0;  // of all blocks in `shared`
  Position part_rows = 0;    // of all slices' own rows

  int order() const { return nonzeros.order(); }
  std::uint64_t storage_bytes() const {
    return nonzeros.storage_bytes() + slices.extent(0) * sizeof(RowSlice) +
           shared.extent(0) * sizeof(SharedRows);
  }
};

namespace detail {

/// Where the bits of each mode's index go in the key of a blocked order: from the most significant,
/// row block; the other modes' blocks interleaved; row; the other modes but the last, whose order
/// inside a run does not matter. Keys of more than 64 bits lose their lowest.
struct BlockedKeyLayout {
  struct Field {
    int mode, from, width, to;  // bits from .. from + width - 1 of the index become bit `to` and up
  };
  std::vector<Field> fields;
  int bits = 0;

  BlockedKeyLayout(Dims const& dims, std::vector<int> const& modes, int block_bits) {
    auto const high = [&](int m) { return std::max(0, index_bits(dims[m]) - block_bits); };
    auto const low = [&](int m) { return std::min(index_bits(dims[m]), block_bits); };
    fields.push_back({modes[0], block_bits, high(modes[0]), 0});
    int longest = 0;
    for (int m : modes) longest = std::max(longest, high(m));
    for (int b = longest - 1; b >= 0; --b)
      for (std::size_t k = 1; k < modes.size(); ++k)
        if (b < high(modes[k])) fields.push_back({modes[k], block_bits + b, 1, 0});
    for (std::size_t k = 0; k == 0 || k + 1 < modes.size(); ++k)
      fields.push_back({modes[k], 0, low(modes[k]), 0});
    int all = 0;
    for (auto const& field : fields) all += field.width;
    int const left_out = std::max(0, all - 64);
    bits = all - left_out;
    std::vector<Field> kept;
    for (auto field : fields) {
      all -= field.width;
      int const cut = std::max(0, left_out - all);
      field.from += cut;
      field.width -= cut;
      field.to = std::max(all, left_out) - left_out;
      if (field.width > 0) kept.push_back(field);
    }
    fields = kept;
  }
};

template <class Coordinates>
struct BlockedKeys {
  using Memory = typename Coordinates::memory_space;
  Coordinates coordinates;                                      // N x nnz
  Kokkos::View<std::uint64_t*, Memory> keys;                    // nnz
  Kokkos::View<BlockedKeyLayout::Field const*, Memory> fields;  // of the layout

  KOKKOS_FUNCTION void operator()(Position p) const {
    std::uint64_t key = 0;
    for (std::size_t k = 0; k < fields.extent(0); ++k) {
      auto const& field = fields(k);
      std::uint64_t const index = coordinates(field.mode, p);
      key |= (index >> field.from & low_bits(field.width)) << field.to;
    }
    keys(p) = key;
  }
};

/// begins(b): the first nonzero, in this order, of block of rows b or a later one.
template <class Coordinates>
struct FindBlocks {
  Coordinates coordinates;                                // N x nnz
  Permutation<typename Coordinates::memory_space> order;  // nnz
  Kokkos::View<Position*, typename Coordinates::memory_space> begins;
  int row_mode, block_bits;

  KOKKOS_FUNCTION void operator()(Position b) const {
    Position begin = 0, end = order.extent(0);
    while (begin < end) {
      Position const middle = begin + (end - begin) / 2;
      if (coordinates(row_mode, order(middle)) >> block_bits < b)
        begin = middle + 1;
      else
        end = middle;
    }
    begins(b) = begin;
  }
};

/// The run of each slice's first nonzero, from the mark in front of it.
template <class Packed, class Slices>
struct FindRuns {
  Packed packed;
  Slices slices;

  KOKKOS_FUNCTION void operator()(Position s) const {
    Position const begin = slices(s).begin, mark = begin / Packed::mark_distance;
    Position run = packed.marks(mark);
    for (Position p = mark * Packed::mark_distance + 1; p <= begin; ++p)
      run += packed.wide.extent(0) > 0 ? packed.wide(p) >> 63 : packed.narrow(p) >> 31;
    slices(s).run = run;
  }
};

/// A View with the entries of a vector. Fences exec.
template <class Entry, class ExecutionSpace>
Kokkos::View<Entry*, typename ExecutionSpace::memory_space> to_view(
    ExecutionSpace const& exec, std::string const& label, std::vector<Entry> const& entries) {
  Kokkos::View<Entry*, typename ExecutionSpace::memory_space> const view(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), entries.size());
  Kokkos::View<Entry const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const host(entries.data(),
                                                                                    entries.size());
  Kokkos::deep_copy(exec, view, host);
  fence(exec, label);
  return view;
}

}  // namespace detail

/// X in blocks of 2^block_bits indices for products on row_mode. X in any order. Fences exec.
/// Throws Error where its indices do not fit PackedCoo's words, or block_bits is not in 1 to 31.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
BlockedCoo<Scalar, Index, MemorySpace> make_blocked_coo(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
    std::vector<int> const& modes, int block_bits) {
  using Blocked = BlockedCoo<Scalar, Index, MemorySpace>;
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>;
  using Coordinates = typename CooTensor<Scalar, Index, MemorySpace>::Coordinates;
  detail::check_modes(modes, X.order(), "make_blocked_coo");
  expects(static_cast<int>(modes.size()) == X.order(), "make_blocked_coo: ", modes.size(),
          " modes of ", X.order());
  int const row_mode = modes[0];
  expects(fits_packed_coo(X.dims, row_mode), "make_blocked_coo: the indices of all modes but ",
          row_mode, " do not fit a word");
  expects(1 <= block_bits && block_bits < 32, "make_blocked_coo: blocks of 2^", block_bits);

  detail::BlockedKeyLayout const layout(X.dims, modes, block_bits);
  auto const keys = uninitialized<Kokkos::View<std::uint64_t*, MemorySpace>>(
      exec, "sporades::blocked_coo::keys", X.nnz());
  Kokkos::parallel_for("sporades::blocked_coo::keys", Policy(exec, 0, X.nnz()),
                       detail::BlockedKeys<Coordinates>{
                           X.coordinates, keys,
                           detail::to_view(exec, "sporades::blocked_coo::fields", layout.fields)});
  auto const order = sort_permutation(exec, keys, layout.bits);

  Blocked result;
  result.block_bits = block_bits;
  result.nonzeros = detail::pack_in_order(exec, X, row_mode,
                                          std::vector<int>(modes.begin() + 1, modes.end()), order);
  Position const rows = X.dims[row_mode];
  Position const blocks = ((rows - (rows > 0)) >> block_bits) + (rows > 0);
  Kokkos::View<Position*, MemorySpace> const begins(
      Kokkos::view_alloc(exec, "sporades::blocked_coo::begins"), blocks + 1);
  Kokkos::parallel_for(
      "sporades::blocked_coo::find_blocks", Policy(exec, 0, blocks + 1),
      detail::FindBlocks<Coordinates>{X.coordinates, order, begins, row_mode, block_bits});
  auto const host = Kokkos::create_mirror_view(begins);
  Kokkos::deep_copy(exec, host, begins);
  fence(exec, "sporades::blocked_coo::find_blocks");

  std::vector<RowSlice> slices;
  std::vector<SharedRows> shared;
  for (Position b = 0; b < blocks; ++b) {
    Position const nnz = host(b + 1) - host(b), row = b << block_bits;
    Position const row_count = std::min(rows - row, Position{1} << block_bits);
    if (nnz == 0) continue;
    // own rows are cleared, written and read again: nothing beside 32 nonzeros a row
    Position const length = std::max({Position{4096}, 32 * row_count, X.nnz() / 1024});
    Position const count = (nnz + length / 2) / length > 1 ? (nnz + length / 2) / length : 1;
    if (count > 1) {
      shared.push_back({result.shared_rows, row, row_count, result.part_rows, count});
      result.shared_rows += row_count;
    }
    for (Position s = 0; s < count; ++s) {
      slices.push_back({host(b) + nnz * s / count, host(b) + nnz * (s + 1) / count, 0, row,
                        row_count, count > 1 ? result.part_rows : RowSlice::none});
      if (count > 1) result.part_rows += row_count;
    }
  }
  result.slices = detail::to_view(exec, "sporades::blocked_coo::slices", slices);
  result.shared = detail::to_view(exec, "sporades::blocked_coo::shared", shared);
  Kokkos::parallel_for("sporades::blocked_coo::find_runs", Policy(exec, 0, slices.size()),
                       detail::FindRuns<decltype(result.nonzeros), decltype(result.slices)>{
                           result.nonzeros, result.slices});
  fence(exec, "sporades::blocked_coo::make");
  return result;
}

/// The nonzeros in the order in which they lie. Exact. Enqueued on exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             BlockedCoo<Scalar, Index, MemorySpace> const& X) {
  auto result = to_coo(exec, X.nonzeros);
  result.sorted_modes.clear();
  return result;
}

}  // namespace sporades
