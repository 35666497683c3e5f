// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

TunedStrategies::TunedStrategies(std::string path) : path_(std::move(path)) {
  sporades::detail::OutputFile const can_be_written(path_);
  std::ifstream file(path_);
  if (!file) return;
  try {
    for (auto const& one : Json::parse(file)) {
      Entry entry;
      for (auto const& [name, text] : one.at("facts").items())
        entry.facts.emplace_back(name, text.get<std::string>());
      for (auto const& [strategy, seconds] : one.at("seconds").items())
        entry.times.push_back({strategy, seconds.get<double>()});
      entries_.push_back(std::move(entry));
    }
  } catch (Json::exception const&) {
    fail("--tune: ", path_, " is not a file that it has written; remove it, to measure again");
  }
}

std::vector<TimedStrategy> TunedStrategies::find(Facts const& facts) const {
  for (auto const& entry : entries_)
    if (entry.facts == facts) return entry.times;
  return {};
}

void TunedStrategies::add(Facts const& facts, std::vector<TimedStrategy> const& times) {
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
