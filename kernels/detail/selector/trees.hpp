// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/selector/tree.hpp>

/// Written by perf/train_selector.py; perf/results/choices.md says what it was fitted to.

namespace sporades::detail::trees {

/// The modes that MTTKRP's `fibers` multiplies once a run.
inline constexpr TreeNode mttkrp_split_on_hosts[] = {{Feature::run_length, 7.405, 2, nullptr},
                                                     {Feature::count, 0, 0, "stay"},
                                                     {Feature::count, 0, 0, "deeper"}};

/// MTTKRP's nonzeros: rows in order or in a linear order.
inline constexpr TreeNode mttkrp_layout_on_hosts[] = {
    {Feature::second_level_share, 20.58, 2, nullptr},
    {Feature::count, 0, 0, "rows"},
    {Feature::longest_share, 0.6453, 4, nullptr},
    {Feature::count, 0, 0, "rows"},
    {Feature::count, 0, 0, "alto"}};

/// Phi's nonzeros: rows in order or in a linear order.
inline constexpr TreeNode phi_layout_on_hosts[] = {{Feature::longest_share, 0.9002, 2, nullptr},
                                                   {Feature::count, 0, 0, "pull"},
                                                   {Feature::count, 0, 0, "alto"}};

/// SpTTM's strategy.
inline constexpr TreeNode spttm_on_hosts[] = {{Feature::count, 0, 0, "lanes"}};

/// SpTV's strategy.
inline constexpr TreeNode sptv_on_hosts[] = {{Feature::count, 0, 0, "hocfs"}};

/// The strategy of TTM chains.
inline constexpr TreeNode ttm_chain_on_hosts[] = {{Feature::time_share, 0.9305, 4, nullptr},
                                                  {Feature::time_share, 0.3726, 3, nullptr},
                                                  {Feature::count, 0, 0, "csf"},
                                                  {Feature::count, 0, 0, "semi_sparse"},
                                                  {Feature::count, 0, 0, "fused"}};

/// The modes that MTTKRP's `fibers` multiplies once a run.
inline constexpr TreeNode mttkrp_split_on_gpus[] = {{Feature::run_length, 10.74, 2, nullptr},
                                                    {Feature::count, 0, 0, "stay"},
                                                    {Feature::count, 0, 0, "deeper"}};

/// SpTTM's strategy.
inline constexpr TreeNode spttm_on_gpus[] = {{Feature::fiber_length, 6.411, 2, nullptr},
                                             {Feature::count, 0, 0, "lanes"},
                                             {Feature::fiber_spread, 0.4155, 4, nullptr},
                                             {Feature::count, 0, 0, "spmm_rows"},
                                             {Feature::count, 0, 0, "lanes"}};

/// SpTV's strategy.
inline constexpr TreeNode sptv_on_gpus[] = {{Feature::count, 0, 0, "hocfs"}};

/// The strategy of TTM chains.
inline constexpr TreeNode ttm_chain_on_gpus[] = {{Feature::count, 0, 0, "semi_sparse"}};

}  // namespace sporades::detail::trees
