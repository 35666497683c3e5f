// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <sporades/core/detail/processes/exchange.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sporades::detail {

#ifdef SPORADES_HAS_MPI

struct GpuExchange;

/// Two duplicates of the application's communicator: one for what is exchanged, one on which a
/// process that fails tells the others. All waiting is polling: for the messages, and for such
/// news.
struct CommunicatorState {
  explicit CommunicatorState(MPI_Comm mpi);
  ~CommunicatorState();
  CommunicatorState(CommunicatorState const&) = delete;
  CommunicatorState& operator=(CommunicatorState const&) = delete;

  void exchange(char const* name, std::vector<Sent> const& sent,
                std::vector<Received> const& received);
  void tell_failure(char const* why) noexcept;
  /// Throws where another process has failed.
  void heed_failure();

  MPI_Comm messages = MPI_COMM_NULL, news = MPI_COMM_NULL;
  int rank = 0, size = 1;
  std::map<std::string, Traffic> traffic;
  std::string failure;               // what is thrown from now on; empty: none
  bool is_clean = true;              // no message is under way between calls
  std::shared_ptr<GpuExchange> gpu;  // none: nothing of a GPU's was exchanged yet

 private:
  void wait(std::vector<MPI_Request>& received, std::vector<MPI_Request>& sent);
  bool hears_failure();
  void heed_failure(std::vector<MPI_Request>& received, std::vector<MPI_Request>& sent);
  void drain(std::vector<MPI_Request>& received, std::vector<MPI_Request>& sent);
  void discard(MPI_Comm from, MPI_Status const& status, std::string& text) const;
  void send_to_all(int tag, std::string_view text, std::vector<MPI_Request>& requests) const;
};

/// Before the communicator ends.
void end_gpu_exchange(CommunicatorState const& state);

#else

struct CommunicatorState {
  void exchange(char const*, std::vector<Sent> const&, std::vector<Received> const&) {}
  void tell_failure(char const*) noexcept {}

  int rank = 0, size = 1;
  std::map<std::string, Traffic> traffic;
};

#endif

}  // namespace sporades::detail
