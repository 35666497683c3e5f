// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/loss_gradient.hpp>
#include <sporades/kernels/update_values.hpp>

namespace sporades {
namespace detail {

/// V(i, r) = V(i, r) w(r) + h(r), in double; no w, no h: 0. CPU: an item is a row; GPU: a column of
/// some rows, all of whose loads are on their way before the first is used.
template <class ExecutionSpace, class Scalar>
struct ScaleAndAdd {
  static constexpr std::uint64_t at_once = 8;
  using Memory = typename ExecutionSpace::memory_space;
  Matrix<Scalar, Memory> V;
  double const *w, *h;

  std::uint64_t items() const {
    return is_gpu<ExecutionSpace> ? quotient_up(V.extent(0), at_once) * V.extent(1) : V.extent(0);
  }

  KOKKOS_FUNCTION void operator()(std::uint64_t item) const {
    if constexpr (is_gpu<ExecutionSpace>)
      with_entry(item, V.extent(1),
                 [&](std::uint64_t part, std::size_t r) { rows(part * at_once, r); });
    else
      for (std::size_t r = 0; r < V.extent(1); ++r)
        V(item, r) = entry(w ? V(item, r) : Scalar(0), r);
  }

 private:
  KOKKOS_INLINE_FUNCTION Scalar entry(Scalar before, std::size_t r) const {
    return static_cast<Scalar>((w ? static_cast<double>(before) * w[r] : 0) + (h ? h[r] : 0));
  }
  KOKKOS_INLINE_FUNCTION void rows(std::uint64_t first, std::size_t r) const {
    Scalar entries[at_once] = {};
    for (std::uint64_t k = 0; w && k < at_once; ++k)
      if (first + k < V.extent(0)) entries[k] = V(first + k, r);
    for (std::uint64_t k = 0; k < at_once; ++k) entries[k] = entry(entries[k], r);
    for (std::uint64_t k = 0; k < at_once; ++k)
      if (first + k < V.extent(0)) V(first + k, r) = entries[k];
  }
};

/// Puts in the place of the moments, on the host and where exec computes, what Z_n are sums of:
///   H_n(e) = d c_d prod_{r in e} weights(r) prod_{m != n} M_m(e)   of the tuples e of degree d
template <class ExecutionSpace, class Scalar, class MemorySpace>
void store_coefficients(ExecutionSpace const& exec, std::size_t order, LossPolynomial const& c,
                        LossNumbers const& layout, LossWork<Scalar, MemorySpace>& work) {
  double const* const numbers = work.host.data();
  std::vector<double> coefficients;
  for (int d = 1; d <= most_degree; ++d)
    for (std::size_t n = 0; n < order && layout.has(d); ++n)
      for (std::size_t e = 0; e < layout.tuples(d); ++e)
        coefficients.push_back(d * c[static_cast<std::size_t>(d)] *
                               layout.product(numbers, d, e, n));
  std::copy(coefficients.begin(), coefficients.end(), work.host.data() + layout.moments());
  copy_view(exec, work.numbers, work.host);
}

/// V[n] = V[n] diag(weights) + Z_n diag(weights); has_entries: whether V has a first part already.
/// Enqueued on exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
void add_cells(ExecutionSpace const& exec, KruskalTensor<Scalar, MemorySpace> const& model,
               LossPolynomial const& c, LossWork<Scalar, MemorySpace>& work,
               Factors<Scalar, MemorySpace> const& V, bool has_entries = true) {
  std::size_t const N = model.factors.size(), R = model.weights.extent(0);
  LossNumbers const layout(N, R, c);
  auto const ones = [&] {
    for (std::size_t r = 0; r < R; ++r)
      if (work.host(layout.weights + r) != 1) return false;
    return true;
  };
  bool const scales = !has_entries || !ones();
  if (layout.size() > layout.moments()) store_coefficients(exec, N, c, layout, work);
  double const* const numbers = work.numbers.data();
  for (std::size_t n = 0; n < N; ++n) {
    auto const& A = model.factors[n];
    auto const square = [&](std::size_t place) {
      return Matrix<double, MemorySpace>(work.numbers.data() + place, R, R);
    };
    if (scales || layout.has(1)) {
      ScaleAndAdd<ExecutionSpace, Scalar> const kernel{
          V[n], has_entries ? numbers + layout.weights : nullptr,
          layout.has(1) ? numbers + layout.place(1, n) : nullptr};
      launch(exec, "sporades::loss::scale_and_add", kernel.items(), R + 1, kernel);
    }
    if (layout.has(2)) multiply(exec, A, square(layout.place(2, n)), V[n], true);
    if (layout.has(3))
      for_column_products(exec, A, work.rows, [&](std::size_t t, auto const& B) {
        multiply(exec, B, square(layout.place(3, n) + t * R * R), V[n], true);
      });
  }
}

/// The gradient, of the derivatives that run_loss has left in the plan, and of its moments.
/// Enqueued on exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void multiply_derivatives(ExecutionSpace const& exec,
                          LossGradientPlan<Scalar, Index, MemorySpace>& plan,
                          KruskalTensor<Scalar, MemorySpace> const& model, LossPolynomial const& c,
                          Factors<Scalar, MemorySpace> const& V) {
  put_new_values(exec, plan.products, plan.work.derivatives);
  factors_changed(plan.products);
  mttkrp_all_modes(exec, plan.products, model.factors, V);
  combine_across<Add>(exec, plan.work.places.processes, "gradients", V, plan.work.shared);
  add_cells(exec, model, c, plan.work, V);
}

/// make_loss_gradient_plan of the nonzeros that this process has of all. Collective.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
LossGradientPlan<Scalar, Index, MemorySpace> build_loss_gradient_plan(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> const& X, MttkrpAllModesOptions options) {
  options.products.updatable = true;
  LossGradientPlan<Scalar, Index, MemorySpace> plan;
  plan.products = build_all_modes_plan({}, exec, X, options);
  plan.X = X;
  plan.work.places = {processes, exclusive_scan_of_all(processes, X.nnz())};
  return plan;
}

/// The shapes of a gradient; see loss_gradient. where begins the message.
template <class Scalar, class MemorySpace>
void check_gradient(KruskalTensor<Scalar, MemorySpace> const& model,
                    Factors<Scalar, MemorySpace> const& V, char const* where) {
  auto const& A = model.factors;
  expects(V.size() == A.size(), where, ": V has ", V.size(), " matrices, the model has ", A.size(),
          " factors");
  for (std::size_t n = 0; n < V.size(); ++n) {
    expects(V[n].extent(0) == A[n].extent(0) && V[n].extent(1) == A[n].extent(1), where, ": V[", n,
            "] is ", V[n].extent(0), " x ", V[n].extent(1), ", factor ", n, " is ", A[n].extent(0),
            " x ", A[n].extent(1));
    for (std::size_t m = 0; m < A.size(); ++m)
      expects(V[n].data() != A[m].data() || V[n].span() == 0, where, ": V[", n, "] is factor ", m);
    for (std::size_t m = 0; m < n; ++m)
      expects(V[n].data() != V[m].data() || V[n].span() == 0, where, ": V[", n, "] is V[", m, "]");
  }
}

/// loss_value and loss_gradient of a plan; V: null where only the loss is wanted.
template <class ExecutionSpace, class Plan, class Model, class Loss>
double run_plan_loss(ExecutionSpace const& exec, Plan& plan, Model const& model, Loss const& loss,
                     AbsentEntries absent, FactorsOf<Plan> const* V) {
  char const* const where = V ? "loss_gradient" : "loss_value";
  Region const region("sporades::", where);
  check_model(model, where);
  check_same_dims(plan.X.dims, model.dims(), where);
  if (V) check_gradient(model, *V, where);
  auto const c = polynomial_of_cells(loss, absent, model.rank(), where);
  auto& derivatives = plan.work.derivatives;
  if (V && derivatives.extent(0) != plan.X.nnz())
    derivatives = uninitialized<VectorOf<Plan>>(exec, "sporades::loss::derivatives", plan.X.nnz());
  double const value =
      run_loss(exec, plan.X, model, loss, c, where, plan.work, V ? derivatives.data() : nullptr);
  if (V && model.rank() > 0) multiply_derivatives(exec, plan, model, c, *V);
  return value;
}

}  // namespace detail

