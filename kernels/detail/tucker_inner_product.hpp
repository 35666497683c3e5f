// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/detail/sort_across.hpp>
#include <sporades/kernels/detail/coo_windows.hpp>
#include <sporades/kernels/detail/tucker_model.hpp>

namespace sporades::detail {

/// sums(c) = sum of x_p m_p over the nonzeros of chunk c.
template <class Scalar, class Index, class MemorySpace>
struct TuckerInnerProduct {
  TuckerModel<Scalar, Index, MemorySpace> model;
  double* sums;  // of each chunk

  KOKKOS_FUNCTION void operator()(Position chunk) const {
    double sum = 0;
    model.for_values(chunk, [&](Position p, double m) {
      sum += static_cast<double>(model.nonzeros.values(p)) * m;
    });
    sums[chunk] = sum;
  }
};

/// <X, M> of the Tucker tensor M with these factors and core (on the host, as TuckerTensor has it).
/// X: I_0 x ... x I_{N-1}, or those of its nonzeros that are here, in whole parts (TuckerChunks of
/// `length`); A[n]: I_n x R_n, or the rows that X's indices are of. In double, and in an order
/// given by the nonzeros alone: the same bits on every run and number of threads and processes.
/// Nonzeros that agree in the first ones of `modes`, a permutation of the modes, and follow one
/// another share what they can: X is best sorted so. windows: of an X in out-of-core memory.
/// Collective where there are several processes. Fences exec.
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
  auto const model = tucker_model<Scalar, Index, MemorySpace>(G, ranks, modes, nnz, length);
  auto const& chunks = model.chunks;
  std::vector<std::size_t> bounds;  // chunks before each process's
  for (auto place : places) bounds.push_back(chunks.count(place));
  using Numbers = Kokkos::View<double*, MemorySpace>;
  auto const partial = uninitialized<Numbers>(exec, "sporades::tucker::partial",
                                              chunks.count(X.nnz()) * model.partial_size);
  auto const sums = uninitialized<Numbers>(exec, "sporades::tucker::sums", bounds.back());
  double* const here = sums.data() + bounds[static_cast<std::size_t>(all.processes.rank())];
  if (X.nnz() > 0)
    for_coo_parts(exec, X, windows, chunks.length,
                  [&](auto const& instance, auto const& part, Position first) {
                    Position const chunk = chunks.count(first);
                    TuckerInnerProduct<Scalar, Index, MemorySpace> terms{model, here + chunk};
                    terms.model.nonzeros = coo_nonzeros<any_number>(part, A, modes);
                    terms.model.partial = partial.data() + chunk * model.partial_size;
                    launch_items(instance, "sporades::tucker::inner_product",
                                 chunks.count(part.nnz()), terms);
                  });
  all_gather_parts(exec, all.processes, "sums of values", sums.data(), bounds);
  auto const host = Kokkos::create_mirror_view(sums);
  copy_view(exec, host, sums);
  fence(exec, "sporades::tucker::inner_product");
  double total = 0;
  for (std::size_t c = 0; c < bounds.back(); ++c) total += host(c);
  return total;
}

}  // namespace sporades::detail
