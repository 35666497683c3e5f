// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <numeric>
#include <sporades/algorithms/command/csv/names.hpp>
#include <sporades/algorithms/command/text.hpp>
#include <sporades/core/error.hpp>
#include <sporades/formats/files/detail/tns_file/number.hpp>

namespace sporades::command {

void Names::fix(std::vector<std::string> const& names) {
  for (auto const& name : names) {
    auto const count = names_.size();
    expects(number(name) == count, "--names has '", name, "' twice in a mode");
  }
  is_fixed_ = true;
}

std::uint32_t Names::number(std::string_view name) {
  if (has_line_ends(name)) return number(in_one_line(name));
  auto const known = numbers_.find(name);
  if (known != numbers_.end()) return known->second;
  if (is_fixed_) return unknown;
  expects(names_.size() < unknown, "a column has more than ", unknown, " different names");
  auto const next = static_cast<std::uint32_t>(names_.size());
  numbers_.emplace(names_.emplace_back(name), next);
  // The string, a node of the map with its view and number, and its share of the buckets.
  bytes_ += sizeof(std::string) + (name.size() > 15 ? name.size() + 17 : 0) + 48;
  return next;
}

std::vector<std::string> Names::ordered(std::vector<std::uint32_t>& places) {
  using sporades::detail::Number;
  std::vector<double> values(names_.size());
  bool are_numbers = !is_fixed_;
  for (std::size_t k = 0; k < names_.size() && are_numbers; ++k)
    are_numbers =
        sporades::detail::parse_real(std::string_view(names_[k]), values[k]) == Number::good;
  std::vector<std::uint32_t> order(names_.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (is_fixed_) return a < b;
    if (are_numbers && values[a] != values[b]) return values[a] < values[b];
    return names_[a] < names_[b];
  });
  numbers_.clear();
  std::vector<std::string> names;
  places.resize(order.size());
  for (auto const k : order) {
    places[k] = static_cast<std::uint32_t>(names.size());
    names.push_back(std::move(names_[k]));
  }
  names_.clear();
  return names;
}

}  // namespace sporades::command
