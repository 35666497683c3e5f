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

inline std::string name_of(float*) {
  return "float";
}
inline std::string name_of(double*) {
  return "double";
}
template <class ExecutionSpace>
std::string name_of(ExecutionSpace*) {
  return backend_name(ExecutionSpace::name());
}

/// run(value) for a value of the type of that name. Throws Error naming all types if it is not
/// among them.
template <class Run, class... Types>
int with_one_of(std::tuple<Types...>*, char const* option, std::string const& wanted,
                Run const& run) {
  std::string known;
  int status = 0;
  bool is_known = false;
  auto const try_type = [&](auto* type) {
    std::string const own = name_of(type);
    known += (known.empty() ? "" : ", ") + own;
    if (own != wanted) return;
    is_known = true;
    status = run(std::remove_pointer_t<decltype(type)>());
  };
  (try_type(static_cast<Types*>(nullptr)), ...);
  expects(is_known, option, " ", wanted, " is not built into this command; it has ", known);
  return status;
}

}  // namespace detail

/// run(instance) for an instance of the execution space of that name ("": Kokkos' default).
template <class Run>
int with_backend(std::string const& name, Run const& run) {
  std::string const wanted =
      name.empty() ? backend_name(Kokkos::DefaultExecutionSpace::name()) : name;
  return detail::with_one_of(static_cast<ExecutionSpaces*>(nullptr), "--backend", wanted, run);
}

/// run(value) for a value of the type of that name.
template <class Run>
int with_precision(std::string const& name, Run const& run) {
  return detail::with_one_of(static_cast<Scalars*>(nullptr), "--precision", name, run);
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
