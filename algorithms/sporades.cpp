// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// The sporades command: reads the command line, starts Kokkos, runs a subcommand, and turns what
/// is thrown into one line on standard error and an exit status (2: bad usage or input, 1: a
/// failure while running).

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>
#include <new>
#include <sporades/algorithms/command/arguments.hpp>
#include <sporades/algorithms/command/memory.hpp>
#include <sporades/algorithms/command/runtime.hpp>
#include <sporades/core/error.hpp>
#include <sporades/kernels/mttkrp.hpp>
#include <sporades/kernels/ttm_chain.hpp>
#include <sporades/version.hpp>

namespace sporades::command {
namespace {

using Run = std::function<int()>;

void add_read_options(CLI::App& app, ReadArguments& read) {
  app.add_option("FILE", read.file, "Tensor: .tns text of any dialect, gzipped or not, or .spt")
      ->required();
  app.add_option("--dims", read.dims, "Lengths of the modes, as 183x24x1140 (default: the file's)");
  app.add_option("--index-base", read.index_base, "What the file's indices count from")
      ->check(CLI::IsMember({"automatic", "one", "zero", "per-mode"}))
      ->capture_default_str();
  app.add_flag("--pattern", read.pattern, "The file has no column of values: each is 1");
}

void add_precision(CLI::App& app, std::string& precision) {
  app.add_option("--precision", precision, "Type of values and factors")
      ->check(CLI::IsMember({"double", "float"}))
      ->capture_default_str();
}

void add_compute_options(CLI::App& app, ComputeArguments& compute) {
  app.add_option(
      "--backend", compute.backend,
      "Where to compute: serial, openmp, cuda or hip, if built in (default: Kokkos' own)");
  add_precision(app, compute.precision);
}

/// What the subcommands that decompose call differently.
struct DecomposeWords {
  char const* tolerance;
  char const* init;
  char const* strategy;
  std::vector<std::string> strategies;
  char const* model = "ktensor";
};

void add_decompose_options(CLI::App& app, DecomposeArguments& common, DecomposeWords const& words) {
  add_read_options(app, common.read);
  add_compute_options(app, common.compute);
  app.add_option("--iterations", common.iterations, "Most iterations")->capture_default_str();
  app.add_option("--tolerance", common.tolerance, words.tolerance)->capture_default_str();
  app.add_option("--seed", common.seed, "Of the random start")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--init", common.init, words.init)->capture_default_str();
  app.add_option("--format,--strategy", common.strategy, words.strategy)
      ->check(CLI::IsMember(words.strategies))
      ->capture_default_str();
  app.add_option("-o,--output", common.output,
                 std::string("Write the model here, in ") + words.model + " text form");
  app.add_option("--report", common.report, "Write a JSON report here");
  app.add_option("--checkpoint", common.checkpoint,
                 "Keep a checkpoint here, from which --resume goes on");
  app.add_option("--checkpoint-every", common.checkpoint_every, "Iterations between checkpoints")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--resume", common.resume, "Go on from this checkpoint");
  app.add_option("--labels", common.labels,
                 "Folder with one text file a mode, one name a line (mode-0.txt ...): print the "
                 "top entries of each component");
  app.add_option("--top", common.top, "Entries a component and mode to print with --labels")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--progress", common.progress, "A live line on standard error")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
}

void add_apr_options(CLI::App& app, CpAprArguments& apr) {
  app.add_option("--rank", apr.rank, "Number of components")
      ->required()
      ->check(CLI::PositiveNumber);
  app.add_option("--method", apr.method,
                 "Multiplicative updates, or a row at a time damped Newton or quasi-Newton steps")
      ->check(CLI::IsMember({"mu", "pdnr", "pqnr"}))
      ->capture_default_str();
  app.add_option("--inner-iterations", apr.inner_iterations,
                 "Most updates of a mode in one iteration")
      ->capture_default_str();
  app.add_option("--kappa", apr.kappa, "Added to an entry that should not be 0")
      ->capture_default_str();
  app.add_option("--kappa-tolerance", apr.kappa_tolerance, "Entries below it count as 0 there")
      ->capture_default_str();
  app.add_option("--epsilon", apr.epsilon, "Least value that the model divides by")
      ->capture_default_str();
  app.add_option("--pi", apr.pi, "Products of factor rows: computed where they are used, or kept")
      ->check(CLI::IsMember({"on-the-fly", "stored"}))
      ->capture_default_str();
  app.add_flag_callback(
      "--fractional-counts", [&] { apr.common.read.values = "non-negative"; },
      "Take counts that are not whole numbers");
}

/// The subcommand that was chosen, or none where the parser has answered itself (help, version).
struct Parsed {
  Run run;
  int status = 0;
};

Parsed parse(std::vector<std::string> arguments) {
  CLI::App app("Sporades: sparse tensor decompositions on Kokkos.", "sporades");
  app.set_version_flag("--version", std::string("sporades ") + version);
  app.require_subcommand(1);
  app.footer(
      "Kokkos' own options may be given anywhere, as --kokkos-num-threads=4.\n"
      "`sporades SUBCOMMAND --help` tells a subcommand's options.");
  Run run;

  InfoArguments info_arguments;
  auto& info_app =
      *app.add_subcommand("info", "What a tensor is like, and its size in each format");
  add_read_options(info_app, info_arguments.read);
  info_app.add_option("--rank", info_arguments.rank, "Rank that `automatic` is asked for")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  info_app.add_flag("--json", info_arguments.json, "As JSON");
  info_app.callback([&] { run = [=] { return info(info_arguments); }; });

  GenerateArguments generate_arguments;
  auto& generate_app = *app.add_subcommand("generate", "Make a random tensor");
  auto* const like = generate_app.add_option(
      "--like", generate_arguments.like,
      "Resemble a published tensor: nell-2, nell-2s, nell-1, delicious-4d, vast-2015, uber");
  auto* const dims = generate_app.add_option("--dims", generate_arguments.dims,
                                             "Lengths of the modes, as 183x24x1140x1717");
  generate_app.add_option("--nnz", generate_arguments.nnz, "Number of nonzeros")
      ->check(CLI::NonNegativeNumber);
  auto* const skew =
      generate_app.add_option("--skew", generate_arguments.skew,
                              "Power law of the slices' nonzeros; 0 is uniform (with --dims)");
  generate_app.add_option("--seed", generate_arguments.seed, "Default 20240607")
      ->check(CLI::NonNegativeNumber);
  generate_app.add_option("-o,--output", generate_arguments.output, "A .tns, .tns.gz or .spt file")
      ->required();
  like->excludes(dims);
  like->excludes(skew);
  generate_app.callback([&] { run = [=] { return generate(generate_arguments); }; });

  ConvertArguments convert_arguments;
  auto& convert_app = *app.add_subcommand("convert", "Write a tensor in another format");
  add_read_options(convert_app, convert_arguments.read);
  convert_app.add_option("OUT", convert_arguments.output, "A .tns, .tns.gz or .spt file")
      ->required();
  add_precision(convert_app, convert_arguments.precision);
  convert_app
      .add_option("--duplicates", convert_arguments.duplicates,
                  "Coordinates that come more than once")
      ->check(CLI::IsMember({"sum", "keep"}))
      ->capture_default_str();
  convert_app.callback([&] { run = [=] { return convert(convert_arguments); }; });

  CpAlsArguments cp_als_arguments;
  auto& cp_als_app = *app.add_subcommand("cp-als", "CP decomposition by alternating least squares");
  add_decompose_options(cp_als_app, cp_als_arguments.common,
                        {"Stop when the fit changes by less; 0: run all iterations",
                         "Start: random, hosvd, or a ktensor FILE",
                         "Format and MTTKRP strategy",
                         {std::begin(mttkrp_strategy_names), std::end(mttkrp_strategy_names)}});
  cp_als_app.add_option("--rank", cp_als_arguments.rank, "Number of components")
      ->required()
      ->check(CLI::PositiveNumber);
  cp_als_app.add_flag("--non-negative", cp_als_arguments.non_negative,
                      "Keep all factors at 0 or above");
  cp_als_app
      .add_option("--regularization", cp_als_arguments.regularization,
                  "Added to the diagonal of every least-squares system")
      ->capture_default_str();
  cp_als_app.add_flag("--dimension-tree,!--no-dimension-tree", cp_als_arguments.dimension_tree,
                      "Compute once what the products of several modes share (default: yes)");
  cp_als_app.callback([&] { run = [=] { return cp_als(cp_als_arguments); }; });

  TuckerArguments tucker_arguments;
  auto& tucker_app =
      *app.add_subcommand("tucker", "Tucker decomposition by higher-order orthogonal iteration");
  add_decompose_options(tucker_app, tucker_arguments.common,
                        {"Stop when the fit changes by less; 0: run all iterations",
                         "Start: random, hosvd, or a ttensor FILE",
                         "How chains of products are computed",
                         {std::begin(ttm_chain_strategy_names), std::end(ttm_chain_strategy_names)},
                         "ttensor"});
  tucker_app
      .add_option("--ranks", tucker_arguments.ranks,
                  "Columns of each mode's factor, as 8,8,4: none larger than its mode, or than the "
                  "product of the others")
      ->required()
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  tucker_app
      .add_option("--starts", tucker_arguments.starts,
                  "Random starts, of seeds that follow each other; the best model is kept")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  tucker_app.callback([&] { run = [=] { return tucker(tucker_arguments); }; });

  CpAprArguments cp_apr_arguments;
  cp_apr_arguments.common.iterations = 1000;
  cp_apr_arguments.common.tolerance = 1e-4;
  cp_apr_arguments.common.read.values = "counts";
  auto& cp_apr_app =
      *app.add_subcommand("cp-apr", "CP decomposition of counts by alternating Poisson regression");
  add_decompose_options(cp_apr_app, cp_apr_arguments.common,
                        {"Stop when the KKT violation is below it; 0: run all iterations",
                         "Start: random, or a ktensor FILE",
                         "How Phi is summed",
                         {"automatic", "atomic", "pull", "alto"}});
  add_apr_options(cp_apr_app, cp_apr_arguments);
  cp_apr_app.callback([&] { run = [=] { return cp_apr(cp_apr_arguments); }; });

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
    fail(error.what(), " (sporades --help tells the usage)");
  }
  return {run, 0};
}

int run(int argc, char** argv) {
  auto [own, kokkos] = split_arguments(argc, argv);
  Parsed const parsed = parse(own);
  int status = parsed.status;
  if (parsed.run) {
    KokkosScope const scope(argv[0], kokkos);
    status = parsed.run();
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) || !std::cout.flush())
    throw RunError("standard output cannot be written");
  return status;
}

int report_error(std::string const& message, int status) {
  std::fflush(stdout);
  std::fprintf(stderr, "sporades: error: %s\n", message.c_str());
  return status;
}

}  // namespace
}  // namespace sporades::command

int main(int argc, char** argv) {
  using sporades::command::report_error;
  try {
    return sporades::command::run(argc, argv);
  } catch (sporades::RunError const& error) {
    return report_error(error.what(), 1);
  } catch (sporades::Error const& error) {
    return report_error(error.what(), 2);
  } catch (std::bad_alloc const&) {
    return report_error("memory ran out: " + sporades::command::memory_sentence(), 1);
  } catch (std::exception const& error) {
    return report_error(error.what(), 1);
  }
}
