// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <atomic>
#include <cmath>
#include <numeric>
#include <sporades/core/detail/host_blocks.hpp>
#include <sporades/formats/detail/sort_across.hpp>
#include <sporades/formats/detail/sort_parts.hpp>
#include <sporades/formats/files/detail/nonzero_order.hpp>

namespace sporades::detail {

namespace {

constexpr std::uint64_t block_size = std::uint64_t{1} << 16;

/// -1, 0 or 1 as nonzero p is before, equal to or after nonzero p + 1.
template <class Index>
int compare_with_next(std::vector<Index const*> const& indices, Position p) {
  for (auto const* mode : indices)
    if (mode[p] != mode[p + 1]) return mode[p] < mode[p + 1] ? -1 : 1;
  return 0;
}

template <class Scalar>
void check_finite(Vector<Scalar, Kokkos::HostSpace> const& values, std::string const& name,
                  int threads) {
  for_each_range(threads, values.extent(0), block_size,
                 [&](std::uint64_t begin, std::uint64_t end) {
                   for (auto p = begin; p < end; ++p)
                     expects(std::isfinite(values(p)), name,
                             ": values of the same coordinates add to more than the type holds");
                 });
}

template <class Scalar, class Index>
Position sum_in_place(CooTensor<Scalar, Index>& X, OutOfCoreMemory& out_of_core,
                      std::string const& name, ReadOptions const& options) {
  int const threads = options.threads;
  if (X.sorted_modes.empty()) {
    std::vector<int> modes(X.dims.size());
    std::iota(modes.begin(), modes.end(), 0);
    if (nonzero_order(X, modes, threads) != NonzeroOrder::none) X.sorted_modes = modes;
  }
  if (X.sorted_modes.size() == X.dims.size() &&
      nonzero_order(X, X.sorted_modes, threads) == NonzeroOrder::strictly_ascending)
    return 0;
  auto const summed =
      summed_by_parts(Kokkos::DefaultHostExecutionSpace(), X, out_of_core ? options.memory : 0);
  Position const merged = X.nnz() - summed.tensor.nnz();
  X = summed.tensor;
  if (summed.memory) out_of_core = summed.memory;
  if (merged > 0) check_finite<Scalar>(X.values, name, threads);
  return merged;
}

template <class Scalar, class Index>
Position sum_across(Communicator const& processes, CooTensor<Scalar, Index>& X,
                    std::string const& name, ReadOptions const& options) {
  Position const before = exclusive_scan_of_all(processes, X.nnz()).back();
  X = summed_across(processes, Kokkos::DefaultHostExecutionSpace(), hand_over(X));
  Position const merged = before - exclusive_scan_of_all(processes, X.nnz()).back();
  if (merged > 0) check_finite<Scalar>(X.values, name, options.threads);
  return merged;
}

}  // namespace

template <class Scalar, class Index>
NonzeroOrder nonzero_order(CooTensor<Scalar, Index> const& X, std::vector<int> const& modes,
                           int threads) {
  std::vector<Index const*> indices;
  for (int mode : modes) indices.push_back(X.indices(mode));
  std::atomic<bool> descends{false}, repeats{false};
  for_each_range(threads, X.nnz() < 2 ? 0 : X.nnz() - 1, block_size,
                 [&](std::uint64_t begin, std::uint64_t end) {
                   if (descends) return;
                   for (auto p = begin; p < end; ++p) {
                     int const order = compare_with_next(indices, p);
                     if (order == 0) repeats = true;
                     if (order > 0) return void(descends = true);
                   }
                 });
  if (descends) return NonzeroOrder::none;
  return repeats ? NonzeroOrder::ascending : NonzeroOrder::strictly_ascending;
}

template <class Scalar>
void handle_duplicates(Communicator const& processes, ReadResult<Scalar>& result,
                       std::string const& name, ReadOptions const& options) {
  if (options.duplicates == Duplicates::keep) return;
  result.duplicates = std::visit(
      [&](auto& X) {
        if (processes.size() > 1) return sum_across(processes, X, name, options);
        return sum_in_place(X, result.out_of_core, name, options);
      },
      result.tensor);
  if (result.duplicates > 0)
    result.notes.push_back(std::to_string(result.duplicates) +
                           " nonzeros were added to others of the same coordinates");
}

template NonzeroOrder nonzero_order(CooTensor<float, std::uint32_t> const&, std::vector<int> const&,
                                    int);
template NonzeroOrder nonzero_order(CooTensor<float, std::uint64_t> const&, std::vector<int> const&,
                                    int);
template NonzeroOrder nonzero_order(CooTensor<double, std::uint32_t> const&,
                                    std::vector<int> const&, int);
template NonzeroOrder nonzero_order(CooTensor<double, std::uint64_t> const&,
                                    std::vector<int> const&, int);
template void handle_duplicates(Communicator const&, ReadResult<float>&, std::string const&,
                                ReadOptions const&);
template void handle_duplicates(Communicator const&, ReadResult<double>&, std::string const&,
                                ReadOptions const&);

}  // namespace sporades::detail
