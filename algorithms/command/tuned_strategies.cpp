// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sporades/algorithms/command/tuned_strategies.hpp>
#include <sporades/core/error.hpp>
#include <sporades/formats/files/detail/file.hpp>

namespace sporades::command {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(Facts const& facts) {
  auto json = Json::object();
  for (auto const& [name, text] : facts) json[name] = text;
  return json;
}

}  // namespace

void check_tuned(std::string const& file) {
  namespace fs = std::filesystem;
  std::error_code error;  // a file of which nothing can be told is none
  expects(fs::is_regular_file(file, error) && file.rfind("/dev/", 0) != 0,
          "--tune keeps what it measures beside the tensor, and ", file, " is not a file on disk");
  auto const path = file + ".tune";
  auto const status = fs::symlink_status(path, error);
  expects(!fs::exists(status) || fs::is_regular_file(path, error), "--tune: ", path,
          " is there and is not a file");
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
