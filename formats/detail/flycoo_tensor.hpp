// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <sporades/formats/detail/flycoo_partitions.hpp>
#include <sporades/formats/detail/flycoo_records.hpp>
#include <sporades/formats/detail/sort_bytes.hpp>
#include <sporades/formats/flycoo_tensor.hpp>

namespace sporades {

inline FlycooLayout::FlycooLayout(Dims const& dims, int value_bits, int unit_bits) {
  int bit = value_bits;
  for (auto dim : dims) {
    first_bit.push_back(bit);
    bits.push_back(detail::index_bits(dim));
    bit += bits.back();
  }
  if (unit_bits == 32) bit = std::max(bit, value_bits + 64);
  units = (bit + unit_bits - 1) / unit_bits;
}

template <class Scalar, class Index, class MemorySpace>
std::uint64_t FlycooTensor<Scalar, Index, MemorySpace>::storage_bits() const {
  std::uint64_t bits = 8 * sizeof(Scalar) + dims.size() * detail::index_bits(count);
  for (auto dim : dims) bits += detail::index_bits(dim);
  return bits * count;
}

template <class Scalar, class Index, class MemorySpace>
std::uint64_t FlycooTensor<Scalar, Index, MemorySpace>::storage_bytes() const {
  std::uint64_t bytes = sizeof(Unit) * (records.extent(0) + spare.extent(0));
  for (auto const& mode : modes)
    bytes += sizeof(std::uint32_t) * mode.next.extent(0) +
             sizeof(Position) * (mode.pieces.extent(0) + mode.partitions.extent(0));
  return bytes;
}

namespace detail {

/// Some bits of a nonzero's key: ranks of its rows side by side.
template <class Coordinates, class Ranks>
struct RankWindow {
  Coordinates coordinates;  // N x nnz
  int parts;
  Kokkos::Array<Ranks, max_order> ranks;
  Kokkos::Array<int, max_order> mode, shift;
  std::uint64_t mask;

  KOKKOS_FUNCTION std::uint64_t operator()(Position p) const {
    std::uint64_t bits = 0;
    for (int k = 0; k < parts; ++k) {
      std::uint64_t const rank = ranks[k](coordinates(mode[k], p));
      bits |= shift[k] >= 0 ? rank << shift[k] : rank >> -shift[k];
    }
    return bits & mask;
  }
};

/// The ranks of a nonzero's rows in some modes, the first of which is on top, as one key; see
/// sort_items.
template <class Coordinates, class Ranks>
struct RankKey {
  Coordinates coordinates;
  std::vector<Ranks> ranks;  // of every mode
  std::vector<int> modes, bits;

  int total_bits() const {
    int total = 0;
    for (int m : modes) total += bits[m];
    return total;
  }
  RankWindow<Coordinates, Ranks> window(int begin, int width) const {
    RankWindow<Coordinates, Ranks> result{coordinates, 0, {}, {}, {}, low_bits(width)};
    int offset = total_bits();
    for (int m : modes) {
      offset -= bits[m];
      if (bits[m] == 0 || offset >= begin + width || offset + bits[m] <= begin) continue;
      result.ranks[result.parts] = ranks[m];
      result.mode[result.parts] = m;
      result.shift[result.parts++] = offset - begin;
    }
    return result;
  }
};

/// Some bits of the rank of a record's row in one mode.
template <class Index, class Unit, class Ranks>
struct RecordWindow {
  Unit const* records;
  int units;
  RecordField<Unit> field;
  Ranks ranks;  // I_n
  int begin;
  std::uint64_t mask;

  KOKKOS_FUNCTION std::uint64_t operator()(Position p) const {
    std::uint64_t const rank = ranks(field.template of<Index>(records + p * units));
    return rank >> begin & mask;
  }
};

template <class Index, class Unit, class Ranks>
struct RecordKey {
  Unit const* records;
  int units;
  RecordField<Unit> field;
  Ranks ranks;

  RecordWindow<Index, Unit, Ranks> window(int begin, int width) const {
    return {records, units, field, ranks, begin, low_bits(width)};
  }
};

/// The record at place p from the nonzero that the order has there.
template <class Tensor, class Order>
struct WriteRecords {
  using Scalar = typename Tensor::Scalar;
  using Unit = FlycooUnit<typename Tensor::MemorySpace>;

