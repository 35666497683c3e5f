// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/alto_tensor.hpp>

namespace sporades::test {

/// True if strategy `alto` refuses X because the product on some mode would need atomics: always on
/// GPUs; on hosts if a mode has no parts with buffers.
template <class ExecutionSpace, class Tensor>
bool alto_is_refused(ExecutionSpace const& exec, Tensor const& X) {
  if (X.nnz() == 0) return false;
  bool refused = sporades::detail::is_gpu<ExecutionSpace>;
  for (auto const& partition : make_alto(exec, X).partitions)
    refused = refused || partition.parts.extent(0) == 0;
  return refused;
}

}  // namespace sporades::test
