# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Sourced by the test_*.sh: test_NAME.sh COMMAND SCRATCH_FOLDER runs in an empty scratch folder,
# with the command as $sporades and the tests' data as $data. `finish` ends it.
set -u

sporades=$(realpath "$1")
data=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../data")
rm -rf "$2" && mkdir -p "$2" && cd "$2" || exit 1
scratch=$PWD
checks=0
failures=0
last=
exec < /dev/null
# Threads that spin while they wait make busy cores many times slower.
export OMP_WAIT_POLICY=passive OMP_PROC_BIND=false OMP_NUM_THREADS=${OMP_NUM_THREADS:-2}

failed() {
  failures=$((failures + 1))
  echo "FAILED: $*"
  [[ $last ]] && echo "  after: $last" && sed 's/^/  stdout: /' out | head -20 &&
    sed 's/^/  stderr: /' err | head -20
}

# check DESCRIPTION COMMAND...: the command succeeds.
check() {
  local description=$1
  shift
  checks=$((checks + 1))
  "$@" > /dev/null 2>&1 || failed "$description ($*)"
}

# check_not DESCRIPTION COMMAND...: the command fails.
check_not() {
  local description=$1
  shift
  checks=$((checks + 1))
  ! "$@" > /dev/null 2>&1 || failed "$description (not $*)"
}

# run STATUS ARGUMENT...: sporades exits so; its output lies in the files out and err.
run() {
  local expected=$1
  shift
  last="sporades $*"
  checks=$((checks + 1))
  "$sporades" "$@" > out 2> err
  local status=$?
  [[ $status == "$expected" ]] || failed "exit status $status, expected $expected"
}

# refuses TEXT ARGUMENT...: bad usage or input: status 2, one line on standard error that has the
# text, nothing on standard output.
refuses() {
  local text=$1
  shift
  run 2 "$@"
  check "an error that begins 'sporades: error: '" grep -q '^sporades: error: ' err
  check "one line of error" test "$(wc -l < err)" = 1
  check "error says '$text'" grep -qF -- "$text" err
  check "nothing on standard output" test ! -s out
}

says() { check "standard output says '$1'" grep -qF -- "$1" out; }

same() { check "$1 and $2 are the same bytes" cmp "$1" "$2"; }

no_litter() {
  local litter
  litter=$(find "$scratch" -name '.*' -type f)
  check "no temporary file is left ($litter)" test -z "$litter"
}

finish() {
  echo "$checks checks, $failures failed"
  [[ $failures == 0 && $checks -gt 0 ]]
  exit
}
