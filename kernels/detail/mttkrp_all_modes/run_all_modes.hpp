// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/mttkrp_all_modes/all_modes_memory.hpp>
#include <sporades/kernels/detail/mttkrp_all_modes/dimension_tree.hpp>
#include <sporades/kernels/detail/phi/pi.hpp>

namespace sporades {
namespace detail {

/// The first R columns of a plan's matrix, which is replaced where it has fewer.
template <class ExecutionSpace, class Scalar, class MemorySpace>
Matrix<Scalar, MemorySpace> first_columns(ExecutionSpace const& exec,
                                          Matrix<Scalar, MemorySpace>& matrix, std::size_t R) {
  if (matrix.extent(1) < R)
    matrix = make_matrix<Scalar>(exec, "sporades::mttkrp_all_modes::wider", matrix.extent(0), R);
  return Kokkos::subview(matrix, Kokkos::ALL, std::make_pair(std::size_t{0}, R));
}

/// mttkrp with factors that are those of the plan's next product, too, except that of mode n.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void product_in_turn(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan,
                     Factors<Scalar, MemorySpace> const& A, std::size_t n,
                     Matrix<Scalar, MemorySpace> const& V) {
  auto const rounded = plan.work.rounded.kept.keep_others(n);
  auto const read = keep_gathered(plan, n);
  mttkrp(exec, plan, A, static_cast<int>(n), V);
}

/// K's rows here. factors: those of S, and one that is not looked at. Collective.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void khatri_rao_rows(ExecutionSpace const& exec,
                     MttkrpAllModesPlan<Scalar, Index, MemorySpace>& plan,
                     Factors<Scalar, MemorySpace> const& factors,
                     Matrix<Scalar, MemorySpace> const& K) {
  auto const S = static_cast<int>(plan.fused.size());
  auto const read = keep_gathered(plan.grid, plan.fused.size());
  store_pi(exec, plan.cells, gathered(exec, plan.grid, factors, S), S, K);
}

/// Khatri-Rao rows' part in a sweep's cost.
template <class Scalar, class Index, class MemorySpace>
Cost khatri_rao_cost(MttkrpAllModesPlan<Scalar, Index, MemorySpace> const& plan, int R) {
  auto const cells = static_cast<double>(plan.cells.nnz());
  double rows = cells;
  for (std::size_t k = 0; k < plan.fused.size(); ++k)
    rows += static_cast<double>(plan.cells.dims[k]);
  return {(static_cast<double>(plan.fused.size()) - 1) * cells * R,
          static_cast<double>(plan.cells.storage_bytes()) + rows * R * sizeof(Scalar)};
}

/// The plan whose products read the factor of mode n, and which of its modes that is.
template <class Scalar, class Index, class MemorySpace>
std::pair<MttkrpPlan<Scalar, Index, MemorySpace>&, std::size_t> reader_of(
    MttkrpAllModesPlan<Scalar, Index, MemorySpace>& plan, int n) {
  auto const place = place_of(n, plan.fused);
  if (place < plan.fused.size()) return {plan.grid, place};
  return {plan.whole, whole_mode(plan, n)};
}

/// DistributedProducts::gather_beside of the factor of mode n.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
bool gather_beside(ExecutionSpace const& exec, MttkrpAllModesPlan<Scalar, Index, MemorySpace>& plan,
                   int n, Matrix<Scalar, MemorySpace> const& own,
                   Matrix<Scalar, MemorySpace>& rows) {
  auto const [reader, mode] = reader_of(plan, n);
  auto const& distributed = reader.work.distributed;
  return distributed && distributed->gather_beside(exec, mode, own, rows);
}

/// Per mode: lend_products, and the same of factors (GhostRows::lend).
template <class Scalar, class MemorySpace>
struct LentRows {
  Factors<Scalar, MemorySpace> products, factors;
};
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
LentRows<Scalar, MemorySpace> lend_rows(ExecutionSpace const& exec,
                                        MttkrpAllModesPlan<Scalar, Index, MemorySpace>& plan,
                                        std::size_t columns) {
  auto const whole = lend_products(exec, plan.whole, columns),
             grid = lend_products(exec, plan.grid, columns);
  LentRows<Scalar, MemorySpace> lent;
  for (int n = 0; n < plan.order(); ++n) {
    auto const [reader, mode] = reader_of(plan, n);
    lent.products.push_back((&reader == &plan.grid ? grid : whole)[mode]);
    auto const& distributed = reader.work.distributed;
    lent.factors.push_back(distributed ? distributed->lend_factor(exec, mode, columns)
                                       : Matrix<Scalar, MemorySpace>());
  }
  return lent;
}

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp(ExecutionSpace const& exec, MttkrpAllModesPlan<Scalar, Index, MemorySpace>& plan,
            Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& V) {
  auto const mode = static_cast<std::size_t>(n);
  if (plan.fused.empty()) return detail::product_in_turn(exec, plan.whole, A, mode, V);
  int const N = plan.order();
  auto const S = plan.fused.size(), place = detail::place_of(n, plan.fused);
  expects(n >= 0 && n < N, "mttkrp: mode ", n, " of a tensor of order ", N);
  expects(static_cast<int>(A.size()) == N, "mttkrp: ", A.size(), " factors for order ", N);
  std::size_t const R = V.extent(1);
  if (plan.K.extent(1) < R) factors_changed(plan);
  auto const K = detail::first_columns(exec, plan.K, R), T = detail::first_columns(exec, plan.T, R);
  Factors<Scalar, MemorySpace> whole{K}, grid;
  for (int m : plan.others) whole.push_back(A[m]);
  for (int m : plan.fused) grid.push_back(A[m]);
  grid.push_back(T);
  if (place < S) {
    if (!plan.has_T) detail::product_in_turn(exec, plan.whole, whole, 0, T);
    plan.has_T = true;
    plan.has_K = false;
    detail::product_in_turn(exec, plan.grid, grid, place, V);
  } else {
    if (!plan.has_K) detail::khatri_rao_rows(exec, plan, grid, K);
    plan.has_K = true;
    plan.has_T = false;
    detail::product_in_turn(exec, plan.whole, whole, detail::whole_mode(plan, n), V);
  }
}

