// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/out_of_core_memory.hpp>
#include <sporades/core/timer.hpp>
#include <sporades/kernels/sptv_pipeline.hpp>

/// How the pipelines of kernels/sptv_pipeline.hpp are made and run.

namespace sporades {

inline double SptvPipelineTimes::synchronous() const {
  double sum = 0;
  for (auto const& c : collections) sum += c.in + c.compute + c.out;
  return sum;
}

inline double SptvPipelineTimes::pipelined() const {
  // In step s collection s is copied in, s - 1 is computed, and s - 2 is copied out.
  std::size_t const count = collections.size();
  double sum = 0;
  for (std::size_t s = 0; s < count + 2 && count > 0; ++s) {
    double longest = 0;
    if (s < count) longest = std::max(longest, collections[s].in);
    if (s >= 1 && s - 1 < count) longest = std::max(longest, collections[s - 1].compute);
    if (s >= 2) longest = std::max(longest, collections[s - 2].out);
    sum += longest;
  }
  return sum;
}

namespace detail {

/// Calls run(view) for each array that a product of the plan reads.
template <class Plan, class Run>
void for_each_array(Plan& plan, Run const& run) {
  std::visit(
      [&](auto& X) {
        if constexpr (is_instance<std::decay_t<decltype(X)>, HocooTensor>) {
          run(X.tensor.coordinates);
          run(X.tensor.values);
        } else {
          run(X.begin);
          run(X.index);
          run(X.values);
        }
        if constexpr (is_instance<std::decay_t<decltype(X)>, HocfsTensor>) {
          run(X.first_fiber);
          run(X.formats);
        }
      },
      plan.tensor);
  run(plan.places);
  run(plan.split.fibers);
  run(plan.split.windows);
  run(plan.split.starts);
}

/// A View of the same shape at the layout's next place.
template <class ViewType>
ViewType placed(MemoryLayout& layout, ViewType const& view) {
  auto* const data = layout.room<typename ViewType::value_type>(view.size());
  if constexpr (int(ViewType::rank) == 2)
    return ViewType(data, view.extent(0), view.extent(1));
  else
    return ViewType(data, view.extent(0));
}

/// Gives the arrays back that no product reads.
template <class Scalar, class Index, class MemorySpace>
void drop_unread(SptvPlan<Scalar, Index, MemorySpace>& plan) {
  bool const has_windows = plan.split.windows.extent(0) > 0;  // in place of the fibers' begins
  std::visit(
      [&](auto& X) {
        using Tensor = std::decay_t<decltype(X)>;
        if constexpr (is_instance<Tensor, HocfsTensor>) {
          X.indices.clear();
          X.first_child.clear();
          if (X.ell_slices == 0) X.first_fiber = {};
          if (X.ell_slices == 0) X.formats = {};
          if (has_windows) X.begin = {};
        } else if constexpr (is_instance<Tensor, CfbTensor>) {
          X.number = {};
          if (has_windows) X.begin = {};
        }
      },
      plan.tensor);
  plan.coordinates = {};
  plan.carry = {};
}

/// Moves the plan's arrays to out-of-core memory. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
SptvCollection<Scalar, Index, MemorySpace> to_out_of_core(ExecutionSpace const& exec,
                                                          SptvPlan<Scalar, Index, MemorySpace> plan,
                                                          std::vector<OutOfCoreMemory>& memory) {
  drop_unread(plan);
  MemoryLayout all(nullptr);
  for_each_array(plan, [&](auto& view) {
    all.room<typename std::decay_t<decltype(view)>::value_type>(view.size());
  });
  SptvCollection<Scalar, Index, MemorySpace> collection;
  collection.bytes = all.bytes();
  collection.block_sums = plan.split.sums.extent(0);
  all.room<Scalar>(collection.block_sums);
  all.room<Scalar>(plan.fibers);
  collection.room_bytes = all.bytes();
  memory.push_back(allocate_out_of_core(exec, collection.bytes + 1));
  collection.begin = static_cast<char*>(memory.back().get());
  MemoryLayout out_of_core(collection.begin);
  for_each_array(plan, [&](auto& view) {
    auto const to = placed(out_of_core, view);
    if (view.size() > 0) copy_view(exec, to, view);
    view = to;
  });
  fence(exec, "sporades::sptv::to_far");
  plan.split.sums = {};
  collection.plan = plan;
  return collection;
}

/// indices(p) -= first
template <class Indices>
struct Relabel {
  using Index = typename Indices::non_const_value_type;
  Indices indices;
  Index first;
  KOKKOS_FUNCTION void operator()(Position p) const { indices(p) -= first; }
};

/// The nonzeros begin to end - 1 of X, where exec computes; slices first to last of its slowest
/// mode alone, numbered from 0.
template <class ExecutionSpace, class Scalar, class Index, class GivenSpace>
auto part_of(ExecutionSpace const& exec, CooTensor<Scalar, Index, GivenSpace> const& X,
             Position begin, Position end, Index first, Index last) {
  int const slowest = X.sorted_modes.front();
  Dims dims = X.dims;
  if (X.order() > 1) dims[slowest] = std::uint64_t{last} - first + 1;
  auto part = allocate_coo<Scalar, Index>(exec, dims, end - begin);
  auto const range = std::make_pair(begin, end);
  for (int m = 0; m < X.order(); ++m)
    copy_view(exec, Kokkos::subview(part.coordinates, m, Kokkos::ALL),
              Kokkos::subview(X.coordinates, m, range));
  copy_view(exec, part.values, Kokkos::subview(X.values, range));
  part.sorted_modes = X.sorted_modes;
  if (X.order() > 1) {
    auto const indices = Kokkos::subview(part.coordinates, slowest, Kokkos::ALL);
    launch_items(exec, "sporades::sptv::relabel", end - begin,
                 Relabel<std::decay_t<decltype(indices)>>{indices, first});
  }
  return part;
}

template <class ExecutionSpace, class Scalar, class Index, class GivenSpace>
SptvPipeline<Scalar, Index, WorkSpace<ExecutionSpace, GivenSpace>> build_sptv_pipeline(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, GivenSpace> const& X, int n,
    SptvPipelineOptions const& options) {
  using MemorySpace = WorkSpace<ExecutionSpace, GivenSpace>;
  Region const region("sporades::make_sptv_pipeline");
  auto const builder = builder_of<GivenSpace>(exec);
  check_streaming("make_sptv_pipeline", options.streaming);
  auto const strategy = options.product.strategy;
  expects(with_same_format(strategy) == strategy, "make_sptv_pipeline: strategy ",
          to_string(strategy), " has no pipeline: ", to_string(with_same_format(strategy)), " has");
  auto const modes = cyclic_modes(n, X.order(), "make_sptv_pipeline");
  check_coordinates(builder, X, "make_sptv_pipeline");
  SptvPipeline<Scalar, Index, MemorySpace> pipeline;
  pipeline.dims = X.dims;
  pipeline.mode = n;
  for (std::size_t k = 0; k + 1 < modes.size(); ++k)
    pipeline.sorted_modes.push_back(mode_without(modes[k], n));
  pipeline.nonzeros = X.nnz();
  pipeline.windows.options = options.streaming;
  auto const Xs = sorted(builder, X, modes);
  auto const fibers = make_fibers(builder, Xs.coordinates, modes, modes);
  pipeline.fibers = fibers.count();
  std::uint64_t const nonzero = sizeof(Index) + sizeof(Scalar);
  constexpr Position most_collections = 4096;  // each is a piece of out-of-core memory
  std::uint64_t const wanted = std::max<std::uint64_t>(
      pipeline.windows.window_bytes(X.nnz() * nonzero) / nonzero, X.nnz() / most_collections + 1);
  auto const begin = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, fibers.begin);
  auto const fiber = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, fibers.coordinates);
  auto const slice = [&](Position f) { return modes.size() > 1 ? fiber(0, f) : Index{0}; };
  bool const pads_slices = options.product.slices == HocfsSlices::ell;
  for (Position first = 0; first < pipeline.fibers;) {
    auto const* const all = begin.data();
    auto const* const end = all + pipeline.fibers + 1;
    Position last = std::upper_bound(all + first, end, all[first] + wanted) - all - 1;
    last = std::max(last, first + 1);
    if (pads_slices) {                          // how much depends on all fibers of a slice
      auto const is_inside = [&](Position f) {  // a matrix is one slice
        return f < pipeline.fibers && (modes.size() < 3 || slice(f) == slice(f - 1));
      };
      while (last > first + 1 && is_inside(last)) --last;
      while (is_inside(last)) ++last;
    }
    auto plan = build_sptv_plan(
        exec, part_of(exec, Xs, begin(first), begin(last), slice(first), slice(last - 1)), n,
        options.product);
    pipeline.collections.push_back(to_out_of_core(exec, std::move(plan), pipeline.memory));
    pipeline.collections.back().first_fiber = first;
    first = last;
  }
  using Coordinates = typename SptvPipeline<Scalar, Index, MemorySpace>::Output::Coordinates;
  pipeline.coordinates =
      Coordinates(Kokkos::view_alloc(Kokkos::WithoutInitializing, "sporades::sptv::coordinates"),
                  modes.size() - 1, pipeline.fibers);
  for (std::size_t k = 0; k + 1 < modes.size() && pipeline.fibers > 0; ++k)
    std::copy_n(&fiber(k, 0), pipeline.fibers, &pipeline.coordinates(mode_without(modes[k], n), 0));
  return pipeline;
}

