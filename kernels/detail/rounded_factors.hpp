// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/rounded.hpp>
#include <sporades/core/matrix.hpp>
#include <sporades/kernels/detail/kept_factors.hpp>
#include <sporades/kernels/detail/work_items.hpp>
#include <sporades/kernels/gather_precision.hpp>

namespace sporades::detail {

/// to <- from, rounded. An item is a row on hosts, and four columns of one on GPUs.
template <class From, class To, class MemorySpace>
struct RoundRows {
  static constexpr bool on_host = std::is_same_v<MemorySpace, Kokkos::HostSpace>;

  RawMatrix<From const, MemorySpace> from;
  RawMatrix<To, MemorySpace> to;  // rounded_stride columns

  Position items() const { return to.extent(0) * (on_host ? 1 : to.extent(1) / 4); }
  KOKKOS_FUNCTION void operator()(Position item) const {
    std::size_t const count = on_host ? to.extent(1) : 4, parts = on_host ? 1 : to.extent(1) / 4;
    std::size_t const row = item / parts, first = item % parts * count, last = first + count;
    std::size_t const end = last < from.extent(1) ? last : from.extent(1);
    From const* KOKKOS_RESTRICT const in = &from(row, 0);
    To* KOKKOS_RESTRICT const out = &to(row, 0);
    for (std::size_t j = first; j < end; ++j) round_to(static_cast<float>(in[j]), out[j]);
    for (std::size_t j = end > first ? end : first; j < last; ++j) round_to(0.f, out[j]);
  }
};

/// Columns of rounded rows: of 16 bits they begin at multiples of 16 bytes.
constexpr std::size_t rounded_stride(std::size_t columns) {
  return (columns + 7) / 8 * 8;
}

/// Calls run(a number of the type that Scalar is rounded to).
template <class Scalar, class Run>
void with_rounded_type(GatherPrecision precision, Run const& run) {
  if (precision == GatherPrecision::bfloat16) return run(BFloat16{});
  if (precision == GatherPrecision::half) return run(Half{});
  if constexpr (!std::is_same_v<Scalar, float>) run(float{});
}

/// Rounded factors, and room for them that stays from one product to the next.
template <class MemorySpace>
class RoundedFactors {
 public:
  KeptFactors kept;

  /// Rounds the factors for a product on mode n, which needs all except A[n]. Enqueued on exec;
  /// allocates where there is too little room.
  template <class ExecutionSpace, class Scalar>
  void round(ExecutionSpace const& exec, GatherPrecision precision,
             Factors<Scalar, MemorySpace> const& A, std::size_t n) {
    with_rounded_type<Scalar>(precision, [&](auto number) {
      using To = decltype(number);
      for (std::size_t m = 0; m < A.size(); ++m) {
        if (m == n) continue;
        auto const to = room<To>(exec, m, A[m].extent(0), A[m].extent(1));
        if (kept.has(m, A[m].data(), A[m].extent(1))) continue;
        RoundRows<Scalar, To, MemorySpace> const kernel{A[m], to};
        launch_items(exec, "sporades::mttkrp::round_rows", kernel.items(), kernel);
      }
    });
  }

  /// The factors of N modes as they were rounded last, with what is in the room of the others.
  template <class To>
  std::vector<RawMatrix<To const, MemorySpace>> rounded(std::size_t N) const {
    std::vector<RawMatrix<To const, MemorySpace>> A(N);
    for (std::size_t m = 0; m < N && m < rows_.size(); ++m)
      A[m] = RawMatrix<To const, MemorySpace>(reinterpret_cast<To const*>(rows_[m].room.data()),
                                              rows_[m].count, rows_[m].columns);
    return A;
  }

  /// Room for the factor of mode m. Contents undefined.
  template <class To, class ExecutionSpace>
  RawMatrix<To, MemorySpace> room(ExecutionSpace const& exec, std::size_t m, std::size_t rows,
                                  std::size_t columns) {
    if (rows_.size() <= m) rows_.resize(m + 1);
    std::size_t const padded = rounded_stride(columns);
    std::size_t const words = rows * padded * sizeof(To) / sizeof(std::uint64_t);
    auto& room = rows_[m].room;
    if (room.extent(0) < words)
      room = uninitialized<Room>(exec, "sporades::mttkrp::rounded_rows", words);
    rows_[m].count = rows;
    rows_[m].columns = padded;
    return RawMatrix<To, MemorySpace>(reinterpret_cast<To*>(room.data()), rows, padded);
  }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (auto const& rows : rows_) sum += sizeof(std::uint64_t) * rows.room.extent(0);
    return sum;
  }

 private:
  using Room = Kokkos::View<std::uint64_t*, MemorySpace>;
  struct Rows {
    Room room;
    std::size_t count = 0, columns = 0;
  };

  std::vector<Rows> rows_;  // per mode
};

}  // namespace sporades::detail
