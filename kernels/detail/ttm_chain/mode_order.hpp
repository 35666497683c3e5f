// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <sporades/formats/detail/estimate_fiber_counts.hpp>
#include <sporades/kernels/detail/selector/tree.hpp>

namespace sporades::detail {

/// Numbers of tuples by set of modes, estimated; sets of which a subset has as many tuples as there
/// are nonzeros need no estimate. Past order 8, where there are too many sets, those of one mode
/// and those that lack at most two are estimated, and the others are what uniformly scattered
/// nonzeros would form, but no more than a superset has.
class TupleCounts {
 public:
  template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
  TupleCounts(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X)
      : TupleCounts({}, exec, X, X.nnz()) {}

  /// The counts of the nonzeros of all processes, `count` of them. Collective.
  template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
  TupleCounts(Communicator const& processes, ExecutionSpace const& exec,
              CooTensor<Scalar, Index, MemorySpace> const& X, Position count)
      : TupleCounts(X.dims, static_cast<double>(count), [&](std::uint32_t set) {
          return estimate_tuples_across(processes, exec, X, count, set);
        }) {}

  double operator()(std::uint32_t set) const { return counts_[set]; }

 private:
  template <class Estimate>
  TupleCounts(Dims const& dims, double nnz, Estimate const& estimate)
      : counts_(std::size_t{1} << dims.size(), 1.0) {
    int const N = static_cast<int>(dims.size());
    std::uint32_t const all = static_cast<std::uint32_t>(counts_.size()) - 1;
    for (std::uint32_t set = 1; set <= all; ++set) {
      double cells = 1, of_subsets = 0;
      int modes = 0;
      for (int n = 0; n < N; ++n) {
        std::uint32_t const mode = std::uint32_t{1} << n;
        if (!(set & mode)) continue;
        cells *= static_cast<double>(dims[n]);
        of_subsets = std::max(of_subsets, counts_[set & ~mode]);
        ++modes;
      }
      if (set == all || nnz == 0 || (N <= 8 && modes > 1 && of_subsets >= 0.98 * nnz))
        counts_[set] = nnz;
      else if (N <= 8 || modes == 1 || modes >= N - 2)
        counts_[set] = std::min({estimate(set), cells, nnz});
      else
        counts_[set] = -cells * std::expm1(-nnz / cells);
    }
    for (std::uint32_t set = all; set > 0; --set)
      for (int n = 0; n < N; ++n)
        counts_[set] = std::min(counts_[set], counts_[set | std::uint32_t{1} << n]);
  }

