// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <sporades/core/detail/cusolver.hpp>
#include <sporades/core/detail/kokkos.hpp>

#if defined(KOKKOS_ENABLE_CUDA) && defined(KOKKOSKERNELS_ENABLE_TPL_CUSOLVER)
#include <cusolverDn.h>

#include <mutex>
#include <sporades/core/error.hpp>
#include <type_traits>

namespace sporades::detail {
namespace {

void expect_success(cusolverStatus_t status, char const* call, int m, int n) {
  if (status != CUSOLVER_STATUS_SUCCESS)
    throw RunError(concatenate("cuSOLVER's ", call, " failed with status ",
                               static_cast<int>(status), " for a matrix of ", m, " x ", n));
}

/// Made by the first call, which takes long, and destroyed by Kokkos::finalize. A handle has one
/// stream at a time: who uses it holds `mutex`.
struct CusolverHandle {
  std::mutex mutex;
  cusolverDnHandle_t handle = nullptr;

  cusolverDnHandle_t get(int m, int n) {
    if (handle == nullptr) {
      cusolverDnHandle_t made = nullptr;
      expect_success(cusolverDnCreate(&made), "start", m, n);
      handle = made;
      Kokkos::push_finalize_hook([this] { cusolverDnDestroy(handle); });
    }
    return handle;
  }
};

CusolverHandle& cusolver() {
  static CusolverHandle only;
  return only;
}

cusolverStatus_t find_work(cusolverDnHandle_t handle, int m, int n, float, int& size) {
  return cusolverDnSgesvd_bufferSize(handle, m, n, &size);
}
cusolverStatus_t find_work(cusolverDnHandle_t handle, int m, int n, double, int& size) {
  return cusolverDnDgesvd_bufferSize(handle, m, n, &size);
}

}  // namespace

template <class Scalar>
int cusolver_svd_work(int m, int n) {
  auto& only = cusolver();
  std::lock_guard<std::mutex> const lock(only.mutex);
  int size = 0;
  if (find_work(only.get(m, n), m, n, Scalar(), size) != CUSOLVER_STATUS_SUCCESS) return -1;
  return size;
}

template <class Scalar>
void cusolver_svd(void* stream, int m, int n, Scalar* A, Scalar* s, Scalar* U, Scalar* Vt,
                  Scalar* work, int* info) {
  auto& only = cusolver();
  std::lock_guard<std::mutex> const lock(only.mutex);
  auto const handle = only.get(m, n);
  expect_success(cusolverDnSetStream(handle, static_cast<cudaStream_t>(stream)), "stream", m, n);
  int size = 0;
  expect_success(find_work(handle, m, n, Scalar(), size), "gesvd", m, n);
  // All of U and V^T that belong to values: other letters save memory, and are seldom used.
  if constexpr (std::is_same_v<Scalar, float>)
    expect_success(
        cusolverDnSgesvd(handle, 'S', 'S', m, n, A, m, s, U, m, Vt, n, work, size, nullptr, info),
        "gesvd", m, n);
  else
    expect_success(
        cusolverDnDgesvd(handle, 'S', 'S', m, n, A, m, s, U, m, Vt, n, work, size, nullptr, info),
        "gesvd", m, n);
}

template int cusolver_svd_work<float>(int, int);
template int cusolver_svd_work<double>(int, int);
template void cusolver_svd(void*, int, int, float*, float*, float*, float*, float*, int*);
template void cusolver_svd(void*, int, int, double*, double*, double*, double*, double*, int*);

}  // namespace sporades::detail
#endif
