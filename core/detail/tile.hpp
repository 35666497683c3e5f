// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <sporades/core/detail/kokkos.hpp>
#include <type_traits>
#include <utility>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

/// Tiles: consecutive entries of a matrix row that a kernel holds in registers.

namespace sporades::detail {

/// A vector register that holds `entries` entries, by the vector types of g++ and clang. With them
/// a tile stays in registers; with loops over arrays it may not. nvcc refuses these types, and the
/// lanes of a GPU exchange single entries. With nvcc and hipcc a Register is therefore one entry.
template <class Scalar, int entries>
struct Register {
#if defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__)
  static constexpr int size = entries;
  typedef Scalar Type
      __attribute__((vector_size(entries * sizeof(Scalar)), aligned(alignof(Scalar)), may_alias));
  static KOKKOS_FORCEINLINE_FUNCTION Scalar get(Type const& from, int j) {
    return from[j];
  }
  static KOKKOS_FORCEINLINE_FUNCTION void set(Type& to, int j, Scalar value) {
    to[j] = value;
  }
  /// By reference: a vector wider than the processor's is no return value that all compilers pass
  /// alike.
  template <class To>
  static KOKKOS_FORCEINLINE_FUNCTION void convert(Type const& from,
                                                  typename Register<To, entries>::Type& result) {
    using Converted = typename Register<To, entries>::Type;
#if defined(__AVX512F__)
    // One instruction, of which g++ 12 makes several for vector types. (It warns of the intrinsic
    // without a mask, which is the same one.)
    if constexpr (entries == 8 && std::is_same_v<Scalar, float> && std::is_same_v<To, double>)
      result = (Converted)_mm512_maskz_cvtps_pd(0xff, (__m256)from);
    else
#endif
      result = __builtin_convertvector(from, Converted);
  }
  /// The sum of the entries: the two halves are added, then the halves of the result, and so on.
  static KOKKOS_FORCEINLINE_FUNCTION Scalar sum(Type const& from) {
    if constexpr (entries == 1) {
      return from[0];
    } else {
      using Half = Register<Scalar, entries / 2>;
      typename Half::Type halves[2];
      __builtin_memcpy(halves, &from, sizeof from);
      return Half::sum(halves[0] + halves[1]);
    }
  }
#else
  static constexpr int size = 1;
  using Type = Scalar;
  static KOKKOS_FORCEINLINE_FUNCTION Scalar get(Type const& from, int) {
    return from;
  }
  static KOKKOS_FORCEINLINE_FUNCTION void set(Type& to, int, Scalar value) {
    to = value;
  }
  template <class To>
  static KOKKOS_FORCEINLINE_FUNCTION void convert(Type const& from, To& result) {
    result = static_cast<To>(from);
  }
  static KOKKOS_FORCEINLINE_FUNCTION Scalar sum(Type const& from) {
    return from;
  }
#endif
};

/// Entries of the widest register, of at most 64 bytes, of which a whole number makes a tile.
template <class Scalar, int Width>
constexpr int register_entries() {
  int entries = 64 / sizeof(Scalar);
  while (Width % entries != 0) entries /= 2;
  return entries;
}

/// Width consecutive entries of a matrix row.
template <class Scalar, int Width>
struct Tile {
  using Part = Register<Scalar, register_entries<Scalar, Width>()>;
  static constexpr int parts = Width / Part::size;

  typename Part::Type part[parts];

  KOKKOS_FORCEINLINE_FUNCTION Scalar operator[](int j) const {
    return Part::get(part[j / Part::size], j % Part::size);
  }
  KOKKOS_FORCEINLINE_FUNCTION void set(int j, Scalar value) {
    Part::set(part[j / Part::size], j % Part::size, value);
  }

