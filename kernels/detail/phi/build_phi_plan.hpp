// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/processes/same_options.hpp>
#include <sporades/core/detail/region.hpp>
#include <sporades/kernels/detail/phi/baselines/coo_alto.hpp>
#include <sporades/kernels/detail/phi/fused.hpp>
#include <sporades/kernels/phi.hpp>

/// How the plans of kernels/phi.hpp are built, a function for each kind of them.

namespace sporades {

template <class Scalar, class Index, class MemorySpace>
std::uint64_t PhiPlan<Scalar, Index, MemorySpace>::storage_bytes() const {
  std::uint64_t bytes = pi.span() * sizeof(Scalar) + products.work.carry.bytes() + values.bytes();
  if (!coo.empty())
    bytes += coo[0].storage_bytes() * (strategy == PhiStrategy::pull ? coo.size() : 1);
  else
    bytes += products.storage_bytes() - products.work.carry.bytes();
  AltoTensor<Scalar, Index, MemorySpace> parts;  // without nonzeros
  parts.partitions = partitions;
  bytes += parts.storage_bytes();
  bytes += weights.span() * sizeof(Scalar);
  return bytes;
}

namespace detail {

inline bool is_linear(PhiStrategy strategy) {
  return strategy == PhiStrategy::alto || strategy == PhiStrategy::alto_atomic;
}

/// What sums the weights of `alto` and `alto_atomic`. On hosts, where `alto` is refused for modes
/// that need atomics, that is told after the plan is made.
template <class ExecutionSpace>
MttkrpStrategy linear_products(PhiStrategy strategy) {
  return is_gpu<ExecutionSpace> && strategy == PhiStrategy::alto ? MttkrpStrategy::alto
                                                                 : MttkrpStrategy::alto_atomic;
}

/// Whether the strategy takes coordinates in the linear order.
inline bool is_coo_alto(PhiStrategy strategy) {
  return strategy == PhiStrategy::coo_alto_atomic || strategy == PhiStrategy::coo_alto_pull;
}

/// Whether Phi on COO nonzeros, or with stored pi, takes two passes at that rank.
template <class ExecutionSpace, class Scalar>
bool coo_takes_two_passes(PhiOptions const& options) {
  auto const R = static_cast<std::size_t>(options.rank);
  return options.strategy == PhiStrategy::coo_alto_pull
             ? !parts_take_one_pass<ExecutionSpace, Scalar>(R)
             : !coo_takes_one_pass<ExecutionSpace, Scalar>(R);
}

/// Room for the weights of so many nonzeros, which two passes over them need.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void reserve_weights(ExecutionSpace const& exec, Position nnz,
                     PhiPlan<Scalar, Index, MemorySpace>& plan) {
  if (plan.weights.extent(0) < nnz)
    plan.weights = uninitialized<Vector<Scalar, MemorySpace>>(exec, "sporades::phi::weights", nnz);
}

/// Windows take what nonzeros and weights in resident memory leave.
template <class Scalar, class Index, class MemorySpace>
void limit_windows(PhiPlan<Scalar, Index, MemorySpace>& plan, Streaming const& streaming) {
  plan.products.work.carry.windows.options = with_less(
      for_windows(plan.products.formats, streaming), plan.weights.span() * sizeof(Scalar));
}

/// `pull` with stored pi: a sorted copy a mode, whose places the rows of pi have.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void build_stored(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                  PhiOptions const& options, PhiPlan<Scalar, Index, MemorySpace>& plan) {
  plan.strategy = PhiStrategy::pull;
  for (int n = 0; n < X.order(); ++n)
    plan.coo.push_back(sorted(exec, X, mttkrp_mode_order(X.dims, n)));
  plan.products.work.carry.reserve(exec, chunks_of(X.nnz(), chunk_length<ExecutionSpace>(X.nnz())),
                                   options.rank);
}

