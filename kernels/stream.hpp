// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/check_types.hpp>

/// The simple array operations that MTTKRP and CP-APR's kernels are made of. The memory bandwidth
/// that they reach on a machine is the most that the tensor kernels can reach. Arrays of one
/// length, in one memory space. Each is enqueued on exec, does not fence, and throws Error if
/// lengths differ.
/// McCalpin's STREAM, and the element-wise product of Anderson & Choi 2021, section 4.

namespace sporades {

/// c = a. No flops; 2 words moved an entry. Enqueued on exec, does not fence. Throws Error if the
/// lengths differ.
template <class ExecutionSpace, class Input, class Output>
void stream_copy(ExecutionSpace const& exec, Input const& a, Output const& c);

/// b = s c. 1 flop and 2 words moved an entry. Enqueued on exec, does not fence. Throws Error if
/// the lengths differ.
template <class ExecutionSpace, class Scalar, class Input, class Output>
void stream_scale(ExecutionSpace const& exec, Scalar s, Input const& c, Output const& b);

/// c = a + b. 1 flop and 3 words moved an entry. Enqueued on exec, does not fence. Throws Error if
/// the lengths differ.
template <class ExecutionSpace, class Left, class Right, class Output>
void stream_add(ExecutionSpace const& exec, Left const& a, Right const& b, Output const& c);

/// a = b + s c. 2 flops and 3 words moved an entry. Enqueued on exec, does not fence. Throws Error
/// if the lengths differ.
template <class ExecutionSpace, class Scalar, class Left, class Right, class Output>
void stream_triad(ExecutionSpace const& exec, Scalar s, Left const& b, Right const& c,
                  Output const& a);

/// c = a .* b. 1 flop and 3 words moved an entry. Enqueued on exec, does not fence. Throws Error if
/// the lengths differ.
template <class ExecutionSpace, class Left, class Right, class Output>
void stream_multiply(ExecutionSpace const& exec, Left const& a, Right const& b, Output const& c);

}  // namespace sporades

#include <sporades/kernels/detail/stream/run_stream.hpp>
