// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/detail/estimate_tuples.hpp>
#include <sporades/kernels/spttm.hpp>

namespace sporades {

/// What a plan of SpTTM is made for.
struct SpttmOptions {
  SpttmStrategy strategy = SpttmStrategy::automatic;
  int rank = 16;  // columns that the plan is made for; any other works and reallocates buffers once
};

/// X by the fibers of every mode, built once, and the buffers that the kernels need, so that a
/// product allocates nothing.
template <class ScalarType, class IndexType, class MemorySpaceType>
struct SpttmPlan {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  Dims dims;
  SpttmStrategy strategy = SpttmStrategy::automatic;  // never `automatic` in a plan
  std::vector<HierarchicalTensor<Scalar, Index, MemorySpace>> tensors;  // per mode
  detail::CarryBuffers<Scalar, Position, MemorySpace> carry;
  Vector<Scalar, MemorySpace> transposed;  // room for a matrix that comes as R x I_n

  int order() const { return static_cast<int>(dims.size()); }
  Position nnz() const { return tensors.empty() ? 0 : tensors[0].nnz(); }

  std::uint64_t storage_bytes() const {
    std::uint64_t bytes = carry.bytes() + transposed.extent(0) * sizeof(Scalar);
    for (auto const& tensor : tensors) bytes += tensor.storage_bytes();
    return bytes;
  }
};

namespace detail {

/// The order of modes that nonzeros are sorted by for SpTTM on mode n: the others from the longest
/// to the shortest, so that slices are small and rows of U come again soon, then n.
inline std::vector<int> spttm_mode_order(Dims const& dims, int n) {
  std::vector<int> modes;
  for (int m = 0; m < static_cast<int>(dims.size()); ++m)
    if (m != n) modes.push_back(m);
  std::stable_sort(modes.begin(), modes.end(), [&](int a, int b) { return dims[a] > dims[b]; });
  modes.push_back(n);
  return modes;
}

/// On GPUs, where many slices are under way at once, not the longest of the other modes comes first
/// but the one whose slices read the fewest rows of U, each of a slice's once: as many as there are
/// pairs of indices in the two modes. Where the rows of a slice do not stay in a cache, each
/// nonzero is taken to read one. row_bytes: of U.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
class SpttmModeOrders {
 public:
  SpttmModeOrders(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X)
      : dims_(X.dims), nnz_(static_cast<double>(X.nnz())), pairs_(dims_.size() * dims_.size()) {
    if constexpr (is_gpu<ExecutionSpace>)
      for (std::size_t n = 0; n < dims_.size(); ++n)
        for (std::size_t m = 0; m < n; ++m)
          pairs_[n * dims_.size() + m] = pairs_[m * dims_.size() + n] =
              estimate_tuples(exec, X, std::uint32_t{1} << m | std::uint32_t{1} << n);
  }

  std::vector<int> operator()(int n, double row_bytes) const {
    auto modes = spttm_mode_order(dims_, n);
    if constexpr (is_gpu<ExecutionSpace>) {
      auto const rows_read = [&](int m) {
        double const pairs = pairs_[static_cast<std::size_t>(n) * dims_.size() + m];
        bool const fits = pairs * row_bytes <= cache_bytes * static_cast<double>(dims_[m]);
        return fits ? pairs : nnz_;
      };
      auto const first = std::min_element(modes.begin(), modes.end() - 1, [&](int a, int b) {
        return rows_read(a) < rows_read(b);
      });
      std::rotate(modes.begin(), first, first + 1);
    }
    return modes;
  }

 private:
  static constexpr double cache_bytes = 16 << 20;  // a part of the second level

  Dims dims_;
  double nnz_;
  std::vector<double> pairs_;  // N x N
};

template <class Scalar, class MemorySpace>
struct Transpose {
  RawMatrix<Scalar const, MemorySpace> from;  // R x I
  RawMatrix<Scalar, MemorySpace> to;          // I x R

