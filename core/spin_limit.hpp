// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace sporades {

/// Limits how long threads of OpenMP spin while they wait. GNU's library lets them spin for some
/// milliseconds, and beside other busy programs they keep processors from the very threads that
/// they wait for. With this they sleep after 0.3 milliseconds (GOMP_SPINCOUNT; LLVM's library
/// counts in milliseconds: KMP_BLOCKTIME=1).
///
/// The OpenMP library reads these variables when it is loaded, so the program is executed once more
/// in place, with the same arguments: call this first in main, before any input is read, and before
/// Kokkos starts. Returns without doing anything where the user has set OMP_WAIT_POLICY,
/// GOMP_SPINCOUNT or KMP_BLOCKTIME (as the second execution has), where this Kokkos has no OpenMP,
/// and where the system does not allow it. Linux only. argv: main's, ended by a null pointer.
void limit_spinning(char** argv);

}  // namespace sporades
