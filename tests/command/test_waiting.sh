# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# How long threads spin while they wait: the command limits it, unless the user says how long. GNU's
# OpenMP library tells its settings each time it is loaded.
source "$(dirname "$0")/support.sh" "$@"
export OMP_DISPLAY_ENV=verbose
variables=(OMP_WAIT_POLICY GOMP_SPINCOUNT KMP_BLOCKTIME)
unset "${variables[@]}"

spins() { sed -n "s/.*GOMP_SPINCOUNT = '\([0-9]*\)'.*/\1/p" err; }
loaded() { check "the OpenMP library is loaded $1 times" test "$(spins | wc -l)" = "$1"; }

printf '1 1 1 1.5\n2 3 1 2\n' > 'a b.tns'
run 0 --version
if [[ -z $(spins) ]]; then
  echo 'skipped: not linked to GNU OpenMP'
  finish
fi

run 0 info 'a b.tns'
loaded 2
says '2 x 3 x 1'
count=$(spins | tail -n 1)
check "a limit of $count spins" test "$count" -ge 1000 -a "$count" -le 1000000
check "which is ours, not the library's" test "$count" != "$(spins | head -n 1)"

last='OMP_PROC_BIND=true sporades info' # which binds the thread that executes the program again
OMP_PROC_BIND=true OMP_PLACES=threads "$sporades" info 'a b.tns' > out 2> err
loaded 2
check 'it may still run on every processor' test "$(sed -n 's/.*OMP_PLACES = //p' err | uniq | wc -l)" = 1

for setting in OMP_WAIT_POLICY=passive OMP_WAIT_POLICY=active GOMP_SPINCOUNT=77 KMP_BLOCKTIME=3; do
  last="$setting sporades info"
  checks=$((checks + 1))
  env "$setting" "$sporades" info 'a b.tns' > out 2> err || failed "$setting"
  loaded 1
done
last='GOMP_SPINCOUNT=77 sporades info'
GOMP_SPINCOUNT=77 "$sporades" info 'a b.tns' > out 2> err
check "the user's number of spins" test "$(spins)" = 77
finish
