// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/region.hpp>
#include <sporades/kernels/detail/mttkrp/alto.hpp>
#include <sporades/kernels/detail/mttkrp/alto_pull.hpp>
#include <sporades/kernels/detail/mttkrp/decide_layout.hpp>
#include <sporades/kernels/detail/mttkrp/flycoo_values.hpp>
#include <sporades/kernels/detail/mttkrp/mttkrp_memory.hpp>
#include <sporades/kernels/detail/mttkrp/options.hpp>
#include <sporades/kernels/detail/packed_windows.hpp>
#include <sporades/kernels/detail/processes/build_mttkrp.hpp>
#include <sporades/kernels/mttkrp.hpp>

/// How the plans of kernels/mttkrp.hpp are built: each family of strategies builds what it needs
/// for the modes that the layout gives it. What several processes need is in
/// processes/build_mttkrp.hpp.

namespace sporades {

template <class Scalar, class Index, class MemorySpace>
std::uint64_t MttkrpPlan<Scalar, Index, MemorySpace>::storage_bytes() const {
  std::uint64_t bytes =
      work.carry.bytes() + work.rounded.bytes() + work.values.bytes() + work.record_numbers.bytes();
  for (auto const& mode : work.parts) bytes += mode.bytes();
  for (auto const& mode : work.pulls) bytes += mode.bytes();
  formats.for_each([&](auto const& X) { bytes += X.storage_bytes(); });
  return bytes + (work.distributed ? work.distributed->bytes() : 0);
}

namespace detail {

/// One linear order for all modes that take it, and what their sums without atomics need. Where
/// `automatic` took it, modes that would need atomics revert to rows in order, for which X is kept.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void build_alto(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace>& X,
                MttkrpOptions const& options, Layout const& layout,
                MttkrpPlan<Scalar, Index, MemorySpace>& plan) {
  bool const may_revert = std::any_of(layout.modes.begin(), layout.modes.end(),
                                      [](ModeLayout const& mode) { return mode.may_revert; });
  auto const format = plan.formats.share(make_alto(exec, may_revert ? X : hand_over(X)));
  auto const& alto = std::get<AltoTensor<Scalar, Index, MemorySpace>>(*format);
  for (int n = 0; n < plan.order(); ++n) {
    auto& choice = plan.choices[n];
    if (chooses_layout(options) && needs_atomics<ExecutionSpace>(alto, n)) {
      revert_to_rows(choice);
      continue;
    }
    plan.formats.set(n, format);
    bool const is_pull = choice.strategy == MttkrpStrategy::alto;
    if constexpr (is_gpu<ExecutionSpace>) {
      if (!is_pull) continue;
      plan.work.pulls.push_back(make_alto_pull(exec, alto, n));
      reserve_sums(exec, plan.work.pulls.back().sums(), options.rank, plan.work.carry);
    } else {
      if (is_pull)
        refuse_atomics<ExecutionSpace>("make_mttkrp_plan", alto, n,
                                       "sorted, fibers, csf and permuted work");
      plan.work.carry.buffer_rows(exec, alto.partitions[n].buffer_rows, options.rank);
      auto const width = copied_width<Scalar>(plan.dims, plan.nnz, options.rank);
      for (int m = 0; m < plan.order(); ++m)
        if (m != n && width > 0) plan.work.carry.copied_columns(exec, m, plan.dims[m], width);
    }
  }
}

/// One copy for all modes, and for `flycoo` slots for the rows that its pieces share. P of
/// `flycoo_blocks` is the paper's where it is left open.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void build_flycoo(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace>& X,
                  MttkrpOptions const& options, MttkrpPlan<Scalar, Index, MemorySpace>& plan) {
  bool const is_by_blocks = options.strategy == MttkrpStrategy::flycoo_blocks;
  auto division = options.flycoo;
  if (is_by_blocks && division.parallel == 0) division.parallel = 32;
  auto const format = plan.formats.share(make_flycoo(exec, hand_over(X), division));
  plan.formats.set_all(format);
  if (is_by_blocks) return;
  auto& flycoo = std::get<FlycooTensor<Scalar, Index, MemorySpace>>(*format);
  Position chunks = 0;  // the most of a mode: slots do not grow from mode to mode
  for (auto const& mode : flycoo.modes)
    if (mode.shares_rows) chunks = std::max<Position>(chunks, mode.pieces.extent(0) - 1);
  plan.work.carry.reserve(exec, chunks, options.rank);
  for (int n = 0; n < plan.order(); ++n) {
    auto& choice = plan.choices[n];
    choice.split = 0;
    if (plan.nnz > 0 && fits_words(flycoo))
      choice.split = measured_split<ExecutionSpace>(exec, flycoo, options.rank, choice.reason);
    remap(exec, flycoo);
  }
}