/// The steps of a pipeline's product.
template <class Scalar, class Index, class MemorySpace>
struct SptvSteps {
  using Pipeline = SptvPipeline<Scalar, Index, MemorySpace>;
  using Bytes = Kokkos::View<char*, MemorySpace>;

  Pipeline& pipeline;
  Vector<Scalar, MemorySpace> v;
  Vector<Scalar, PageLockedSpace> y;  // of all fibers

  SptvCollection<Scalar, Index, MemorySpace> const& collection(Position k) const {
    return pipeline.collections[k];
  }
  std::uint64_t room_bytes() const {
    std::uint64_t most = 0;
    for (auto const& c : pipeline.collections) most = std::max(most, c.room_bytes);
    return most;
  }
  template <class ExecutionSpace>
  void copy_in(ExecutionSpace const& exec, char* room, Position k) const {
    auto const& c = collection(k);
    copy_to_window(exec, Bytes(room, c.bytes), Bytes(c.begin, c.bytes));
  }
  template <class ExecutionSpace>
  Vector<Scalar, MemorySpace> compute(ExecutionSpace const& exec, char* room, Position k) const {
    auto plan = collection(k).plan;
    MemoryLayout layout(room);
    for_each_array(plan, [&](auto& view) { view = placed(layout, view); });
    plan.split.sums = layout.view<Vector<Scalar, MemorySpace>>(collection(k).block_sums);
    auto const sums = layout.view<Vector<Scalar, MemorySpace>>(plan.fibers);
    auto& carry = pipeline.carries[k % pipeline.carries.size()];
    plan.carry = carry;
    run_sptv(exec, plan, v, sums);  // the library's: other flags would give other bits
    carry = plan.carry;
    return sums;
  }
  template <class ExecutionSpace>
  void copy_out(ExecutionSpace const& exec, Vector<Scalar, MemorySpace> const& sums,
                Position k) const {
    Position const first = collection(k).first_fiber;
    copy_view(exec, Kokkos::subview(y, std::make_pair(first, first + sums.extent(0))), sums);
  }
};

