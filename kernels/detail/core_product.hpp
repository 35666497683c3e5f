// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <vector>

namespace sporades::detail {

/// The core of a TuckerTensor, on the host, times a matrix in the mode whose index has this stride
/// and R values: result(.., to, ..) = sum over `from` of S[to * R + from] core(.., from, ..).
/// S: rows x R.
inline std::vector<double> core_product(std::vector<double> const& core,
                                        std::vector<double> const& S, std::size_t stride,
                                        std::size_t R) {
  if (R == 0) return {};
  std::size_t const rows = S.size() / R, blocks = core.size() / (stride * R);
  std::vector<double> result(blocks * stride * rows);
  for (std::size_t block = 0; block < blocks; ++block)
    for (std::size_t to = 0; to < rows; ++to)
      for (std::size_t from = 0; from < R; ++from)
        for (std::size_t e = 0; e < stride; ++e)
          result[(block * rows + to) * stride + e] +=
              S[to * R + from] * core[(block * R + from) * stride + e];
  return result;
}

}  // namespace sporades::detail
