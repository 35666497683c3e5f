// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <sporades/formats/coo_tensor.hpp>
#include <support/measure.hpp>

namespace sporades::perf {

/// The tensor that a name of Settings::tensors stands for, on the host: a name of generate_like,
/// with :NNZ or without; uniform:NNZ or hub:NNZ (half of the nonzeros in one row); DIMS:NNZ:SKEW,
/// as 30x40x5000:100000:0.6; a file. Kept until the next one is asked for.
template <class Scalar>
CooTensor<Scalar> const& tensor(std::string const& name);

/// Its order. Generates it the first time only, and tells the results its dims and nonzeros.
template <class Scalar>
int order_of(std::string const& name);

/// X with the magnitudes of its values rounded up: counts.
template <class Tensor>
Tensor counts_of(Tensor X) {
  auto const values = X.values;
  X.values = decltype(X.values)("sporades::perf::counts", X.nnz());
  for (Position p = 0; p < X.nnz(); ++p) X.values(p) = std::ceil(std::abs(values(p)));
  return X;
}

/// The ranks of chains and HOOI: 8, and fewer past order 6, so that a row of a product has at most
/// 2^15 numbers; no more than a mode is long.
inline int chain_rank(int order) {
  return order <= 6 ? 8 : static_cast<int>(std::pow(32768.5, 1.0 / (order - 1)));
}
inline std::vector<int> chain_ranks(Dims const& dims) {
  std::vector<int> ranks;
  for (auto dim : dims)
    ranks.push_back(static_cast<int>(
        std::min(dim, static_cast<std::uint64_t>(chain_rank(static_cast<int>(dims.size()))))));
  return ranks;
}

/// "uber", "nell-2:20000000", or a file's name without its folders.
std::string short_name(std::string const& name);

}  // namespace sporades::perf
