// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/types.hpp>

/// The simple array operations that MTTKRP and CP-APR's kernels are made of: what they reach of a
/// machine's memory bandwidth is the ceiling of the tensor kernels. Arrays of one length, in one
/// memory space. Each is enqueued on exec, does not fence, and throws Error if lengths differ.
/// McCalpin's STREAM, and the element-wise product of Anderson & Choi 2021, section 4.

namespace sporades {

/// c = a. No flops; 2 words moved an entry.
template <class ExecutionSpace, class Scalar, class MemorySpace>
void stream_copy(ExecutionSpace const& exec, Vector<Scalar, MemorySpace> const& a,
                 Vector<Scalar, MemorySpace> const& c);

/// b = s c. 1 flop and 2 words moved an entry.
template <class ExecutionSpace, class Scalar, class MemorySpace>
void stream_scale(ExecutionSpace const& exec, Scalar s, Vector<Scalar, MemorySpace> const& c,
                  Vector<Scalar, MemorySpace> const& b);

/// c = a + b. 1 flop and 3 words moved an entry.
template <class ExecutionSpace, class Scalar, class MemorySpace>
void stream_add(ExecutionSpace const& exec, Vector<Scalar, MemorySpace> const& a,
                Vector<Scalar, MemorySpace> const& b, Vector<Scalar, MemorySpace> const& c);

/// a = b + s c. 2 flops and 3 words moved an entry.
template <class ExecutionSpace, class Scalar, class MemorySpace>
void stream_triad(ExecutionSpace const& exec, Scalar s, Vector<Scalar, MemorySpace> const& b,
                  Vector<Scalar, MemorySpace> const& c, Vector<Scalar, MemorySpace> const& a);

/// c = a .* b. 1 flop and 3 words moved an entry.
template <class ExecutionSpace, class Scalar, class MemorySpace>
void stream_multiply(ExecutionSpace const& exec, Vector<Scalar, MemorySpace> const& a,
                     Vector<Scalar, MemorySpace> const& b, Vector<Scalar, MemorySpace> const& c);

}  // namespace sporades

#include <sporades/kernels/detail/stream/run_stream.hpp>
