// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/region.hpp>
#include <sporades/kernels/detail/cost.hpp>
#include <sporades/kernels/detail/sspttm/baselines/chunks.hpp>
#include <sporades/kernels/detail/sspttm/blocks.hpp>
#include <sporades/kernels/sspttm.hpp>

/// The plans and products of kernels/sspttm.hpp.

namespace sporades {
namespace detail {

/// The coordinates of a tensor where the host can read them, whatever the type of their View says.
template <class Scalar, class Index, class MemorySpace>
auto host_coordinates(ScooTensor<Scalar, Index, MemorySpace> const& Y) {
  using Coordinates = typename ScooTensor<Scalar, Index, Kokkos::HostSpace>::Coordinates;
  if constexpr (std::is_same_v<MemorySpace, Kokkos::HostSpace>)
    return Y.coordinates;
  else
    return Coordinates(Y.coordinates.data(), Y.coordinates.extent(0), Y.coordinates.extent(1));
}

template <class ExecutionSpace, class Scalar, class Index, class GivenSpace>
SspttmPlan<Scalar, Index, WorkSpace<ExecutionSpace, GivenSpace>> build_sspttm_plan(
    ExecutionSpace const& exec, ScooTensor<Scalar, Index, GivenSpace> const& Y, int n,
    SspttmOptions const& options) {
  using MemorySpace = WorkSpace<ExecutionSpace, GivenSpace>;
  constexpr bool is_within_reach = std::is_same_v<GivenSpace, MemorySpace>;
  Region const region("sporades::make_sspttm_plan");
  auto const& sparse = Y.sparse_modes;
  expects(n >= 0 && n < Y.order(), "make_sspttm_plan: mode ", n, " of a tensor of order ",
          Y.order());
  expects(std::find(sparse.begin(), sparse.end(), n) != sparse.end(), "make_sspttm_plan: mode ", n,
          " is dense in Y; SspTTM sums over a sparse one");
  expects(options.rank > 0, "make_sspttm_plan: rank ", options.rank, " is not positive");
  check_streaming("make_sspttm_plan", options.streaming);
  SspttmPlan<Scalar, Index, MemorySpace> plan;
  plan.strategy = options.strategy;
  plan.dims = Y.dims;
  plan.dense_modes = Y.dense_modes;
  plan.carry.windows.options = options.streaming;
  std::vector<int> modes;
  for (int m : Y.sorted_modes.size() == sparse.size() ? Y.sorted_modes : sparse)
    if (m != n) modes.push_back(m);
  modes.push_back(n);
  std::vector<int> rows;  // of Y.coordinates
  for (int m : modes)
    rows.push_back(static_cast<int>(std::find(sparse.begin(), sparse.end(), m) - sparse.begin()));
  bool const is_sorted = modes == Y.sorted_modes;
  auto const expects_sorted = [&] {
    std::string order;
    for (int m : Y.sorted_modes) order += " " + std::to_string(m);
    expects(is_sorted,
            "make_sspttm_plan: Y is streamed, so it must be sorted by its sparse modes, ", n,
            " last; it is sorted by modes {", order,
            " }: multiply on the last of these first, or sort by make_scoo(exec, to_coo(exec, Y), "
            "dense_modes)");
  };
  auto const move_out_of_core = [&](auto const& fibers) {
    expects_sorted();
    expects(options.strategy != SspttmStrategy::chunks,
            "make_sspttm_plan: strategy chunks cannot stream, and Y would have to be");
    HierarchicalTensor<Scalar, Index, typename std::decay_t<decltype(fibers)>::MemorySpace>
        resident;
    resident.dims = Y.dims;
    resident.fibers = fibers;
    auto const out_of_core = to_out_of_core<MemorySpace>(exec, resident);
    plan.fibers = out_of_core.fibers;
    plan.out_of_core = out_of_core.out_of_core;
  };
  if (!is_within_reach || Y.out_of_core_coordinates) {
    expects_sorted();
    move_out_of_core(
        make_fibers(builder_of<Kokkos::HostSpace>(exec), host_coordinates(Y), rows, modes));
  } else if constexpr (is_within_reach) {
    auto coordinates = Y.coordinates;
    if (!is_sorted) {
      CooTensor<Scalar, Index, MemorySpace> places;  // the blocks as nonzeros, their values unread
      for (int m : sparse) places.dims.push_back(Y.dims[m]);
      places.coordinates = Y.coordinates;
      places.values =
          uninitialized<Vector<Scalar, MemorySpace>>(exec, "sporades::sspttm::places", Y.fibers());
      plan.blocks = sort_permutation(exec, places, rows);
      coordinates = permuted(exec, places, plan.blocks).coordinates;
    }
    plan.fibers = make_fibers(exec, coordinates, rows, modes);
    std::uint64_t const memory = options.streaming.memory;
    if (Y.out_of_core_values || options.streaming.always ||
        (memory > 0 && Y.storage_bytes() + plan.fibers.storage_bytes() > memory))
      move_out_of_core(plan.fibers);
  }
  reserve_carry(exec, plan.fibers, static_cast<std::size_t>(options.rank) * Y.block_size(),
                Y.block_size() * sizeof(Scalar), plan.carry);
  return plan;
}

template <class Scalar, class Index, class MemorySpace>
void check_sspttm(SspttmPlan<Scalar, Index, MemorySpace> const& plan,
                  ScooTensor<Scalar, Index, MemorySpace> const& Y,
                  Matrix<Scalar, MemorySpace> const& U,
                  ScooTensor<Scalar, Index, MemorySpace> const& Z) {
  int const n = plan.fibers.mode;
  expects(
      Y.dims == plan.dims && Y.dense_modes == plan.dense_modes && Y.fibers() == plan.fibers.items(),
      "sspttm: the plan was made for another tensor than Y: ", to_string(plan.dims), " with ",
      plan.fibers.items(), " fibers, Y is ", to_string(Y.dims), " with ", Y.fibers());
  expects(U.extent(0) == Y.dims[n], "sspttm: U has ", U.extent(0), " rows, mode ", n, " has ",
          Y.dims[n]);
  Dims dims = Y.dims;
  dims[n] = U.extent(1);
  expects(Z.dims == dims, "sspttm: Z is ", to_string(Z.dims), ", not ", to_string(dims));
  expects(Z.fibers() == plan.fibers.count() && Z.block_size() == U.extent(1) * Y.block_size() &&
              Z.coordinates.data() == plan.fibers.coordinates.data(),
          "sspttm: Z was not made by this plan's make_sspttm_output");
  expects(Z.values.data() != Y.values.data() || Z.values.span() == 0, "sspttm: Z is Y");
  expects(Z.values.data() != U.data() || Z.values.span() == 0, "sspttm: Z is U");
}

/// Z = Y x_n U by buffers that several plans may share, one product at a time.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_sspttm(ExecutionSpace const& exec, SspttmPlan<Scalar, Index, MemorySpace> const& plan,
                ScooTensor<Scalar, Index, MemorySpace> const& Y,
                Matrix<Scalar, MemorySpace> const& U,
                ScooTensor<Scalar, Index, MemorySpace> const& Z,
                CarryBuffers<Scalar, Position, MemorySpace>& carry) {
  check_sspttm(plan, Y, U, Z);
  if (plan.strategy == SspttmStrategy::chunks)
    return sspttm_chunks(exec, plan.fibers, plan.blocks, Y.values, U, Z.values);
  FiberOperands<Scalar, Index, MemorySpace> const all{plan.fibers,
                                                      Y.values,
                                                      Z.values,
                                                      plan.out_of_core != nullptr,
                                                      Y.out_of_core_values != nullptr,
                                                      Z.out_of_core_values != nullptr};
  sspttm_blocks(exec, all, plan.blocks, U, carry);
}

/// What the product takes for Y: a tensor of the host where the plan is in another memory, as one
/// there whose values are out of core.
template <class Plan, class Tensor>
using OperandOf = std::conditional_t<
    std::is_same_v<Tensor,
                   ScooTensor<typename Plan::Scalar, typename Plan::Index, Kokkos::HostSpace>>,
    ScooTensor<typename Plan::Scalar, typename Plan::Index, typename Plan::MemorySpace>, Tensor>;

template <class Plan, class Tensor>
decltype(auto) as_operand(Plan const& plan, Tensor const& Y) {
  using Operand = OperandOf<Plan, Tensor>;
  if constexpr (std::is_same_v<Operand, Tensor>) {
    return (Y);
  } else {
    expects(plan.out_of_core != nullptr,
            "sspttm: Y is in memory of the host; only a plan that was made for such a tensor takes "
            "it");
    Operand operand{Y.dims, Y.sparse_modes, Y.dense_modes, {}, {}, Y.sorted_modes};
    operand.values = matrix_at<typename Operand::Values>(Y.values.data(), Y.values.extent(0),
                                                         Y.values.extent(1), Y.values.stride(0));
    operand.out_of_core_values = OutOfCoreMemory(Y.values.data(), [](void*) {});
    return operand;
  }
}

}  // namespace detail

