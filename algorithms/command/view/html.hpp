// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sporades::command {

/// The text as a page shows it as it is, in elements and in attributes. Bytes that are no UTF-8,
/// and control characters, become U+FFFD.
std::string escaped(std::string_view text);

/// The name of an index, apart from the direction in which the text around it runs.
std::string name_html(std::string const& name);

/// A number with three digits or more: "0.667", "5310", "-1.20e-300".
std::string number_text(double value);

/// A count with a comma before every three digits: "12,631".
std::string count_text(std::uint64_t count);

/// "1 entry", "12,631 entries".
std::string count_text(std::uint64_t count, char const* one, char const* several);

/// A page that stands alone: it loads nothing, needs no script, and is well-formed XML, too.
/// title is text, body is HTML.
std::string whole_page(std::string const& title, std::string const& body);

}  // namespace sporades::command
