#!/usr/bin/env bash
# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# build.sh [--target TARGET] [CMAKE ARGUMENTS]: builds library, command and tests (or only TARGET) for
# this machine in build/. First runs bootstrap.sh, which installs or builds what they need. When it is
# run again, it builds what has changed. Options that are not given have their defaults, also where an
# earlier run was given others.
set -euo pipefail
cd "$(dirname "$0")/.."
export HOME=${HOME:-/root}

target=()
if [[ ${1:-} == --target ]]; then
  target=(--target "$2")
  shift 2
fi

arguments=$(cmake/bootstrap.sh)
mapfile -t arguments <<< "$arguments"

# Several machines may share this folder. The compiler's macros for -march=native tell their processors
# apart.
cxx=${CXX:-c++}
native=-march=native
"$cxx" $native -x c++ -E - < /dev/null > /dev/null 2>&1 || native=
macros=$("$cxx" $native -x c++ -dM -E - < /dev/null)

if [[ -e build/processor && $(< build/processor) != "$macros" ]]; then
  echo "sporades: build/ was made for another processor or compiler; building it anew" >&2
  rm -rf build
fi
mkdir -p build
echo "$macros" > build/processor

if command -v ccache > /dev/null; then
  cache=${CCACHE_DIR:-${SPORADES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sporades}/ccache}
  launcher="env;CCACHE_DIR=$cache;CCACHE_BASEDIR=$PWD;CCACHE_EXTRAFILES=$PWD/build/processor;ccache"
  arguments+=("-DCMAKE_CXX_COMPILER_LAUNCHER=$launcher")
fi

arguments+=(-G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS=$native" "$@")

# CMake remembers options of earlier runs, such as those of demo.sh: where they were others, it forgets
# all, so that what is not given here has its default.
if [[ ! -e build/arguments || $(< build/arguments) != "${arguments[*]}" ]]; then rm -f build/CMakeCache.txt; fi
echo "${arguments[*]}" > build/arguments

log=build/configure.log
if ! cmake -S . -B build "${arguments[@]}" > $log 2>&1; then
  cat $log >&2
  echo "sporades: CMake could not configure build/; the lines above say why" >&2
  exit 1
fi
grep '^-- Sporades:' $log >&2 || true

# One compiler takes up to 1.5 GB. nproc heeds OpenMP's variables, which are not meant for compilers.
jobs=$(awk -v cores="$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)" '/^MemAvailable/ { jobs = int($2 / 1500000) }
  END { print jobs < 1 ? 1 : jobs < cores ? jobs : cores }' /proc/meminfo)
echo "sporades: building on $jobs cores" >&2
cmake --build build -j "$jobs" "${target[@]}" >&2