  typename Tensor::Coordinates coordinates;  // N x nnz
  typename Tensor::Values values;            // nnz
  Order order;                               // nnz
  Unit* records;
  int units, modes;
  Kokkos::Array<int, max_order> first_bit, bits;

  KOKKOS_FUNCTION void operator()(Position p) const {
    Unit* const record = records + p * units;
    Position const from = order(p);
    for (int k = 0; k < units; ++k) record[k] = 0;
    Scalar const value = values(from);
    std::uint64_t word = 0;
    memcpy(&word, &value, sizeof value);
    write(record, 0, 8 * sizeof value, word);
    for (int m = 0; m < modes; ++m) write(record, first_bit[m], bits[m], coordinates(m, from));
  }

  KOKKOS_FUNCTION static void write(Unit* record, int bit, int width, std::uint64_t value) {
    constexpr int whole = unit_bits<Unit>;
    for (int done = 0; done < width;) {
      int const shift = (bit + done) % whole;
      record[(bit + done) / whole] |= static_cast<Unit>(value >> done << shift);
      done += whole - shift;
    }
  }
};

/// Coordinates and values from records.
template <class Tensor>
struct ReadRecords {
  using Unit = FlycooUnit<typename Tensor::MemorySpace>;

  typename Tensor::Coordinates coordinates;  // N x nnz
  typename Tensor::Values values;            // nnz
  Unit const* records;
  int units, modes;
  Kokkos::Array<RecordField<Unit>, max_order> fields;

