// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/processes/combine.hpp>
#include <sporades/core/detail/region.hpp>
#include <sporades/formats/detail/check_model.hpp>
#include <sporades/formats/detail/sort_across.hpp>
#include <sporades/kernels/detail/loss/moments.hpp>
#include <sporades/kernels/detail/run_model_values.hpp>
#include <sporades/kernels/loss_value.hpp>

namespace sporades {
namespace detail {

/// What calls share one after another.
template <class Scalar, class MemorySpace>
struct LossWork {
  Vector<double, MemorySpace> models;          // nnz: m
  Vector<Scalar, MemorySpace> derivatives;     // nnz, once they are wanted
  Kokkos::View<double*, MemorySpace> numbers;  // see LossNumbers
  typename Kokkos::View<double*, MemorySpace>::host_mirror_type host;
  Workspace<MemorySpace> workspace, rows, shared;
  std::vector<Matrix<double, MemorySpace>> group_sums;  // see store_moments; of the next call
  NonzeroPlaces places;  // of entries that processes share, which have all rows of models each

  std::size_t bytes() const {
    return (models.extent(0) + numbers.extent(0)) * sizeof(double) +
           derivatives.extent(0) * sizeof(Scalar) + workspace.bytes() + rows.bytes() +
           shared.bytes();
  }
};

/// P, what the sum over all cells counts of each: f(0, m), or nothing where absent entries are
/// missing.
template <class Loss>
LossPolynomial polynomial_of_cells(Loss const& loss, AbsentEntries absent, int rank,
                                   char const* where) {
  if (absent == AbsentEntries::missing) return {};
  expects(loss.allows(0.0), where, ": ", loss.name(), " takes ", loss.domain(),
          ", so that absent entries cannot be zeros; they can be missing");
  std::optional<LossPolynomial> const c = loss.at_zero();
  expects(c.has_value(), where, ": zeros have no closed form, since ", loss.name(),
          " of x = 0 is no polynomial of the model's value of degree ", most_degree,
          " or less. Absent entries can be missing; enumerated_loss sums over all cells, and "
          "estimated_loss over samples of them");
  expects((*c)[3] == 0 || rank <= most_cubic_rank, where, ": the closed form of ", loss.name(),
          " has R^3 numbers for each mode, and is computed up to rank ", most_cubic_rank, ", not ",
          rank);
  return *c;
}

/// The values of the model at X's entries, and its weights. Returns room for the sums of blocks.
/// Enqueued on exec; allocates in the first call.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
double* start_loss(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                   KruskalTensor<Scalar, MemorySpace> const& model, LossPolynomial const& c,
                   LossWork<Scalar, MemorySpace>& work) {
  std::size_t const R = model.weights.extent(0);
  LossNumbers const layout(model.factors.size(), R, c);
  if (work.host.extent(0) != layout.size()) {  // the last of both
    work.numbers = uninitialized<Kokkos::View<double*, MemorySpace>>(
        exec, "sporades::loss::numbers", layout.size());
    work.host = Kokkos::create_mirror_view(work.numbers);
  }
  Kokkos::View<double*, MemorySpace> const weights(work.numbers.data() + layout.weights, R);
  copy_view(exec, weights, model.weights);
  if (work.models.extent(0) != X.nnz())
    work.models =
        uninitialized<Vector<double, MemorySpace>>(exec, "sporades::loss::models", X.nnz());
  if (X.nnz() > 0) run_model_values(exec, X, model.factors, weights, work.models);
  Position const blocks = LossBlocks::count(X.nnz());
  return work.workspace
      .template get<double>(
          exec, blocks * LossBlocks::sums + scratch_of_sum_blocks(blocks, LossBlocks::sums))
      .data();
}

/// The loss, of the sums of these blocks of entries and of all cells; how many entries the loss
/// does not allow. Both of all processes. The numbers are on the host then. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
std::pair<double, double> finish_loss(ExecutionSpace const& exec,
                                      KruskalTensor<Scalar, MemorySpace> const& model,
                                      LossPolynomial const& c, double* partial, Position blocks,
                                      LossWork<Scalar, MemorySpace>& work) {
  LossNumbers const layout(model.factors.size(), model.weights.extent(0), c);
  constexpr std::size_t count = LossBlocks::sums;
  Kokkos::View<double*, MemorySpace> const sums(work.numbers.data(), count);
  if (blocks == 0)
    fill_view(exec, sums, 0);
  else
    copy_view(exec, sums,
              Kokkos::View<double const*, MemorySpace, Kokkos::MemoryUnmanaged>(
                  sum_blocks<ExecutionSpace>(exec, partial, blocks, count), count));
  combine_across<Add>(exec, work.places.processes, "sums of losses", sums.data(), count,
                      work.shared);
  store_moments(exec, model.factors, std::exchange(work.group_sums, {}), layout,
                work.numbers.data(), work.workspace, work.rows);
  copy_view(exec, work.host, work.numbers);
  fence(exec, "sporades::loss_value");

  double const* const numbers = work.host.data();
  double value = 0, refused = 0;
  for (std::size_t l = 0; l < LossBlocks::lanes; ++l) {
    value += numbers[l];
    refused += numbers[LossBlocks::lanes + l];
  }
  if (c[0] != 0) value += c[0] * dense_size(model.dims());
  for (int d = 1; d <= most_degree; ++d) {
    if (!layout.has(d)) continue;
    double power = 0;
    for (std::size_t e = 0; e < layout.tuples(d); ++e)
      power += layout.product(numbers, d, e, model.factors.size());
    value += c[static_cast<std::size_t>(d)] * power;
  }
  return {value, refused};
}

/// "nonzero 7, of indices 3, 0, 2 (from 0), is -1". Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
std::string describe_entry(ExecutionSpace const& exec,
                           CooTensor<Scalar, Index, MemorySpace> const& X, Position p) {
  std::string indices;
  for (int n = 0; n < X.order(); ++n)
    indices += concatenate(n > 0 ? ", " : "",
                           entry_at(exec, Kokkos::subview(X.coordinates, n, Kokkos::ALL), p));
  return concatenate("nonzero ", p, ", of indices ", indices, " (from 0), is ",
                     entry_at(exec, X.values, p));
}

/// Throws Error, which names an entry that the loss does not allow: the first one of the first
/// process that has any.
template <class ExecutionSpace, class Tensor, class Loss>
void refuse_entry(ExecutionSpace const& exec, Communicator const& processes, Tensor const& X,
                  Loss const& loss, char const* where) {
  auto const x = to_vector(exec, X.values);
  Position p = 0;
  while (p < x.size() && loss.allows(static_cast<double>(x[p]))) ++p;
  std::string const text = p < x.size() ? describe_entry(exec, X, p) : "";
  std::vector<std::size_t> lengths;
  auto const texts = all_gather(processes, "refused nonzeros",
                                std::vector<char>(text.begin(), text.end()), &lengths);
  auto const first = std::find_if(lengths.begin(), lengths.end(), [](auto n) { return n > 0; });
  fail(where, ": ", first == lengths.end() ? "" : std::string(texts.data(), *first), ", and ",
       loss.name(), " takes ", loss.domain());
}

/// The loss, and derivatives[p] = df/dm - P' at X's entries; null: not wanted. X's indices and the
/// shapes are trusted. Fences exec.
template <class ExecutionSpace, class Tensor, class Model, class Loss>
double run_loss(ExecutionSpace const& exec, Tensor const& X, Model const& model, Loss const& loss,
                LossPolynomial const& c, char const* where,
                LossWork<typename Tensor::Scalar, typename Tensor::MemorySpace>& work,
                typename Tensor::Scalar* derivatives) {
  double* const partial = start_loss(exec, X, model, c, work);
  LossLanes<ExecutionSpace, typename Tensor::Scalar, Loss> const kernel{
      loss,        c[0],    c[1],   c[2], c[3], X.values.data(), work.models.data(),
      derivatives, partial, X.nnz()};
  if (X.nnz() > 0)
    launch(exec, "sporades::loss::entries", kernel.items(), LossBlocks::length, kernel);
  auto const [value, refused] =
      finish_loss(exec, model, c, partial, LossBlocks::count(X.nnz()), work);
  if (refused > 0) refuse_entry(exec, work.places.processes, X, loss, where);
  return value;
}

/// Throws Error unless X's indices are below its dims. (The library has it.)
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void check_entries(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                   char const* where) {
  check_coordinates(exec, X, where);
}

/// Whether functions of losses take a model and a loss; a static_assert says what they do not take.
template <class Model, class Loss>
constexpr bool check_loss() {
  static_assert(is_instance<Model, KruskalTensor>, "the model of a loss is a KruskalTensor");
  static_assert(is_loss<Loss>,
                "a loss is a trivially copyable type with the members value, derivative and those "
                "of LossDefaults (kernels/loss.hpp)");
  return is_instance<Model, KruskalTensor> && is_loss<Loss>;
}

}  // namespace detail

template <class ExecutionSpace, class Tensor, class Model, class Loss>
double loss_value(ExecutionSpace const& exec, Tensor const& X, Model const& model, Loss const& loss,
                  AbsentEntries absent) {
  constexpr bool is_coo = detail::is_instance<Tensor, CooTensor>;
  static_assert(is_coo, "loss_value takes a CooTensor, or a LossGradientPlan that is not const");
  if constexpr (is_coo && detail::check_loss<Model, Loss>())
    if constexpr (detail::check_types<ExecutionSpace, Tensor, decltype(model.factors)>()) {
      detail::Region const region("sporades::loss_value");
      detail::check_model(model, "loss_value");
      detail::check_same_dims(X.dims, model.dims(), "loss_value");
      auto const c = detail::polynomial_of_cells(loss, absent, model.rank(), "loss_value");
      detail::check_entries(exec, X, "loss_value");
      detail::LossWork<typename Tensor::Scalar, typename Tensor::MemorySpace> work;
      return detail::run_loss(exec, X, model, loss, c, "loss_value", work, nullptr);
    }
  return 0;
}

}  // namespace sporades

#include <sporades/eti/run_loss_value.hpp>
