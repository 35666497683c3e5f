// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/check_types.hpp>
#include <sporades/kernels/mttkrp_all_modes.hpp>
#include <sporades/kernels/phi.hpp>
#include <sporades/kernels/spttm.hpp>
#include <sporades/kernels/sptv.hpp>
#include <sporades/kernels/ttm_chain.hpp>

/// New values for a plan that has been built, at the same coordinates: what gradient methods need,
/// whose products are of derivatives at the nonzeros.
///   MttkrpOptions options;
///   options.updatable = true;
///   auto plan = make_mttkrp_plan(exec, X, options);
///   for (...) {
///     model_values(exec, X, model, derivatives);  // then the derivative of the loss of each
///     update_values(exec, plan, derivatives);
///     mttkrp(exec, plan, model.factors, n, gradient[n]);
///   }

namespace sporades {

/// Gives the plan's nonzeros these values, in the order of the nonzeros that the plan was made of:
/// its products are then, bit for bit, those of a plan made of the new values.
/// - plan: an MttkrpPlan of any strategy, an MttkrpAllModesPlan, a PhiPlan, an SpttmPlan, an
///   SptvPlan made of a CooTensor, or a TtmChainPlan, which adds up the values of equal
///   coordinates. It was made with the option `updatable`.
/// - values: a View of as many numbers without gaps, of the plan's scalar type and in its memory
///   space. They are copied: the caller's tensor keeps its own.
///
/// Each of the plan's arrays of values, one a mode for most strategies, is gathered: 2 Scalars and
/// 4 bytes a nonzero and array, 8 from 2^32 - 1 nonzeros on. A plan of strategy `flycoo` is moved
/// to the order of mode 0 first, where it is after a product on the last mode.
///
/// Enqueued on exec, does not fence and allocates nothing, except for the sums of a TtmChainPlan
/// where coordinates repeat. Throws Error where the plan was not made for it, or the numbers
/// disagree.
template <class ExecutionSpace, class Plan, class Input>
void update_values(ExecutionSpace const& exec, Plan& plan, Input const& values);

}  // namespace sporades

#include <sporades/kernels/detail/run_update_values.hpp>
