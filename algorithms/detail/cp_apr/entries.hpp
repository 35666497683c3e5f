// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <sporades/core/random.hpp>
#include <sporades/kernels/detail/model_values.hpp>

/// The kernels of CP-APR that go over the entries of a factor, which is with its padding one
/// row-major array, and the one that goes over the nonzeros.

namespace sporades::detail {

/// The entries of a padded factor as one array.
template <class Scalar, class MemorySpace>
RawVector<Scalar, MemorySpace> all_entries(Matrix<Scalar, MemorySpace> const& A) {
  return RawVector<Scalar, MemorySpace>(A.data(), A.extent(0) * A.extent(1));
}

/// Entries below this are 0. Then no product of one entry a mode is denormal, which would make CPUs
/// many times slower. It is at most 1e-20, far below what counts as 0 (kappa_tolerance). Where that
/// is too low, as in float, some products are denormal.
template <class Scalar>
Scalar least_entry(std::size_t order) {
  double const least = static_cast<double>(std::numeric_limits<Scalar>::min());
  return static_cast<Scalar>(std::min(std::pow(least, 1.0 / static_cast<double>(order)), 1e-20));
}

/// Why an entry of a factor is to be raised from 0. State and files hold the first two.
enum ZeroMark : unsigned char {
  not_marked = 0,
  inadmissible_zero = 1,  // by the rule of inadmissible zeros, in its mode's turn
  zero_model = 2          // by a count whose model is 0, in all modes at once
};

/// a(e) = (a(e) + kappa where it is marked) weights(r) per_unit: the weights go into the mode, in
/// units of the problem. Of a dead component, whose weight is 0, marked entries become kappa/2 to
/// kappa, at random as in RaiseZeroModels, and the others 0.
template <class Scalar, class Memory>
struct ShiftWeights {
  RawVector<Scalar, Memory> a;  // I x columns
  RawVector<unsigned char const, Memory> marks;
  RawVector<double const, Memory> weights;  // columns
  double per_unit;
  Scalar kappa, least;
  std::uint64_t seed, n;
  std::uint64_t first;  // row of all that a's first one is
  std::uint64_t rank;   // the columns after it fill up the rows and stay 0

  KOKKOS_FUNCTION void operator()(std::uint64_t e) const {
    std::uint64_t const columns = weights.extent(0), r = e % columns;
    if (weights(r) == 0) {
      double const random = random_entry<double>(seed, n, first + e / columns, r);
      a(e) = r < rank && marks(e) == inadmissible_zero
                 ? static_cast<Scalar>(0.5 * (1 + random) * static_cast<double>(kappa))
                 : Scalar(0);
      return;
    }
    Scalar const raised = marks(e) == inadmissible_zero ? a(e) + kappa : a(e);
    Scalar const shifted = static_cast<Scalar>(static_cast<double>(raised) * weights(r) * per_unit);
    a(e) = shifted < least ? Scalar(0) : shifted;
  }
};

/// max |min(b, 1 - phi)|: how far the mode is from the KKT conditions b >= 0, phi <= 1,
/// b (1 - phi) = 0.
template <class Scalar, class Memory>
struct KktViolation {
  RawVector<Scalar const, Memory> b, phi;  // I x columns

  KOKKOS_FUNCTION void operator()(std::uint64_t e, double& worst) const {
    Scalar const slack = Scalar(1) - phi(e);
    double const violation = math::abs(static_cast<double>(b(e) < slack ? b(e) : slack));
    if (worst < violation) worst = violation;
  }
};

/// b(e) *= phi(e)
template <class Scalar, class Memory>
struct MultiplyByPhi {
  RawVector<Scalar, Memory> b;          // I x columns
  RawVector<Scalar const, Memory> phi;  // I x columns
  Scalar least;

  KOKKOS_FUNCTION void operator()(std::uint64_t e) const {
    Scalar const product = b(e) * phi(e);
    b(e) = product < least ? Scalar(0) : product;
  }
};

/// Columns divided by their sums. Those of dead components, which are zeros, become uniform: their
/// weight is 0, so that the model is the same, and Phi sees in the other modes where it would grow.
template <class Scalar, class Memory>
struct DivideBySums {
  RawVector<Scalar, Memory> a;           // I x columns
  RawVector<double const, Memory> sums;  // columns
  Scalar least;
  std::uint64_t rank;
  double uniform;  // 1 / rows of all

