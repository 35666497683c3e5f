// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sporades/algorithms/command/arguments.hpp>
#include <sporades/algorithms/command/files.hpp>
#include <sporades/algorithms/command/number_option.hpp>
#include <sporades/algorithms/command/parse.hpp>
#include <sporades/algorithms/command/parse_options.hpp>
#include <sporades/algorithms/command/processor.hpp>
#include <sporades/algorithms/command/resume.hpp>
#include <sporades/algorithms/command/tensors.hpp>
#include <sporades/algorithms/generate.hpp>
#include <sporades/core/error.hpp>
#include <sporades/kernels/mttkrp_plan.hpp>
#include <sporades/kernels/phi_plan.hpp>
#include <sporades/kernels/ttm_chain_plan.hpp>

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

void add_compute_options(CLI::App& app, ComputeArguments& compute) {
  app.add_option(
      "--backend", compute.backend,
      "Where to compute: serial, openmp, cuda or hip, if built in (default: Kokkos' own)");
  add_precision(app, compute.precision);
}

void add_memory(CLI::App& app, std::uint64_t& memory) {
  add_bytes(app, "--memory", memory,
            "Most memory, of the GPU if that is where to compute, as 500M, 2G or 1.5GB (default: "
            "all that is left); a tensor that needs more is streamed where possible, on a CPU from "
            "files in $TMPDIR, else refused");
}

/// What the subcommands that decompose call differently.
struct DecomposeWords {
  char const* tolerance;
  char const* init;
  char const* starts;  // of several, which they are
  char const* strategy;
  std::vector<std::string> strategies;
  char const* model = "ktensor";
};

void add_decompose_options(CLI::App& app, DecomposeArguments& common, DecomposeWords const& words) {
  app.footer("Cells for which the tensor holds no value count as 0, not as unknown.");
  add_read_options(app, common.read);
  add_compute_options(app, common.compute);
  add_memory(app, common.compute.memory);
  add_whole(app, "--iterations", common.iterations, "Most iterations", 1)->capture_default_str();
  add_real(app, "--tolerance", common.tolerance, words.tolerance)->capture_default_str();
  add_whole(app, "--seed", common.seed, "Of the random start", 0)->capture_default_str();
  app.add_option("--init", common.init, words.init)->capture_default_str();
  add_whole(
      app, "--starts", common.starts,
      std::string("Starts, one after another, of which the best model is kept: ") + words.starts, 1)
      ->capture_default_str();
  auto* const strategy = app.add_option("--strategy,--format", common.strategy, words.strategy)
                             ->check(CLI::IsMember(words.strategies))
                             ->capture_default_str();
  auto* const tuned =
      app.add_flag("--tune", common.tune,
                   "Take the strategy that is the fastest in a few iterations on this tensor, and "
                   "remember it in FILE.tune, or where that cannot be written in "
                   "${XDG_CACHE_HOME:-~/.cache}/sporades/tune.json");
  tuned->excludes(strategy);
  app.add_option("--tune-file", common.tune_file, "Where --tune remembers instead")->needs(tuned);
  app.add_option("-o,--output", common.output,
                 std::string("Write the model here, in ") + words.model + " text form");
  app.add_option("--report", common.report, "Write a JSON report here");
  app.add_option("--checkpoint", common.checkpoint,
                 "Keep a checkpoint here, from which --resume goes on");
  add_whole(app, "--checkpoint-every", common.checkpoint_every, "Iterations between checkpoints", 1)
      ->capture_default_str();
  app.add_option("--resume", common.resume,
                 "Go on from this checkpoint; options that are left out are as it tells")
      ->excludes(tuned);
  app.add_option("--labels", common.labels,
                 "Folder with text files of one name a line, mode-0.txt ... (some modes may have "
                 "none): print the top entries of each component, and put them into the report");
  add_whole(app, "--top", common.top, "Entries of a component and mode to print, with --labels", 1)
      ->capture_default_str();
  app.add_option("--progress", common.progress, "A live line on standard error")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  add_quiet(app, common.quiet);
}

