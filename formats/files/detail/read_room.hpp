// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/detail/out_of_core_coo.hpp>
#include <sporades/formats/files/tns_file.hpp>

namespace sporades::detail {

/// Whether so many nonzeros take more than options.memory while they are read and their duplicates
/// summed: twice themselves, and the words of a sort.
template <class Scalar, class Index>
bool exceeds_memory(ReadOptions const& options, std::size_t order, Position nnz) {
  double const one = static_cast<double>(order * sizeof(Index) + sizeof(Scalar));
  return options.memory > 0 &&
         static_cast<double>(nnz) * (2 * one + 16) > static_cast<double>(options.memory);
}

/// Room for nonzeros of the reader, in out-of-core memory of the host where they exceed
/// options.memory.
template <class Scalar, class Index>
OutOfCoreTensor<CooTensor<Scalar, Index>> room_for(ReadOptions const& options, Dims const& dims,
                                                   Position nnz) {
  Kokkos::DefaultHostExecutionSpace const exec{};
  if (exceeds_memory<Scalar, Index>(options, dims.size(), nnz))
    return allocate_out_of_core_coo<CooTensor<Scalar, Index>>(exec, dims, nnz);
  return {allocate_coo<Scalar, Index>(exec, dims, nnz), {}};
}

}  // namespace sporades::detail
