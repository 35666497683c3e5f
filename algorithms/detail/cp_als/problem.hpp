// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/detail/decompose.hpp>
#include <sporades/algorithms/detail/scaled_tensor.hpp>
#include <sporades/core/detail/check_types.hpp>
#include <sporades/core/detail/dense.hpp>
#include <sporades/core/detail/out_of_core_memory.hpp>
#include <sporades/core/detail/region.hpp>
#include <sporades/kernels/detail/processes/find_homes.hpp>
#include <sporades/kernels/mttkrp_all_modes.hpp>
#include <sporades/kernels/normal_equations.hpp>

namespace sporades::detail {

/// Throws Error where an option is out of its range.
inline void check_cp_als(CpAlsOptions const& options) {
  check_rank("cp_als", options.rank);
  check_run("cp_als", options);
  expects(options.regularization >= 0 && std::isfinite(options.regularization),
          "cp_als: regularization ", options.regularization, " is not 0 or a positive number");
  if (options.absent == AbsentEntries::zero) return;
  expects(!options.non_negative,
          "cp_als: factors cannot be non_negative where absent entries are missing; gcp can");
  expects(may_be_by_rows(options.strategy) && options.slices == 1,
          "cp_als: where absent entries are missing, the strategy is sorted or fibers, without "
          "slices, not ",
          to_string(options.strategy));
  expects(options.rank <= most_normal_rank, "cp_als: where absent entries are missing, rank ",
          options.rank, " is over ", most_normal_rank);
}

/// Whether the best iterate is kept. Exact steps never lower the fit. Only roundings do, and only
/// those of ill-conditioned systems by much. A non-negative step begins at the last iterate, and
/// regularized ones do not aim at the fit.
inline bool keeps_best(CpAlsOptions const& options) {
  return !options.non_negative && options.regularization == 0;
}

/// What CP-ALS alone has of what all processes of a call give alike.
inline NamedOptions named_options(CpAlsOptions const& options) {
  return NamedOptions()
      .add("rank", options.rank)
      .add("non_negative", options.non_negative)
      .add("regularization", options.regularization)
      .add("missing", options.absent == AbsentEntries::missing)
      .add("strategy", options.strategy)
      .add("dimension_tree", options.dimension_tree)
      .add("gather", options.gather)
      .add("slices", options.slices);
}

/// What its products are planned for.
inline MttkrpAllModesOptions products_of(CpAlsOptions const& options) {
  MttkrpAllModesOptions products{{options.strategy, options.rank}, options.dimension_tree};
  products.products.streaming = options.streaming;
  products.products.gather = options.gather;
  products.products.slices.count = options.slices;
  if (options.absent == AbsentEntries::missing) {
    products.dimension_tree = false;
    plan_for_rows(products.products, options.rank);
  }
  return products;
}

/// X in the order of homes that `order` becomes, where `products` want slices; and what they are to
/// know of it. X: with each coordinate once. Collective. Fences exec.
template <class ExecutionSpace, class Tensor>
Tensor order_by_homes(Communicator const& processes, ExecutionSpace const& exec, Tensor X,
                      MttkrpAllModesOptions& options,
                      HomeOrder<typename Tensor::MemorySpace>& order) {
  auto& products = options.products;
  check_options(products, X.order());
  CooShape shape = shape_of(X);
  shape.nnz = static_cast<double>(exclusive_scan_of_all(processes, X.nnz()).back());
  int const slices =
      decide_layout(shape, products, {is_gpu<ExecutionSpace>, processes.size() > 1}).slices;
  if (slices == 1) return X;
  auto result =
      FindHomes<ExecutionSpace, Tensor>(processes, exec, hand_over(X), slices, products.rank)
          .renumber(order);
  products.slices.mode = order.sliced;
  products.slices.rows = order.begins;
  return result;
}

/// The fit comes from the product on the last mode, and its factor fits the others exactly.
template <class Plan>
void take_last_in_full(Plan& plan) {
  if (plan.fused.empty()) plan.whole.choices.back().gather = GatherPrecision::full;
}

/// make_cp_als_problem. X: the nonzeros that the process brings.
template <class ExecutionSpace, class Scalar, class Index, class GivenSpace>
CpAlsProblem<Scalar, Index, WorkSpace<ExecutionSpace, GivenSpace>> build_als_problem(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, GivenSpace> X, CpAlsOptions const& options) {
  using MemorySpace = WorkSpace<ExecutionSpace, GivenSpace>;
  Region const region("sporades::make_cp_als_problem");
  check_cp_als(options);
  auto const part_bytes = part_bytes_of<ExecutionSpace>(processes, X, options.streaming);
  auto scaled = summed_and_scaled(processes, builder_of<GivenSpace>(exec), hand_over(X), "cp_als",
                                  part_bytes, options.absent == AbsentEntries::missing);
  auto& summed = scaled.tensor;
  auto const places = exclusive_scan_of_all(processes, summed.nnz());
  CpAlsProblem<Scalar, Index, MemorySpace> problem;
  problem.processes = processes;
  problem.dims = summed.dims;
  problem.nnz = places.back();
  problem.exponent = scaled.exponent;
  problem.out_of_core = scaled.memory;
  problem.norm_squared = norm_squared_across(processes, exec, places, summed.values);
  auto products = products_of(options);
  if constexpr (std::is_same_v<GivenSpace, MemorySpace>)  // else a plan in slices is refused
    summed = order_by_homes(processes, exec, hand_over(summed), products, problem.homes);
  problem.products = build_all_modes_plan(processes, exec, hand_over(summed), products);
  take_last_in_full(problem.products);
  return problem;
}

}  // namespace sporades::detail
