// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <sporades/algorithms/command/arguments.hpp>
#include <sporades/algorithms/command/models.hpp>
#include <sporades/algorithms/command/processes.hpp>
#include <sporades/algorithms/command/report.hpp>
#include <sporades/algorithms/score.hpp>

namespace sporades::command {
namespace {

KruskalTensor<double> read_cp_model(std::string const& path) {
  auto const model = read_model(path).model;
  auto const* const kruskal = std::get_if<KruskalTensor<double>>(&model);
  expects(kruskal != nullptr, path, ": score compares CP models, and this is a ",
          std::visit([](auto const& M) { return describe(M); }, model));
  return *kruskal;
}

}  // namespace

int score(ScoreArguments const& arguments) {
  expect_one_process("score");
  auto const A = read_cp_model(arguments.model), B = read_cp_model(arguments.other);
  expects(A.dims() == B.dims(), "score: ", arguments.model, " is ", to_string(A.dims()), ", ",
          arguments.other, " ", to_string(B.dims()));
  ScoreOptions options;
  options.weight_penalty = arguments.weights;
  options.matching = from_name<ScoreMatching>(arguments.matching);
  // The components of the model that has fewer look for partners in the other one.
  bool const swaps = A.rank() < B.rank();
  Kokkos::DefaultHostExecutionSpace const exec;
  auto const result =
      swaps ? sporades::score(exec, B, A, options) : sporades::score(exec, A, B, options);
  auto const& more = swaps ? arguments.other : arguments.model;
  auto const& fewer = swaps ? arguments.model : arguments.other;
  if (arguments.json) {
    std::vector<std::uint64_t> permutation;
    for (int const r : result.permutation) permutation.push_back(static_cast<std::uint64_t>(r) + 1);
    auto const json = to_json("score", {{"more", more},
                                        {"fewer", fewer},
                                        {"score", result.value},
                                        {"permutation", permutation},
                                        {"components", result.components}});
    std::fputs(json.c_str(), stdout);
    return 0;
  }
  fmt::print("factor match score {:.10f} of {} and {}\n", result.value, arguments.model,
             arguments.other);
  for (std::size_t s = 0; s < result.components.size(); ++s)
    fmt::print("  component {} of {} is component {} of {}: {:.6f}\n", s + 1, fewer,
               result.permutation[s] + 1, more, result.components[s]);
  for (std::size_t s = result.components.size(); s < result.permutation.size(); ++s)
    fmt::print("  component {} of {} has no partner\n", result.permutation[s] + 1, more);
  return 0;
}

}  // namespace sporades::command
