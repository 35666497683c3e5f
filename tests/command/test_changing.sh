# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Files that change while they are read: one sentence and status 1, whatever the moment.
source "$(dirname "$0")/support.sh" "$@"

mkdir files
export TMPDIR=$scratch/files
run 0 generate --dims 2000x2000x2000 --nnz 600000 --seed 3 -o x.tns
run 0 convert x.tns x.spt
gzip -1 -k x.tns
head -c 2000000 /dev/zero > zeros
yes '1 1 1 1' | head -c "$(stat -c %s x.tns)" > short

# changed STATUSES COMMAND...: the command exits so, and says that the file changed if it is 1.
changed() {
  local expected=$1 status
  shift
  wait $!
  status=$?
  last=$*
  check "exit status $status is one of $expected" grep -qw $status <<< "$expected"
  [[ $status == 1 ]] || return 1
  check 'one line says so' grep -qE '^sporades: error: y\.[a-z.]+: the file changed while it was read: [^:]+$' err
  check 'and it is the only one' test "$(wc -l < err)" = 1
}

# The process is held once it has opened the file, and the file changes meanwhile. A process that was held too late has read all of it.
# One that was held too early, before it asked for the file's size, reads what the file has become, and may find a fault in it.
reads() {
  local name=$1 pid k
  shift
  for ((k = 0; k < 20; k++)); do
    cp "x.$name" "y.$name"
    "$sporades" info "y.$name" --threads 1 > out 2> err &
    pid=$!
    until [[ -n $(find /proc/$pid/fd -lname "*/y.$name" 2> /dev/null) ]] || ! kill -0 $pid 2> /dev/null; do :; done
    kill -STOP $pid 2> /dev/null
    "$@" "y.$name"
    kill -CONT $pid 2> /dev/null
    changed '0 1 2' "info y.$name, $*" && return
  done
  check "info y.$name, $*: it was held in time" false
}
overwrite() { dd if="$1" of="$2" conv=notrunc bs=64M status=none; }
grow() { cat short >> "$1"; }
for name in tns tns.gz spt; do
  reads $name truncate -s 1000
  reads $name truncate -s 1000000
  reads $name overwrite short
  reads $name grow
  reads $name overwrite zeros
done
finish
