// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>
#include <sporades/core/detail/lapack.hpp>
#include <sporades/core/detail/memory.hpp>
#include <sporades/core/detail/shortage.hpp>
#include <sporades/core/error.hpp>

// LAPACK's Fortran symbols; the trailing lengths are those of the character arguments.
extern "C" {
void dpotrf_(char const* uplo, int const* n, double* a, int const* lda, int* info, std::size_t);
void dpotri_(char const* uplo, int const* n, double* a, int const* lda, int* info, std::size_t);
void dtrtri_(char const* uplo, char const* diag, int const* n, double* a, int const* lda, int* info,
             std::size_t, std::size_t);
void dpocon_(char const* uplo, int const* n, double const* a, int const* lda, double const* anorm,
             double* rcond, double* work, int* iwork, int* info, std::size_t);
void dsyev_(char const* jobz, char const* uplo, int const* n, double* a, int const* lda, double* w,
            double* work, int const* lwork, int* info, std::size_t, std::size_t);
void dsyevr_(char const* jobz, char const* range, char const* uplo, int const* n, double* a,
             int const* lda, double const* vl, double const* vu, int const* il, int const* iu,
             double const* abstol, int* m, double* w, double* z, int const* ldz, int* isuppz,
             double* work, int const* lwork, int* iwork, int const* liwork, int* info, std::size_t,
             std::size_t, std::size_t);
void dgesdd_(char const* jobz, int const* m, int const* n, double* a, int const* lda, double* s,
             double* u, int const* ldu, double* vt, int const* ldvt, double* work, int const* lwork,
             int* iwork, int* info, std::size_t);

// Present where the BLAS is OpenBLAS (openmp or pthread build) or MKL.
__attribute__((weak)) int openblas_get_parallel();
__attribute__((weak)) int openblas_get_num_threads();
__attribute__((weak)) void openblas_set_num_threads(int);
// By names of our own: compilers' omp.h differ in whether these are declared not to throw.
__attribute__((weak)) int omp_threads() __asm__("omp_get_max_threads");
__attribute__((weak)) void set_omp_threads(int) __asm__("omp_set_num_threads");
__attribute__((weak)) int mkl_set_num_threads_local(int);
}

namespace sporades::detail {

void start_lapack() {
  static std::atomic<bool> has_started{false};
  if (!openblas_get_parallel || has_started) return;
  std::size_t const bytes = 2 * (std::size_t{1} << 27);  // other threads may take some meanwhile
  void* const room =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED)
    throw RunError(concatenate("LAPACK (OpenBLAS) needs ", enough_text(static_cast<double>(bytes)),
                               " of addresses when it is first called, and the system refuses ",
                               "them (ulimit -v and -d are limits; this process may have ",
                               room_text(host_memory_bytes()), ")"));
  munmap(room, bytes);
  double one = 1;
  int const n = 1;
  int info = 0;
  dpotrf_("L", &n, &one, &n, &info, 1);
  has_started = true;
}

namespace {

/// One BLAS thread for its lifetime. OpenBLAS's openmp build follows OpenMP's setting of the
/// calling thread (and its own setter would change that); its pthread build has a setting of its
/// own.
class OneBlasThread {
 public:
  OneBlasThread() {
    start_lapack();
    if (openblas_get_parallel && openblas_get_parallel() == 2 && set_omp_threads) {
      restore_ = set_omp_threads;
      threads_ = omp_threads();
      set_omp_threads(1);
    } else if (openblas_get_parallel && openblas_get_parallel() == 1) {
      restore_ = openblas_set_num_threads;
      threads_ = openblas_get_num_threads();
      openblas_set_num_threads(1);
    } else if (mkl_set_num_threads_local) {
      restore_ = [](int threads) { mkl_set_num_threads_local(threads); };
      threads_ = mkl_set_num_threads_local(1);
    }
  }
  ~OneBlasThread() {
    if (restore_) restore_(threads_);
  }
  OneBlasThread(OneBlasThread const&) = delete;
  OneBlasThread& operator=(OneBlasThread const&) = delete;

