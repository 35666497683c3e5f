// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/core/detail/dense.hpp>
#include <sporades/core/detail/lapack.hpp>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/random.hpp>
#include <sporades/formats/detail/sort_across.hpp>
#include <sporades/kernels/mttkrp.hpp>

namespace sporades::detail {

/// The coordinates (fiber, i_n) of the unfolding's nonzeros. before(p): fibers that begin before
/// nonzero p; first: those of processes before.
template <class Coordinates, class UnfoldedCoordinates>
struct UnfoldNonzeros {
  CompareNonzeros<Coordinates> compare;                                // by all modes but n
  Kokkos::View<Position*, typename Coordinates::memory_space> before;  // nnz
  Coordinates from;                                                    // N x nnz
  UnfoldedCoordinates to;                                              // 2 x nnz
  int n;
  Position first;

  KOKKOS_FUNCTION void operator()(Position p) const {
    using Index = typename UnfoldedCoordinates::non_const_value_type;
    to(0, p) = static_cast<Index>(first + (compare.begins_run(p) ? before(p) : before(p) - 1));
    to(1, p) = from(n, p);
  }
};

/// The transposed unfolding X_(n)^T as a tensor of order 2, (non-empty fibers of mode n) x I_n, in
/// a unit in which its largest magnitude is in [1, 2): it has the same singular vectors. X and the
/// result have the nonzeros of all processes. Collective. Fences exec. Throws Error where Index
/// cannot count the fibers.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> unfold(Communicator const& processes,
                                             ExecutionSpace const& exec,
                                             CooTensor<Scalar, Index, MemorySpace> const& X,
                                             int n) {
  using Coordinates = typename CooTensor<Scalar, Index, MemorySpace>::Coordinates;
  auto const others = other_modes({n}, X.order());
  Position const nnz = exclusive_scan_of_all(processes, X.nnz()).back();
  auto const Y = roughly_sorted_across(processes, exec, X, others,  // a fiber's come to one process
                                       even_cuts(processes.size(), nnz));
  CompareNonzeros<Coordinates> const compare(Y.coordinates, others);
  auto const fibers = number_runs(exec, compare, Y.nnz());
  auto const first = exclusive_scan_of_all(processes, fibers.count);
  auto const unfolded = allocate_coo<Scalar, Index>(exec, {first.back(), X.dims[n]}, Y.nnz());
  launch_items(exec, "sporades::hosvd::unfold", Y.nnz(),
               UnfoldNonzeros<Coordinates, Coordinates>{
                   compare, fibers.before, Y.coordinates, unfolded.coordinates, n,
                   first[static_cast<std::size_t>(processes.rank())]});
  double const largest = largest_of_all(
      processes, "largest values", Y.nnz() > 0 ? static_cast<double>(max_abs(exec, Y.values)) : 0);
  divide_by_power_of_two(exec, Y.values, binary_exponent(largest), unfolded.values);
  return unfolded;
}

/// Block subspace iteration for the leading eigenvectors of X_(n) X_(n)^T, which is never formed:
/// a product with it is two MTTKRPs on the unfolding as a tensor of order 2.
template <class ExecutionSpace, class Scalar, class Index>
class SubspaceIteration {
  using Memory = typename ExecutionSpace::memory_space;
  using MatrixType = Matrix<Scalar, Memory>;
  using Small = std::vector<double>;

 public:
  SubspaceIteration(Communicator const& processes, ExecutionSpace const& exec,
                    CooTensor<Scalar, Index, Memory> unfolded, int columns, std::uint64_t seed,
                    int n)
      : exec_(exec),
        k_(static_cast<int>(padded_columns(columns))),
        plan_(make_mttkrp_plan(processes, exec, hand_over(unfolded),
                               MttkrpOptions{MttkrpStrategy::sorted, k_})),
        rows_(plan_.rows_of(1)),
        small_(Kokkos::view_alloc(exec, "sporades::hosvd::small"), k_, k_),
        small_double_(Kokkos::view_alloc(exec, "sporades::hosvd::gram"), k_, k_) {
    std::size_t const rows = rows_.here(plan_.dims[1]);
    fibers_ = make_matrix<Scalar>(exec, "sporades::hosvd::fibers",
                                  plan_.rows_of(0).here(plan_.dims[0]), k_);
    Q_ = make_matrix<Scalar>(exec, "sporades::hosvd::basis", rows, k_);
    auto const filled = std::make_pair(0, columns);
    launch_items(exec, "sporades::hosvd::fill_basis", rows,
                 FillRandom<Scalar, Memory>{Kokkos::subview(Q_, Kokkos::ALL, filled), seed,
                                            static_cast<std::uint64_t>(n), rows_.first()});
    Y_ = make_matrix<Scalar>(exec, "sporades::hosvd::image", rows, k_);
    Z_ = make_matrix<Scalar>(exec, "sporades::hosvd::image", rows, k_);
  }

  /// One product and one Rayleigh-Ritz step: the eigenvalues, largest first; vectors() has them.
  Small step() {
    orthonormalize();
    multiply_by_tensor();
    transposed_product(exec_, Q_, Y_, small_double_, workspace_, rows_);
    auto T = to_host();
    for (int i = 0; i < k_; ++i)
      for (int j = 0; j < i; ++j) {
        double const mean = (at(T, i, j) + at(T, j, i)) / 2;
        at(T, i, j) = at(T, j, i) = mean;
      }
    auto const eigen = symmetric_eigen(T, k_);
    Small W(T.size()), values(k_);
    for (int j = 0; j < k_; ++j) {
      values[j] = eigen.values[k_ - 1 - j];
      for (int i = 0; i < k_; ++i)
        at(W, i, j) = eigen.vectors[static_cast<std::size_t>(k_ - 1 - j) * k_ + i];
    }
    to_device(W);
    multiply(exec_, Q_, small_, Z_);  // the Ritz vectors
    std::swap(Q_, Z_);
    multiply(exec_, Y_, small_, Z_);  // and their images, the next basis
    fence(exec_, "sporades::hosvd::step");
    std::swap(Y_, Z_);
    return values;
  }

