// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <sporades/algorithms/command/absent_cells.hpp>
#include <sporades/algorithms/command/decomposition.hpp>
#include <sporades/algorithms/command/files.hpp>
#include <sporades/algorithms/command/memory.hpp>
#include <sporades/algorithms/command/processes.hpp>
#include <sporades/algorithms/command/runtime.hpp>
#include <sporades/algorithms/command/signals.hpp>
#include <sporades/algorithms/command/tensors.hpp>
#include <sporades/core/detail/memory.hpp>
#include <sporades/formats/files/detail/file.hpp>

namespace sporades::command {
namespace {

constexpr double seconds_between_lines = 10;

/// One digit, and zeros.
bool is_round(int number) {
  while (number % 10 == 0) number /= 10;
  return number < 10;
}

/// A name that no file has: x.interrupted.ktns or x.interrupted-2.ktns of data/x.tns.gz.
std::string new_name(std::string const& input, char const* extension) {
  std::filesystem::path path(input);
  path = path.filename();
  if (path.extension() == ".gz") path = path.stem();
  std::string const stem = path.stem() == "-" ? "sporades" : path.stem().string();
  for (int k = 1;; ++k) {
    auto const name = stem + ".interrupted" + (k == 1 ? "" : "-" + std::to_string(k)) + extension;
    std::error_code ignored;
    if (!std::filesystem::exists(std::filesystem::symlink_status(name, ignored))) return name;
  }
}

}  // namespace

Decomposition::Decomposition(DecomposeArguments const& arguments)
    : arguments_(arguments), progress_(arguments.quiet ? "never" : arguments.progress) {
  if (!arguments.report.empty()) memory_watch_.emplace();
  if (!speaks()) return;  // the first process writes, and checks
  NamedFile const output{"-o", arguments.output}, report_file{"--report", arguments.report};
  NamedFile const checkpoint{"--checkpoint", arguments.checkpoint},
      tune_file{"--tune-file", arguments.tune_file};
  std::vector<NamedFile> inputs{{"FILE", arguments.read.file}}, start;
  constexpr char const* named[] = {"random", "hosvd", "automatic"};
  if (std::find(std::begin(named), std::end(named), arguments.init) == std::end(named)) {
    expects(!is_pipe(arguments.init), "--init ", arguments.init,
            " is a pipe; a start is read twice: give a file");
    std::error_code ignored;
    bool const is_of_checkpoint = !arguments.resume.empty();
    expects(is_of_checkpoint || std::filesystem::exists(arguments.init, ignored), "--init ",
            arguments.init, ": there is no such file, and no start of that name");
    start.push_back({"--init", arguments.init});
  }
  for (auto const& path : label_candidates(arguments.labels)) inputs.push_back({"--labels", path});
  check_files(inputs, {output, report_file, checkpoint, tune_file});
  // The model may take the place of the start, which is read first and replaced last.
  check_files(start, {report_file, checkpoint, tune_file});
  // A checkpoint may be written to the one that the run goes on from.
  check_files({{"--resume", arguments.resume}}, {output, report_file});
}

void Decomposition::set_backend(std::string const& name, int threads) {
  report.backend = name;
  report.threads = threads;
}

template <class Scalar>
ReadResult<Scalar> Decomposition::read(std::uint64_t memory) {
  phase_.reset();
  progress_.show("reading " + arguments_.read.file);
  bool const keeps = arguments_.read.values == "given";  // each of several values of a cell
  auto const result =
      command::read<Scalar>(arguments_.read, keeps ? Duplicates::keep : Duplicates::sum, memory);
  progress_.clear();
  report.precision = arguments_.compute.precision;
  report.file = arguments_.read.file;
  report.dialect = result.dialect;
  report.duplicates = result.duplicates;
  report.processes = processes().size();
  report.seed = arguments_.seed;
  report.init = arguments_.init;
  report.tolerance = arguments_.tolerance;
  std::visit(
      [&](auto const& X) {
        report.dims = X.dims;
        report.nnz = sum_of_all(X.nnz());
        // What is given to cp-apr are counts.
        if (arguments_.read.values == "any") note(absent_cells_note(X));
        if (!arguments_.labels.empty()) labels_ = printable(read_labels(arguments_.labels, X.dims));
      },
      result.tensor);
  end_phase(report.seconds.read);
  return result;
}

double Decomposition::labels_bytes() const {
  double bytes = 0;
  for (auto const& names : labels_.names)
    for (auto const& name : names)  // long names take an allocation each
      bytes += sizeof name + (name.capacity() < sizeof name / 2 ? 0 : name.capacity() + 17.);
  return bytes;
}

void Decomposition::announce(std::string const& rank) {
  progress_.clear();
  if (arguments_.quiet) return;
  std::printf("%s: %s, %llu nonzeros; %s in %s precision on %s", report.file.c_str(),
              to_string(Dims(report.dims)).c_str(), static_cast<unsigned long long>(report.nnz),
              rank.c_str(), report.precision.c_str(), report.backend.c_str());
  if (report.threads > 1) std::printf(" with %d threads", report.threads);
  if (report.processes > 1)
    std::printf(report.threads > 1 ? " in each of %d processes" : " in %d processes",
                report.processes);
  std::printf("\n");
  if (report.duplicates > 0)
    std::printf("%llu nonzeros were added to others of the same coordinates\n",
                static_cast<unsigned long long>(report.duplicates));
}

void Decomposition::say_choices() {
  if (arguments_.quiet || arguments_.strategy != "automatic" || arguments_.tune) return;
  for (std::size_t n = 0; n < report.reasons.size(); ++n)
    std::printf("mode %zu: automatic chose %s; %s\n", n, report.strategies[n].c_str(),
                report.reasons[n].c_str());
}

void Decomposition::note(std::string const& text) {
  if (text.empty()) return;
  progress_.clear();
  tell("note: " + text);
}

void Decomposition::say(std::string const& text) {
  if (text.empty() || arguments_.quiet) return;
  progress_.clear();
  if (!held_line_.empty()) print_held_line();
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);  // the next line may be minutes away
}

