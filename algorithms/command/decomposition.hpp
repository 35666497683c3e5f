// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <optional>
#include <sporades/algorithms/command/arguments.hpp>
#include <sporades/algorithms/command/labels.hpp>
#include <sporades/algorithms/command/memory.hpp>
#include <sporades/algorithms/command/progress.hpp>
#include <sporades/algorithms/command/report.hpp>
#include <sporades/core/timer.hpp>
#include <sporades/formats/files/tns_file.hpp>

namespace sporades::command {

/// Floating-point operations: on all threads, and on one.
struct Work {
  double shared = 0;
  double serial = 0;
};

/// What a subcommand that decomposes does around its algorithm: reading the tensor and labels,
/// the lines on standard output, the live line, times, the report, the exit status.
class Decomposition {
 public:
  /// Throws Error if an output could not be made, before anything is read.
  explicit Decomposition(DecomposeArguments const& arguments);

  void set_backend(std::string const& name, int threads);

  /// The tensor; the labels, if any, are checked against its dims. memory: see ReadOptions.
  template <class Scalar>
  ReadResult<Scalar> read(std::uint64_t memory);

  /// Bytes that the labels take, from read to the end.
  double labels_bytes() const;

  /// Names of the modes, if the labels have them.
  std::vector<std::string> const& mode_names() const { return labels_.modes; }

  /// rank: "rank 16"
  void announce(std::string const& rank);
  /// What `automatic` chose for each mode, and why.
  void say_choices();
  /// A note on standard error, or a line on standard output; nothing of an empty text.
  void note(std::string const& text);
  void say(std::string const& text);
  /// Where it takes long by a rough count: what the first iteration takes, and the least memory.
  void say_first_iteration(Work const& work, bool on_gpu, double bytes);
  void say_start(int start, int starts, std::string const& source);
  void say_resumed(std::string const& path, int iterations);
  void begin_build();
  void begin_solve();
  void begin_write();

  /// Prints the iteration's line where a person would read it: each of the first ten, of the first
  /// hundred every tenth and so on, what comes long after the line before, and the last one. brief:
  /// the little of it that the live line says.
  void iteration_done(int iteration, double seconds, std::string const& line,
                      std::string const& brief);

  /// Writes a checkpoint. One that cannot be written is told, and the run goes on: what it has
  /// computed is worth more; the exit status will say it.
  void keep(std::function<void()> const& write);

  /// Writes the model where -o says. Without -o an interrupted run's goes to a new file in the
  /// current folder, INPUT.interrupted and the extension; where that fails it is told.
  void write_model(bool interrupted, char const* extension,
                   std::function<void(std::string const&)> const& write);

  /// Prints the model's strongest names, if there are labels, and puts them into the report. rows:
  /// of each mode, where processes share them.
  template <class Model>
  void print_labels(Model const& model, std::vector<RowMap> const& rows);

  /// Writes the report and says how it ended, and the result. signal: what interrupted the run, or
  /// 0. Returns the exit status.
  int finish(int signal, std::string const& result);
  /// Writes the report and says that the signal came before there was a model. Returns the exit
  /// status.
  int finish_without_model(int signal);

  Report report;

 private:
  void end_phase(double& seconds);
  void print_held_line();
  void close_report(int signal);
  void write_report() const;

  DecomposeArguments const& arguments_;
  std::optional<MemoryWatch> memory_watch_;  // where a report will tell what it saw
  Progress progress_;
  Labels labels_;
  sporades::detail::Timer total_;
  sporades::detail::Timer phase_;
  sporades::detail::Timer since_line_;
  int last_iteration_ = 0;
  std::string held_line_;   // of the last iteration, where it was not printed
  std::string model_file_;  // where the model is, if anywhere
  bool keeps_failing_ = false;
};

}  // namespace sporades::command