 private:
  void (*restore_)(int) = nullptr;
  int threads_ = 0;
};

std::size_t square(int n) {
  return static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
}

void check(std::vector<double> const& H, int n, char const* where) {
  expects(n >= 0 && H.size() == square(n), where, ": ", H.size(), " entries are no ", n, " x ", n,
          " matrix");
  for (double h : H)
    if (!std::isfinite(h)) throw RunError(concatenate(where, ": the matrix holds ", h));
}

double one_norm(std::vector<double> const& H, int n) {
  double largest = 0;
  for (int j = 0; j < n; ++j) {
    double column = 0;
    for (int i = 0; i < n; ++i) column += std::abs(H[static_cast<std::size_t>(j) * n + i]);
    largest = std::max(largest, column);
  }
  return largest;
}

/// The upper triangular U with U U^T = F F^T: the rows of F are made orthonormal from the last to
/// the first by the modified Gram-Schmidt process, whose triangle is accurate whatever the rank is.
/// Bjorck, BIT 7(1), 1967.
std::vector<double> upper_triangle(std::vector<double> F, int n) {
  std::vector<double> U(square(n));
  for (int i = n - 1; i >= 0; --i) {
    double* const row = F.data() + static_cast<std::size_t>(i) * n;
    double squares = 0;
    for (int k = 0; k < n; ++k) squares += row[k] * row[k];
    double const length = std::sqrt(squares);
    U[static_cast<std::size_t>(i) * n + i] = length;
    if (!(length > 0)) continue;
    for (int j = 0; j < i; ++j) {
      double* const other = F.data() + static_cast<std::size_t>(j) * n;
      double product = 0;
      for (int k = 0; k < n; ++k) product += other[k] * (row[k] / length);
      U[static_cast<std::size_t>(j) * n + i] = product;
      for (int k = 0; k < n; ++k) other[k] -= product * (row[k] / length);
    }
  }
  return U;
}

/// Sum over the eigenvalues past the threshold of vector vector^T / value, or its factor.
SymmetricInverse pseudo_inverse(std::vector<double> const& H, int n, double epsilon,
                                double reciprocal_condition, bool may_factor) {
  auto const eigen = symmetric_eigen(H, n);
  double const threshold = n * epsilon * (n > 0 ? std::max(eigen.values.back(), 0.0) : 0.0);
  SymmetricInverse result{std::vector<double>(square(n)), true, 0, reciprocal_condition,
                          may_factor};
  for (int k = 0; k < n; ++k) {
    if (eigen.values[k] <= threshold) continue;
    ++result.rank;
    double const* const v = eigen.vectors.data() + static_cast<std::size_t>(k) * n;
    for (int i = 0; i < n; ++i) {
      double* const row = result.inverse.data() + static_cast<std::size_t>(i) * n;
      if (may_factor)
        row[k] = v[i] / std::sqrt(eigen.values[k]);
      else
        for (int j = 0; j < n; ++j) row[j] += v[i] * v[j] / eigen.values[k];
    }
  }
  if (may_factor) result.inverse = upper_triangle(std::move(result.inverse), n);
  return result;
}

}  // namespace

SymmetricEigen symmetric_eigen(std::vector<double> const& H, int n) {
  check(H, n, "symmetric_eigen");
  SymmetricEigen result{std::vector<double>(n), H};
  if (n == 0) return result;
  OneBlasThread const one;
  int info = 0, size = -1;
  double best = 0;
  dsyev_("V", "L", &n, result.vectors.data(), &n, result.values.data(), &best, &size, &info, 1, 1);
  size = static_cast<int>(best);
  std::vector<double> work(static_cast<std::size_t>(size));
  dsyev_("V", "L", &n, result.vectors.data(), &n, result.values.data(), work.data(), &size, &info,
         1, 1);
  if (info != 0) throw RunError(concatenate("symmetric_eigen: dsyev failed with ", info));
  return result;
}

SymmetricEigen leading_eigen(std::vector<double> const& H, int n, int count) {
  check(H, n, "leading_eigen");
  expects(0 <= count && count <= n, "leading_eigen: ", count, " of ", n, " eigenvalues");
  SymmetricEigen result;
  if (count == 0) return result;
  OneBlasThread const one;
  auto A = H;
  std::vector<double> values(static_cast<std::size_t>(n)),
      vectors(static_cast<std::size_t>(n) * static_cast<std::size_t>(count));
  std::vector<int> support(2 * static_cast<std::size_t>(n));
  int const first = n - count + 1;
  double const none = 0;
  int info = 0, found = 0, size = -1, integers = -1, best_integers = 0;
  double best = 0;
  auto const solve = [&](double* work, int* iwork) {
    dsyevr_("V", "I", "L", &n, A.data(), &n, &none, &none, &first, &n, &none, &found, values.data(),
            vectors.data(), &n, support.data(), work, &size, iwork, &integers, &info, 1, 1, 1);
  };
  solve(&best, &best_integers);
  size = static_cast<int>(best);
  integers = best_integers;
  std::vector<double> work(static_cast<std::size_t>(size));
  std::vector<int> iwork(static_cast<std::size_t>(integers));
  solve(work.data(), iwork.data());
  if (info != 0 || found != count)
    throw RunError(concatenate("leading_eigen: dsyevr failed with ", info));
  for (int j = count; j-- > 0;) {
    result.values.push_back(values[j]);
    auto const row = vectors.begin() + static_cast<std::ptrdiff_t>(j) * n;
    result.vectors.insert(result.vectors.end(), row, row + n);
  }
  return result;
}

