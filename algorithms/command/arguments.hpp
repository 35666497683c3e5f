// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What each subcommand was asked for, and its entry point. The files parse*.cpp fill these from the
/// command line; a subcommand is one file that needs no parser.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace sporades::command {

/// The tensor to read and how to take it.
struct ReadArguments {
  std::string file;
  std::string dims;  // "183x24x1140"; empty: from the file
  std::string index_base = "automatic";
  std::string first_line = "automatic";
  bool pattern = false;
  std::string values = "any";  // or non-negative, or counts: others are refused; or given: any,
                               // and cells without a value are unknown
};

/// What computing commands share.
struct ComputeArguments {
  std::string backend;  // empty: Kokkos' default execution space
  std::string precision = "double";
  std::uint64_t memory = 0;  // bytes that it may have; 0: all that are left
};

struct InfoArguments {
  ReadArguments read;
  int rank = 16;
  bool json = false;
  std::string report;
  std::vector<int> processes;  // that an iteration is expected on; none: the tensor itself
  std::string strategy = "automatic";
  std::string precision = "double";
  std::optional<double> latency;    // seconds
  std::optional<double> bandwidth;  // bytes a second
  std::optional<double> seconds;    // of an iteration on one process
};

struct GenerateArguments {
  std::string like;
  std::string dims;
  std::optional<std::uint64_t> nnz;
  double skew = 0;
  std::optional<std::uint64_t> seed;
  std::string output;
  bool quiet = false;
};

/// How a file of comma-separated values becomes a tensor.
struct CsvArguments {
  std::string columns;               // that become modes, as a record: "user,item"; empty: no CSV
  std::optional<std::string> value;  // none: rows are counted
  std::string separator;             // empty: guessed
  std::string bin;                   // of dates: "month", or "signed=month,shipped=day"
  bool has_header = true;
};

struct ConvertArguments {
  ReadArguments read;
  CsvArguments csv;
  std::string precision = "double";
  std::string duplicates = "sum";
  std::uint64_t memory = 0;  // bytes that it may have; 0: all that are left
  std::uint64_t min_slice = 0;
  bool log1p = false;
  bool binarize = false;
  std::string names;   // folder of names of a tensor that is read
  std::string labels;  // folder of names that is written
  std::string output;
  bool quiet = false;
};

/// What all decompositions share.
struct DecomposeArguments {
  ReadArguments read;
  ComputeArguments compute;
  int iterations = 50;
  double tolerance = 1e-5;
  std::uint64_t seed = 1;
  std::string init = "random";
  int starts = 1;
  std::string strategy = "automatic";
  bool tune = false;
  std::string tune_file;  // empty: beside the tensor, or in a folder of the user's
  std::string output;
  std::string report;
  std::string checkpoint;
  int checkpoint_every = 1;
  std::string resume;
  std::string labels;
  int top = 10;
  std::string progress = "auto";
  bool quiet = false;
};

struct CpAlsArguments {
  CpAlsArguments() { common.init = "automatic"; }
  DecomposeArguments common;
  int rank = 0;
  bool non_negative = false;
  double regularization = 0;
  bool missing = false;  // cells without a value are unknown
  bool dimension_tree = true;
  std::string gather = "full";
  int slices = 1;
};

struct CpAprArguments {
  CpAprArguments() {
    common.iterations = 1000;
    common.tolerance = 1e-4;
    common.read.values = "counts";
  }
  DecomposeArguments common;  // read.values: counts, or non-negative
  int rank = 0;
  std::string method;  // empty: mu where an option of it is given, else the library's default
  int inner_iterations = 10;
  double kappa = 1e-2;
  double kappa_tolerance = 1e-10;
  double epsilon = 1e-10;
  std::string pi = "on-the-fly";
};

struct GcpArguments {
  GcpArguments() {
    common.iterations = 1000;
    common.tolerance = 1e-8;
  }
  DecomposeArguments common;
  int rank = 0;
  std::string loss = "gaussian";
  bool missing = false;  // cells without a value are unknown
  bool non_negative = false;
  std::string method = "automatic";
  std::string zeros = "automatic";
  std::uint64_t samples = 0, nonzeros = 0;
  int history = 5;
  int epoch = 0;
  double rate = 0;
  double decay = 0.1;
  int most_failures = 3;
};

struct CompleteArguments {
  CompleteArguments() {
    common.iterations = 200;
    common.tolerance = 1e-5;
    common.read.values = "given";
  }
  DecomposeArguments common;
  int rank = 0;
  bool offsets = true;
  std::vector<double> penalty;  // none: the library's; one, or one of each mode
  std::optional<double> offset_penalty, power;
  std::vector<std::string> smooth;  // "3:0.5": mode 3, from 1
  double holdout = 0;
  int patience = 10;
};

struct TuckerArguments {
  DecomposeArguments common;
  std::vector<int> ranks;
};

/// Models of which ranks are compared; their starts are in the method's arguments.
struct RanksArguments {
  std::vector<int> ranks;
  double holdout = 0.1;    // part of the values, where others are unknown
  bool holds_out = false;  // that was asked for
};

/// What a model's values are raised or lowered to where they lie outside.
struct Bounds {
  double least = -std::numeric_limits<double>::infinity();
  double greatest = std::numeric_limits<double>::infinity();

  bool bind() const { return std::isfinite(least) || std::isfinite(greatest); }
  double of(double value) const { return std::min(std::max(value, least), greatest); }
};

struct EvaluateArguments {
  std::string model;
  ReadArguments read;
  Bounds bounds;
  std::string cells = "both";  // all, given
  double epsilon = 0;          // least mean of a count
  bool json = false;
  std::string report;
};

struct ScoreArguments {
  std::string model;
  std::string other;
  std::string matching = "greedy";
  bool weights = true;
  bool json = false;
};

struct PredictArguments {
  std::string model;
  ReadArguments read;
  Bounds bounds;
  std::string output;
  bool quiet = false;
};

struct SplitFileArguments {
  ReadArguments read;  // values: given
  double fraction = 0.1;
  int mode = 0;  // from 1, of which whole slices are parted; 0: single values
  std::uint64_t seed = 1;
  std::string train, test;
  bool quiet = false;
};

struct ViewArguments {
  std::string model;
  std::string name;  // whose components are asked for
  std::string labels;
  std::string output;  // empty: the model's name with .html at its end
  std::string lines;   // modes to be drawn as lines, or none; empty: those whose names are times
  int top = 10;
  int components = 32;
  bool quiet = false;
};

/// Each returns the exit status and throws Error for bad input, RunError for a failure.
int info(InfoArguments const& arguments);
int generate(GenerateArguments const& arguments);
int convert(ConvertArguments const& arguments);
int cp_als(CpAlsArguments const& arguments);
int cp_apr(CpAprArguments const& arguments);
int gcp(GcpArguments const& arguments);
int tucker(TuckerArguments const& arguments);
int complete(CompleteArguments const& arguments);
int cp_als_ranks(CpAlsArguments const& arguments, RanksArguments const& ranks);
int cp_apr_ranks(CpAprArguments const& arguments, RanksArguments const& ranks);
int gcp_ranks(GcpArguments const& arguments, RanksArguments const& ranks);
int complete_ranks(CompleteArguments const& arguments, RanksArguments const& ranks);
int view(ViewArguments const& arguments);
int evaluate(EvaluateArguments const& arguments);
int score(ScoreArguments const& arguments);
int predict(PredictArguments const& arguments);
int split(SplitFileArguments const& arguments);

}  // namespace sporades::command
