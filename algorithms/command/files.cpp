// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sporades/algorithms/command/files.hpp>
#include <sporades/algorithms/command/processes.hpp>
#include <sporades/core/error.hpp>
#include <sporades/formats/files/detail/file.hpp>
#include <tuple>

namespace sporades::command {
namespace {

namespace fs = std::filesystem;

/// Device, inode and "" of a file; of one that does not exist yet those of its folder, and its
/// name there.
using Identity = std::tuple<dev_t, ino_t, std::string>;

fs::path folder_of(fs::path const& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

/// None for what no two uses harm: terminals and other devices; and where there is no folder.
std::optional<Identity> identity(std::string const& path) {
  struct stat status = {};
  if (stat(path == "-" ? "/dev/stdin" : path.c_str(), &status) == 0) {
    if (S_ISCHR(status.st_mode)) return {};
    return Identity{status.st_dev, status.st_ino, ""};
  }
  fs::path const file = sporades::detail::link_target(path);
  if (stat(folder_of(file).c_str(), &status) != 0) return {};
  return Identity{status.st_dev, status.st_ino, file.filename().string()};
}

/// Throws Error unless a file of this name can be made.
void check_output(NamedFile const& output) {
  auto const& [option, path] = output;
  expect_one_writer(option, path);
  std::error_code ignored;
  bool const is_replaced = option == "--checkpoint" || option == "--tune-file";  // again and again
  expects(path != "-", option, " -: give a file", is_replaced ? "" : ", or /dev/stdout");
  expects(!fs::is_directory(path, ignored), option, " ", path, " is a folder");
  bool const exists = fs::exists(path, ignored);
  int const inherited = sporades::detail::inherited_descriptor(path);
  if (inherited >= 0) {
    int const flags = fcntl(inherited, F_GETFL);
    expects(flags >= 0 && (flags & O_ACCMODE) != O_RDONLY, option, " ", path,
            " is not open for writing");
  }
  bool const is_direct = inherited >= 0 || (exists && !fs::is_regular_file(path, ignored));
  expects(!is_direct || !is_replaced, option, " ", path,
          " is no file that can be replaced: give a file");
  if (is_direct) return;  // a pipe, a device
  fs::path const file = sporades::detail::link_target(path), folder = folder_of(file);
  if (exists) {
    int const error = access(file.c_str(), W_OK) == 0 ? 0 : errno;
    expects(error == 0, option, " ", path, " cannot be written to (", std::strerror(error), ")");
  }
  expects(file.filename().native().size() <= NAME_MAX, option, " ", path, ": a name has at most ",
          NAME_MAX, " bytes");
  expects(fs::is_directory(folder, ignored), option, " ", path, ": there is no folder ",
          folder.string());
  int const error = access(folder.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
  expects(error == 0, option, " ", path, ": the folder ", folder.string(),
          " cannot be written to (", std::strerror(error), ")");
}

}  // namespace

bool is_pipe(std::string const& path) {
  std::error_code ignored;
  return path == "-" || fs::is_fifo(path, ignored);
}

void check_files(std::vector<NamedFile> const& inputs, std::vector<NamedFile> const& outputs) {
  std::vector<std::pair<NamedFile, std::optional<Identity>>> checked;
  for (auto const& input : inputs)
    if (!input.path.empty()) checked.emplace_back(input, identity(input.path));
  for (auto const& output : outputs) {
    if (output.path.empty()) continue;
    check_output(output);
    auto const own = identity(output.path);
    for (auto const& [other, of_other] : checked)
      expects(!own || own != of_other, output.option, " ", output.path, " and ", other.option, " ",
              other.path, " are the same file");
    checked.emplace_back(output, own);
  }
}

}  // namespace sporades::command