LeadingSingular leading_left_vectors(std::vector<double> A, int rows, int columns, int count) {
  int const least = std::min(rows, columns);
  expects(0 <= count && count <= least, "leading_left_vectors: ", count, " of ", least,
          " singular values");
  for (double entry : A)
    if (!std::isfinite(entry))
      throw RunError("leading_left_vectors: the matrix holds NaN or infinity");
  LeadingSingular result;
  if (count == 0) return result;
  OneBlasThread const one;
  // A^T by columns, whose right singular vectors these are.
  auto const n = static_cast<std::size_t>(rows), k = static_cast<std::size_t>(least);
  std::vector<double> right(static_cast<std::size_t>(columns) * k), left(k * n);
  std::vector<int> iwork(8 * k);
  result.values.resize(k);
  int info = 0, size = -1;
  double best = 0;
  auto const solve = [&](double* work) {
    dgesdd_("S", &columns, &rows, A.data(), &columns, result.values.data(), right.data(), &columns,
            left.data(), &least, work, &size, iwork.data(), &info, 1);
  };
  solve(&best);
  size = static_cast<int>(best);
  std::vector<double> work(static_cast<std::size_t>(size));
  solve(work.data());
  if (info != 0) throw RunError(concatenate("leading_left_vectors: dgesdd failed with ", info));
  result.values.resize(static_cast<std::size_t>(count));
  result.vectors.resize(static_cast<std::size_t>(count) * n);
  for (std::size_t j = 0; j < result.values.size(); ++j)
    for (std::size_t i = 0; i < n; ++i) result.vectors[j * n + i] = left[i * k + j];
  return result;
}

SymmetricInverse inverse_or_pseudo_inverse(std::vector<double> H, int n, double ridge,
                                           double epsilon, bool may_factor) {
  check(H, n, "inverse_or_pseudo_inverse");
  for (int i = 0; i < n; ++i) H[static_cast<std::size_t>(i) * n + i] += ridge;
  if (n == 0) return {H, false, 0, 1};
  OneBlasThread const one;
  auto L = H;
  double const norm = one_norm(H, n);
  double reciprocal_condition = 0;
  int info = 0;
  dpotrf_("L", &n, L.data(), &n, &info, 1);
  if (info == 0) {
    std::vector<double> work(3 * static_cast<std::size_t>(n));
    std::vector<int> integers(static_cast<std::size_t>(n));
    dpocon_("L", &n, L.data(), &n, &norm, &reciprocal_condition, work.data(), integers.data(),
            &info, 1);
  }
  if (info != 0 || !(reciprocal_condition >= n * epsilon))
    return pseudo_inverse(H, n, epsilon, info != 0 ? 0 : reciprocal_condition, may_factor);
  bool const is_factor =
      may_factor && reciprocal_condition < std::sqrt(std::numeric_limits<double>::epsilon());
  if (is_factor)
    dtrtri_("L", "N", &n, L.data(), &n, &info, 1, 1);  // column-major lower: row-major upper
  else
    dpotri_("L", &n, L.data(), &n, &info, 1);
  if (info != 0) return pseudo_inverse(H, n, epsilon, 0, may_factor);
  if (is_factor) {
    for (int i = 0; i < n; ++i) std::fill_n(L.begin() + static_cast<std::ptrdiff_t>(i) * n, i, 0.0);
    return {std::move(L), false, n, reciprocal_condition, true};
  }
  for (int j = 0; j < n; ++j)  // column-major lower triangle to both
    for (int i = 0; i < j; ++i)
      L[static_cast<std::size_t>(j) * n + i] = L[static_cast<std::size_t>(i) * n + j];
  return {std::move(L), false, n, reciprocal_condition};
}

