// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <map>
#include <sporades/core/types.hpp>
#include <string>
#include <vector>

/// States of CP-ALS, CP-APR, GCP, Tucker and complete as arrays on the host, so that a run can go
/// on later.

namespace sporades {

/// A method's state on the host, as named arrays to write to a file and to read back: a run that
/// goes on from there gives the same bits as one that was never stopped. The state's comment says
/// which arrays there are. An array's bytes are numbers of the machine's own format; factor-0,
/// factor-1 and so on are dims[n] x ranks[n] numbers of the state's Scalar, row by row. Where
/// processes share the factors, each has a snapshot of its own rows: arrays that `modes` names are
/// parts, in the order of ranks, of those of one process. The other arrays are the same on all,
/// except times.
struct Snapshot {
  Dims dims;               // I_0 ... I_{N-1}: the rows of each mode's factor that are here
  std::vector<int> ranks;  // columns of each mode's factor
  std::map<std::string, std::vector<std::byte>> arrays;
  std::map<std::string, int> modes;  // of arrays with as many bytes for each row of a mode: which
};

/// Copies a CpAlsState, CpAprState, GcpState, TuckerState or CompleteState to the host. Fences
/// exec.
template <class ExecutionSpace, class State>
Snapshot snapshot(ExecutionSpace const& exec, State const& state);

/// The state that a snapshot was taken of, bit for bit, in the memory space of exec:
///   auto state = restore<CpAlsState<double, ExecutionSpace::memory_space>>(exec, saved);
/// Arrays that the state does not know are ignored. Fences exec. Throws Error where an array is
/// missing, or has not the size that dims and ranks give it.
template <class State, class ExecutionSpace>
State restore(ExecutionSpace const& exec, Snapshot const& from);

}  // namespace sporades

#include <sporades/algorithms/detail/snapshot_arrays.hpp>
