// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/memory/sorting.hpp>
#include <sporades/kernels/mttkrp_all_modes.hpp>

/// What plans for MTTKRP hold: as algorithms/memory/sorting.hpp.

namespace sporades::detail {

/// The same for nonzeros in chunks of chunk_length.
template <class ExecutionSpace, class Scalar>
double carry_bytes_of(Position nnz, int columns, double index_bytes) {
  Position const length = chunk_length<ExecutionSpace>(nnz);
  MemoryCount count;
  CarryCount().reserve<Scalar>(count, chunks_of(nnz, length), static_cast<std::size_t>(columns),
                               index_bytes);
  return count.held();
}

/// The lists of make_mttkrp_plan for modes in the order of rows: packed, far if that is so, or as
/// they are. is_last: nobody else holds X.
template <class ExecutionSpace, class Rows>
void count_sorted_lists(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                        bool is_last, bool along_curve, bool is_far, std::vector<int> const& modes,
                        Rows const& rows_of) {
  bool is_new = true;
  CooShape base = X;
  if (along_curve) {
    double const before = count.held();
    count_alto(exec, count, X, 0);
    count.hold(X.bytes());
    count.hold_in_all(before + X.bytes());
    base.sorted_modes = {};
  } else {
    base = count_sorted(exec, count, X, modes_by_length(X.dims), is_new);
  }
  if (is_new && is_last) count.release(X.bytes());
  bool keeps_values = false, keeps_coordinates = false;  // of the base
  for (int n : modes) {
    bool is_list_new = false;
    auto const list = count_sorted(exec, count, base, {n}, is_list_new);
    bool const fits = fits_packed(X.dims, n);
    if (fits) {
      count_packed(count, list, n, rows_of(n));
      if (is_list_new) count.release(list.coordinate_bytes());
      if (is_far) count.release(packed_word_bytes(X, n) + (is_list_new ? list.value_bytes() : 0));
    }
    keeps_values = keeps_values || (!is_list_new && !is_far);
    keeps_coordinates = keeps_coordinates || (!is_list_new && !fits);
  }
  if (!is_new && !is_last) return;
  if (!keeps_values) count.release(base.value_bytes());
  if (!keeps_coordinates) count.release(base.coordinate_bytes());
}

/// Room for rounded factors, held.
template <class Scalar>
void count_rounded_rows(MemoryCount& count, Dims const& dims, MttkrpOptions const& options) {
  if (options.gather == GatherPrecision::full) return;
  auto const columns = rounded_stride(static_cast<std::size_t>(options.rank));
  for (auto dim : dims)
    with_rounded_type<Scalar>(options.gather, [&](auto number) {
      count.hold(static_cast<double>(dim) * static_cast<double>(columns * sizeof(number)));
    });
}

/// make_mttkrp_plan where all modes begin with the same choice, and `automatic` may change it. The
/// plan stays held; X, if is_last says that nobody else holds it, does where it is part of the
/// plan. rows_of(n): non-empty slices of mode n, or more. tuples: of X.
template <class Scalar, class ExecutionSpace, class Tuples, class Rows>
void count_mttkrp_plan(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                       bool is_last, MttkrpOptions const& options, MttkrpStrategy strategy,
                       Tuples& tuples, Rows const& rows_of) {
  int const N = X.order();
  bool const is_automatic = options.strategy == MttkrpStrategy::automatic;
  bool needs_carry = true;
  std::vector<int> all, unfit;
  double buffer_rows = 0;
  for (int n = 0; n < N; ++n) all.push_back(n);
  if (is_linear(strategy)) strategy = MttkrpStrategy::alto;
  switch (strategy) {
    case MttkrpStrategy::atomic:
    case MttkrpStrategy::duplicated:
      return;
    case MttkrpStrategy::permuted:
      for (int n = 0; n < N; ++n) {
        double const before = count.held(), words = 8 * X.nnz;
        bool is_new = false;
        std::vector<int> modes = all;
        std::swap(modes[0], modes[n]);
        std::sort(modes.begin() + 1, modes.end());
        count_sorted(exec, count, X, modes, is_new);
        count.hold_in_all(before + words);
      }
      break;
    case MttkrpStrategy::csf:
      for (int n = 0; n < N; ++n) count_csf(exec, count, X, mttkrp_mode_order(X.dims, n), tuples);
      if (is_last) count.release(X.bytes());
      break;
    case MttkrpStrategy::alto:
      needs_carry = false;
      for (int n = 0; n < N; ++n) {
        if (is_automatic && may_have_no_parts(X, n))
          unfit.push_back(n);
        else
          buffer_rows = std::max(buffer_rows, most_buffer_rows(X, n));
      }
      count_alto(exec, count, X, buffer_rows);
      count.hold(matrix_bytes<Scalar>(buffer_rows, options.rank));
      if (!is_gpu<ExecutionSpace>)
        for (auto dim : X.dims)
          count.hold(matrix_bytes<Scalar>(
              static_cast<double>(dim),
              static_cast<int>(copied_width<Scalar>(X.dims, X.count(), options.rank))));
      if (unfit.empty()) {
        if (is_last) count.release(X.bytes());
        break;
      }
      needs_carry = true;
      count_sorted_lists(exec, count, X, is_last, false, false, unfit, rows_of);
      break;
    case MttkrpStrategy::flycoo: {
      needs_carry = false;
      Position const partitions = options.flycoo.partitions > 0
                                      ? static_cast<Position>(options.flycoo.partitions)
                                      : default_partitions(exec, X.count());
      count_flycoo(exec, count, X, is_last, partitions);
      CarryCount().reserve<Scalar>(
          count, most_pieces(X.count(), partitions, piece_length<ExecutionSpace>(X.count())),
          static_cast<std::size_t>(options.rank), X.index_bytes);
      break;
    }
    default:
      std::uint64_t const memory = options.streaming.memory;
      double const lists = sorted_list_bytes(X.dims, X.count(), X.index_bytes, sizeof(Scalar));
      bool const is_far = memory > 0 && lists > static_cast<double>(memory);
      count_sorted_lists(exec, count, X, is_last, options.order == RowOrder::morton, is_far, all,
                         rows_of);
      if (is_far) count.hold(static_cast<double>(memory));  // at most: the windows
  }
  if (needs_carry && !options.atomic_flush)
    count.hold(carry_bytes_of<ExecutionSpace, Scalar>(X.count(), options.rank, X.index_bytes));
  count_rounded_rows<Scalar>(count, X.dims, options);
}

/// The strategy that build_mttkrp_plan begins with.
template <class ExecutionSpace>
MttkrpStrategy first_strategy(CooShape const& X, MttkrpOptions const& options,
                              TreeNode const* layouts) {
  if (options.strategy != MttkrpStrategy::automatic) return options.strategy;
  if (!chooses_layout(options)) return MttkrpStrategy::sorted;
  auto const choose = [&](auto scalar) {
    return automatic_layout<ExecutionSpace, decltype(scalar)>(X.dims, X.count(), options.rank,
                                                              layouts);
  };
  return (X.scalar_bytes == sizeof(float) ? choose(float{}) : choose(double{})).strategy;
}

}  // namespace sporades::detail
