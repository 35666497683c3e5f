// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <exception>
#include <new>
#include <sporades/core/communicator.hpp>
#include <type_traits>
#include <vector>

/// What processes of a communicator tell one another. Every function is called by all processes, in
/// the same order, with the same name, under which it is counted; it returns when the memory that
/// it was given may be used again. Bytes may exceed 2^31: MPI gets them in pieces. Each throws
/// RunError where another process failed.

namespace sporades::detail {

/// The most bytes of one message: MPI 3 counts in int. Tests make it small.
inline std::size_t piece_bytes = std::size_t{1} << 30;

/// Bytes for or from one process.
template <class Byte>
struct Part {
  int process;
  Byte* data;
  std::size_t bytes;
};
using Sent = Part<std::byte const>;
using Received = Part<std::byte>;

/// Sends and receives so many bytes: what a process receives from another is what that one sends to
/// it. At most one part for each process in each list, its own included, which may be in its place
/// already. In any order.
void exchange(Communicator const& processes, char const* name, std::vector<Sent> const& sent,
              std::vector<Received> const& received);

/// `data` of process `from` to all.
void broadcast(Communicator const& processes, char const* name, void* data, std::size_t bytes,
               int from = 0);

/// What each process has, `bytes` of each, in the order of their ranks: size() * bytes.
void all_gather(Communicator const& processes, char const* name, void const* mine,
                std::size_t bytes, void* all);

/// One value of each process, in the order of their ranks.
template <class T>
std::vector<T> all_gather(Communicator const& processes, char const* name, T const& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all(static_cast<std::size_t>(processes.size()));
  all_gather(processes, name, &mine, sizeof mine, all.data());
  return all;
}

/// The largest number that a process has; NaN where one is NaN.
inline double largest_of_all(Communicator const& processes, char const* name, double mine) {
  double largest = mine;
  for (double const one : all_gather(processes, name, mine))
    if (largest == largest && !(one <= largest)) largest = one;
  return largest;
}

/// The sum of a number of each process, in the order of their ranks.
inline double sum_of_all(Communicator const& processes, char const* name, double mine) {
  double sum = 0;
  for (double const one : all_gather(processes, name, mine)) sum += one;
  return sum;
}

/// Whether it is so on all processes. Collective.
inline bool is_so_on_all(Communicator const& processes, char const* name, bool here) {
  return largest_of_all(processes, name, here ? 0 : 1) == 0;
}

/// Lists of any lengths, one after another; counts, if given, gets their lengths.
template <class T>
std::vector<T> all_gather(Communicator const& processes, char const* name,
                          std::vector<T> const& mine, std::vector<std::size_t>* counts = nullptr) {
  static_assert(std::is_trivially_copyable_v<T>);
  auto const lengths = all_gather(processes, name, mine.size());
  std::size_t total = 0;
  for (std::size_t length : lengths) total += length;
  std::vector<T> all(total);
  std::vector<Sent> sent;
  std::vector<Received> received;
  std::size_t first = 0;
  for (int p = 0; p < processes.size(); ++p) {
    std::size_t const length = lengths[static_cast<std::size_t>(p)];
    sent.push_back({p, reinterpret_cast<std::byte const*>(mine.data()), mine.size() * sizeof(T)});
    received.push_back({p, reinterpret_cast<std::byte*>(all.data() + first), length * sizeof(T)});
    first += length;
  }
  exchange(processes, name, sent, received);
  if (counts != nullptr) *counts = lengths;
  return all;
}

/// One value for each process from each: what process p has at place q comes to place p of process
/// q.
template <class T>
std::vector<T> all_to_all(Communicator const& processes, char const* name,
                          std::vector<T> const& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> arrived(values.size());
  std::vector<Sent> sent;
  std::vector<Received> received;
  for (std::size_t p = 0; p < values.size(); ++p) {
    auto const process = static_cast<int>(p);
    sent.push_back({process, reinterpret_cast<std::byte const*>(&values[p]), sizeof(T)});
    received.push_back({process, reinterpret_cast<std::byte*>(&arrived[p]), sizeof(T)});
  }
  exchange(processes, name, sent, received);
  return arrived;
}

/// Items sent[p] to sent[p + 1] - 1 of `from` to each process p, and those that come from there to
/// items received[p] and on of `to`. An item is `width` numbers. exchange(sent, received) does it,
/// for memory that is not the host's.
template <class T, class Exchange>
void all_to_all_parts(T const* from, std::vector<std::uint64_t> const& sent, T* to,
                      std::vector<std::uint64_t> const& received, std::size_t width,
                      Exchange const& exchange) {
  std::vector<Sent> out;
  std::vector<Received> in;
  for (std::size_t p = 0; p + 1 < sent.size(); ++p) {
    auto const process = static_cast<int>(p);
    out.push_back({process, reinterpret_cast<std::byte const*>(from + sent[p] * width),
                   (sent[p + 1] - sent[p]) * width * sizeof(T)});
    in.push_back({process, reinterpret_cast<std::byte*>(to + received[p] * width),
                  (received[p + 1] - received[p]) * width * sizeof(T)});
  }
  exchange(out, in);
}
template <class T>
void all_to_all_parts(Communicator const& processes, char const* name, T const* from,
                      std::vector<std::uint64_t> const& sent, T* to,
                      std::vector<std::uint64_t> const& received, std::size_t width = 1) {
  all_to_all_parts(from, sent, to, received, width,
                   [&](auto const& out, auto const& in) { exchange(processes, name, out, in); });
}

/// Returns when all processes have called it.
void wait_for_all(Communicator const& processes, char const* name);

/// Tells the other processes that this one fails, and why. What they wait for throws.
void tell_failure(Communicator const& processes, char const* why) noexcept;

/// Returns work(); where it throws, all processes do.
template <class Work>
decltype(auto) together(Communicator const& processes, Work const& work) {
  try {
    return work();
  } catch (std::bad_alloc const&) {
    tell_failure(processes, "memory ran out");
    throw;
  } catch (std::exception const& error) {
    tell_failure(processes, error.what());
    throw;
  } catch (...) {
    tell_failure(processes, "an exception that is no std::exception");
    throw;
  }
}

}  // namespace sporades::detail
