// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/region.hpp>
#include <sporades/formats/detail/check_model.hpp>
#include <sporades/kernels/detail/model_values.hpp>
#include <sporades/kernels/detail/tucker_model.hpp>
#include <sporades/kernels/model_values.hpp>

namespace sporades {
namespace detail {

/// values(p) = m_p of a CooModel. On GPUs an item a nonzero, and `lanes` of them share their work:
/// each has 16 bytes of columns, or of every lanes-th 16 bytes, of the rows of all their nonzeros,
/// so that neighbours read neighbouring numbers. In the end their sums are added across the lanes,
/// each lane one nonzero's. lanes > 1: rows are at multiples of 16 bytes.
template <class ExecutionSpace, class Model, class Value, int lanes>
struct ModelValues {
  using Scalar = typename Model::Scalar;
  static constexpr int width = 16 / sizeof(Scalar);

  Model model;
  Value* values;  // nnz
  Position count;

  /// On GPUs all lanes have one, past the last nonzero, too.
  std::uint64_t items() const { return (count + lanes - 1) / lanes * lanes; }

  KOKKOS_FUNCTION void operator()(Position p) const {
    if constexpr (lanes == 1) {
      values[p] = static_cast<Value>(model.template at<ExecutionSpace>(p));
    } else {
      double const sum = shared_sum(p < count ? p : count - 1);
      if (p < count) values[p] = static_cast<Value>(sum);
    }
  }

 private:
  /// m_p, of all lanes' p at once.
  KOKKOS_INLINE_FUNCTION double shared_sum(Position p) const {
    VectorLanes const vector = VectorLanes::of_items(lanes);
    double sums[lanes] = {};
    for (std::uint64_t first = 0; first < model.rank; first += lanes * width) {
      std::uint64_t const own = first + static_cast<std::uint64_t>(vector.mine()) * width;
      int const columns = own < model.rank ? static_cast<int>(model.rank - own) : 0;
      add_columns(vector, p, columns > 0 ? own : 0, columns, sums);
    }
    for (int half = lanes / 2; half > 0; half /= 2)
      for (int q = 0; q < half; ++q) {
        bool const is_upper = vector.mine() & half;
        double const sent = is_upper ? sums[q] : sums[q + half];
        sums[q] = (is_upper ? sums[q + half] : sums[q]) + vector.across(half, sent);
      }
    return sums[0];
  }

  /// Adds what `columns` columns from `first` on, at most width, have of each lane's nonzero.
  KOKKOS_INLINE_FUNCTION void add_columns(VectorLanes const& vector, Position p,
                                          std::uint64_t first, int columns,
                                          double (&sums)[lanes]) const {
    auto const& nonzeros = model.nonzeros;
    double products[lanes][width];
    for (int j = 0; j < width; ++j)
      for (int q = 0; q < lanes; ++q) products[q][j] = j < columns ? model.weights[first + j] : 0;
    for (int n = 0; n < nonzeros.others; ++n) {
      auto const& A = nonzeros.factors[n];
      auto const index = nonzeros.indices[n](p);
      for (int q = 0; q < lanes; ++q) {
        auto const row = static_cast<std::size_t>(vector.of(q, index));
        auto const entries = load_tile<Scalar, width, true>(A.data() + row * A.stride(0) + first);
        for (int j = 0; j < width; ++j) products[q][j] *= static_cast<double>(entries[j]);
      }
    }
    for (int q = 0; q < lanes; ++q) {
      double own = 0;  // without padding
      for (int j = 0; j < width; ++j) own += j < columns ? products[q][j] : 0;
      sums[q] += own;
    }
  }
};

/// values(p) = m_p of the nonzeros of a chunk of a TuckerModel
template <class Model, class Value>
struct TuckerValues {
  Model model;
  Value* values;  // nnz