/// A sorted copy a mode for the modes with strategy `sorted` or `fibers`, packed and out of core
/// where the layout says so. `builder` makes them, and can access X. A stable sort by the mode is
/// all that a copy of `base` needs, which is the last one itself. X is given back on the way. Hosts
/// sort out-of-core copies by parts.
template <class ExecutionSpace, class Builder, class Scalar, class Index, class GivenSpace,
          class MemorySpace>
void build_sorted(ExecutionSpace const& exec, Builder const& builder,
                  CooTensor<Scalar, Index, GivenSpace>& X, MttkrpOptions const& options,
                  Layout const& layout, MttkrpPlan<Scalar, Index, MemorySpace>& plan) {
  constexpr bool is_accessible = std::is_same_v<GivenSpace, MemorySpace>;
  CooTensor<Scalar, Index, GivenSpace> base;  // X along the curve, or in order of all modes
  auto const serves = [&](int n) { return is_by_rows(plan.choices[n].strategy); };
  for (int n : order_of_lists(plan.dims)) {
    if (!serves(n)) continue;
    auto& choice = plan.choices[n];
    bool const is_packed = layout.modes[n].is_packed,
               is_out_of_core = layout.modes[n].is_out_of_core;
    PackedTensor<Scalar, Index, GivenSpace> packed;
    bool const by_parts =
        is_out_of_core && !is_gpu<ExecutionSpace> && choice.order != RowOrder::morton;
    if constexpr (!is_gpu<ExecutionSpace>)
      if (by_parts)
        packed = pack_by_parts(exec, X, mttkrp_mode_order(X.dims, n), options.streaming);
    if (base.order() == 0 && !by_parts) {
      base = choice.order == RowOrder::morton ? to_coo(builder, make_alto(builder, hand_over(X)))
                                              : sorted(builder, X, modes_by_length(plan.dims));
      X = {};
    }
    if (!by_parts) {
      if (is_packed)
        packed = sorted_packed(builder, base, {n});
      else if constexpr (is_accessible)
        plan.formats.set(n, plan.formats.share(sorted(builder, base, {n})));
    }
    choose_split_of_runs<ExecutionSpace, Scalar>(
        options, plan.order(), is_packed, choice,
        [&](int k) { return run_length(builder, packed, k); });
    if (!is_packed) continue;
    if constexpr (is_accessible) {
      if (is_out_of_core && !packed.out_of_core)
        packed = place_packed<MemorySpace>(exec, packed, true);
      plan.formats.set(n, plan.formats.share(packed));
    } else {
      plan.formats.set(n,
                       plan.formats.share(place_packed<MemorySpace>(exec, packed, is_out_of_core)));
    }
  }
}

/// A sorted copy for each mode, packed where it fits; all modes except one have slices. X is given
/// back on the way.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void build_sliced(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace>& X,
                  MttkrpOptions const& options, Layout const& layout,
                  MttkrpPlan<Scalar, Index, MemorySpace>& plan) {
  int const sliced_by = layout.sliced_mode;
  plan.work.parts.resize(plan.dims.size());
  auto base = sorted(exec, X, mttkrp_mode_order(plan.dims, sliced_by));
  X = {};
  auto const keep = [&](int n, auto const& list) {
    auto const mode = static_cast<std::size_t>(n);
    auto& choice = plan.choices[mode];
    bool const is_packed = layout.modes[mode].is_packed;
    plan.formats.set(
        n, is_packed ? plan.formats.share(make_packed(exec, list, n)) : plan.formats.share(list));
    choose_split_of_runs<ExecutionSpace, Scalar>(
        options, plan.order(), is_packed, choice,
        [&](int k) { return run_length(exec, *plan.formats.template as<PackedTensor>(n), k); });
  };
  keep(sliced_by, base);
  auto const named =
      with_slices(exec, base, slice_cuts<ExecutionSpace>(layout.slices, plan.nnz), 0);
  base = {};
  Position most = 0;
  for (int n = 0; n < plan.order(); ++n) {
    if (n == sliced_by) continue;
    auto const mode = static_cast<std::size_t>(n);
    auto& parts = plan.work.parts[mode];
    plan.choices[mode].slices = layout.slices;
    auto numbered = share_parts({}, exec, named, n, {0, plan.nnz});
    parts = {{},
             exec,
             {0, plan.dims[mode]},
             numbered.rows,
             numbered.slices,
             static_cast<std::uint32_t>(layout.slices)};
    numbered.nonzeros.dims[mode] = parts.count();
    keep(n, numbered.nonzeros);
    most = std::max(most, parts.count());
  }
  plan.work.carry.buffer_rows(exec, most, static_cast<std::size_t>(options.rank));
}

