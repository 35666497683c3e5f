// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <cmath>
#include <sporades/algorithms/command/labels.hpp>
#include <sporades/algorithms/command/model_info.hpp>
#include <sporades/algorithms/command/models.hpp>
#include <sporades/algorithms/command/report.hpp>
#include <sporades/formats/files/detail/file.hpp>
#include <sporades/formats/strongest.hpp>
#include <sporades/kernels/innerprod.hpp>

namespace sporades::command {
namespace {

constexpr int most_lines = 32;  // of components, or of entries of a core

/// What is printed, and what is in the report.
struct ModelInfo {
  std::string text;
  NamedValues values;
};

void add_own(KruskalTensor<double> const& model, ModelInfo& info) {
  auto const as_read = shown(model);
  std::vector<double> weights;
  for (int r = 0; r < model.rank(); ++r) weights.push_back(as_read.model.weights(r));
  if (!as_read.note.empty()) info.text += as_read.note + "\n";
  char const* const what = as_read.is_sum ? "sum of all entries" : "components' squared norms";
  info.text += fmt::format("components: weight, share of the {}\n", what);
  for (std::size_t r = 0; r < weights.size() && r < most_lines; ++r)
    info.text +=
        fmt::format("  {:>4} {:>14.6g} {:>6.1f} %\n", r + 1, weights[r], 100 * as_read.shares[r]);
  if (weights.size() > most_lines)
    info.text += fmt::format("  and {} others\n", weights.size() - most_lines);
  info.values.push_back({"rank", static_cast<std::uint64_t>(model.rank())});
  info.values.push_back({"weights", weights});
  info.values.push_back({"shares", as_read.shares});
  info.values.push_back({"shares_of", std::string(what)});
}

void add_own(TuckerTensor<double> const& model, ModelInfo& info) {
  info.text += "strongest entries of the core: columns, entry\n";
  for (auto const& [columns, value] : strongest(model, 10)) {
    std::string places;
    for (int const column : columns)
      places += (places.empty() ? "" : ",") + std::to_string(column + 1);
    info.text += fmt::format("  {:>12} {:>14.6g}\n", places, value);
  }
  auto const ranks = model.ranks();
  info.values.push_back({"ranks", std::vector<std::uint64_t>(ranks.begin(), ranks.end())});
}

template <class Model>
ModelInfo info_of(std::string const& file, Model const& model, ModelFacts const& facts) {
  ModelInfo info;
  auto const names = mode_names(facts, model.factors.size());
  double const length = norm(Kokkos::DefaultHostExecutionSpace(), model);
  info.values = {{"file", file}, {"dims", std::vector<std::uint64_t>(model.dims())}};
  if (!names.empty()) info.values.push_back({"mode_names", names});
  info.values.push_back({"norm", length});
  info.text = fmt::format("{}: {}\n", file, describe(model));
  if (auto const run = run_text(facts); !run.empty()) info.text += run + "\n";
  for (std::size_t n = 0; n < names.size(); ++n)
    info.text += fmt::format("{}, length {}\n", mode_text(names, n), model.dims()[n]);
  info.text += fmt::format("norm {:.10g}\n", length);
  add_own(model, info);
  return info;
}

}  // namespace

int model_info(InfoArguments const& arguments) {
  auto const [model, facts] = read_model(arguments.read.file);
  auto const info = std::visit(
      [&, &facts = facts](auto const& M) { return info_of(arguments.read.file, M, facts); }, model);
  NamedValues run;
  for (auto const& [name, value] : facts) run.push_back({name, value});
  auto const json = to_json("info", info.values, {{"run", run}});
  if (!arguments.report.empty()) {
    sporades::detail::OutputFile file(arguments.report);
    file.write(json);
    file.commit();
  }
  std::fputs(arguments.json ? json.c_str() : info.text.c_str(), stdout);
  return 0;
}

}  // namespace sporades::command
