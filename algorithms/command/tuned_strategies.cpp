// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sporades/algorithms/command/tuned_strategies.hpp>
#include <sporades/core/error.hpp>
#include <sporades/formats/files/detail/file.hpp>

namespace sporades::command {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json json_of(Facts const& facts) {
  auto json = Json::object();
  for (auto const& [name, text] : facts) json[name] = text;
  return json;
}

/// The folder in which the XDG Base Directory Specification has users' programs keep such files.
fs::path cache_folder() {
  constexpr char const* folders[][2] = {{"XDG_CACHE_HOME", ""}, {"HOME", ".cache"}};
  for (auto const& [variable, below] : folders) {
    char const* const value = std::getenv(variable);
    if (value != nullptr && fs::path(value).is_absolute())
      return fs::path(value) / below / "sporades";
  }
  return {};
}

/// The sentence of a file that cannot be written; empty for one that can.
std::string why_not_written(std::string const& path) {
  try {
    expects(fs::path(path).filename().native().size() <= NAME_MAX, "the name ", path,
            " would be longer than ", NAME_MAX, " bytes");
    sporades::detail::OutputFile const can_be_written(path);
    return "";
  } catch (Error const& error) {
    return error.what();
  }
}

}  // namespace

TunedFile tuned_file(std::string const& asked, std::string const& tensor) {
  if (!asked.empty()) return {asked, ""};
  std::error_code error;  // a file of which nothing can be told is none
  auto const beside = tensor + ".tune";
  std::string why = tensor + " is not a file on disk";
  if (fs::is_regular_file(tensor, error) && tensor.rfind("/dev/", 0) != 0) {
    auto const status = fs::symlink_status(beside, error);
    expects(!fs::exists(status) || fs::is_regular_file(beside, error), "--tune: ", beside,
            " is there and is not a file");
    why = why_not_written(beside);
    if (why.empty()) return {beside, ""};
  }
  auto const folder = cache_folder();
  expects(!folder.empty(), "--tune keeps what it measures beside the tensor, but ", why,
          ", and there is no $HOME: name a file by --tune-file");
  fs::create_directories(folder, error);
  auto const path = (folder / "tune.json").string();
  auto const why_not =
      error ? "the folder " + folder.string() + " cannot be made (" + error.message() + ")"
            : why_not_written(path);
  expects(why_not.empty(), "--tune keeps what it measures beside the tensor, but ", why, ", and ",
          why_not, ": name a file by --tune-file");
  return {path, "; kept in " + path};
}

TunedStrategies::TunedStrategies(std::string path) : path_(std::move(path)) {
  sporades::detail::OutputFile const can_be_written(path_);
  read();
}

void TunedStrategies::read() {
  entries_.clear();
  std::ifstream file(path_);
  if (!file) return;
  try {
    auto const all = Json::parse(file);
    if (!all.is_array()) throw std::runtime_error("no list");
    for (auto const& one : all) {
      Entry entry;
      for (auto const& [name, text] : one.at("facts").items())
        entry.facts.emplace_back(name, text.get<std::string>());
      for (auto const& [strategy, seconds] : one.at("seconds").items())
        entry.times.push_back({strategy, seconds.get<double>()});
      entries_.push_back(std::move(entry));
    }
  } catch (std::exception const&) {
    fail("--tune: ", path_, " is not a file that it has written; remove it, to measure again");
  }
}

std::vector<TimedStrategy> TunedStrategies::find(Facts const& facts,
                                                 std::vector<std::string> const& names) const {
  auto const is_known = [&](TimedStrategy const& time) {
    return std::find(names.begin(), names.end(), time.strategy) != names.end();
  };
  for (auto const& entry : entries_)
    if (entry.facts == facts && std::all_of(entry.times.begin(), entry.times.end(), is_known))
      return entry.times;
  return {};
}

void TunedStrategies::add(Facts const& facts, std::vector<TimedStrategy> const& times) {
  read();
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(),
                                [&](Entry const& entry) { return entry.facts == facts; }),
                 entries_.end());
  entries_.push_back({facts, times});
  auto all = Json::array();
  for (auto const& entry : entries_) {
    Json one = {{"facts", json_of(entry.facts)}, {"seconds", Json::object()}};
    for (auto const& [strategy, seconds] : entry.times) one["seconds"][strategy] = seconds;
    all.push_back(one);
  }
  sporades::detail::OutputFile file(path_);
  file.write(all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  file.commit();
}

}  // namespace sporades::command
