// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define CATCH_CONFIG_RUNNER
#include <support/catch.hpp>
#include <support/run_tests.hpp>

namespace sporades::test {

int run_tests(int argc, char** argv) {
  return Catch::Session().run(argc, argv);
}

}  // namespace sporades::test
