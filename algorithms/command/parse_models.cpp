// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <charconv>
#include <cmath>
#include <sporades/algorithms/command/parse_options.hpp>
#include <sporades/algorithms/score.hpp>
#include <sporades/core/error.hpp>

namespace sporades::command {
namespace {

void add_model(CLI::App& app, std::string& model) {
  app.add_option("MODEL", model,
                 "CP model in ktensor text form, or Tucker model in ttensor text form")
      ->required();
}

/// --bounds 1:5; a missing one does not bind.
void add_bounds(CLI::App& app, Bounds& bounds) {
  auto const take = [&bounds](std::string const& text) {
    auto const colon = text.find(':');
    auto const number = [&](std::string const& part, double missing) {
      double value = missing;
      auto const [next, error] = std::from_chars(part.data(), part.data() + part.size(), value);
      bool const is_one = part.empty() || (error == std::errc() && std::isfinite(value) &&
                                           next == part.data() + part.size());
      expects(colon != std::string::npos && text.size() > 1 && is_one, "--bounds ", text,
              ": expected LEAST:GREATEST, as 1:5, 0: or :1");
      return value;
    };
    bounds = {number(text.substr(0, colon), bounds.least),
              number(colon == std::string::npos ? "" : text.substr(colon + 1), bounds.greatest)};
    expects(bounds.least <= bounds.greatest, "--bounds ", text, ": the first is the greater one");
  };
  app.add_option_function<std::string>(
      "--bounds", take,
      "What values can be, LEAST:GREATEST, as 1:5 or 0: - the model's are raised or lowered to it "
      "(of evaluate, with --cells given)");
}

void add_view_options(CLI::App& app, ViewArguments& view) {
  add_model(app, view.model);
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
  app.add_option(
      "--name", view.name,
      "Print the components that hold this name, or where a mode has no names this index "
      "(from 1), and their shares of it; the page is written with -o alone");
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

void add_evaluate(CLI::App& app, Run& run) {
  auto const arguments = std::make_shared<EvaluateArguments>();
  auto& own = *app.add_subcommand("evaluate", "How well a model fits a tensor");
  add_model(own, arguments->model);
  add_read_options(own, arguments->read);
  own.add_option("--cells", arguments->cells,
                 "Compare in all cells, where those without a value are 0, or in the given ones "
                 "alone, as for values that the model has not seen")
      ->check(CLI::IsMember({"both", "all", "given"}))
      ->capture_default_str();
  own.add_flag_callback(
      "--fractional-counts", [read = &arguments->read] { read->values = "non-negative"; },
      "Take values that are not whole numbers as counts, too, for log-likelihood and deviance");
  add_bounds(own, arguments->bounds);
  add_real(own, "--epsilon", arguments->epsilon,
           "Least value that the model is taken to have where there is a value, in log-likelihoods "
           "and deviances: with 0, a count that the model has as 0 makes them infinite")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  own.add_flag("--json", arguments->json, "Print the JSON report instead");
  own.add_option("--report", arguments->report, "Write a JSON report here");
  own.callback([arguments, &run] { run = [arguments] { return evaluate(*arguments); }; });
}

void add_score(CLI::App& app, Run& run) {
  auto const arguments = std::make_shared<ScoreArguments>();
  auto& own = *app.add_subcommand("score", "How alike two CP models are: factor match score");
  own.add_option("A", arguments->model, "CP model in ktensor text form")->required();
  own.add_option("B", arguments->other, "CP model in ktensor text form")->required();
  own.add_option("--matching", arguments->matching,
                 "How components are matched: the most alike first, or for the largest score")
      ->check(CLI::IsMember(sporades::names_of<sporades::ScoreMatching>()))
      ->capture_default_str();
  own.add_flag("--weights,!--no-weights", arguments->weights,
               "Components of unlike weights are less alike (default: yes)");
  own.add_flag("--json", arguments->json, "Print the JSON report instead");
  own.callback([arguments, &run] { run = [arguments] { return score(*arguments); }; });
}

void add_predict(CLI::App& app, Run& run) {
  auto const arguments = std::make_shared<PredictArguments>();
  auto& own = *app.add_subcommand("predict", "The values of a model at coordinates");
  add_model(own, arguments->model);
  add_read_options(own, arguments->read);
  own.get_option("FILE")->description(
      "Coordinates: a tensor file, whose values do not count, or one without a column of values");
  add_bounds(own, arguments->bounds);
  own.add_option("-o,--output", arguments->output,
                 "Write the values here, in the order of FILE: a .tns, .tns.gz or .spt file")
      ->required();
  add_quiet(own, arguments->quiet);
  own.callback([arguments, &run] { run = [arguments] { return predict(*arguments); }; });
}

}  // namespace sporades::command