void add_rank(CLI::App& app, int& rank) {
  add_whole(app, "--rank", rank, "Number of components; needed, except with --resume", 1);
}

/// To be called once the subcommand is parsed: a run that is resumed has its checkpoint's options,
/// and any other one needs `required`.
void check_decompose_options(CLI::App& app, DecomposeArguments const& common,
                             char const* required) {
  expects(!is_pipe(common.resume), "--resume ", common.resume,
          " is a pipe; a checkpoint is read twice: give a file");
  expects(app.count("--top") == 0 || !common.labels.empty(),
          "--top says how many names of --labels are printed; there is no --labels");
  if (!common.resume.empty()) take_options_of_checkpoint(app, common.resume);
  expects(app.count(required) > 0, required, " is required (sporades ", app.get_name(),
          " --help tells the usage)");
}

void add_apr_options(CLI::App& app, CpAprArguments& apr) {
  add_rank(app, apr.rank);
  app.add_option("--method", apr.method,
                 "Multiplicative updates, or a row at a time damped Newton or quasi-Newton steps "
                 "(default: pqnr, and mu where --strategy, --tune, --pi or --epsilon is given)")
      ->check(CLI::IsMember({"mu", "pdnr", "pqnr"}));
  add_whole(app, "--inner-iterations", apr.inner_iterations,
            "Most updates of a mode in one iteration", 1)
      ->capture_default_str();
  add_real(app, "--kappa", apr.kappa, "Added to an entry that should not be 0")
      ->capture_default_str();
  add_real(app, "--kappa-tolerance", apr.kappa_tolerance, "Entries below it count as 0 there")
      ->capture_default_str();
  add_real(app, "--epsilon", apr.epsilon, "Least value that the model divides by")
      ->capture_default_str();
  app.add_option("--pi", apr.pi, "Products of factor rows: computed where they are used, or kept")
      ->check(CLI::IsMember({"on-the-fly", "stored"}))
      ->capture_default_str();
  app.add_flag_callback(
      "--fractional-counts", [&] { apr.common.read.values = "non-negative"; },
      "Take counts that are not whole numbers");
}

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
  auto const typed = app.get_subcommands();
  std::string const name = typed.empty() ? "sporades" : "sporades " + typed[0]->get_name();
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

  CpAlsArguments cp_als_arguments;
  cp_als_arguments.common.init = "automatic";
  auto& cp_als_app = *app.add_subcommand("cp-als", "CP decomposition by alternating least squares");
  add_decompose_options(
      cp_als_app, cp_als_arguments.common,
      {"Stop when the fit changes by less; 0: run all iterations",
       "Start: random, hosvd, or a ktensor FILE; automatic: hosvd (roughly) and "
       "random race for 3 iterations; with several --starts both are run to the end",
       "with --init hosvd (and automatic, if it has them) the first is of singular vectors; the "
       "others are random",
       "Format and MTTKRP strategy", sporades::names_of<sporades::MttkrpStrategy>()});
  add_rank(cp_als_app, cp_als_arguments.rank);
  cp_als_app.add_flag("--non-negative", cp_als_arguments.non_negative,
                      "Keep all factors at 0 or above");
  add_real(cp_als_app, "--regularization", cp_als_arguments.regularization,
           "Added to the diagonal of every least-squares system")
      ->capture_default_str();
  add_missing(cp_als_app, cp_als_arguments.common, cp_als_arguments.missing);
  cp_als_app.add_flag("--dimension-tree,!--no-dimension-tree", cp_als_arguments.dimension_tree,
                      "Compute once what the products of several modes share (default: yes)");
  cp_als_app
      .add_option("--gather", cp_als_arguments.gather,
                  "Precision in which products read factors, with strategies sorted and fibers")
      ->check(CLI::IsMember(sporades::names_of<sporades::GatherPrecision>()))
      ->capture_default_str();
  cp_als_app
      .add_option(
          "--slices", cp_als_arguments.slices,
          "Slices of a mode, with strategies sorted and fibers: several processes exchange less "
          "with as many as there are of them, one process takes longer")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  cp_als_app.callback([&] {
    check_decompose_options(cp_als_app, cp_als_arguments.common, "--rank");
    run = [=] { return cp_als(cp_als_arguments); };
  });

  TuckerArguments tucker_arguments;
  auto& tucker_app =
      *app.add_subcommand("tucker", "Tucker decomposition by higher-order orthogonal iteration");
  add_decompose_options(
      tucker_app, tucker_arguments.common,
      {"Stop when the fit changes by less; 0: run all iterations",
       "Start: random, hosvd, or a ttensor FILE",
       "with --init hosvd the first is of singular vectors; the others are random",
       "How chains of products are computed", sporades::names_of<sporades::TtmChainStrategy>(),
       "ttensor"});
  tucker_app.add_option_function<std::string>(
      "--ranks",
      [&](std::string const& text) { tucker_arguments.ranks = parse_ranks(text, "--ranks"); },
      "Columns of each mode's factor, as 8x8x4 or 8,8,4: none larger than its mode, or than "
      "the product of the others; needed, except with --resume");
  tucker_app.callback([&] {
    check_decompose_options(tucker_app, tucker_arguments.common, "--ranks");
    run = [=] { return tucker(tucker_arguments); };
  });

  CpAprArguments cp_apr_arguments;
  cp_apr_arguments.common.iterations = 1000;
  cp_apr_arguments.common.tolerance = 1e-4;
  cp_apr_arguments.common.read.values = "counts";
  auto& cp_apr_app =
      *app.add_subcommand("cp-apr", "CP decomposition of counts by alternating Poisson regression");
  add_decompose_options(cp_apr_app, cp_apr_arguments.common,
                        {"Stop when the KKT violation is below it; 0: run all iterations",
                         "Start: random, or a ktensor FILE", "all are random", "How Phi is summed",
                         sporades::names_of<sporades::PhiStrategy>()});
  add_apr_options(cp_apr_app, cp_apr_arguments);
  cp_apr_app.callback([&] {
    check_decompose_options(cp_apr_app, cp_apr_arguments.common, "--rank");
    run = [=] { return cp_apr(cp_apr_arguments); };
  });

  GcpArguments gcp_arguments;
  gcp_arguments.common.iterations = 1000;
  gcp_arguments.common.tolerance = 1e-8;
  auto& gcp_app = *app.add_subcommand("gcp", "CP decomposition by any loss, also of missing data");
  add_decompose_options(
      gcp_app, gcp_arguments.common,
      {"Stop when the loss falls by less than this part of it, or of its fall so far; 0: run all "
       "iterations",
       "Start: random, or a ktensor FILE", "all are random", "Format and MTTKRP strategy",
       sporades::names_of<sporades::MttkrpStrategy>()});
  add_rank(gcp_app, gcp_arguments.rank);
  add_gcp_options(gcp_app, gcp_arguments);
  gcp_app.callback([&] {
    check_decompose_options(gcp_app, gcp_arguments.common, "--rank");
    run = [=] { return gcp(gcp_arguments); };
  });

  CompleteArguments complete_arguments;
  auto& complete_app = *app.add_subcommand(
      "complete", "What the cells without a value would hold, for example ratings");
  add_decompose_options(
      complete_app, complete_arguments.common,
      {"Stop when five changes of the error are below this part; 0: run all iterations",
       "Start: random, or a ktensor FILE that complete wrote",
       "all are random",
       "Format of the nonzeros",
       {"automatic", "sorted", "fibers"}});
  add_rank(complete_app, complete_arguments.rank);
  add_complete_options(complete_app, complete_arguments);
  complete_app.callback([&] {
    check_decompose_options(complete_app, complete_arguments.common, "--rank");
    run = [=] { return complete(complete_arguments); };
  });

  add_view(app, run);
  add_evaluate(app, run);
  add_score(app, run);
  add_predict(app, run);
  add_split(app, run);

  int threads = 0;
  add_threads(app, threads);
  for (auto* const one : app.get_subcommands([](CLI::App*) { return true; }))
    add_threads(*one, threads);

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
