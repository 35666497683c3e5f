// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/memory.hpp>
#include <sporades/kernels/detail/ttm_chain/csf.hpp>
#include <sporades/kernels/detail/ttm_chain/expand.hpp>
#include <sporades/kernels/detail/ttm_chain/fused.hpp>
#include <sporades/kernels/detail/ttm_chain/mode_order.hpp>
#include <sporades/kernels/detail/ttm_chain/semi_sparse.hpp>
#include <sporades/kernels/ttm_chain.hpp>

namespace sporades {

/// What a plan of TTM chains is made for.
struct TtmChainOptions {
  TtmChainStrategy strategy = TtmChainStrategy::automatic;
  double memory_limit = 0;  // bytes of a product, and of its partial products; 0: the machine's
};

/// What is done for one mode, and why.
struct TtmChainChoice {
  TtmChainStrategy strategy = TtmChainStrategy::automatic;  // never `automatic` in a plan
  TtmChainColumns columns;
  double flops = 0;  // of a product
  std::string reason;
};

/// "csf, modes 2 0 3 1"
inline std::string describe(TtmChainChoice const& choice) {
  std::string text = to_string(choice.strategy);
  for (std::size_t k = 0; k < choice.columns.modes.size(); ++k)
    text += (k ? " " : ", modes ") + std::to_string(choice.columns.modes[k]);
  return text;
}

/// The formats that the chains of all modes of one tensor want, built once: a sorted copy a mode (a
/// tree, or packed), the buffers of its kernels, and room for the largest product, so that a
/// product allocates nothing.
template <class ScalarType, class IndexType, class MemorySpaceType>
struct TtmChainPlan {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  Dims dims;
  std::vector<int> ranks;
  Position nnz = 0;                                              // duplicates added up
  std::vector<TtmChainChoice> choices;                           // per mode
  std::vector<CsfTensor<Scalar, Index, MemorySpace>> csf;        // per mode; empty where not used
  std::vector<PackedTensor<Scalar, Index, MemorySpace>> packed;  // per mode; empty where not used
  std::vector<detail::SemiSparseChain<Scalar, Index, MemorySpace>>
      semi_sparse;                               // per mode; the same
  std::vector<Vector<Index, MemorySpace>> rows;  // per mode: non-empty slices
  std::vector<Vector<std::int64_t, MemorySpace>>
      places;  // per mode: of columns, in ascending order
  Vector<Scalar, MemorySpace> product, between;
  detail::TtmChainBuffers<Scalar, Index, MemorySpace> buffers;
  detail::CarryBuffers<Scalar, Position, MemorySpace> semi_sparse_carry;

  int order() const { return static_cast<int>(dims.size()); }

