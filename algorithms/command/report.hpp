// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What the command says as JSON, as plain data: report.cpp alone includes the JSON library.

#include <cstdint>
#include <map>
#include <optional>
#include <sporades/core/communicator.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sporades::command {

/// The version of the JSON reports: it counts up where a field is no longer what it was. Fields may
/// be added without that. algorithms/README.md documents them.
inline constexpr int report_version = 1;

/// What an algorithm says of itself, by name and in order.
using Value = std::variant<bool, std::uint64_t, double, std::string, std::vector<double>,
                           std::vector<std::uint64_t>, std::vector<std::string>>;
using NamedValues = std::vector<std::pair<std::string, Value>>;

/// The report of a subcommand that has no type of its own: its values, and then groups of values by
/// name. Numbers that are not finite become null.
std::string to_json(char const* subcommand, NamedValues const& values,
                    std::vector<std::pair<std::string, NamedValues>> const& groups = {});

struct IterationReport {
  int iteration = 0;
  double seconds = 0;
  NamedValues values;
};

struct KernelReport {
  double seconds = 0;
  std::uint64_t calls = 0;
};

/// A named entry of a factor's column. Indices count from 1, as in text files.
struct TopEntry {
  std::uint64_t index = 0;
  std::string name;
  double value = 0;
};

/// An entry of a core, and the columns that it weighs, which count from 1.
struct TopCell {
  std::vector<int> columns;
  double value = 0;
};

/// The entries of largest magnitude of a model; factors[n][r] are those of column r of the factor
/// of mode n. A Kruskal tensor has weights, a Tucker tensor the cells of its core.
struct TopEntries {
  std::vector<std::string> modes;  // their names, or none
  std::vector<double> weights;
  std::vector<TopCell> core;
  std::vector<std::vector<std::vector<TopEntry>>> factors;
};

struct SecondsReport {
  double read = 0;
  double build = 0;
  double solve = 0;
  double write = 0;
  double total = 0;
};

/// What there is to say of one decomposition. Numbers that are not finite become null.
struct Report {
  std::string algorithm;
  std::string backend;
  int threads = 0;  // of each process
  int processes = 1;
  std::string precision;
  std::string file;
  std::string dialect;
  std::uint64_t duplicates = 0;  // that the reader summed
  std::vector<std::uint64_t> dims;
  std::uint64_t nnz = 0;
  int rank = 0;
  std::vector<int> ranks;  // of a Tucker tensor; then there is no rank
  std::uint64_t seed = 0;
  std::string init;
  double tolerance = 0;
  NamedValues settings;                 // the algorithm's own
  std::vector<std::string> strategies;  // of its kernel, by mode
  std::vector<std::string> reasons;     // why these; empty where there is no choice
  int resumed_after = 0;                // iterations that a checkpoint brought
  std::vector<IterationReport> iterations;
  NamedValues results;
  std::optional<TopEntries> top;  // where there are labels
  bool converged = false;
  std::string stop_reason;
  SecondsReport seconds;
  std::map<std::string, KernelReport> kernels;
  std::map<std::string, Traffic> traffic;  // between processes, by name
  std::uint64_t bytes_plan = 0;            // formats and buffers, of all processes
  std::uint64_t bytes_peak = 0;         // the most that was seen on the host, mapped files excluded
  std::uint64_t bytes_peak_device = 0;  // of Views in device memory
};

std::string to_json(Report const& report);

/// Exact, or rounded to a double where 64 bits are too few.
using Count = std::variant<std::uint64_t, double>;

/// What `automatic` chooses for an operation, and why.
struct AutomaticChoice {
  std::string operation;
  std::string strategy;
  std::string reason;
};

struct ModeInfo {
  std::uint64_t length = 0;
  std::uint64_t slices = 0;  // that are not empty
  double mean_slice = 0;     // nonzeros of one that is not empty
  std::uint64_t longest_slice = 0;
  std::uint64_t fibers = 0;  // along the mode, that are not empty
  double mean_fiber = 0;
  std::uint64_t longest_fiber = 0;
  std::vector<std::pair<std::string, Count>> storage_words;  // by format, for products on it
  std::vector<AutomaticChoice> automatic;                    // by operation, MTTKRP first
};

/// What the linear order of AltoTensor takes.
struct LinearOrder {
  std::vector<int> mode_bits;
  int bits = 0;
  int words = 0;            // of 64 bits a nonzero; 0: the bits are too many for it
  std::uint64_t bytes = 0;  // with the values
};

/// Up to this density one format takes no more words than the other, and above it more.
struct BreakEven {
  std::string format;
  std::string other;
  double density = 0;
  Count nonzeros;  // at this density, rounded down; a double where the cells are one
};

struct TensorInfo {
  std::string file;
  std::string dialect;
  std::string backend;
  std::string precision;
  int rank = 0;
  std::vector<std::uint64_t> dims;
  std::uint64_t nnz = 0;
  std::uint64_t duplicates = 0;
  double density = 0;
  double norm = 0;
  double least = 0;     // value
  double greatest = 0;  // value
  std::vector<ModeInfo> modes;
  std::vector<BreakEven> break_even;
  LinearOrder linear_order;
  std::vector<std::pair<std::string, std::uint64_t>> bytes;  // by format
};

std::string to_json(TensorInfo const& info);

}  // namespace sporades::command
