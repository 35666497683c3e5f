// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <limits>
#include <sporades/core/matrix.hpp>
#include <sporades/kernels/spttm.hpp>

#include "vendor_spmm.hpp"

namespace sporades::perf {

/// A tensor unfolded on one mode, as vendors' libraries want a matrix in compressed sparse rows: a
/// row a fiber, offsets and columns signed and of one width. One of the two is the tensor's own
/// array, the other is made: offsets of 32 bits, or columns of 64.
template <class Scalar, class MemorySpace>
struct UnfoldedMatrix {
  HierarchicalTensor<Scalar, std::uint32_t, MemorySpace> tensor;
  bool is_wide = false;                             // both have 64 bits
  Kokkos::View<std::int32_t*, MemorySpace> begin;   // fibers + 1, or none
  Kokkos::View<std::int64_t*, MemorySpace> column;  // nonzeros, or none

  /// Of the matrix.
  std::uint64_t storage_bytes() const {
    std::uint64_t const width = is_wide ? 8 : 4;
    return (tensor.fibers.count() + 1 + tensor.nnz()) * width + tensor.nnz() * sizeof(Scalar);
  }

  /// V = X_(n) U. U: I_n x R, V: a row a fiber.
  template <class Input, class Output>
  SpmmProblem problem(Input const& U, Output const& V) const {
    SpmmProblem p{};
    p.rows = static_cast<std::int64_t>(tensor.fibers.count());
    p.columns = static_cast<std::int64_t>(tensor.dims[tensor.mode()]);
    p.entries = static_cast<std::int64_t>(tensor.nnz());
    p.R = static_cast<std::int64_t>(V.extent(1));
    p.begin = is_wide ? static_cast<void*>(tensor.fibers.begin.data()) : begin.data();
    p.index = is_wide ? static_cast<void*>(column.data()) : tensor.fibers.index.data();
    p.values = tensor.values.data();
    p.B = const_cast<Scalar*>(U.data());
    p.C = V.data();
    p.B_stride = static_cast<std::int64_t>(std::max(U.stride(0), U.extent(1)));
    p.C_stride = static_cast<std::int64_t>(std::max(V.stride(0), V.extent(1)));
    p.is_wide = is_wide;
    p.is_double = sizeof(Scalar) == 8;
    return p;
  }
};

/// A copy in another type.
template <class From, class To>
struct CopyNumbers {
  From from;
  To to;
  KOKKOS_FUNCTION void operator()(Position k) const {
    to(k) = static_cast<typename To::value_type>(from(k));
  }
};

/// Offsets and columns have 32 bits where these hold both, unless `wide` asks for 64. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
UnfoldedMatrix<Scalar, MemorySpace> make_unfolded_matrix(
    ExecutionSpace const& exec,
    HierarchicalTensor<Scalar, std::uint32_t, MemorySpace> const& tensor, bool wide = false) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());
  UnfoldedMatrix<Scalar, MemorySpace> rows;
  rows.tensor = tensor;
  rows.is_wide = wide || tensor.nnz() > most || tensor.dims[tensor.mode()] > most;
  auto const copy = [&](auto const& from, auto& to) {
    using To = std::decay_t<decltype(to)>;
    to =
        To(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "sporades::perf::unfolded_matrix"),
           from.extent(0));
    Kokkos::parallel_for("sporades::perf::unfolded_matrix",
                         sporades::detail::Range<ExecutionSpace>(exec, 0, from.extent(0)),
                         CopyNumbers<std::decay_t<decltype(from)>, To>{from, to});
  };
  if (rows.is_wide)
    copy(tensor.fibers.index, rows.column);
  else
    copy(tensor.fibers.begin, rows.begin);
  exec.fence();
  return rows;
}

/// The first wrong entry of a product by rows, as f R + r; else what a minimum begins with.
template <class Tensor, class MatrixType>
struct WrongEntry {
  decltype(Tensor{}.fibers.begin) begin;
  decltype(Tensor{}.fibers.index) index;
  decltype(Tensor{}.values) values;
  MatrixType U, product, expected;

  KOKKOS_FUNCTION void operator()(Position at, Position& first) const {
    Position const R = expected.extent(1), f = at / R, r = at % R;
    double magnitude = 0;
    for (Position p = begin(f); p < begin(f + 1); ++p) {
      double const term = static_cast<double>(values(p)) * static_cast<double>(U(index(p), r));
      magnitude += term < 0 ? -term : term;
    }
    // Each of the two rounds once a term and once a sum.
    double const unit = sizeof(values(0)) == 4 ? 1.2e-7 : 2.3e-16;
    double const bound = 2 * unit * static_cast<double>(begin(f + 1) - begin(f) + 2) * magnitude;
    double const apart = static_cast<double>(product(f, r)) - static_cast<double>(expected(f, r));
    if (!(apart <= bound && -apart <= bound) && at < first) first = at;  // so is what is no number
  }
};

/// Throws Error unless V = X_(n) U is `expected`, the library's, except for roundings. Fences exec.
template <class ExecutionSpace, class Tensor, class MatrixType>
void check_spmm(ExecutionSpace const& exec, Tensor const& X, MatrixType const& U,
                MatrixType const& V, MatrixType const& expected) {
  Position first = 0;
  Position const R = V.extent(1), entries = V.extent(0) * R;
  Kokkos::parallel_reduce(
      "sporades::perf::check_spmm", sporades::detail::Range<ExecutionSpace>(exec, 0, entries),
      WrongEntry<Tensor, MatrixType>{X.fibers.begin, X.fibers.index, X.values, U, V, expected},
      Kokkos::Min<Position>(first));
  exec.fence();
  if (first >= entries) return;
  typename Tensor::Scalar wrong{}, right{};
  Kokkos::deep_copy(wrong, Kokkos::subview(V, first / R, first % R));
  Kokkos::deep_copy(right, Kokkos::subview(expected, first / R, first % R));
  fail("SpMM of the vendor's library gives ", wrong, " for fiber ", first / R, ", column ",
       first % R, " of mode ", X.mode(), ", the library ", right);
}

/// Y = X x_n U by the library of the GPU's vendor.
template <class Scalar, class MemorySpace>
struct UnfoldedProduct {
  UnfoldedMatrix<Scalar, MemorySpace> rows;
  VendorSpmm spmm;

  /// Multiplies once. Throws Error unless the product is the library's by `lanes`.
  template <class ExecutionSpace, class Tensor, class Input, class Output>
  UnfoldedProduct(ExecutionSpace const& exec, Tensor const& X, Input const& U, Output const& Y,
                  bool wide = false)
      : rows(make_unfolded_matrix(exec, X, wide)), spmm(rows.problem(U, Y.values)) {
    auto const expected = make_spttm_output(exec, X, U.extent(1));
    spttm(exec, X, U, expected, SpttmStrategy::lanes);
    Kokkos::deep_copy(exec, Y.values, std::numeric_limits<Scalar>::quiet_NaN());
    exec.fence();
    spmm.multiply();
    Kokkos::fence();
    check_spmm(exec, X, U, Y.values, expected.values);
  }
};

}  // namespace sporades::perf
