// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
#include <string>

/// Decision trees that choose strategies. They are data (trees.hpp), fitted to measurements by
/// perf/train_selector.py.

namespace sporades::detail {

/// What trees ask about. Caches are those of the machine.
enum class Feature {
  order,
  nonzeros,
  row_bytes,           // of a factor, with padding
  second_level_share,  // bytes of all factors over those of the second-level cache
  longest_share,       // length of the longest mode over the sum of all
  run_length,          // mean nonzeros that agree in the modes that a split multiplies once a run
  longer_run_length,   // run_length of the split that was chosen so far
  modes_saved,         // modes that the split multiplies once a run and the one so far does not
  modes_left,          // modes that it still multiplies for each nonzero
  fiber_length,        // mean nonzeros of a fiber
  fiber_spread,        // standard deviation of their lengths over their mean
  empty_rows,          // rows of HOCSR, most of them empty, over nonzeros
  time_share,          // by the model of TTM chains
  count
};

inline constexpr std::size_t feature_count = static_cast<std::size_t>(Feature::count);

struct FeatureName {
  char const* name;
  char const* words;  // of a reason
};

inline constexpr FeatureName feature_names[feature_count] = {
    {"order", "order"},
    {"nonzeros", "nonzeros"},
    {"row_bytes", "bytes of a factor row"},
    {"second_level_share", "factors / second-level cache"},
    {"longest_share", "longest mode / all modes"},
    {"run_length", "nonzeros a run"},
    {"longer_run_length", "nonzeros a longer run"},
    {"modes_saved", "rows saved a nonzero"},
    {"modes_left", "rows left a nonzero"},
    {"fiber_length", "nonzeros a fiber"},
    {"fiber_spread", "spread of fibers"},
    {"empty_rows", "rows / nonzeros"},
    {"time_share", "modelled time of semi_sparse / of fused"}};

class Features {
 public:
  double& operator[](Feature feature) { return values_[static_cast<std::size_t>(feature)]; }
  double operator[](Feature feature) const { return values_[static_cast<std::size_t>(feature)]; }

 private:
  std::array<double, feature_count> values_{};
};

/// A question, or a choice.
struct TreeNode {
  Feature feature;   // Feature::count: a choice
  double threshold;  // a value up to it leads to the node that follows, a larger one to `past`
  int past;
  char const* choice;
};

struct Decision {
  std::string choice;
  std::string path;  // "nonzeros a run 1.7 <= 2.3, order 3 <= 4"
};

/// Walks from the first node to a choice.
inline Decision decide(TreeNode const* tree, Features const& features) {
  Decision decision;
  int at = 0;
  while (tree[at].feature != Feature::count) {
    auto const& node = tree[at];
    double const value = features[node.feature];
    bool const is_past = value > node.threshold;
    char text[160];
    std::snprintf(text, sizeof text, "%s%s %.3g %s %.3g", decision.path.empty() ? "" : ", ",
                  feature_names[static_cast<std::size_t>(node.feature)].words, value,
                  is_past ? ">" : "<=", node.threshold);
    decision.path += text;
    at = is_past ? node.past : at + 1;
  }
  decision.choice = tree[at].choice;
  if (decision.path.empty()) decision.path = "the fastest of all that were measured";
  return decision;
}

}  // namespace sporades::detail