std::vector<double> orthonormalizer(std::vector<double> const& G, int n) {
  check(G, n, "orthonormalizer");
  // Columns scaled to length 1 first: what is left of the condition is their angles alone. Those
  // shorter than 1e-30 of the longest count as 0: in single precision there is no scale for them.
  std::vector<double> scale(static_cast<std::size_t>(n)), C(G);
  double largest = 0;
  for (int i = 0; i < n; ++i) largest = std::max(largest, G[static_cast<std::size_t>(i) * n + i]);
  for (int i = 0; i < n; ++i) {
    double const g = G[static_cast<std::size_t>(i) * n + i];
    scale[i] = g > 1e-60 * largest ? 1 / std::sqrt(g) : 0;
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) C[static_cast<std::size_t>(i) * n + j] *= scale[i] * scale[j];
  auto const eigen = symmetric_eigen(C, n);
  double const threshold = n * std::numeric_limits<double>::epsilon() *
                           (n > 0 ? std::max(eigen.values.back(), 0.0) : 0.0);
  std::vector<double> S(square(n));
  for (int k = 0; k < n; ++k) {  // largest first
    int const from = n - 1 - k;
    if (eigen.values[from] <= threshold) break;
    for (int i = 0; i < n; ++i)
      S[static_cast<std::size_t>(i) * n + k] =
          scale[i] * eigen.vectors[static_cast<std::size_t>(from) * n + i] /
          std::sqrt(eigen.values[from]);
  }
  return S;
}

namespace {

/// gram_schmidt by Cholesky's factorisation, whose inverse S is: n^3 flops in blocks, where the
/// loops take n^4. Columns of zeros stay out of it. Empty where another is to be dropped.
std::vector<double> inverse_of_cholesky(std::vector<double> const& G, int n, double threshold) {
  std::vector<int> kept;
  for (int j = 0; j < n; ++j)
    if (G[static_cast<std::size_t>(j) * n + j] > 0) kept.push_back(j);
  int const m = static_cast<int>(kept.size());
  std::vector<double> U(square(m)), S(square(n));
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j)
      U[static_cast<std::size_t>(i) * m + j] = G[static_cast<std::size_t>(kept[i]) * n + kept[j]];
  if (m == 0) return S;
  OneBlasThread const one;
  int info = 0;
  dpotrf_("L", &m, U.data(), &m, &info, 1);  // row-major G = U^T U, U upper triangular
  if (info != 0) return {};
  for (int j = 0; j < m; ++j) {
    double const pivot = U[static_cast<std::size_t>(j) * m + j];
    double const length = G[static_cast<std::size_t>(kept[j]) * n + kept[j]];
    if (!(pivot * pivot > threshold * length)) return {};
  }
  dtrtri_("L", "N", &m, U.data(), &m, &info, 1, 1);
  if (info != 0) return {};
  for (int i = 0; i < m; ++i)
    for (int j = i; j < m; ++j)
      S[static_cast<std::size_t>(kept[i]) * n + kept[j]] = U[static_cast<std::size_t>(i) * m + j];
  return S;
}

}  // namespace

std::vector<double> gram_schmidt(std::vector<double> const& G, int n, double threshold) {
  check(G, n, "gram_schmidt");
  constexpr int few = 64;  // columns for which the loops take no time that counts
  if (n > few) {
    auto S = inverse_of_cholesky(G, n, threshold);
    if (!S.empty()) return S;
  }
  auto const at = [n](auto& matrix, int i, int j) -> auto& {
    return matrix[static_cast<std::size_t>(i) * n + j];
  };
  std::vector<double> S(square(n));
  for (int j = 0; j < n; ++j) {
    // Column j less its projections on the ones before: S_j = e_j - sum_k S_k (S_k^T G e_j).
    std::vector<double> column(static_cast<std::size_t>(n));
    column[j] = 1;
    for (int pass = 0; pass < 2; ++pass)
      for (int k = 0; k < j; ++k) {
        double projection = 0;
        for (int a = 0; a <= k; ++a) {
          if (at(S, a, k) == 0) continue;
          double image = 0;
          for (int b = 0; b <= j; ++b) image += at(G, a, b) * column[b];
          projection += at(S, a, k) * image;
        }
        for (int a = 0; a <= k; ++a) column[a] -= projection * at(S, a, k);
      }
    double square_of_length = 0;
    for (int a = 0; a <= j; ++a)
      for (int b = 0; b <= j; ++b) square_of_length += column[a] * at(G, a, b) * column[b];
    if (!(square_of_length > threshold * at(G, j, j))) continue;
    for (int a = 0; a <= j; ++a) at(S, a, j) = column[a] / std::sqrt(square_of_length);
  }
  return S;
}

}  // namespace sporades::detail