  KOKKOS_FUNCTION void operator()(Position chunk) const {
    model.for_values(chunk, [&](Position p, double m) { values[p] = static_cast<Value>(m); });
  }
};

/// X's indices are trusted, its dims and values are not read; weights: R. Enqueued on exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Value>
void run_model_values(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                      Factors<Scalar, MemorySpace> const& A,
                      Kokkos::View<double*, MemorySpace> const& weights,
                      Vector<Value, MemorySpace> const& values) {
  using Model = CooModel<Scalar, Index, MemorySpace>;
  std::uint64_t const R = weights.extent(0);
  auto const run = [&](auto lanes) {
    ModelValues<ExecutionSpace, Model, Value, decltype(lanes)::value> const kernel{
        coo_model(X, A, weights.data(), R), values.data(), X.nnz()};
    launch(exec, "sporades::model_values::kruskal", kernel.items(), (A.size() + 1) * R + 1, kernel);
  };
  if constexpr (is_gpu<ExecutionSpace>) {
    // H200, 20 million nonzeros, ms with 1 and with 4 lanes: R = 16, double: 1.59, 0.75; float:
    // 1.11, 0.78. At R = 5 one lane takes less. (Eight lanes of a column each: 0.85 and 0.84.)
    bool const are_aligned =
        std::all_of(A.begin(), A.end(), [](auto const& one) { return rows_are_aligned(one); });
    if (R >= 8 && are_aligned) return run(std::integral_constant<int, 4>{});
  }
  run(std::integral_constant<int, 1>{});
}

/// All modes, those that X is sorted by first, slowest first.
inline std::vector<int> sorted_modes_first(std::vector<int> const& sorted_modes, int order) {
  auto modes = sorted_modes;
  for (int n = 0; n < order; ++n)
    if (std::find(modes.begin(), modes.end(), n) == modes.end()) modes.push_back(n);
  return modes;
}

/// core: on the host, as TuckerTensor has it. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Value>
void run_model_values(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                      Factors<Scalar, MemorySpace> const& A, std::vector<double> const& core,
                      Vector<Value, MemorySpace> const& values) {
  std::vector<int> ranks;
  for (auto const& factor : A) ranks.push_back(static_cast<int>(factor.extent(1)));
  auto const modes = sorted_modes_first(X.sorted_modes, X.order());
  auto const G = to_view(exec, "sporades::model_values::core", core_in_order(core, ranks, modes));
  using Model = TuckerModel<Scalar, Index, MemorySpace>;
  TuckerValues<Model, Value> kernel{
      tucker_model<Scalar, Index, MemorySpace>(G, ranks, modes, X.nnz(),
                                               chunk_length<ExecutionSpace>(X.nnz())),
      values.data()};
  Position const chunks = kernel.model.chunks.count(X.nnz());
  auto const partial = uninitialized<Kokkos::View<double*, MemorySpace>>(
      exec, "sporades::model_values::partial", chunks * kernel.model.partial_size);
  kernel.model.nonzeros = coo_nonzeros<any_number>(X, A, modes);
  kernel.model.partial = partial.data();
  launch_items(exec, "sporades::model_values::tucker", chunks, kernel);
  fence(exec, "sporades::model_values::tucker");
}

/// model_values at the coordinates of X, whose dims are the model's.
template <class ExecutionSpace, class Tensor, class Model, class Values>
void model_values_of_coo(ExecutionSpace const& exec, Tensor const& X, Model const& model,
                         Values const& values) {
  expects(values.extent(0) == X.nnz(), "model_values: there is room for ", values.extent(0),
          " values at ", X.nnz(), " coordinates");
  if (X.nnz() == 0) return;
  if constexpr (is_instance<Model, KruskalTensor>)
    run_model_values(exec, X, model.factors, double_weights(exec, model.weights), values);
  else
    run_model_values(exec, X, model.factors, numbers_on_host(exec, model.core), values);
  fence(exec, "sporades::model_values");
}

/// How many places these coordinates are of, as make_coo takes them.
template <class Coordinates>
std::size_t count_of(Coordinates const& coordinates) {
  if constexpr (is_instance<Coordinates, CooTensor>)
    return coordinates.nnz();
  else if constexpr (Kokkos::is_view<Coordinates>::value)
    return coordinates.extent(1);
  else
    return std::begin(coordinates) == std::end(coordinates) ? 0
                                                            : std::begin(coordinates)->extent(0);
}

/// The coordinates, checked, as a CooTensor of the model's dims.
template <class ExecutionSpace, class Coordinates, class Model>
auto coo_of_coordinates(ExecutionSpace const& exec, Coordinates const& coordinates,
                        Model const& model) {
  if constexpr (is_instance<Coordinates, CooTensor>) {
    auto X = coordinates;
    X.dims = model.dims();
    expects(X.nnz() == 0 || X.coordinates.extent(0) == X.dims.size(),
            "model_values: coordinates of ", X.coordinates.extent(0), " modes, the model has ",
            X.dims.size());
    check_coordinates(exec, X, "model_values");
    return X;
  } else {
    return make_coo(
        exec, model.dims(), coordinates,
        zeroed<VectorOf<Model>>(exec, "sporades::model_values::no_values", count_of(coordinates)));
  }
}

/// Whether model_values takes these types; a static_assert says what it does not take.
template <class ExecutionSpace, class Coordinates, class Model>
constexpr bool check_model_values() {
  constexpr bool is_model = is_instance<Model, KruskalTensor> || is_instance<Model, TuckerTensor>;
  static_assert(is_model, "model_values takes coordinates and a KruskalTensor or a TuckerTensor");
  if constexpr (!is_model) {
    return false;
  } else if constexpr (is_instance<Coordinates, CooTensor>) {
    return check_types<ExecutionSpace, Coordinates, decltype(Model::factors)>();
  } else {
    return check_types<ExecutionSpace, Model>() && check_coo<Coordinates, VectorOf<Model>>();
  }
}

}  // namespace detail

template <class ExecutionSpace, class Coordinates, class Model, class Output>
void model_values(ExecutionSpace const& exec, Coordinates const& coordinates, Model const& model,
                  Output const& values) {
  if constexpr (detail::check_model_values<ExecutionSpace, Coordinates, Model>()) {
    constexpr bool is_values = detail::is_vector<Output>();
    static_assert(is_values, "model_values: values must be a Kokkos::View of rank 1 without gaps");
    if constexpr (is_values) {
      using Value = typename Output::value_type;
      constexpr bool fits =
          std::is_floating_point_v<Value> &&
          std::is_same_v<typename Output::memory_space, typename Model::MemorySpace>;
      static_assert(fits,
                    "model_values: values must be float or double, in the model's memory "
                    "space");
      if constexpr (fits) {
        detail::Region const region("sporades::model_values");
        detail::check_model(model, "model_values");
        detail::model_values_of_coo(exec, detail::coo_of_coordinates(exec, coordinates, model),
                                    model, detail::as_vector(values));
      }
    }
  }
}

template <class ExecutionSpace, class Coordinates, class Model>
detail::VectorOf<Model> model_values(ExecutionSpace const& exec, Coordinates const& coordinates,
                                     Model const& model) {
  if constexpr (detail::check_model_values<ExecutionSpace, Coordinates, Model>()) {
    auto const values = detail::uninitialized<detail::VectorOf<Model>>(
        exec, "sporades::model_values::values", detail::count_of(coordinates));
    model_values(exec, coordinates, model, values);
    return values;
  }
  return {};
}

}  // namespace sporades

#include <sporades/eti/run_model_values.hpp>
