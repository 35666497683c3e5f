// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "native_products.hpp"

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace sporades::perf {

inline int native_threads() {
#if defined(_OPENMP)
  return omp_get_num_threads();
#else
  return 1;
#endif
}
inline int native_thread() {
#if defined(_OPENMP)
  return omp_get_thread_num();
#else
  return 0;
#endif
}
inline int native_most_threads() {
#if defined(_OPENMP)
  return omp_get_max_threads();
#else
  return 1;
#endif
}

/// Bytes of a vector register; where the machine's are shorter, compilers take several.
inline constexpr int native_vector = 64;

/// Entries of a vector, added in halves.
template <class Scalar, int size>
Scalar native_sum(Scalar const (&entries)[size]) {
  if constexpr (size == 1) {
    return entries[0];
  } else {
    Scalar half[size / 2];
#pragma omp simd
    for (int j = 0; j < size / 2; ++j) half[j] = entries[j] + entries[j + size / 2];
    return native_sum(half);
  }
}

/// A row of Width columns in registers.
template <class Scalar, int Width>
struct NativeRow {
  typedef Scalar Vector __attribute__((vector_size(native_vector)));
  typedef Scalar InMemory
      __attribute__((vector_size(native_vector), aligned(sizeof(Scalar)), may_alias));
  static constexpr int size = native_vector / sizeof(Scalar), parts = Width / size;
  static_assert(Width % size == 0, "A row is whole vectors.");

  Vector part[parts];

  explicit NativeRow(int) {}
  void fill(Scalar value) {
    for (auto& one : part) one = Vector{} + value;
  }
  void load(Scalar const* from) {
    for (int k = 0; k < parts; ++k) part[k] = reinterpret_cast<InMemory const*>(from)[k];
  }
  void store(Scalar* to) const {
    for (int k = 0; k < parts; ++k) reinterpret_cast<InMemory*>(to)[k] = part[k];
  }
  void multiply(Scalar const* by) {
    for (int k = 0; k < parts; ++k) part[k] *= reinterpret_cast<InMemory const*>(by)[k];
  }
  void add_product(Scalar a, NativeRow const& row) {
    for (int k = 0; k < parts; ++k) part[k] += a * row.part[k];
  }
  Scalar dot(NativeRow const& row) const {
    Vector sum = part[0] * row.part[0];
    for (int k = 1; k < parts; ++k) sum += part[k] * row.part[k];
    Scalar entries[size];
    __builtin_memcpy(entries, &sum, sizeof sum);
    return native_sum(entries);
  }
  void add_atomically_to(Scalar* to) const {
    Scalar entries[Width];
    store(entries);
    for (int r = 0; r < Width; ++r) {
#pragma omp atomic
      to[r] += entries[r];
    }
  }
};

/// A row of columns that are counted at run time.
template <class Scalar>
struct NativeRow<Scalar, 0> {
  std::vector<Scalar> entries;

  explicit NativeRow(int R) : entries(static_cast<std::size_t>(R)) {}
  int columns() const { return static_cast<int>(entries.size()); }
  void fill(Scalar value) { entries.assign(entries.size(), value); }
  void load(Scalar const* from) { entries.assign(from, from + columns()); }
  void store(Scalar* to) const {
    for (int r = 0; r < columns(); ++r) to[r] = entries[r];
  }
  void multiply(Scalar const* by) {
    Scalar* const own = entries.data();
    int const R = columns();
#pragma omp simd
    for (int r = 0; r < R; ++r) own[r] *= by[r];
  }
  void add_product(Scalar a, NativeRow const& row) {
    Scalar* const own = entries.data();
    Scalar const* const other = row.entries.data();
    int const R = columns();
#pragma omp simd
    for (int r = 0; r < R; ++r) own[r] += a * other[r];
  }
  Scalar dot(NativeRow const& row) const {
    Scalar const *const own = entries.data(), *const other = row.entries.data();
    int const R = columns();
    Scalar sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int r = 0; r < R; ++r) sum += own[r] * other[r];
    return sum;
  }
  void add_atomically_to(Scalar* to) const {
    for (int r = 0; r < columns(); ++r) {
#pragma omp atomic
      to[r] += entries[r];
    }
  }
};

