// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/core/communicator.hpp>

#ifdef SPORADES_HAS_MPI

#include <algorithm>
#include <chrono>
#include <sporades/core/detail/processes/communicator_state.hpp>
#include <sporades/core/error.hpp>
#include <sporades/core/timer.hpp>
#include <thread>

namespace sporades {

Communicator::Communicator(MPI_Comm mpi)
    : state_(std::make_shared<detail::CommunicatorState>(mpi)) {}

namespace detail {
namespace {

constexpr std::size_t longest_news = 2000;      // characters
constexpr int failed_tag = 0, drained_tag = 1;  // of news

bool is_up() {
  int started = 0, ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started != 0 && ended == 0;
}

void check(int code, char const* name) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw RunError(
      concatenate("MPI, ", name, ": ", std::string_view(text, static_cast<std::size_t>(length))));
}

/// Calls use(first byte, bytes) for each piece.
template <class Use>
void for_pieces(std::size_t bytes, Use const& use) {
  for (std::size_t first = 0; first < bytes; first += piece_bytes)
    use(first, static_cast<int>(std::min(piece_bytes, bytes - first)));
}

}  // namespace

CommunicatorState::CommunicatorState(MPI_Comm mpi) {
  expects(is_up(), "a Communicator is made between MPI_Init and MPI_Finalize");
  expects(mpi != MPI_COMM_NULL, "a Communicator is not made from MPI_COMM_NULL");
  check(MPI_Comm_dup(mpi, &messages), "MPI_Comm_dup");
  check(MPI_Comm_dup(mpi, &news), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(messages, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(news, MPI_ERRORS_RETURN);
  MPI_Comm_rank(messages, &rank);
  MPI_Comm_size(messages, &size);
}

/// Where not all have come to an end together, messages may be under way: MPI cannot free theirs.
CommunicatorState::~CommunicatorState() {
  end_gpu_exchange(*this);
  if (!is_up() || !is_clean) return;
  MPI_Comm_free(&messages);
  MPI_Comm_free(&news);
}

/// Receives a message that nobody waits for.
void CommunicatorState::discard(MPI_Comm from, MPI_Status const& status, std::string& text) const {
  int length = 0;
  MPI_Get_count(&status, MPI_BYTE, &length);
  text.resize(static_cast<std::size_t>(length));
  MPI_Recv(text.data(), length, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, from,
           MPI_STATUS_IGNORE);
}

/// After a failure that all are told of: no message into or out of memory that is given back stays
/// under way. Receives end at once; what others still send is received and dropped, until each has
/// said that nothing of its own is under way. Who does not say so in ten seconds is not waited for.
void CommunicatorState::drain(std::vector<MPI_Request>& received, std::vector<MPI_Request>& sent) {
  is_clean = false;
  for (auto& request : received) {
    if (request == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  std::vector<MPI_Request> said;
  std::string dropped;
  Timer const timer;
  for (int waiting = size - 1; waiting > 0 || said.empty();) {
    int done = 0, has_come = 0;
    MPI_Status status;
    if (said.empty()) {
      MPI_Testall(static_cast<int>(sent.size()), sent.data(), &done, MPI_STATUSES_IGNORE);
      if (done != 0) send_to_all(drained_tag, "", said);
    }
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, messages, &has_come, &status);
    if (has_come != 0) discard(messages, status, dropped);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, news, &has_come, &status);
    if (has_come != 0) {
      discard(news, status, dropped);
      if (status.MPI_TAG == drained_tag) --waiting;
    }
    if (timer.seconds() > 10) return;
    std::this_thread::yield();
  }
  MPI_Waitall(static_cast<int>(said.size()), said.data(), MPI_STATUSES_IGNORE);
  is_clean = true;
}

/// A short message to all others, whose text outlives it.
void CommunicatorState::send_to_all(int tag, std::string_view text,
                                    std::vector<MPI_Request>& requests) const {
  for (int p = 0; p < size; ++p)
    if (p != rank) {
      requests.emplace_back();
      MPI_Isend(text.data(), static_cast<int>(text.size()), MPI_BYTE, p, tag, news,
                &requests.back());
    }
}

/// Learns of another process's failure, if there is one.
bool CommunicatorState::hears_failure() {
  int has_come = 0;
  MPI_Status status;
  check(MPI_Iprobe(MPI_ANY_SOURCE, failed_tag, news, &has_come, &status), "MPI_Iprobe");
  if (has_come == 0) return false;
  std::string why;
  discard(news, status, why);
  failure = concatenate("process ", status.MPI_SOURCE, ": ", why);
  return true;
}

void CommunicatorState::heed_failure() {
  std::vector<MPI_Request> none;
  heed_failure(none, none);
}

void CommunicatorState::heed_failure(std::vector<MPI_Request>& received,
                                     std::vector<MPI_Request>& sent) {
  if (!hears_failure()) return;
  drain(received, sent);
  throw RunError(failure);
}

/// Processes may be more than processors: one that waits long lets others run.
void CommunicatorState::wait(std::vector<MPI_Request>& received, std::vector<MPI_Request>& sent) {
  Timer const timer;
  for (unsigned k = 1;; ++k) {
    int has_received = 0, has_sent = 0;
    check(MPI_Testall(static_cast<int>(received.size()), received.data(), &has_received,
                      MPI_STATUSES_IGNORE),
          "MPI_Testall");
    check(MPI_Testall(static_cast<int>(sent.size()), sent.data(), &has_sent, MPI_STATUSES_IGNORE),
          "MPI_Testall");
    if (has_received != 0 && has_sent != 0) return;
    if (k % 16 == 0) heed_failure(received, sent);
    if (timer.seconds() < 0.02)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void CommunicatorState::exchange(char const* name, std::vector<Sent> const& sent,
                                 std::vector<Received> const& received) {
  if (!failure.empty()) throw RunError(failure);
  auto& entry = traffic[name];
  Timer const timer;
  std::vector<MPI_Request> in, out;
  for (auto const& part : received)
    if (part.process != rank)
      for_pieces(part.bytes, [&](std::size_t first, int bytes) {
        in.emplace_back();
        check(MPI_Irecv(part.data + first, bytes, MPI_BYTE, part.process, 0, messages, &in.back()),
              name);
      });
  for (auto const& part : sent)
    if (part.process != rank)
      for_pieces(part.bytes, [&](std::size_t first, int bytes) {
        out.emplace_back();
        check(MPI_Isend(part.data + first, bytes, MPI_BYTE, part.process, 0, messages, &out.back()),
              name);
        ++entry.messages;
        entry.bytes += static_cast<std::uint64_t>(bytes);
      });
  wait(in, out);
  entry.seconds += timer.seconds();
}

void CommunicatorState::tell_failure(char const* why) noexcept try {
  if (size == 1 || !failure.empty() || !is_up()) return;
  failure = concatenate("process ", rank, ": ", why);
  std::string_view const text(why);
  std::vector<MPI_Request> none, told;
  send_to_all(failed_tag, text.substr(0, longest_news), told);
  drain(none, told);
} catch (...) {
}

}  // namespace detail
}  // namespace sporades

#endif
