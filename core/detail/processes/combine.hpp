// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense/shared_sums.hpp>

namespace sporades::detail {

/// How numbers of two processes become one.
struct Add {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, T const& b) const {
    return a + b;
  }
};
struct TakeLess {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, T const& b) const {
    return b < a ? b : a;
  }
};

/// to[i] = what of all processes, in the order of their ranks.
template <class Number, class How>
struct CombineParts {
  Number const* parts;  // of each process
  Number* to;
  std::uint64_t count, processes;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    Number all = parts[i];
    for (std::uint64_t p = 1; p < processes; ++p) all = How()(all, parts[p * count + i]);
    to[i] = all;
  }
};

/// numbers[i] becomes what How makes of numbers[i] of all processes: the same bits on each. Each
/// combines its part of them, which all get then. Collective. Fences exec, or is enqueued: see
/// enqueue_exchange. Nothing on one process.
template <class How, class ExecutionSpace, class Number, class Memory>
void combine_across(ExecutionSpace const& exec, Communicator const& processes, char const* name,
                    Number* numbers, std::uint64_t count, Workspace<Memory>& workspace) {
  if (processes.size() == 1 || count == 0) return;
  auto const P = static_cast<std::size_t>(processes.size());
  auto const me = static_cast<std::size_t>(processes.rank());
  std::vector<std::size_t> bounds;
  for (std::size_t p = 0; p <= P; ++p) bounds.push_back(count * p / P);
  std::uint64_t const own = bounds[me + 1] - bounds[me];
  auto* const parts = workspace.template get<Number>(exec, P * own + 1).data();
  std::vector<Sent> sent;
  std::vector<Received> received;
  for (std::size_t p = 0; p < P; ++p) {
    auto const bytes = [](Number* from) { return reinterpret_cast<std::byte*>(from); };
    sent.push_back({static_cast<int>(p), bytes(numbers + bounds[p]),
                    (bounds[p + 1] - bounds[p]) * sizeof(Number)});
    received.push_back({static_cast<int>(p), bytes(parts + p * own), own * sizeof(Number)});
  }
  enqueue_exchange(exec, processes, name, sent, received);
  launch(exec, "sporades::processes::combine", own, P,
         CombineParts<Number, How>{parts, numbers + bounds[me], own, P});
  all_gather_parts(exec, processes, name, numbers, bounds);
}

/// combine_across of each entry of matrices, with their padding, as make_matrix gives them. Those
/// that lie one behind another travel together.
template <class How, class ExecutionSpace, class Scalar, class Memory>
void combine_across(ExecutionSpace const& exec, Communicator const& processes, char const* name,
                    Factors<Scalar, Memory> const& matrices, Workspace<Memory>& workspace) {
  auto const end_of = [&](std::size_t n) {
    return matrices[n].data() + with_padding(matrices[n]).size();
  };
  for (std::size_t n = 0; n < matrices.size();) {
    Scalar *const begin = matrices[n].data(), *end = end_of(n);
    while (++n < matrices.size() && matrices[n].data() == end) end = end_of(n);
    combine_across<How>(exec, processes, name, begin, static_cast<std::uint64_t>(end - begin),
                        workspace);
  }
}

}  // namespace sporades::detail