  KOKKOS_FORCEINLINE_FUNCTION void fill(Scalar value) {
    for (auto& p : part) p = typename Part::Type{} + value;
  }
  KOKKOS_FORCEINLINE_FUNCTION void add(Tile const& other) {
    for (int k = 0; k < parts; ++k) part[k] += other.part[k];
  }
  KOKKOS_FORCEINLINE_FUNCTION void multiply(Tile const& other) {
    for (int k = 0; k < parts; ++k) part[k] *= other.part[k];
  }
  KOKKOS_FORCEINLINE_FUNCTION void multiply(Scalar factor) {
    for (int k = 0; k < parts; ++k) part[k] *= factor;
  }
  /// this += a * b
  KOKKOS_FORCEINLINE_FUNCTION void add_product(Tile const& a, Tile const& b) {
    for (int k = 0; k < parts; ++k) part[k] += a.part[k] * b.part[k];
  }
  KOKKOS_FORCEINLINE_FUNCTION void add_product(Scalar a, Tile const& b) {
    for (int k = 0; k < parts; ++k) part[k] += a * b.part[k];
  }
  /// sum over j of this[j] other[j]
  KOKKOS_FORCEINLINE_FUNCTION Scalar dot(Tile const& other) const {
    auto products = part[0] * other.part[0];
    for (int k = 1; k < parts; ++k) products += part[k] * other.part[k];
    return Part::sum(products);
  }
};

/// Sixteen bytes, or fewer, that one instruction of a GPU loads or stores.
template <class Scalar, int size = 16 / sizeof(Scalar)>
struct alignas(size * sizeof(Scalar)) Pack {
  Scalar entry[size];
};

/// Loads a tile. If `packed`, 16 bytes at a time, from an address that is a multiple of 16.
template <class Scalar, int width, bool packed = false>
KOKKOS_FORCEINLINE_FUNCTION Tile<Scalar, width> load_tile(Scalar const* from) {
  using T = Tile<Scalar, width>;
  T tile;
  if constexpr (packed) {
    constexpr int size = 16 / sizeof(Scalar);
    for (int k = 0; k < width / size; ++k) {
      auto const pack = reinterpret_cast<Pack<Scalar> const*>(from)[k];
      for (int j = 0; j < size; ++j) tile.set(k * size + j, pack.entry[j]);
    }
  } else {
    auto const parts = reinterpret_cast<typename T::Part::Type const*>(from);
    for (int k = 0; k < T::parts; ++k) tile.part[k] = parts[k];
  }
  return tile;
}

/// Stores a tile as load_tile loads it.
template <class Scalar, int width, bool packed = false>
KOKKOS_FORCEINLINE_FUNCTION void store_tile(Tile<Scalar, width> const& tile, Scalar* to) {
  using T = Tile<Scalar, width>;
  if constexpr (packed) {
    constexpr int size = 16 / sizeof(Scalar);
    for (int k = 0; k < width / size; ++k) {
      Pack<Scalar> pack;
      for (int j = 0; j < size; ++j) pack.entry[j] = tile[k * size + j];
      reinterpret_cast<Pack<Scalar>*>(to)[k] = pack;
    }
  } else {
    auto const parts = reinterpret_cast<typename T::Part::Type*>(to);
    for (int k = 0; k < T::parts; ++k) parts[k] = tile.part[k];
  }
}

/// to[j] += entries[j], each atomically. Four floats, at a multiple of 16 bytes, are one
/// instruction of NVIDIA GPUs of compute capability 9.
template <class Scalar, std::size_t size>
KOKKOS_FORCEINLINE_FUNCTION void add_pack_atomically(Scalar* to, Scalar const (&entries)[size]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && defined(__CUDACC_VER_MAJOR__) && \
    __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1201
  if constexpr (std::is_same_v<Scalar, float> && size == 4)
    atomicAdd(reinterpret_cast<float4*>(to),
              make_float4(entries[0], entries[1], entries[2], entries[3]));
  else
#endif
    for (std::size_t j = 0; j < size; ++j) Kokkos::atomic_add(to + j, entries[j]);
}

/// to += value, atomically for the threads of the calling thread's team; others must not touch it.
template <class Scalar>
KOKKOS_FORCEINLINE_FUNCTION void atomic_add_in_team(Scalar* to, Scalar value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 600
  atomicAdd_block(to, value);
#elif defined(__HIP_DEVICE_COMPILE__)
  __hip_atomic_fetch_add(to, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
#else
  Kokkos::atomic_add(to, value);
#endif
}

/// The tile with its entries converted to double.
template <class Scalar, int width>
KOKKOS_FORCEINLINE_FUNCTION Tile<double, width> in_double(Tile<Scalar, width> const& tile) {
  if constexpr (std::is_same_v<Scalar, double>) {
    return tile;
  } else {
    using Part = typename Tile<Scalar, width>::Part;
    Tile<double, width> result;
    static_assert(Tile<double, width>::parts == Tile<Scalar, width>::parts,
                  "A part of either tile must hold the same entries.");
    for (int k = 0; k < tile.parts; ++k)
      Part::template convert<double>(tile.part[k], result.part[k]);
    return result;
  }
}

/// True if every row of A begins at a multiple of so many bytes.
template <class MatrixType>
bool rows_are_aligned(MatrixType const& A, std::size_t bytes = 16) {
  using Scalar = typename MatrixType::non_const_value_type;
  return reinterpret_cast<std::uintptr_t>(A.data()) % bytes == 0 &&
         A.stride(0) * sizeof(Scalar) % bytes == 0;
}

/// Calls run(std::true_type) on GPUs if all rows of all matrices are aligned in this way, else
/// run(std::false_type).
template <class ExecutionSpace, class Run, class... Matrices>
void for_packed(Run const& run, Matrices const&... matrices) {
  if constexpr (is_gpu<ExecutionSpace>)
    if ((rows_are_aligned(matrices) && ...)) return run(std::true_type{});
  run(std::false_type{});
}

template <class Body, int... k>
KOKKOS_FORCEINLINE_FUNCTION void unrolled(std::integer_sequence<int, k...>, Body const& body) {
  (body(k), ...);
}

/// Calls body(k) for k = 0 to count - 1, one call after another instead of a loop. g++ 12 does not
/// unroll a loop over an array of tiles, and then holds the tiles in memory.
template <int count, class Body>
KOKKOS_FORCEINLINE_FUNCTION void unrolled(Body const& body) {
  unrolled(std::make_integer_sequence<int, count>{}, body);
}

}  // namespace sporades::detail
