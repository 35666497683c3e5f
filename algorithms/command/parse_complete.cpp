// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/command/parse_options.hpp>

namespace sporades::command {

void add_complete_options(CLI::App& app, CompleteArguments& complete) {
  app.footer(
      "A value is the mean, an offset of each of its indices, and the sum of the components.\n"
      "Penalties are chosen by --holdout: the error of values that were held out tells.");
  app.add_flag("--offsets,!--no-offsets", complete.offsets,
               "What each index has by itself, beside the components (default: yes)");
  app.add_option(
         "--penalty", complete.penalty,
         "Cost of large coefficients, one number or one of each mode, as 1,1,0.1: more of it "
         "where values are few or noisy (default: 1.2)")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_real(app, "--offset-penalty", complete.offset_penalty,
           "Cost of large offsets (default: 1.5)");
  add_real(app, "--power", complete.power,
           "Both are multiplied by this power of the number of values that an index has, 0 to 1 "
           "(default: 0.4 with offsets, else 0)");
  app.add_option("--smooth", complete.smooth,
                 "Modes whose neighbouring indices are alike, as months are, and how much, as "
                 "MODE:PENALTY with modes from 1: --smooth 3:5 (or 3:5:2, where a trend may go on: "
                 "second differences are small); or none")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_real(app, "--holdout", complete.holdout,
           "Part of the values, from 0 to below 1, that is held out: iterations end when the error "
           "of these falls no more, and the model is that of the least")
      ->capture_default_str();
  add_whole(app, "--patience", complete.patience,
            "Iterations that go on without a lesser error of values held out", 1)
      ->capture_default_str();
}

void add_split(CLI::App& app, Run& run) {
  auto const arguments = std::make_shared<SplitFileArguments>();
  arguments->read.values = "given";
  auto& own = *app.add_subcommand("split", "Values to learn from, and values to test with");
  add_read_options(own, arguments->read);
  add_real(own, "--fraction", arguments->fraction, "Part of the values that is for the test")
      ->capture_default_str();
  add_whole(
      own, "--by-slice", arguments->mode,
      "Draw whole slices of this mode, from 1: all values of a user or month, not single ones", 1);
  add_whole(own, "--seed", arguments->seed,
            "With the indices of a value it decides where that goes, in any order of FILE", 0)
      ->capture_default_str();
  own.add_option("--train", arguments->train, "Write the values to learn from here")->required();
  own.add_option("--test", arguments->test, "Write those to test with here")->required();
  add_quiet(own, arguments->quiet);
  own.callback([arguments, &run] { run = [arguments] { return split(*arguments); }; });
}

}  // namespace sporades::command
