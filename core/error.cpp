// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/core/error.hpp>
#include <sstream>

namespace sporades::detail {

std::string concatenated(std::initializer_list<MessagePart> parts) {
  std::ostringstream text;
  text.precision(17);
  for (auto const& part : parts) std::visit([&](auto const& value) { text << value; }, part);
  return text.str();
}

void fail_with(std::initializer_list<MessagePart> parts) {
  throw Error(concatenated(parts));
}

}  // namespace sporades::detail
