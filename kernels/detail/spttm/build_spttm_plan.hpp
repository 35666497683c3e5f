// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/region.hpp>
#include <sporades/formats/detail/estimate_fiber_counts.hpp>
#include <sporades/kernels/detail/spttm/choice.hpp>
#include <sporades/kernels/detail/spttm/spmm_nonzeros.hpp>
#include <sporades/kernels/spttm.hpp>

/// How the plans and outputs of kernels/spttm.hpp are made.

namespace sporades {

namespace detail {

/// Bytes of the plan's tensors.
template <class Scalar, class Index, class MemorySpace>
std::uint64_t tensor_bytes(SpttmPlan<Scalar, Index, MemorySpace> const& plan) {
  std::uint64_t bytes = 0;
  for (auto const& tensor : plan.tensors) bytes += tensor.storage_bytes();
  return bytes;
}

}  // namespace detail

template <class Scalar, class Index, class MemorySpace>
std::uint64_t SpttmPlan<Scalar, Index, MemorySpace>::storage_bytes() const {
  return detail::tensor_bytes(*this) + values.bytes() + carry.bytes() +
         transposed.extent(0) * sizeof(Scalar);
}

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

/// The order of the other modes. On GPUs many slices are under way at once. There the first mode is
/// the one whose slices read the fewest rows of U:
/// - as many as there are pairs of indices in the two modes, where the rows of a slice stay in a
///   cache, so that each is read once a slice;
/// - one a nonzero elsewhere.
/// On hosts the longest mode is first. row_bytes: of U.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
class SpttmModeOrders {
 public:
  /// exec: can access X.
  template <class Builder>
  SpttmModeOrders(Builder const& exec, CooTensor<Scalar, Index, MemorySpace> const& X)
      : dims_(X.dims), nnz_(static_cast<double>(X.nnz())), pairs_(dims_.size() * dims_.size()) {
    if constexpr (is_gpu<ExecutionSpace>)
      for (std::size_t n = 0; n < dims_.size(); ++n)
        for (std::size_t m = 0; m < n; ++m)
          pairs_[n * dims_.size() + m] = pairs_[m * dims_.size() + n] =
              estimate_fiber_counts(exec, X, std::uint32_t{1} << m | std::uint32_t{1} << n);
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
  static constexpr double cache_bytes = 16 << 20;  // a third of the second-level cache of an H200

  Dims dims_;
  double nnz_;
  std::vector<double> pairs_;  // N x N
};

template <class ExecutionSpace, class Scalar, class Index, class GivenSpace>
SpttmPlan<Scalar, Index, WorkSpace<ExecutionSpace, GivenSpace>> build_spttm_plan(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, GivenSpace> const& X,
    SpttmOptions const& options) {
  using MemorySpace = WorkSpace<ExecutionSpace, GivenSpace>;
  Region const region("sporades::make_spttm_plan");
  auto const builder = builder_of<GivenSpace>(exec);
  std::uint64_t const memory = options.streaming.memory;
  expects(options.rank > 0, "make_spttm_plan: rank ", options.rank, " is not positive");
  check_streaming("make_spttm_plan", options.streaming);
  check_coordinates(builder, X, "make_spttm_plan");
  SpttmPlan<Scalar, Index, MemorySpace> plan;
  plan.dims = X.dims;
  plan.carry.windows.options = options.streaming;
  SpttmModeOrders<ExecutionSpace, Scalar, Index, GivenSpace> const orders(builder, X);
  double const row_bytes = static_cast<double>(options.rank) * sizeof(Scalar);
  bool is_out_of_core = !std::is_same_v<GivenSpace, MemorySpace> || options.streaming.always;
  auto Y = X;
  if (options.updatable) Y.values = numbered_values<Scalar>(builder, X.nnz(), "make_spttm_plan");
  for (int n = 0; n < X.order(); ++n) {
    auto const tensor = make_hierarchical(builder, Y, orders(n, row_bytes));
    if constexpr (std::is_same_v<GivenSpace, MemorySpace>)
      plan.tensors.push_back(is_out_of_core ? to_out_of_core<MemorySpace>(exec, tensor) : tensor);
    else
      plan.tensors.push_back(to_out_of_core<MemorySpace>(exec, tensor));
    if (!is_out_of_core && memory > 0 && tensor_bytes(plan) > memory) {
      is_out_of_core = true;
      for (auto& resident : plan.tensors) resident = to_out_of_core<MemorySpace>(exec, resident);
    }
  }
  bool const is_automatic = options.strategy == SpttmStrategy::automatic;
  expects(!is_out_of_core || is_automatic || options.strategy == SpttmStrategy::lanes,
          "make_spttm_plan: strategy ", to_string(options.strategy), " cannot stream, and ",
          tensor_bytes(plan), " bytes of fibers do not fit memory: lanes can");
  expects(!options.updatable || !is_out_of_core,
          "make_spttm_plan: values are updated where nothing is streamed, and the nonzeros would "
          "have to be");
  if constexpr (std::is_same_v<GivenSpace, MemorySpace>)
    if (options.updatable) {
      plan.values.keep(X.nnz());
      for (auto const& tensor : plan.tensors) plan.values.add(exec, tensor.values);
      plan.values.put(exec, X.values);
    }
  for (int n = 0; n < X.order(); ++n) {
    auto const& fibers = plan.tensors[n].fibers;
    auto const rank = static_cast<std::size_t>(options.rank);
    plan.choices.push_back(!is_automatic ? SpttmChoice{options.strategy, "asked for"}
                           : is_out_of_core
                               ? SpttmChoice{SpttmStrategy::lanes, "lanes alone stream"}
                               : choose_spttm(exec, plan.tensors[n], options.rank));
    auto const strategy = plan.choices[n].strategy;
    if (strategy == SpttmStrategy::lanes)
      reserve_carry(exec, fibers, rank, sizeof(Index) + sizeof(Scalar), plan.carry);
    if (strategy == SpttmStrategy::spmm_nonzeros) reserve_merged(exec, fibers, rank, plan.carry);
  }
  fence(exec, "sporades::spttm::make_plan");
  return plan;
}

}  // namespace detail

template <class ExecutionSpace, class Tensor>
detail::PlanOf<SpttmPlan, Tensor, ExecutionSpace> make_spttm_plan(ExecutionSpace const& exec,
                                                                  Tensor const& X,
                                                                  SpttmOptions const& options) {
  static_assert(detail::is_instance<Tensor, CooTensor>, "make_spttm_plan takes a CooTensor");
  if constexpr (detail::is_instance<Tensor, CooTensor>)
    if constexpr (detail::check_builder<ExecutionSpace, Tensor>())
      return detail::build_spttm_plan(exec, X, options);
}

namespace detail {

/// A tensor of these lengths for a product, whose sparse coordinates are the fibers'. Where the
/// fibers are out of core, held by out_of_core_fibers, its values are out of core, too, if they
/// take more than `memory` bytes, or where that is 0 more than half of what is left; then this
/// fences exec.
template <class Scalar, class ExecutionSpace, class Index, class MemorySpace>
ScooTensor<Scalar, Index, MemorySpace> make_product(ExecutionSpace const& exec, Dims const& dims,
                                                    Fibers<Index, MemorySpace> const& fibers,
                                                    std::vector<int> const& dense_modes,
                                                    OutOfCoreMemory const& out_of_core_fibers,
                                                    std::uint64_t memory) {
  std::uint64_t const block = block_size(dims, dense_modes), stride = padded_columns(block);
  std::uint64_t const bytes =
      checked_product(checked_product(fibers.count(), stride, "ScooTensor: entries"),
                      sizeof(Scalar), "ScooTensor: bytes");
  auto const fits = [&] {
    return memory > 0 ? bytes <= memory : static_cast<double>(bytes) <= memory_left(exec) / 2;
  };
  bool const is_out_of_core = out_of_core_fibers != nullptr && !fits();
  auto coordinates = fibers.coordinates;
  if (is_out_of_core)  // no room for values
    coordinates = decltype(coordinates)(coordinates.data(), coordinates.extent(0), 0);
  auto Y = allocate_scoo<Scalar, Index>(exec, dims, fibers.modes, dense_modes, coordinates);
  Y.coordinates = fibers.coordinates;
  Y.sorted_modes = fibers.modes;
  Y.out_of_core_coordinates = out_of_core_fibers;
  if (is_out_of_core) {
    Y.out_of_core_values = allocate_out_of_core(exec, bytes + 1);
    Y.values = matrix_at<Matrix<Scalar, MemorySpace>>(
        static_cast<Scalar*>(Y.out_of_core_values.get()), fibers.count(), block, stride);
  }
  return Y;
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
ScooTensor<Scalar, Index, MemorySpace> make_spttm_product(
    ExecutionSpace const& exec, HierarchicalTensor<Scalar, Index, MemorySpace> const& X,
    std::size_t R, std::uint64_t memory) {
  expects(R > 0, "make_spttm_output: rank 0");
  Dims dims = X.dims;
  dims[X.mode()] = R;
  return make_product<Scalar>(exec, dims, X.fibers, {X.mode()}, X.out_of_core, memory);
}

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
ScooTensor<Scalar, Index, MemorySpace> make_spttm_output(
    ExecutionSpace const& exec, HierarchicalTensor<Scalar, Index, MemorySpace> const& X,
    std::size_t R) {
  constexpr auto any = std::numeric_limits<std::uint64_t>::max();
  return detail::make_spttm_product(exec, X, R, any);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
ScooTensor<Scalar, Index, MemorySpace> make_spttm_output(
    ExecutionSpace const& exec, SpttmPlan<Scalar, Index, MemorySpace> const& plan, int n,
    std::size_t R) {
  expects(n >= 0 && n < plan.order(), "make_spttm_output: mode ", n, " of a tensor of order ",
          plan.order());
  return detail::make_spttm_product(exec, plan.tensors[n], R, plan.carry.windows.options.memory);
}

namespace detail {

struct NoFibers {
  template <class Given>
  NoFibers(Given const&) {
    static_assert(never<Given>,
                  "make_spttm_output takes a HierarchicalTensor and R, or an SpttmPlan, n and R");
  }
};

}  // namespace detail

template <class ExecutionSpace>
ScooTensor<double, std::uint32_t, typename ExecutionSpace::memory_space> make_spttm_output(
    ExecutionSpace const&, detail::NoFibers, ...) {
  return {};
}

}  // namespace sporades

#include <sporades/eti/build_spttm_plan.hpp>
