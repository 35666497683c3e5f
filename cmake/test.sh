#!/usr/bin/env bash
# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# test.sh [CMAKE ARGUMENTS]: builds Sporades in build/ and runs its tests.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake/build.sh "$@"
exec ctest --test-dir build --output-on-failure -j "$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)"
