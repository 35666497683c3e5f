// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/dense.hpp>
#include <sporades/formats/detail/sort_across.hpp>
#include <sporades/formats/tucker_tensor.hpp>
#include <sporades/kernels/detail/coo_windows.hpp>
#include <sporades/kernels/detail/nonzeros/coo.hpp>

namespace sporades::detail {

/// Chunks of the nonzeros of tucker_inner_product. Each lies within a part of `length` nonzeros, of
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

/// sums(c) = sum of x_p m_p over the nonzeros of chunk c, where m_p is the core contracted with one
/// factor row after another, in the order of `modes`:
///   P_0 = G,  P_{l+1}(rest) = sum_j A(i, j) P_l(j, rest)
/// What the nonzero before has computed of the same indices is taken over.
template <class Scalar, class Index, class MemorySpace>
struct TuckerInnerProduct {
  CooNonzeros<Scalar, Index, MemorySpace, any_number> nonzeros;  // its modes in order of levels
  Kokkos::Array<std::uint64_t, max_order + 1> sizes;             // of P_0 to P_N
  double const* core;                                            // P_0
  double* partial;                                               // P_1 to P_N, of each chunk
  double* sums;                                                  // of each chunk
  TuckerChunks chunks;
  std::uint64_t partial_size;

  KOKKOS_FUNCTION void operator()(Position item) const {
    Position const begin = chunks.begin(item), end = chunks.end(item, nonzeros.size());
    double sum = 0;
    for (Position p = begin; p < end; ++p) {
      double const* from = core;
      double* to = partial + item * partial_size;
      bool is_known = p > begin;
      for (int l = 0; l < nonzeros.others; ++l) {
        auto const& index = nonzeros.indices[l];
        is_known = is_known && index(p) == index(p - 1);
        if (!is_known) contract(l, nonzeros.factor_row(p, l), from, to);
        from = to;
        to += sizes[l + 1];
      }
      sum += static_cast<double>(nonzeros.values(p)) * *from;
    }
    sums[item] = sum;
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

/// The core (see TuckerTensor) with its indices in this order of modes, the first one slowest.
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

/// <X, M> of the Tucker tensor M with these factors and core (on the host, as TuckerTensor has it).
/// X: I_0 x ... x I_{N-1}, or those of its nonzeros that are here, in whole parts (TuckerChunks of
/// `length`); A[n]: I_n x R_n, or the rows that X's indices are of. In double, and in an order
/// given by the nonzeros alone: the same bits on every run and number of threads and processes.
/// Nonzeros that agree in the first ones of `modes`, a permutation of the modes, and follow one
/// another share what they can: X is best sorted so. windows: of an X in far memory. Collective
/// where there are several processes. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
double tucker_inner_product(ExecutionSpace const& exec,
                            CooTensor<Scalar, Index, MemorySpace> const& X,
                            Factors<Scalar, MemorySpace> const& A, std::vector<double> const& core,
                            std::vector<int> const& modes, Position length, NonzeroPlaces all = {},
                            Windows<MemorySpace>* windows = nullptr) {
  auto& places = all.places;
  if (places.empty()) places = {0, X.nnz()};
  Position const nnz = places.back();
  if (nnz == 0) return 0;
  std::vector<int> ranks;
  for (auto const& factor : A) ranks.push_back(static_cast<int>(factor.extent(1)));
  auto const G = to_view(exec, "sporades::tucker::core", core_in_order(core, ranks, modes));
  std::uint64_t const partial_size = tucker_partial_size(ranks, modes);
  TuckerChunks const chunks(nnz, length, partial_size);
  std::vector<std::size_t> bounds;  // chunks before each process's
  for (auto place : places) bounds.push_back(chunks.count(place));
  TuckerInnerProduct<Scalar, Index, MemorySpace> kernel{{},      {},     G.data(),    nullptr,
                                                        nullptr, chunks, partial_size};
  kernel.sizes[0] = core.size();
  for (int l = 0; l < X.order(); ++l)
    kernel.sizes[l + 1] = kernel.sizes[l] / static_cast<std::uint64_t>(ranks[modes[l]]);
  using Numbers = Kokkos::View<double*, MemorySpace>;
  auto const partial = uninitialized<Numbers>(exec, "sporades::tucker::partial",
                                              chunks.count(X.nnz()) * partial_size);
  auto const sums = uninitialized<Numbers>(exec, "sporades::tucker::sums", bounds.back());
  double* const here = sums.data() + bounds[static_cast<std::size_t>(all.processes.rank())];
  if (X.nnz() > 0)
    for_coo_parts(exec, X, windows, chunks.length,
                  [&](auto const& instance, auto const& part, Position first) {
                    Position const chunk = chunks.count(first);
                    auto terms = kernel;
                    terms.nonzeros = coo_nonzeros<any_number>(part, A, modes);
                    terms.partial = partial.data() + chunk * partial_size;
                    terms.sums = here + chunk;
                    launch_items(instance, "sporades::tucker::inner_product",
                                 chunks.count(part.nnz()), terms);
                  });
  if constexpr (has_mpi)
    if (all.processes.size() > 1)
      all_gather_parts(exec, all.processes, "sums of values", sums.data(), bounds);
  auto const host = Kokkos::create_mirror_view(sums);
  copy_view(exec, host, sums);
  fence(exec, "sporades::tucker::inner_product");
  double total = 0;
  for (std::size_t c = 0; c < bounds.back(); ++c) total += host(c);
  return total;
}

}  // namespace sporades::detail
