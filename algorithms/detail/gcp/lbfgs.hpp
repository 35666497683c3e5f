// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/algorithms/detail/flat_factors.hpp>
#include <sporades/algorithms/detail/gcp/vectors.hpp>

namespace sporades::detail {

/// Limited-memory BFGS: H, an approximation of the inverse of the second derivatives by the pairs
/// s_k, y_k of changes of the variables and of the gradient. Nocedal & Wright, Numerical
/// Optimization, 2006, Algorithm 7.4. The pairs are the state's.
template <class ExecutionSpace, class Scalar>
class Lbfgs {
  using Memory = typename ExecutionSpace::memory_space;
  using VectorType = Vector<Scalar, Memory>;
  using Variables = FlatFactors<Scalar, Memory>;
  using Operations = FlatOperations<ExecutionSpace, Scalar>;

 public:
  Lbfgs(Operations const& operations, std::vector<Variables>& steps,
        std::vector<Variables>& changes)
      : op_(operations), steps_(steps), changes_(changes) {}

  bool has_pairs() const { return !steps_.empty(); }
  void forget() {
    steps_.clear();
    changes_.clear();
  }

  /// d = -H g, of the free variables alone, and 0 of the others. is_free: null where all are;
  /// scratch is used where some are not. Fences exec.
  void find_direction(VectorType const& g, unsigned char const* is_free, VectorType const& scratch,
                      VectorType const& d) const {
    std::size_t const pairs = steps_.size();
    std::vector<double> curvature(pairs), along(pairs);
    double scale = 1;
    for (std::size_t k = 0; k < pairs; ++k) {
      auto const& s = steps_[k].entries;
      auto y = changes_[k].entries;
      if (is_free) {
        op_.combine("sporades::gcp::free_changes", 1, y, 0, y, scratch, is_free);
        y = scratch;
      }
      double const sy = op_.dot(s, y), yy = op_.dot(y, y);
      curvature[k] = is_curved(sy, yy) ? sy : 0;
      if (curvature[k] > 0) scale = sy / yy;
    }
    op_.combine("sporades::gcp::negate", -1, g, 0, g, d, is_free);
    for (std::size_t k = pairs; k-- > 0;) {
      if (curvature[k] == 0) continue;
      along[k] = op_.dot(steps_[k].entries, d) / curvature[k];
      op_.combine("sporades::gcp::add", 1, d, -along[k], changes_[k].entries, d, is_free);
    }
    op_.combine("sporades::gcp::scale", scale, d, 0, d, d);
    for (std::size_t k = 0; k < pairs; ++k) {
      if (curvature[k] == 0) continue;
      double const back = op_.dot(changes_[k].entries, d) / curvature[k];
      op_.combine("sporades::gcp::add", 1, d, along[k] - back, steps_[k].entries, d, is_free);
    }
  }

  /// Takes s and y, if they keep H positive definite, in place of the oldest pair where there are
  /// `history`. Puts other memory in their place: of that pair, or new. Fences exec.
  template <class Make>
  void take(Variables& s, Variables& y, std::size_t history, Make const& make) {
    if (history == 0 || !is_curved(op_.dot(s.entries, y.entries), op_.dot(y.entries, y.entries)))
      return;
    bool const is_full = steps_.size() == history;
    for (auto [list, given] : {std::pair(&steps_, &s), std::pair(&changes_, &y)}) {
      auto const next = is_full ? list->front() : make();
      if (is_full) list->erase(list->begin());
      list->push_back(*given);
      *given = next;
    }
  }

 private:
  /// As Byrd, Lu, Nocedal & Zhu, SIAM J. Sci. Comput. 16(5), 1995.
  static bool is_curved(double sy, double yy) {
    return sy > std::numeric_limits<double>::epsilon() * yy;
  }

  Operations const& op_;
  std::vector<Variables>& steps_;
  std::vector<Variables>& changes_;
};

}  // namespace sporades::detail
