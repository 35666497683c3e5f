// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/region.hpp>
#include <sporades/formats/detail/modes.hpp>
#include <sporades/formats/detail/ranges.hpp>
#include <sporades/formats/detail/row_major.hpp>
#include <sporades/kernels/detail/selector/trees.hpp>
#include <sporades/kernels/detail/sptv/segments.hpp>
#include <sporades/kernels/detail/sptv/unfolded_rows.hpp>
#include <sporades/kernels/sptv.hpp>

/// How the plans and outputs of kernels/sptv.hpp are made.

namespace sporades {

template <class Scalar, class Index, class MemorySpace>
std::uint64_t SptvPlan<Scalar, Index, MemorySpace>::storage_bytes() const {
  return std::visit([](auto const& X) { return X.storage_bytes(); }, tensor) +
         coordinates.size() * sizeof(Index) + places.extent(0) * sizeof(Position) + split.bytes() +
         carry.bytes() + values.bytes();
}

namespace detail {

/// The mode of X x_n v that is mode m of X.
KOKKOS_INLINE_FUNCTION constexpr int mode_without(int m, int n) {
  return m < n ? m : m - 1;
}

/// Room for the coordinates of Y.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void allocate_fibers(ExecutionSpace const& exec, SptvPlan<Scalar, Index, MemorySpace>& plan,
                     Position fibers) {
  plan.fibers = fibers;
  plan.coordinates = uninitialized<typename SptvPlan<Scalar, Index, MemorySpace>::Coordinates>(
      exec, "sporades::sptv::coordinates", plan.dims.size() - 1, fibers);
}

/// The coordinates of the fibers of a HocfsTensor, by climbing from each.
template <class Index, class MemorySpace>
struct ClimbSlices {
  int levels;  // N - 1
  Kokkos::Array<RawVector<Index const, MemorySpace>, max_order> indices;
  Kokkos::Array<RawVector<Position const, MemorySpace>, max_order> first_child;
  Kokkos::Array<int, max_order> row;  // of the coordinates, a level
  RawMatrix<Index, MemorySpace> coordinates;

