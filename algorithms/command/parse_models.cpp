// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/command/parse_options.hpp>

namespace sporades::command {
namespace {

void add_view_options(CLI::App& app, ViewArguments& view) {
  app.add_option("MODEL", view.model,
                 "CP model in ktensor text form, or Tucker model in ttensor text form")
      ->required();
  app.add_option("--labels", view.labels,
                 "Folder with text files of one name a line, mode-0.txt ... (some modes may have "
                 "none)");
  app.add_option("-o,--output", view.output,
                 "Write the page here (default: MODEL with .html instead of its suffix)");
  add_whole(app, "--top", view.top,
            "Entries of a component and mode, and of a core, that are named", 1)
      ->capture_default_str();
  add_whole(app, "--components", view.components,
            "Most components, or columns of a mode's factor, that are shown: the strongest", 1)
      ->capture_default_str();
  app.add_option("--lines", view.lines,
                 "Modes to draw as lines, as 1,3, or none (default: those whose names are dates, "
                 "times, years, hours, months or days of the week in ascending order)");
  add_quiet(app, view.quiet);
}

}  // namespace

void add_view(CLI::App& app, Run& run) {
  auto const arguments = std::make_shared<ViewArguments>();
  auto& own = *app.add_subcommand("view", "Show a model as a page for a browser or paper");
  add_view_options(own, *arguments);
  own.callback([arguments, &run] { run = [arguments] { return view(*arguments); }; });
}

}  // namespace sporades::command
