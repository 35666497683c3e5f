// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/check_types.hpp>
#include <sporades/core/detail/memory.hpp>
#include <sporades/core/detail/region.hpp>
#include <sporades/kernels/detail/processes/build_ttm_chain.hpp>
#include <sporades/kernels/detail/ttm_chain/choice.hpp>
#include <sporades/kernels/detail/ttm_chain/column_order.hpp>
#include <sporades/kernels/detail/ttm_chain/csf.hpp>
#include <sporades/kernels/detail/ttm_chain/fused.hpp>
#include <sporades/kernels/detail/ttm_chain/semi_sparse.hpp>
#include <sporades/kernels/ttm_chain.hpp>

/// How the plans of kernels/ttm_chain.hpp are built: for each mode a strategy and an order of modes
/// are chosen (choice.hpp), and the strategy's builder makes what it needs. What several processes
/// need is in processes/build_ttm_chain.hpp.

namespace sporades {

template <class Scalar, class Index, class MemorySpace>
std::uint64_t TtmChainPlan<Scalar, Index, MemorySpace>::storage_bytes() const {
  std::uint64_t bytes = work.buffers.bytes() + work.semi_sparse_carry.bytes() +
                        (work.product.extent(0) + work.between.extent(0)) * sizeof(Scalar) +
                        work.values.bytes() + work.summed.bytes();
  formats.for_each([&](auto const& X) { bytes += X.storage_bytes(); });
  for (auto const& mode : places) bytes += mode.extent(0) * sizeof(std::int64_t);
  return bytes + (work.distributed ? work.distributed->bytes() : 0);
}

namespace detail {

inline void check_ranks(Dims const& dims, std::vector<int> const& ranks, char const* where) {
  expects(ranks.size() == dims.size(), where, ": ", ranks.size(), " ranks for a tensor of order ",
          dims.size());
  for (std::size_t n = 0; n < ranks.size(); ++n)
    expects(ranks[n] > 0, where, ": rank ", ranks[n], " of mode ", n, " is not positive");
  for (std::size_t n = 0; n < ranks.size(); ++n) {
    double columns = 1;
    for (std::size_t m = 0; m < ranks.size(); ++m)
      if (m != n) columns *= ranks[m];
    expects(columns < std::ldexp(1.0, 48), where, ": Y of mode ", n, " has ", columns,
            " columns, more than 2^48");
  }
}

/// A tree for mode n.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void build_csf(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X, int n,
               std::vector<int> const& modes, TtmChainPlan<Scalar, Index, MemorySpace>& plan) {
  auto const tree = make_csf(exec, X, modes);
  plan.rows[n] = tree.indices[0];
  plan.formats.set(n, plan.formats.share(tree));
  reserve_chain(exec, plan.choices[n], plan.nnz, plan.work.buffers);
}

/// Packed nonzeros for mode n, in out-of-core memory if is_out_of_core says so, where hosts sort
/// them by parts.
template <class ExecutionSpace, class Scalar, class Index, class GivenSpace, class MemorySpace>
void build_fused(ExecutionSpace const& exec, CooTensor<Scalar, Index, GivenSpace> const& X, int n,
                 std::vector<int> const& modes, [[maybe_unused]] bool is_out_of_core,
                 TtmChainPlan<Scalar, Index, MemorySpace>& plan) {
  auto const builder = builder_of<GivenSpace>(exec);
  PackedTensor<Scalar, Index, MemorySpace> packed;
  if constexpr (is_gpu<ExecutionSpace>) {
    auto const made = sorted_packed(builder, X, modes);
    if constexpr (std::is_same_v<GivenSpace, MemorySpace>)
      packed = is_out_of_core ? place_packed<MemorySpace>(exec, made, true) : made;
    else
      packed = place_packed<MemorySpace>(exec, made, true);
  } else {
    packed = is_out_of_core ? pack_by_parts(exec, X, modes, plan.work.buffers.carry.windows.options)
                            : sorted_packed(builder, X, modes);
  }
  plan.rows[n] = packed.rows;
  plan.formats.set(n, plan.formats.share(packed));
  reserve_chain(exec, plan.choices[n], plan.nnz, plan.work.buffers);
}

/// The chain of products for mode n; their results have no memory yet.
template <class ExecutionSpace, class Scalar, class Index, class GivenSpace, class MemorySpace>
void build_semi_sparse(ExecutionSpace const& exec, CooTensor<Scalar, Index, GivenSpace> const& X,
                       int n, std::vector<int> const& modes, bool is_out_of_core,
                       TtmChainPlan<Scalar, Index, MemorySpace>& plan) {
  auto const chain =
      make_semi_sparse_chain<MemorySpace>(exec, X, modes, plan.ranks, is_out_of_core);
  Vector<Index, MemorySpace> const rows =
      Kokkos::subview(chain.results.back().coordinates, 0, Kokkos::ALL);
  plan.rows[n] = is_out_of_core ? copy_vector(exec, "sporades::ttm_chain::rows", rows) : rows;
  plan.formats.set(n, plan.formats.share(chain));
}

/// Memory for the products of all modes and for the intermediate products of semi-sparse chains.
/// Each such chain that is not streamed computes a first product, so that the buffers of spttm and
/// sspttm have their size.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void place_products(ExecutionSpace const& exec, TtmChainPlan<Scalar, Index, MemorySpace>& plan) {
  std::size_t entries = 0, between = 0;
  for (int n = 0; n < plan.order(); ++n) {
    entries =
        std::max<std::size_t>(entries, plan.rows[n].extent(0) * plan.choices[n].columns.count());
    auto const* const chain = plan.formats.template as<SemiSparseChain>(n);
    if (chain == nullptr) continue;
    entries = std::max(entries, numbers_of(*chain, 0));
    between = std::max(between, numbers_of(*chain, 1));
  }
  plan.work.product =
      zeroed<Vector<Scalar, MemorySpace>>(exec, "sporades::ttm_chain::product", entries);
  plan.work.between =
      zeroed<Vector<Scalar, MemorySpace>>(exec, "sporades::ttm_chain::between", between);
  Factors<Scalar, MemorySpace> zeros;
  for (int n = 0; n < plan.order(); ++n) {
    auto* const chain = plan.formats.template as<SemiSparseChain>(n);
    if (chain == nullptr) continue;
    place_results(*chain, plan.work.product.data(), plan.work.between.data());
    if (chain->out_of_core) continue;
    if (zeros.empty())
      for (int m = 0; m < plan.order(); ++m)
        zeros.push_back(make_matrix<Scalar>(exec, "sporades::ttm_chain::zeros", plan.dims[m],
                                            static_cast<std::size_t>(plan.ranks[m])));
    Matrix<Scalar, MemorySpace> const Y(plan.work.product.data(), plan.rows[n].extent(0),
                                        plan.choices[n].columns.count());
    ttm_chain_semi_sparse(exec, *chain, zeros, Y, plan.work.semi_sparse_carry);
  }
}

