// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <sporades/core/kokkos.hpp>
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

template <class Scalar, class Body>
__global__ void native_kernel(Body body, Scalar s, Scalar* a, Scalar* b, Scalar* c,
                              std::size_t length) {
  std::size_t const i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < length) body(s, a, b, c, i);
}

template <class Scalar, class Body>
void native_run(Scalar s, Scalar* a, Scalar* b, Scalar* c, std::size_t length) {
  native_kernel<<<static_cast<unsigned>((length + 255) / 256), 256>>>(Body{}, s, a, b, c, length);
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
  template <class Scalar>
  KOKKOS_FUNCTION void operator()(Scalar, Scalar* a, Scalar*, Scalar* c, std::size_t i) const {
    c[i] = a[i];
  }
};
struct NativeScale {
  template <class Scalar>
  KOKKOS_FUNCTION void operator()(Scalar s, Scalar*, Scalar* b, Scalar* c, std::size_t i) const {
    b[i] = s * c[i];
  }
};
struct NativeAdd {
  template <class Scalar>
  KOKKOS_FUNCTION void operator()(Scalar, Scalar* a, Scalar* b, Scalar* c, std::size_t i) const {
    c[i] = a[i] + b[i];
  }
};
struct NativeTriad {
  template <class Scalar>
  KOKKOS_FUNCTION void operator()(Scalar s, Scalar* a, Scalar* b, Scalar* c, std::size_t i) const {
    a[i] = b[i] + s * c[i];
  }
};
struct NativeMultiply {
  template <class Scalar>
  KOKKOS_FUNCTION void operator()(Scalar, Scalar* a, Scalar* b, Scalar* c, std::size_t i) const {
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
