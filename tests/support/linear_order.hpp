// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/alto_tensor.hpp>

namespace sporades::test {

/// True if some mode of X has no parts with buffers.
template <class ExecutionSpace, class Tensor>
bool lacks_parts(ExecutionSpace const& exec, Tensor const& X) {
  if (X.nnz() == 0) return false;
  for (auto const& partition : make_alto(exec, X).partitions)
    if (partition.parts.extent(0) == 0) return true;
  return false;
}

/// True if strategy `alto` refuses X because the product on some mode would need atomics:
/// on hosts, if a mode has no parts with buffers.
template <class ExecutionSpace, class Tensor>
bool alto_is_refused(ExecutionSpace const& exec, Tensor const& X) {
  return !sporades::detail::is_gpu<ExecutionSpace> && lacks_parts(exec, X);
}

/// True if the strategy refuses X for what it lacks. Strategy: of MTTKRP or Phi.
template <class Strategy, class ExecutionSpace, class Tensor>
bool is_refused(ExecutionSpace const& exec, Tensor const& X, Strategy strategy) {
  std::string const name = to_string(strategy);
  if (name == "coo-alto-pull") return lacks_parts(exec, X);
  return name == "alto" && alto_is_refused(exec, X);
}

}  // namespace sporades::test
