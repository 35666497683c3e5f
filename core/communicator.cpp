// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstring>
#include <sporades/core/detail/communicator_state.hpp>
#include <sporades/core/detail/exchange.hpp>
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
namespace {

void copy_own_parts(int rank, std::vector<Sent> const& sent,
                    std::vector<Received> const& received) {
  for (auto const& from : sent)
    for (auto const& to : received)
      if (from.process == rank && to.process == rank && to.bytes > 0)
        std::memmove(to.data, from.data, to.bytes);
}

}  // namespace

void exchange(Communicator const& processes, char const* name, std::vector<Sent> const& sent,
              std::vector<Received> const& received) {
  copy_own_parts(processes.rank(), sent, received);
  if (auto* const state = CommunicatorState::of(processes)) state->exchange(name, sent, received);
}

void broadcast(Communicator const& processes, char const* name, void* data, std::size_t bytes,
               int from) {
  if (auto* const state = CommunicatorState::of(processes))
    state->broadcast(name, static_cast<std::byte*>(data), bytes, from);
}

void all_gather(Communicator const& processes, char const* name, void const* mine,
                std::size_t bytes, void* all) {
  if (auto* const state = CommunicatorState::of(processes))
    state->all_gather(name, mine, bytes, static_cast<std::byte*>(all));
  else if (bytes > 0)
    std::memcpy(all, mine, bytes);
}

void wait_for_all(Communicator const& processes, char const* name) {
  if (auto* const state = CommunicatorState::of(processes)) state->wait_for_all(name);
}

void tell_failure(Communicator const& processes, char const* why) noexcept {
  if (auto* const state = CommunicatorState::of(processes)) state->tell_failure(why);
}

}  // namespace detail
}  // namespace sporades
