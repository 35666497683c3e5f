// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace sporades::test {

/// A session of Catch2 with these arguments; its exit status.
int run_tests(int argc, char** argv);

}  // namespace sporades::test
