// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/processes/exchange.hpp>
#include <sporades/core/names.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// Calls that all processes make with equal options: with others, one would wait for messages that
/// no other sends, or take what it gets for something else.

namespace sporades::detail {

/// Arguments of a call by name, with their values as text.
class NamedOptions {
 public:
  template <class Value>
  NamedOptions& add(char const* name, Value const& value) {
    named_.emplace_back(name, text_of(value));
    return *this;
  }
  NamedOptions& add(NamedOptions const& more) {
    named_.insert(named_.end(), more.named_.begin(), more.named_.end());
    return *this;
  }
  std::vector<std::pair<std::string, std::string>> const& all() const { return named_; }

 private:
  template <class Value>
  static constexpr auto has_names(int) -> decltype(Names<Value>::kind, true) {
    return true;
  }
  template <class Value>
  static constexpr bool has_names(...) {
    return false;
  }

  template <class Value>
  static std::string text_of(Value const& value) {
    if constexpr (std::is_same_v<Value, bool>)
      return value ? "true" : "false";
    else if constexpr (has_names<Value>(0))
      return to_string(value);
    else if constexpr (std::is_enum_v<Value>)
      return concatenate(static_cast<int>(value));
    else
      return concatenate(value);
  }
  template <class Value>
  static std::string text_of(std::vector<Value> const& values) {
    std::string text = "(";
    for (auto const& value : values) text += (text.size() > 1 ? ", " : "") + text_of(value);
    return text + ")";
  }

  std::vector<std::pair<std::string, std::string>> named_;
};

/// The types that a function is called with.
template <class Scalar, class Index>
NamedOptions types_of_call() {
  return NamedOptions()
      .add("the precision", std::is_same_v<Scalar, float> ? "float" : "double")
      .add("the bits of an index", 8 * sizeof(Index));
}

/// Throws Error on all processes, with the name of the first option that is not the same on all.
/// One small message to each; collective.
void expect_same_options(Communicator const& processes, char const* function,
                         NamedOptions const& options);

/// Returns work(), which throws on all processes where it throws on one, after the options have
/// been compared. options(): NamedOptions, asked for where there are several processes.
template <class Options, class Work>
decltype(auto) together(Communicator const& processes, char const* function, Options const& options,
                        Work const& work) {
  if (processes.size() == 1) return work();
  return together(processes, [&]() -> decltype(auto) {
    expect_same_options(processes, function, options());
    return work();
  });
}

}  // namespace sporades::detail
