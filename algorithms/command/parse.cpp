// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sporades/algorithms/command/arguments.hpp>
#include <sporades/algorithms/command/number_option.hpp>
#include <sporades/algorithms/command/parse.hpp>
#include <sporades/algorithms/command/parse_options.hpp>
#include <sporades/algorithms/command/processor.hpp>
#include <sporades/algorithms/command/tensors.hpp>
#include <sporades/algorithms/generate.hpp>
#include <sporades/core/error.hpp>
#include <sporades/kernels/mttkrp_plan.hpp>

namespace sporades::command {

void add_read_options(CLI::App& app, ReadArguments& read) {
  app.add_option(
         "FILE", read.file,
         "Tensor: .tns text of any dialect, MatrixMarket or TensorMarket, gzipped or not, or "
         ".spt; - is the standard input")
      ->required();
  app.add_option("--dims", read.dims, "Lengths of the modes, as 183x24x1140 (default: the file's)");
  app.add_option("--index-base", read.index_base, "What the file's indices count from")
      ->check(CLI::IsMember({"automatic", "one", "zero", "per-mode"}))
      ->capture_default_str();
  app.add_option("--first-line", read.first_line,
                 "What a first line of numbers is: a nonzero, or a header of dims and number of "
                 "nonzeros (or of order and number, and the dims in the next line)")
      ->check(CLI::IsMember({"automatic", "nonzero", "header"}))
      ->capture_default_str();
  app.add_flag("--pattern", read.pattern, "The file has no column of values: each is 1");
}

void add_precision(CLI::App& app, std::string& precision) {
  app.add_option("--precision", precision, "Type of values and factors")
      ->check(CLI::IsMember({"double", "float"}))
      ->capture_default_str();
}

void add_quiet(CLI::App& app, bool& quiet) {
  app.add_flag("-q,--quiet", quiet, "Print no more than warnings, errors and what is asked for");
}

void add_missing(CLI::App& app, DecomposeArguments& common, bool& missing) {
  app.add_flag_callback(
      "--missing",
      [&] {
        missing = true;
        common.read.values = "given";
      },
      "Cells without a value are unknown, and do not count");
}

namespace {

void add_expected_options(CLI::App& app, InfoArguments& info) {
  auto* const processes = app.add_option_function<std::string>(
      "--processes",
      [&](std::string const& text) { info.processes = parse_processes(text, "--processes"); },
      "Print instead what an iteration of cp-als would send, hold and take on so many processes, "
      "as 8,64,512, up to 65536");
  processes->excludes("--json")->excludes("--report");
  app.add_option("--strategy", info.strategy, "That of cp-als, with --processes")
      ->check(CLI::IsMember(sporades::names_of<sporades::MttkrpStrategy>()))
      ->capture_default_str()
      ->needs(processes);
  add_precision(app, info.precision);
  app.get_option("--precision")->needs(processes);
  add_real(
      app, "--latency", info.latency,
      "Seconds of a message (default: 2e-6, or measured where mpirun starts several processes)")
      ->needs(processes);
  add_real(app, "--bandwidth", info.bandwidth,
           "Bytes a second that a process sends (default: 1e10, or measured)")
      ->needs(processes);
  add_real(app, "--seconds", info.seconds,
           "Seconds of an iteration on one process (default: measured here)")
      ->needs(processes);
}

void add_threads(CLI::App& app, int& threads) {
  add_whole(app, "--threads", threads,
            "Threads of the host to compute with (short for --kokkos-num-threads)", 1);
}

/// Says what the parser did not like. Arguments that nothing takes come first: they may be what
/// seems to be missing, misspelt.
[[noreturn]] void fail_usage(CLI::App const& app, CLI::ParseError const& error) {
  std::string name = "sporades";
  for (auto typed = app.get_subcommands(); !typed.empty(); typed = typed[0]->get_subcommands())
    name += " " + typed[0]->get_name();
  std::string what = error.what();
  auto const extra = app.remaining(true);
  if (!extra.empty()) {
    auto const is_option = [](std::string const& one) { return one.rfind("-", 0) == 0; };
    auto const option = std::find_if(extra.begin(), extra.end(), is_option);
    what = option == extra.end() ? "nothing takes the argument '" + extra[0] + "'"
                                 : "'" + *option + "' is no option of " + name;
  }
  fail(what, " (", name, " --help tells the usage)");
}

}  // namespace

Parsed parse(std::vector<std::string> arguments) {
  CLI::App app("Sporades: sparse tensor decompositions on Kokkos.", "sporades");
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  app.footer(
      "Kokkos' own options may be given anywhere, as --kokkos-device-id=1.\n"
      "`sporades SUBCOMMAND --help` tells a subcommand's options.");
  std::function<int()> run;

  InfoArguments info_arguments;
  auto& info_app = *app.add_subcommand(
      "info", "What a tensor is like, and its size in each format; or what a model is");
  add_read_options(info_app, info_arguments.read);
  add_whole(info_app, "--rank", info_arguments.rank, "Rank that `automatic` is asked for", 1)
      ->capture_default_str();
  info_app.add_flag("--json", info_arguments.json, "Print the JSON report instead");
  info_app.add_option("--report", info_arguments.report, "Write a JSON report here");
  add_expected_options(info_app, info_arguments);
  info_app.footer(
      "storage_words in the report are those of each format for products on the mode: an index, a\n"
      "position or a value is one word; coo and permuted serve all modes. They are exact whole\n"
      "numbers, except that those of hocsr past 64 bits are rounded to double precision.\n"
      "break_even names two formats; dense is an array of all cells. Up to this density (and so\n"
      "many nonzeros) the first takes no more words than the second.");
  info_app.callback([&] { run = [=] { return info(info_arguments); }; });

  GenerateArguments generate_arguments;
  auto& generate_app = *app.add_subcommand("generate", "Make a random tensor");
  auto* const like = generate_app.add_option(
      "--like", generate_arguments.like,
      "Resemble a published tensor: " + fmt::format("{}", fmt::join(generate_like_names(), ", ")));
  auto* const dims = generate_app.add_option("--dims", generate_arguments.dims,
                                             "Lengths of the modes, as 183x24x1140x1717");
  add_whole(generate_app, "--nnz", generate_arguments.nnz, "Number of nonzeros", 0);
  auto* const skew = add_real(generate_app, "--skew", generate_arguments.skew,
                              "Power law of the slices' nonzeros; 0 is uniform (with --dims)");
  add_whole(generate_app, "--seed", generate_arguments.seed, "Default 20240607", 0);
  generate_app.add_option("-o,--output", generate_arguments.output, "A .tns, .tns.gz or .spt file")
      ->required();
  add_quiet(generate_app, generate_arguments.quiet);
  like->excludes(dims);
  like->excludes(skew);
  generate_app.callback([&] { run = [=] { return generate(generate_arguments); }; });

  add_convert(app, run);

  add_methods(app, run);
  add_view(app, run);
  add_evaluate(app, run);
  add_score(app, run);
  add_predict(app, run);
  add_split(app, run);

  int threads = 0;
  add_threads(app, threads);
  auto const all = [](CLI::App*) { return true; };
  for (auto* const one : app.get_subcommands(all)) {
    auto const inner = one->get_subcommands(all);
    add_threads(*one, threads);
    for (auto* const method : inner) add_threads(*method, threads);
  }

  if (!arguments.empty() && arguments[0][0] != '-') {
    auto const named = [&](CLI::App const* one) { return one->get_name() == arguments[0]; };
    expects(!app.get_subcommands(named).empty(), "'", arguments[0],
            "' is no subcommand (sporades --help tells them)");
  }
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app.parse(arguments);
  } catch (CLI::Success const& answer) {
    return {nullptr, app.exit(answer)};
  } catch (CLI::ParseError const& error) {
    fail_usage(app, error);
  }
  return {run, 0, threads};
}

}  // namespace sporades::command