  KOKKOS_FUNCTION void operator()(Position f) const {
    Position node = f;
    for (int l = levels - 1; l >= 0; --l) {
      coordinates(row[l], f) = indices[l](node);
      if (l == 0) return;
      node = range_of(first_child[l - 1], node);
    }
  }
};

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void find_fibers(ExecutionSpace const& exec, HocfsTensor<Scalar, Index, MemorySpace> const& X,
                 SptvPlan<Scalar, Index, MemorySpace>& plan) {
  allocate_fibers(exec, plan, X.fibers());
  ClimbSlices<Index, MemorySpace> climb{X.order() - 1, {}, {}, {}, plan.coordinates};
  for (int l = 0; l < climb.levels; ++l) {
    climb.indices[l] = X.indices[l];
    climb.row[l] = mode_without(X.mode_order[l], plan.mode);
    if (l + 1 < climb.levels) climb.first_child[l] = X.first_child[l];
  }
  if (climb.levels > 0) launch_items(exec, "sporades::sptv::climb", plan.fibers, climb);
  if (X.ell_slices == 0) plan.split = split_fibers<Scalar>(exec, X.begin, X.entries());
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void find_fibers(ExecutionSpace const& exec, HocooTensor<Scalar, Index, MemorySpace> const& X,
                 SptvPlan<Scalar, Index, MemorySpace>& plan) {
  auto const& modes = X.tensor.sorted_modes;
  Position const length = segment_length<ExecutionSpace>(X.nnz());
  Position const chunks = chunks_of(X.nnz(), length);
  plan.places =
      uninitialized<Vector<Position, MemorySpace>>(exec, "sporades::sptv::places", chunks);
  using Scan = ScanSegments<typename SptvPlan<Scalar, Index, MemorySpace>::Coordinates>;
  Scan scan{{X.tensor.coordinates, {modes.begin(), modes.end() - 1}},
            plan.places,
            {},
            {},
            X.nnz(),
            length};
  for (int k = 0; k + 1 < X.order(); ++k) scan.row[k] = mode_without(modes[k], plan.mode);
  launch_items(exec, "sporades::sptv::count_segments", chunks, scan);
  allocate_fibers(exec, plan, exclusive_scan_total(exec, plan.places));
  scan.fibers = plan.coordinates;
  launch_items(exec, "sporades::sptv::store_segments", chunks, scan);
  plan.carry.reserve(exec, chunks, 1);
}

/// Coordinates from the fibers' numbers.
template <class Index, class MemorySpace>
struct UnplaceFibers {
  RowMajor shape;  // whose modes are the rows of the coordinates
  RawVector<Position const, MemorySpace> number;
  RawMatrix<Index, MemorySpace> coordinates;

  KOKKOS_FUNCTION void operator()(Position f) const { shape.unplace(number(f), coordinates, f); }
};

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void unplace_fibers(ExecutionSpace const& exec, std::vector<int> const& other_modes,
                    Vector<Position, MemorySpace> const& number,
                    SptvPlan<Scalar, Index, MemorySpace>& plan) {
  allocate_fibers(exec, plan, number.extent(0));
  UnplaceFibers<Index, MemorySpace> unplace{RowMajor(plan.dims, other_modes), number,
                                            plan.coordinates};
  for (int k = 0; k < unplace.shape.modes; ++k)
    unplace.shape.mode[k] = mode_without(other_modes[k], plan.mode);
  launch_items(exec, "sporades::sptv::unplace", plan.fibers, unplace);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void find_fibers(ExecutionSpace const& exec, HocsrTensor<Scalar, Index, MemorySpace> const& X,
                 SptvPlan<Scalar, Index, MemorySpace>& plan) {
  using Positions = Vector<Position, MemorySpace>;
  plan.places =
      uninitialized<Positions>(exec, "sporades::sptv::places", chunks_of(X.rows(), row_window));
  Position fibers = 0;
  Range<ExecutionSpace> const rows(exec, 0, X.rows());
  Kokkos::parallel_scan("sporades::sptv::count_rows", rows,
                        FindRows<MemorySpace>{X.begin, plan.places, {}}, fibers);
  fence(exec, "sporades::sptv::count_rows");
  auto const row = uninitialized<Positions>(exec, "sporades::sptv::rows", fibers);
  Kokkos::parallel_scan("sporades::sptv::find_rows", rows,
                        FindRows<MemorySpace>{X.begin, plan.places, row});
  unplace_fibers(exec, X.row_modes, row, plan);
  plan.split = find_long_fibers<Scalar, MemorySpace>(
      exec, fibers, FiberSplit<Scalar, MemorySpace>::template longest_alone<ExecutionSpace>,
      RowsWithNonzeros<MemorySpace>{X.begin, row});
  fence(exec, "sporades::sptv::find_rows");  // `row` is freed
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void find_fibers(ExecutionSpace const& exec, CfbTensor<Scalar, Index, MemorySpace> const& X,
                 SptvPlan<Scalar, Index, MemorySpace>& plan) {
  unplace_fibers(exec, X.other_modes, X.number, plan);
  plan.split = split_fibers<Scalar>(exec, X.begin, X.nnz());
}

/// A plan for X, one of the formats, on its mode n.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Tensor>
SptvPlan<Scalar, Index, MemorySpace> plan_sptv(ExecutionSpace const& exec, Dims const& dims, int n,
                                               Tensor const& X) {
  SptvPlan<Scalar, Index, MemorySpace> plan;
  plan.dims = dims;
  plan.mode = n;
  plan.tensor = X;
  plan.nonzeros = X.nnz();
  auto const modes = cyclic_modes(n, static_cast<int>(dims.size()), "make_sptv_plan");
  for (std::size_t k = 0; k + 1 < modes.size(); ++k)
    plan.sorted_modes.push_back(mode_without(modes[k], n));
  find_fibers(exec, X, plan);
  fence(exec, "sporades::sptv::make_plan");
  return plan;
}

/// What `automatic` chooses, and why.
template <class ExecutionSpace>
Decision choose_sptv(Dims const& dims, Position nnz, int n) {
  Features features;
  features[Feature::order] = static_cast<double>(dims.size());
  features[Feature::nonzeros] = static_cast<double>(nnz);
  double rows = 1;
  for (std::size_t m = 0; m < dims.size(); ++m)
    if (static_cast<int>(m) != n) rows *= static_cast<double>(dims[m]);
  features[Feature::empty_rows] = rows / static_cast<double>(std::max<Position>(nnz, 1));
  return decide(is_gpu<ExecutionSpace> ? trees::sptv_on_gpus : trees::sptv_on_hosts, features);
}

/// The values of a format for SpTV.
template <class Tensor>
auto values_of(Tensor const& X) {
  if constexpr (is_instance<Tensor, HocooTensor>)
    return X.tensor.values;
  else
    return X.values;
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
SptvPlan<Scalar, Index, MemorySpace> build_sptv_plan(ExecutionSpace const& exec,
                                                     CooTensor<Scalar, Index, MemorySpace> const& X,
                                                     int n, SptvOptions const& options) {
  Region const region("sporades::make_sptv_plan");
  expects(n >= 0 && n < X.order(), "make_sptv_plan: mode ", n, " of a tensor of order ", X.order());
  check_coordinates(exec, X, "make_sptv_plan");
  auto Y = X;
  if (options.updatable) Y.values = numbered_values<Scalar>(exec, X.nnz(), "make_sptv_plan");
  auto const plan = [&](auto const& tensor) {
    auto result = plan_sptv<ExecutionSpace, Scalar, Index, MemorySpace>(exec, X.dims, n, tensor);
    if (with_same_format(options.strategy) != options.strategy) result.strategy = options.strategy;
    if (options.updatable) {
      result.values.keep(X.nnz());
      result.values.add(exec, values_of(tensor));
      result.values.put(exec, X.values);
      fence(exec, "sporades::sptv::keep_values");
    }
    return result;
  };
  auto strategy = options.strategy;
  if (strategy == SptvStrategy::automatic)
    strategy = from_name<SptvStrategy>(choose_sptv<ExecutionSpace>(X.dims, X.nnz(), n).choice);
  switch (with_same_format(strategy)) {
    case SptvStrategy::hocoo:
      return plan(make_hocoo(exec, Y, n));
    case SptvStrategy::hocsr:
      return plan(make_hocsr(exec, Y, n));
    case SptvStrategy::cfb:
      return plan(make_cfb(exec, Y, n));
    default:
      return plan(make_hocfs(exec, Y, n, options.slices, options.least_fill));
  }
}

/// The mode of a format for products on one mode.
template <class Tensor>
int product_mode(Tensor const& X) {
  if constexpr (std::is_member_function_pointer_v<decltype(&Tensor::mode)>)
    return X.mode();
  else
    return X.mode;
}

template <class Scalar, class Index, class MemorySpace>
Dims const& dims_of(HocooTensor<Scalar, Index, MemorySpace> const& X) {
  return X.tensor.dims;
}
template <class Tensor>
Dims const& dims_of(Tensor const& X) {
  return X.dims;
}

}  // namespace detail

template <class ExecutionSpace, class Tensor>
detail::PlanOf<SptvPlan, Tensor> make_sptv_plan(ExecutionSpace const& exec, Tensor const& X, int n,
                                                SptvOptions const& options) {
  static_assert(detail::is_instance<Tensor, CooTensor>,
                "make_sptv_plan takes a CooTensor and a mode, or a HocooTensor, HocsrTensor, "
                "CfbTensor or HocfsTensor without a mode");
  if constexpr (detail::is_instance<Tensor, CooTensor>)
    if constexpr (detail::check_types<ExecutionSpace, Tensor>())
      return detail::build_sptv_plan(exec, X, n, options);
}

template <class ExecutionSpace, class Tensor>
detail::PlanOf<SptvPlan, Tensor> make_sptv_plan(ExecutionSpace const& exec, Tensor const& X) {
  static_assert(detail::is_sptv_format<Tensor>,
                "make_sptv_plan takes a HocooTensor, HocsrTensor, CfbTensor or HocfsTensor, or a "
                "CooTensor and a mode");
  if constexpr (detail::is_sptv_format<Tensor>)
    if constexpr (detail::check_types<ExecutionSpace, Tensor>()) {
      detail::Region const region("sporades::make_sptv_plan");
      return detail::plan_sptv<ExecutionSpace, typename Tensor::Scalar, typename Tensor::Index,
                               typename Tensor::MemorySpace>(exec, detail::dims_of(X),
                                                             detail::product_mode(X), X);
    }
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> make_sptv_output(
    ExecutionSpace const& exec, SptvPlan<Scalar, Index, MemorySpace> const& plan) {
  CooTensor<Scalar, Index, MemorySpace> Y;
  Y.dims = plan.dims;
  Y.dims.erase(Y.dims.begin() + plan.mode);
  Y.coordinates = plan.coordinates;
  Y.values = detail::uninitialized<decltype(Y.values)>(exec, "sporades::sptv::values", plan.fibers);
  Y.sorted_modes = plan.sorted_modes;
  return Y;
}

namespace detail {

struct NoSptvPlan {
  template <class Given>
  NoSptvPlan(Given const&) {
    static_assert(never<Given>, "make_sptv_output takes an SptvPlan");
  }
};

}  // namespace detail

// What is no plan is refused.
template <class ExecutionSpace>
CooTensor<double, std::uint32_t, typename ExecutionSpace::memory_space> make_sptv_output(
    ExecutionSpace const&, detail::NoSptvPlan) {
  return {};
}

}  // namespace sporades

#include <sporades/eti/build_sptv_plan.hpp>
