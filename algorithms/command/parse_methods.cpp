// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/command/files.hpp>
#include <sporades/algorithms/command/parse_options.hpp>
#include <sporades/algorithms/command/resume.hpp>
#include <sporades/algorithms/command/tensors.hpp>
#include <sporades/core/error.hpp>
#include <sporades/kernels/mttkrp_plan.hpp>
#include <sporades/kernels/phi_plan.hpp>
#include <sporades/kernels/ttm_chain_plan.hpp>

/// The subcommands that decompose, and `ranks`, which compares models that they would make.

namespace sporades::command {
namespace {

/// What a method's options are for.
enum class For { one_model, ranks };

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

/// Where a run of one model begins, what it writes and goes on from.
void add_model_options(CLI::App& app, DecomposeArguments& common, DecomposeWords const& words) {
  app.add_option("--init", common.init, words.init)->capture_default_str();
  add_whole(
      app, "--starts", common.starts,
      std::string("Starts, one after another, of which the best model is kept: ") + words.starts, 1)
      ->capture_default_str();
  auto* const tuned =
      app.add_flag("--tune", common.tune,
                   "Take the strategy that is the fastest in a few iterations on this tensor, and "
                   "remember it in FILE.tune, or where that cannot be written in "
                   "${XDG_CACHE_HOME:-~/.cache}/sporades/tune.json");
  tuned->excludes(app.get_option("--strategy"));
  app.add_option("--tune-file", common.tune_file, "Where --tune remembers instead")->needs(tuned);
  app.add_option("-o,--output", common.output,
                 std::string("Write the model here, in ") + words.model + " text form");
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
}

void add_decompose_options(CLI::App& app, DecomposeArguments& common, For use,
                           DecomposeWords const& words) {
  app.footer("Cells for which the tensor holds no value count as 0, not as unknown.");
  add_read_options(app, common.read);
  add_compute_options(app, common.compute);
  add_memory(app, common.compute.memory);
  add_whole(app, "--iterations", common.iterations, "Most iterations", 1)->capture_default_str();
  add_real(app, "--tolerance", common.tolerance, words.tolerance)->capture_default_str();
  add_whole(app, "--seed", common.seed, "Of the random start", 0)->capture_default_str();
  app.add_option("--strategy,--format", common.strategy, words.strategy)
      ->check(CLI::IsMember(words.strategies))
      ->capture_default_str();
  if (use == For::one_model) add_model_options(app, common, words);
  app.add_option("--report", common.report, "Write a JSON report here");
  app.add_option("--progress", common.progress, "A live line on standard error")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  add_quiet(app, common.quiet);
}

void add_rank(CLI::App& app, For use, int& rank) {
  if (use == For::one_model)
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

void add_als_options(CLI::App& app, CpAlsArguments& als, For use) {
  add_decompose_options(
      app, als.common, use,
      {"Stop when the fit changes by less; 0: run all iterations",
       "Start: random, hosvd, or a ktensor FILE; automatic: hosvd (roughly) and "
       "random race for 3 iterations; with several --starts both are run to the end",
       "with --init hosvd (and automatic, if it has them) the first is of singular vectors; the "
       "others are random",
       "Format and MTTKRP strategy", sporades::names_of<sporades::MttkrpStrategy>()});
  add_rank(app, use, als.rank);
  app.add_flag("--non-negative", als.non_negative, "Keep all factors at 0 or above");
  add_real(app, "--regularization", als.regularization,
           "Added to the diagonal of every least-squares system")
      ->capture_default_str();
  add_missing(app, als.common, als.missing);
  app.add_flag("--dimension-tree,!--no-dimension-tree", als.dimension_tree,
               "Compute once what the products of several modes share (default: yes)");
  app.add_option("--gather", als.gather,
                 "Precision in which products read factors, with strategies sorted and fibers")
      ->check(CLI::IsMember(sporades::names_of<sporades::GatherPrecision>()))
      ->capture_default_str();
  app.add_option(
         "--slices", als.slices,
         "Slices of a mode, with strategies sorted and fibers: several processes exchange less "
         "with as many as there are of them, one process takes longer")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
}

void add_tucker_options(CLI::App& app, TuckerArguments& tucker, For use) {
  add_decompose_options(
      app, tucker.common, use,
      {"Stop when the fit changes by less; 0: run all iterations",
       "Start: random, hosvd, or a ttensor FILE",
       "with --init hosvd the first is of singular vectors; the others are random",
       "How chains of products are computed", sporades::names_of<sporades::TtmChainStrategy>(),
       "ttensor"});
  app.add_option_function<std::string>(
      "--ranks", [&](std::string const& text) { tucker.ranks = parse_ranks(text, "--ranks"); },
      "Columns of each mode's factor, as 8x8x4 or 8,8,4: none larger than its mode, or than "
      "the product of the others; needed, except with --resume");
}

void add_apr_options(CLI::App& app, CpAprArguments& apr, For use) {
  add_decompose_options(app, apr.common, use,
                        {"Stop when the KKT violation is below it; 0: run all iterations",
                         "Start: random, or a ktensor FILE", "all are random", "How Phi is summed",
                         sporades::names_of<sporades::PhiStrategy>()});
  add_rank(app, use, apr.rank);
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

void add_gcp(CLI::App& app, GcpArguments& gcp, For use) {
  add_decompose_options(
      app, gcp.common, use,
      {"Stop when the loss falls by less than this part of it, or of its fall so far; 0: run all "
       "iterations",
       "Start: random, or a ktensor FILE", "all are random", "Format and MTTKRP strategy",
       sporades::names_of<sporades::MttkrpStrategy>()});
  add_rank(app, use, gcp.rank);
  add_gcp_options(app, gcp);
}

void add_complete(CLI::App& app, CompleteArguments& complete, For use) {
  if (use == For::ranks) complete.holdout = RanksArguments().holdout;
  add_decompose_options(app, complete.common, use,
                        {"Stop when five changes of the error are below this part; 0: run all "
                         "iterations",
                         "Start: random, or a ktensor FILE that complete wrote",
                         "all are random",
                         "Format of the nonzeros",
                         {"automatic", "sorted", "fibers"}});
  add_rank(app, use, complete.rank);
  add_complete_options(app, complete);
}

/// A method's subcommand, and where `compare` is not null, that of `ranks`. required: an option
/// that must be given.
template <class Arguments>
void add_method(CLI::App& app, CLI::App& ranks, Run& run, char const* name, char const* what,
                char const* required, void (*add_options)(CLI::App&, Arguments&, For),
                int (*start)(Arguments const&),
                int (*compare)(Arguments const&, RanksArguments const&)) {
  auto const one = std::make_shared<Arguments>();
  auto& own = *app.add_subcommand(name, what);
  add_options(own, *one, For::one_model);
  own.callback([one, &own, &run, required, start] {
    check_decompose_options(own, one->common, required);
    run = [one, start] { return start(*one); };
  });
  if (compare == nullptr) return;
  auto const several = std::make_shared<Arguments>();
  auto const compared = std::make_shared<RanksArguments>();
  auto& of_ranks = *ranks.add_subcommand(name, what);
  add_options(of_ranks, *several, For::ranks);
  add_ranks_options(of_ranks, several->common, *compared);
  of_ranks.callback([several, compared, &run, compare] {
    run = [several, compared, compare] { return compare(*several, *compared); };
  });
}

}  // namespace

void add_methods(CLI::App& app, Run& run) {
  auto const compared = std::make_shared<CLI::App>(
      "How many components: models of several ranks, from several starts each", "ranks");
  compared->require_subcommand(1);
  compared->footer(
      "A rank is proposed by a rule of thumb: look at the table, and at the models.\n"
      "`sporades ranks METHOD --help` tells the options.");
  add_method(app, *compared, run, "cp-als", "CP decomposition by alternating least squares",
             "--rank", add_als_options, cp_als, cp_als_ranks);
  add_method<TuckerArguments>(app, *compared, run, "tucker",
                              "Tucker decomposition by higher-order orthogonal iteration",
                              "--ranks", add_tucker_options, tucker, nullptr);
  add_method(app, *compared, run, "cp-apr",
             "CP decomposition of counts by alternating Poisson regression", "--rank",
             add_apr_options, cp_apr, cp_apr_ranks);
  add_method(app, *compared, run, "gcp", "CP decomposition by any loss, also of missing data",
             "--rank", add_gcp, gcp, gcp_ranks);
  add_method(app, *compared, run, "complete",
             "What the cells without a value would hold, for example ratings", "--rank",
             add_complete, complete, complete_ranks);
  app.add_subcommand(compared);
}

}  // namespace sporades::command
