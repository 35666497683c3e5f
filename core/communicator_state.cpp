// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/core/communicator.hpp>

#ifdef SPORADES_HAS_MPI

#include <algorithm>
#include <chrono>
#include <sporades/core/detail/communicator_state.hpp>
#include <sporades/core/error.hpp>
#include <sporades/core/timer.hpp>
#include <thread>

namespace sporades {

Communicator::Communicator(MPI_Comm mpi)
    : state_(std::make_shared<detail::CommunicatorState>(mpi)) {}

namespace detail {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 30;  // MPI 3 counts in int
constexpr std::size_t longest_news = 2000;                 // characters, sent without waiting

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

/// Calls use(first byte, bytes) for each piece, and says how many there were.
template <class Use>
std::uint64_t for_pieces(std::size_t bytes, Use const& use) {
  std::uint64_t pieces = 0;
  for (std::size_t first = 0; first < bytes; first += piece_bytes, ++pieces)
    use(first, static_cast<int>(std::min(piece_bytes, bytes - first)));
  return pieces;
}

/// Adds the time of its life to one entry.
class Measured {
 public:
  explicit Measured(Traffic& entry) : entry_(entry) {}
  ~Measured() { entry_.seconds += timer_.seconds(); }
  void count(std::uint64_t messages, std::uint64_t bytes) {
    entry_.messages += messages;
    entry_.bytes += bytes;
  }

 private:
  Traffic& entry_;
  Timer timer_;
};

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

/// After a failure messages may be under way: MPI cannot free their communicator.
CommunicatorState::~CommunicatorState() {
  if (!is_up() || !failure.empty()) return;
  MPI_Comm_free(&messages);
  MPI_Comm_free(&news);
}

void CommunicatorState::throw_news() {
  if (!failure.empty()) throw RunError(failure);
  int has_come = 0;
  MPI_Status status;
  check(MPI_Iprobe(MPI_ANY_SOURCE, 0, news, &has_come, &status), "MPI_Iprobe");
  if (has_come == 0) return;
  int length = 0;
  MPI_Get_count(&status, MPI_CHAR, &length);
  std::string why(static_cast<std::size_t>(length), ' ');
  check(MPI_Recv(why.data(), length, MPI_CHAR, status.MPI_SOURCE, 0, news, MPI_STATUS_IGNORE),
        "MPI_Recv");
  failure = concatenate("process ", status.MPI_SOURCE, ": ", why);
  throw RunError(failure);
}

/// Processes may be more than processors: one that waits long lets others run.
void CommunicatorState::wait(std::vector<MPI_Request>& requests) {
  Timer const timer;
  for (unsigned k = 1;; ++k) {
    int done = 0;
    check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done,
                      MPI_STATUSES_IGNORE),
          "MPI_Testall");
    if (done != 0) return;
    if (k % 16 != 0) continue;
    throw_news();
    if (timer.seconds() < 0.02)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void CommunicatorState::exchange(char const* name, std::vector<Sent> const& sent,
                                 std::vector<Received> const& received) {
  if (size == 1) return;
  throw_news();
  Measured measured(traffic[name]);
  std::vector<MPI_Request> requests;
  for (auto const& part : received)
    if (part.process != rank)
      for_pieces(part.bytes, [&](std::size_t first, int bytes) {
        requests.emplace_back();
        check(MPI_Irecv(part.data + first, bytes, MPI_BYTE, part.process, 0, messages,
                        &requests.back()),
              name);
      });
  for (auto const& part : sent)
    if (part.process != rank) {
      auto const pieces = for_pieces(part.bytes, [&](std::size_t first, int bytes) {
        requests.emplace_back();
        check(MPI_Isend(part.data + first, bytes, MPI_BYTE, part.process, 0, messages,
                        &requests.back()),
              name);
      });
      measured.count(pieces, part.bytes);
    }
  wait(requests);
}

void CommunicatorState::broadcast(char const* name, std::byte* data, std::size_t bytes, int from) {
  if (size == 1) return;
  throw_news();
  Measured measured(traffic[name]);
  std::vector<MPI_Request> requests;
  auto const pieces = for_pieces(bytes, [&](std::size_t first, int count) {
    requests.emplace_back();
    check(MPI_Ibcast(data + first, count, MPI_BYTE, from, messages, &requests.back()), name);
  });
  auto const others = static_cast<std::uint64_t>(size - 1);
  if (rank == from) measured.count(pieces * others, bytes * others);
  wait(requests);
}

void CommunicatorState::all_gather(char const* name, void const* mine, std::size_t bytes,
                                   std::byte* all) {
  auto const others = static_cast<std::size_t>(size - 1);
  if (bytes > piece_bytes / static_cast<std::size_t>(size)) {
    std::vector<Sent> sent;
    std::vector<Received> received;
    auto const* const from = static_cast<std::byte const*>(mine);
    for (int p = 0; p < size; ++p) {
      sent.push_back({p, from, bytes});
      received.push_back({p, all + static_cast<std::size_t>(p) * bytes, bytes});
    }
    std::copy_n(from, bytes, received[static_cast<std::size_t>(rank)].data);
    return exchange(name, sent, received);
  }
  throw_news();
  Measured measured(traffic[name]);
  measured.count(bytes > 0 ? others : 0, bytes * others);
  std::vector<MPI_Request> requests(1);
  int const count = static_cast<int>(bytes);
  check(MPI_Iallgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, messages, requests.data()),
        name);
  wait(requests);
}

void CommunicatorState::wait_for_all(char const* name) {
  throw_news();
  Measured measured(traffic[name]);
  std::vector<MPI_Request> requests(1);
  check(MPI_Ibarrier(messages, requests.data()), name);
  wait(requests);
}

/// The others read the news when they next wait, or never: they are given two seconds.
void CommunicatorState::tell_failure(char const* why) noexcept try {
  if (!failure.empty() || !is_up()) return;
  failure = concatenate("process ", rank, ": ", why);
  last_words.assign(why, std::min(std::char_traits<char>::length(why), longest_news));
  std::vector<MPI_Request> requests;
  for (int p = 0; p < size; ++p)
    if (p != rank) {
      requests.emplace_back();
      MPI_Isend(last_words.data(), static_cast<int>(last_words.size()), MPI_CHAR, p, 0, news,
                &requests.back());
    }
  Timer const timer;
  for (int done = 0; done == 0 && timer.seconds() < 2; std::this_thread::yield())
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
} catch (...) {
}

}  // namespace detail
}  // namespace sporades

#endif
