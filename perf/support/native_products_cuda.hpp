// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "native_products.hpp"

namespace sporades::perf {

inline constexpr int native_block = 128;  // threads
inline constexpr int native_batch = 4;    // nonzeros whose loads are under way together

/// 16 bytes that a lane loads at once.
template <class Scalar>
struct alignas(16) NativePack {
  static constexpr int size = 16 / sizeof(Scalar);
  Scalar entry[size];

  __device__ void fill(Scalar value) {
    for (int j = 0; j < size; ++j) entry[j] = value;
  }
  __device__ void multiply(NativePack const& other) {
    for (int j = 0; j < size; ++j) entry[j] *= other.entry[j];
  }
  __device__ void add_product(Scalar a, NativePack const& other) {
    for (int j = 0; j < size; ++j) entry[j] += a * other.entry[j];
  }
  __device__ Scalar dot(NativePack const& other) const {
    Scalar sum = 0;
    for (int j = 0; j < size; ++j) sum += entry[j] * other.entry[j];
    return sum;
  }
};

__device__ inline void native_add(double* to, NativePack<double> const& sum) {
  atomicAdd(to, sum.entry[0]);
  atomicAdd(to + 1, sum.entry[1]);
}
__device__ inline void native_add(float* to, NativePack<float> const& sum) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && \
    __CUDACC_VER_MAJOR__ * 10 + __CUDACC_VER_MINOR__ >= 121
  atomicAdd(reinterpret_cast<float4*>(to),
            make_float4(sum.entry[0], sum.entry[1], sum.entry[2], sum.entry[3]));
#else
  for (int j = 0; j < 4; ++j) atomicAdd(to + j, sum.entry[j]);
#endif
}

/// Neighbouring lanes of a warp that work on the same nonzeros; a power of two, up to 32.
struct NativeLanes {
  int count, mine;
  unsigned mask;

  __device__ explicit NativeLanes(int lanes)
      : count(lanes), mine(static_cast<int>(threadIdx.x) % lanes) {
    int const first = static_cast<int>(threadIdx.x) % 32 - mine;
    mask = (0xffffffffu >> (32 - lanes)) << first;
  }
  template <class Scalar>
  __device__ Scalar across(int distance, Scalar value) const {
#if defined(__HIPCC__)
    return __shfl_xor(value, distance, count);
#else
    return __shfl_xor_sync(mask, value, distance, count);
#endif
  }
  template <class Scalar>
  __device__ Scalar of(int lane, Scalar value) const {
#if defined(__HIPCC__)
    return __shfl(value, lane, count);
#else
    return __shfl_sync(mask, value, lane, count);
#endif
  }
  template <class Scalar>
  __device__ Scalar sum(Scalar value) const {
    for (int distance = count / 2; distance > 0; distance /= 2) value += across(distance, value);
    return value;
  }
  /// The sum over the lanes, four or more, of value[lane % 4].
  template <class Scalar>
  __device__ Scalar sum_of_four(Scalar const (&value)[4]) const {
    bool const upper = mine & 2, odd = mine & 1;
    Scalar const even_kept = upper ? value[2] : value[0], odd_kept = upper ? value[3] : value[1];
    Scalar const even_sent = upper ? value[0] : value[2], odd_sent = upper ? value[1] : value[3];
    Scalar const even = even_kept + across(2, even_sent), other = odd_kept + across(2, odd_sent);
    Scalar total = (odd ? other : even) + across(1, odd ? even : other);
    for (int distance = 4; distance < count; distance *= 2) total += across(distance, total);
    return total;
  }
};

/// Whether a row has no other nonzeros than first to past - 1 of the chunk begin to end - 1, in
/// which another row's are next to them. Sorted nonzeros.
template <class Scalar>
__device__ bool native_is_whole(NativeProduct<Scalar> const& x, std::size_t begin, std::size_t end,
                                std::size_t first, std::size_t past, std::uint32_t row) {
  return (first > begin || begin == 0 || x.row_of[begin - 1] != row) &&
         (past < end || end == x.nnz || x.row_of[end] != row);
}

