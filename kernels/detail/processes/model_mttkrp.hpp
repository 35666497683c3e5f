// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <sporades/formats/alto_tensor.hpp>
#include <sporades/kernels/detail/processes/build_mttkrp.hpp>

/// What processes would send one another for products that they share, counted on one process for
/// any number of them: the rules are those of build_mttkrp_plan, and the nonzeros are the real
/// ones, so that the counts are exact.

namespace sporades::detail {

/// Messages and bytes.
struct Volume {
  std::uint64_t messages = 0, bytes = 0;

  Volume& operator+=(Volume const& more) {
    messages += more.messages;
    bytes += more.bytes;
    return *this;
  }
};

/// What each process sends to others, and receives, under one name.
struct Exchanged {
  std::vector<Volume> sent, received;  // per process

  void add(std::size_t from, std::size_t to, std::uint64_t bytes) {
    if (from == to || bytes == 0) return;
    Volume const parts{(bytes + piece_bytes - 1) / piece_bytes, bytes};
    sent[from] += parts;
    received[to] += parts;
  }
  /// bytes[p]: what process p sends to each other one.
  void add_to_all(std::vector<std::uint64_t> const& bytes) {
    Volume all;
    for (auto const one : bytes) all += {(one + piece_bytes - 1) / piece_bytes, one};
    std::uint64_t const others = bytes.size() - 1;
    for (std::size_t p = 0; p < bytes.size(); ++p) {
      Volume const own{(bytes[p] + piece_bytes - 1) / piece_bytes, bytes[p]};
      sent[p] += {own.messages * others, own.bytes * others};
      received[p] += {all.messages - own.messages, all.bytes - own.bytes};
    }
  }
  Exchanged& operator+=(Exchanged const& more) {
    if (sent.empty()) return *this = more;
    for (std::size_t p = 0; p < more.sent.size(); ++p) {
      sent[p] += more.sent[p];
      received[p] += more.received[p];
    }
    return *this;
  }
  Volume all() const {
    Volume sum;
    for (auto const& one : sent) sum += one;
    return sum;
  }
};

/// By name, as Communicator::traffic has it.
using Exchanges = std::map<std::string, Exchanged>;

/// Adds up rows for or from each of many processes, few of which occur.
class RowCounts {
 public:
  explicit RowCounts(std::size_t processes) : counts_(processes, 0) {}

  void add(std::size_t process) {
    if (counts_[process]++ == 0) processes_.push_back(process);
  }
  /// Calls use(process, rows) for each that occurs, and begins anew.
  template <class Use>
  void take(Use const& use) {
    for (auto const process : processes_) {
      use(process, counts_[process]);
      counts_[process] = 0;
    }
    processes_.clear();
  }

 private:
  std::vector<std::uint64_t> counts_;
  std::vector<std::size_t> processes_;
};

/// The process that owns a row.
inline std::size_t owner_of(RowMap const& rows, std::uint64_t row) {
  auto const past = std::upper_bound(rows.begins.begin(), rows.begins.end(), row);
  return static_cast<std::size_t>(past - rows.begins.begin()) - 1;
}

/// Nonzeros in some order, on the host: process p has those from cuts[p] to cuts[p + 1] - 1. They
/// serve mode `mode` and read no rows of it; all modes for -1.
template <class Scalar, class Index>
struct CutNonzeros {
  CooTensor<Scalar, Index, Kokkos::HostSpace> nonzeros;
  std::vector<Position> cuts;
  int mode;

