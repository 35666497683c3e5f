// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/types.hpp>
#include <sporades/execution_spaces.hpp>
#include <string>
#include <type_traits>

namespace sporades::command {

inline std::string backend_name(std::string space) {
  for (auto& letter : space)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return space;
}

namespace detail {

template <class Run, class... Spaces>
int with_backend(std::string const& wanted, Run const& run, std::tuple<Spaces...>*) {
  std::string known;
  int status = 0;
  bool is_known = false;
  auto const try_space = [&](auto* space) {
    using Space = std::remove_pointer_t<decltype(space)>;
    std::string const own = backend_name(Space::name());
    known += (known.empty() ? "" : ", ") + own;
    if (own != wanted) return;
    is_known = true;
    status = run(Space());
  };
  (try_space(static_cast<Spaces*>(nullptr)), ...);
  expects(is_known, "--backend ", wanted, " is not built into this command; it has ", known);
  return status;
}

}  // namespace detail

/// run(instance) for an instance of the execution space of that name ("": Kokkos' default).
/// Throws Error naming the enabled ones if it is not among them.
template <class Run>
int with_backend(std::string const& name, Run const& run) {
  std::string const wanted =
      name.empty() ? backend_name(Kokkos::DefaultExecutionSpace::name()) : name;
  return detail::with_backend(wanted, run, static_cast<ExecutionSpaces*>(nullptr));
}

/// Threads of the host that work on exec.
template <class ExecutionSpace>
int host_threads(ExecutionSpace const& exec) {
  if constexpr (sporades::detail::is_gpu<ExecutionSpace>)
    return 1;
  else
    return static_cast<int>(exec.concurrency());
}

}  // namespace sporades::command
