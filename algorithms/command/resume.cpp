// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/command/checkpoint.hpp>
#include <sporades/algorithms/command/resume.hpp>

namespace sporades::command {

void take_options_of_checkpoint(CLI::App& subcommand, std::string const& checkpoint) {
  Checkpoint const from(checkpoint);
  from.expect_same({{"algorithm", subcommand.get_name()}});
  for (auto const& [fact, text] : from.facts()) {
    if (fact == "dims") continue;
    auto* const option =
        subcommand.get_option_no_throw("--" + (fact == "given-dims" ? "dims" : fact));
    if (option == nullptr || option->count() > 0) continue;
    option->add_result(text);
    option->run_callback();
  }
}

}  // namespace sporades::command
