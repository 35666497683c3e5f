// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>
#include <sporades/core/matrix.hpp>
#include <sporades/formats/coo_tensor.hpp>
#include <string>
#include <vector>

namespace sporades::campaign {

/// Random numbers that are the same everywhere (splitmix64; Steele, Lea & Flood 2014).
class Source {
 public:
  Source(std::uint64_t seed, std::uint64_t draw) : state_(seed) {
    state_ = next() ^ (draw * 0x9E3779B97F4A7C15u);
  }

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t end) { return next() % end; }
  double real() { return static_cast<double>(next() >> 11) * 0x1p-53; }  ///< in [0, 1)
  bool chance(double probability) { return real() < probability; }
  template <class T, std::size_t count>
  T pick(T const (&choices)[count]) {
    return choices[below(count)];
  }

 private:
  std::uint64_t state_;
};

/// A tensor as plain arrays, in any order, and the words that describe it.
struct Drawn {
  Dims dims;
  std::vector<std::uint64_t> coordinates;  // of nonzero p and mode n at p N + n
  std::vector<double> values;              // numbers that the Scalar has exactly
  std::string text;

  int order() const { return static_cast<int>(dims.size()); }
  std::size_t nnz() const { return values.size(); }
  std::uint64_t index(std::size_t p, int n) const { return coordinates[p * dims.size() + n]; }
};

enum class Sign { any, positive, counts };

/// Order 1 to 8, modes of length 1, hubs, empty slices, duplicates, and values in other units.
template <class Scalar>
Drawn draw_tensor(Source& source, Sign sign) {
  Drawn X;
  int const N = 1 + static_cast<int>(source.below(8));
  std::vector<std::uint64_t> step;  // 2: every other slice is empty
  for (int n = 0; n < N; ++n) {
    double const kind = source.real();
    X.dims.push_back(kind < 0.15   ? 1
                     : kind < 0.5  ? 2 + source.below(4)
                     : kind < 0.85 ? 6 + source.below(25)
                                   : 31 + source.below(370));
    step.push_back(source.chance(0.2) ? 2 : 1);
  }
  std::uint64_t const most[] = {30, 300, 6000, 60000};
  std::uint64_t const nnz = 1 + source.below(1 + source.pick(most) / N);
  int const hub_mode = source.chance(0.4) ? static_cast<int>(source.below(N)) : -1;
  bool const has_duplicates = source.chance(0.4);
  constexpr double out_of_core = sizeof(Scalar) == 4 ? 1e25 : 1e200;  // its square overflows
  double const units[] = {1, 1, 1, 1 / out_of_core, out_of_core, 1e-10, 1e6};
  double const unit = sign == Sign::counts && source.chance(0.5) ? 1 : source.pick(units);
  for (std::uint64_t p = 0; p < nnz; ++p) {
    bool const is_duplicate = has_duplicates && p > 0 && source.chance(0.2);
    std::size_t const twin = is_duplicate ? source.below(p) : 0;
    for (int n = 0; n < N; ++n) {
      std::uint64_t const dim = X.dims[n], s = step[n];
      bool const in_hub = n == hub_mode && source.chance(0.5);
      X.coordinates.push_back(is_duplicate ? X.index(twin, n)
                              : in_hub     ? dim / 2
                                           : source.below((dim + s - 1) / s) * s);
    }
    double value =
        sign == Sign::counts ? 1 + static_cast<double>(source.below(20)) : 0.01 + source.real();
    if (sign == Sign::any && source.chance(0.5)) value = -value;
    X.values.push_back(static_cast<Scalar>(value * unit));
  }
  X.text = to_string(X.dims) + ", " + std::to_string(nnz) + " nonzeros" +
           (hub_mode < 0 ? "" : ", a hub in mode " + std::to_string(hub_mode)) +
           (has_duplicates ? ", duplicates" : "") + ", unit " + detail::concatenate(unit);
  return X;
}

/// The tensor in the library's form, in the memory space of exec.
template <class Scalar, class Index, class ExecutionSpace>
CooTensor<Scalar, Index, typename ExecutionSpace::memory_space> to_coo_tensor(
    ExecutionSpace const& exec, Drawn const& X) {
  Kokkos::DefaultHostExecutionSpace const host{};
  auto Y = sporades::detail::allocate_coo<Scalar, Index>(host, X.dims, X.nnz());
  host.fence();
  for (std::size_t p = 0; p < X.nnz(); ++p) {
    for (int n = 0; n < X.order(); ++n) Y.coordinates(n, p) = static_cast<Index>(X.index(p, n));
    Y.values(p) = static_cast<Scalar>(X.values[p]);
  }
  return copy_to(exec, Y);
}

/// Numbers in [0.1, 1), or in (-1, 1).
template <class Scalar>
Matrix<Scalar, Kokkos::HostSpace> draw_matrix(Source& source, std::size_t rows, std::size_t columns,
                                              bool is_positive) {
  auto const A = make_matrix<Scalar>(Kokkos::DefaultHostExecutionSpace{}, "A", rows, columns);
  Kokkos::fence();
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t r = 0; r < columns; ++r)
      A(i, r) =
          static_cast<Scalar>(is_positive ? 0.1 + 0.9 * source.real() : 2 * source.real() - 1);
  return A;
}

}  // namespace sporades::campaign
