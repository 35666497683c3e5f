// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/column_tiles.hpp>
#include <sporades/kernels/stream.hpp>

/// The loops of kernels/stream.hpp.

namespace sporades {
namespace detail {

template <class Scalar, class MemorySpace>
void check_stream(char const* name, Vector<Scalar, MemorySpace> const& result,
                  Vector<Scalar, MemorySpace> const& operand) {
  expects(result.extent(0) == operand.extent(0), name, ": arrays of ", result.extent(0), " and ",
          operand.extent(0), " entries");
}

/// z(i) = operation(x(i) ...), `width` entries a work item.
template <class Scalar, int width, class Operation, int inputs>
struct StreamItems {
  Operation operation;
  Scalar* z;
  Kokkos::Array<Scalar const*, inputs> x;
  std::int64_t length;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    if constexpr (width == 1) {
      z[item] = apply(item);
    } else {
      std::int64_t const first = item * width;
      if (first + width <= length) {
        Pack<Scalar> in[inputs], out;
        for (int k = 0; k < inputs; ++k) in[k] = reinterpret_cast<Pack<Scalar> const*>(x[k])[item];
        for (int j = 0; j < width; ++j) {
          if constexpr (inputs == 1)
            out.entry[j] = operation(in[0].entry[j]);
          else
            out.entry[j] = operation(in[0].entry[j], in[1].entry[j]);
        }
        reinterpret_cast<Pack<Scalar>*>(z)[item] = out;
      } else {
        for (std::int64_t i = first; i < length; ++i) z[i] = apply(i);
      }
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar apply(std::int64_t i) const {
    if constexpr (inputs == 1)
      return operation(x[0][i]);
    else
      return operation(x[0][i], x[1][i]);
  }
};

/// On GPUs 16 bytes a work item where all arrays are aligned to that, else an entry.
template <class ExecutionSpace, class Scalar, class MemorySpace, class Operation, class... Inputs>
void stream(ExecutionSpace const& exec, char const* label, Operation const& operation,
            Vector<Scalar, MemorySpace> const& z, Inputs const&... x) {
  constexpr int inputs = sizeof...(Inputs);
  (check_stream(label, z, x), ...);
  Kokkos::Array<Scalar const*, inputs> const from{x.data()...};
  auto const length = static_cast<std::int64_t>(z.extent(0));
  auto const launch = [&](auto width) {
    Kokkos::parallel_for(
        label,
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
            exec, 0, (length + width() - 1) / width()),
        StreamItems<Scalar, width(), Operation, inputs>{operation, z.data(), from, length});
  };
  if constexpr (is_gpu<ExecutionSpace>) {
    bool aligned = reinterpret_cast<std::uintptr_t>(z.data()) % 16 == 0;
    for (int k = 0; k < inputs; ++k)
      aligned = aligned && reinterpret_cast<std::uintptr_t>(from[k]) % 16 == 0;
    if (aligned) return launch(std::integral_constant<int, 16 / sizeof(Scalar)>{});
  }
  launch(std::integral_constant<int, 1>{});
}

struct StreamCopy {
  template <class Scalar>
  KOKKOS_FORCEINLINE_FUNCTION Scalar operator()(Scalar a) const {
    return a;
  }
};
template <class Scalar>
struct StreamScale {
  Scalar s;
  KOKKOS_FORCEINLINE_FUNCTION Scalar operator()(Scalar c) const { return s * c; }
};
struct StreamAdd {
  template <class Scalar>
  KOKKOS_FORCEINLINE_FUNCTION Scalar operator()(Scalar a, Scalar b) const {
    return a + b;
  }
};
template <class Scalar>
struct StreamTriad {
  Scalar s;
  KOKKOS_FORCEINLINE_FUNCTION Scalar operator()(Scalar b, Scalar c) const { return b + s * c; }
};
struct StreamMultiply {
  template <class Scalar>
  KOKKOS_FORCEINLINE_FUNCTION Scalar operator()(Scalar a, Scalar b) const {
    return a * b;
  }
};

}  // namespace detail

template <class ExecutionSpace, class Input, class Output>
void stream_copy(ExecutionSpace const& exec, Input const& a, Output const& c) {
  if constexpr (detail::check_vectors<ExecutionSpace, Output, Input>())
    detail::stream(exec, "sporades::stream::copy", detail::StreamCopy{}, detail::as_vector(c),
                   detail::as_vector(a));
}

template <class ExecutionSpace, class Scalar, class Input, class Output>
void stream_scale(ExecutionSpace const& exec, Scalar s, Input const& c, Output const& b) {
  if constexpr (detail::check_vectors<ExecutionSpace, Output, Input>())
    detail::stream(exec, "sporades::stream::scale",
                   detail::StreamScale<typename Output::value_type>{
                       static_cast<typename Output::value_type>(s)},
                   detail::as_vector(b), detail::as_vector(c));
}

template <class ExecutionSpace, class Left, class Right, class Output>
void stream_add(ExecutionSpace const& exec, Left const& a, Right const& b, Output const& c) {
  if constexpr (detail::check_vectors<ExecutionSpace, Output, Left, Right>())
    detail::stream(exec, "sporades::stream::add", detail::StreamAdd{}, detail::as_vector(c),
                   detail::as_vector(a), detail::as_vector(b));
}

template <class ExecutionSpace, class Scalar, class Left, class Right, class Output>
void stream_triad(ExecutionSpace const& exec, Scalar s, Left const& b, Right const& c,
                  Output const& a) {
  if constexpr (detail::check_vectors<ExecutionSpace, Output, Left, Right>())
    detail::stream(exec, "sporades::stream::triad",
                   detail::StreamTriad<typename Output::value_type>{
                       static_cast<typename Output::value_type>(s)},
                   detail::as_vector(a), detail::as_vector(b), detail::as_vector(c));
}

template <class ExecutionSpace, class Left, class Right, class Output>
void stream_multiply(ExecutionSpace const& exec, Left const& a, Right const& b, Output const& c) {
  if constexpr (detail::check_vectors<ExecutionSpace, Output, Left, Right>())
    detail::stream(exec, "sporades::stream::multiply", detail::StreamMultiply{},
                   detail::as_vector(c), detail::as_vector(a), detail::as_vector(b));
}

}  // namespace sporades
