// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <sporades/core/detail/kokkos.hpp>
#include <string>
#include <vector>

/// The STREAM loops without Kokkos, to compare with: plain CUDA or HIP kernels where their compiler
/// is at work, plain OpenMP loops elsewhere.

namespace sporades::perf {

template <class Scalar>
struct NativeLoop {
  std::string name;
  int words;  // moved an entry
  void (*run)(Scalar s, Scalar* a, Scalar* b, Scalar* c, std::size_t length);
};

#if defined(__CUDACC__) || defined(__HIPCC__)

/// The 16 bytes that a thread loads at once: float4 and double2 with arithmetic.
template <class Scalar>
struct alignas(16) Wide {
  static constexpr int size = 16 / sizeof(Scalar);
  Scalar entry[size];

  friend __host__ __device__ Wide operator+(Wide x, Wide const& y) {
    for (int k = 0; k < size; ++k) x.entry[k] += y.entry[k];
    return x;
  }
  friend __host__ __device__ Wide operator*(Wide x, Wide const& y) {
    for (int k = 0; k < size; ++k) x.entry[k] *= y.entry[k];
    return x;
  }
  friend __host__ __device__ Wide operator*(Scalar s, Wide x) {
    for (int k = 0; k < size; ++k) x.entry[k] *= s;
    return x;
  }
};

/// The arrays are aligned to 16 bytes.
template <class Scalar, class Body>
__global__ void native_kernel(Body body, Scalar s, Scalar* a, Scalar* b, Scalar* c,
                              std::size_t length) {
  using W = Wide<Scalar>;
  std::size_t const i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  std::size_t const whole = length / W::size;
  if (i < whole)
    body(s, reinterpret_cast<W*>(a), reinterpret_cast<W*>(b), reinterpret_cast<W*>(c), i);
  else if (i == whole)
    for (std::size_t k = whole * W::size; k < length; ++k) body(s, a, b, c, k);
}

template <class Scalar, class Body>
void native_run(Scalar s, Scalar* a, Scalar* b, Scalar* c, std::size_t length) {
  std::size_t const items = length / Wide<Scalar>::size + 1;
  native_kernel<<<static_cast<unsigned>((items + 255) / 256), 256>>>(Body{}, s, a, b, c, length);
}

#else

template <class Scalar, class Body>
void native_run(Scalar s, Scalar* a, Scalar* b, Scalar* c, std::size_t length) {
  Body const body{};
#pragma omp parallel for
  for (std::size_t i = 0; i < length; ++i) body(s, a, b, c, i);
}

#endif

struct NativeCopy {
  template <class Scalar, class Entry>
  KOKKOS_FUNCTION void operator()(Scalar, Entry* a, Entry*, Entry* c, std::size_t i) const {
    c[i] = a[i];
  }
};
struct NativeScale {
  template <class Scalar, class Entry>
  KOKKOS_FUNCTION void operator()(Scalar s, Entry*, Entry* b, Entry* c, std::size_t i) const {
    b[i] = s * c[i];
  }
};
struct NativeAdd {
  template <class Scalar, class Entry>
  KOKKOS_FUNCTION void operator()(Scalar, Entry* a, Entry* b, Entry* c, std::size_t i) const {
    c[i] = a[i] + b[i];
  }
};
struct NativeTriad {
  template <class Scalar, class Entry>
  KOKKOS_FUNCTION void operator()(Scalar s, Entry* a, Entry* b, Entry* c, std::size_t i) const {
    a[i] = b[i] + s * c[i];
  }
};
struct NativeMultiply {
  template <class Scalar, class Entry>
  KOKKOS_FUNCTION void operator()(Scalar, Entry* a, Entry* b, Entry* c, std::size_t i) const {
    c[i] = a[i] * b[i];
  }
};

template <class Scalar>
std::vector<NativeLoop<Scalar>> native_stream() {
  return {{"copy", 2, native_run<Scalar, NativeCopy>},
          {"scale", 2, native_run<Scalar, NativeScale>},
          {"add", 3, native_run<Scalar, NativeAdd>},
          {"triad", 3, native_run<Scalar, NativeTriad>},
          {"multiply", 3, native_run<Scalar, NativeMultiply>}};
}

}  // namespace sporades::perf