  std::vector<double> counts_;
};

/// Flops of one product if the nonzeros are walked as a tree of the modes in this order, and what
/// else the choice depends on. The constants come from A to F of perf/results/peers.md at ranks 8
/// on
/// two cores with AVX-512: a partial product is added at 13 flops a nanosecond, loads and stores
/// included, an outer product in registers at 60, a Kronecker row at 20; a leaf costs its flops.
/// The costs of writing a number of the product, and of semi_sparse, were fitted to the chains of
/// perf/train_selector.py.
struct ChainCost {
  std::vector<int> modes;  // n, then the others from the root's children to the leaves
  double flops = 0;        // multiplications and additions
  double weight = 0;       // time, in flops of partial products
};

/// Numbers of the product of mode n.
inline double product_numbers(TupleCounts const& tuples, std::vector<int> const& ranks, int n) {
  double numbers = tuples(std::uint32_t{1} << n);
  for (std::size_t m = 0; m < ranks.size(); ++m)
    if (static_cast<int>(m) != n) numbers *= ranks[m];
  return numbers;
}

/// The order of modes in which partial products down the fiber tree of mode n (Smith & Karypis
/// 2017) are cheapest. A node whose subtree holds the modes S has a partial product of
/// prod_{m in S} R_m numbers, which is multiplied into its parent's by a factor row:
/// 2 R_node prod_{m in S} R_m flops. Dynamic programming over sets of modes.
inline ChainCost cheapest_tree(TupleCounts const& tuples, std::vector<int> const& ranks, int n) {
  constexpr double visit = 26;  // in flops: indices, and a branch mispredicted
  constexpr double number = 12.6;
  int const N = static_cast<int>(ranks.size());
  std::uint32_t const all = (std::uint32_t{1} << N) - 1, root = std::uint32_t{1} << n;
  struct Best {
    double weight = std::numeric_limits<double>::infinity(), flops = 0;
    int last = -1;
  };
  std::vector<Best> best(std::size_t{all} + 1);
  best[root] = {0, 0, n};
  for (std::uint32_t set = root + 1; set <= all; ++set) {
    if (!(set & root)) continue;
    double below = 1;  // numbers of the partial product under a node of these modes
    for (int m = 0; m < N; ++m)
      if (!(set >> m & 1)) below *= ranks[m];
    for (int m = 0; m < N; ++m) {
      if (m == n || !(set >> m & 1)) continue;
      auto const& before = best[set & ~(std::uint32_t{1} << m)];
      double const nodes = tuples(set);
      double const flops = 2 * nodes * below * ranks[m];
      double const weight = before.weight + flops + (set == all ? 0 : nodes * visit);
      if (weight < best[set].weight) best[set] = {weight, before.flops + flops, m};
    }
  }
  ChainCost cost{
      {}, best[all].flops, best[all].weight + number * product_numbers(tuples, ranks, n)};
  for (std::uint32_t set = all; set != root; set &= ~(std::uint32_t{1} << best[set].last))
    cost.modes.insert(cost.modes.begin(), best[set].last);
  cost.modes.insert(cost.modes.begin(), n);
  return cost;
}

/// Numbers of the two memories between which the results of semi_sparse alternate, without the last
/// result, which is the product.
inline double numbers_between(TupleCounts const& tuples, std::vector<int> const& ranks,
                              std::vector<int> const& modes) {
  double most[2] = {0, 0}, block = 1;
  for (std::size_t k = modes.size() - 1; k > 1; --k) {
    block *= ranks[modes[k]];
    std::uint32_t left = 0;
    for (std::size_t l = 0; l < k; ++l) left |= std::uint32_t{1} << modes[l];
    most[k % 2] = std::max(most[k % 2], tuples(left) * block);
  }
  return most[0] + most[1];
}

/// The cost of mode n's product without partial products, for tensors of order 3 and up: the outer
/// product of the last two modes' rows for each nonzero, and whole Kronecker rows for each run of
/// nonzeros that agree in all modes before. The last mode is the shorter of the two, whose rows
/// come in any order.
inline ChainCost fused_cost(TupleCounts const& tuples, Dims const& dims,
                            std::vector<int> const& ranks, int n) {
  constexpr double visit_nonzero = 4, visit_run = 30, in_registers = 0.2, in_rows = 0.6,
                   number = 16.4;
  int const N = static_cast<int>(ranks.size());
  std::uint32_t const all = (std::uint32_t{1} << N) - 1;
  double columns = 1;
  for (int m = 0; m < N; ++m)
    if (m != n) columns *= ranks[m];
  ChainCost best;
  best.weight = std::numeric_limits<double>::infinity();
  for (int a = 0; a < N; ++a)
    for (int b = 0; b < N; ++b) {
      if (a == n || b == n || a == b || dims[a] < dims[b] || (dims[a] == dims[b] && a > b))
        continue;
      double const nonzeros = tuples(all);
      double const runs = tuples(all & ~(std::uint32_t{1} << a | std::uint32_t{1} << b));
      double const outer = 2.0 * ranks[a] * ranks[b], row = 2 * columns;
      double const flops = nonzeros * outer + runs * row;
      double const weight =
          nonzeros * (in_registers * outer + visit_nonzero) + runs * (in_rows * row + visit_run);
      if (weight >= best.weight) continue;
      best = {{n}, flops, weight};
      for (int m = 0; m < N; ++m)
        if (m != n && m != a && m != b) best.modes.push_back(m);
      best.modes.push_back(a);
      best.modes.push_back(b);
    }
  best.weight += number * product_numbers(tuples, ranks, n);
  std::sort(best.modes.begin() + 1, best.modes.end() - 2,
            [&](int a, int b) { return dims[a] < dims[b]; });
  return best;
}

/// The weight of semi_sparse in this order of modes, of which the last is taken first: each product
/// reads the result of the one before.
inline double semi_sparse_weight(TupleCounts const& tuples, std::vector<int> const& ranks,
                                 std::vector<int> const& modes) {
  constexpr double number_read = 13.1, number = 6.6;
  double weight = number * product_numbers(tuples, ranks, modes[0]), block = 1;
  std::uint32_t left = (std::uint32_t{1} << modes.size()) - 1;
  for (std::size_t k = modes.size() - 1; k > 0; --k) {
    weight += number_read * tuples(left) * block;
    block *= ranks[modes[k]];
    left &= ~(std::uint32_t{1} << modes[k]);
  }
  return weight;
}

/// What the tree that chooses a strategy asks about.
inline Features chain_features(TupleCounts const& tuples, Dims const& dims,
                               std::vector<int> const& ranks, int n) {
  Features features;
  features[Feature::order] = static_cast<double>(dims.size());
  features[Feature::nonzeros] = tuples((std::uint32_t{1} << dims.size()) - 1);
  double const fused = fused_cost(tuples, dims, ranks, n).weight;
  auto const modes = cheapest_tree(tuples, ranks, n).modes;
  features[Feature::time_share] = fused > 0 ? semi_sparse_weight(tuples, ranks, modes) / fused : 1;
  return features;
}

}  // namespace sporades::detail
