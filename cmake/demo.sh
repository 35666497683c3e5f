#!/usr/bin/env bash
# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# demo.sh: builds Sporades in build/, makes a tensor of this machine's package index in build/demo,
# and decomposes it.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake/build.sh --target sporades_command

demo=build/demo
if [[ ! -s $demo/packages.tns ]]; then
  mkdir -p $demo
  if ! cmake/package_tensor.sh $demo > /dev/null; then
    echo "sporades: taking the smaller tensor that comes with Sporades instead" >&2
    rm -rf $demo
  fi
fi
tensor=$demo/packages.tns labels=$demo/labels
if [[ ! -s $tensor ]]; then
  tensor=tests/data/packages-small.tns.gz labels=tests/data/labels
fi

run() {
  printf '\n$ %s\n' "$*"
  "$@"
}

cat << 'END'

A tensor that every Debian machine carries: its package index,
  (package x package it relates to x kind of relation: Depends, Recommends, Suggests, ...).
END
run build/bin/sporades info $tensor

cat << 'END'

Its CP decomposition of rank 24 with nothing negative. Each component is a group of packages that
relate, in the same ways, to the same other packages; the strongest names of each mode say which.
Nobody told the program what Python, Perl, R, Qt, KDE or Rust is.
END
run build/bin/sporades cp-als $tensor --rank 24 --non-negative --seed 1 --labels $labels --top 5 \
  -o build/demo.ktns

cat << 'END'

The model is in build/demo.ktns, in Tensor Toolbox's text form. What else there is: build/bin/sporades --help
END
