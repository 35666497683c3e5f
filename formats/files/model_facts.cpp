// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <sporades/formats/files/detail/model_text.hpp>
#include <sporades/formats/files/model_facts.hpp>

namespace sporades {

ModelFacts parse_model_facts(std::string_view content) {
  ModelFacts facts;
  std::string const mark(detail::fact_mark);
  for (std::size_t at = 0; (at = content.find(mark, at)) != content.npos;) {
    bool const begins_line = at == 0 || content[at - 1] == '\n';
    at += mark.size();
    auto line = content.substr(at, content.find('\n', at) - at);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    auto const colon = line.find(": ");
    if (begins_line && colon != line.npos)
      facts.emplace_back(line.substr(0, colon), line.substr(colon + 2));
  }
  return facts;
}

namespace detail {

std::string fact_lines(ModelFacts const& facts) {
  std::string text;
  for (auto const& [name, value] : facts) {
    auto line = std::string(fact_mark) + name + ": " + value;
    for (char const end : {'\n', '\r'}) std::replace(line.begin(), line.end(), end, ' ');
    text += line + '\n';
  }
  return text;
}

}  // namespace detail
}  // namespace sporades
