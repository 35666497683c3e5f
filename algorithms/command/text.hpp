// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace sporades::command {

/// What a terminal shows as one place each: bytes that do not continue a UTF-8 character.
inline bool begins_character(char byte) {
  return (byte & 0xC0) != 0x80;
}
inline int width_of(std::string const& text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), begins_character));
}

/// The text, or its start and "~" where it takes more places than `width`, which is positive.
inline std::string cut_to(std::string const& text, int width) {
  if (width_of(text) <= width) return text;
  std::size_t end = 0;
  for (int places = 0; !begins_character(text[end]) || ++places < width;) ++end;
  return text.substr(0, end) + "~";
}

inline bool has_line_ends(std::string_view text) {
  return text.find('\n') != text.npos || text.find('\r') != text.npos;
}

/// The text with blanks instead of line ends, as files have it that hold one name a line.
inline std::string in_one_line(std::string_view text) {
  std::string line(text);
  for (char const end : {'\n', '\r'}) std::replace(line.begin(), line.end(), end, ' ');
  return line;
}

/// One line, with '?' for other control characters, which a terminal would obey rather than show.
inline std::string printable(std::string_view text) {
  auto const is_control = [](char c) {
    auto const byte = static_cast<unsigned char>(c);
    return byte < 32 || byte == 127;
  };
  auto line = in_one_line(text);
  std::replace_if(line.begin(), line.end(), is_control, '?');
  return line;
}

}  // namespace sporades::command
