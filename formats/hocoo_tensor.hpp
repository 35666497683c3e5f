// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/coo_tensor.hpp>
#include <sporades/formats/detail/storage_words.hpp>

namespace sporades {

/// High-order COO (Yang, Li & Li, TKDD 2019, section 5.1): coordinate format for products on mode
/// n. The nonzeros are sorted by modes n + 1, ..., N - 1, 0, ..., n - 1, slowest first, and then by
/// n, so that each mode-n fiber is a run of nonzeros.
template <class ScalarType, class IndexType = std::uint32_t,
          class MemorySpaceType = Kokkos::HostSpace>
struct HocooTensor {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  CooTensor<Scalar, Index, MemorySpace> tensor;  // sorted_modes lists all modes, n last

  int order() const { return tensor.order(); }
  int mode() const { return tensor.sorted_modes.back(); }
  Position nnz() const { return tensor.nnz(); }

  /// (N + 1) nnz
  std::uint64_t storage_words() const { return detail::hocoo_words(order(), nnz()); }
  std::uint64_t storage_bytes() const { return tensor.storage_bytes(); }
};

/// X for products on mode n. X may be in any order; its Views are shared if X.sorted_modes shows
/// that it has this one. Nonzeros of equal coordinates stay separate, in X's order. X's indices are
/// trusted; check_coordinates checks them. Enqueued on exec, does not fence.
/// Throws Error unless n is in [0, N).
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
HocooTensor<Scalar, Index, MemorySpace> make_hocoo(ExecutionSpace const& exec,
                                                   CooTensor<Scalar, Index, MemorySpace> const& X,
                                                   int n);

/// The nonzeros in coordinate format, fiber by fiber. Exact. Shares the Views: nothing is enqueued.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             HocooTensor<Scalar, Index, MemorySpace> const& X);

}  // namespace sporades

#include <sporades/formats/detail/hocoo_tensor.hpp>
