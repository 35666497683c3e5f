// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <limits>
#include <sporades/core/random.hpp>
#include <sporades/kernels/phi.hpp>
#include <support/benchmarks.hpp>
#include <support/native_products.hpp>
#include <support/tensors.hpp>

namespace sporades::perf {
namespace {

constexpr double epsilon = 1e-10;

/// Nonzeros and matrices on the device, made once for all benchmarks of one tensor and loop.
template <class Scalar>
struct Prepared {
  std::string key;
  std::vector<CooTensor<Scalar, std::uint32_t, MemorySpace>> lists;  // per mode
  Factors<Scalar, MemorySpace> owners;                               // of the memory of A, B and V
  Factors<Scalar, MemorySpace> A, B, V;                              // with their padding
  std::vector<bool> is_checked;                                      // per mode
};

template <NativeLoop loop, class Scalar>
Prepared<Scalar>& prepare(std::string const& name, int rank) {
  auto& prepared = kept<Prepared<Scalar>>();
  std::string const key =
      name + " " + std::to_string(static_cast<int>(loop)) + " " + std::to_string(rank);
  if (prepared.key == key) return prepared;
  ExecutionSpace const exec{};
  prepared = {};
  auto const X = copy_to(exec, tensor<Scalar>(name));
  for (int n = 0; n < X.order(); ++n) {
    prepared.lists.push_back(loop == NativeLoop::phi_pull
                                 ? sorted(exec, X, sporades::detail::mttkrp_mode_order(X.dims, n))
                                 : X);
    for (auto* const list : {&prepared.A, &prepared.B, &prepared.V}) {
      prepared.owners.push_back(
          sporades::detail::random_factor<Scalar>(exec, "A", X.dims[n], rank, 1, n));
      list->push_back(sporades::detail::with_padding(prepared.owners.back()));
    }
  }
  prepared.is_checked.assign(X.dims.size(), false);
  prepared.key = key;
  return prepared;
}

/// The library's product of the same nonzeros, or of the magnitudes of their values.
template <NativeLoop loop, class Scalar>
Matrix<Scalar, Kokkos::HostSpace> library_product(Prepared<Scalar> const& prepared, int n,
                                                  bool of_magnitudes) {
  ExecutionSpace const exec{};
  auto X = prepared.lists[n];
  if (of_magnitudes) {
    X.values = Vector<Scalar, MemorySpace>("values", X.nnz());
    auto const from = prepared.lists[n].values;
    auto const to = X.values;
    Kokkos::parallel_for(
        "sporades::perf::magnitudes", Kokkos::RangePolicy<ExecutionSpace>(exec, 0, X.nnz()),
        KOKKOS_LAMBDA(Position p) { to(p) = from(p) < 0 ? -from(p) : from(p); });
  }
  auto const W = Matrix<Scalar, MemorySpace>("W", X.dims[n], prepared.V[n].extent(1));
  if (is_phi<loop>)
    phi(exec, X, prepared.A, prepared.B[n], n, W, epsilon);
  else
    mttkrp(exec, X, prepared.A, n, W, MttkrpStrategy::atomic);
  return copy_matrix(Kokkos::DefaultHostExecutionSpace{}, W);
}

/// Throws Error unless the native product is the library's, except for the roundings of as many
/// additions as each row has nonzeros: to that, positive terms sum in any order. Matrices of
/// gigabytes are not compared.
template <NativeLoop loop, class Scalar>
void check(Prepared<Scalar> const& prepared, std::string const& name, int n) {
  if (prepared.V[n].size() > std::size_t{1} << 27) return;
  auto const native = copy_matrix(Kokkos::DefaultHostExecutionSpace{}, prepared.V[n]);
  auto const library = library_product<loop>(prepared, n, false);
  auto const magnitudes = library_product<loop>(prepared, n, true);
  auto const& X = tensor<Scalar>(name);
  std::vector<double> terms(X.dims[n], 2.0 * X.order() + prepared.V[n].extent(1));
  for (Position p = 0; p < X.nnz(); ++p) ++terms[X.coordinates(n, p)];
  // all rows of short modes, some of long ones
  std::size_t const step = 1 + native.extent(0) * native.extent(1) / 4000000;
  for (std::size_t i = 0; i < native.extent(0); i += step)
    for (std::size_t r = 0; r < native.extent(1); ++r) {
      double const bound = 2 * terms[i] * static_cast<double>(magnitudes(i, r)) *
                           static_cast<double>(std::numeric_limits<Scalar>::epsilon());
      double const apart = std::abs(static_cast<double>(native(i, r) - library(i, r)));
      expects(apart <= bound, "the native loop gives ", native(i, r), " for row ", i, ", column ",
              r, " of mode ", n, ", the library ", library(i, r));
    }
}

/// As those of the library's products on coordinates.
template <class Tensor>
Cost native_cost(Tensor const& X, int R, int n, bool phi) {
  double const nnz = static_cast<double>(X.nnz());
  double rows = static_cast<double>(X.dims[n]);
  for (int m = 0; m < X.order(); ++m)
    if (m != n || phi) rows += sporades::detail::used_rows(ExecutionSpace{}, X, m);
  return {(phi ? 2 * X.order() + 2 : X.order()) * R * nnz,
          static_cast<double>(X.storage_bytes()) +
              rows * R * static_cast<double>(sizeof(typename Tensor::Scalar))};
}

template <NativeLoop loop, class Scalar>
void run(benchmark::State& state, std::string const& name, int rank, int mode) {
  auto& prepared = prepare<loop, Scalar>(name, rank);
  Dims const& dims = prepared.lists[0].dims;
  int const N = static_cast<int>(dims.size());
  int const first = mode < 0 ? 0 : mode, last = mode < 0 ? N : mode + 1;
  std::vector<NativeProduct<Scalar>> products;
  for (int n = first; n < last; ++n) {
    products.push_back(
        native_product(prepared.lists[n], prepared.A, prepared.B[n], n, prepared.V[n], epsilon));
    if (prepared.is_checked[n]) continue;
    Kokkos::fence();
    native_run<loop>(products.back());
    Kokkos::fence();
    check<loop>(prepared, name, n);
    prepared.is_checked[n] = true;
  }
  measure(state, ExecutionSpace{}, [&] {
    for (auto const& product : products) native_run<loop>(product);
  });
  double bytes = 0, flops = 0;
  for (int n = first; n < last; ++n) {
    auto const cost = cost_of(
        key_of<Scalar>(is_phi<loop> ? "phi_native" : "mttkrp_native", name, "coordinates", rank, n),
        [&] { return native_cost(prepared.lists[n], rank, n, is_phi<loop>); });
    bytes += cost.bytes;
    flops += cost.flops;
  }
  count<Scalar>(state, bytes, flops);
}

template <NativeLoop loop, class Scalar>
void add_loop(Settings const& settings, std::string const& kernel, std::string const& strategy) {
  for (auto const& name : settings.tensors)
    for (int rank : settings.ranks)
      for (int mode = -1; mode < order_of<Scalar>(name); ++mode)
        add(kernel + "/" + short_name(name) + "/" + scalar_name<Scalar>() + "/" + strategy + "/R" +
                std::to_string(rank) + (mode < 0 ? "/all" : "/mode" + std::to_string(mode)),
            [=](benchmark::State& state) { run<loop, Scalar>(state, name, rank, mode); });
}

}  // namespace

void add_native(Settings const& settings) {
  for_scalars(settings, [&](auto zero) {
    using Scalar = decltype(zero);
    add_loop<NativeLoop::mttkrp_atomic, Scalar>(settings, "mttkrp_native", "atomic");
    add_loop<NativeLoop::phi_atomic, Scalar>(settings, "phi_native", "atomic");
    add_loop<NativeLoop::phi_pull, Scalar>(settings, "phi_native", "pull");
  });
}

}  // namespace sporades::perf
