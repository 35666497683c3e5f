// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/dense.hpp>
#include <sporades/formats/tucker_tensor.hpp>
#include <sporades/kernels/detail/nonzeros/coo.hpp>

namespace sporades::detail {

/// Chunks of the nonzeros of a TuckerModel. Each lies within a part of `length` nonzeros, of
/// which no process has less than the whole.
struct TuckerChunks {
  Position length, pieces;  // of a part: nonzeros, and chunks
  Position size;            // nonzeros of a chunk at most

  /// length: a part is a multiple of it. partial_size: numbers that each chunk takes.
  TuckerChunks(Position nnz, Position length, std::uint64_t partial_size) {
    constexpr std::uint64_t most_numbers = std::uint64_t{1} << 23;  // of all chunks: 64 MiB
    Position const most = std::max<Position>(1, most_numbers / partial_size);
    Position const least = std::max<Position>(256, chunks_of(nnz, most));
    this->length = chunks_of(least, length) * length;
    pieces = this->length / least;
    size = chunks_of(this->length, pieces);
  }

  Position count(Position nnz) const { return chunks_of(nnz, length) * pieces; }
  KOKKOS_INLINE_FUNCTION Position begin(Position chunk) const {
    return chunk / pieces * length + chunk % pieces * size;
  }
  KOKKOS_INLINE_FUNCTION Position end(Position chunk, Position nnz) const {
    Position const part = (chunk / pieces + 1) * length, stop = part < nnz ? part : nnz;
    return begin(chunk) + size < stop ? begin(chunk) + size : stop;
  }
};

/// A Tucker model of a COO tensor's nonzeros, chunk by chunk: m_p is the core contracted with one
/// factor row after another, in the order of `modes`:
///   P_0 = G,  P_{l+1}(rest) = sum_j A(i, j) P_l(j, rest)
/// What the nonzero before has computed of the same indices is taken over.
template <class Scalar, class Index, class MemorySpace>
struct TuckerModel {
  CooNonzeros<Scalar, Index, MemorySpace, any_number> nonzeros;  // its modes in order of levels
  Kokkos::Array<std::uint64_t, max_order + 1> sizes;             // of P_0 to P_N
  double const* core;                                            // P_0
  double* partial;                                               // P_1 to P_N, of each chunk
  TuckerChunks chunks;
  std::uint64_t partial_size;

  /// Calls use(p, m_p) for the nonzeros of a chunk, in order.
  template <class Use>
  KOKKOS_INLINE_FUNCTION void for_values(Position chunk, Use const& use) const {
    Position const begin = chunks.begin(chunk), end = chunks.end(chunk, nonzeros.size());
    for (Position p = begin; p < end; ++p) {
      double const* from = core;
      double* to = partial + chunk * partial_size;
      bool is_known = p > begin;
      for (int l = 0; l < nonzeros.others; ++l) {
        auto const& index = nonzeros.indices[l];
        is_known = is_known && index(p) == index(p - 1);
        if (!is_known) contract(l, nonzeros.factor_row(p, l), from, to);
        from = to;
        to += sizes[l + 1];
      }
      use(p, *from);
    }
  }

  KOKKOS_INLINE_FUNCTION void contract(int l, Scalar const* row, double const* from,
                                       double* to) const {
    std::uint64_t const rest = sizes[l + 1], rank = sizes[l] / rest;
    for (std::uint64_t e = 0; e < rest; ++e) to[e] = 0;
    for (std::uint64_t j = 0; j < rank; ++j) {
      double const factor = static_cast<double>(row[j]);
#pragma omp simd
      for (std::uint64_t e = 0; e < rest; ++e) to[e] += factor * from[j * rest + e];
    }
  }
};

/// The core of these ranks (see TuckerTensor) with its indices in this order of modes, the first
/// one slowest.
inline std::vector<double> core_in_order(std::vector<double> const& core,
                                         std::vector<int> const& ranks,
                                         std::vector<int> const& modes) {
  std::vector<std::size_t> stride(ranks.size(), 1);  // in the result
  for (std::size_t l = modes.size() - 1; l > 0; --l)
    stride[modes[l - 1]] = stride[modes[l]] * static_cast<std::size_t>(ranks[modes[l]]);
  std::vector<double> result(core.size());
  for (std::size_t g = 0; g < core.size(); ++g) {
    std::size_t rest = g, place = 0;
    for (std::size_t n = 0; n < ranks.size(); ++n) {
      auto const rank = static_cast<std::size_t>(ranks[n]);
      place += rest % rank * stride[n];
      rest /= rank;
    }
    result[place] = core[g];
  }
  return result;
}

/// Numbers of the partial products P_1 to P_N: that of P_N is 1.
inline std::uint64_t tucker_partial_size(std::vector<int> const& ranks,
                                         std::vector<int> const& modes) {
  std::uint64_t size = 1, sum = 0;
  for (auto m = modes.rbegin(); m != modes.rend(); ++m) {
    sum += size;
    size *= static_cast<std::uint64_t>(ranks[static_cast<std::size_t>(*m)]);
  }
  return sum;
}

/// The model of nnz nonzeros, without the nonzeros and the memory of P_1 to P_N. G: the core in the
/// order of `modes`, where the kernels run. length: a part of the nonzeros is a multiple of it.
template <class Scalar, class Index, class MemorySpace, class Core>
TuckerModel<Scalar, Index, MemorySpace> tucker_model(Core const& G, std::vector<int> const& ranks,
                                                     std::vector<int> const& modes, Position nnz,
                                                     Position length) {
  std::uint64_t const partial_size = tucker_partial_size(ranks, modes);
  TuckerModel<Scalar, Index, MemorySpace> model{
      {}, {}, G.data(), nullptr, TuckerChunks(nnz, length, partial_size), partial_size};
  model.sizes[0] = G.extent(0);
  for (std::size_t l = 0; l < modes.size(); ++l)
    model.sizes[l + 1] = model.sizes[l] / static_cast<std::uint64_t>(ranks[modes[l]]);
  return model;
}

}  // namespace sporades::detail
