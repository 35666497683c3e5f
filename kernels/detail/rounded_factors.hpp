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

/// Rounded factors, and room for them that stays from one product to the next.
template <class MemorySpace>
class RoundedFactors {
 public:
  KeptFactors kept;

  /// The factor of mode m. Enqueued on exec; allocates where there is too little room.
  template <class To, class ExecutionSpace, class Scalar>
  RawMatrix<To const, MemorySpace> round(ExecutionSpace const& exec, std::size_t m,
                                         Matrix<Scalar, MemorySpace> const& A) {
    auto const to = room<To>(exec, m, A.extent(0), A.extent(1));
    if (kept.has(m, A.data(), A.extent(1))) return to;
    RoundRows<Scalar, To, MemorySpace> const kernel{A, to};
    launch_items(exec, "sporades::mttkrp::round_rows", kernel.items(), kernel);
    return to;
  }

  /// Room for the factor of mode m. Contents undefined.
  template <class To, class ExecutionSpace>
  RawMatrix<To, MemorySpace> room(ExecutionSpace const& exec, std::size_t m, std::size_t rows,
                                  std::size_t columns) {
    if (rows_.size() <= m) rows_.resize(m + 1);
    std::size_t const padded = rounded_stride(columns);
    std::size_t const words = rows * padded * sizeof(To) / sizeof(std::uint64_t);
    if (rows_[m].extent(0) < words)
      rows_[m] = uninitialized<Room>(exec, "sporades::mttkrp::rounded_rows", words);
    return RawMatrix<To, MemorySpace>(reinterpret_cast<To*>(rows_[m].data()), rows, padded);
  }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (auto const& room : rows_) sum += sizeof(std::uint64_t) * room.extent(0);
    return sum;
  }

 private:
  using Room = Kokkos::View<std::uint64_t*, MemorySpace>;

  std::vector<Room> rows_;  // per mode
};

/// Calls run(a number of the type that Scalar is rounded to).
template <class Scalar, class Run>
void with_rounded_type(GatherPrecision precision, Run const& run) {
  if (precision == GatherPrecision::bfloat16) return run(BFloat16{});
  if (precision == GatherPrecision::half) return run(Half{});
  if constexpr (!std::is_same_v<Scalar, float>) run(float{});
}

}  // namespace sporades::detail
