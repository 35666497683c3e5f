// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <sporades/mpi.hpp>
#include <string>

namespace sporades {
class Communicator;
namespace detail {
#ifdef SPORADES_HAS_MPI
inline constexpr bool has_mpi = true;
#else
inline constexpr bool has_mpi = false;
#endif
struct CommunicatorState;
/// None where it was made from nothing.
CommunicatorState* state_of(Communicator const& processes);
}  // namespace detail

/// What this process has sent to others under one name, and the time that it spent there.
struct Traffic {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;
};

/// The processes that compute together: a value made from an MPI communicator, whose processes all
/// make one and use it in the same order. Copies are the same communicator. One that was made from
/// nothing is this process alone; it needs no MPI, neither its library nor its initialisation.
///
///   MPI_Init(...);
///   {
///     sporades::Communicator const processes(MPI_COMM_WORLD);
///     ...
///   }
///   MPI_Finalize();
///
/// An exception that one process throws from a function that takes a communicator reaches all
/// others there: each throws RunError, whose text begins with "process P: ". No function can use
/// the communicator after that.
class Communicator {
 public:
  Communicator() = default;

#ifdef SPORADES_HAS_MPI
  /// The processes of `mpi`, which is duplicated, so that messages are never mistaken for the
  /// application's. Collective over `mpi`; so is the end of the last copy, before MPI_Finalize:
  /// plans, problems and RowMaps hold copies, too. MPI may have any thread level: its
  /// functions are called by the thread that calls ours. Throws Error where MPI is not initialised.
  explicit Communicator(MPI_Comm mpi);
#endif

  int rank() const;  ///< of this process, from 0
  int size() const;  ///< number of processes

  /// What went through this communicator so far, by name of the exchange. Copies share it.
  std::map<std::string, Traffic> const& traffic() const;

 private:
  friend detail::CommunicatorState* detail::state_of(Communicator const& processes);
  std::shared_ptr<detail::CommunicatorState> state_;  // none: alone
};

}  // namespace sporades
