// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sporades/algorithms/command/count_sums.hpp>
#include <sporades/algorithms/command/files.hpp>
#include <sporades/algorithms/command/model_signs.hpp>
#include <sporades/algorithms/command/models.hpp>
#include <sporades/algorithms/command/processes.hpp>
#include <sporades/algorithms/command/report.hpp>
#include <sporades/algorithms/command/tensors.hpp>
#include <sporades/formats/files/detail/file.hpp>
#include <sporades/kernels/innerprod.hpp>
#include <sporades/kernels/model_values.hpp>

namespace sporades::command {
namespace {

using Exec = Kokkos::DefaultHostExecutionSpace;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// How far a model is from a tensor, in all cells or in those that have a value.
struct Distance {
  double cells = 0;
  double fit = none, rmse = none;
  double log_likelihood = none, deviance = none, explained = none;
  std::string why_not;  // there is no log-likelihood
};

/// Sums over the nonzeros: values x of the tensor and m of the model.
struct Sums {
  CountSums counts;
  double squares = 0, model_squares = 0, residual_squares = 0;
  double x_log_m = 0, m = 0;  // of m or epsilon, the larger one
  double raised = 0;          // what epsilon adds to the sum of m
  Position zero_model = 0;    // nonzeros at which the model is 0
  std::string no_counts, negative_model;

