// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <cmath>
#include <sporades/algorithms/command/view/html.hpp>
#include <sporades/algorithms/command/view/style.hpp>

namespace sporades::command {
namespace {

/// The bytes of the UTF-8 character that the text, which is not empty, begins with; 0 if it begins
/// with none, or with one that XML does not allow.
std::size_t first_character(std::string_view text) {
  auto const byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  unsigned char const first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7F;
  std::size_t const size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
  for (std::size_t k = 1; k < size; ++k)
    if ((byte(k) & 0xC0) != 0x80) return 0;
  unsigned char const second = byte(1);
  bool const is_overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  bool const is_surrogate = first == 0xED && second >= 0xA0;
  bool const is_past_end = first == 0xF4 && second >= 0x90;
  bool const is_no_character = first == 0xEF && second == 0xBF && byte(2) >= 0xBE;
  return is_overlong || is_surrogate || is_past_end || is_no_character ? 0 : size;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    auto const size = first_character(text);
    switch (text[0]) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += size > 0 ? text.substr(0, size) : "\xEF\xBF\xBD";
    }
    text.remove_prefix(size > 0 ? size : 1);
  }
  return result;
}

std::string name_html(std::string const& name) {
  return "<bdi>" + escaped(name) + "</bdi>";
}

std::string number_text(double value) {
  double const magnitude = std::abs(value);
  if (magnitude == 0) return "0";
  if (magnitude < 1e-4 || magnitude >= 1e6) return fmt::format("{:.2e}", value);
  return magnitude < 99.95 ? fmt::format("{:#.3g}", value) : fmt::format("{:.0f}", value);
}

std::string count_text(std::uint64_t count) {
  auto text = std::to_string(count);
  for (auto end = text.size(); end > 3; end -= 3) text.insert(end - 3, ",");
  return text;
}

std::string count_text(std::uint64_t count, char const* one, char const* several) {
  return count_text(count) + " " + (count == 1 ? one : several);
}

std::string whole_page(std::string const& title, std::string const& body) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>" +
         escaped(title) + "</title>\n<style>" + page_style + "</style>\n</head>\n<body>\n" + body +
         "</body>\n</html>\n";
}

}  // namespace sporades::command