template <class ExecutionSpace, class Tensor>
detail::PlanOf<SspttmPlan, Tensor, ExecutionSpace> make_sspttm_plan(ExecutionSpace const& exec,
                                                                    Tensor const& Y, int n,
                                                                    SspttmOptions const& options) {
  static_assert(detail::is_instance<Tensor, ScooTensor>, "make_sspttm_plan takes a ScooTensor");
  if constexpr (detail::is_instance<Tensor, ScooTensor>)
    if constexpr (detail::check_builder<ExecutionSpace, Tensor>())
      return detail::build_sspttm_plan(exec, Y, n, options);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
ScooTensor<Scalar, Index, MemorySpace> make_sspttm_output(
    ExecutionSpace const& exec, SspttmPlan<Scalar, Index, MemorySpace> const& plan, std::size_t R) {
  expects(R > 0, "make_sspttm_output: rank 0");
  Dims dims = plan.dims;
  dims[plan.fibers.mode] = R;
  auto dense = plan.dense_modes;
  dense.insert(dense.begin(), plan.fibers.mode);
  return detail::make_product<Scalar>(exec, dims, plan.fibers, dense, plan.out_of_core,
                                      plan.carry.windows.options.memory);
}

namespace detail {

struct NoSspttmPlan {
  template <class Given>
  NoSspttmPlan(Given const&) {
    static_assert(never<Given>, "make_sspttm_output takes an SspttmPlan and R");
  }
};

}  // namespace detail

template <class ExecutionSpace>
ScooTensor<double, std::uint32_t, typename ExecutionSpace::memory_space> make_sspttm_output(
    ExecutionSpace const&, detail::NoSspttmPlan, std::size_t) {
  return {};
}

template <class ExecutionSpace, class Plan, class Tensor, class Input, class Output>
void sspttm(ExecutionSpace const& exec, Plan& plan, Tensor const& Y, Input const& U,
            Output const& Z) {
  static_assert(detail::is_instance<Plan, SspttmPlan>,
                "sspttm takes an SspttmPlan that is not const, then Y");
  if constexpr (detail::is_instance<Plan, SspttmPlan>)
    if constexpr (detail::check_types<ExecutionSpace, Plan, Input>())
      if constexpr (detail::check_output<Plan, detail::OperandOf<Plan, Tensor>>() &&
                    detail::check_output<Plan, Output>()) {
        detail::Region const region("sporades::sspttm, mode ", plan.fibers.mode);
        detail::MatrixOf<Plan> const& matrix = U;
        detail::run_sspttm(exec, plan, detail::as_operand(plan, Y), matrix, Z, plan.carry);
      }
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Cost sspttm_cost(ExecutionSpace const& exec, SspttmPlan<Scalar, Index, MemorySpace> const& plan,
                 int R) {
  double block = 1;
  for (int m : plan.dense_modes) block *= static_cast<double>(plan.dims[m]);
  auto const& fibers = plan.fibers;
  double const blocks = static_cast<double>(fibers.items());
  double const rows = detail::used_rows(exec, plan.dims[fibers.mode], fibers.items(),
                                        detail::RawVector<Index const, MemorySpace>(fibers.index));
  double const numbers = blocks * block + (rows + static_cast<double>(fibers.count()) * block) * R;
  return {2 * blocks * block * R,
          detail::fiber_bytes(fibers, detail::sums_windows(fibers)) +
              static_cast<double>(plan.blocks.extent(0) * sizeof(Position)) +
              numbers * static_cast<double>(sizeof(Scalar))};
}

}  // namespace sporades

#include <sporades/eti/run_sspttm.hpp>
