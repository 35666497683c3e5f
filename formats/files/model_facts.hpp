// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sporades {

/// What is known of a model, such as the run that made it: names and values, in order.
using ModelFacts = std::vector<std::pair<std::string, std::string>>;

/// The facts in the content of a ktensor or ttensor file, as write_ktensor and write_ttensor put
/// them there: comments after the model, a line each,
///   // sporades NAME: VALUE
/// Tensor Toolbox and pyttb stop reading before these lines, and GenTen skips them. Other comments
/// are not facts.
ModelFacts parse_model_facts(std::string_view content);

}  // namespace sporades
