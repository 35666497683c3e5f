// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace sporades {

/// Limits how long threads of OpenMP spin while they wait, for machines that are shared. GNU's
/// OpenMP library lets them spin for some milliseconds; beside other busy programs they then take
/// processors from the threads that they wait for. After this call they sleep after 0.3
/// milliseconds (1 millisecond with LLVM's library).
///
/// The limit is set by the environment variables GOMP_SPINCOUNT and KMP_BLOCKTIME, which the OpenMP
/// library reads when it is loaded. So the program is executed again in place, with the same
/// arguments, and without standard error until this is called again, so that what libraries say
/// when they are loaded is said once. Call this first in main, before any input is read and before
/// Kokkos is initialised.
///
/// argv: main's, ended by a null pointer. Returns without any effect if
/// - OMP_WAIT_POLICY, GOMP_SPINCOUNT or KMP_BLOCKTIME is set, as it is in the second execution,
/// - the library was built without OpenMP,
/// - the system is not Linux, or does not allow it.
void limit_spinning(char** argv);

}  // namespace sporades
