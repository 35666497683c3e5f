// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace sporades::command {

/// A file that the command line names, and the option that it stands behind. "" is no file.
struct NamedFile {
  std::string option;
  std::string path;
};

/// Whether what has this name can be read once only.
bool is_pipe(std::string const& path);

/// Throws Error unless
/// - a file of every output's name can be made, and
/// - each is a file of its own, neither an input nor another output, whatever names and links lead
///   to it.
///
/// Then nothing that is read or written would be overwritten.
void check_files(std::vector<NamedFile> const& inputs, std::vector<NamedFile> const& outputs);

}  // namespace sporades::command
