// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstring>
#include <sporades/core/detail/kokkos.hpp>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace sporades::detail {

/// Bytes of a cache line of a CPU. Only whole lines can be written past the caches.
inline constexpr int line_bytes = 64;

/// Writes one line past the caches, on processors that can. A line that is written through the
/// caches is read first; for results that are not read again soon this halves the traffic. `to`
/// must be a multiple of line_bytes.
KOKKOS_FORCEINLINE_FUNCTION void stream_line(void* to, void const* from) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__) || !defined(__SSE2__)
  memcpy(to, from, line_bytes);
#elif defined(__AVX512F__)
  _mm512_stream_si512(static_cast<__m512i*>(to), _mm512_loadu_si512(from));
#elif defined(__AVX__)
  for (int part = 0; part < 2; ++part)
    _mm256_stream_si256(static_cast<__m256i*>(to) + part,
                        _mm256_loadu_si256(static_cast<__m256i const*>(from) + part));
#else
  for (int part = 0; part < 4; ++part)
    _mm_stream_si128(static_cast<__m128i*>(to) + part,
                     _mm_loadu_si128(static_cast<__m128i const*>(from) + part));
#endif
}

/// Asks the processor to load the line of an address that will be read soon. The address need not
/// be readable.
KOKKOS_FORCEINLINE_FUNCTION void prefetch(void const* address) {
#if defined(__GNUC__) && !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  __builtin_prefetch(address);
#else
  static_cast<void>(address);
#endif
}

/// Writes 16 bytes that are not read again soon, so that a GPU's caches drop them first.
KOKKOS_FORCEINLINE_FUNCTION void stream_pack(void* to, void const* from) {
#if defined(__CUDA_ARCH__)
  __stcs(static_cast<int4*>(to), *static_cast<int4 const*>(from));
#else
  memcpy(to, from, 16);
#endif
}

/// A number that is not read again soon, so that a GPU's caches drop it first.
template <class Number>
KOKKOS_FORCEINLINE_FUNCTION Number stream_load(Number const* from) {
#if defined(__CUDA_ARCH__)
  return __ldcs(from);
#else
  return *from;
#endif
}

/// Call at the end of a thread's work: makes sure that other threads see the lines that it streamed
/// before they see what it writes next.
KOKKOS_FORCEINLINE_FUNCTION void finish_streaming() {
#if defined(__SSE2__) && !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  _mm_sfence();
#endif
}

}  // namespace sporades::detail
