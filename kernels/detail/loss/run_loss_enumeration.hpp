// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/kernels/detail/loss/cells.hpp>
#include <sporades/kernels/loss_enumeration.hpp>

namespace sporades {
namespace detail {

/// Rounded up to two digits, or to a whole number.
inline double rounded_up(double seconds) {
  double const digit = std::pow(10.0, std::max(0.0, std::floor(std::log10(seconds)) - 1));
  return std::ceil(seconds / digit) * digit;
}

/// Throws Error where a tensor of these dims has too many cells for so many passes.
template <class ExecutionSpace>
void check_cells(ExecutionSpace const& exec, Dims const& dims, int rank, std::size_t passes,
                 EnumerationOptions const& options, char const* where) {
  double const cells = dense_size(dims);
  expects(options.most_cells >= 0, where, ": EnumerationOptions::most_cells is ",
          options.most_cells);
  constexpr double countable = 4e18;  // in 64 bits
  double const most = options.most_cells > 0   ? std::min(options.most_cells, countable)
                      : is_gpu<ExecutionSpace> ? 1e11
                                               : 1e9;
  if (cells <= most) return;
  // A guess, which tells minutes from years.
  double const rate = is_gpu<ExecutionSpace> ? 1e12 : 1e9 * static_cast<double>(exec.concurrency());
  double const work = static_cast<double>(passes) * cells * (2.0 * rank + 20);
  fail(where, ": ", to_string(dims), " are ", cells, " cells, more than ", most,
       " (EnumerationOptions::most_cells); at ", rate,
       " multiply-adds a second they would take about ", rounded_up(work / rate), " s");
}

/// What passes over all cells share.
template <class MemorySpace>
struct CellWork {
  Communicator processes;  // that share the cells
  Kokkos::View<double*, MemorySpace> weights;
  Workspace<MemorySpace> inner, products, sums, values, shared;
};

/// inner: A transposed, in double, with at_once columns of zeros behind. An A of no columns in
/// `ones`: a mode of length 1 whose entries are 1.
template <class Scalar>
struct TransposeFactor {
  SmallFactor<Scalar> A;  // length x R
  bool ones;
  double* inner;  // R x stride
  std::uint64_t length, stride;
  std::size_t columns;