template <class ExecutionSpace, class Tensor>
auto make_loss_gradient_plan(ExecutionSpace const& exec, Tensor const& X,
                             MttkrpAllModesOptions const& options) {
  constexpr bool is_coo = detail::is_instance<Tensor, CooTensor>;
  static_assert(is_coo, "make_loss_gradient_plan takes a CooTensor: make_coo makes one of Views");
  if constexpr (is_coo)
    if constexpr (detail::check_types<ExecutionSpace, Tensor>())
      return detail::build_loss_gradient_plan({}, exec, X, options);
}

template <class ExecutionSpace, class Plan, class Model, class Loss, class Output>
double loss_gradient(ExecutionSpace const& exec, Plan& plan, Model const& model, Loss const& loss,
                     AbsentEntries absent, Output const& V) {
  constexpr bool is_plan = detail::is_instance<Plan, LossGradientPlan>;
  static_assert(is_plan, "loss_gradient takes a LossGradientPlan that is not const");
  if constexpr (is_plan && detail::check_loss<Model, Loss>())
    if constexpr (detail::check_types<ExecutionSpace, Plan, decltype(model.factors), Output>()) {
      auto const& products = detail::as_factors<Plan>(V);
      return detail::run_plan_loss(exec, plan, model, loss, absent, &products);
    }
  return 0;
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Model,
          class Loss>
double loss_value(ExecutionSpace const& exec, LossGradientPlan<Scalar, Index, MemorySpace>& plan,
                  Model const& model, Loss const& loss, AbsentEntries absent) {
  using Plan = LossGradientPlan<Scalar, Index, MemorySpace>;
  if constexpr (detail::check_loss<Model, Loss>())
    if constexpr (detail::check_types<ExecutionSpace, Plan, decltype(model.factors)>())
      return detail::run_plan_loss(exec, plan, model, loss, absent, nullptr);
  return 0;
}

}  // namespace sporades

#include <sporades/eti/run_loss_gradient.hpp>