  KOKKOS_FUNCTION void operator()(Position item) const {
    Position const R = to.extent(1);
    to(item / R, item % R) = from(item % R, item / R);
  }
};

}  // namespace detail

/// Builds the fibers of every mode. X may be in any order; duplicates are allowed. Fences exec.
/// Throws Error if the rank is not positive, or an index is past its mode.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
SpttmPlan<Scalar, Index, MemorySpace> make_spttm_plan(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
    SpttmOptions const& options = {}) {
  expects(options.rank > 0, "make_spttm_plan: rank ", options.rank, " is not positive");
  check_coordinates(exec, X, "make_spttm_plan");
  SpttmPlan<Scalar, Index, MemorySpace> plan;
  plan.dims = X.dims;
  plan.strategy =
      options.strategy == SpttmStrategy::automatic ? SpttmStrategy::lanes : options.strategy;
  detail::SpttmModeOrders<ExecutionSpace, Scalar, Index, MemorySpace> const orders(exec, X);
  double const row_bytes = static_cast<double>(options.rank) * sizeof(Scalar);
  for (int n = 0; n < X.order(); ++n) {
    plan.tensors.push_back(make_hierarchical(exec, X, orders(n, row_bytes)));
    if (plan.strategy == SpttmStrategy::lanes)
      detail::reserve_carry(exec, plan.tensors[n].fibers, static_cast<std::size_t>(options.rank),
                            sizeof(Index) + sizeof(Scalar), plan.carry);
  }
  detail::fence(exec, "sporades::spttm::make_plan");
  return plan;
}

/// A tensor for the product on mode n with a matrix of R columns; see kernels/spttm.hpp.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
ScooTensor<Scalar, Index, MemorySpace> make_spttm_output(
    ExecutionSpace const& exec, SpttmPlan<Scalar, Index, MemorySpace> const& plan, int n,
    std::size_t R) {
  expects(n >= 0 && n < plan.order(), "make_spttm_output: mode ", n, " of a tensor of order ",
          plan.order());
  return make_spttm_output(exec, plan.tensors[n], R);
}

/// Y = X x_n U with what the plan holds for mode n; see kernels/spttm.hpp. U is I_n x R, or R x I_n
/// where that is said. The plan is changed only in its buffers: one product of a plan at a time.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void spttm(ExecutionSpace const& exec, SpttmPlan<Scalar, Index, MemorySpace>& plan, int n,
           Matrix<Scalar, MemorySpace> const& U, ScooTensor<Scalar, Index, MemorySpace> const& Y,
           TtmMatrix matrix = TtmMatrix::mode_by_rank) {
  expects(n >= 0 && n < plan.order(), "spttm: mode ", n, " of a tensor of order ", plan.order());
  auto const& X = plan.tensors[n];
  if (matrix == TtmMatrix::mode_by_rank) return spttm(exec, X, U, Y, plan.strategy, plan.carry);
  expects(U.extent(1) == X.dims[n], "spttm: U has ", U.extent(1), " columns, mode ", n, " has ",
          X.dims[n]);
  expects(U.data() != Y.values.data() || U.span() == 0, "spttm: Y is U");
  std::size_t const stride = padded_columns(U.extent(0));
  if (plan.transposed.extent(0) < stride * U.extent(1))
    plan.transposed = detail::uninitialized<Vector<Scalar, MemorySpace>>(
        exec, "sporades::spttm::transposed", stride * U.extent(1));
  Matrix<Scalar, MemorySpace> const padded(plan.transposed.data(), U.extent(1), stride);
  Matrix<Scalar, MemorySpace> const to =
      Kokkos::subview(padded, Kokkos::ALL, std::make_pair(std::size_t{0}, U.extent(0)));
  detail::launch_items(exec, "sporades::spttm::transpose", to.extent(0) * to.extent(1),
                       detail::Transpose<Scalar, MemorySpace>{U, to});
  spttm(exec, X, to, Y, plan.strategy, plan.carry);
}

}  // namespace sporades

#include <sporades/eti/spttm_plan.hpp>
