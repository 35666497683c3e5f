// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace sporades::command {

/// From now on the process ends with a sentence and status 1 where a file that is mapped into
/// memory cannot be loaded or stored, such as those of nonzeros on a disk that fails.
void end_on_bus_error();

}  // namespace sporades::command
