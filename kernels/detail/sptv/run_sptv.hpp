// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <numeric>
#include <sporades/core/detail/region.hpp>
#include <sporades/formats/hierarchical_tensor.hpp>
#include <sporades/kernels/detail/cost.hpp>
#include <sporades/kernels/detail/sptv/baselines/yan19.hpp>
#include <sporades/kernels/detail/sptv/segments.hpp>
#include <sporades/kernels/detail/sptv/unfolded_rows.hpp>
#include <sporades/kernels/sptv.hpp>

/// The products of kernels/sptv.hpp.

namespace sporades {
namespace detail {

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void multiply_vector(ExecutionSpace const& exec, HocfsTensor<Scalar, Index, MemorySpace> const& X,
                     SptvPlan<Scalar, Index, MemorySpace>& plan,
                     Vector<Scalar, MemorySpace> const& v, Vector<Scalar, MemorySpace> const& y) {
  VectorTerms<Scalar, Index, MemorySpace> const terms{X.index, X.values, v};
  if (plan.strategy == SptvStrategy::hocfs_blocks || X.ell_slices > 0)
    sum_slices(exec, X, terms, y);
  else
    sum_fibers_of_vector(exec, "sporades::sptv::hocfs", terms, X.begin, plan.split, y);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void multiply_vector(ExecutionSpace const& exec, CfbTensor<Scalar, Index, MemorySpace> const& X,
                     SptvPlan<Scalar, Index, MemorySpace>& plan,
                     Vector<Scalar, MemorySpace> const& v, Vector<Scalar, MemorySpace> const& y) {
  using Terms = VectorTerms<Scalar, Index, MemorySpace>;
  Terms const terms{X.index, X.values, v};
  if (plan.strategy == SptvStrategy::cfb_threads)
    launch_items(exec, "sporades::sptv::cfb_threads", y.extent(0),
                 SumFiberAlone<Terms, MemorySpace>{terms, X.begin, y});
  else
    sum_fibers_of_vector(exec, "sporades::sptv::cfb", terms, X.begin, plan.split, y);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void multiply_vector(ExecutionSpace const& exec, HocsrTensor<Scalar, Index, MemorySpace> const& X,
                     SptvPlan<Scalar, Index, MemorySpace>& plan,
                     Vector<Scalar, MemorySpace> const& v, Vector<Scalar, MemorySpace> const& y) {
  sum_unfolded_rows(exec, VectorTerms<Scalar, Index, MemorySpace>{X.index, X.values, v}, X.begin,
                    plan.places, plan.split, y);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void multiply_vector(ExecutionSpace const& exec, HocooTensor<Scalar, Index, MemorySpace> const& X,
                     SptvPlan<Scalar, Index, MemorySpace>& plan,
                     Vector<Scalar, MemorySpace> const& v, Vector<Scalar, MemorySpace> const& y) {
  auto const& modes = X.tensor.sorted_modes;
  RawVector<Index const, MemorySpace> const index(X.tensor.indices(X.mode()), X.nnz());
  SegmentNonzeros<Scalar, Index, MemorySpace> const nonzeros{
      {index, X.tensor.values, v},
      {X.tensor.coordinates, {modes.begin(), modes.end() - 1}},
      plan.places,
      segment_length<ExecutionSpace>(X.nnz())};
  if (plan.strategy == SptvStrategy::hocoo_warps)
    sum_segments_by_warps(exec, nonzeros, y, plan.carry);
  else
    sum_segments(exec, nonzeros, y, plan.carry);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void run_sptv(ExecutionSpace const& exec, SptvPlan<Scalar, Index, MemorySpace>& plan,
              Vector<Scalar, MemorySpace> const& v, Vector<Scalar, MemorySpace> const& y) {
  Region const region("sporades::sptv, mode ", plan.mode);
  expects(v.extent(0) == plan.dims[plan.mode], "sptv: v has ", v.extent(0), " entries, mode ",
          plan.mode, " has ", plan.dims[plan.mode]);
  expects(y.extent(0) == plan.fibers, "sptv: Y has ", y.extent(0), " values, X has ", plan.fibers,
          " fibers");
  expects(v.data() != y.data() || y.extent(0) == 0, "sptv: Y is v");
  std::visit([&](auto const& X) { multiply_vector(exec, X, plan, v, y); }, plan.tensor);
}

/// Throws Error unless a vector fits each of the modes, which are some of N, each at most once.
template <class Scalar, class MemorySpace>
void check_chain(Dims const& dims, std::vector<int> const& modes,
                 std::vector<Vector<Scalar, MemorySpace>> const& vectors) {
  int const N = static_cast<int>(dims.size());
  expects(modes.size() == vectors.size(), "sptv_chain: ", vectors.size(), " vectors for ",
          modes.size(), " modes");
  std::vector<bool> listed(dims.size(), false);
  for (std::size_t k = 0; k < modes.size(); ++k) {
    int const m = modes[k];
    expects(m >= 0 && m < N, "sptv_chain: mode ", m, " of a tensor of order ", N);
    expects(!listed[m], "sptv_chain: mode ", m, " is listed twice");
    listed[m] = true;
    expects(vectors[k].extent(0) == dims[m], "sptv_chain: the vector of mode ", m, " has ",
            vectors[k].extent(0), " entries, the mode ", dims[m]);
  }
}

/// The product on the last mode of nonzeros that are sorted by all modes of their coordinates, and
/// that mode's fibers.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> multiply_last(ExecutionSpace const& exec,
                                                    CooTensor<Scalar, Index, MemorySpace> const& X,
                                                    std::vector<int> const& rows,
                                                    Vector<Scalar, MemorySpace> const& v) {
  auto const fibers = make_fibers(exec, X.coordinates, rows, rows);
  CooTensor<Scalar, Index, MemorySpace> Y;
  for (std::size_t k = 0; k + 1 < rows.size(); ++k) Y.dims.push_back(X.dims[rows[k]]);
  Y.coordinates = fibers.coordinates;
  Y.values = uninitialized<decltype(Y.values)>(exec, "sporades::sptv::values", fibers.count());
  VectorTerms<Scalar, Index, MemorySpace> const terms{fibers.index, X.values, v};
  auto const split = split_fibers<Scalar>(exec, fibers.begin, X.nnz());
  sum_fibers_of_vector(exec, "sporades::sptv::chain", terms, fibers.begin, split, Y.values);
  fence(exec, "sporades::sptv::chain");  // the fibers are freed
  return Y;
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> run_sptv_chain(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
    std::vector<int> const& modes, std::vector<Vector<Scalar, MemorySpace>> const& vectors) {
  Region const region("sporades::sptv_chain");
  check_chain(X.dims, modes, vectors);
  check_coordinates(exec, X, "sptv_chain");
  std::vector<int> rows;  // the order of modes: those that stay, then the first product's last
  for (int m = 0; m < X.order(); ++m)
    if (std::find(modes.begin(), modes.end(), m) == modes.end()) rows.push_back(m);
  rows.insert(rows.end(), modes.rbegin(), modes.rend());
  auto Y = sorted(exec, X, rows);
  for (auto const& v : vectors) {
    Y = multiply_last(exec, Y, rows, v);
    rows.resize(Y.dims.size());
    std::iota(rows.begin(), rows.end(), 0);
  }
  Y.sorted_modes = rows;
  return Y;
}

/// Adds up the fibers, less one a block, of blocks in which each holds one entry.
template <class MemorySpace>
struct CountLoneFibers {
  static constexpr Position block = 256;  // as hosts sum them

  RawVector<Position const, MemorySpace> begin;  // fibers + 1

  KOKKOS_FUNCTION void operator()(Position b, Position& count) const {
    Position const fibers = begin.extent(0) - 1, first = b * block;
    Position const last = first + block < fibers ? first + block : fibers;
    if (begin(last) - begin(first) == last - first) count += last - first - 1;
  }
};

/// Bytes that tell a product the fibers: on GPUs the plan's windows; on hosts where fibers begin,
/// except in blocks of fibers of one entry each. Fences exec.
template <class ExecutionSpace, class MemorySpace, class Split>
double begin_bytes(ExecutionSpace const& exec, Kokkos::View<Position*, MemorySpace> const& begin,
                   Split const& split) {
  if (split.windows.extent(0) > 0) return static_cast<double>(split.bytes_of_windows());
  using Count = CountLoneFibers<MemorySpace>;
  Position lone = 0;
  Kokkos::parallel_reduce(
      "sporades::cost::lone_fibers",
      Range<ExecutionSpace>(exec, 0, chunks_of(begin.extent(0) - 1, Count::block)), Count{begin},
      lone);
  fence(exec, "sporades::cost::lone_fibers");
  return static_cast<double>((begin.extent(0) - lone) * sizeof(Position));
}

/// Bytes that tell sum_slices the slices and fibers. Of an ELL slice one beginning is read. Fences
/// exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
double slice_bytes(ExecutionSpace const& exec, HocfsTensor<Scalar, Index, MemorySpace> const& X) {
  auto const first_fiber = X.first_fiber;
  auto const formats = X.formats;
  Position begins = 0;
  Kokkos::parallel_reduce(
      "sporades::cost::begins_of_slices", Range<ExecutionSpace>(exec, 0, X.slices()),
      KOKKOS_LAMBDA(Position s, Position & sum) {
        sum += formats(s) == HocfsTensor<Scalar, Index, MemorySpace>::ell
                   ? 1
                   : first_fiber(s + 1) - first_fiber(s);
      },
      begins);
  fence(exec, "sporades::cost::begins_of_slices");
  return static_cast<double>((begins + 1 + first_fiber.extent(0)) * sizeof(Position) +
                             formats.extent(0));
}

/// Bytes of a format that a product reads. is_baseline: by its paper's kernel, a thread a fiber.
/// Fences exec.
template <class ExecutionSpace, class Tensor, class Split>
double product_bytes(ExecutionSpace const& exec, Tensor const& X, Split const& split,
                     bool is_baseline) {
  if constexpr (is_instance<Tensor, CfbTensor> || is_instance<Tensor, HocfsTensor>) {
    auto const begins = [&] {
      if constexpr (is_instance<Tensor, HocfsTensor>)
        if (is_baseline || X.ell_slices > 0) return slice_bytes(exec, X);
      return is_baseline ? static_cast<double>(sizeof(Position) * X.begin.extent(0))
                         : begin_bytes(exec, X.begin, split);
    };
    return static_cast<double>(X.index.extent(0) * sizeof(typename Tensor::Index) +
                               X.nnz() * sizeof(typename Tensor::Scalar)) +
           begins();
  } else
    return static_cast<double>(X.storage_bytes());
}

/// Whether a vector is of the tensor's scalar type in its memory space.
template <class Tensor, class Input>
constexpr bool check_vector() {
  constexpr bool fits = [] {
    if constexpr (is_vector<Input>())
      return std::is_same_v<decltype(as_vector(std::declval<Input>())), VectorOf<Tensor>>;
    return false;
  }();
  static_assert(fits,
                "a vector must be a Kokkos::View of rank 1 without gaps, of the tensor's scalar "
                "type, in its memory space, and not const");
  return fits;
}

struct NotSptvPlan {
  template <class Given>
  NotSptvPlan(Given const&) {
    static_assert(never<Given>,
                  "sptv takes an SptvPlan that is not const, a vector and the product, or a "
                  "HocooTensor, HocsrTensor, CfbTensor or HocfsTensor and a vector");
  }
};

}  // namespace detail

// What is no plan is refused, and a plan that is const.
template <class ExecutionSpace, class Input, class Output>
void sptv(ExecutionSpace const&, detail::NotSptvPlan, Input const&, Output const&) {}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Input,
          class Output>
void sptv(ExecutionSpace const& exec, SptvPlan<Scalar, Index, MemorySpace>& plan, Input const& v,
          Output const& Y) {
  using Plan = SptvPlan<Scalar, Index, MemorySpace>;
  constexpr bool fits = std::is_same_v<Output, CooTensor<Scalar, Index, MemorySpace>>;
  static_assert(fits,
                "the product must be a CooTensor of the plan's types: make_sptv_output makes "
                "it");
  if constexpr (fits && detail::check_types<ExecutionSpace, Plan>())
    if constexpr (detail::check_vector<Plan, Input>()) {
      expects(Y.coordinates.data() == plan.coordinates.data(),
              "sptv: Y does not share the plan's coordinates; make it by make_sptv_output");
      detail::run_sptv(exec, plan, detail::as_vector(v), Y.values);
    }
}

template <class ExecutionSpace, class Tensor, class Input>
detail::PlanOf<CooTensor, Tensor> sptv(ExecutionSpace const& exec, Tensor const& X,
                                       Input const& v) {
  static_assert(detail::is_sptv_format<Tensor>,
                "sptv takes an SptvPlan that is not const, a vector and the product, or a "
                "HocooTensor, HocsrTensor, CfbTensor or HocfsTensor and a vector");
  if constexpr (detail::is_sptv_format<Tensor>)
    if constexpr (detail::check_types<ExecutionSpace, Tensor>())
      if constexpr (detail::check_vector<Tensor, Input>()) {
        auto plan = make_sptv_plan(exec, X);
        auto const Y = make_sptv_output(exec, plan);
        sptv(exec, plan, v, Y);
        detail::fence(exec, "sporades::sptv::product");  // the plan is freed
        return Y;
      }
}

template <class ExecutionSpace, class Tensor, class Input>
detail::PlanOf<CooTensor, Tensor> sptv_chain(ExecutionSpace const& exec, Tensor const& X,
                                             std::vector<int> const& modes,
                                             std::vector<Input> const& vectors) {
  static_assert(detail::is_instance<Tensor, CooTensor>, "sptv_chain takes a CooTensor");
  if constexpr (detail::is_instance<Tensor, CooTensor>)
    if constexpr (detail::check_types<ExecutionSpace, Tensor>())
      if constexpr (detail::check_vector<Tensor, Input>())
        return detail::run_sptv_chain(
            exec, X, modes, std::vector<detail::VectorOf<Tensor>>(vectors.begin(), vectors.end()));
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Cost sptv_cost(ExecutionSpace const& exec, SptvPlan<Scalar, Index, MemorySpace> const& plan) {
  using Indices = detail::RawVector<Index const, MemorySpace>;
  double const nnz = static_cast<double>(plan.nonzeros), fibers = static_cast<double>(plan.fibers);
  double read = 0, used = 0;
  std::visit(
      [&](auto const& X) {
        read = detail::product_bytes(exec, X, plan.split, plan.strategy != SptvStrategy::automatic);
        Indices index;
        if constexpr (detail::is_instance<std::decay_t<decltype(X)>, HocooTensor>)
          index = Indices(X.tensor.indices(X.mode()), X.nnz());
        else
          index = X.index;
        used = detail::used_rows(exec, plan.dims[plan.mode], index.extent(0), index);
      },
      plan.tensor);
  return {2 * nnz, nnz == 0 ? 0 : read + (used + fibers) * sizeof(Scalar)};
}

}  // namespace sporades

#include <sporades/eti/run_sptv.hpp>
