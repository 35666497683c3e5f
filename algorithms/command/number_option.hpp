// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <optional>
#include <sporades/core/error.hpp>
#include <string>

namespace sporades::command {

template <class Number>
Number number_of(std::optional<Number> const&);
template <class Number>
Number number_of(Number const&);

/// Adds an option that takes a whole number of at least `least`, and says in one sentence what is
/// none. Numbers are decimal, also where they begin with 0.
template <class Variable>
CLI::Option* add_whole(CLI::App& app, std::string const& name, Variable& variable,
                       std::string const& description, int least) {
  using Number = decltype(number_of(variable));
  auto const take = [least](std::string& text) -> std::string {
    Number number{};
    char const* const end = text.data() + text.size();
    auto const [next, error] = std::from_chars(text.data(), end, number);
    if (next == end && error == std::errc::result_out_of_range && text[0] != '-')
      return "'" + text + "' is too large";
    if (next != end || error != std::errc() || number < static_cast<Number>(least))
      return "'" + text + "' is not a whole number of " + std::to_string(least) + " or more";
    text = std::to_string(number);
    return "";
  };
  return app.add_option(name, variable, description)->transform(CLI::Validator(take, ""));
}

/// Adds an option that takes a number of bytes, as 8M or 2G: K, M, G and T are powers of 1024; or
/// as messages have them, as "6.7 MB": kB, MB, GB and TB are powers of 1000.
inline CLI::Option* add_bytes(CLI::App& app, std::string const& name, std::uint64_t& variable,
                              std::string const& description) {
  auto const take = [](std::string& text) -> std::string {
    double number = 0;
    char const* const end = text.data() + text.size();
    auto const [next, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
    std::string unit(next, end);
    if (!unit.empty() && unit[0] == ' ') unit.erase(0, 1);
    double scale = unit.empty() ? 1 : 0, binary = 1, decimal = 1;
    for (char const* const letter : {"K", "M", "G", "T"}) {
      binary *= 1024;
      decimal *= 1000;
      if (unit == letter) scale = binary;
      if (unit == (letter[0] == 'K' ? "kB" : std::string(letter) + "B")) scale = decimal;
    }
    double const bytes = std::ceil(number * scale);
    if (error != std::errc() || !(bytes > 0))
      return "'" + text + "' is not a size, as 500M, 2G or 1.5GB";
    if (bytes >= 9e18) return "'" + text + "' is too large";
    text = std::to_string(static_cast<std::uint64_t>(bytes));
    return "";
  };
  return app.add_option(name, variable, description)->transform(CLI::Validator(take, ""));
}

/// Adds an option that takes a number with a fraction, and says in one sentence what is none. Its
/// bounds are those of the algorithm.
template <class Variable>
CLI::Option* add_real(CLI::App& app, std::string const& name, Variable& variable,
                      std::string const& description) {
  auto const check = [](std::string const& text) -> std::string {
    double number = 0;
    char const* const end = text.data() + text.size();
    auto const [next, error] = std::from_chars(text.data(), end, number);
    if (next != end || error == std::errc::invalid_argument)
      return "'" + text + "' is not a number";
    return error == std::errc() ? "" : "'" + text + "' is too large or too small";
  };
  return app.add_option(name, variable, description)->check(CLI::Validator(check, ""));
}

}  // namespace sporades::command