/// `coo_alto_atomic` and `coo_alto_pull`: coordinates in the linear order, and the latter's parts
/// and buffers.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void build_coo_alto(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                    PhiOptions const& options, PhiPlan<Scalar, Index, MemorySpace>& plan) {
  auto const linear = make_alto(exec, X);
  if (options.strategy == PhiStrategy::coo_alto_pull) {
    plan.partitions = linear.partitions;
    for (int n = 0; n < X.order(); ++n) {
      auto const& partition = plan.partitions[n];
      expects(X.nnz() == 0 || partition.parts.extent(0) > 0,
              "make_phi_plan: strategy coo-alto-pull has no buffers for mode ", n,
              ", whose rows are used too seldom (", X.dims[n], " rows, ", X.nnz(),
              " nonzeros): coo-alto-atomic and pull work");
      plan.products.work.carry.buffer_rows(exec, partition.buffer_rows, options.rank);
    }
  }
  plan.coo.assign(X.order(), to_coo(exec, linear));
}

/// The products of `pull`, `alto` and `alto_atomic` with pi on the fly: what MTTKRP needs. On
/// several processes rows are in order.
template <class ExecutionSpace, class Scalar, class Index, class GivenSpace, class MemorySpace>
void build_products(Communicator const& processes, ExecutionSpace const& exec,
                    CooTensor<Scalar, Index, GivenSpace> X, PhiOptions const& options,
                    PhiPlan<Scalar, Index, MemorySpace>& plan) {
  MttkrpOptions products{MttkrpStrategy::automatic, options.rank};
  products.updatable = options.updatable;
  auto const columns = padded_columns(static_cast<std::size_t>(options.rank));
  bool const is_one_tile = rows_are_one_tile<ExecutionSpace, Scalar>(columns);
  products.streaming =
      is_gpu<ExecutionSpace> && !is_one_tile && !is_linear(options.strategy)  // weights, too
          ? with_less(options.streaming, X.nnz() * sizeof(Scalar))
          : options.streaming;
  if (is_linear(options.strategy))
    products.strategy = linear_products<ExecutionSpace>(options.strategy);
  if (options.strategy == PhiStrategy::pull) products.rows.order = RowOrder::lexicographic;
  MttkrpPlanUse use{trees::phi_layout_on_hosts};
  use.may_be_linear = processes.size() == 1;
  plan.products = build_mttkrp_plan(processes, exec, hand_over(X), products, use);
  plan.nnz = plan.products.nnz;
  auto const& formats = plan.products.formats;
  bool const is_alto = formats.template any<AltoTensor>();
  if (options.strategy == PhiStrategy::alto && !is_gpu<ExecutionSpace>)
    for (int n = 0; n < plan.products.order(); ++n)
      refuse_atomics<ExecutionSpace>("make_phi_plan", *formats.template as<AltoTensor>(n), n,
                                     "pull works");
  if (!is_linear(options.strategy)) plan.strategy = is_alto ? PhiStrategy::alto : PhiStrategy::pull;
  Position most = 0;  // nonzeros of a mode here
  formats.for_each([&](auto const& format) { most = std::max<Position>(most, format.nnz()); });
  if (count_out_of_core(formats) < formats.modes() &&
      ((is_gpu<ExecutionSpace> && is_alto) || !is_one_tile))
    reserve_weights(exec, most, plan);
  limit_windows(plan, options.streaming);
}

/// Throws Error where processes cannot share a plan with these options.
inline void check_processes(PhiOptions const& options) {
  expects(options.strategy == PhiStrategy::automatic || options.strategy == PhiStrategy::pull,
          "make_phi_plan: strategy ", to_string(options.strategy),
          " works on one process: pull on several");
  expects(!options.updatable, "make_phi_plan: values are updated on one process");
  expects(options.pi == Pi::on_the_fly,
          "make_phi_plan: pi is stored on one process: on several it is computed on the fly");
}

