// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <map>
#include <memory>
#include <sporades/core/random.hpp>
#include <sporades/kernels/sspttm.hpp>
#include <support/benchmarks.hpp>
#include <support/fiber_lengths.hpp>
#include <support/tensors.hpp>
#include <support/unfolded_matrix.hpp>

namespace sporades::perf {
namespace {

using sporades::detail::ThreadBlock;

/// The block of threads with which a strategy of Ma et al. was the fastest of those tried.
struct TunedBlock {
  ThreadBlock block;
  double untuned = 0, seconds = 0;  // with the strategy's own block, and with this one
};

/// Of one tensor: the fibers of all modes, matrices and products of one rank.
template <class Scalar>
struct Prepared {
  std::string key;
  SpttmPlan<Scalar, std::uint32_t, MemorySpace> plan;
  Factors<Scalar, MemorySpace> U;
  std::vector<ScooTensor<Scalar, std::uint32_t, MemorySpace>> Y;
  std::vector<FiberLengths> lengths;                          // per mode
  std::map<std::pair<SpttmStrategy, int>, TunedBlock> tuned;  // by strategy and mode
  std::map<int, std::shared_ptr<UnfoldedProduct<Scalar, MemorySpace>>> unfolded;  // by mode
};

template <class Scalar>
Prepared<Scalar>& prepare(std::string const& name, int rank) {
  auto& prepared = kept<Prepared<Scalar>>();
  std::string const key = name + " " + std::to_string(rank);
  if (prepared.key == key) return prepared;
  prepared = {};
  ExecutionSpace const exec{};
  prepared.plan =
      make_spttm_plan(exec, copy_to(exec, tensor<Scalar>(name)), {SpttmStrategy::automatic, rank});
  for (int n = 0; n < prepared.plan.order(); ++n) {
    prepared.U.push_back(
        sporades::detail::random_factor<Scalar>(exec, "U", prepared.plan.dims[n], rank, 1, n));
    prepared.Y.push_back(make_spttm_output(exec, prepared.plan, n, static_cast<std::size_t>(rank)));
    prepared.lengths.push_back(fiber_lengths(exec, prepared.plan.tensors[n].fibers));
  }
  prepared.key = key;
  return prepared;
}

/// Threads of a block matter to `scratch` everywhere, and on GPUs to all; elsewhere only threads a
/// row do.
inline bool takes_threads(SpttmStrategy strategy) {
  return strategy == SpttmStrategy::scratch || sporades::detail::is_gpu<ExecutionSpace>;
}

/// Tries, the first time that it is asked for a strategy and mode, numbers of threads a row and
/// then, with the best of these, of a block. Another one than the strategy's own is taken where it
/// takes 0.97 of the time or less.
template <class Scalar>
TunedBlock const& tuned(Prepared<Scalar>& prepared, SpttmStrategy strategy, int n) {
  auto const [found, is_new] = prepared.tuned.try_emplace({strategy, n});
  TunedBlock& best = found->second;
  if (!is_new) return best;
  ExecutionSpace const exec{};
  auto const seconds = [&](ThreadBlock const& block) {
    auto const product = [&] {
      sporades::detail::run_spttm(exec, prepared.plan.tensors[n], prepared.U[n], prepared.Y[n],
                                  strategy, prepared.plan.carry, block);
    };
    double const first = seconds_of(1, product);
    if (best.seconds > 0 && first > 2 * best.seconds) return first;  // hopeless
    double const once = seconds_of(1, product);
    int const calls = static_cast<int>(std::clamp(1e-3 / std::max(once, 1e-7), 1.0, 100.0));
    return calls == 1 ? once : seconds_of(calls, product) / calls;
  };
  auto const attempt = [&](ThreadBlock const& block) {
    try {
      double const took = seconds(block);
      if (took < 0.97 * best.untuned && took < best.seconds) {
        best.block = block;
        best.seconds = took;
      }
    } catch (Error const&) {  // more threads than a block may have for this kernel
    }
  };
  best.untuned = best.seconds = seconds(best.block);
  auto const rank = static_cast<int>(prepared.U[n].extent(1));
  for (int row : {1, 4, 8, 16, 32})
    if (row != ThreadBlock{}.row && row < 2 * rank) attempt({best.block.threads, row});
  if (takes_threads(strategy)) {
    int const row = best.block.row;
    for (int threads : {64, 128, 512, 1024})
      if (threads >= row) attempt({threads, row});
  }
  return best;
}

/// The product on mode n: of a strategy that takes one by the tuned block, of others by the plan.
template <class Scalar>
void multiply(Prepared<Scalar>& prepared, SpttmStrategy strategy, int n) {
  ExecutionSpace const exec{};
  auto& [key, plan, U, Y, lengths, blocks, unfolded] = prepared;
  if (sporades::detail::takes_block(strategy))
    sporades::detail::run_spttm(exec, plan.tensors[n], U[n], Y[n], strategy, plan.carry,
                                tuned(prepared, strategy, n).block);
  else
    spttm(exec, plan, U[n], n, Y[n]);
}

/// One mode, or all where it is negative. The label has what `automatic` chose, or the tuned blocks
/// (threads:threads of a row), and the fibers' mean lengths. Counters: the share of the product in
/// the bytes; how many times as long the strategy's own block took when it was tuned (`tuning`). By
/// the vendor's library the bytes are those of `spmm_rows`; the unfolding is not timed.
template <class Scalar>
void run(benchmark::State& state, std::string const& name, std::string const& strategy_name,
         int rank, int mode) {
  auto& prepared = prepare<Scalar>(name, rank);
  auto& plan = prepared.plan;
  auto const chosen = plan.choices;
  bool const by_vendor = strategy_name == vendor::strategy;
  auto const strategy =
      by_vendor ? SpttmStrategy::spmm_rows : from_name<SpttmStrategy>(strategy_name);
  int const first = mode < 0 ? 0 : mode, last = mode < 0 ? plan.order() : mode + 1;
  for (int n = first; by_vendor && n < last; ++n) {
    auto& product = prepared.unfolded[n];
    if (!product)
      product = std::make_shared<UnfoldedProduct<Scalar, MemorySpace>>(
          ExecutionSpace{}, plan.tensors[n], prepared.U[n], prepared.Y[n]);
  }
  if (strategy != SpttmStrategy::automatic)
    for (auto& choice : plan.choices) choice.strategy = strategy;
  measure(state, ExecutionSpace{}, [&] {
    for (int n = first; n < last; ++n)
      if (by_vendor)
        prepared.unfolded[n]->spmm.multiply();
      else
        multiply(prepared, strategy, n);
  });
  double bytes = 0, flops = 0, products = 0, untuned = 0, best = 0;
  std::string lengths, choices;
  for (int n = first; n < last; ++n) {
    auto const& X = plan.tensors[n];
    if (strategy == SpttmStrategy::automatic)
      choices += std::string(to_string(chosen[n].strategy)) + " ";
    if (sporades::detail::takes_block(strategy)) {
      auto const& [block, own_seconds, seconds] = tuned(prepared, strategy, n);
      choices += std::to_string(block.threads) + ":" + std::to_string(block.row) + " ";
      untuned += own_seconds;
      best += seconds;
    }
    auto const cost = cost_of(key_of<Scalar>("spttm", name, strategy_name, rank, n),
                              [&] { return spttm_cost(ExecutionSpace{}, plan, rank, n); });
    bytes += cost.bytes;
    flops += cost.flops;
    products += static_cast<double>(X.fibers.count()) * rank * sizeof(Scalar);
    lengths += (n > first ? " " : "") + std::to_string(prepared.lengths[n].mean).substr(0, 4);
  }
  plan.choices = chosen;
  count<Scalar>(state, bytes, flops);
  state.counters["output"] = products / bytes;  // share of the bytes
  if (best > 0) state.counters["tuning"] = untuned / best;
  if (mode >= 0) {
    state.counters["fiber_length"] = prepared.lengths[mode].mean;
    state.counters["fiber_deviation"] = prepared.lengths[mode].deviation;
  }
  state.SetLabel(choices + lengths + " a fiber");
}

/// Without the layout: the nonzeros are sorted and unfolded to a matrix in compressed sparse rows,
/// and that is multiplied by Kokkos Kernels or by the vendor's library, whose descriptors, buffer
/// and preprocessing do not count. The sort and the product count; counters have their milliseconds
/// apart.
template <class Scalar>
void run_unfold(benchmark::State& state, std::string const& name, bool by_vendor, int rank,
                int mode) {
  ExecutionSpace const exec{};
  auto X = copy_to(exec, tensor<Scalar>(name));
  X.sorted_modes.clear();  // as a file that says nothing of its order
  auto const modes = sporades::detail::spttm_mode_order(X.dims, mode);
  auto const U = sporades::detail::random_factor<Scalar>(exec, "U", X.dims[mode], rank, 1, mode);
  HierarchicalTensor<Scalar, std::uint32_t, MemorySpace> fibers;
  UnfoldedMatrix<Scalar, MemorySpace> matrix;
  auto const unfold = [&] {
    fibers = make_hierarchical(exec, X, modes);
    if (by_vendor) matrix = make_unfolded_matrix(exec, fibers);
  };
  unfold();
  auto const Y = make_spttm_output(exec, fibers, static_cast<std::size_t>(rank));
  std::unique_ptr<UnfoldedProduct<Scalar, MemorySpace>> vendors;
  auto const product = [&] {
    if (by_vendor)
      vendors->spmm.multiply();
    else
      spttm(exec, fibers, U, Y, SpttmStrategy::spmm_library);
  };
  double unfolding = 0, multiplying = 0;
  for (auto _ : state) {
    if (by_vendor)
      vendors = std::make_unique<UnfoldedProduct<Scalar, MemorySpace>>(exec, fibers, U, Y);
    int const calls = calls_of_sample(product);
    multiplying = seconds_of(calls, product) / calls;
    vendors.reset();
    fibers = {};
    matrix = {};
    unfolding = seconds_of(1, unfold);
    state.SetIterationTime(unfolding + multiplying);
  }
  state.counters["unfold_ms"] = 1e3 * unfolding;
  state.counters["product_ms"] = 1e3 * multiplying;
}

/// The product on the mode of fewest fibers, Y, and its product on the mode that it is sorted by
/// last: as a semi-sparse tensor, and as a sparse one of all its entries.
template <class Scalar>
struct Chained {
  std::string key;
  ScooTensor<Scalar, std::uint32_t, MemorySpace> Y, Z;
  SspttmPlan<Scalar, std::uint32_t, MemorySpace> plan;
  HierarchicalTensor<Scalar, std::uint32_t, MemorySpace> sparse;
  ScooTensor<Scalar, std::uint32_t, MemorySpace> Z_of_sparse;
  sporades::detail::CarryBuffers<Scalar, Position, MemorySpace> carry;
  Matrix<Scalar, MemorySpace> U;
};

/// More are not made nonzeros of: a few tens of bytes each while they are sorted.
constexpr Position most_entries = Position{1} << 29;

template <class Scalar>
Chained<Scalar>& chain(std::string const& name, int rank) {
  auto& chained = kept<Chained<Scalar>>();
  std::string const key = name + " " + std::to_string(rank);
  if (chained.key == key) return chained;
  chained = {};
  ExecutionSpace const exec{};
  auto const& prepared = prepare<Scalar>(name, rank);
  auto const fewest =
      std::min_element(prepared.Y.begin(), prepared.Y.end(),
                       [](auto const& a, auto const& b) { return a.fibers() < b.fibers(); });
  auto const R = static_cast<std::size_t>(rank);
  int const m = static_cast<int>(fewest - prepared.Y.begin());
  chained.Y = make_spttm_output(exec, prepared.plan, m, R);
  spttm(exec, prepared.plan.tensors[m], prepared.U[m], chained.Y);
  int const n = chained.Y.sorted_modes.back();
  chained.U = prepared.U[n];
  chained.plan = make_sspttm_plan(exec, chained.Y, n, SspttmOptions{rank});
  chained.Z = make_sspttm_output(exec, chained.plan, R);
  if (chained.Y.fibers() * chained.Y.block_size() <= most_entries) {
    auto modes = chained.Y.sorted_modes;
    modes.back() = m;
    modes.push_back(n);
    chained.sparse = make_hierarchical(exec, to_coo(exec, chained.Y, BlockZeros::keep), modes);
    chained.Z_of_sparse = make_spttm_output(exec, chained.sparse, R);
  }
  chained.key = key;
  return chained;
}

template <class Scalar>
void run_semi_sparse(benchmark::State& state, std::string const& name, int rank,
                     std::string const& way) {
  ExecutionSpace const exec{};
  auto& chained = chain<Scalar>(name, rank);
  bool const as_sparse = way == "as_sparse";
  chained.plan.strategy = way == "chunks" ? SspttmStrategy::chunks : SspttmStrategy::automatic;
  if (as_sparse && chained.sparse.order() == 0)
    return state.SkipWithError("too many entries for a sparse tensor");
  measure(state, exec, [&] {
    if (as_sparse)
      sporades::detail::run_spttm(exec, chained.sparse, chained.U, chained.Z_of_sparse,
                                  SpttmStrategy::automatic, chained.carry);
    else
      sspttm(exec, chained.plan, chained.Y, chained.U, chained.Z);
  });
  auto const cost = cost_of(key_of<Scalar>("sspttm", name, way, rank, -1), [&] {
    return as_sparse ? spttm_cost(exec, chained.sparse, rank)
                     : sspttm_cost(exec, chained.plan, rank);
  });
  count<Scalar>(state, cost.bytes, cost.flops);
}

template <class Scalar>
void add_for(Settings const& settings) {
  if (!settings.has_scalar(scalar_name<Scalar>())) return;
  for (auto const& name : settings.tensors)
    for (int rank : settings.ranks) {
      std::string const what = short_name(name) + "/" + scalar_name<Scalar>() + "/";
      std::string const of_rank = "/R" + std::to_string(rank);
      int const N = order_of<Scalar>(name);
      auto strategies = names_of<SpttmStrategy>();
      if (*vendor::strategy) strategies.push_back(vendor::strategy);
      for (auto const& strategy : strategies)
        for (int mode = -1; mode < N; ++mode)
          add("spttm/" + what + strategy + of_rank +
                  (mode < 0 ? "/all" : "/mode" + std::to_string(mode)),
              [=](benchmark::State& state) { run<Scalar>(state, name, strategy, rank, mode); });
      for (bool const by_vendor : {false, true})
        for (int mode = 0; mode < N && (!by_vendor || *vendor::strategy); ++mode)
          add("spttm_unfold/" + what +
                  (by_vendor ? vendor::strategy + of_rank : of_rank.substr(1)) + "/mode" +
                  std::to_string(mode),
              [=](benchmark::State& state) {
                run_unfold<Scalar>(state, name, by_vendor, rank, mode);
              });
      if (N < 2) continue;
      for (std::string const way : {"semi_sparse", "as_sparse", "chunks"})
        add("sspttm/" + what + way + of_rank,
            [=](benchmark::State& state) { run_semi_sparse<Scalar>(state, name, rank, way); });
    }
}

}  // namespace

void add_spttm(Settings const& settings) {
  add_for<double>(settings);
  add_for<float>(settings);
}

}  // namespace sporades::perf
