// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/flycoo_tensor.hpp>
#include <sporades/kernels/detail/value_lists.hpp>

/// Values in the records of a FlycooTensor, for plans whose values are updated.

namespace sporades::detail {

template <class Scalar, class MemorySpace>
struct RecordValues {
  using Unit = FlycooUnit<MemorySpace>;

  Unit* records;
  int units;  // of a record

  KOKKOS_FUNCTION Scalar operator()(Position p) const {
    return record_value<Scalar>(records + p * units);
  }
  KOKKOS_FUNCTION void operator()(Position p, Scalar value) const {
    BitsOf<Scalar> bits;
    memcpy(&bits, &value, sizeof bits);
    Unit* const record = records + p * units;
    for (int k = 0; k < static_cast<int>(sizeof(Scalar) / sizeof(Unit)); ++k)
      record[k] = static_cast<Unit>(bits >> (k * unit_bits<Unit>));
  }
};

template <class Scalar, class Index, class MemorySpace>
RecordValues<Scalar, MemorySpace> record_values(FlycooTensor<Scalar, Index, MemorySpace> const& X) {
  return {X.records.data(), X.layout.units};
}

/// Gives the nonzeros, whose numbers are in the order of mode 0, these values. X is in that order
/// afterwards. Enqueued on exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void put_record_values(ExecutionSpace const& exec, FlycooTensor<Scalar, Index, MemorySpace>& X,
                       NonzeroNumbers<MemorySpace> const& numbers,
                       Vector<Scalar, MemorySpace> const& given) {
  while (X.mode != 0) remap(exec, X);
  put_values(exec, record_values(X), X.nnz(), numbers, given);
}

}  // namespace sporades::detail