  KOKKOS_FUNCTION void operator()(std::uint64_t j) const {
    for (std::size_t r = 0; r < columns; ++r)
      inner[r * stride + j] = j >= length ? 0.0 : ones ? 1.0 : A(j, r);
  }
};

/// V(i, r) += w(r) sums(i, r)
template <class Scalar, class MemorySpace>
struct AddCellSums {
  Matrix<Scalar, MemorySpace> V;
  double const *w, *sums;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    std::size_t const R = V.extent(1);
    for (std::size_t r = 0; r < R; ++r)
      V(i, r) = static_cast<Scalar>(static_cast<double>(V(i, r)) + w[r] * sums[i * R + r]);
  }
};

/// How the other cells of so many rows are divided: the cells of a part. Items for all threads, but
/// no more than memory for their sums is fair.
template <class ExecutionSpace>
std::uint64_t cells_of_part(std::uint64_t rows, std::uint64_t others, std::size_t columns) {
  std::uint64_t const most = (is_gpu<ExecutionSpace> ? std::uint64_t{1} << 18 : 4096) /
                             std::max<std::size_t>(1, columns / 32);
  return quotient_up(others, std::max<std::uint64_t>(
                                 1, std::min(most / rows, quotient_up(others, std::uint64_t{64}))));
}

/// The pass for mode n of a model with cells, ready to run. Allocates; enqueued on exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
CellPass<Scalar> start_pass(ExecutionSpace const& exec,
                            KruskalTensor<Scalar, MemorySpace> const& model, std::size_t n,
                            bool wants_sums, bool wants_value, CellWork<MemorySpace>& work) {
  auto const& A = model.factors;
  std::size_t inner = n == 0 ? 1 : 0;
  for (std::size_t k = 0; k < A.size(); ++k)
    if (k != n && A[k].extent(0) > A[inner].extent(0)) inner = k;
  bool const alone = A.size() == 1;
  CellPass<Scalar> pass{};
  pass.own = small_factor(A[n]);
  pass.rows = A[n].extent(0);
  std::size_t const R = pass.columns = A[n].extent(1);
  pass.weights = work.weights.data();
  pass.length = alone ? 1 : A[inner].extent(0);
  pass.inner_stride = pass.length + pass.at_once;
  std::uint64_t others = pass.length;
  for (std::size_t k = 0; k < A.size(); ++k) {
    if (k == n || k == inner) continue;
    pass.factors[pass.outer] = small_factor(A[k]);
    pass.dims[pass.outer++] = A[k].extent(0);
    others *= A[k].extent(0);
  }
  auto const cuts = even_cuts(work.processes.size(), others);
  auto const me = static_cast<std::size_t>(work.processes.rank());
  pass.first = cuts[me];
  pass.end = cuts[me + 1];
  std::uint64_t const own = std::max<std::uint64_t>(1, pass.end - pass.first);
  pass.of_part = cells_of_part<ExecutionSpace>(pass.rows, own, R);
  pass.parts = quotient_up(own, pass.of_part);

  double* const transposed = work.inner.template get<double>(exec, R * pass.inner_stride).data();
  launch(exec, "sporades::loss::transpose_factor", pass.inner_stride, R + 1,
         TransposeFactor<Scalar>{alone ? SmallFactor<Scalar>{} : small_factor(A[inner]), alone,
                                 transposed, pass.length, pass.inner_stride, R});
  pass.inner = transposed;
  std::uint64_t const items = pass.items();
  pass.products = work.products.template get<double>(exec, items * R).data();
  if (wants_sums)
    pass.sums = work.sums
                    .template get<double>(
                        exec, items * R + scratch_of_sum_blocks(pass.parts, pass.rows * R))
                    .data();
  if (wants_value)
    pass.values =
        work.values.template get<double>(exec, items + scratch_of_sum_blocks(items, 1)).data();
  return pass;
}

/// Adds the sums of a pass to V. Enqueued on exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
void add_pass(ExecutionSpace const& exec, CellPass<Scalar> const& pass,
              Matrix<Scalar, MemorySpace> const& V, CellWork<MemorySpace>& work) {
  std::uint64_t const entries = pass.rows * pass.columns;
  double* const sums = sum_blocks<ExecutionSpace>(exec, pass.sums, pass.parts, entries);
  combine_across<Add>(exec, work.processes, "sums over cells", sums, entries, work.shared);
  launch(exec, "sporades::loss::add_cell_sums", pass.rows, pass.columns + 1,
         AddCellSums<Scalar, MemorySpace>{V, pass.weights, sums});
}

/// The sum of f(0, m) over the cells of a pass. Fences exec.
template <class ExecutionSpace, class Scalar, class Memory>
double value_of_pass(ExecutionSpace const& exec, CellPass<Scalar> const& pass,
                     CellWork<Memory>& work) {
  double* const value = sum_blocks<ExecutionSpace>(exec, pass.values, pass.items(), 1);
  combine_across<Add>(exec, work.processes, "sums over cells", value, 1, work.shared);
  return entry_at(exec, Kokkos::View<double const*, Memory, Kokkos::MemoryUnmanaged>(value, 1), 0);
}

/// The sum of f(0, m) over all cells, which processes share. Adds its gradient to V; null: not
/// wanted. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace, class Loss>
double run_enumeration(ExecutionSpace const& exec, Communicator const& processes,
                       KruskalTensor<Scalar, MemorySpace> const& model, Loss const& loss,
                       Factors<Scalar, MemorySpace> const* V) {
  if (dense_size(model.dims()) == 0) return 0;
  CellWork<MemorySpace> work;
  work.processes = processes;
  work.weights = double_weights(exec, model.weights);
  double value = 0;
  for (std::size_t n = 0; n < (V ? model.factors.size() : 1); ++n) {
    auto const pass = start_pass(exec, model, n, V != nullptr, n == 0, work);
    launch(exec, "sporades::loss::cells", pass.items(), pass.of_part * (4 * pass.columns + 20),
           SumCells<ExecutionSpace, Scalar, Loss>{loss, pass});
    if (V) add_pass(exec, pass, (*V)[n], work);
    if (n == 0) value = value_of_pass(exec, pass, work);
  }
  fence(exec, "sporades::loss::cells");  // the work is freed
  return value;
}

/// Throws Error unless absent entries can be zeros.
template <class Loss>
void check_zeros(Loss const& loss, char const* where) {
  expects(loss.allows(0.0), where, ": ", loss.name(), " takes ", loss.domain(),
          ", so that absent entries cannot be zeros");
}

/// enumerated_loss and enumerated_gradient of a plan; V: null where only the loss is wanted.
template <class ExecutionSpace, class Plan, class Model, class Loss>
double run_plan_enumeration(ExecutionSpace const& exec, Plan& plan, Model const& model,
                            Loss const& loss, FactorsOf<Plan> const* V,
                            EnumerationOptions const& options) {
  char const* const where = V ? "enumerated_gradient" : "enumerated_loss";
  check_model(model, where);
  check_same_dims(plan.X.dims, model.dims(), where);
  if (V) check_gradient(model, *V, where);
  check_zeros(loss, where);
  check_cells(exec, plan.X.dims, model.rank(), V ? plan.X.dims.size() : 1, options, where);
  auto& derivatives = plan.work.derivatives;
  if (V && derivatives.extent(0) != plan.X.nnz())
    derivatives = uninitialized<VectorOf<Plan>>(exec, "sporades::loss::derivatives", plan.X.nnz());
  double const of_entries = run_loss(exec, plan.X, model, BesideZero<Loss>{loss}, {}, where,
                                     plan.work, V ? derivatives.data() : nullptr);
  if (model.rank() == 0) V = nullptr;
  if (V) multiply_derivatives(exec, plan, model, LossPolynomial{}, *V);
  return of_entries + run_enumeration(exec, plan.work.places.processes, model, loss, V);
}

}  // namespace detail

