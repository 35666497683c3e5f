// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/exchange.hpp>
#include <string>
#include <vector>

namespace sporades::detail {

#ifdef SPORADES_HAS_MPI

/// Two duplicates of the application's communicator: one for what is exchanged, one on which a
/// process that fails tells the others. All waiting is polling: for the messages, and for such news.
struct CommunicatorState {
  explicit CommunicatorState(MPI_Comm mpi);
  ~CommunicatorState();
  CommunicatorState(CommunicatorState const&) = delete;
  CommunicatorState& operator=(CommunicatorState const&) = delete;

  /// None where the process is alone.
  static CommunicatorState* of(Communicator const& processes) { return processes.state_.get(); }

  void exchange(char const* name, std::vector<Sent> const& sent,
                std::vector<Received> const& received);
  void broadcast(char const* name, std::byte* data, std::size_t bytes, int from);
  void all_gather(char const* name, void const* mine, std::size_t bytes, std::byte* all);
  void wait_for_all(char const* name);
  void tell_failure(char const* why) noexcept;

  MPI_Comm messages = MPI_COMM_NULL, news = MPI_COMM_NULL;
  int rank = 0, size = 1;
  std::map<std::string, Traffic> traffic;
  std::string failure;     // what is thrown from now on; empty: none
  std::string last_words;  // under way to others

 private:
  void wait(std::vector<MPI_Request>& requests);
  void throw_news();
};

#else

struct CommunicatorState {
  static CommunicatorState* of(Communicator const&) { return nullptr; }

  void exchange(char const*, std::vector<Sent> const&, std::vector<Received> const&) {}
  void broadcast(char const*, std::byte*, std::size_t, int) {}
  void all_gather(char const*, void const*, std::size_t, std::byte*) {}
  void wait_for_all(char const*) {}
  void tell_failure(char const*) noexcept {}

  int rank = 0, size = 1;
  std::map<std::string, Traffic> traffic;
};

#endif

}  // namespace sporades::detail
