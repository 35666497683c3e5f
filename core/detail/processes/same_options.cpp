// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/core/detail/processes/same_options.hpp>
#include <sporades/core/error.hpp>
#include <string_view>

namespace sporades::detail {
namespace {

constexpr char end_of_text = '\0';

/// What is before the next end; goes past it.
std::string_view next_text(std::string_view& texts) {
  auto const text = texts.substr(0, texts.find(end_of_text));
  texts.remove_prefix(std::min(texts.size(), text.size() + 1));
  return text;
}

}  // namespace

void expect_same_options(Communicator const& processes, char const* function,
                         NamedOptions const& options) {
  std::string here = function;
  here += end_of_text;
  for (auto const& [name, value] : options.all())
    (here += name + end_of_text + value) += end_of_text;
  std::vector<std::size_t> counts;
  auto const all =
      all_gather(processes, "options", std::vector<char>(here.begin(), here.end()), &counts);
  std::string_view const first(all.data(), counts[0]);
  std::size_t place = 0;
  for (std::size_t p = 0; p < counts.size(); place += counts[p++]) {
    std::string_view other(all.data() + place, counts[p]);
    if (other == first) continue;
    auto texts = first;
    auto const called = next_text(texts), called_there = next_text(other);
    expects(called == called_there, "process 0 calls ", called, ", and process ", p, " calls ",
            called_there, " at the same time");
    while (!texts.empty()) {
      auto const name = next_text(texts);
      next_text(other);
      auto const value = next_text(texts), value_there = next_text(other);
      expects(value == value_there, function, ": ", name, ": process 0 has ", value,
              ", and process ", p, " has ", value_there);
    }
  }
}

}  // namespace sporades::detail
