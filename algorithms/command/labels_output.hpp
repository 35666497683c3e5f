// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <sporades/algorithms/command/files.hpp>
#include <sporades/algorithms/command/labels.hpp>
#include <sporades/formats/files/detail/file.hpp>

namespace sporades::command {

/// What `--labels` may write, to be checked with other outputs: the files of a folder, or one that
/// is not there yet. Throws Error if it is no folder.
std::vector<NamedFile> label_outputs(std::string const& folder);

/// A folder of labels as it is written: its files appear with commit(), and a folder that was made
/// for them is gone without it.
class LabelsOutput {
 public:
  /// Makes the folder unless it is there, and writes the files without their names. Nothing for an
  /// empty name of a folder. Throws Error if it has labels that would stay, and be taken for those
  /// of this tensor.
  LabelsOutput(std::string const& folder, Labels const& labels);
  ~LabelsOutput();
  LabelsOutput(LabelsOutput const&) = delete;
  LabelsOutput& operator=(LabelsOutput const&) = delete;

  void commit();

 private:
  void give_up();

  std::string made_;  // the folder, if it was not there
  std::vector<std::unique_ptr<sporades::detail::OutputFile>> files_;
};

}  // namespace sporades::command