template <class ExecutionSpace, class Scalar, class Index, class GivenSpace>
PhiPlan<Scalar, Index, WorkSpace<ExecutionSpace, GivenSpace>> build_phi_plan(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, GivenSpace> X, PhiOptions const& options) {
  using MemorySpace = WorkSpace<ExecutionSpace, GivenSpace>;
  constexpr bool is_accessible = std::is_same_v<GivenSpace, MemorySpace>;
  Region const region("sporades::make_phi_plan");
  bool const is_stored = options.pi == Pi::stored;
  bool const is_coo = options.strategy == PhiStrategy::atomic || is_coo_alto(options.strategy);
  expects(options.rank > 0, "make_phi_plan: rank ", options.rank, " is not positive");
  expects(!is_stored || !(is_linear(options.strategy) || is_coo_alto(options.strategy)),
          "make_phi_plan: pi is not stored for strategy ", to_string(options.strategy));
  expects(is_accessible || !(is_stored || is_coo),
          "make_phi_plan: a tensor in the host's memory is not streamed by strategy ",
          to_string(options.strategy), is_stored ? " with stored pi" : "");
  if (processes.size() > 1) check_processes(options);
  if (is_stored || is_coo)  // else build_mttkrp_plan checks
    check_coordinates(builder_of<GivenSpace>(exec), X, "make_phi_plan");
  PhiPlan<Scalar, Index, MemorySpace> plan;
  plan.dims = X.dims;
  plan.nnz = X.nnz();
  plan.strategy = options.strategy;
  plan.pi_source = options.pi;
  if (is_stored) plan.pi = make_matrix<Scalar>(exec, "sporades::phi::pi", X.nnz(), options.rank);
  if constexpr (is_accessible) {
    bool const keeps_values = options.updatable && (is_stored || is_coo);
    auto Y = X;
    if (keeps_values) Y.values = numbered_values<Scalar>(exec, X.nnz(), "make_phi_plan");
    if (is_coo_alto(options.strategy))
      build_coo_alto(exec, Y, options, plan);
    else if (is_coo)
      plan.coo.assign(X.order(), Y);
    else if (is_stored)
      build_stored(exec, Y, options, plan);
    if (keeps_values) {
      plan.values.keep(plan.nnz);
      for (auto const& mode : plan.coo) plan.values.add(exec, mode.values);
      plan.values.put(exec, X.values);
    }
    if ((is_stored || is_coo) && coo_takes_two_passes<ExecutionSpace, Scalar>(options))
      reserve_weights(exec, plan.nnz, plan);
  }
  if (!is_stored && !is_coo) build_products(processes, exec, hand_over(X), options, plan);
  fence(exec, "sporades::phi::make_plan");
  return plan;
}

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
PhiPlan<Scalar, Index, MemorySpace> make_phi_plan(Communicator const& processes,
                                                  ExecutionSpace const& exec,
                                                  CooTensor<Scalar, Index, MemorySpace> X,
                                                  PhiOptions const& options) {
  auto const named = [&] {
    return detail::types_of_call<Scalar, Index>()
        .add("rank", options.rank)
        .add("strategy", options.strategy)
        .add("pi", options.pi);
  };
  return detail::together(processes, "make_phi_plan", named, [&] {
    return detail::build_phi_plan(processes, exec, hand_over(X), options);
  });
}

template <class ExecutionSpace, class Tensor>
detail::PlanOf<PhiPlan, Tensor, ExecutionSpace> make_phi_plan(ExecutionSpace const& exec,
                                                              Tensor const& X,
                                                              PhiOptions const& options) {
  static_assert(detail::is_instance<Tensor, CooTensor>, "make_phi_plan takes a CooTensor");
  if constexpr (detail::is_instance<Tensor, CooTensor>)
    if constexpr (detail::check_builder<ExecutionSpace, Tensor>())
      return detail::build_phi_plan({}, exec, X, options);
}

}  // namespace sporades

#include <sporades/eti/build_phi_plan.hpp>