  template <class Tensor, class Values>
  Sums(Tensor const& X, Values const& values, EvaluateArguments const& arguments) {
    bool const has_fractions = arguments.read.values == "non-negative";
    counts.add(X.values, X.nnz());
    for (Position p = 0; p < X.nnz(); ++p) {
      double const x = X.values(p), model = values(p), residual = x - model;
      double const mean = std::max(model, arguments.epsilon);
      squares += x * x;
      model_squares += model * model;
      residual_squares += residual * residual;
      m += mean;
      raised += mean - model;
      if (x > 0 && mean > 0) x_log_m += x * std::log(mean);
      zero_model += x > 0 && mean == 0;
      if (no_counts.empty() && (x < 0 || (!has_fractions && x != std::floor(x))))
        no_counts = fmt::format("the value {} is no count", x);
      if (negative_model.empty() && model < 0)
        negative_model = fmt::format("the model is {} at a value", model);
    }
  }
};

void set_fit(Distance& distance, double residual_squares, double squares) {
  if (squares > 0) distance.fit = 1 - std::sqrt(residual_squares / squares);
  if (distance.cells > 0) distance.rmse = std::sqrt(residual_squares / distance.cells);
}

/// sum: of the model's entries in these cells.
void set_likelihood(Distance& distance, Sums const& sums, double sum,
                    std::string const& negative_model) {
  distance.why_not = !sums.no_counts.empty() ? sums.no_counts : negative_model;
  if (!distance.why_not.empty()) return;
  auto counts = sums.counts;
  counts.cells = distance.cells;
  if (sums.zero_model > 0) {
    distance.why_not = fmt::format(
        "the model is 0 at {} counts, which makes it -infinity; --epsilon 1e-3 would take such "
        "entries as 0.001",
        sums.zero_model);
    return;
  }
  distance.log_likelihood = sums.x_log_m - sum;
  distance.deviance = counts.deviance(distance.log_likelihood);
  distance.explained = counts.explained(distance.log_likelihood);
}

struct Distances {
  Distance all, given;
};

template <class Tensor, class Model>
Distances distances(Tensor const& X, Model const& model, EvaluateArguments const& arguments) {
  Exec const exec;
  auto const values = model_values(exec, X, model);
  for (Position p = 0; p < X.nnz(); ++p) values(p) = arguments.bounds.of(values(p));
  Sums const sums(X, values, arguments);
  Distances result;
  result.given.cells = static_cast<double>(X.nnz());
  set_fit(result.given, sums.residual_squares, sums.squares);
  set_likelihood(result.given, sums, sums.m, sums.negative_model);
  double const cells = sporades::detail::dense_size(X.dims);
  if (result.given.cells == cells) {
    result.all = result.given;
    return result;
  }
  // What the model has in the other cells, where the tensor is 0.
  double const length = norm(exec, model);
  double const others = std::max(0.0, length * length - sums.model_squares);
  result.all.cells = cells;
  set_fit(result.all, sums.residual_squares + others, sums.squares);
  set_likelihood(result.all, sums, sum_of_entries(model) + sums.raised, why_negative(model));
  return result;
}

NamedValues values_of(Distance const& distance) {
  NamedValues values{{"cells", distance.cells},       {"fit", distance.fit},
                     {"rmse", distance.rmse},         {"log_likelihood", distance.log_likelihood},
                     {"deviance", distance.deviance}, {"deviance_explained", distance.explained}};
  if (!distance.why_not.empty()) values.push_back({"why_no_likelihood", distance.why_not});
  return values;
}

/// A line a number, a column for each of the cells.
std::string table(std::vector<std::pair<std::string, Distance>> const& columns) {
  std::string text = fmt::format("{:<20}", "");
  for (auto const& column : columns) text += fmt::format("{:>24}", column.first);
  text += "\n";
  auto const line = [&](char const* name, double Distance::*number, char const* format) {
    text += fmt::format("{:<20}", name);
    for (auto const& column : columns) {
      double const value = column.second.*number;
      text +=
          fmt::format("{:>24}", std::isnan(value) ? "-" : fmt::format(fmt::runtime(format), value));
    }
    text += "\n";
  };
  line("cells", &Distance::cells, "{:.15g}");
  line("fit", &Distance::fit, "{:.10f}");
  line("RMSE", &Distance::rmse, "{:.10g}");
  line("log-likelihood", &Distance::log_likelihood, "{:.17g}");
  line("deviance", &Distance::deviance, "{:.10g}");
  line("deviance explained", &Distance::explained, "{:.6f}");
  for (auto const& [name, distance] : columns)
    if (!distance.why_not.empty())
      text += name + ": no log-likelihood, as " + distance.why_not + "\n";
  return text;
}

}  // namespace

int evaluate(EvaluateArguments const& arguments) {
  expect_one_process("evaluate");
  expects(!arguments.bounds.bind() || arguments.cells == "given",
          "evaluate: --bounds are for given cells: add --cells given");
  check_files({{"MODEL", arguments.model}, {"FILE", arguments.read.file}},
              {{"--report", arguments.report}});
  auto const [model, facts] = read_model(arguments.model);
  // Values of one cell are added, except where given cells alone are compared.
  auto any =
      read<double>(arguments.read, arguments.cells == "given" ? Duplicates::keep : Duplicates::sum);
  Position nnz = 0;
  auto const result = std::visit(
      [&](auto const& M, auto& X) {
        take_dims("evaluate", X, M.dims(), arguments.read.file);
        nnz = X.nnz();
        return distances(X, M, arguments);
      },
      model, any.tensor);
  std::vector<std::pair<std::string, Distance>> columns;
  std::vector<std::pair<std::string, NamedValues>> groups;
  for (auto const& [name, distance] :
       {std::pair{"all", &result.all}, std::pair{"given", &result.given}}) {
    if (arguments.cells != "both" && arguments.cells != name) continue;
    columns.emplace_back(std::string(name) + " cells", *distance);
    groups.emplace_back(name, values_of(*distance));
  }
  auto const description = std::visit([](auto const& M) { return describe(M); }, model);
  auto const json = to_json("evaluate",
                            {{"model", arguments.model},
                             {"file", arguments.read.file},
                             {"nnz", static_cast<std::uint64_t>(nnz)}},
                            groups);
  if (!arguments.report.empty()) {
    sporades::detail::OutputFile file(arguments.report);
    file.write(json);
    file.commit();
  }
  if (arguments.json)
    std::fputs(json.c_str(), stdout);
  else
    std::fputs(fmt::format("{}: {}\n{}: {} values ({})\n{}", arguments.model, description,
                           arguments.read.file, nnz, any.dialect, table(columns))
                   .c_str(),
               stdout);
  return 0;
}

}  // namespace sporades::command
