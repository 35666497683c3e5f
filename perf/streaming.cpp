// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/core/random.hpp>
#include <sporades/kernels/mttkrp.hpp>
#include <sporades/kernels/spttm.hpp>
#include <sporades/kernels/sptv_pipeline.hpp>
#include <sporades/kernels/ttm_chain.hpp>
#include <support/benchmarks.hpp>
#include <support/measure.hpp>
#include <support/tensors.hpp>

/// Tensors that do not stay where they are computed. The nonzeros of MTTKRP, SpTTM and TTM chains
/// may take a quarter of the memory that sorted copies of them need. Counters: copy_ms, the time of
/// copying as many bytes in one piece; T_s and T_p, milliseconds as the equations of Yang, Li & Li
/// have them from the times of single steps (T_s is what these steps took, one after another).
/// cfb:4 is a pipeline of SpTV with 4 streams, cfb one with as many as the library takes.

namespace sporades::perf {
namespace {

/// Seconds of a copy of so many bytes from out-of-core memory.
double copy_seconds(std::uint64_t bytes) {
  ExecutionSpace const exec{};
  using Bytes = Kokkos::View<char*, MemorySpace>;
  auto const memory = sporades::detail::allocate_out_of_core(exec, bytes);
  Bytes const out_of_core(static_cast<char*>(memory.get()), bytes),
      resident("sporades::perf::resident", bytes);
  auto const copy = [&] { sporades::detail::copy_to_window(exec, resident, out_of_core); };
  int const calls = calls_of_sample(copy);
  return seconds_of(calls, copy) / calls;
}

/// A quarter of the bytes that a sorted copy a mode takes.
template <class Scalar>
Streaming quarter(CooTensor<Scalar> const& X) {
  Streaming streaming;
  streaming.memory = static_cast<std::uint64_t>(
      sporades::detail::sorted_list_bytes(X.dims, X.nnz(), sizeof(std::uint32_t), sizeof(Scalar)) /
      4);
  return streaming;
}

/// Counters of a product that copies so many bytes.
void count_copies(benchmark::State& state, std::uint64_t bytes) {
  state.counters["copy_ms"] = 1e3 * copy_seconds(bytes);
  state.counters["bytes/s"] =
      benchmark::Counter(static_cast<double>(bytes), benchmark::Counter::kIsIterationInvariantRate);
}

template <class Plan>
struct StreamedProduct {
  std::string key;
  Plan plan;
  Factors<typename Plan::Scalar, MemorySpace> A;
};

template <class Scalar>
void run_mttkrp(benchmark::State& state, std::string const& name, int rank, int mode) {
  ExecutionSpace const exec{};
  auto& prepared = kept<StreamedProduct<MttkrpPlan<Scalar, std::uint32_t, MemorySpace>>>();
  std::string const key = name + " " + std::to_string(rank);
  if (prepared.key != key) {
    prepared = {};
    auto const& X = tensor<Scalar>(name);
    MttkrpOptions options{MttkrpStrategy::sorted, rank};
    options.streaming = quarter(X);
    prepared.plan = make_mttkrp_plan(exec, X, options);
    prepared.A = random_factors<Scalar>(exec, X.dims, rank, 1);
    prepared.key = key;
  }
  auto const& X = *prepared.plan.formats.template as<PackedTensor>(mode);
  auto const V = make_matrix<Scalar>(exec, "V", X.dims[mode], rank);
  measure(state, exec, [&] { mttkrp(exec, prepared.plan, prepared.A, mode, V); });
  count_copies(state, X.nnz() * sporades::detail::streamed_bytes(X));
}

/// Ranks of 8, or of the mode's length.
template <class Scalar>
void run_chain(benchmark::State& state, std::string const& name, int mode) {
  ExecutionSpace const exec{};
  auto& prepared = kept<StreamedProduct<TtmChainPlan<Scalar, std::uint32_t, MemorySpace>>>();
  if (prepared.key != name) {
    prepared = {};
    auto const& X = tensor<Scalar>(name);
    std::vector<int> ranks;
    for (auto dim : X.dims) ranks.push_back(static_cast<int>(std::min<std::uint64_t>(dim, 8)));
    TtmChainOptions options;
    options.streaming = quarter(X);
    prepared.plan = make_ttm_chain_plan(exec, X, ranks, options);
    for (int n = 0; n < X.order(); ++n)
      prepared.A.push_back(
          sporades::detail::random_factor<Scalar>(exec, "A", X.dims[n], ranks[n], 1, n));
    prepared.key = name;
  }
  measure(state, exec, [&] { ttm_chain(exec, prepared.plan, prepared.A, mode); });
  auto const& X = *prepared.plan.formats.template as<PackedTensor>(mode);
  count_copies(state, X.nnz() * sporades::detail::streamed_bytes(X));
}

/// The output, too, where it does not fit the limit: its bytes are copied back.
template <class Scalar>
void run_spttm(benchmark::State& state, std::string const& name, int rank, int mode) {
  ExecutionSpace const exec{};
  auto& prepared = kept<StreamedProduct<SpttmPlan<Scalar, std::uint32_t, MemorySpace>>>();
  std::string const key = name + " " + std::to_string(rank);
  if (prepared.key != key) {
    prepared = {};
    auto const& X = tensor<Scalar>(name);
    SpttmOptions options;
    options.rank = rank;
    options.streaming = quarter(X);
    prepared.plan = make_spttm_plan(exec, X, options);
    prepared.A = random_factors<Scalar>(exec, X.dims, rank, 1);
    prepared.key = key;
  }
  auto const Y = make_spttm_output(exec, prepared.plan, mode, rank);
  measure(state, exec, [&] { spttm(exec, prepared.plan, prepared.A[mode], mode, Y); });
  std::uint64_t const rows = Y.out_of_core_values ? Y.values.span() * sizeof(Scalar) : 0;
  count_copies(state, prepared.plan.tensors[mode].storage_bytes() + rows);
}

template <class Scalar>
struct PreparedPipeline {
  std::string key;
  SptvPipeline<Scalar, std::uint32_t, MemorySpace> pipeline;
  Vector<Scalar, MemorySpace> v;
  typename SptvPipeline<Scalar, std::uint32_t, MemorySpace>::Output Y;
};

template <class Scalar>
void run_sptv(benchmark::State& state, std::string const& name, SptvStrategy strategy, int streams,
              int mode) {
  ExecutionSpace const exec{};
  auto& prepared = kept<PreparedPipeline<Scalar>>();
  auto const key =
      name + " " + to_string(strategy) + " " + std::to_string(streams) + " " + std::to_string(mode);
  if (prepared.key != key) {
    prepared = {};
    auto const& X = tensor<Scalar>(name);
    SptvPipelineOptions options{{strategy}, {}};
    options.streaming.streams = streams;
    prepared.pipeline = make_sptv_pipeline(exec, X, mode, options);
    prepared.Y = make_sptv_output(exec, prepared.pipeline);
    prepared.v = decltype(prepared.v)("sporades::perf::v", X.dims[mode]);
    Kokkos::deep_copy(exec, prepared.v, Scalar(1));
    prepared.key = key;
  }
  auto& [own_key, pipeline, v, Y] = prepared;
  measure(state, exec, [&, &pipeline = pipeline, &v = v, &Y = Y] { sptv(exec, pipeline, v, Y); });
  time_collections(exec, pipeline, v, Y);  // warm
  auto const times = time_collections(exec, pipeline, v, Y);
  state.counters["T_s"] = 1e3 * times.synchronous();
  state.counters["T_p"] = 1e3 * times.pipelined();
  state.counters["collections"] = static_cast<double>(times.collections.size());
  state.counters["streams"] = streams;
  state.counters["bytes/s"] = benchmark::Counter(static_cast<double>(pipeline.storage_bytes()),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

template <class Scalar>
void add_for(Settings const& settings) {
  for (auto const& name : settings.tensors) {
    int const N = order_of<Scalar>(name);
    auto const prefix = "/" + short_name(name) + "/" + scalar_name<Scalar>() + "/";
    for (int mode = 0; mode < N; ++mode) {
      auto const suffix = "/mode" + std::to_string(mode);
      for (int rank : settings.ranks) {
        auto const ranked = prefix + "R" + std::to_string(rank) + suffix;
        add("streamed_mttkrp" + ranked,
            [=](benchmark::State& state) { run_mttkrp<Scalar>(state, name, rank, mode); });
        add("streamed_spttm" + ranked,
            [=](benchmark::State& state) { run_spttm<Scalar>(state, name, rank, mode); });
      }
      add("streamed_ttm_chain" + prefix + "R8" + suffix,
          [=](benchmark::State& state) { run_chain<Scalar>(state, name, mode); });
      for (auto strategy : {SptvStrategy::cfb, SptvStrategy::hocfs})
        for (int streams : {0, 1, 2, 4, 5, 8})  // 0: the library's 3
          add("streamed_sptv" + prefix + to_string(strategy) +
                  (streams > 0 ? ":" + std::to_string(streams) : "") + suffix,
              [=](benchmark::State& state) {
                run_sptv<Scalar>(state, name, strategy, streams > 0 ? streams : Streaming{}.streams,
                                 mode);
              });
    }
  }
}

}  // namespace

void add_streaming(Settings const& settings) {
  for_scalars(settings, [&](auto zero) { add_for<decltype(zero)>(settings); });
}

}  // namespace sporades::perf