/// Aligned rows of at most 32 x Packs packs. A group of lanes walks `length` nonzeros, each lane
/// with `Packs` packs of a row in registers, `lanes` packs from one another.
template <NativeLoop loop, int Others, int Packs, class Scalar>
__global__ void __launch_bounds__(native_block)
    native_packs(NativeProduct<Scalar> x, int group, int length) {
  using Pack = NativePack<Scalar>;
  constexpr bool is_pull = loop == NativeLoop::phi_pull;
  NativeLanes const lanes(group);
  std::size_t const begin =
      (static_cast<std::size_t>(blockIdx.x) * native_block + threadIdx.x) / group * length;
  if (begin >= x.nnz) return;
  std::size_t const end = begin + length < x.nnz ? begin + length : x.nnz;
  std::uint32_t column[Packs];
  bool is_there[Packs];
#pragma unroll
  for (int q = 0; q < Packs; ++q) {
    column[q] = static_cast<std::uint32_t>((q * group + lanes.mine) * Pack::size);
    is_there[q] = column[q] < static_cast<std::uint32_t>(x.R);
    if (!is_there[q]) column[q] = 0;
  }
  int const others = Others < 0 ? x.others : Others;
  auto const load = [&](Scalar const* A, std::uint32_t row, int q) {
    return *reinterpret_cast<Pack const*>(A + row * x.stride + column[q]);
  };
  Pack sum[Packs], b[native_batch][Packs];
  std::uint32_t current = x.row_of[begin];
  std::size_t first = begin;  // of the row's nonzeros
  auto const load_b = [&](int k, std::uint32_t row) {
#pragma unroll
    for (int q = 0; q < Packs; ++q) {
      b[k][q] = load(x.B, row, q);
      if (!is_there[q]) b[k][q].fill(0);
    }
  };
  auto const clear = [&] {
#pragma unroll
    for (int q = 0; q < Packs; ++q) sum[q].fill(0);
  };
  auto const flush = [&](std::size_t past) {
    bool const is_whole = is_pull && native_is_whole(x, begin, end, first, past, current);
#pragma unroll
    for (int q = 0; q < Packs; ++q) {
      Scalar* const to = x.V + current * x.stride + column[q];
      if (is_there[q] && is_whole)
        *reinterpret_cast<Pack*>(to) = sum[q];
      else if (is_there[q])
        native_add(to, sum[q]);
    }
  };
  clear();
  if (is_pull) load_b(0, current);
  for (std::size_t p = begin; p < end; p += native_batch) {
    std::uint32_t row[native_batch];
    Scalar value[native_batch];
    Pack term[native_batch][Packs];
    std::size_t const own_place = p + lanes.mine % native_batch;
    Scalar own = is_phi<loop> && own_place < end ? x.values[own_place] : Scalar(0);
#pragma unroll
    for (int k = 0; k < native_batch; ++k) {  // past the end: the last nonzero, without its value
      std::size_t const at = p + k < end ? p + k : end - 1;
      row[k] = x.row_of[at];
      value[k] = !is_phi<loop> && p + k < end ? x.values[at] : Scalar(0);
#pragma unroll
      for (int q = 0; q < Packs; ++q) term[k][q].fill(1);
#pragma unroll
      for (int m = 0; m < others; ++m) {
        std::uint32_t const index = x.indices[m][at];
#pragma unroll
        for (int q = 0; q < Packs; ++q) term[k][q].multiply(load(x.factors[m], index, q));
      }
      if (is_phi<loop> && !is_pull) load_b(k, row[k]);
    }
    if constexpr (is_phi<loop>) {
      Scalar model[native_batch];
      std::uint32_t loaded = current;
#pragma unroll
      for (int k = 0; k < native_batch; ++k) {
        if (is_pull && row[k] != loaded) load_b(0, loaded = row[k]);
        model[k] = 0;
#pragma unroll
        for (int q = 0; q < Packs; ++q) model[k] += b[is_pull ? 0 : k][q].dot(term[k][q]);
      }
      Scalar const total = lanes.sum_of_four(model);
      own /= total < x.epsilon ? x.epsilon : total;
#pragma unroll
      for (int k = 0; k < native_batch; ++k) value[k] = lanes.of(k, own);
    }
#pragma unroll
    for (int k = 0; k < native_batch; ++k) {
      if (row[k] != current) {
        flush(p + k);
        clear();
        current = row[k];
        first = p + k;
      }
#pragma unroll
      for (int q = 0; q < Packs; ++q) sum[q].add_product(value[k], term[k][q]);
    }
  }
  flush(end);
}

