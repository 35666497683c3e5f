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

# The command executes itself again with its limit, and the library is silent then.
mkfifo pipe
last='sporades info pipe'
"$sporades" info pipe > out 2> err &
for ((k = 0; k < 200; k++)); do
  count=$(tr '\0' '\n' < /proc/$!/environ | sed -n 's/^GOMP_SPINCOUNT=//p')
  [[ $count ]] && break
  sleep 0.05
done
cat 'a b.tns' > pipe
checks=$((checks + 1))
wait $! || failed "exit status $?"
loaded 1
says '2 x 3 x 1'
check "a limit of $count spins" test "${count:-0}" -ge 1000 -a "${count:-0}" -le 1000000
check "which is ours, not the library's" test "$count" != "$(spins)"

# Threads that are bound do not bind the thread that executes the program again.
threads() {
  "$@" "$sporades" cp-als 'a b.tns' --rank 1 --iterations 1 --report r.json > out 2> err
  sed -n 's/.*"threads": \([0-9]*\).*/\1/p' r.json
}
all=$(threads env -u OMP_NUM_THREADS)
last='OMP_PROC_BIND=true sporades cp-als'
check "it may still run on every processor ($all)" \
  test "$(threads env -u OMP_NUM_THREADS OMP_PROC_BIND=true OMP_PLACES=threads)" = "$all"

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