  std::uint64_t storage_bytes() const {
    std::uint64_t bytes = buffers.bytes() + semi_sparse_carry.bytes() +
                          (product.extent(0) + between.extent(0)) * sizeof(Scalar);
    for (int n = 0; n < order(); ++n) {
      if (csf[n].order() > 0) bytes += csf[n].storage_bytes();
      if (packed[n].order() > 0) bytes += packed[n].storage_bytes();
      if (semi_sparse[n].X.order() > 0) bytes += semi_sparse[n].storage_bytes();
      bytes += places[n].extent(0) * sizeof(std::int64_t);
    }
    return bytes;
  }
};

namespace detail {

inline void check_ranks(Dims const& dims, std::vector<int> const& ranks, char const* where) {
  expects(ranks.size() == dims.size(), where, ": ", ranks.size(), " ranks for a tensor of order ",
          dims.size());
  for (std::size_t n = 0; n < ranks.size(); ++n)
    expects(ranks[n] > 0, where, ": rank ", ranks[n], " of mode ", n, " is not positive");
}

inline TtmChainColumns columns_of(std::vector<int> const& tree_modes,
                                  std::vector<int> const& ranks) {
  TtmChainColumns columns;
  for (std::size_t k = 1; k < tree_modes.size(); ++k) {
    columns.modes.push_back(tree_modes[k]);
    columns.ranks.push_back(ranks[tree_modes[k]]);
  }
  return columns;
}

/// Picks a strategy and the order of modes for mode n. limit: bytes of the partial products.
template <class ExecutionSpace, class Scalar>
TtmChainChoice choose_chain(TupleCounts const& tuples, Dims const& dims,
                            std::vector<int> const& ranks, int n, TtmChainStrategy strategy,
                            double limit) {
  auto const tree = cheapest_tree(tuples, ranks, n);
  TtmChainChoice choice{TtmChainStrategy::csf, columns_of(tree.modes, ranks), tree.flops,
                        "asked for"};
  if (dims.size() == 1) {
    choice.reason = "a vector is its own product";
    return choice;
  }
  bool const is_automatic = strategy == TtmChainStrategy::automatic;
  if (strategy == TtmChainStrategy::semi_sparse || (is_automatic && is_gpu<ExecutionSpace>)) {
    double const bytes = numbers_between(tuples, ranks, tree.modes) * sizeof(Scalar);
    auto const sizes =
        concatenate("needs about ", bytes_text(bytes),
                    " for its partial products, the memory limit is ", bytes_text(limit));
    expects(is_automatic || bytes <= limit, "ttm_chain: strategy semi_sparse on mode ", n, " ",
            sizes);
    if (is_automatic) choice.reason = "semi_sparse " + sizes;
    if (bytes <= limit) {
      choice.strategy = TtmChainStrategy::semi_sparse;
      choice.columns.pads_tiles = false;
      return choice;
    }
  }
  bool const fits = fits_packed(dims, n);
  expects(strategy != TtmChainStrategy::fused || dims.size() < 3 || fits,
          "ttm_chain: strategy fused: the indices of all modes but ", n, " take ",
          packed_bits(dims, n) - 1, " bits, a word has 63");
  if (strategy == TtmChainStrategy::csf) return choice;
  if (dims.size() < 3 || !fits) {
    choice.reason = fits ? "a matrix has no partial products" : "indices do not fit 63 bits";
    return choice;
  }
  auto const fused = fused_cost(tuples, dims, ranks, n);
  if (is_automatic && !is_gpu<ExecutionSpace>) {
    char text[96];
    std::snprintf(text, sizeof text, "csf takes as long as about %.2g operations, fused as %.2g",
                  tree.weight, fused.weight);
    choice.reason = text;
  }
  if (is_automatic && tree.weight <= fused.weight) return choice;
  choice.strategy = TtmChainStrategy::fused;
  choice.columns = columns_of(fused.modes, ranks);
  choice.flops = fused.flops;
  return choice;
}

}  // namespace detail

/// Builds what the chains of all modes want. X in any order; values of equal coordinates are added.
/// ranks: R_0 to R_{N-1}. The memory of an X that is handed over is given back when all modes have
/// their copies. Fences exec. Throws Error if a rank is not positive, if an index is past its mode,
/// if a strategy asked for cannot take the tensor (orders 1 and 2 take `csf` for any, as it is the
/// same there), or if a product does not fit the memory limit
/// (with both numbers).
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TtmChainPlan<Scalar, Index, MemorySpace> make_ttm_chain_plan(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> X,
    std::vector<int> const& ranks, TtmChainOptions const& options = {}) {
  detail::check_ranks(X.dims, ranks, "make_ttm_chain_plan");
  check_coordinates(exec, X, "make_ttm_chain_plan");
  int const N = X.order();
  double const limit = options.memory_limit > 0 ? options.memory_limit : detail::memory_bytes(exec);
  auto summed = sum_duplicates(exec, hand_over(X)).tensor;
  detail::TupleCounts const tuples(exec, summed);
  TtmChainPlan<Scalar, Index, MemorySpace> plan;
  plan.dims = summed.dims;
  plan.ranks = ranks;
  plan.nnz = summed.nnz();
  plan.csf.resize(N);
  plan.packed.resize(N);
  plan.semi_sparse.resize(N);
  std::size_t entries = 0, between = 0;
  for (int n = 0; n < N; ++n) {
    auto const choice = detail::choose_chain<ExecutionSpace, Scalar>(tuples, plan.dims, ranks, n,
                                                                     options.strategy, limit);
    auto modes = choice.columns.modes;
    modes.insert(modes.begin(), n);
    double const rows = std::ceil(tuples(std::uint32_t{1} << n));
    double const bytes = rows * static_cast<double>(choice.columns.count() * sizeof(Scalar));
    expects(bytes <= limit, "ttm_chain: Y of mode ", n, " has about ", rows, " rows x ",
            choice.columns.count(), " columns and needs ", detail::bytes_text(bytes),
            ", the memory limit is ", detail::bytes_text(limit));
    if (choice.strategy == TtmChainStrategy::fused) {
      plan.packed[n] = make_packed(exec, sorted(exec, summed, modes), n);
      plan.rows.push_back(plan.packed[n].rows);
    } else if (choice.strategy == TtmChainStrategy::semi_sparse) {
      auto& chain = plan.semi_sparse[n];
      chain = detail::make_semi_sparse_chain(exec, summed, modes, ranks);
      plan.rows.push_back(Kokkos::subview(chain.results.back().coordinates, 0, Kokkos::ALL));
      entries = std::max(entries, detail::numbers_of(chain, 0));
      between = std::max(between, detail::numbers_of(chain, 1));
    } else {
      plan.csf[n] = make_csf(exec, summed, modes);
      plan.rows.push_back(plan.csf[n].indices[0]);
    }
    if (choice.strategy != TtmChainStrategy::semi_sparse)
      detail::reserve_chain(exec, plan.nnz, choice.columns, plan.buffers);
    entries = std::max<std::size_t>(entries, plan.rows[n].extent(0) * choice.columns.count());
    plan.places.push_back(detail::to_view(exec, "sporades::ttm_chain::places",
                                          detail::ascending_places(choice.columns)));
    plan.choices.push_back(choice);
  }
  summed = {};
  plan.product =
      detail::zeroed<Vector<Scalar, MemorySpace>>(exec, "sporades::ttm_chain::product", entries);
  plan.between =
      detail::zeroed<Vector<Scalar, MemorySpace>>(exec, "sporades::ttm_chain::between", between);
  Factors<Scalar, MemorySpace> zeros;
  for (int n = 0; n < N; ++n) {
    if (plan.choices[n].strategy != TtmChainStrategy::semi_sparse) continue;
    detail::place_results(plan.semi_sparse[n], plan.product.data(), plan.between.data());
    if (zeros.empty())
      for (int m = 0; m < N; ++m)
        zeros.push_back(make_matrix<Scalar>(exec, "sporades::ttm_chain::zeros", plan.dims[m],
                                            static_cast<std::size_t>(ranks[m])));
    // A first product, so that the buffers of spttm and sspttm have their size.
    Matrix<Scalar, MemorySpace> const Y(plan.product.data(), plan.rows[n].extent(0),
                                        plan.choices[n].columns.count());
    detail::ttm_chain_semi_sparse(exec, plan.semi_sparse[n], zeros, Y, plan.semi_sparse_carry);
  }
  detail::fence(exec, "sporades::ttm_chain::make_plan");
  return plan;
}

/// The nonzeros that the plan holds for mode n, as coordinates; they are sorted by n and then by
/// the modes of its columns. Enqueued on exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             TtmChainPlan<Scalar, Index, MemorySpace> const& plan,
                                             int n) {
  if (plan.packed[n].order() > 0) return to_coo(exec, plan.packed[n]);
  if (plan.csf[n].order() > 0) return to_coo(exec, plan.csf[n]);
  return to_coo(exec, plan.semi_sparse[n].X);
}