/// Whether the plan streams X: it must where X is not accessible.
template <class Tensor>
bool streams_chains(Tensor const& X, TtmChainOptions const& options, bool is_accessible) {
  bool const streams = !is_accessible || exceeds_memory(X, options.streaming);
  expects(!streams || options.strategy == TtmChainStrategy::automatic ||
              options.strategy == TtmChainStrategy::fused ||
              options.strategy == TtmChainStrategy::semi_sparse,
          "make_ttm_chain_plan: strategy ", to_string(options.strategy), " cannot stream, and ",
          is_accessible ? concatenate("copies of the nonzeros exceed the ",
                                      bytes_text(static_cast<double>(options.streaming.memory)),
                                      " that streaming.memory says")
                        : "X is in the host's memory",
          ": fused and semi_sparse can");
  return streams;
}

/// What one process holds for its chains: the sums of equal coordinates of X, in the form that each
/// mode's strategy takes. choose(sums, are_streamed) gives the plan its choices.
template <class ExecutionSpace, class Scalar, class Index, class GivenSpace, class MemorySpace,
          class Choose>
void build_chains(ExecutionSpace const& exec, CooTensor<Scalar, Index, GivenSpace> X,
                  TtmChainOptions const& options, Choose const& choose,
                  TtmChainPlan<Scalar, Index, MemorySpace>& plan) {
  constexpr bool is_accessible = std::is_same_v<GivenSpace, MemorySpace>;
  auto const builder = builder_of<GivenSpace>(exec);
  bool const is_out_of_core = streams_chains(X, options, is_accessible);
  std::uint64_t const part_bytes =
      out_of_core_part_bytes<ExecutionSpace>(X.storage_bytes(), options.streaming);
  expects(!options.updatable || !(is_out_of_core || part_bytes > 0),
          "make_ttm_chain_plan: values are updated where nothing is streamed, and the nonzeros "
          "would have to be");
  Vector<Scalar, GivenSpace> given_values;
  OutOfCoreTensor<CooTensor<Scalar, Index, GivenSpace>> out_of_core;
  if constexpr (is_accessible)
    if (options.updatable) {
      given_values = X.values;
      X.values = numbered_values<Scalar>(exec, X.nnz(), "make_ttm_chain_plan");
      out_of_core.tensor = sum_numbers(exec, hand_over(X), plan.work.summed);
    }
  if (!options.updatable) out_of_core = summed_by_parts(builder, hand_over(X), part_bytes);
  auto const& summed = out_of_core.tensor;
  plan.nnz = summed.nnz();
  choose(summed, is_out_of_core);
  for (int n = 0; n < plan.order(); ++n) {
    auto modes = plan.choices[n].columns.modes;
    modes.insert(modes.begin(), n);
    auto const strategy = plan.choices[n].strategy;
    if (strategy == TtmChainStrategy::fused) {
      build_fused(exec, summed, n, modes, is_out_of_core, plan);
    } else if (strategy == TtmChainStrategy::semi_sparse) {
      build_semi_sparse(exec, summed, n, modes, is_out_of_core, plan);
    } else if constexpr (is_accessible) {
      build_csf(exec, summed, n, modes, plan);
    }
    plan.places.push_back(
        to_view(exec, "sporades::ttm_chain::places", ascending_places(plan.choices[n].columns)));
  }
  if (!is_out_of_core) plan.work.out_of_core = out_of_core.memory;
  out_of_core = {};
  if constexpr (is_accessible)
    if (options.updatable) {
      plan.work.values.keep(given_values.extent(0));
      plan.formats.for_each([&](auto const& X) {
        if constexpr (is_instance<std::decay_t<decltype(X)>, SemiSparseChain>)
          plan.work.values.add(exec, X.X.values);
        else
          plan.work.values.add(exec, X.values);
      });
      auto const sums = plan.work.summed.of(exec, given_values);
      plan.work.values.put(exec, sums);
      fence(exec, "sporades::ttm_chain::keep_values");  // the sums are freed
    }
  place_products(exec, plan);
}