/// Strategies that keep X as it is, or in a form of their own. X may be given back on the way.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void build_other(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace>& X,
                 MttkrpOptions const& options, Layout const& layout,
                 MttkrpPlan<Scalar, Index, MemorySpace>& plan) {
  switch (layout.strategy()) {
    case MttkrpStrategy::atomic:
    case MttkrpStrategy::duplicated:
      plan.formats.set_all(plan.formats.share(X));
      break;
    case MttkrpStrategy::permuted:
      plan.formats.set_all(plan.formats.share(make_permuted(exec, X)));
      break;
    case MttkrpStrategy::csf:
      for (int n = 0; n < plan.order(); ++n)
        plan.formats.set(n, plan.formats.share(make_csf(exec, X, mttkrp_mode_order(plan.dims, n))));
      break;
    case MttkrpStrategy::alto:
    case MttkrpStrategy::alto_atomic:
      build_alto(exec, X, options, layout, plan);
      break;
    case MttkrpStrategy::flycoo:
    case MttkrpStrategy::flycoo_blocks:
      build_flycoo(exec, X, options, plan);
      break;
    case MttkrpStrategy::automatic:
    case MttkrpStrategy::sorted:
    case MttkrpStrategy::fibers:  // build_sorted
      break;
  }
}

/// Lists the arrays of values of a plan that was built of numbers, and gives them their values.
/// Enqueued on exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void keep_values(ExecutionSpace const& exec, Vector<Scalar, MemorySpace> const& given,
                 MttkrpPlan<Scalar, Index, MemorySpace>& plan) {
  plan.work.values.keep(plan.nnz);
  plan.formats.for_each([&](auto& X) {
    using Format = std::decay_t<decltype(X)>;
    if constexpr (is_instance<Format, FlycooTensor>) {
      plan.work.record_numbers = numbers_in(exec, record_values(X), plan.nnz, plan.nnz);
      put_record_values(exec, X, plan.work.record_numbers, given);
    } else if constexpr (is_instance<Format, PermutedTensor>) {
      plan.work.values.add(exec, X.tensor.values);
    } else {
      plan.work.values.add(exec, X.values);
    }
  });
  plan.work.values.put(exec, given);
}

/// What one process holds for its products: the formats of its nonzeros, in which X is given back
/// as early as can be, and room for rows. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class GivenSpace, class MemorySpace>
void build_formats(ExecutionSpace const& exec, CooTensor<Scalar, Index, GivenSpace> X,
                   MttkrpOptions const& options, Layout const& layout,
                   MttkrpPlan<Scalar, Index, MemorySpace>& plan) {
  constexpr bool is_accessible = std::is_same_v<GivenSpace, MemorySpace>;
  auto const builder = builder_of<GivenSpace>(exec);
  Vector<Scalar, GivenSpace> given_values;
  if (options.updatable) {
    given_values = X.values;
    X.values = numbered_values<Scalar>(builder, X.nnz(), "make_mttkrp_plan");
  }
  if constexpr (is_accessible) build_other(exec, X, options, layout, plan);
  if (layout.slices > 1) {
    if constexpr (is_accessible) build_sliced(exec, X, options, layout, plan);
  } else {
    build_sorted(exec, builder, X, options, layout, plan);
  }
  plan.work.carry.windows.options = for_windows(plan.formats, options.streaming);
  bool const needs_carries =
      std::any_of(plan.choices.begin(), plan.choices.end(),
                  [](MttkrpChoice const& choice) { return facts_of(choice.strategy).has_carries; });
  if (needs_carries && !options.rows.atomic_flush)
    plan.work.carry.reserve(exec, chunks_of(plan.nnz, chunk_length<ExecutionSpace>(plan.nnz)),
                            options.rank);
  for (int n = 0; n < plan.order() && options.gather != GatherPrecision::full; ++n) {
    plan.choices[n].gather = options.gather;
    with_rounded_type<Scalar>(options.gather, [&](auto number) {
      plan.work.rounded.template room<decltype(number)>(exec, n, plan.dims[n], options.rank);
    });
  }
  if constexpr (is_accessible)
    if (options.updatable) keep_values(exec, given_values, plan);
  fence(exec, "sporades::mttkrp::make_plan");
}