/// The rows of Y_(n) that are not empty. A[m]: I_m x R_m, as make_matrix gives it, with padding of
/// zeros; A[n] is not read. Enqueued on exec, does not fence, allocates nothing. One product of a
/// plan at a time. Throws Error if the shapes disagree or n is not in [0, N).
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TtmChainProduct<Scalar, Index, MemorySpace> ttm_chain(
    ExecutionSpace const& exec, TtmChainPlan<Scalar, Index, MemorySpace>& plan,
    Factors<Scalar, MemorySpace> const& A, int n) {
  expects(n >= 0 && n < plan.order(), "ttm_chain: mode ", n, " of a tensor of order ",
          plan.order());
  expects(static_cast<int>(A.size()) == plan.order(), "ttm_chain: ", A.size(),
          " factors for a tensor of order ", plan.order());
  for (int m = 0; m < plan.order(); ++m) {
    if (m == n) continue;
    auto const R = static_cast<std::size_t>(plan.ranks[m]);
    expects(A[m].extent(0) == plan.dims[m] && A[m].extent(1) == R, "ttm_chain: the factor of mode ",
            m, " is ", A[m].extent(0), " x ", A[m].extent(1), ", expected ", plan.dims[m], " x ",
            R);
    expects(A[m].extent(0) < 2 || A[m].stride(0) == padded_columns(R),
            "ttm_chain: the factor of mode ", m, " has a row stride of ", A[m].stride(0),
            ", expected ", padded_columns(R), ": see make_matrix");
  }
  auto const& choice = plan.choices[n];
  Matrix<Scalar, MemorySpace> const Y(plan.product.data(), plan.rows[n].extent(0),
                                      choice.columns.count());
  if (choice.strategy == TtmChainStrategy::fused)
    detail::ttm_chain_fused(exec, plan.packed[n], A, choice.columns, Y, plan.buffers);
  else if (choice.strategy == TtmChainStrategy::semi_sparse)
    detail::ttm_chain_semi_sparse(exec, plan.semi_sparse[n], A, Y, plan.semi_sparse_carry);
  else
    detail::ttm_chain_csf(exec, plan.csf[n], A, choice.columns, Y, plan.buffers);
  return {Y, plan.rows[n], &choice.columns};
}

/// The whole of Y_(n), I_n x prod_{m != n} R_m, in the order of columns of Kolda & Bader. Y is
/// overwritten and aliases no A[m]. Otherwise as above.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void ttm_chain(ExecutionSpace const& exec, TtmChainPlan<Scalar, Index, MemorySpace>& plan,
               Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& Y) {
  auto const product = ttm_chain(exec, plan, A, n);
  std::size_t columns = 1;
  for (int rank : product.columns->ranks) columns *= static_cast<std::size_t>(rank);
  expects(Y.extent(0) == plan.dims[n] && Y.extent(1) == columns, "ttm_chain: Y is ", Y.extent(0),
          " x ", Y.extent(1), ", expected ", plan.dims[n], " x ", columns);
  Kokkos::deep_copy(exec, Y, Scalar(0));
  detail::scatter_rows(exec, product, plan.places[n], Y);
}

}  // namespace sporades

#include <sporades/eti/ttm_chain_plan.hpp>
