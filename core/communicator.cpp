// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstring>
#include <sporades/core/detail/processes/communicator_state.hpp>
#include <sporades/core/detail/processes/exchange.hpp>
#include <sporades/core/error.hpp>

namespace sporades {

int Communicator::rank() const {
  return state_ ? state_->rank : 0;
}

int Communicator::size() const {
  return state_ ? state_->size : 1;
}

std::map<std::string, Traffic> const& Communicator::traffic() const {
  static std::map<std::string, Traffic> const none;
  return state_ ? state_->traffic : none;
}

namespace detail {

CommunicatorState* state_of(Communicator const& processes) {
  return processes.state_.get();
}

void exchange(Communicator const& processes, char const* name, std::vector<Sent> const& sent,
              std::vector<Received> const& received) {
  auto const is_own = [&](auto const& part) { return part.process == processes.rank(); };
  auto const from = std::find_if(sent.begin(), sent.end(), is_own);
  auto const to = std::find_if(received.begin(), received.end(), is_own);
  if (from != sent.end() && to != received.end() && to->data != from->data && to->bytes > 0)
    std::memmove(to->data, from->data, to->bytes);
  if (auto* const state = state_of(processes)) state->exchange(name, sent, received);
}

/// Along a binomial tree: in each round, those that have it send it to as many others.
void broadcast(Communicator const& processes, char const* name, void* data, std::size_t bytes,
               int from) {
  int const size = processes.size(), me = (processes.rank() - from + size) % size;
  auto const process = [&](int place) { return (place + from) % size; };
  auto* const all = static_cast<std::byte*>(data);
  for (int reach = 1; reach < size; reach *= 2) {
    std::vector<Sent> sent;
    std::vector<Received> received;
    if (me < reach && me + reach < size) sent.push_back({process(me + reach), all, bytes});
    if (reach <= me && me < 2 * reach) received.push_back({process(me - reach), all, bytes});
    exchange(processes, name, sent, received);
  }
}

/// In each round, a process gets as much as it has from one that is as far behind it (Bruck et al.,
/// IEEE TPDS 8(11), 1997), and then turns all to its place.
void all_gather(Communicator const& processes, char const* name, void const* mine,
                std::size_t bytes, void* all) {
  int const size = processes.size(), me = processes.rank();
  std::vector<std::byte> turned(static_cast<std::size_t>(size) * bytes);
  if (bytes > 0) std::memcpy(turned.data(), mine, bytes);
  for (int reach = 1; reach < size; reach *= 2) {
    std::size_t const more = static_cast<std::size_t>(std::min(reach, size - reach)) * bytes;
    exchange(
        processes, name, {{(me - reach + size) % size, turned.data(), more}},
        {{(me + reach) % size, turned.data() + static_cast<std::size_t>(reach) * bytes, more}});
  }
  auto* const to = static_cast<std::byte*>(all);
  for (int k = 0; k < size && bytes > 0; ++k)
    std::memcpy(to + static_cast<std::size_t>((me + k) % size) * bytes,
                turned.data() + static_cast<std::size_t>(k) * bytes, bytes);
}

void wait_for_all(Communicator const& processes, char const* name) {
  all_gather(processes, name, '.');
}

void tell_failure(Communicator const& processes, char const* why) noexcept {
  if (auto* const state = state_of(processes)) state->tell_failure(why);
}

}  // namespace detail
}  // namespace sporades
