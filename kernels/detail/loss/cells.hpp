// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/tile.hpp>
#include <sporades/kernels/detail/loss/lanes.hpp>

namespace sporades::detail {

/// A factor as functors hold many of them.
template <class Scalar>
struct SmallFactor {
  Scalar const* entries;
  std::size_t stride;

  KOKKOS_FORCEINLINE_FUNCTION double operator()(std::uint64_t i, std::size_t r) const {
    return static_cast<double>(entries[i * stride + r]);
  }
};

template <class MatrixType>
auto small_factor(MatrixType const& A) {
  using Scalar = typename MatrixType::non_const_value_type;
  return SmallFactor<Scalar>{A.data(), A.stride(0)};
}

/// What a loss has at an entry beyond f(0, m), which the sum over all cells counts already.
template <class Loss>
struct BesideZero {
  Loss loss;

  KOKKOS_FUNCTION double value(double x, double m) const {
    return static_cast<double>(loss.value(x, m)) - static_cast<double>(loss.value(0.0, m));
  }
  KOKKOS_FUNCTION double derivative(double x, double m) const {
    return static_cast<double>(loss.derivative(x, m)) -
           static_cast<double>(loss.derivative(0.0, m));
  }
  KOKKOS_FUNCTION bool allows(double x) const { return loss.allows(x); }
  std::string name() const { return loss.name(); }
  char const* domain() const { return loss.domain(); }
};

/// All cells, as a pass that sums the rows of one mode divides them. The other cells of a row, the
/// indices of all other modes, are counted with those of the inner mode fastest, and are divided
/// into parts. An item is a part of a row.
template <class Scalar>
struct CellPass {
  static constexpr int at_once = 8;  // cells of the inner mode

  SmallFactor<Scalar> own;       // I_n x R
  std::uint64_t rows;            // I_n
  std::size_t columns;           // R
  double const* weights;         // R
  double const* inner;           // R x inner_stride: the inner mode's factor, transposed
  std::uint64_t length;          // of the inner mode
  std::size_t inner_stride;      // length + at_once; what is past length is 0
  std::uint64_t first, end;      // other cells of a row, of this process
  std::uint64_t parts, of_part;  // their number, and cells of each
  double* products;              // R numbers of each item, which it keeps for itself
  double* sums;                  // parts x rows x R; null: not wanted
  double* values;                // of each item; null: not wanted
  int outer;                     // modes beside the own and the inner one
  SmallFactor<Scalar> factors[max_order - 2];  // of these
  std::uint64_t dims[max_order - 2];

  std::uint64_t items() const { return rows * parts; }
};

/// A pass: of each item the sum of f(0, m), and for all r
///   sum over its cells of df/dm(0, m) prod_{k != n} A_k(i_k, r)
/// Neighbouring items are neighbouring rows and go over the same cells of the inner mode.
template <class ExecutionSpace, class Scalar, class Loss>
struct SumCells {
  static constexpr int at_once = CellPass<Scalar>::at_once;
  using Cells = Tile<double, at_once>;

  Loss loss;
  CellPass<Scalar> pass;

  KOKKOS_FUNCTION void operator()(std::uint64_t item) const {
    std::uint64_t const begin = pass.first + item / pass.rows * pass.of_part;
    std::uint64_t const end = begin + pass.of_part < pass.end ? begin + pass.of_part : pass.end;
    for (std::size_t r = 0; pass.sums != nullptr && r < pass.columns; ++r)
      pass.sums[item * pass.columns + r] = 0;
    Cells total;
    total.fill(0);
    for (std::uint64_t q = begin; q < end;) {
      std::uint64_t const first = q % pass.length;
      std::uint64_t const stop = pass.length - first < end - q ? pass.length : first + (end - q);
      multiply_outer(item, q / pass.length);
      for (std::uint64_t j = first; j < stop; j += at_once) add_cells(item, j, stop, total);
      q += stop - first;
    }
    double sum = 0;
    for (int c = 0; c < at_once; ++c) sum += total[c];
    if (pass.values != nullptr) pass.values[item] = sum;
  }

 private:
  /// An item's products lie together on CPUs; on GPUs those of neighbours do.
  KOKKOS_FORCEINLINE_FUNCTION double& product(std::uint64_t item, std::size_t r) const {
    return pass.products[is_gpu<ExecutionSpace> ? r * pass.rows * pass.parts + item
                                                : item * pass.columns + r];
  }

  /// The products of the outer factors' rows for the fiber of this number.
  KOKKOS_INLINE_FUNCTION void multiply_outer(std::uint64_t item, std::uint64_t fiber) const {
    for (std::size_t r = 0; r < pass.columns; ++r) product(item, r) = 1;
    for (int k = 0; k < pass.outer; ++k) {
      std::uint64_t const i = fiber % pass.dims[k];
      fiber /= pass.dims[k];
      for (std::size_t r = 0; r < pass.columns; ++r) product(item, r) *= pass.factors[k](i, r);
    }
  }

  /// Cells j to j + 7 of the fiber, as far as they are below stop.
  KOKKOS_INLINE_FUNCTION void add_cells(std::uint64_t item, std::uint64_t j, std::uint64_t stop,
                                        Cells& total) const {
    std::uint64_t const row = item % pass.rows;
    double const* const inner = pass.inner + j;
    Cells m, slopes;
    m.fill(0);
    for (std::size_t r = 0; r < pass.columns; ++r)
      m.add_product(product(item, r) * (pass.weights[r] * pass.own(row, r)),
                    load_tile<double, at_once>(inner + r * pass.inner_stride));
    for (int c = 0; c < at_once; ++c) {
      bool const is_cell = j + c < stop;
      if (pass.values != nullptr && is_cell)
        total.set(c, total[c] + static_cast<double>(loss.value(0.0, m[c])));
      slopes.set(c, pass.sums != nullptr && is_cell
                        ? static_cast<double>(loss.derivative(0.0, m[c]))
                        : 0.0);
    }
    if (pass.sums == nullptr) return;
    double* const sums = pass.sums + item * pass.columns;
    for (std::size_t r = 0; r < pass.columns; ++r)
      sums[r] +=
          product(item, r) * slopes.dot(load_tile<double, at_once>(inner + r * pass.inner_stride));
  }
};

}  // namespace sporades::detail
