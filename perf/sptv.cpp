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

/// hocfs_blocks:F: slices whose fill is at least F are ELL.
std::vector<Way> ways() {
  return {{"automatic", {SptvStrategy::automatic}},
          {"hocoo", {SptvStrategy::hocoo}},
          {"hocsr", {SptvStrategy::hocsr}},
          {"cfb", {SptvStrategy::cfb}},
          {"hocfs", {SptvStrategy::hocfs}},
          {"hocoo_warps", {SptvStrategy::hocoo_warps}},
          {"cfb_threads", {SptvStrategy::cfb_threads}},
          {"hocfs_blocks_csr", {SptvStrategy::hocfs_blocks, HocfsSlices::csr}},
          {"hocfs_blocks_ell", {SptvStrategy::hocfs_blocks, HocfsSlices::ell}},
          {"hocfs_blocks:0.25", {SptvStrategy::hocfs_blocks, HocfsSlices::ell, false, 0.25}},
          {"hocfs_blocks:0.5", {SptvStrategy::hocfs_blocks, HocfsSlices::ell, false, 0.5}},
          {"hocfs_blocks:0.75", {SptvStrategy::hocfs_blocks, HocfsSlices::ell, false, 0.75}},
          {"hocfs_blocks:0.9", {SptvStrategy::hocfs_blocks, HocfsSlices::ell, false, 0.9}},
          {"hocfs_blocks:1", {SptvStrategy::hocfs_blocks, HocfsSlices::ell, false, 1}}};
}

/// Longer arrays of rows are not made for HOCSR.
constexpr double most_rows = 2e9;

/// Of one tensor, format and mode.
template <class Scalar>
struct PreparedProduct {
  std::string key;
  SptvPlan<Scalar, std::uint32_t, MemorySpace> plan;
  Vector<Scalar, MemorySpace> v;
  CooTensor<Scalar, std::uint32_t, MemorySpace> Y;
};

template <class Scalar>
PreparedProduct<Scalar>& prepare_product(std::string const& name, Way const& way, int mode) {
  auto& prepared = kept<PreparedProduct<Scalar>>();
  std::string const key = name + " " + way.name + " " + std::to_string(mode);
  if (prepared.key == key) return prepared;
  prepared = {};
  auto const& X = tensor<Scalar>(name);
  auto const length = X.dims[mode];
  double const rows = sporades::detail::dense_size(X.dims) / static_cast<double>(length);
  expects(way.options.strategy != SptvStrategy::hocsr || rows <= most_rows, "hocsr: mode ", mode,
          " has ", rows, " fibers, empty ones included, more than ", most_rows);
  ExecutionSpace const exec{};
  prepared.plan = make_sptv_plan(exec, copy_to(exec, X), mode, way.options);
  prepared.Y = make_sptv_output(exec, prepared.plan);
  prepared.v = decltype(prepared.v)("sporades::perf::v", length);
  auto const column = sporades::detail::random_factor<Scalar>(exec, "v", length, 1, 1, mode);
  Kokkos::deep_copy(exec, prepared.v, Kokkos::subview(column, Kokkos::ALL, 0));
  exec.fence();
  prepared.key = key;
  return prepared;
}

template <class Scalar>
void run(benchmark::State& state, std::string const& name, Way const& way, int mode) {
  ExecutionSpace const exec{};
  auto& [key, plan, v, Y] = prepare_product<Scalar>(name, way, mode);
  measure(state, exec, [&, &plan = plan, &v = v, &Y = Y] { sptv(exec, plan, v, Y); });
  auto const cost = cost_of(key_of<Scalar>("sptv", name, way.name, 1, mode),
                            [&, &plan = plan] { return sptv_cost(exec, plan); });
  count<Scalar>(state, cost.bytes, cost.flops);
  if (auto const* const H =
          std::get_if<HocfsTensor<Scalar, std::uint32_t, MemorySpace>>(&plan.tensor)) {
    auto const per = [](Position count, Position of) {
      return static_cast<double>(count) / static_cast<double>(std::max<Position>(of, 1));
    };
    state.counters["entries/nnz"] = per(H->entries(), plan.nnz());
    state.counters["ELL/slices"] = per(H->ell_slices, H->slices());
  }
  constexpr char const* formats[] = {"hocfs", "hocoo", "hocsr", "cfb"};  // as in the plan's variant
  state.SetLabel(std::string(formats[plan.tensor.index()]) + ", " +
                 std::to_string(static_cast<double>(plan.nnz()) /
                                static_cast<double>(std::max<Position>(plan.fibers, 1)))
                     .substr(0, 4) +
                 " a fiber");
}

template <class Scalar>
void add_for(Settings const& settings) {
  for (auto const& name : settings.tensors) {
    int const N = order_of<Scalar>(name);
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
