// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/coo_tensor.hpp>
#include <vector>

namespace sporades::detail {

/// What there is to know of a COO tensor's memory. Beside each make_... of a format is a ..._bytes
/// of its shape: never less than it takes, and at most 1.3 times that but for linear orders.
struct CooShape {
  Dims dims;
  double nnz = 0;
  std::vector<int> sorted_modes;
  double scalar_bytes = 0, index_bytes = 0;
  bool is_kept = false;  // by who gives it, so that who is given it frees nothing

  int order() const { return static_cast<int>(dims.size()); }
  Position count() const { return static_cast<Position>(nnz); }
  double coordinate_bytes() const { return nnz * index_bytes * static_cast<double>(dims.size()); }
  double value_bytes() const { return nnz * scalar_bytes; }
  double bytes() const { return coordinate_bytes() + value_bytes(); }
  /// That are freed where it is no longer needed.
  double freed() const { return is_kept ? 0 : bytes(); }

  /// Of as many nonzeros with other indices, in no order.
  CooShape with_dims(Dims const& others) const {
    return {others, nnz, {}, scalar_bytes, index_bytes};
  }
  /// In no order: formats share nothing with it.
  CooShape unordered() const { return with_dims(dims); }
};

/// Of nonzeros in any order.
template <class Scalar, class Index>
CooShape shape_of(Dims const& dims, Position nnz) {
  return {dims, static_cast<double>(nnz), {}, double{sizeof(Scalar)}, double{sizeof(Index)}};
}

template <class Scalar, class Index, class MemorySpace>
CooShape shape_of(CooTensor<Scalar, Index, MemorySpace> const& X) {
  auto shape = shape_of<Scalar, Index>(X.dims, X.nnz());
  shape.sorted_modes = X.sorted_modes;
  return shape;
}

}  // namespace sporades::detail
