// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/region.hpp>
#include <sporades/kernels/update_values.hpp>

namespace sporades {
namespace detail {

template <class Scalar, class MemorySpace>
void check_new_values(ValueLists<Scalar, MemorySpace> const& lists, Position count) {
  expects(lists.are_kept(),
          "update_values: the plan does not know whose values it holds: make it with the option "
          "`updatable`");
  expects(count == lists.nnz(), "update_values: ", count, " values for a plan of ", lists.nnz(),
          " nonzeros");
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void put_new_values(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan,
                    Vector<Scalar, MemorySpace> const& values) {
  check_new_values(plan.work.values, values.extent(0));
  plan.work.values.put(exec, values);
  if (auto* const flycoo = plan.formats.template as<FlycooTensor>(0))
    put_record_values(exec, *flycoo, plan.work.record_numbers, values);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void put_new_values(ExecutionSpace const& exec,
                    MttkrpAllModesPlan<Scalar, Index, MemorySpace>& plan,
                    Vector<Scalar, MemorySpace> const& values) {
  put_new_values(exec, plan.whole, values);
  plan.has_T = false;  // the products of cells; the rows of K have no values in them
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void put_new_values(ExecutionSpace const& exec, PhiPlan<Scalar, Index, MemorySpace>& plan,
                    Vector<Scalar, MemorySpace> const& values) {
  if (plan.coo.empty()) return put_new_values(exec, plan.products, values);
  check_new_values(plan.values, values.extent(0));
  plan.values.put(exec, values);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void put_new_values(ExecutionSpace const& exec, SpttmPlan<Scalar, Index, MemorySpace>& plan,
                    Vector<Scalar, MemorySpace> const& values) {
  check_new_values(plan.values, values.extent(0));
  plan.values.put(exec, values);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void put_new_values(ExecutionSpace const& exec, SptvPlan<Scalar, Index, MemorySpace>& plan,
                    Vector<Scalar, MemorySpace> const& values) {
  check_new_values(plan.values, values.extent(0));
  plan.values.put(exec, values);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void put_new_values(ExecutionSpace const& exec, TtmChainPlan<Scalar, Index, MemorySpace>& plan,
                    Vector<Scalar, MemorySpace> const& values) {
  check_new_values(plan.work.values, values.extent(0));
  auto const sums = plan.work.summed.of(exec, values);
  plan.work.values.put(exec, sums);
  if (sums.data() != values.data()) fence(exec, "sporades::update_values::sums");
}

template <class Plan>
inline constexpr bool is_updatable_plan =
    is_instance<Plan, MttkrpPlan> || is_instance<Plan, MttkrpAllModesPlan> ||
    is_instance<Plan, PhiPlan> || is_instance<Plan, SpttmPlan> || is_instance<Plan, SptvPlan> ||
    is_instance<Plan, TtmChainPlan>;

}  // namespace detail

template <class ExecutionSpace, class Plan, class Input>
void update_values(ExecutionSpace const& exec, Plan& plan, Input const& values) {
  constexpr bool is_plan = detail::is_updatable_plan<Plan>;
  static_assert(is_plan,
                "update_values takes a plan that is not const: of MTTKRP, on one mode or all, of "
                "Phi, SpTTM, SpTV or TTM chains");
  if constexpr (is_plan)
    if constexpr (detail::check_vectors<ExecutionSpace, detail::VectorOf<Plan>, Input>()) {
      detail::Region const region("sporades::update_values");
      detail::put_new_values(exec, plan, detail::as_vector(values));
    }
}

}  // namespace sporades

#include <sporades/eti/run_update_values.hpp>
