// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/command/parse_options.hpp>

namespace sporades::command {
namespace {

void add_convert_options(CLI::App& app, ConvertArguments& convert) {
  auto& csv = convert.csv;
  add_precision(app, convert.precision);
  app.add_option("--duplicates", convert.duplicates, "Coordinates that come more than once")
      ->check(CLI::IsMember({"sum", "keep", "mean", "last", "max", "min"}))
      ->capture_default_str();
  auto* const columns = app.add_option(
      "--columns", csv.columns,
      "FILE is a CSV file with a header, gzipped or not: its columns of these names, "
      "as user,item,date, become modes, and what they hold becomes indices");
  app.add_option("--value", csv.value,
                 "Column of the values (default: each row counts 1); rows without one are left out")
      ->needs(columns);
  app.add_option(
      "--separator", csv.separator,
      "Between fields, as ';' or tab (default: that of , ; tab and | by which the header "
      "has the columns)");
  app.add_option(
         "--bin", csv.bin,
         "Dates become days, weeks, months or years: month for all columns of dates such as "
         "2024-03-01, or COLUMN=month,COLUMN=day")
      ->needs(columns);
  app.add_flag_callback(
         "--no-header", [&] { csv.has_header = false; },
         "The first line is a row; columns are named 1, 2 ...")
      ->needs(columns);
  app.add_option(
      "--labels", convert.labels,
      "Write names into this folder, which other commands read with --labels: of indices "
      "mode-0.txt ..., of modes modes.txt");
  app.add_option("--names", convert.names,
                 "Folder with names of the indices of a tensor, as other commands' --labels; a CSV "
                 "file gets the indices of these names, and rows with others are left out");
  add_whole(app, "--min-slice", convert.min_slice,
            "Leave out slices of fewer nonzeros, until all have so many; the others close up", 1);
  auto* const log1p =
      app.add_flag("--log1p", convert.log1p, "Take the logarithm of 1 + x of every value x");
  app.add_flag("--binarize", convert.binarize, "Make every value 1 that is not 0")->excludes(log1p);
  add_bytes(app, "--memory", convert.memory,
            "Most memory to read with, as 500M or 2G (default: all that is left); what is no CSV "
            "and needs more is kept in files in $TMPDIR");
}

}  // namespace

void add_convert(CLI::App& app, Run& run) {
  auto const arguments = std::make_shared<ConvertArguments>();
  auto& own = *app.add_subcommand("convert",
                                  "Write a tensor in another format, or a table (CSV) as a tensor");
  add_read_options(own, arguments->read);
  own.add_option("OUT", arguments->output, "A .tns, .tns.gz or .spt file")->required();
  add_convert_options(own, *arguments);
  add_quiet(own, arguments->quiet);
  own.callback([arguments, &run] { run = [arguments] { return convert(*arguments); }; });
}

}  // namespace sporades::command
