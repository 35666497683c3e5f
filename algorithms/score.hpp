// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/names.hpp>
#include <sporades/formats/kruskal_tensor.hpp>
#include <vector>

/// How alike two Kruskal tensors are: the factor match score of Tensor Toolbox and pyttb.

namespace sporades {

/// How score matches the components of one model with those of the other.
enum class ScoreMatching {
  greedy,  // the most alike pair first, then the most alike of those left: Tensor Toolbox' default
  exact    // the pairs of the largest score, by Hungarian assignment: R^3 steps
};

namespace detail {
template <>
struct Names<ScoreMatching> {
  static constexpr char const* kind = "matching of components";
  static constexpr char const* list[] = {"greedy", "exact"};
};
}  // namespace detail

/// How score compares components.
struct ScoreOptions {
  bool weight_penalty = true;  // components of unlike weights are less alike
  ScoreMatching matching = ScoreMatching::greedy;
};

/// What score gives.
struct Score {
  double value = 0;                // in [0, 1]; 1: alike except order, signs, lengths
  std::vector<int> permutation;    // R numbers: arrange(exec, A, permutation) has A's components at
                                   // the places of B's, then those without a partner
  std::vector<double> components;  // of each component of B: how alike its partner is
};

/// The factor match score of A, of R components, and B, of S <= R, of equal dims:
///   value = 1/S sum over s of C(permutation[s], s),
///   C(r, s) = (1 - |a_r - b_s| / max(a_r, b_s)) prod_n |A_n(:, r)^T B_n(:, s)|
/// of the normalised models, whose weights are a and b; without weight_penalty the first factor is
/// 1, as it is where both weights are 0. Columns of zeros are alike to none. Of equally alike pairs
/// the first by s, then by r, is taken. 2 R S flops a row of the factors, summed in double: the
/// same bits on every run and number of threads. Fences exec. Throws Error if the shapes disagree
/// or A has fewer components than B. Acar, Dunlavy, Kolda & Morup, Chemom. Intell. Lab. Syst.
/// 106(1), 2011.
template <class ExecutionSpace, class Scalar, class MemorySpace>
Score score(ExecutionSpace const& exec, KruskalTensor<Scalar, MemorySpace> const& A,
            KruskalTensor<Scalar, MemorySpace> const& B, ScoreOptions const& options = {});

}  // namespace sporades

#include <sporades/algorithms/detail/score.hpp>