template <class ExecutionSpace, class Tensor, class Model, class Loss>
double enumerated_loss(ExecutionSpace const& exec, Tensor& X, Model const& model, Loss const& loss,
                       EnumerationOptions const& options) {
  using Plain = std::remove_const_t<Tensor>;
  constexpr bool is_coo = detail::is_instance<Plain, CooTensor>;
  constexpr bool is_plan = detail::is_instance<Tensor, LossGradientPlan>;
  static_assert(is_coo || is_plan,
                "enumerated_loss takes a CooTensor, or a LossGradientPlan that is not const");
  if constexpr ((is_coo || is_plan) && detail::check_loss<Model, Loss>())
    if constexpr (detail::check_types<ExecutionSpace, Plain, decltype(model.factors)>()) {
      detail::Region const region("sporades::enumerated_loss");
      if constexpr (is_plan) {
        return detail::run_plan_enumeration(exec, X, model, loss, nullptr, options);
      } else {
        detail::check_entries(exec, X, "enumerated_loss");
        LossGradientPlan<typename Plain::Scalar, typename Plain::Index,
                         typename Plain::MemorySpace>
            plan;  // of no products
        plan.X = X;
        return detail::run_plan_enumeration(exec, plan, model, loss, nullptr, options);
      }
    }
  return 0;
}

template <class ExecutionSpace, class Plan, class Model, class Loss, class Output>
double enumerated_gradient(ExecutionSpace const& exec, Plan& plan, Model const& model,
                           Loss const& loss, Output const& V, EnumerationOptions const& options) {
  constexpr bool is_plan = detail::is_instance<Plan, LossGradientPlan>;
  static_assert(is_plan, "enumerated_gradient takes a LossGradientPlan that is not const");
  if constexpr (is_plan && detail::check_loss<Model, Loss>())
    if constexpr (detail::check_types<ExecutionSpace, Plan, decltype(model.factors), Output>()) {
      detail::Region const region("sporades::enumerated_gradient");
      auto const& products = detail::as_factors<Plan>(V);
      return detail::run_plan_enumeration(exec, plan, model, loss, &products, options);
    }
  return 0;
}

}  // namespace sporades

#include <sporades/eti/run_loss_enumeration.hpp>
