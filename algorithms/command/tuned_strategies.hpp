// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/command/checkpoint.hpp>
#include <string>
#include <vector>

namespace sporades::command {

/// A strategy and the seconds that an iteration took by it.
struct TimedStrategy {
  std::string strategy;
  double seconds;
};

/// What --tune measured, kept in a JSON file: lists of strategies, the fastest first, by the facts
/// that their times depend on, of which the tensor's checksum is one.
class TunedStrategies {
 public:
  /// Reads the file where it is there. Throws Error for one of another kind, and if it could not be
  /// written.
  explicit TunedStrategies(std::string path);

  /// What was measured for these facts; empty where nothing was, or a strategy has another name.
  std::vector<TimedStrategy> find(Facts const& facts, std::vector<std::string> const& names) const;

  /// Puts what was measured in the place of what was for the same facts, reads the file again, for
  /// what others have added, and writes it, whole or not at all. Throws RunError if that fails.
  void add(Facts const& facts, std::vector<TimedStrategy> const& times);

 private:
  struct Entry {
    Facts facts;
    std::vector<TimedStrategy> times;
  };

  void read();

  std::string path_;
  std::vector<Entry> entries_;
};

/// The file that keeps what --tune measured, and "; kept in PATH" where the user would not look.
struct TunedFile {
  std::string path;
  std::string note;
};

/// `asked`, if it is not empty; else the tensor's name and .tune, if that can be written; else one
/// file for all tensors in the user's folder of caches, which is made. Throws Error where nothing
/// can be kept.
TunedFile tuned_file(std::string const& asked, std::string const& tensor);

}  // namespace sporades::command