template <class ExecutionSpace, class Scalar, class Index, class GivenSpace>
MttkrpPlan<Scalar, Index, WorkSpace<ExecutionSpace, GivenSpace>> build_mttkrp_plan(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, GivenSpace> X, MttkrpOptions const& given, MttkrpPlanUse const& use) {
  using MemorySpace = WorkSpace<ExecutionSpace, GivenSpace>;
  constexpr bool is_accessible = std::is_same_v<GivenSpace, MemorySpace>;
  char const* const where = "make_mttkrp_plan";
  Region const region("sporades::make_mttkrp_plan");
  auto const options = options_for<Scalar>(given);
  check_options(options, X.order());
  expect_same_dims(processes, X, where);
  check_coordinates(builder_of<GivenSpace>(exec), X, where);
  MttkrpPlan<Scalar, Index, MemorySpace> plan;
  plan.dims = X.dims;
  plan.nnz = exclusive_scan_of_all(processes, X.nnz()).back();
  plan.formats = decltype(plan.formats)(plan.dims.size());
  plan.work.carry.atomic = options.rows.atomic_flush;
  auto const layout =
      checked_layout(shape_of<Scalar, Index>(plan.dims, plan.nnz), options,
                     PlanPlace{is_gpu<ExecutionSpace>, processes.size() > 1, !is_accessible}, use);
  plan.choices = layout.choices();
  if (processes.size() == 1) {
    build_formats(exec, hand_over(X), options, layout, plan);
  } else if constexpr (has_mpi && is_accessible) {
    DistributedPlanBuilder<ExecutionSpace, Scalar, Index, MemorySpace>(processes, exec, options,
                                                                       use, layout, plan)
        .build(hand_over(X));
  }
  return plan;
}

/// build_mttkrp_plan; on one process with what fits its memory.
template <class ExecutionSpace, class Scalar, class Index, class GivenSpace>
MttkrpPlan<Scalar, Index, WorkSpace<ExecutionSpace, GivenSpace>> build_fitted_plan(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, GivenSpace> X, MttkrpOptions const& options,
    MttkrpPlanUse const& use) {
  if (processes.size() > 1) return build_mttkrp_plan(processes, exec, hand_over(X), options, use);
  auto const fitted = fit_mttkrp_plan(exec, X, options, is_last(X));
  auto const build = [&](auto& given) {
    auto plan = build_mttkrp_plan(processes, exec, hand_over(given), fitted.options, use);
    for (auto& choice : plan.choices)
      if (!fitted.reason.empty()) choice.reason = fitted.reason;
    return plan;
  };
  if constexpr (is_gpu<ExecutionSpace>)
    if (fitted.moves_to_host) {
      auto on_host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
      X = {};
      return build(on_host);
    }
  return build(X);
}

}  // namespace detail

template <class ExecutionSpace, class Tensor>
detail::PlanOf<MttkrpPlan, Tensor, ExecutionSpace> make_mttkrp_plan(ExecutionSpace const& exec,
                                                                    Tensor X,
                                                                    MttkrpOptions const& options) {
  static_assert(detail::is_instance<Tensor, CooTensor>,
                "make_mttkrp_plan takes a CooTensor: make_coo makes one of Views, to_coo of other "
                "formats, and std::visit takes one out of what read_tensor gives");
  if constexpr (detail::is_instance<Tensor, CooTensor>)
    if constexpr (detail::check_builder<ExecutionSpace, Tensor>())
      return detail::build_fitted_plan({}, exec, hand_over(X), options, {});
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MttkrpPlan<Scalar, Index, MemorySpace> make_mttkrp_plan(Communicator const& processes,
                                                        ExecutionSpace const& exec,
                                                        CooTensor<Scalar, Index, MemorySpace> X,
                                                        MttkrpOptions const& options) {
  auto const named = [&] { return detail::named_options<Scalar, Index>(options); };
  return detail::together(processes, "make_mttkrp_plan", named, [&] {
    return detail::build_fitted_plan(processes, exec, hand_over(X), options, {});
  });
}

namespace detail {

/// The nonzeros of mode n's copy.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo_of_mode(
    ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace> const& plan, int n) {
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;
  return plan.formats.visit(n, [&](auto const& X) -> Tensor {
    using Format = std::decay_t<decltype(X)>;
    if constexpr (std::is_same_v<Format, Tensor>)
      return X;
    else if constexpr (is_instance<Format, PermutedTensor>)
      return X.tensor;
    else
      return to_coo(exec, X);
  });
}

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             MttkrpPlan<Scalar, Index, MemorySpace> const& plan) {
  expects(!plan.work.distributed, "to_coo: a plan of several processes has its nonzeros in parts");
  int first = -1;
  for (int n = 0; n < plan.order(); ++n) {
    bool const has_rows = plan.choices[n].slices == 1;  // not parts of them
    if (has_rows && (first < 0 || plan.formats.place(n) < plan.formats.place(first))) first = n;
  }
  return detail::to_coo_of_mode(exec, plan, first);
}

}  // namespace sporades

#include <sporades/eti/build_mttkrp_plan.hpp>