template <class Scalar, class Index, class MemorySpace>
SptvSteps<Scalar, Index, MemorySpace> check_pipeline(
    SptvPipeline<Scalar, Index, MemorySpace>& pipeline, Vector<Scalar, MemorySpace> const& v,
    Vector<Scalar, PageLockedSpace> const& y) {
  expects(v.extent(0) == pipeline.dims[pipeline.mode], "sptv: v has ", v.extent(0),
          " entries, mode ", pipeline.mode, " has ", pipeline.dims[pipeline.mode]);
  expects(y.extent(0) == pipeline.fibers, "sptv: Y has ", y.extent(0), " values, X has ",
          pipeline.fibers, " fibers");
  pipeline.carries.resize(pipeline.windows.options.streams);
  return {pipeline, v, y};
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_sptv_pipeline(ExecutionSpace const& exec,
                       SptvPipeline<Scalar, Index, MemorySpace>& pipeline,
                       Vector<Scalar, MemorySpace> const& v,
                       Vector<Scalar, PageLockedSpace> const& y) {
  Region const region("sporades::sptv pipeline, mode ", pipeline.mode);
  auto const steps = check_pipeline(pipeline, v, y);
  pipeline.windows.run(
      exec, pipeline.collections.size(), steps.room_bytes(),
      [&](auto const& instance, char* room, Position k) { steps.copy_in(instance, room, k); },
      [&](auto const& instance, char* room, Position k) {
        steps.copy_out(instance, steps.compute(instance, room, k), k);
      });
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
SptvPipelineTimes time_sptv_pipeline(ExecutionSpace const& exec,
                                     SptvPipeline<Scalar, Index, MemorySpace>& pipeline,
                                     Vector<Scalar, MemorySpace> const& v,
                                     Vector<Scalar, PageLockedSpace> const& y) {
  auto const steps = check_pipeline(pipeline, v, y);
  SptvPipelineTimes times;
  Vector<char, MemorySpace> const room("sporades::sptv::room", steps.room_bytes());
  fence(exec, "sporades::sptv::time_collections");
  for (Position k = 0; k < pipeline.collections.size(); ++k) {
    Timer timer;
    auto const step = [&] {
      fence(exec, "sporades::sptv::time_collections");
      double const seconds = timer.seconds();
      timer.reset();
      return seconds;
    };
    steps.copy_in(exec, room.data(), k);
    double const in = step();
    auto const sums = steps.compute(exec, room.data(), k);
    double const compute = step();
    steps.copy_out(exec, sums, k);
    times.collections.push_back({in, compute, step()});
  }
  return times;
}

/// Whether the arguments of a pipeline's product fit it.
template <class ExecutionSpace, class Pipeline, class Input, class Output>
constexpr bool check_pipeline_types() {
  constexpr bool fits = std::is_same_v<Output, typename Pipeline::Output>;
  static_assert(fits,
                "the product must be a CooTensor in memory of the host: make_sptv_output makes it");
  if constexpr (fits && check_types<ExecutionSpace, Pipeline>())
    return check_vector<Pipeline, Input>();
  return false;
}

}  // namespace detail

template <class ExecutionSpace, class Tensor>
detail::PlanOf<SptvPipeline, Tensor, ExecutionSpace> make_sptv_pipeline(
    ExecutionSpace const& exec, Tensor const& X, int n, SptvPipelineOptions const& options) {
  static_assert(detail::is_instance<Tensor, CooTensor>, "make_sptv_pipeline takes a CooTensor");
  if constexpr (detail::is_instance<Tensor, CooTensor>)
    if constexpr (detail::check_builder<ExecutionSpace, Tensor>())
      return detail::build_sptv_pipeline(exec, X, n, options);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
typename SptvPipeline<Scalar, Index, MemorySpace>::Output make_sptv_output(
    ExecutionSpace const&, SptvPipeline<Scalar, Index, MemorySpace> const& pipeline) {
  typename SptvPipeline<Scalar, Index, MemorySpace>::Output Y;
  Y.dims = pipeline.dims;
  Y.dims.erase(Y.dims.begin() + pipeline.mode);
  Y.coordinates = pipeline.coordinates;
  Y.values = decltype(Y.values)(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "sporades::sptv::values"), pipeline.fibers);
  Y.sorted_modes = pipeline.sorted_modes;
  return Y;
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Input,
          class Output>
void sptv(ExecutionSpace const& exec, SptvPipeline<Scalar, Index, MemorySpace>& pipeline,
          Input const& v, Output const& Y) {
  using Pipeline = SptvPipeline<Scalar, Index, MemorySpace>;
  if constexpr (detail::check_pipeline_types<ExecutionSpace, Pipeline, Input, Output>())
    detail::run_sptv_pipeline(exec, pipeline, detail::as_vector(v), Y.values);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Input,
          class Output>
SptvPipelineTimes time_collections(ExecutionSpace const& exec,
                                   SptvPipeline<Scalar, Index, MemorySpace>& pipeline,
                                   Input const& v, Output const& Y) {
  using Pipeline = SptvPipeline<Scalar, Index, MemorySpace>;
  if constexpr (detail::check_pipeline_types<ExecutionSpace, Pipeline, Input, Output>())
    return detail::time_sptv_pipeline(exec, pipeline, detail::as_vector(v), Y.values);
  else
    return {};
}

}  // namespace sporades