namespace detail {

/// X: the nonzeros that the process brings.
template <class ExecutionSpace, class Scalar, class Index, class GivenSpace>
MttkrpAllModesPlan<Scalar, Index, WorkSpace<ExecutionSpace, GivenSpace>> build_all_modes_plan(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, GivenSpace> X, MttkrpAllModesOptions const& options) {
  char const* const where = "make_mttkrp_all_modes_plan";
  constexpr bool is_accessible = std::is_same_v<GivenSpace, typename ExecutionSpace::memory_space>;
  auto const products = options_for<Scalar>(options.products);
  check_options(products, X.order());
  expect_same_dims(processes, X, where);
  Position const nnz = exclusive_scan_of_all(processes, X.nnz()).back();
  auto fused = wanted_fused_modes<ExecutionSpace, Scalar>(X.dims, nnz, options);
  if (!fused.empty())  // else build_mttkrp_plan does it
    check_coordinates(builder_of<GivenSpace>(exec), X, where);
  bool const is_streamed = products.streaming.always || products.streaming.memory > 0;
  if (!is_accessible && products.memory > 0) fused.clear();  // what its windows leave is unknown
  if constexpr (is_accessible)
    if (processes.size() == 1 && !fused.empty() && !is_streamed &&
        !fused_modes_fit(exec, X, options))
      fused.clear();
  return make_dimension_tree(processes, exec, hand_over(X), fused, products);
}

}  // namespace detail

template <class ExecutionSpace, class Tensor>
detail::PlanOf<MttkrpAllModesPlan, Tensor, ExecutionSpace> make_mttkrp_all_modes_plan(
    ExecutionSpace const& exec, Tensor X, MttkrpAllModesOptions const& options) {
  static_assert(detail::is_instance<Tensor, CooTensor>,
                "make_mttkrp_all_modes_plan takes a CooTensor: make_coo makes one of Views, to_coo "
                "of other formats, and std::visit takes one out of what read_tensor gives");
  if constexpr (detail::is_instance<Tensor, CooTensor>)
    if constexpr (detail::check_builder<ExecutionSpace, Tensor>())
      return detail::build_all_modes_plan({}, exec, hand_over(X), options);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MttkrpAllModesPlan<Scalar, Index, MemorySpace> make_mttkrp_all_modes_plan(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> X, MttkrpAllModesOptions const& options) {
  auto const named = [&] {
    return detail::named_options<Scalar, Index>(options.products)
        .add("dimension_tree", options.dimension_tree);
  };
  return detail::together(processes, "make_mttkrp_all_modes_plan", named, [&] {
    return detail::build_all_modes_plan(processes, exec, hand_over(X), options);
  });
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Update>
void mttkrp_all_modes(ExecutionSpace const& exec,
                      MttkrpAllModesPlan<Scalar, Index, MemorySpace>& plan,
                      Factors<Scalar, MemorySpace> const& A, Factors<Scalar, MemorySpace> const& V,
                      Update const& update) {
  int const N = plan.order();
  expects(static_cast<int>(A.size()) == N && static_cast<int>(V.size()) == N,
          "mttkrp_all_modes: ", A.size(), " factors and ", V.size(), " products for order ", N);
  for (int n = 0; n < N; ++n) {
    mttkrp(exec, plan, A, n, V[n]);
    update(n);
  }
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp_all_modes(ExecutionSpace const& exec,
                      MttkrpAllModesPlan<Scalar, Index, MemorySpace>& plan,
                      Factors<Scalar, MemorySpace> const& A,
                      Factors<Scalar, MemorySpace> const& V) {
  mttkrp_all_modes(exec, plan, A, V, [](int) {});
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Cost mttkrp_all_modes_cost(ExecutionSpace const& exec,
                           MttkrpAllModesPlan<Scalar, Index, MemorySpace> const& plan, int R) {
  Cost sum;
  auto const add = [&](Cost const& cost) {
    sum.flops += cost.flops;
    sum.bytes += cost.bytes;
  };
  auto const add_product = [&](MttkrpPlan<Scalar, Index, MemorySpace> const& products,
                               std::size_t n) {
    add(mttkrp_cost(exec, products, R, static_cast<int>(n)));
  };
  auto const S = plan.fused.size();
  auto const is_in_S = [&](int n) { return detail::place_of(n, plan.fused) < S; };
  bool after_fused = is_in_S(plan.order() - 1);  // the sweep before
  for (int n = 0; n < plan.order(); ++n) {
    bool const is_fused = is_in_S(n);
    if (is_fused && !after_fused) add_product(plan.whole, 0);  // T
    if (!is_fused && after_fused) add(detail::khatri_rao_cost(plan, R));
    if (is_fused)
      add_product(plan.grid, detail::place_of(n, plan.fused));
    else
      add_product(plan.whole, detail::whole_mode(plan, n));
    after_fused = is_fused;
  }
  return sum;
}

}  // namespace sporades
