#!/usr/bin/env bash
# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# demo.sh: builds the command sporades in build/, makes a tensor from this machine's package index in
# build/demo, decomposes it, and writes a page that shows the result.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake/build.sh --target sporades_command -DSPORADES_SCALARS=double -DSPORADES_ENABLE_SERIAL=OFF \
  -DSPORADES_ENABLE_MPI=OFF

demo=build/demo
if [[ ! -s $demo/packages.tns ]]; then
  mkdir -p $demo
  if ! cmake/package_tensor.sh $demo > /dev/null; then
    echo "sporades: using the smaller tensor that comes with Sporades instead" >&2
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

Every Debian machine has a large sparse tensor, its package index:
  (package x package that it relates to x kind of relation: Depends, Recommends, Suggests, ...).
END
run build/bin/sporades info $tensor

cat << 'END'

Its values are counts, so it is decomposed by CP-APR (alternating Poisson regression). Each component is
a group of packages (mode 0) that relate in the same ways (mode 2) to the same others (mode 1). The
strongest names show what it is: C++ with Qt and KDE, Perl, Python, R and Rust crates come apart. Nobody
told the program what any of these are.
END
run build/bin/sporades cp-apr $tensor --rank 24 --seed 300 --iterations 20 --labels $labels --top 5 \
  -o build/demo.ktns
run build/bin/sporades view build/demo.ktns --labels $labels

cat << 'END'

The model is in build/demo.ktns, in Tensor Toolbox's text form. More commands: build/bin/sporades --help
A picture of it is build/demo.html, a page for any browser.
This build computes in double precision and with threads only, which takes less time: cmake/build.sh builds all.
END
