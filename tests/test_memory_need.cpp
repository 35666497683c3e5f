// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/generate.hpp>
#include <sporades/kernels/memory_need.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/linear_order.hpp>
#include <support/memory.hpp>

// Bytes of plans before they are built.

using namespace sporades;

namespace {

/// Tests that a plan of that need takes no more than was counted, and hardly less.
/// given: bytes of X.
template <class MemorySpace>
void check_plan(MemoryNeed const& need, double given, double stored,
                test::Recording const& recording, double most = test::most_counted) {
  double const peak = given + test::peak_of<MemorySpace>(recording);
  INFO("counted " << need.peak << ", held " << peak << "; kept " << need.kept << " of " << stored);
  CHECK(need.peak >= peak);
  CHECK(need.peak <= most * peak + 20000);
  CHECK(need.kept >= stored);
  CHECK(need.kept <= most * stored + 20000);
}

/// How many times what a plan of MTTKRP took may be counted: on GPUs, FLYCOO's partitions and the
/// rows that they share are bounds.
template <class ExecutionSpace>
double most_counted(MttkrpStrategy strategy) {
  return sporades::detail::is_gpu<ExecutionSpace> && sporades::detail::facts_of(strategy).is_flycoo
             ? 1.4
             : test::most_counted;
}

/// check_plan of MTTKRP, made of a tensor that is handed over.
template <class ExecutionSpace, class Scalar>
void check_mttkrp_plan(ExecutionSpace const& exec, test::MemoryTrial const& trial,
                       MttkrpStrategy strategy, int slices) {
  using Memory = typename ExecutionSpace::memory_space;
  if (slices > 1 && strategy != MttkrpStrategy::automatic && strategy != MttkrpStrategy::sorted)
    return;
  auto X = generate<Scalar, std::uint32_t>(exec, trial.dims, trial.nnz, trial.skew);
  CAPTURE(to_string(trial.dims), trial.nnz, trial.rank, to_string(strategy), slices);
  MttkrpOptions options{strategy, trial.rank};
  options.slices.count = slices;
  auto const need = memory_need(exec, X, options);
  MttkrpPlan<Scalar, std::uint32_t, Memory> plan;
  auto const recording = test::record([&] {
    auto own = test::copy_of(exec, X);
    plan = make_mttkrp_plan(exec, hand_over(own), options);
  });
  // Buffer rows of a linear order and parts of rows depend on the nonzeros: bounds are counted.
  bool const is_linear =
      sporades::detail::decide_layout<ExecutionSpace>(sporades::detail::shape_of(X), options)
          .is_linear();
  check_plan<Memory>(need, 0, static_cast<double>(plan.storage_bytes()), recording,
                     is_linear    ? 2.5
                     : slices > 1 ? 2
                                  : most_counted<ExecutionSpace>(strategy));
}

TEMPLATE_LIST_TEST_CASE("memory_need counts what plans of MTTKRP take", "[kernels][memory]",
                        test::Cases) {
  auto const exec = test::new_instance<typename TestType::ExecutionSpace>();
  auto const strategy =
      GENERATE(MttkrpStrategy::automatic, MttkrpStrategy::sorted, MttkrpStrategy::flycoo,
               MttkrpStrategy::csf, MttkrpStrategy::permuted, MttkrpStrategy::alto_atomic,
               MttkrpStrategy::flycoo_blocks);
  auto const trial = GENERATE(from_range(test::memory_trials()));
  int const slices = GENERATE(1, 3);
  check_mttkrp_plan<typename TestType::ExecutionSpace, typename TestType::Scalar>(exec, trial,
                                                                                  strategy, slices);
}

TEMPLATE_LIST_TEST_CASE("memory_need counts plans of tensors in order, and of long indices",
                        "[kernels][memory]", test::Cases) {
  using Memory = typename TestType::MemorySpace;
  auto const exec = test::new_instance<typename TestType::ExecutionSpace>();
  auto const trial = GENERATE(from_range(test::memory_trials()));
  auto const first = GENERATE(0, 1);
  auto const given =
      generate<typename TestType::Scalar, std::uint64_t>(exec, trial.dims, trial.nnz, trial.skew);
  auto const X = sorted(exec, given,
                        first == 0 ? sporades::detail::modes_by_length(trial.dims)
                                   : sporades::detail::mttkrp_mode_order(trial.dims, 1));
  for (auto const strategy :
       {MttkrpStrategy::sorted, MttkrpStrategy::csf, MttkrpStrategy::flycoo}) {
    CAPTURE(to_string(trial.dims), first, to_string(strategy));
    MttkrpOptions const options{strategy, trial.rank};
    decltype(make_mttkrp_plan(exec, X, options)) plan;
    auto const recording = test::record([&] {
      auto own = test::copy_of(exec, X);
      plan = make_mttkrp_plan(exec, hand_over(own), options);
    });
    check_plan<Memory>(memory_need(exec, X, options), 0, static_cast<double>(plan.storage_bytes()),
                       recording, most_counted<typename TestType::ExecutionSpace>(strategy));
  }
}

TEMPLATE_LIST_TEST_CASE("memory_need counts plans whose indices do not fit a word",
                        "[kernels][memory]", test::Cases) {
  auto const exec = test::new_instance<typename TestType::ExecutionSpace>();
  auto const strategy =
      GENERATE(MttkrpStrategy::automatic, MttkrpStrategy::sorted, MttkrpStrategy::csf);
  int const slices = GENERATE(1, 3);
  check_mttkrp_plan<typename TestType::ExecutionSpace, typename TestType::Scalar>(
      exec, {Dims(6, 8000), 60000, 0.5, 8}, strategy, slices);
}

TEMPLATE_LIST_TEST_CASE("Plans of MTTKRP count what they keep beside a tensor that stays",
                        "[kernels][memory]", test::Cases) {
  using Memory = typename TestType::MemorySpace;
  auto const exec = test::new_instance<typename TestType::ExecutionSpace>();
  auto const X =
      generate<typename TestType::Scalar, std::uint32_t>(exec, {400, 300, 200}, 60000, 0);
  bool const updatable = GENERATE(false, true);
  for (std::size_t k = 0; k < names_of<MttkrpStrategy>().size(); ++k) {
    MttkrpOptions options{static_cast<MttkrpStrategy>(k), 8};
    options.updatable = updatable;
    CAPTURE(to_string(options.strategy), updatable);
    decltype(make_mttkrp_plan(exec, X, options)) plan;
    auto const recording = test::record([&] { plan = make_mttkrp_plan(exec, X, options); });
    auto const found = recording.bytes.find(Memory::name());
    double held = found == recording.bytes.end() ? 0 : found->second.held;
    if (sporades::detail::facts_of(options.strategy).keeps_tensor)  // X counts, too
      held += static_cast<double>(X.storage_bytes());
    auto const need = sporades::detail::mttkrp_plan_memory(exec, X, options, false);
    INFO("counted " << need.kept << ", held " << held);
    CHECK(need.kept >= held);
    if (!sporades::detail::is_linear(options.strategy))
      CHECK(need.kept <= test::most_counted * held + 20000);
  }
}

TEMPLATE_LIST_TEST_CASE("memory_need counts what other plans take", "[kernels][memory]",
                        test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  auto const exec = test::new_instance<typename TestType::ExecutionSpace>();
  auto const trial = GENERATE(from_range(test::memory_trials()));
  auto X = generate<Scalar, std::uint32_t>(exec, trial.dims, trial.nnz, trial.skew);
  CAPTURE(to_string(trial.dims), trial.nnz, trial.rank);
  double const given = static_cast<double>(X.storage_bytes());
  auto const check = [&](MemoryNeed const& need, double most, auto const& make) {
    double stored = 0;
    auto const recording = test::record([&] {
      auto own = test::copy_of(exec, X);
      stored = static_cast<double>(make(own));
    });
    check_plan<Memory>(need, 0, stored, recording, most);
  };
  // Such a plan may share Views with X: what it adds is counted.
  auto const check_beside = [&](MemoryNeed const& need, double most, auto const& make) {
    decltype(make()) plan;
    auto const recording = test::record([&] { plan = make(); });
    check_plan<Memory>(need, given, recording.bytes.at(Memory::name()).held, recording, most);
  };
  PhiOptions const phi{PhiStrategy::pull, trial.rank};
  check_beside(memory_need(exec, X, phi), test::most_counted,
               [&] { return make_phi_plan(exec, X, phi); });
  PhiOptions const stored{PhiStrategy::pull, trial.rank, Pi::stored};
  check_beside(memory_need(exec, X, stored), test::most_counted,
               [&] { return make_phi_plan(exec, X, stored); });
  for (auto strategy : {PhiStrategy::coo_alto_atomic, PhiStrategy::coo_alto_pull}) {
    if (test::is_refused(exec, X, strategy)) continue;
    CAPTURE(to_string(strategy));
    PhiOptions const in_parts{strategy, trial.rank};
    check_beside(memory_need(exec, X, in_parts),
                 strategy == PhiStrategy::coo_alto_pull
                     ? 2.5
                     : test::most_counted,  // the bound of buffer rows
                 [&] { return make_phi_plan(exec, X, in_parts); });
  }
  SpttmOptions spttm;
  spttm.rank = trial.rank;
  // Which strategy `automatic` will take is not known before fibers are counted.
  constexpr bool is_gpu = sporades::detail::is_gpu<typename TestType::ExecutionSpace>;
  check_beside(memory_need(exec, X, spttm), is_gpu ? 1.7 : 1.6,
               [&] { return make_spttm_plan(exec, X, spttm); });
  for (auto strategy :
       {SptvStrategy::hocoo, SptvStrategy::hocsr, SptvStrategy::cfb, SptvStrategy::hocfs,
        SptvStrategy::automatic, SptvStrategy::hocoo_warps, SptvStrategy::hocfs_blocks}) {
    double rows = 1;
    for (auto dim : trial.dims) rows *= static_cast<double>(dim);
    if (strategy == SptvStrategy::hocsr && rows / static_cast<double>(trial.dims[1]) > 1e7)
      continue;
    CAPTURE(to_string(strategy));
    SptvOptions const sptv{strategy, HocfsSlices::automatic};
    check_beside(memory_need(exec, X, 1, sptv), test::most_counted,
                 [&] { return make_sptv_plan(exec, X, 1, sptv); });
  }
  SptvOptions const full{SptvStrategy::hocfs_blocks, HocfsSlices::ell, false, 1};
  // ELL slices, where there are any, have values of their own beside X's.
  check_beside(memory_need(exec, X, 1, full), 3.2,
               [&] { return make_sptv_plan(exec, X, 1, full); });
  if (trial.dims.size() > 2 && trial.rank < 50) {
    auto plan = make_spttm_plan(exec, X, spttm);
    auto const Y = make_spttm_output(exec, plan, 0, 5);
    SspttmOptions sspttm;
    sspttm.rank = 4;
    for (int n : {1, 2}) {
      CAPTURE(n);
      auto const need = memory_need(exec, Y, n, sspttm);
      decltype(make_sspttm_plan(exec, Y, n, sspttm)) product;
      auto const recording = test::record([&] { product = make_sspttm_plan(exec, Y, n, sspttm); });
      check_plan<Memory>(need, static_cast<double>(Y.coordinates.size() * sizeof(std::uint32_t)),
                         recording.bytes.at(Memory::name()).held, recording, 2);
    }
  }
  int const R = trial.dims.size() < 4 ? 6 : trial.dims.size() < 6 ? 4 : 2;
  std::vector<int> const ranks(trial.dims.size(), R);
  for (auto strategy :
       {TtmChainStrategy::semi_sparse, TtmChainStrategy::csf, TtmChainStrategy::fused}) {
    if (trial.dims.size() < 3) continue;
    CAPTURE(to_string(strategy));
    TtmChainOptions const chain{strategy, 0, {}};
    check(memory_need(exec, X, ranks, chain), test::most_counted, [&](auto& own) {
      return make_ttm_chain_plan(exec, hand_over(own), ranks, chain).storage_bytes();
    });
  }
  if (trial.dims.size() < 4) return;
  MttkrpAllModesOptions const all{{MttkrpStrategy::automatic, trial.rank}};
  auto const need = memory_need(exec, X, all);
  check(need, 2.5, [&](auto& own) {  // of a linear order its bound is counted
    return make_mttkrp_all_modes_plan(exec, hand_over(own), all).storage_bytes();
  });
}

}  // namespace
