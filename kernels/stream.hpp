// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/types.hpp>

/// The simple array operations that MTTKRP and CP-APR's kernels are made of, as proxies for them:
/// what they reach of a machine's memory bandwidth is the ceiling of the tensor kernels
/// (McCalpin's STREAM, and the element-wise product of Anderson & Choi 2021, §4).
/// All arrays have the same length. Enqueued on exec, do not fence. Throw Error for unequal
/// lengths.

namespace sporades {
namespace detail {

template <class Scalar, class MemorySpace>
void check_stream(char const* name, Vector<Scalar, MemorySpace> const& result,
                  Vector<Scalar, MemorySpace> const& operand) {
  expects(result.extent(0) == operand.extent(0), name, ": arrays of ", result.extent(0), " and ",
          operand.extent(0), " entries");
}

template <class ExecutionSpace>
using StreamRange = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;

}  // namespace detail

/// c = a; 2 words moved an entry.
template <class ExecutionSpace, class Scalar, class MemorySpace>
void stream_copy(ExecutionSpace const& exec, Vector<Scalar, MemorySpace> const& a,
                 Vector<Scalar, MemorySpace> const& c) {
  detail::check_stream("stream_copy", c, a);
  Kokkos::parallel_for(
      "sporades::stream::copy", detail::StreamRange<ExecutionSpace>(exec, 0, c.extent(0)),
      KOKKOS_LAMBDA(std::int64_t i) { c(i) = a(i); });
}

/// b = s c; 2 words moved an entry.
template <class ExecutionSpace, class Scalar, class MemorySpace>
void stream_scale(ExecutionSpace const& exec, Scalar s, Vector<Scalar, MemorySpace> const& c,
                  Vector<Scalar, MemorySpace> const& b) {
  detail::check_stream("stream_scale", b, c);
  Kokkos::parallel_for(
      "sporades::stream::scale", detail::StreamRange<ExecutionSpace>(exec, 0, b.extent(0)),
      KOKKOS_LAMBDA(std::int64_t i) { b(i) = s * c(i); });
}

/// c = a + b; 3 words moved an entry.
template <class ExecutionSpace, class Scalar, class MemorySpace>
void stream_add(ExecutionSpace const& exec, Vector<Scalar, MemorySpace> const& a,
                Vector<Scalar, MemorySpace> const& b, Vector<Scalar, MemorySpace> const& c) {
  detail::check_stream("stream_add", c, a);
  detail::check_stream("stream_add", c, b);
  Kokkos::parallel_for(
      "sporades::stream::add", detail::StreamRange<ExecutionSpace>(exec, 0, c.extent(0)),
      KOKKOS_LAMBDA(std::int64_t i) { c(i) = a(i) + b(i); });
}

/// a = b + s c; 3 words moved an entry.
template <class ExecutionSpace, class Scalar, class MemorySpace>
void stream_triad(ExecutionSpace const& exec, Scalar s, Vector<Scalar, MemorySpace> const& b,
                  Vector<Scalar, MemorySpace> const& c, Vector<Scalar, MemorySpace> const& a) {
  detail::check_stream("stream_triad", a, b);
  detail::check_stream("stream_triad", a, c);
  Kokkos::parallel_for(
      "sporades::stream::triad", detail::StreamRange<ExecutionSpace>(exec, 0, a.extent(0)),
      KOKKOS_LAMBDA(std::int64_t i) { a(i) = b(i) + s * c(i); });
}

/// c = a .* b; 3 words moved an entry.
template <class ExecutionSpace, class Scalar, class MemorySpace>
void stream_multiply(ExecutionSpace const& exec, Vector<Scalar, MemorySpace> const& a,
                     Vector<Scalar, MemorySpace> const& b, Vector<Scalar, MemorySpace> const& c) {
  detail::check_stream("stream_multiply", c, a);
  detail::check_stream("stream_multiply", c, b);
  Kokkos::parallel_for(
      "sporades::stream::multiply", detail::StreamRange<ExecutionSpace>(exec, 0, c.extent(0)),
      KOKKOS_LAMBDA(std::int64_t i) { c(i) = a(i) * b(i); });
}

}  // namespace sporades