  KOKKOS_FUNCTION void operator()(Position p) const {
    Unit const* const record = records + p * units;
    values(p) = record_value<typename Tensor::Scalar>(record);
    for (int m = 0; m < modes; ++m)
      coordinates(m, p) = fields[m].template of<typename Tensor::Index>(record);
  }
};

/// The modes in the order in which X's nonzeros are sorted by them now; the first is that of rows.
template <class Scalar, class Index, class MemorySpace>
int flycoo_mode(FlycooTensor<Scalar, Index, MemorySpace> const& X, int place) {
  return (X.mode + X.order() - place) % X.order();
}

template <class Scalar, class Index, class MemorySpace>
MoveRecords<MemorySpace> move_to_next(FlycooTensor<Scalar, Index, MemorySpace> const& X) {
  return {
      X.records.data(), X.spare.data(), {X.modes[X.mode].next.data(), X.id_bits}, X.layout.units};
}

/// After the records were moved to where the next order has them.
template <class Scalar, class Index, class MemorySpace>
void take_next_order(FlycooTensor<Scalar, Index, MemorySpace>& X) {
  std::swap(X.records, X.spare);
  X.mode = (X.mode + 1) % X.order();
}

/// κ where options leave it open.
template <class ExecutionSpace>
Position default_partitions(ExecutionSpace const& exec, Position nnz) {
  if (is_gpu<ExecutionSpace>)
    return std::max<Position>(1, static_cast<Position>(exec.concurrency()) / 2048);
  return std::clamp<Position>(nnz / 8192, 1, 512);
}

/// About the most nonzeros of a piece.
template <class ExecutionSpace>
constexpr Position piece_length(Position nnz) {
  return !is_gpu<ExecutionSpace> ? ~Position{0} : nnz < (Position{1} << 22) ? 128 : 256;
}

inline void check_options(FlycooOptions const& options, char const* where) {
  expects(0 <= options.partitions && options.partitions <= 65536, where, ": ", options.partitions,
          " partitions: 1 to 65536, or 0 for as many as suit the device");
  expects(0 <= options.parallel && options.parallel <= 64, where, ": ", options.parallel,
          " nonzeros at once: 1 to 64, or 0 for as many as suit the device");
}

/// Divides the rows of every mode, and says so in the tensor. Returns the ranks of rows. Fences
/// exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
std::vector<RankedRows<Index, MemorySpace>> rank_all_rows(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X, Position partitions,
    FlycooTensor<Scalar, Index, MemorySpace>& result) {
  std::vector<RankedRows<Index, MemorySpace>> all;
  for (int n = 0; n < X.order(); ++n) {
    auto const indices = Kokkos::subview(X.coordinates, n, Kokkos::ALL);
    all.push_back(rank_rows<Index>(exec, indices, X.dims[n], partitions));
    auto const& ranked = all.back();
    auto const begins = piece_begins(ranked.partitions, piece_length<ExecutionSpace>(X.nnz()),
                                     is_gpu<ExecutionSpace> ? 4 : 1);
    auto& mode = result.modes[n];
    mode.rows = ranked.rows;
    mode.partitions = to_view(exec, "sporades::flycoo::partitions", ranked.partitions);
    mode.pieces = to_view(exec, "sporades::flycoo::pieces", begins);
    mode.shares_rows = std::any_of(begins.begin(), begins.end(), [&](Position begin) {
      return !std::binary_search(ranked.partitions.begin(), ranked.partitions.end(), begin);
    });
  }
  return all;
}

/// Room for the records.
template <class ExecutionSpace, class Tensor>
typename Tensor::Records record_room(ExecutionSpace const& exec, Tensor const& X) {
  return uninitialized<typename Tensor::Records>(
      exec, "sporades::flycoo::records",
      X.nnz() * static_cast<Position>(X.layout.units) + spare_units);
}

/// Makes the records in the order of mode 0. It sorts by modes 0, N - 1, ..., 1, so that a stable
/// sort by mode 1 gives one by modes 1, 0, N - 1, ..., 2, and so on, until one by mode 0 gives the
/// first again.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void write_first_order(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                       std::vector<RankedRows<Index, MemorySpace>> const& ranks,
                       FlycooTensor<Scalar, Index, MemorySpace>& result) {
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;
  using Order = Permutation<MemorySpace>;
  int const N = X.order();
  RankKey<typename Tensor::Coordinates, Kokkos::View<Index*, MemorySpace>> key{
      X.coordinates, {}, {0}, {}};
  for (int n = N - 1; n > 0; --n) key.modes.push_back(n);
  for (auto const& ranked : ranks) {
    key.ranks.push_back(ranked.ranks);
    key.bits.push_back(index_bits(ranked.rows));
  }
  auto const order = unpack_items(
      exec,
      sort_items(exec, X.nnz(), key, BitRange{0, key.total_bits()}, SortAlgorithm::automatic));
  result.records = record_room(exec, result);
  WriteRecords<Tensor, Order> write{X.coordinates,       X.values, order, result.records.data(),
                                    result.layout.units, N,        {},    {}};
  std::copy(result.layout.first_bit.begin(), result.layout.first_bit.end(), &write.first_bit[0]);
  std::copy(result.layout.bits.begin(), result.layout.bits.end(), &write.bits[0]);
  launch_items(exec, "sporades::flycoo::write_records", X.nnz(), write);
}

/// The remap ids from the present mode to the next one, whose rows have these ranks.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void find_remap_ids(ExecutionSpace const& exec, RankedRows<Index, MemorySpace> const& ranked,
                    FlycooTensor<Scalar, Index, MemorySpace>& X) {
  using Order = Permutation<MemorySpace>;
  using Ids = decltype(X.modes[0].next);
  using Unit = FlycooUnit<MemorySpace>;
  int const next_mode = (X.mode + 1) % X.order();
  RecordKey<Index, Unit, Kokkos::View<Index*, MemorySpace>> const key{
      X.records.data(), X.layout.units,
      RecordField<Unit>(X.layout.first_bit[next_mode], X.layout.bits[next_mode]), ranked.ranks};
  auto const order =
      unpack_items(exec, sort_items(exec, X.nnz(), key, BitRange{0, index_bits(ranked.rows)},
                                    SortAlgorithm::automatic));
  auto const places = uninitialized<Order>(exec, "sporades::flycoo::places", X.nnz());
  launch_items(exec, "sporades::flycoo::invert_order", X.nnz(),
               InvertOrder<Order, Order>{order, places});
  auto const words = packed_number_words(X.nnz(), X.id_bits);
  auto const ids = uninitialized<Ids>(exec, "sporades::flycoo::next", words);
  launch_items(exec, "sporades::flycoo::pack_ids", X.id_bits > 0 ? words : 0,
               PackNumbers<Order, Ids>{places, ids, X.id_bits});
  X.modes[X.mode].next = ids;
}

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
FlycooTensor<Scalar, Index, MemorySpace> make_flycoo(ExecutionSpace const& exec,
                                                     CooTensor<Scalar, Index, MemorySpace> X,
                                                     FlycooOptions const& options) {
  detail::check_options(options, "make_flycoo");
  using Result = FlycooTensor<Scalar, Index, MemorySpace>;
  int const N = X.order();
  Result result;
  result.dims = X.dims;
  result.layout =
      FlycooLayout(X.dims, 8 * sizeof(Scalar), detail::unit_bits<typename Result::Unit>);
  result.parallel = options.parallel > 0             ? options.parallel
                    : detail::is_gpu<ExecutionSpace> ? 16
                                                     : 1;
  result.count = X.nnz();
  result.id_bits = detail::index_bits(X.nnz());
  result.modes.resize(N);
  Position const partitions = options.partitions > 0 ? static_cast<Position>(options.partitions)
                                                     : detail::default_partitions(exec, X.nnz());
  auto const ranks = detail::rank_all_rows(exec, X, partitions, result);
  detail::write_first_order(exec, X, ranks, result);
  X = {};
  for (int n = 0; n < N && N > 1; ++n) {
    result.spare = {};  // makes room for a sort
    detail::find_remap_ids(exec, ranks[(n + 1) % N], result);
    result.spare = detail::record_room(exec, result);
    remap(exec, result);
  }
  detail::fence(exec, "sporades::flycoo::make");
  return result;
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void remap(ExecutionSpace const& exec, FlycooTensor<Scalar, Index, MemorySpace>& X) {
  if (X.order() < 2) return;
  detail::MoveSegments<MemorySpace> const moves{detail::move_to_next(X), X.nnz()};
  detail::launch_items(exec, "sporades::flycoo::remap", moves.items(), moves);
  detail::take_next_order(X);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             FlycooTensor<Scalar, Index, MemorySpace> const& X) {
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;
  auto const result = detail::allocate_coo<Scalar, Index>(exec, X.dims, X.nnz());
  detail::ReadRecords<Tensor> read{result.coordinates, result.values, X.records.data(),
                                   X.layout.units,     X.order(),     {}};
  for (int m = 0; m < X.order(); ++m) read.fields[m] = {X.layout.first_bit[m], X.layout.bits[m]};
  detail::launch_items(exec, "sporades::flycoo::read_records", X.nnz(), read);
  return result;
}

namespace detail {

/// make_flycoo in so many partitions. An X that is not kept is freed once the first order is
/// written.
template <class ExecutionSpace>
MadeBytes flycoo_bytes(ExecutionSpace const& exec, CooShape const& X, Position partitions) {
  using Unit = FlycooUnit<typename ExecutionSpace::memory_space>;
  FlycooLayout const layout(X.dims, static_cast<int>(8 * X.scalar_bytes), unit_bits<Unit>);
  double const records = sizeof(Unit) * (X.nnz * layout.units + double{spare_units});
  double const ids = 4 * static_cast<double>(packed_number_words(X.count(), index_bits(X.count())));
  double const pieces = 8 * X.order() *
                        static_cast<double>(most_pieces(X.count(), partitions,
                                                        piece_length<ExecutionSpace>(X.count())) +
                                            partitions + 2);
  double const others = X.order() > 1 ? X.order() : 0;  // orders that records are moved to
  double ranks = 0, ranking = 0;
  for (auto const length : X.dims) {
    double const dim = static_cast<double>(length);
    double const groups = std::min(dim, std::sqrt(2 * X.nnz) + 1);
    ranks += dim * X.index_bytes;
    auto const sort = sort_bytes(exec, length);
    ranking = std::max(
        ranking,
        16 * dim + sort.kept + sort.peak +
            groups * (sizeof(RowGroup) +
                      sizeof(RowBlock) * std::min(dim / groups, static_cast<double>(partitions))));
  }
  auto const sort = sort_bytes(exec, X.count());
  double const first = in_sorted_order(sort, records).peak;
  double const made = records + others * ids;
  double const next =
      others > 0 ? made + std::max(in_sorted_order(sort, 8 * X.nnz).peak, records) : 0;
  return {made + pieces + (others > 0 ? records : 0),
          pieces + ranks + std::max({ranking, first, next - X.freed()})};
}

}  // namespace detail

// What is no CooTensor is refused.
template <class ExecutionSpace>
FlycooTensor<double, std::uint32_t, typename ExecutionSpace::memory_space> make_flycoo(
    ExecutionSpace const&, detail::NotCoo, FlycooOptions const& = {}) {
  return {};
}

}  // namespace sporades
