// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <string>

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

}  // namespace sporades::command