  KOKKOS_FUNCTION void operator()(std::uint64_t e) const {
    std::uint64_t const r = e % sums.extent(0);
    double const sum = sums(r);
    if (sum == 0 && r < rank) a(e) = static_cast<Scalar>(uniform);
    if (!(sum > 0)) return;
    Scalar const part = static_cast<Scalar>(static_cast<double>(a(e)) / sum);
    a(e) = part < least ? Scalar(0) : part;
  }
};

/// Marks the inadmissible zeros: entries that are 0, as all of a dead component count in the mode
/// that is updated, and that a larger value would serve. Phi > 1,
/// not Phi > 0, as Chi & Kolda's text has it, and all implementations that converge.
template <class Scalar, class Memory>
struct MarkInadmissibleZeros {
  RawVector<Scalar const, Memory> a, phi;  // I x columns
  RawVector<unsigned char, Memory> marks;
  RawVector<double const, Memory> weights;  // columns
  Scalar kappa_tolerance;

  KOKKOS_FUNCTION void operator()(std::uint64_t e) const {
    bool const is_zero = a(e) < kappa_tolerance || weights(e % weights.extent(0)) == 0;
    marks(e) = phi(e) > Scalar(1) && is_zero ? inadmissible_zero : not_marked;
  }
};

/// Marks, for each count above 0 whose model is exactly 0, the zeros of every mode's row of it.
template <class ExecutionSpace, class Model, class Scalar>
struct MarkZeroModels {
  using Memory = typename ExecutionSpace::memory_space;

  Model model;
  Kokkos::Array<RawVector<unsigned char, Memory>, max_order> marks;  // of every mode
  Scalar kappa_tolerance;
  std::uint64_t rank;

  KOKKOS_FUNCTION void operator()(Position p) const {
    if (model.value(p) == 0 || model.template at<ExecutionSpace>(p) != 0) return;
    for (int n = 0; n < model.nonzeros.others; ++n) {
      std::uint64_t const row = model.nonzeros.indices[n](p);
      for (std::uint64_t r = 0; r < rank; ++r)  // all that write an entry write the same
        if (model.nonzeros.factors[n](row, r) < kappa_tolerance)
          marks[n](row * model.rank + r) = zero_model;
    }
  }
};

/// marks(e) = zero_model where a process says so of a row that it reads: from(i, r) is of row
/// rows(i). All that write an entry write the same.
template <class Memory>
struct MergeZeroModels {
  Matrix<unsigned char, Memory> from;
  Kokkos::View<Position*, Memory> rows;
  RawVector<unsigned char, Memory> marks;  // I x columns

  KOKKOS_FUNCTION void operator()(std::uint64_t item) const {
    std::uint64_t const columns = from.extent(1), i = item / columns, r = item % columns;
    if (from(i, r) == zero_model) marks(rows(i) * columns + r) = zero_model;
  }
};

/// Columns of dead components become zeros again, whose entries are raised where that is needed.
template <class Scalar, class Memory>
struct EmptyDeadComponents {
  RawVector<Scalar, Memory> a;              // I x columns
  RawVector<double const, Memory> weights;  // columns

  KOKKOS_FUNCTION void operator()(std::uint64_t e) const {
    if (weights(e % weights.extent(0)) == 0) a(e) = Scalar(0);
  }
};

/// Raises a(e) by kappa/2 to kappa where MarkZeroModels says so: at random, since entries that are
/// alike in all components and modes would stay alike.
template <class Scalar, class Memory>
struct RaiseZeroModels {
  RawVector<Scalar, Memory> a;  // I x columns, of mode n
  RawVector<unsigned char, Memory> marks;
  double kappa;
  std::uint64_t columns, seed, n;
  std::uint64_t first;  // row of all that a's first one is

  KOKKOS_FUNCTION void operator()(std::uint64_t e) const {
    if (marks(e) != zero_model) return;
    double const random = random_entry<double>(seed, n, first + e / columns, e % columns);
    a(e) += static_cast<Scalar>(0.5 * (1 + random) * kappa);
    marks(e) = not_marked;
  }
};

/// Components without weight get a little, so that the entries that are raised in them count.
template <class Memory>
struct WeighDeadComponents {
  RawVector<double, Memory> weights;  // columns
  double little;

  KOKKOS_FUNCTION void operator()(std::uint64_t r) const {
    if (weights(r) == 0) weights(r) = little;
  }
};

/// y(k) = factor x(k); x may be y.
template <class Scalar, class Memory>
struct Scale {
  RawVector<Scalar const, Memory> x;
  RawVector<Scalar, Memory> y;
  double factor;

  KOKKOS_FUNCTION void operator()(std::uint64_t k) const {
    y(k) = static_cast<Scalar>(factor * static_cast<double>(x(k)));
  }
};

}  // namespace sporades::detail