/// Rows of any number of columns, aligned or not: 32 lanes take 32 nonzeros, whose weights they
/// keep one a lane, and sum them column by column.
template <NativeLoop loop, class Scalar>
__global__ void __launch_bounds__(native_block) native_columns(NativeProduct<Scalar> x) {
  NativeLanes const lanes(32);
  std::size_t const begin =
      (static_cast<std::size_t>(blockIdx.x) * native_block + threadIdx.x) / 32 * 32;
  if (begin >= x.nnz) return;
  int const count = x.nnz - begin < 32 ? static_cast<int>(x.nnz - begin) : 32;
  auto const pi = [&](std::size_t p, int c) {
    Scalar product = 1;
    for (int m = 0; m < x.others; ++m) product *= x.factors[m][x.indices[m][p] * x.stride + c];
    return product;
  };
  Scalar own = lanes.mine < count ? x.values[begin + lanes.mine] : Scalar(0);
  if constexpr (is_phi<loop>)
    for (int k = 0; k < count; ++k) {
      std::size_t const p = begin + k;
      Scalar model = 0;
      for (int c = lanes.mine; c < x.R; c += 32)
        model += x.B[x.row_of[p] * x.stride + c] * pi(p, c);
      model = lanes.sum(model);
      if (lanes.mine == k) own /= model < x.epsilon ? x.epsilon : model;
    }
  for (int before = 0; before < x.R; before += 32) {
    int const c = before + lanes.mine;
    std::size_t first = begin;
    std::uint32_t current = x.row_of[begin];
    Scalar sum = 0;
    auto const flush = [&](std::size_t past) {
      if (c >= x.R) return;
      if (loop == NativeLoop::phi_pull &&
          native_is_whole(x, begin, begin + count, first, past, current))
        x.V[current * x.stride + c] = sum;
      else
        atomicAdd(x.V + current * x.stride + c, sum);
    };
    for (int k = 0; k < count; ++k) {
      Scalar const weight = lanes.of(k, own);
      std::size_t const p = begin + k;
      if (x.row_of[p] != current) {
        flush(p);
        current = x.row_of[p];
        first = p;
        sum = 0;
      }
      if (c < x.R) sum += weight * pi(p, c);
    }
    flush(begin + count);
  }
}

template <class Scalar>
void native_clear(NativeProduct<Scalar> const& x) {
  std::size_t const word = sizeof(Scalar);
  if (x.rows == 0) return;
#if defined(__HIPCC__)
  static_cast<void>(hipMemset2DAsync(x.V, x.stride * word, 0, x.R * word, x.rows));
#else
  cudaMemset2DAsync(x.V, x.stride * word, 0, x.R * word, x.rows);
#endif
}

inline unsigned native_blocks(std::size_t threads) {
  return static_cast<unsigned>((threads + native_block - 1) / native_block);
}

template <NativeLoop loop, int Packs, class Scalar>
void native_run_packs(NativeProduct<Scalar> const& x, int packs) {
  int lanes = 4;  // that sum_of_four wants
  while (lanes * Packs < packs) lanes *= 2;
  int const length = x.nnz < (std::size_t{1} << 22)   ? 32
                     : x.nnz < (std::size_t{1} << 25) ? 64
                                                      : 128;
  unsigned const blocks = native_blocks((x.nnz + length - 1) / length * lanes);
  bool const is_unrolled = sporades::detail::with_constant<2, 3, 4>(x.others, [&](auto others) {
    native_packs<loop, decltype(others)::value, Packs><<<blocks, native_block>>>(x, lanes, length);
  });
  if (!is_unrolled) native_packs<loop, -1, Packs><<<blocks, native_block>>>(x, lanes, length);
}

/// Enqueues the product on the default stream.
template <NativeLoop loop, class Scalar>
void native_run(NativeProduct<Scalar> const& x) {
  constexpr int size = NativePack<Scalar>::size;
  auto const is_aligned = [](Scalar const* A) {
    return reinterpret_cast<std::uintptr_t>(A) % 16 == 0;
  };
  bool aligned = x.stride % size == 0 && x.R % size == 0 && is_aligned(x.V);
  if (is_phi<loop>) aligned = aligned && is_aligned(x.B);
  for (int m = 0; m < x.others; ++m) aligned = aligned && is_aligned(x.factors[m]);
  int const packs = x.R / size;
  native_clear(x);
  if (x.nnz == 0) return;
  if (!aligned || packs > 64)
    native_columns<loop><<<native_blocks((x.nnz + 31) / 32 * 32), native_block>>>(x);
  else if (packs > 32 || (is_phi<loop> && packs >= 8))
    native_run_packs<loop, 2>(x, packs);  // fewer lanes exchange less
  else
    native_run_packs<loop, 1>(x, packs);
}

}  // namespace sporades::perf
