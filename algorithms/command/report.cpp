// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <nlohmann/json.hpp>
#include <sporades/algorithms/command/report.hpp>
#include <sporades/version.hpp>

namespace sporades::command {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(Json const& json) {  // a file name may be no UTF-8
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void append(Json& json, NamedValues const& values) {
  for (auto const& [name, value] : values)
    std::visit([&, &key = name](auto const& plain) { json[key] = plain; }, value);
}

Json json_of(Count const& count) {
  return std::visit([](auto number) { return Json(number); }, count);
}

Json json_of(std::vector<TopEntry> const& entries) {
  auto json = Json::array();
  for (auto const& one : entries)
    json.push_back({{"index", one.index}, {"name", one.name}, {"value", one.value}});
  return json;
}

/// "components": a weight and a list a mode each; or "core", and "columns": a list a column of
/// each mode.
void append(Json& json, TopEntries const& top) {
  auto const N = top.factors.size();
  if (!top.modes.empty()) json["mode_names"] = top.modes;
  for (std::size_t r = 0; r < top.weights.size(); ++r) {
    Json component = {{"weight", top.weights[r]}, {"modes", Json::array()}};
    for (std::size_t n = 0; n < N; ++n) component["modes"].push_back(json_of(top.factors[n][r]));
    json["components"].push_back(component);
  }
  for (auto const& cell : top.core)
    json["core"].push_back({{"columns", cell.columns}, {"value", cell.value}});
  if (!top.weights.empty()) return;
  for (std::size_t n = 0; n < N; ++n) {
    auto columns = Json::array();
    for (auto const& entries : top.factors[n]) columns.push_back(json_of(entries));
    json["columns"].push_back(columns);
  }
}

}  // namespace

std::string to_json(char const* subcommand, NamedValues const& values,
                    std::vector<std::pair<std::string, NamedValues>> const& groups) {
  Json json;
  json["command"] = subcommand;
  json["version"] = version;
  json["report_version"] = report_version;
  append(json, values);
  for (auto const& [name, group] : groups) {
    json[name] = Json::object();
    append(json[name], group);
  }
  return text_of(json);
}

std::string to_json(Report const& report) {
  Json json;
  json["algorithm"] = report.algorithm;
  json["version"] = version;
  json["report_version"] = report_version;
  json["backend"] = report.backend;
  json["threads"] = report.threads;
  json["processes"] = report.processes;
  json["precision"] = report.precision;
  json["file"] = report.file;
  json["dialect"] = report.dialect;
  json["duplicates_summed"] = report.duplicates;
  json["dims"] = report.dims;
  json["nnz"] = report.nnz;
  if (report.ranks.empty())
    json["rank"] = report.rank;
  else
    json["ranks"] = report.ranks;
  json["seed"] = report.seed;
  json["init"] = report.init;
  json["tolerance"] = report.tolerance;
  append(json, report.settings);
  json["strategies"] = report.strategies;
  if (!report.reasons.empty()) json["reasons"] = report.reasons;
  json["resumed_after"] = report.resumed_after;
  json["iterations"] = Json::array();
  for (auto const& one : report.iterations) {
    Json object = {{"iteration", one.iteration}, {"seconds", one.seconds}};
    append(object, one.values);
    json["iterations"].push_back(object);
  }
  append(json, report.results);
  if (report.top) append(json, *report.top);
  json["converged"] = report.converged;
  json["stop_reason"] = report.stop_reason;
  json["seconds"] = {{"read", report.seconds.read},
                     {"build", report.seconds.build},
                     {"solve", report.seconds.solve},
                     {"write", report.seconds.write},
                     {"total", report.seconds.total}};
  json["kernels"] = Json::object();
  for (auto const& [label, kernel] : report.kernels)
    json["kernels"][label] = {{"seconds", kernel.seconds}, {"calls", kernel.calls}};
  if (report.processes > 1)
    for (auto const& [name, traffic] : report.traffic)
      json["traffic"][name] = {
          {"messages", traffic.messages}, {"bytes", traffic.bytes}, {"seconds", traffic.seconds}};
  json["bytes_plan"] = report.bytes_plan;
  json["bytes_peak"] = report.bytes_peak;
  json["bytes_peak_device"] = report.bytes_peak_device;
  return text_of(json);
}

std::string to_json(TensorInfo const& info) {
  Json json;
  json["version"] = version;
  json["report_version"] = report_version;
  json["file"] = info.file;
  json["dialect"] = info.dialect;
  json["backend"] = info.backend;
  json["precision"] = info.precision;
  json["rank"] = info.rank;
  json["order"] = info.dims.size();
  json["dims"] = info.dims;
  json["nnz"] = info.nnz;
  json["duplicates_summed"] = info.duplicates;
  json["density"] = info.density;
  json["norm"] = info.norm;
  json["least"] = info.least;
  json["greatest"] = info.greatest;
  json["modes"] = Json::array();
  for (auto const& mode : info.modes) {
    auto words = Json::object();
    for (auto const& [format, count] : mode.storage_words) words[format] = json_of(count);
    auto choices = Json::object();
    for (auto const& choice : mode.automatic)
      choices[choice.operation] = {{"strategy", choice.strategy}, {"reason", choice.reason}};
    json["modes"].push_back({{"length", mode.length},
                             {"slices", mode.slices},
                             {"slice_mean", mode.mean_slice},
                             {"slice_max", mode.longest_slice},
                             {"fibers", mode.fibers},
                             {"fiber_mean", mode.mean_fiber},
                             {"fiber_max", mode.longest_fiber},
                             {"storage_words", words},
                             {"automatic", choices}});
  }
  json["break_even"] = Json::array();
  for (auto const& one : info.break_even)
    json["break_even"].push_back({{"formats", {one.format, one.other}},
                                  {"density", one.density},
                                  {"nonzeros", json_of(one.nonzeros)}});
  auto const& order = info.linear_order;
  json["linear_order"] = {
      {"mode_bits", order.mode_bits}, {"bits", order.bits}, {"words", order.words}};
  json["bytes"] = Json::object();
  for (auto const& [format, bytes] : info.bytes) json["bytes"][format] = bytes;
  return text_of(json);
}

}  // namespace sporades::command
