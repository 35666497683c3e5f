// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace sporades::command {

/// The style of a page, for screens of any width, light and dark, and for paper.
extern char const* const page_style;

}  // namespace sporades::command
