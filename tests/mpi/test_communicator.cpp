// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <sporades/core/detail/processes/exchange.hpp>
#include <sporades/core/error.hpp>
#include <support/catch.hpp>
#include <thread>
#include <utility>

using namespace sporades;
using namespace sporades::detail;
using Catch::Matchers::Equals;

namespace {

Communicator world() {
  return Communicator(MPI_COMM_WORLD);
}

/// What process `from` sends to process `to` in round k.
std::vector<std::uint32_t> letter(int from, int to, int k) {
  auto const seed = static_cast<std::uint32_t>(1000 * k + 100 * from + to);
  std::vector<std::uint32_t> words((seed * 7919u) % 5000u);
  std::iota(words.begin(), words.end(), seed);
  return words;
}

TEST_CASE("A communicator of nothing is one process", "[mpi]") {
  Communicator const alone;
  CHECK(alone.rank() == 0);
  CHECK(alone.size() == 1);
  CHECK(all_gather(alone, "test", 7) == std::vector<int>{7});
  CHECK(all_gather(alone, "test", std::vector<int>{1, 2}) == std::vector<int>{1, 2});
  int value = 3;
  broadcast(alone, "test", &value, sizeof value);
  wait_for_all(alone, "test");
  CHECK(value == 3);
  CHECK(alone.traffic().empty());
  CHECK_THROWS_WITH(together(alone, []() -> int { fail("own fault"); }), Equals("own fault"));
}

TEST_CASE("All processes exchange parts of all lengths", "[mpi]") {
  auto const processes = world();
  int const P = processes.size(), me = processes.rank();
  for (int k = 0; k < 20; ++k) {
    std::vector<std::vector<std::uint32_t>> out, in;
    std::vector<Sent> sent;
    std::vector<Received> received;
    for (int p = 0; p < P; ++p) {
      out.push_back(letter(me, p, k));
      in.emplace_back(letter(p, me, k).size());
    }
    for (int p = P - 1; p >= 0; --p) {  // in any order
      auto const& from = out[static_cast<std::size_t>(p)];
      auto& to = in[static_cast<std::size_t>(p)];
      sent.push_back({p, reinterpret_cast<std::byte const*>(from.data()), from.size() * 4});
      received.push_back({p, reinterpret_cast<std::byte*>(to.data()), to.size() * 4});
    }
    exchange(processes, "letters", sent, received);
    for (int p = 0; p < P; ++p) CHECK(in[static_cast<std::size_t>(p)] == letter(p, me, k));
  }
  if (P > 1) {
    std::uint64_t bytes = 0;
    for (int k = 0; k < 20; ++k)
      for (int p = 0; p < P; ++p)
        if (p != me) bytes += 4 * letter(me, p, k).size();
    CHECK(processes.traffic().at("letters").bytes == bytes);
    CHECK(processes.traffic().at("letters").messages <= 20 * static_cast<std::uint64_t>(P - 1));
    CHECK(processes.traffic().at("letters").seconds > 0);
  }
}

TEST_CASE("Lists of all processes are gathered in the order of ranks", "[mpi]") {
  auto const processes = world();
  int const P = processes.size(), me = processes.rank();
  std::vector<int> ranks(static_cast<std::size_t>(P));
  std::iota(ranks.begin(), ranks.end(), 0);
  CHECK(all_gather(processes, "ranks", me) == ranks);
  // Process p has p numbers p, and so the first one none.
  std::vector<int> expected;
  for (int p = 0; p < P; ++p) expected.insert(expected.end(), static_cast<std::size_t>(p), p);
  std::vector<std::size_t> counts;
  auto const all =
      all_gather(processes, "lists", std::vector<int>(static_cast<std::size_t>(me), me), &counts);
  CHECK(all == expected);
  for (int p = 0; p < P; ++p)
    CHECK(counts[static_cast<std::size_t>(p)] == static_cast<std::size_t>(p));
}

TEST_CASE("One process tells all others", "[mpi]") {
  auto const processes = world();
  for (int from = 0; from < processes.size(); ++from) {
    std::vector<double> numbers(100000, processes.rank() == from ? 1.0 / (from + 3) : 0.0);
    broadcast(processes, "numbers", numbers.data(), numbers.size() * 8, from);
    CHECK(std::count(numbers.begin(), numbers.end(), 1.0 / (from + 3)) == 100000);
  }
}

/// Exchanges and broadcasts that many words, which are four pieces.
void check_pieces(std::size_t words) {
  auto const processes = world();
  int const P = processes.size(), me = processes.rank();
  std::vector<std::uint64_t> mine(words, static_cast<std::uint64_t>(me)), theirs(words);
  mine.back() = 77;
  int const next = (me + 1) % P, last = (me + P - 1) % P;
  exchange(processes, "large", {{next, reinterpret_cast<std::byte*>(mine.data()), words * 8}},
           {{last, reinterpret_cast<std::byte*>(theirs.data()), words * 8}});
  CHECK(std::count(theirs.begin(), theirs.end(), static_cast<std::uint64_t>(last)) ==
        static_cast<std::ptrdiff_t>(words - 1));
  CHECK(theirs.back() == 77);
  if (P > 1) CHECK(processes.traffic().at("large").messages == 4);
  broadcast(processes, "large", mine.data(), words * 8);
  CHECK(mine.front() == 0);
  CHECK(mine.back() == 77);
}

TEST_CASE("Bytes past the most of a message are exchanged in pieces", "[mpi]") {
  auto const most = std::exchange(detail::piece_bytes, 1000);
  check_pieces(376);
  detail::piece_bytes = most;
}

/// Takes 6 GiB on two processes: run by hand.
TEST_CASE("Bytes past 2^31 are exchanged in pieces", "[.large]") {
  check_pieces((std::size_t{3} << 27) + 1);  // 3 GiB and 8 bytes
}

TEST_CASE("Messages are told from the application's", "[mpi]") {
  auto const processes = world();
  int const P = processes.size(), me = processes.rank();
  if (P == 1) return;
  // The application has a message under way to everybody, with any tag.
  int const next = (me + 1) % P;
  int out = 17 + me, in = 0;
  MPI_Request request;
  MPI_Isend(&out, 1, MPI_INT, next, 0, MPI_COMM_WORLD, &request);
  CHECK(all_gather(processes, "ranks", me)[static_cast<std::size_t>(P - 1)] == P - 1);
  MPI_Recv(&in, 1, MPI_INT, (me + P - 1) % P, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(in == 17 + (me + P - 1) % P);
}

TEST_CASE("Half of the processes are a communicator of their own", "[mpi]") {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  {
    Communicator const processes(half);
    CHECK(processes.size() == (size + 1 - rank % 2) / 2);
    auto const ranks = all_gather(processes, "ranks", rank);
    CHECK(std::is_sorted(ranks.rbegin(), ranks.rend()));
    for (int r : ranks) CHECK(r % 2 == rank % 2);
  }
  MPI_Comm_free(&half);
}

TEST_CASE("What one process throws ends the waiting of all", "[mpi]") {
  for (int culprit = 0; culprit < world().size(); ++culprit) {
    auto const processes = world();
    bool const is_mine = processes.rank() == culprit;
    auto const work = [&] {
      for (int k = 0; k < 3; ++k) all_gather(processes, "before", k);
      if (is_mine) fail("a value is NaN");
      for (;;) all_gather(processes, "after", 1.0);
    };
    auto const expected = "process " + std::to_string(culprit) + ": a value is NaN";
    auto const begin = std::chrono::steady_clock::now();
    CHECK_THROWS_WITH(together(processes, work), Equals(is_mine ? "a value is NaN" : expected));
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
    // It cannot be used again.
    if (processes.size() > 1) CHECK_THROWS_WITH(wait_for_all(processes, "end"), Equals(expected));
  }
}

TEST_CASE("A communicator of MPI_COMM_NULL is refused", "[mpi]") {
  CHECK_THROWS_WITH(Communicator(MPI_COMM_NULL),
                    Equals("a Communicator is not made from MPI_COMM_NULL"));
}

}  // namespace
