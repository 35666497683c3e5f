// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense.hpp>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/types.hpp>

namespace sporades::detail {

/// out(i) = a x(i) + b y(i), computed in double; 0 where is_free(i) is 0; 0 in place of what is
/// below it where `clamps`. out may be x or y.
template <class Scalar, class MemorySpace>
struct LinearCombination {
  double a;
  Scalar const* x;
  double b;
  Scalar const* y;
  Scalar* out;
  unsigned char const* is_free;  // null: all are
  bool clamps;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    double const sum = a * static_cast<double>(x[i]) + b * static_cast<double>(y[i]);
    bool const is_zero = (is_free && !is_free[i]) || (clamps && sum < 0);
    out[i] = is_zero ? Scalar(0) : static_cast<Scalar>(sum);
  }
};

/// is_free(i): a step against the gradient changes x(i), which is to be 0 at least.
template <class Scalar, class MemorySpace>
struct FindFree {
  Scalar const *x, *g;
  unsigned char* is_free;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { is_free[i] = x[i] > 0 || !(g[i] >= 0); }
};

/// a(i) = b(i)^2
template <class Scalar, class MemorySpace>
struct SquareEntries {
  Scalar const* b;
  Scalar* a;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { a[i] = b[i] * b[i]; }
};

/// g(i) = 2 b(i) g(i): the derivative by b of what has the derivative g by a = b^2.
template <class Scalar, class MemorySpace>
struct ByRoots {
  Scalar const* b;
  Scalar* g;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { g[i] = 2 * b[i] * g[i]; }
};

/// t(i) = b(i), or +-least if that is nearer to 0 and the function falls as b(i)^2 grows.
template <class Scalar, class MemorySpace>
struct RaiseRoots {
  Scalar const *b, *g;  // g: its derivative by b
  Scalar* t;
  Scalar least;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    bool const raises = b[i] > 0 ? b[i] < least && g[i] < 0 : -b[i] < least && g[i] > 0;
    t[i] = !raises ? b[i] : b[i] > 0 ? least : -least;
  }
};

/// A(i, r) = sqrt(max(A(i, r), least(r)))
template <class Scalar, class MemorySpace>
struct TakeRoots {
  Matrix<Scalar, MemorySpace> A;                   // I x R
  Kokkos::View<double const*, MemorySpace> least;  // R

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    for (std::size_t r = 0; r < A.extent(1); ++r) {
      double const a = static_cast<double>(A(i, r));
      A(i, r) = static_cast<Scalar>(math::sqrt(a > least(r) ? a : least(r)));
    }
  }
};

/// Operations of vectors of one length. Sums are taken in double and in an order that the length
/// alone gives.
template <class ExecutionSpace, class Scalar>
class FlatOperations {
  using Memory = typename ExecutionSpace::memory_space;
  using VectorType = Vector<Scalar, Memory>;

 public:
  FlatOperations(ExecutionSpace const& exec, std::uint64_t size)
      : exec_(exec), dot_{nullptr, nullptr, nullptr, size} {
    sums_ = dot_sums<Memory>(exec, dot_.blocks() * dot_.lanes);
  }

  /// x^T y. Fences exec.
  double dot(VectorType const& x, VectorType const& y) const {
    if (dot_.count == 0) return 0;
    auto kernel = dot_;
    kernel.x = x.data();
    kernel.y = y.data();
    kernel.out = sums_.data();
    launch_dot(exec_, kernel);
    return sum_lanes(exec_, kernel.out, kernel.blocks() * kernel.lanes);
  }

  /// See LinearCombination. Enqueued on exec.
  void combine(char const* label, double a, VectorType const& x, double b, VectorType const& y,
               VectorType const& out, unsigned char const* is_free = nullptr,
               bool clamps = false) const {
    run(label,
        LinearCombination<Scalar, Memory>{a, x.data(), b, y.data(), out.data(), is_free, clamps});
  }

  /// kernel(i) of all entries. Enqueued on exec.
  template <class Kernel>
  void run(char const* label, Kernel const& kernel) const {
    launch(exec_, label, dot_.count, 1, kernel);
  }

 private:
  ExecutionSpace exec_;
  DotLanes<ExecutionSpace, Scalar> dot_;
  Kokkos::View<double*, Memory> sums_;
};

}  // namespace sporades::detail
