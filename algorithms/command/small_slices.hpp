// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/formats/coo_tensor.hpp>

namespace sporades::command {

/// What is left of a tensor, with its indices in the tensor before: indices[n][new].
template <class Tensor>
struct KeptSlices {
  Tensor tensor;
  std::vector<std::vector<std::uint64_t>> indices;
};

/// X without slices of fewer than `least` nonzeros, in any mode. A slice that loses nonzeros with
/// another may then be too small, too; this goes on until all that are left are large enough.
/// Indices of those that are left close up. N nnz comparisons a round, on the host; sorts the
/// indices of each mode once.
template <class Scalar, class Index>
KeptSlices<CooTensor<Scalar, Index>> without_small_slices(CooTensor<Scalar, Index> const& X,
                                                          std::uint64_t least) {
  auto const N = X.dims.size();
  Position const nnz = X.nnz();
  std::vector<std::vector<std::uint64_t>> used(N), counts(N);  // indices that occur; nonzeros left
  std::vector<std::vector<Index>> local(N);                    // of each nonzero, among those
  for (std::size_t n = 0; n < N; ++n) {
    auto const* const indices = X.indices(static_cast<int>(n));
    used[n].assign(indices, indices + nnz);
    std::sort(used[n].begin(), used[n].end());
    used[n].erase(std::unique(used[n].begin(), used[n].end()), used[n].end());
    used[n].shrink_to_fit();
    counts[n].resize(used[n].size());
    local[n].resize(nnz);
    for (Position p = 0; p < nnz; ++p) {
      auto const place = std::lower_bound(used[n].begin(), used[n].end(), indices[p]);
      local[n][p] = static_cast<Index>(place - used[n].begin());
      ++counts[n][local[n][p]];
    }
  }
  std::vector<bool> is_kept(nnz, true);
  Position kept = nnz;
  for (Position before = nnz + 1; kept < before;) {
    before = kept;
    auto const last = counts;
    for (Position p = 0; p < nnz; ++p) {
      if (!is_kept[p]) continue;
      for (std::size_t n = 0; n < N; ++n)
        if (last[n][local[n][p]] < least) is_kept[p] = false;
      if (is_kept[p]) continue;
      for (std::size_t n = 0; n < N; ++n) --counts[n][local[n][p]];
      --kept;
    }
  }

  KeptSlices<CooTensor<Scalar, Index>> result;
  result.indices.resize(N);
  Dims dims;
  for (std::size_t n = 0; n < N; ++n) {
    for (std::size_t k = 0; k < used[n].size(); ++k) {
      if (counts[n][k] == 0) continue;
      counts[n][k] = result.indices[n].size();  // from here on: the new index
      result.indices[n].push_back(used[n][k]);
    }
    dims.push_back(result.indices[n].size());
  }
  Kokkos::DefaultHostExecutionSpace const exec{};
  result.tensor = sporades::detail::allocate_coo<Scalar, Index>(exec, dims, kept);
  exec.fence();
  Position next = 0;
  for (Position p = 0; p < nnz; ++p) {
    if (!is_kept[p]) continue;
    for (std::size_t n = 0; n < N; ++n)
      result.tensor.coordinates(n, next) = static_cast<Index>(counts[n][local[n][p]]);
    result.tensor.values(next++) = X.values(p);
  }
  result.tensor.sorted_modes = X.sorted_modes;
  return result;
}

}  // namespace sporades::command
