// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// First the front door, which includes this file where it belongs: hence a guard.
#include <sporades/kernels/mttkrp.hpp>

#ifndef SPORADES_KERNELS_MTTKRP_SORTED_MEMORY
#define SPORADES_KERNELS_MTTKRP_SORTED_MEMORY

#include <functional>
#include <sporades/formats/alto_tensor.hpp>
#include <sporades/formats/packed_tensor.hpp>
#include <sporades/kernels/detail/processes/slices.hpp>

/// What sorted copies of the nonzeros, one a mode, hold.

namespace sporades::detail {

/// Non-empty slices of mode n, or more.
using RowsOf = std::function<double(int)>;

/// The tensor of a plan whose memory is counted.
struct CountedTensor : CooShape {
  bool is_last = false;  // X alone holds its nonzeros
  RowsOf rows_of;
};

/// The lists of make_mttkrp_plan for modes in the order of rows, those for which serves[n] is set:
/// packed, out of core if that is so, or as they are.
template <class ExecutionSpace>
void count_sorted_lists(ExecutionSpace const& exec, MemoryCount& count, CountedTensor const& X,
                        bool along_curve, bool is_out_of_core, std::vector<bool> const& serves) {
  CooShape base = X;
  bool is_new = true;
  if (along_curve) {
    auto const alto = alto_bytes(exec, X, X.is_last, 0);
    count.make(
        {X.bytes(), std::max(alto.peak, alto.kept + X.bytes() - (X.is_last ? X.bytes() : 0))},
        X.is_last ? X.bytes() : 0);
    base.sorted_modes = {};
  } else {
    auto const modes = modes_by_length(X.dims);
    base = sorted_shape(X, modes);
    is_new = !is_sorted_by(X, modes);
    count.make(sorted_bytes(exec, X, modes), is_new && X.is_last ? X.bytes() : 0);
  }
  bool keeps_values = false, keeps_coordinates = false;  // of the base
  for (int n : order_of_lists(X.dims)) {
    if (!serves[static_cast<std::size_t>(n)]) continue;
    bool const fits = fits_packed(X.dims, n), is_base = is_sorted_by(base, {n});
    if (fits)
      count.make(sorted_packed_bytes(exec, base, {n}, X.rows_of(n)));
    else
      count.make(sorted_bytes(exec, base, {n}));
    if (fits && is_out_of_core)
      count.release(packed_word_bytes(X, n) + (is_base ? 0 : X.value_bytes()));
    keeps_values = keeps_values || (is_base && !is_out_of_core);
    keeps_coordinates = keeps_coordinates || (is_base && !fits);
  }
  if (!is_new && !X.is_last) return;
  if (!keeps_values) count.release(base.value_bytes());
  if (!keeps_coordinates) count.release(base.coordinate_bytes());
}

/// The lists of make_mttkrp_plan with slices of the mode `sliced`: see build_sliced.
template <class ExecutionSpace>
void count_sliced_lists(ExecutionSpace const& exec, MemoryCount& count, CountedTensor const& X,
                        int slices, int sliced) {
  auto const modes = mttkrp_mode_order(X.dims, sliced);
  bool const is_new = !is_sorted_by(X, modes);
  count.make(sorted_bytes(exec, X, modes), is_new && X.is_last ? X.bytes() : 0);
  CooShape named = sorted_shape(X, modes);  // shares the values
  bool const is_packed = fits_packed(X.dims, sliced);
  if (is_packed) count.make(sorted_packed_bytes(exec, named, {sliced}, X.rows_of(sliced)));
  named.dims.push_back(static_cast<std::uint64_t>(slices));
  named.sorted_modes = {};
  count.hold(named.coordinate_bytes());
  if (is_packed && (is_new || X.is_last)) count.release(X.coordinate_bytes());
  for (int n = 0; n < X.order(); ++n) {
    if (n == sliced) continue;
    auto const mode = static_cast<std::size_t>(n);
    double const parts = std::min(X.nnz, slices * X.rows_of(n));
    double const lists = 9 * parts + 8 * static_cast<double>(X.dims[mode]) + 8;
    CooShape in_parts = X;
    in_parts.dims[mode] = static_cast<std::uint64_t>(parts);
    in_parts.sorted_modes = mttkrp_mode_order(X.dims, n);
    auto const list = sorted_bytes(exec, named, sliced_order(X.dims, n));
    bool const fits = fits_packed(X.dims, n);
    auto const made =
        fits ? sorted_packed_bytes(exec, in_parts, {n}, parts) : MadeBytes{X.coordinate_bytes(), 0};
    double const numbering =
        8 * X.nnz + 12 * parts + sort_bytes(exec, static_cast<Position>(parts)).peak;
    count.make({made.kept + lists + X.value_bytes(),
                std::max(list.peak, list.kept + X.coordinate_bytes() + lists +
                                        std::max(numbering, made.peak))});
  }
  count.release(named.coordinate_bytes());
}

}  // namespace sporades::detail

#endif
