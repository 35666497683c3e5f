// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <sporades/core/detail/processes/exchange.hpp>
#include <sporades/core/error.hpp>
#include <sporades/core/row_map.hpp>
#include <string>

namespace sporades::detail {

/// Steps that the first process does for all, as those of writing a file: after one that fails it
/// does no more, and end() throws on all processes, which can go on.
class FirstProcess {
 public:
  explicit FirstProcess(Communicator const& processes) : processes_(processes) {}

  template <class Step>
  void operator()(Step const& step) {
    if (processes_.rank() != 0 || error_) return;
    try {
      step();
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  /// Collective. What was thrown on the first process, and RunError with the same text on others.
  void end() {
    std::string text;
    try {
      if (error_) std::rethrow_exception(error_);
    } catch (std::exception const& error) {
      text = error.what();
    }
    std::size_t length = text.size();
    broadcast(processes_, "what failed", &length, sizeof length);
    text.resize(length);
    if (length > 0) broadcast(processes_, "what failed", text.data(), length);
    if (error_) std::rethrow_exception(error_);
    if (length > 0) throw RunError(text);
  }

 private:
  Communicator processes_;
  std::exception_ptr error_;
};

/// All rows of a distributed matrix pass by the first process, some megabytes at a time: it calls
/// use(T const* numbers, first, count) for rows first to first + count - 1, in order and without
/// gaps between rows, of each mode's `columns` numbers. here: the rows of this process; row(i): its
/// i-th one, of the host. Collective.
template <class T, class Row, class Use>
void for_all_rows(RowMap const& rows, std::uint64_t here, std::size_t columns, Row const& row,
                  Use const& use) {
  std::size_t const row_bytes = columns * sizeof(T);
  std::uint64_t const most =
      std::max<std::uint64_t>(1, (std::uint64_t{4} << 20) / std::max<std::size_t>(1, row_bytes));
  int const me = rows.processes.rank(), size = rows.is_whole() ? 1 : rows.processes.size();
  std::vector<T> numbers;
  for (int p = 0; p < size; ++p) {
    auto const place = static_cast<std::size_t>(p);
    std::uint64_t const begin = rows.is_whole() ? 0 : rows.begins[place],
                        end = rows.is_whole() ? here : rows.begins[place + 1];
    bool const is_mine = rows.is_whole() || p == me;
    for (std::uint64_t first = begin; first < end; first += most) {
      std::uint64_t const count = std::min(most, end - first);
      if (me == 0 || is_mine) numbers.resize(count * columns);
      for (std::uint64_t i = 0; i < count && is_mine && row_bytes > 0; ++i)
        std::memcpy(numbers.data() + i * columns, row(first - begin + i), row_bytes);
      auto* const bytes = reinterpret_cast<std::byte*>(numbers.data());
      std::vector<Sent> sent;
      std::vector<Received> received;
      if (p > 0 && is_mine) sent.push_back({0, bytes, count * row_bytes});
      if (p > 0 && me == 0) received.push_back({p, bytes, count * row_bytes});
      if (size > 1) exchange(rows.processes, "rows to be written", sent, received);
      if (me == 0 || rows.is_whole()) use(static_cast<T const*>(numbers.data()), first, count);
    }
  }
}

}  // namespace sporades::detail
