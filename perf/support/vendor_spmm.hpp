// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <sporades/core/detail/kokkos.hpp>
#include <sporades/core/error.hpp>

#if defined(KOKKOS_ENABLE_CUDA)
#include <cusparse.h>
#elif defined(KOKKOS_ENABLE_HIP)
#include <rocsparse/rocsparse.h>
#endif

/// A sparse matrix times a dense one by the library of the GPU's vendor, cuSPARSE where CUDA is and
/// rocSPARSE where HIP is; elsewhere there is none. Ahmad, Cecka, Garland & Hall (TACO 2024)
/// compare with unfolding followed by cuSPARSE.

namespace sporades::perf {

/// C = A B. A is in compressed sparse rows. Its offsets and columns are signed integers of one
/// width: cuSPARSE takes no others. B and C have R columns and are stored by rows.
struct SpmmProblem {
  std::int64_t rows, columns, entries, R;
  void *begin, *index, *values;     // of A
  void *B, *C;                      // columns x R, rows x R
  std::int64_t B_stride, C_stride;  // entries between rows
  bool is_wide;                     // offsets and columns have 64 bits, else 32
  bool is_double;                   // values are double, else float
};

namespace vendor {

/// What a call of a library's SpMM does: tells the bytes of the buffer, fills it, multiplies.
enum class Stage { size, prepare, multiply };

#if defined(KOKKOS_ENABLE_CUDA)

inline constexpr char const* strategy = "spmm_cusparse";  // in the names of benchmarks
using Handle = cusparseHandle_t;
using Sparse = cusparseSpMatDescr_t;
using Dense = cusparseDnMatDescr_t;

inline void check(cusparseStatus_t status) {
  expects(status == CUSPARSE_STATUS_SUCCESS, "cuSPARSE: ", cusparseGetErrorString(status));
}
inline auto type_of(SpmmProblem const& p) {
  return p.is_double ? CUDA_R_64F : CUDA_R_32F;
}
inline void create(Handle& handle) {
  check(cusparseCreate(&handle));
  check(cusparseSetStream(handle, Kokkos::DefaultExecutionSpace().cuda_stream()));
}
inline void create(Sparse& A, SpmmProblem const& p) {
  auto const integer = p.is_wide ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
  check(cusparseCreateCsr(&A, p.rows, p.columns, p.entries, p.begin, p.index, p.values, integer,
                          integer, CUSPARSE_INDEX_BASE_ZERO, type_of(p)));
}
inline void create(Dense& D, std::int64_t rows, std::int64_t stride, void* from,
                   SpmmProblem const& p) {
  check(cusparseCreateDnMat(&D, rows, p.R, stride, from, type_of(p), CUSPARSE_ORDER_ROW));
}
inline void destroy(Handle handle) {
  cusparseDestroy(handle);
}
inline void destroy(Sparse A) {
  cusparseDestroySpMat(A);
}
inline void destroy(Dense D) {
  cusparseDestroyDnMat(D);
}
inline void call(Stage stage, Handle handle, void const* one, Sparse A, Dense B, void const* zero,
                 Dense C, SpmmProblem const& p, std::size_t& bytes, void* buffer) {
  // That which the documentation of cuSPARSE recommends for matrices by rows.
  constexpr auto algorithm = CUSPARSE_SPMM_CSR_ALG2;
  constexpr auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  if (stage == Stage::size)
    check(cusparseSpMM_bufferSize(handle, plain, plain, one, A, B, zero, C, type_of(p), algorithm,
                                  &bytes));
  else
    check((stage == Stage::prepare ? cusparseSpMM_preprocess : cusparseSpMM)(
        handle, plain, plain, one, A, B, zero, C, type_of(p), algorithm, buffer));
}

#elif defined(KOKKOS_ENABLE_HIP)

inline constexpr char const* strategy = "spmm_rocsparse";
using Handle = rocsparse_handle;
using Sparse = rocsparse_spmat_descr;
using Dense = rocsparse_dnmat_descr;

inline void check(rocsparse_status status) {
  expects(status == rocsparse_status_success, "rocSPARSE: status ", static_cast<int>(status));
}
inline auto type_of(SpmmProblem const& p) {
  return p.is_double ? rocsparse_datatype_f64_r : rocsparse_datatype_f32_r;
}
inline void create(Handle& handle) {
  check(rocsparse_create_handle(&handle));
  check(rocsparse_set_stream(handle, Kokkos::DefaultExecutionSpace().hip_stream()));
}
inline void create(Sparse& A, SpmmProblem const& p) {
  auto const integer = p.is_wide ? rocsparse_indextype_i64 : rocsparse_indextype_i32;
  check(rocsparse_create_csr_descr(&A, p.rows, p.columns, p.entries, p.begin, p.index, p.values,
                                   integer, integer, rocsparse_index_base_zero, type_of(p)));
}
inline void create(Dense& D, std::int64_t rows, std::int64_t stride, void* from,
                   SpmmProblem const& p) {
  check(rocsparse_create_dnmat_descr(&D, rows, p.R, stride, from, type_of(p), rocsparse_order_row));
}
inline void destroy(Handle handle) {
  rocsparse_destroy_handle(handle);
}
inline void destroy(Sparse A) {
  rocsparse_destroy_spmat_descr(A);
}
inline void destroy(Dense D) {
  rocsparse_destroy_dnmat_descr(D);
}
inline void call(Stage stage, Handle handle, void const* one, Sparse A, Dense B, void const* zero,
                 Dense C, SpmmProblem const& p, std::size_t& bytes, void* buffer) {
  constexpr auto plain = rocsparse_operation_none;
  check(rocsparse_spmm(handle, plain, plain, one, A, B, zero, C, type_of(p),
                       rocsparse_spmm_alg_default,
                       stage == Stage::size      ? rocsparse_spmm_stage_buffer_size
                       : stage == Stage::prepare ? rocsparse_spmm_stage_preprocess
                                                 : rocsparse_spmm_stage_compute,
                       &bytes, buffer));
}

#else

inline constexpr char const* strategy = "";  // there is none
using Handle = void*;
using Sparse = void*;
using Dense = void*;

inline void create(Handle&) {
  fail("SpMM of a vendor's library needs CUDA or HIP");
}
inline void create(Sparse&, SpmmProblem const&) {}
inline void create(Dense&, std::int64_t, std::int64_t, void*, SpmmProblem const&) {}
inline void destroy(void*) {}
inline void call(Stage, Handle, void const*, Sparse, Dense, void const*, Dense, SpmmProblem const&,
                 std::size_t&, void*) {}

#endif

}  // namespace vendor

/// The product of a problem. Descriptors, buffer and preprocessing are made once, with it.
class VendorSpmm {
 public:
  /// Throws Error in words of the library, and where there is none.
  explicit VendorSpmm(SpmmProblem const& p) : problem(p) {
    vendor::create(handle.it);
    if (p.rows == 0 || p.R == 0) return;
    vendor::create(A.it, p);
    vendor::create(B.it, p.columns, p.B_stride, p.B, p);
    vendor::create(C.it, p.rows, p.C_stride, p.C, p);
    call(vendor::Stage::size);
    // rocSPARSE takes a null pointer for a question about the size.
    buffer = decltype(buffer)("sporades::perf::vendor_spmm", bytes > 0 ? bytes : 1);
    call(vendor::Stage::prepare);
  }

  /// Enqueued on Kokkos' default instance.
  void multiply() {
    if (problem.rows > 0 && problem.R > 0) call(vendor::Stage::multiply);
  }

 private:
  template <class Descriptor>
  struct Owned {
    Descriptor it{};
    Owned() = default;
    Owned(Owned const&) = delete;
    Owned& operator=(Owned const&) = delete;
    ~Owned() {
      if (it != Descriptor{}) vendor::destroy(it);
    }
  };

  void call(vendor::Stage stage) {
    double const doubles[] = {1, 0};
    float const floats[] = {1, 0};
    void const* const one = problem.is_double ? static_cast<void const*>(doubles) : floats;
    void const* const zero = problem.is_double ? static_cast<void const*>(doubles + 1) : floats + 1;
    vendor::call(stage, handle.it, one, A.it, B.it, zero, C.it, problem, bytes, buffer.data());
  }

  SpmmProblem problem;
  Owned<vendor::Handle> handle;
  Owned<vendor::Sparse> A;
  Owned<vendor::Dense> B, C;
  std::size_t bytes = 0;
  Kokkos::View<char*, Kokkos::DefaultExecutionSpace::memory_space> buffer;
};

}  // namespace sporades::perf