/// The sums of rows that a thread shares with others: that of its first nonzeros and of its last.
template <class Scalar>
struct NativeCarries {
  static constexpr std::size_t none = ~std::size_t{0};

  std::size_t R;
  std::vector<std::size_t> rows;  // 2 a thread
  std::vector<Scalar> sums;       // 2 a thread x R

  NativeCarries(int threads, int columns)
      : R(static_cast<std::size_t>(columns)),
        rows(2 * static_cast<std::size_t>(threads), none),
        sums(rows.size() * R) {}
  void add_to(NativeProduct<Scalar> const& x) const {
    for (std::size_t k = 0; k < rows.size(); ++k)
      for (std::size_t r = 0; r < R && rows[k] != none; ++r)
        x.V[rows[k] * x.stride + r] += sums[k * R + r];
  }
};

/// Each thread walks an equal share of neighbouring nonzeros, run by run of equal rows.
template <NativeLoop loop, int Others, int Rank, class Scalar>
void native_walk(NativeProduct<Scalar> const& given) {
  constexpr bool is_pull = loop == NativeLoop::phi_pull;
  NativeCarries<Scalar> carries(is_pull ? native_most_threads() : 0, given.R);
#pragma omp parallel
  {
    NativeProduct<Scalar> const x = given;  // which stores cannot change
    int const others = Others < 0 ? x.others : Others;
    std::size_t const stride = x.stride, R = static_cast<std::size_t>(x.R);
    auto const threads = static_cast<std::size_t>(native_threads());
    auto const t = static_cast<std::size_t>(native_thread());
    for (std::size_t i = x.rows * t / threads; i < x.rows * (t + 1) / threads; ++i)
      for (std::size_t r = 0; r < R; ++r) x.V[i * stride + r] = 0;
#pragma omp barrier
    std::size_t const begin = x.nnz * t / threads, end = x.nnz * (t + 1) / threads;
    NativeRow<Scalar, Rank> sum(x.R), pi(x.R), b(x.R);
    for (std::size_t p = begin; p < end;) {
      std::size_t const first = p, row = x.row_of[p];
      if constexpr (is_phi<loop>) b.load(x.B + row * stride);
      sum.fill(0);
      do {
        if (others == 0)
          pi.fill(1);
        else
          pi.load(x.factors[0] + x.indices[0][p] * stride);
        for (int m = 1; m < others; ++m) pi.multiply(x.factors[m] + x.indices[m][p] * stride);
        Scalar weight = x.values[p];
        if constexpr (is_phi<loop>) {
          Scalar const model = b.dot(pi);
          weight /= model < x.epsilon ? x.epsilon : model;
        }
        sum.add_product(weight, pi);
        ++p;
      } while (p < end && x.row_of[p] == row);
      Scalar* const to = x.V + row * stride;
      if constexpr (is_pull) {
        bool const from_before = first == begin && begin > 0 && x.row_of[begin - 1] == row;
        bool const goes_on = p == end && end < x.nnz && x.row_of[end] == row;
        if (from_before || goes_on) {
          std::size_t const slot = 2 * t + (from_before ? 0 : 1);
          carries.rows[slot] = row;
          sum.store(carries.sums.data() + slot * R);
        } else {
          sum.store(to);
        }
      } else {
        sum.add_atomically_to(to);
      }
    }
  }
  carries.add_to(given);
}

/// Runs the product and waits for it.
template <NativeLoop loop, class Scalar>
void native_run(NativeProduct<Scalar> const& x) {
  using sporades::detail::with_constant;
  bool const is_unrolled = with_constant<16, 32>(x.R, [&](auto rank) {
    if (!with_constant<2, 3, 4>(x.others,
                                [&](auto others) { native_walk<loop, others(), rank()>(x); }))
      native_walk<loop, -1, rank()>(x);
  });
  if (!is_unrolled) native_walk<loop, -1, 0>(x);
}

}  // namespace sporades::perf