/// X: of several processes, no coordinate twice; place_distributed_products is to be called before
/// the first product.
template <class ExecutionSpace, class Scalar, class Index, class GivenSpace>
TtmChainPlan<Scalar, Index, WorkSpace<ExecutionSpace, GivenSpace>> build_ttm_chain_plan(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, GivenSpace> X, std::vector<int> const& ranks,
    TtmChainOptions const& options) {
  using MemorySpace = WorkSpace<ExecutionSpace, GivenSpace>;
  char const* const where = "make_ttm_chain_plan";
  Region const region("sporades::make_ttm_chain_plan");
  auto const builder = builder_of<GivenSpace>(exec);
  bool const is_shared = processes.size() > 1;
  expect_same_dims(processes, X, where);
  check_ranks(X.dims, ranks, where);
  check_streaming(where, options.streaming);
  if (is_shared) check_processes(options);
  check_coordinates(builder, X, where);
  double const limit = options.memory_limit > 0 ? options.memory_limit : memory_bytes(exec);
  TtmChainPlan<Scalar, Index, MemorySpace> plan;
  plan.dims = X.dims;
  plan.ranks = ranks;
  plan.formats = decltype(plan.formats)(plan.dims.size());
  plan.work.buffers.carry.windows.options = options.streaming;
  plan.work.semi_sparse_carry.windows.options = options.streaming;
  if (plan.order() < 3) {
    plan.work.buffers.one = make_matrix<Scalar>(exec, "sporades::ttm_chain::one", 1, 1);
    fill_view(exec, plan.work.buffers.one, Scalar(1));
  }
  auto const choose = [&](auto const& nonzeros, bool are_streamed) {
    TupleCounts const tuples(processes, builder, nonzeros, plan.nnz);
    bool const is_fused =
        are_streamed && (options.strategy != TtmChainStrategy::semi_sparse || plan.order() == 1);
    for (int n = 0; n < plan.order(); ++n) {
      plan.choices.push_back(
          is_fused    ? fused_chain(tuples, plan.dims, ranks, n, "fused streams", "streamed")
          : is_shared ? fused_chain(tuples, plan.dims, ranks, n, "fused alone is shared",
                                    "shared by processes")
                      : choose_chain<ExecutionSpace, Scalar>(tuples, plan.dims, ranks, n,
                                                             options.strategy, limit));
      if (!is_shared) check_product(tuples, plan.choices.back().columns, n, sizeof(Scalar), limit);
    }
  };
  if (!is_shared) {
    plan.rows.resize(plan.dims.size());
    build_chains(exec, hand_over(X), options, choose, plan);
  } else if constexpr (has_mpi && std::is_same_v<GivenSpace, MemorySpace>) {
    plan.places.resize(plan.dims.size());
    plan.nnz = exclusive_scan_of_all(processes, X.nnz()).back();
    choose(X, false);
    share_chains(processes, exec, hand_over(X), plan);
  }
  fence(exec, "sporades::ttm_chain::make_plan");
  return plan;
}

}  // namespace detail

template <class ExecutionSpace, class Tensor>
detail::PlanOf<TtmChainPlan, Tensor, ExecutionSpace> make_ttm_chain_plan(
    ExecutionSpace const& exec, Tensor X, std::vector<int> const& ranks,
    TtmChainOptions const& options) {
  static_assert(detail::is_instance<Tensor, CooTensor>, "make_ttm_chain_plan takes a CooTensor");
  if constexpr (detail::is_instance<Tensor, CooTensor>)
    if constexpr (detail::check_builder<ExecutionSpace, Tensor>())
      return detail::build_ttm_chain_plan({}, exec, hand_over(X), ranks, options);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             TtmChainPlan<Scalar, Index, MemorySpace> const& plan,
                                             int n) {
  expects(!plan.work.distributed, "to_coo: a plan of several processes has its nonzeros in parts");
  return plan.formats.visit(n, [&](auto const& X) {
    if constexpr (detail::is_instance<std::decay_t<decltype(X)>, detail::SemiSparseChain>)
      return to_coo(exec, X.X);
    else
      return to_coo(exec, X);
  });
}

}  // namespace sporades

#include <sporades/eti/build_ttm_chain_plan.hpp>
