// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sporades/algorithms/command/labels_output.hpp>
#include <sporades/algorithms/command/text.hpp>
#include <sporades/formats/files/detail/foreign_format.hpp>

namespace sporades::command {
namespace {

namespace fs = std::filesystem;

std::string mode_file(std::size_t n) {
  return "mode-" + std::to_string(n) + ".txt";
}

/// One name a line. Readers drop a byte-order mark at the begin, so that a name's own comes twice.
std::string lines_of(std::vector<std::string> const& names) {
  using sporades::detail::byte_order_mark;
  std::string text;
  if (names[0].compare(0, byte_order_mark.size(), byte_order_mark) == 0) text = byte_order_mark;
  for (auto const& name : names) text += in_one_line(name) + '\n';
  return text;
}

}  // namespace

std::vector<NamedFile> label_outputs(std::string const& folder) {
  if (folder.empty()) return {};
  std::error_code ignored;
  if (!fs::exists(folder, ignored)) {  // it can be made where a file can be
    fs::path const path(folder);
    return {{"--labels", (path.has_filename() ? path : path.parent_path()).string()}};
  }
  expects(fs::is_directory(folder, ignored), "--labels ", folder, " is not a folder");
  std::vector<NamedFile> files{{"--labels", (fs::path(folder) / modes_file).string()}};
  for (std::size_t n = 0; n < static_cast<std::size_t>(max_order); ++n)
    files.push_back({"--labels", (fs::path(folder) / mode_file(n)).string()});
  return files;
}

LabelsOutput::LabelsOutput(std::string const& folder, Labels const& labels) {
  if (folder.empty()) return;
  std::map<std::string, std::vector<std::string> const*> contents;  // by names of files
  for (std::size_t n = 0; n < labels.names.size(); ++n)
    if (!labels.names[n].empty()) contents[mode_file(n)] = &labels.names[n];
  if (!labels.modes.empty()) contents[modes_file] = &labels.modes;
  for (auto const& path : label_candidates(folder)) {
    auto const name = fs::path(path).filename().string();
    expects(contents.count(name) > 0 || name.compare(0, 4, "mode") != 0, "--labels ", folder,
            " has ", name, ", which is of another tensor: name another folder");
  }
  std::error_code error;
  if (fs::create_directory(folder, error)) made_ = folder;
  if (error) throw RunError("--labels " + folder + " cannot be made: " + error.message());
  try {
    for (auto const& [name, lines] : contents) {
      auto const path = (fs::path(folder) / name).string();
      files_.push_back(std::make_unique<sporades::detail::OutputFile>(path));
      files_.back()->write(lines_of(*lines));
    }
  } catch (...) {
    give_up();
    throw;
  }
}

/// Leaves no file, and no folder that was made.
void LabelsOutput::give_up() {
  files_.clear();
  if (!made_.empty()) rmdir(made_.c_str());
}

LabelsOutput::~LabelsOutput() {
  give_up();
}

void LabelsOutput::commit() {
  for (auto const& file : files_) file->commit();
  made_.clear();
}

}  // namespace sporades::command