  Position count(std::size_t p) const { return cuts[p + 1] - cuts[p]; }
  Index const* rows(int n, std::size_t p) const { return nonzeros.indices(n) + cuts[p]; }
};

/// What a plan that P processes share sends and holds.
struct DistributedPlanModel {
  std::vector<MttkrpChoice> choices;  // per mode
  std::vector<RowMap> rows;           // per mode; of no communicator
  std::vector<Exchanged> factors;     // per mode: its rows go to those that read them
  std::vector<Exchanges> products;    // per mode: the product's sums to those that own them
  std::vector<Position> nonzeros;     // per process: the most of a product
  std::vector<std::uint64_t> bytes;   // per process: nonzeros, rows and sums
};

/// The rows of mode m's factor that processes read of those that own them. use(p, rows): gets the
/// number of rows that process p reads, or, if it `keeps_own`, has there.
template <class Scalar, class Index, class Use>
Exchanged count_read_rows(std::vector<CutNonzeros<Scalar, Index>> const& all, int m,
                          RowMap const& owners, bool keeps_own, std::uint64_t row_bytes,
                          Use const& use) {
  std::size_t const P = owners.begins.size() - 1;
  Exchanged result{std::vector<Volume>(P), std::vector<Volume>(P)};
  std::vector<std::uint32_t> reader(owners.begins.back(), 0);  // the last process that does, + 1
  RowCounts counts(P);
  for (std::size_t p = 0; p < P; ++p) {
    auto const stamp = static_cast<std::uint32_t>(p + 1);
    for (auto const& part : all) {
      if (part.mode == m) continue;
      auto const* const rows = part.rows(m, p);
      for (Position k = 0; k < part.count(p); ++k) {
        if (reader[rows[k]] == stamp) continue;
        reader[rows[k]] = stamp;
        counts.add(owner_of(owners, rows[k]));
      }
    }
    std::uint64_t read = keeps_own ? owners.begins[p + 1] - owners.begins[p] : 0;
    counts.take([&](std::size_t owner, std::uint64_t rows) {
      result.add(owner, p, rows * row_bytes);
      if (owner != p || !keeps_own) read += rows;
    });
    use(p, read);
  }
  return result;
}

/// The rows of mode n's product that processes add to one after another, as RowChain does.
template <class Scalar, class Index, class Use>
Exchanges count_chained_rows(CutNonzeros<Scalar, Index> const& part, int n, RowMap const& owners,
                             std::uint64_t row_bytes, Use const& use) {
  std::size_t const P = owners.begins.size() - 1;
  Exchanged const none{std::vector<Volume>(P), std::vector<Volume>(P)};
  Exchanges result{{"partial rows", none}, {"rows of products", none}};
  std::vector<std::uint32_t> last(owners.begins.back(), 0);  // process that adds to it, + 1
  RowCounts counts(P);
  for (std::size_t p = 0; p < P; ++p) {
    auto const stamp = static_cast<std::uint32_t>(p + 1);
    std::uint64_t added = 0;
    auto const* const rows = part.rows(n, p);
    for (Position k = 0; k < part.count(p); ++k) {
      auto& before = last[rows[k]];
      if (before == stamp) continue;
      if (before > 0) counts.add(before - 1);
      before = stamp;
      ++added;
    }
    counts.take([&](std::size_t from, std::uint64_t count) {
      result["partial rows"].add(from, p, count * row_bytes);
    });
    use(p, added);
  }
  for (std::size_t owner = 0; owner < P; ++owner) {
    for (auto row = owners.begins[owner]; row < owners.begins[owner + 1]; ++row)
      if (last[row] > 0) counts.add(last[row] - 1);
    counts.take([&](std::size_t from, std::uint64_t count) {
      result["rows of products"].add(from, owner, count * row_bytes);
    });
  }
  return result;
}

/// The rows of a product in order: carries to where a row began, and rows to those that own them.
inline Exchanges count_ordered_rows(CutRows const& cut, std::vector<Position> const& leading,
                                    bool has_carries, RowMap const& owners,
                                    std::uint64_t row_bytes) {
  std::size_t const P = owners.begins.size() - 1;
  Exchanged const none{std::vector<Volume>(P), std::vector<Volume>(P)};
  Exchanges result{{"carries", none}, {"rows of products", none}};
  for (std::size_t p = 0; p < P; ++p) {
    if (has_carries)
      result["carries"].add(p, static_cast<std::size_t>(cut.began[p]), leading[p] * row_bytes);
    for (auto row = cut.begins[p]; row < cut.ends[p];) {
      std::size_t const owner = owner_of(owners, row);
      auto const end = std::min(cut.ends[p], owners.begins[owner + 1]);
      result["rows of products"].add(p, owner, (end - row) * row_bytes);
      row = end;
    }
  }
  return result;
}

/// The model of build_mttkrp_plan on P processes, without them. X: on the host, without
/// duplicates, all nonzeros. O(N^2 nnz) operations, and memory for N sorted copies. Fences. Throws
/// as build_mttkrp_plan where processes cannot share the plan.
template <class ExecutionSpace, class Scalar, class Index>
DistributedPlanModel model_distributed_plan(CooTensor<Scalar, Index, Kokkos::HostSpace> const& X,
                                            MttkrpOptions const& given, int P,
                                            MttkrpPlanUse const& use = {}) {
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const options = options_for<Scalar>(given);
  int const N = X.order();
  Position const nnz = X.nnz();
  auto const processes = static_cast<std::size_t>(P);
  DistributedPlanModel model;
  check_options(options, N);
  auto const layout =
      checked_layout(shape_of(X), options, PlanPlace{is_gpu<ExecutionSpace>, true}, use);
  model.choices = layout.choices();
  model.nonzeros.resize(processes);
  model.bytes.resize(processes);
  auto const columns = padded_columns(static_cast<std::size_t>(options.rank));
  std::uint64_t const row_bytes = columns * sizeof(Scalar);

  std::vector<CutNonzeros<Scalar, Index>> parts;
  if (layout.is_linear()) {
    auto const alto = make_alto(host, X);
    std::vector<Position> counts;
    for (auto const& mode : alto.partitions) counts.push_back(mode.parts.extent(0));
    if (nnz == 0) counts.assign(X.dims.size(), 0);
    choose_linear_modes(counts, options, X.dims, nnz, model.choices);
    if (has_linear_mode(model.choices)) {
      auto const cuts = linear_cuts(nnz, linear_units(counts, most_parts(nnz)), processes);
      parts.push_back({to_coo(host, alto), cuts, -1});
      fence(host, "sporades::mttkrp::model_distributed_plan");
      std::uint64_t const word = alto.layout.has_two_words() ? 16 : 8;
      for (std::size_t p = 0; p < processes; ++p)
        model.bytes[p] += (cuts[p + 1] - cuts[p]) * (word + sizeof(Scalar));
    }
  }
  Position const length = chunk_length<ExecutionSpace>(nnz);
  auto const cuts = even_cuts(P, nnz, block_length<ExecutionSpace>(nnz));
  Position const chunks = chunks_of(nnz, length);
  std::vector<std::uint64_t> sums(processes, 0);  // rows
  bool const is_grid = !use.last.is_whole();
  for (int n = 0; n < N; ++n) {
    auto const mode = static_cast<std::size_t>(n);
    bool const in_order = model.choices[mode].strategy != MttkrpStrategy::alto;
    if (in_order) {
      parts.push_back({sorted(host, X, mttkrp_mode_order(X.dims, n)), cuts, n});
      fence(host, "sporades::mttkrp::model_distributed_plan");
    }
    auto const& part = in_order ? parts.back() : parts.front();
    std::vector<RowEnds> ends(processes);
    for (std::size_t p = 0; p < processes; ++p) {
      Position const count = part.count(p);
      model.nonzeros[p] = std::max(model.nonzeros[p], count);
      if (count == 0) continue;
      auto const* const rows = part.rows(n, p);
      ends[p] = {rows[0], rows[count - 1], true};
      if (in_order) continue;
      auto const [least, most] = std::minmax_element(rows, rows + count);
      ends[p] = {*least, *most, true};
    }
    CutRows const cut(ends);
    auto const own_rows = [&](std::vector<std::uint64_t> const& begins) {
      model.rows.push_back(
          is_grid && n + 1 == N
              ? use.last
              : make_row_map<ExecutionSpace>({}, X.dims[mode], begins, columns * columns));
    };
    if (!in_order) {
      own_rows(begins_of_added_rows(X.dims[mode], ends));
      model.products.push_back(count_chained_rows(
          part, n, model.rows.back(), row_bytes,
          [&](std::size_t p, std::uint64_t rows) { sums[p] = std::max(sums[p], rows); }));
      continue;
    }
    own_rows(cut.begins);
    std::vector<Position> leading(processes, 0);
    for (std::size_t p = 0; p < processes; ++p) {
      if (!ends[p].any) continue;
      if (cut.begins[p] > ends[p].first) {
        auto const* const rows = part.rows(n, p);
        Position const count = part.count(p);
        auto const of_first = std::upper_bound(rows, rows + count, rows[0]) - rows;
        leading[p] = leading_slots(static_cast<Position>(of_first), count, length);
      }
      sums[p] = std::max(sums[p], ends[p].last - ends[p].first + 3);
    }
    auto const& begins = model.rows.back().begins;  // what lend_products has room for
    for (std::size_t p = 0; p < processes; ++p)
      sums[p] = std::max(sums[p], begins[p + 1] - begins[p] + 2);
    model.products.push_back(
        count_ordered_rows(cut, leading, chunks > 1, model.rows.back(), row_bytes));
  }

  std::vector<Dims> read(processes, Dims(X.dims.size(), 0));
  for (int m = 0; m < N; ++m) {
    auto const mode = static_cast<std::size_t>(m);
    if (is_grid && m + 1 < N) {
      std::vector<std::uint64_t> bytes;
      auto const& begins = model.rows[mode].begins;
      for (std::size_t p = 0; p < processes; ++p) {
        bytes.push_back((begins[p + 1] - begins[p]) * row_bytes);
        read[p][mode] = X.dims[mode];
      }
      model.factors.push_back({std::vector<Volume>(processes), std::vector<Volume>(processes)});
      model.factors.back().add_to_all(bytes);
      continue;
    }
    model.factors.push_back(count_read_rows(
        parts, m, model.rows[mode], model.choices[mode].strategy != MttkrpStrategy::alto, row_bytes,
        [&](std::size_t p, std::uint64_t rows) { read[p][mode] = rows; }));
  }
  if (use.first_is_read)
    model.factors.front() = {std::vector<Volume>(processes), std::vector<Volume>(processes)};
  if (is_grid)
    for (auto& [name, one] : model.products.back())
      one = {std::vector<Volume>(processes), std::vector<Volume>(processes)};
  for (std::size_t p = 0; p < processes; ++p) {
    for (auto const& part : parts)
      if (part.mode >= 0)
        model.bytes[p] +=
            part.count(p) * (sizeof(Scalar) + (packed_bits(read[p], part.mode) <= 32 ? 4 : 8));
    std::uint64_t rows = sums[p];
    for (std::size_t m = 0; m < read[p].size(); ++m)
      rows += read[p][m] + model.factors[m].sent[p].bytes / row_bytes;
    model.bytes[p] += rows * row_bytes;
    // Carries of its own chunks, and of up to a chunk of carries in front of them.
    if (chunks > 1)
      model.bytes[p] += (2 * chunks_of(cuts[p + 1] - cuts[p], length) + carry_chunk) *
                        (row_bytes + sizeof(Index));
  }
  return model;
}

}  // namespace sporades::detail
