// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

/// Counts the different bytes of watched memory that code touches which was compiled with
/// -fsanitize=thread: a compiler calls a function there for each load and store. Those functions
/// are in touched.cpp instead of the library that looks for races. Calls of one thread are counted.

namespace sporades::test {

/// Forgets what was watched.
void watch_nothing();

/// Watches this memory, except what is watched already.
void watch_memory(std::string const& name, void const* begin, std::size_t bytes);

template <class ViewType>
void watch(std::string const& name, ViewType const& view) {
  watch_memory(name, view.data(), view.span() * sizeof(typename ViewType::value_type));
}

/// Runs work() and gives back how many different bytes it touched.
template <class Work>
std::uint64_t touched_bytes(Work const& work);

/// What was touched, by name.
std::string touched_text();

namespace detail {
void start();
std::uint64_t stop();
}  // namespace detail

template <class Work>
std::uint64_t touched_bytes(Work const& work) {
  detail::start();
  work();
  return detail::stop();
}

}  // namespace sporades::test