void Decomposition::say_first_iteration(Work const& work, bool on_gpu, double bytes) {
  // Operations a second, about what sparse kernels and LAPACK reach on a core, and on a GPU.
  double const rate = on_gpu ? 3e11 : 1e9 * std::max(1, report.threads);
  double const seconds = work.shared / (rate * report.processes) + work.serial / 2e9;
  if (seconds < 10) return;
  auto const time = seconds < 100    ? fmt::format("{:.0f} s", seconds)
                    : seconds < 7200 ? fmt::format("{:.0f} min", seconds / 60)
                                     : fmt::format("{:.0f} h", seconds / 3600);
  auto const memory =
      bytes > 0 ? fmt::format(", and at least {} of memory", sporades::detail::bytes_text(bytes))
                : "";
  say(fmt::format("the first iteration may take about {}, by a rough count{}", time, memory));
}

void Decomposition::say_start(int start, int starts, std::string const& source) {
  say(fmt::format("start {} of {}, {}", start, starts, source));
}

void Decomposition::say_resumed(std::string const& path, int iterations) {
  if (!arguments_.quiet)
    std::printf("going on from %s after iteration %d\n", path.c_str(), iterations);
}

void Decomposition::begin_build() {
  phase_.reset();
  progress_.show("sorting the nonzeros");
}

void Decomposition::begin_solve() {
  end_phase(report.seconds.build);
  std::fflush(stdout);
  progress_.show("iteration 1");
}

void Decomposition::begin_write() {
  end_phase(report.seconds.solve);
  print_held_line();
}

void Decomposition::end_phase(double& seconds) {
  seconds = phase_.seconds();
  phase_.reset();
  progress_.clear();
}

