// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstring>
#include <sporades/algorithms/command/checkpoint.hpp>
#include <sporades/algorithms/detail/decompose.hpp>
#include <sporades/algorithms/snapshot.hpp>
#include <string>
#include <vector>

/// Checkpoints of runs of several starts: the state of the start that runs, and where others have
/// ended, what they reached and the state of the best. The arrays of that one have names that begin
/// with "best-".

namespace sporades::command {

inline constexpr char const *best_prefix = "best-", *singular_vectors = "hosvd";

/// The state whose arrays' names begin with the prefix. Kind: of the model, see model_kinds.hpp.
/// rows: per mode, those of the state that are here, of `dims`; or none, where all are.
template <class Kind, class Options>
Snapshot load_snapshot(Checkpoint const& from, std::string const& prefix, Options const& options,
                       Dims const& dims, std::vector<RowMap> const& rows) {
  Snapshot state;
  state.dims = sporades::detail::rows_here(dims, rows);
  state.ranks = Kind::ranks(options, state.dims);
  for (auto const& [name, all] : from.arrays()) {
    bool const is_of_best = name.rfind(best_prefix, 0) == 0;
    if (is_of_best == prefix.empty()) continue;
    std::uint64_t first = 0, count = all;
    if (int const mode = from.mode(name); mode >= 0 && !rows.empty()) {
      auto const n = static_cast<std::size_t>(mode);
      std::uint64_t const row = all / dims[n];
      first = rows[n].first() * row;
      count = state.dims[n] * row;
    }
    state.arrays[name.substr(prefix.size())] = from.bytes(name, first, count);
  }
  return state;
}

template <class Kind, class Exec, class Options, class State>
void load_starts(Exec const& exec, Checkpoint const& from, Options const& options, Dims const& dims,
                 std::vector<RowMap> const& rows, sporades::detail::Starts<State>& starts) {
  auto const load = [&](char const* prefix) {
    return restore<State>(exec, load_snapshot<Kind>(from, prefix, options, dims, rows));
  };
  starts.state = load("");
  starts.first_is_singular = options.starts > 1 && from.fact("first-start") == singular_vectors;
  if (!from.has_array("start-scores")) return;
  auto const scores = from.bytes("start-scores", 0, from.arrays().at("start-scores"));
  starts.scores.resize(scores.size() / sizeof(double));
  std::memcpy(starts.scores.data(), scores.data(), starts.scores.size() * sizeof(double));
  starts.current = std::stoi(from.fact("current-start"));
  starts.best = std::stoi(from.fact("best-start"));
  starts.best_state = load(best_prefix);
}

/// number: of starts, of the run. facts: others.
template <class Exec, class State>
void save_starts(Exec const& exec, std::string const& file, Facts facts, int number,
                 sporades::detail::Starts<State> const& starts, std::vector<RowMap> const& rows) {
  std::vector<CheckpointArray> arrays;
  auto const append = [&](std::string const& prefix, Snapshot const& state) {
    for (auto const& [name, bytes] : state.arrays) {
      auto const mode = state.modes.find(name);
      arrays.push_back({prefix + name, bytes.data(), bytes.size(),
                        mode == state.modes.end() ? -1 : mode->second});
    }
  };
  auto const now = snapshot(exec, starts.state);
  append("", now);
  Snapshot best;
  if (number > 1)
    facts.emplace_back("first-start", starts.first_is_singular ? singular_vectors : "random");
  if (number > 1 && !starts.scores.empty()) {
    facts.emplace_back("current-start", std::to_string(starts.current));
    facts.emplace_back("best-start", std::to_string(starts.best));
    arrays.push_back({"start-scores", starts.scores.data(), starts.scores.size() * sizeof(double)});
    best = snapshot(exec, starts.best_state);
    append(best_prefix, best);
  }
  write_checkpoint(file, facts, arrays, rows);
}

}  // namespace sporades::command