  /// Ritz vectors of the last step, best first.
  MatrixType vectors() const { return Q_; }
  RowMap const& rows() const { return rows_; }

  /// Goes on from the images of the Ritz vectors.
  void advance() { std::swap(Q_, Y_); }

 private:
  static double& at(Small& A, int i, int j, int k) {
    return A[static_cast<std::size_t>(i) * k + j];
  }
  double& at(Small& A, int i, int j) const { return at(A, i, j, k_); }

  void orthonormalize() {
    for (int pass = 0; pass < 2; ++pass) {  // the second repairs the rounding of the first
      gram(exec_, Q_, small_double_, workspace_, rows_);
      to_device(orthonormalizer(to_host(), k_));
      multiply(exec_, Q_, small_, Z_);
      fence(exec_, "sporades::hosvd::orthonormalize");
      std::swap(Q_, Z_);
    }
  }

  void multiply_by_tensor() {
    mttkrp(exec_, plan_, {MatrixType(), Q_}, 0, fibers_);
    mttkrp(exec_, plan_, {fibers_, MatrixType()}, 1, Y_);
  }

  Small to_host() {
    auto const host = Kokkos::create_mirror_view(small_double_);
    copy_view(exec_, host, small_double_);
    fence(exec_, "sporades::hosvd::to_host");
    return Small(host.data(), host.data() + host.size());
  }

  void to_device(Small const& A) {
    auto const host = Kokkos::create_mirror_view(small_);
    for (std::size_t i = 0; i < A.size(); ++i) host.data()[i] = static_cast<Scalar>(A[i]);
    copy_view(exec_, small_, host);
    fence(exec_, "sporades::hosvd::to_device");
  }

  ExecutionSpace exec_;
  int k_;  // columns, padded
  MttkrpPlan<Scalar, Index, Memory> plan_;
  RowMap rows_;  // of Q, Y and Z
  MatrixType small_;
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> small_double_;
  MatrixType fibers_, Q_, Y_, Z_;
  Workspace<Memory> workspace_;
};

/// The R leading left singular vectors of the unfolding X_(n), orthonormal columns of an I_n x R
/// matrix. Columns past the unfolding's rank are those of the random factor of the seed and mode.
/// Subspace iteration with a few columns more than R, until the singular values change by their
/// rounding only, or most_steps are done; a mode of up to 32 is solved at once. A step costs two
/// MTTKRPs of order 2; memory: (fibers of mode n) x (R + 8). Same bits on any number of threads and
/// of processes, whose nonzeros are X's and which have rows of the result. Collective. Fences. De
/// Lathauwer, De Moor & Vandewalle, SIAM J. Matrix Anal. Appl. 21(4), 2000. Throws Error if n is
/// not in [0, N), R or most_steps is not positive, or an index is past its mode.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
DistributedMatrix<Scalar, MemorySpace> leading_singular_vectors(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> const& X, int n, int R, std::uint64_t seed = 1,
    int most_steps = 100) {
  expects(n >= 0 && n < X.order(), "leading_singular_vectors: mode ", n, " of a tensor of order ",
          X.order());
  expects(R > 0, "leading_singular_vectors: ", R, " vectors");
  expects(most_steps > 0, "leading_singular_vectors: ", most_steps, " steps");
  check_coordinates(exec, X, "leading_singular_vectors");
  constexpr int spare = 8, least = 32;
  auto const columns =
      static_cast<int>(std::min<std::uint64_t>(X.dims[n], std::max(R + spare, least)));
  SubspaceIteration<ExecutionSpace, Scalar, Index> iteration(
      processes, exec, unfold(processes, exec, X, n), columns, seed, n);
  auto const& rows = iteration.rows();
  DistributedMatrix<Scalar, MemorySpace> A{
      random_factor<Scalar>(exec, "sporades::hosvd::vectors", rows.here(X.dims[n]), R, seed, n,
                            rows.first()),
      rows};
  int const wanted = std::min(R, columns);
  std::vector<double> values = iteration.step(), before;
  for (int step = 1; step < most_steps; ++step) {
    before = values;
    iteration.advance();
    values = iteration.step();
    double change = 0;
    for (int r = 0; r < wanted; ++r) change = std::max(change, std::abs(values[r] - before[r]));
    if (change <= 4 * std::numeric_limits<Scalar>::epsilon() * values[0]) break;
  }
  int found = 0;
  double const threshold = columns * std::numeric_limits<Scalar>::epsilon() * values[0];
  while (found < wanted && values[found] > threshold) ++found;
  if (found == 0) return A;
  auto const first = std::make_pair(std::size_t{0}, static_cast<std::size_t>(found));
  copy_view(exec, Kokkos::subview(A.here, Kokkos::ALL, first),
            Kokkos::subview(iteration.vectors(), Kokkos::ALL, first));
  fence(exec, "sporades::hosvd::vectors");
  return A;
}

}  // namespace sporades::detail

#include <sporades/eti/hosvd.hpp>
