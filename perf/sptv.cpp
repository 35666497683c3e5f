// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <sporades/core/random.hpp>
#include <sporades/kernels/sptv.hpp>
#include <support/benchmarks.hpp>
#include <support/tensors.hpp>

namespace sporades::perf {
namespace {

struct Way {
  std::string name;
  SptvOptions options;
};

std::vector<Way> ways() {
  return {{"hocoo", {SptvStrategy::hocoo}},
          {"hocsr", {SptvStrategy::hocsr}},
          {"cfb", {SptvStrategy::cfb}},
          {"hocfs_csr", {SptvStrategy::hocfs, HocfsSlices::csr}},
          {"hocfs_ell", {SptvStrategy::hocfs, HocfsSlices::ell}},
          {"hocfs", {SptvStrategy::hocfs}}};
}

/// Longer arrays of rows are not made for HOCSR.
constexpr double most_rows = 2e9;

template <class Scalar>
void run(benchmark::State& state, std::string const& name, Way const& way, int mode) {
  ExecutionSpace const exec{};
  auto const& X = tensor<Scalar>(name);
  double const rows = sporades::detail::dense_size(X.dims) /
                      static_cast<double>(std::max<std::uint64_t>(X.dims[mode], 1));
  expects(way.options.strategy != SptvStrategy::hocsr || rows <= most_rows, "hocsr: mode ", mode,
          " has ", rows, " fibers, empty ones included, more than ", most_rows);
  auto plan = make_sptv_plan(exec, copy_to(exec, X), mode, way.options);
  auto const Y = make_sptv_output(exec, plan);
  auto const column = sporades::detail::random_factor<Scalar>(exec, "v", X.dims[mode], 1, 1, mode);
  Vector<Scalar, MemorySpace> const v("sporades::perf::v", X.dims[mode]);
  Kokkos::deep_copy(exec, v, Kokkos::subview(column, Kokkos::ALL, 0));
  measure(state, exec, [&] { sptv(exec, plan, v, Y); });
  auto const cost = sptv_cost(plan);
  count<Scalar>(state, cost.bytes, cost.flops);
  if (auto const* const H =
          std::get_if<HocfsTensor<Scalar, std::uint32_t, MemorySpace>>(&plan.tensor))
    state.counters["entries"] =
        static_cast<double>(H->entries()) /
        static_cast<double>(std::max<Position>(plan.nnz(), 1));  // a nonzero
  state.SetLabel(std::to_string(static_cast<double>(plan.nnz()) /
                                static_cast<double>(std::max<Position>(plan.fibers, 1)))
                     .substr(0, 4) +
                 " a fiber");
}

template <class Scalar>
void add_for(Settings const& settings) {
  for (auto const& name : settings.tensors) {
    int const N = tensor<Scalar>(name).order();
    for (auto const& way : ways())
      for (int mode = 0; mode < N; ++mode)
        add("sptv/" + short_name(name) + "/" + scalar_name<Scalar>() + "/" + way.name + "/mode" +
                std::to_string(mode),
            [=](benchmark::State& state) { run<Scalar>(state, name, way, mode); });
  }
}

}  // namespace

void add_sptv(Settings const& settings) {
  for_scalars(settings, [&](auto zero) { add_for<decltype(zero)>(settings); });
}

}  // namespace sporades::perf