void Decomposition::iteration_done(int iteration, double seconds, std::string const& line,
                                   std::string const& brief) {
  progress_.clear();
  if (iteration <= last_iteration_) print_held_line();  // that was another start's last one
  last_iteration_ = iteration;
  held_line_ = fmt::format("iteration {}: {}, {:.3f} s\n", iteration, line, seconds);
  if (is_round(iteration) || iteration == arguments_.iterations ||
      since_line_.seconds() > seconds_between_lines)
    print_held_line();
  if (iteration < arguments_.iterations) {
    progress_.show(fmt::format("iteration {} of {}, {}, at most {:.0f} s to go", iteration + 1,
                               arguments_.iterations, brief,
                               std::ceil(seconds * (arguments_.iterations - iteration))));
  }
}

void Decomposition::print_held_line() {
  if (!arguments_.quiet) std::fputs(held_line_.c_str(), stdout);
  std::fflush(stdout);
  held_line_.clear();
  since_line_.reset();
}

void Decomposition::keep(std::function<void()> const& write) {
  try {
    write();
    keeps_failing_ = false;
  } catch (Error const& error) {
    progress_.clear();
    tell(std::string("warning: no checkpoint: ") + error.what());
    keeps_failing_ = true;
  }
}

template <class Model>
void Decomposition::print_labels(Model const& model, std::vector<RowMap> const& rows) {
  if (labels_.empty()) return;
  report.top = top_entries(model, labels_, arguments_.top, rows);
  std::fputs(to_text(*report.top).c_str(), stdout);
}

void Decomposition::write_model(bool interrupted, char const* extension,
                                std::function<void(std::string const&)> const& write) {
  model_file_ = arguments_.output;
  if (!model_file_.empty()) {
    write(model_file_);
    return;
  }
  if (!interrupted) return;
  model_file_ = new_name(arguments_.read.file, extension);
  try {
    expect_one_writer("-o", model_file_);
    write(model_file_);
  } catch (Error const& error) {
    tell(std::string("warning: the model so far is lost: ") + error.what());
    model_file_.clear();
  }
}

void Decomposition::close_report(int signal) {
  if (signal != 0) report.stop_reason = std::string("interrupted by ") + signal_name(signal);
  end_phase(report.seconds.write);
  report.seconds.total = total_.seconds();
  report.bytes_plan = sum_of_all(report.bytes_plan);
  report.bytes_peak = sum_of_all(memory_watch_ ? memory_watch_->most() : 0);
  report.bytes_peak_device = sum_of_all(peak_device_bytes());
  report.traffic = traffic_of_all();
}

void Decomposition::write_report() const {
  if (arguments_.report.empty() || !speaks()) return;
  sporades::detail::OutputFile file(arguments_.report);
  file.write(to_json(report));
  file.commit();
}

int Decomposition::finish(int signal, std::string const& result) {
  close_report(signal);
  if (!arguments_.quiet)
    std::printf("%s%s after %zu iterations: %s; %.2f s\n", labels_.empty() ? "" : "\n",
                result.c_str(), report.iterations.size(), report.stop_reason.c_str(),
                report.seconds.total);
  write_report();
  if (keeps_failing_)
    throw RunError("the last checkpoint, " + arguments_.checkpoint + ", could not be written");
  if (signal == 0) return 0;
  tell(fmt::format("interrupted by {} after iteration {}{}{}{}{}", signal_name(signal),
                   report.iterations.size(), model_file_.empty() ? "" : "; the model so far is in ",
                   model_file_, arguments_.checkpoint.empty() ? "" : "; go on with --resume ",
                   arguments_.checkpoint));
  return 128 + signal;
}

int Decomposition::finish_without_model(int signal) {
  close_report(signal);
  write_report();
  tell(fmt::format("interrupted by {} in iteration 1: there is no model yet", signal_name(signal)));
  return 128 + signal;
}

template ReadResult<double> Decomposition::read(std::uint64_t);
template ReadResult<float> Decomposition::read(std::uint64_t);
template void Decomposition::print_labels(KruskalTensor<double> const&, std::vector<RowMap> const&);
template void Decomposition::print_labels(KruskalTensor<float> const&, std::vector<RowMap> const&);
template void Decomposition::print_labels(TuckerTensor<double> const&, std::vector<RowMap> const&);
template void Decomposition::print_labels(TuckerTensor<float> const&, std::vector<RowMap> const&);

}  // namespace sporades::command
