# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Checkpoints: a run that is killed, at whatever moment, and resumed ends at the same bytes.
source "$(dirname "$0")/support.sh" "$@"
RANDOM=${SPORADES_TEST_SEED:-$$}
echo "seed of the random moments: SPORADES_TEST_SEED=${SPORADES_TEST_SEED:-$$}"

run 0 generate --like uber --nnz 6000 -o uber.spt
run 0 generate --dims 3000x2000x4 --nnz 4000 --skew 0.6 --seed 2 -o long.spt
run 0 generate --dims 30x20x10x5x4 --nnz 3000 --skew 0.4 --seed 4 -o five.tns
run 0 generate --dims 60x50x40 --nnz 4000 --skew 0.8 --seed 5 -o counts.tns
awk '{ $NF = 1 + NR % 7; print }' counts.tns > whole.tns
run 0 convert whole.tns counts.spt

# Waits until the file is newer than `stamp`, or the process ends.
wait_for_file() { # FILE PROCESS
  until [[ $1 -nt stamp ]] || ! kill -0 "$2" 2> /dev/null; do sleep 0.002; done
}

microseconds() { echo "${EPOCHREALTIME/[^0-9]/}"; }

# Sleeps for a random part of so many microseconds.
sleep_within() {
  local moment=$(((RANDOM * 32768 + RANDOM) % ($1 + 1)))
  sleep "$((moment / 1000000)).$(printf %06d $((moment % 1000000)))"
}

# A run is begun, killed and resumed until it has been killed often enough, then left to end. Every
# second moment is after the first checkpoint of that run: on GPUs, all before takes long.
killed_and_resumed() { # NAME KILLS SUBCOMMAND ARGUMENT...
  local name=$1 kills=$2
  shift 2
  last="$*"
  touch stamp
  local begin=$(microseconds)
  "$sporades" "$@" -o "$name.ktns" --checkpoint "$name-whole.ck" > out 2> err &
  local process=$!
  wait_for_file "$name-whole.ck" "$process"
  local before=$(($(microseconds) - begin))
  if ! wait $process; then
    failed "exit status $?"
    return
  fi
  local after=$(($(microseconds) - begin - before))
  local killed=0 resumed=0 runs=0 resume status
  while ((++runs < 60)); do
    resume=()
    [[ -e $name.ck ]] && resume=(--resume "$name.ck") && resumed=$((resumed + 1))
    last="$* ${resume[*]}"
    touch stamp
    "$sporades" "$@" "${resume[@]}" --checkpoint "$name.ck" -o "$name-resumed.ktns" \
      > out 2> err &
    process=$!
    if ((killed < kills)); then
      if ((runs % 2)); then
        sleep_within $((before + after / 2))
      else
        wait_for_file "$name.ck" "$process"
        sleep_within $((after / 2))
      fi
      kill -KILL $process 2> /dev/null
    fi
    wait $process 2> /dev/null
    status=$?
    if [[ $status == 137 ]]; then
      killed=$((killed + 1))
    elif [[ $status != 0 ]]; then
      failed "exit status $status"
      return
    elif ((killed < kills)); then
      rm -f "$name.ck" # it was faster than the moment: from the beginning, with earlier ones
      after=$((after * 3 / 4))
    else
      break
    fi
  done
  echo "$name: killed $killed times, resumed $resumed times"
  total_kills=$((total_kills + killed))
  total_resumed=$((total_resumed + resumed))
  same "$name.ktns" "$name-resumed.ktns"
}

total_kills=0
total_resumed=0
killed_and_resumed sorted 5 cp-als uber.spt --rank 8 --iterations 60 --tolerance 0 --format sorted
killed_and_resumed csf 5 cp-als long.spt --rank 5 --iterations 40 --tolerance 0 --format csf --non-negative
killed_and_resumed float 5 cp-als five.tns --rank 7 --iterations 80 --tolerance 0 --precision float
killed_and_resumed every 5 cp-als uber.spt --rank 3 --iterations 90 --tolerance 0 --regularization 0.5 \
  --checkpoint-every 7 --init hosvd
killed_and_resumed apr 5 cp-apr counts.spt --rank 4 --iterations 60 --tolerance 0
killed_and_resumed stored 5 cp-apr counts.spt --rank 5 --iterations 40 --tolerance 0 --pi stored \
  --precision float --checkpoint-every 3 --inner-iterations 4
killed_and_resumed tucker 5 tucker five.tns --ranks 3,4,2,2,3 --iterations 60 --tolerance 0
killed_and_resumed starts 4 cp-als five.tns --rank 3 --starts 3 --iterations 25 --tolerance 0
killed_and_resumed apr-starts 3 cp-apr counts.spt --rank 3 --starts 3 --iterations 15 --tolerance 0
killed_and_resumed tucker-starts 3 tucker five.tns --ranks 2,3,2,2,3 --starts 3 --iterations 20 \
  --tolerance 0 --checkpoint-every 4
check "killed at 45 moments ($total_kills)" test "$total_kills" -ge 45
check "of which some had a checkpoint ($total_resumed)" test "$total_resumed" -ge 12

# On another number of threads, and farther than it was to go.
base=(cp-als five.tns --rank 4 --tolerance 0)
run 0 "${base[@]}" --iterations 12 -o whole.ktns --report whole.json
run 0 "${base[@]}" --iterations 5 --checkpoint c.ck
cp c.ck five.ck
run 0 "${base[@]}" --iterations 12 --resume c.ck -o resumed.ktns --report r.json --kokkos-num-threads=1
same whole.ktns resumed.ktns
same five.ck c.ck
check 'the report has all iterations' test "$(grep -c '"iteration": ' r.json)" = 12
check 'and where it went on' grep -q '"resumed_after": 5' r.json
fits() { grep '"fit": ' "$1"; }
check 'with the same fits' cmp <(fits whole.json) <(fits r.json)
run 0 "${base[@]}" --iterations 5 --resume c.ck -o done.ktns
check_not 'a finished run does nothing more' grep -q '^iteration' out
run 0 cp-als five.tns --rank 4 --tolerance 1e-2 --iterations 100 -o end.ktns --checkpoint end.ck
run 0 cp-als five.tns --rank 4 --tolerance 1e-2 --iterations 100 -o end2.ktns --resume end.ck
same end.ktns end2.ktns
check_not 'nor does a converged one' grep -q '^iteration' out

# The same of cp-apr.
apr=(cp-apr counts.spt --rank 4 --tolerance 0)
run 0 "${apr[@]}" --iterations 12 -o whole-apr.ktns --report whole-apr.json
run 0 "${apr[@]}" --iterations 5 --checkpoint apr.ck
run 0 "${apr[@]}" --iterations 12 --resume apr.ck -o resumed-apr.ktns --report r.json --kokkos-num-threads=1
same whole-apr.ktns resumed-apr.ktns
check 'the report has all iterations' test "$(grep -c '"iteration": ' r.json)" = 12
values() { grep -E '"(log_likelihood|kkt_violation|inner_iterations|zero_model_nonzeros)": ' "$1"; }
check 'with the same values' cmp <(values whole-apr.json) <(values r.json)
refuses 'algorithm is cp-apr there and cp-als here' cp-als counts.spt --rank 4 --resume apr.ck
refuses 'kappa is' "${apr[@]}" --kappa 0.1 --resume apr.ck
refuses 'inner-iterations is 10 there and 3 here' "${apr[@]}" --inner-iterations 3 --resume apr.ck

# The same of tucker.
tucker=(tucker five.tns --ranks 3,4,2,2,3 --tolerance 0)
run 0 "${tucker[@]}" --iterations 12 -o whole.ttns --report whole.json
run 0 "${tucker[@]}" --iterations 5 --checkpoint tucker.ck
run 0 "${tucker[@]}" --iterations 12 --resume tucker.ck -o resumed.ttns --report r.json --kokkos-num-threads=1
same whole.ttns resumed.ttns
check 'with the same fits' cmp <(fits whole.json) <(fits r.json)
refuses 'ranks is 3,4,2,2,3 there and 3,4,2,2,2 here' tucker five.tns --ranks 3,4,2,2,2 --resume tucker.ck
refuses 'strategy is automatic there and csf here' "${tucker[@]}" --format csf --resume tucker.ck
refuses 'algorithm is cp-als there and tucker here' "${tucker[@]}" --resume five.ck

# Options that are left out are as the checkpoint tells; the limits may be others.
taken() { # SUBCOMMAND FILE OPTION...: with all options and 9 iterations, and resumed without them
  local subcommand=$1 file=$2
  shift 2
  rm -f taken.ck
  run 0 "$subcommand" "$file" "$@" --tolerance 0 --iterations 9 -o all.model
  run 0 "$subcommand" "$file" "$@" --tolerance 0 --iterations 4 --checkpoint taken.ck
  run 0 "$subcommand" "$file" --resume taken.ck --iterations 9 -o resumed.model
  same all.model resumed.model
  run 0 "$subcommand" "$file" --resume taken.ck
  check 'and so are the limits' grep -q 'after 4 iterations: all iterations done' out
}
taken cp-als five.tns --rank 3 --seed 9 --init random --format csf --non-negative --precision float
taken cp-als five.tns --rank 3 --regularization 0.1 --no-dimension-tree
taken cp-als five.tns --rank 4 --init whole.ktns
taken cp-als five.tns --rank 3 --init random --gather half
taken cp-als five.tns --rank 2 --dims 31x20x11x5x4 --index-base one
taken cp-apr counts.spt --rank 3 --seed 7 --method pqnr --inner-iterations 3 --kappa 0.1
taken cp-apr five.tns --rank 3 --fractional-counts --pi stored --epsilon 1e-9
taken tucker five.tns --ranks 3,4,2,2,3 --seed 70 --format csf
refuses 'seed is 70 there and 71 here' tucker five.tns --resume taken.ck --seed 71
run 0 "${base[@]}" --starts 2 --init random --iterations 3 --checkpoint starts.ck
refuses 'starts is 2 there and 3 here' cp-als five.tns --resume starts.ck --starts 3
refuses 'iterations is 3 there and 9 here' cp-als five.tns --resume starts.ck --iterations 9
refuses '--rank' cp-als five.tns

# Another computation is refused, and what differs is said.
resume=(--resume five.ck --iterations 12)
refuses 'rank is 4 there and 3 here' cp-als five.tns --rank 3 --tolerance 0 "${resume[@]}"
refuses 'seed is 1 there and 9 here' "${base[@]}" --seed 9 "${resume[@]}"
refuses 'strategy is automatic there and csf here' "${base[@]}" --format csf "${resume[@]}"
refuses 'precision is double there and float here' "${base[@]}" --precision float "${resume[@]}"
refuses 'non-negative is no there and yes here' "${base[@]}" --non-negative "${resume[@]}"
refuses 'regularization is 0 there and 2 here' "${base[@]}" --regularization 2 "${resume[@]}"
refuses 'missing is no there and yes here' "${base[@]}" --missing "${resume[@]}"
refuses 'init is automatic there and hosvd here' "${base[@]}" --init hosvd "${resume[@]}"
refuses 'dims is 30 x 20 x 10 x 5 x 4 there' cp-als uber.spt --rank 4 "${resume[@]}"
awk 'NR == 7 { $NF = $NF + 1 } { print }' five.tns > changed.tns
refuses 'tensor is' cp-als changed.tns --rank 4 --tolerance 0 "${resume[@]}"

# So is a checkpoint that is not whole.
refuses 'no_such.ck' "${base[@]}" --resume no_such.ck
refuses 'no checkpoint of sporades' "${base[@]}" --resume five.tns
: > empty.ck
refuses 'empty.ck' "${base[@]}" --resume empty.ck
size=$(wc -c < five.ck)
for length in 5 60 200 $((size - 64)) $((size - 1)); do
  head -c "$length" five.ck > cut.ck
  refuses 'cut.ck' "${base[@]}" --resume cut.ck
done
{ cat five.ck && echo more; } > longer.ck
refuses 'bytes' "${base[@]}" --resume longer.ck
for place in 0 9 17 40 70 300 $((size / 2 - 64)) $((size - 600)); do # not between arrays
  cp five.ck damaged.ck
  byte=$(od -An -tu1 -j "$place" -N 1 five.ck)
  printf "\\x$(printf %x $((byte ^ 64)))" | dd of=damaged.ck bs=1 seek="$place" conv=notrunc 2> /dev/null
  cmp -s five.ck damaged.ck || refuses 'damaged.ck' "${base[@]}" --resume damaged.ck
done

# A polite end: the iteration is finished, everything is written, and the run can go on.
set -m # a shell's background jobs would ignore SIGINT
# wait_for TEXT FILE
wait_for() {
  for ((wait = 0; wait < 400; ++wait)); do
    grep -q "$1" "$2" 2> /dev/null && return
    sleep 0.05
  done
}
# begin ARGUMENT...: a run in the background, $process, which is killed if it takes a minute.
begin() {
  last="sporades $* in the background"
  rm -f out err
  "$sporades" "$@" > out 2> err &
  process=$!
  { sleep 60 && kill -KILL $process; } 2> /dev/null &
  watch=$!
}
# ends STATUS
ends() {
  wait $process
  local status=$?
  kill -TERM -$watch 2> /dev/null
  check "exit status $1, not $status" test $status = "$1"
}
signals=(INT:130 TERM:143)
ignored=$(awk '/^SigIgn/ { print $2 }' /proc/self/status) # HUP under nohup, whose children keep to it
((0x$ignored & 1)) || signals+=(HUP:129)
for signal in "${signals[@]}"; do
  rm -f s.ck
  begin cp-als five.tns --rank 6 --iterations 1000000 --tolerance 0 --checkpoint s.ck \
    --checkpoint-every 1000000 -o s.ktns --report s.json
  wait_for '^iteration 4' out
  kill -${signal%:*} $process
  ends "${signal#*:}"
  check 'it answers' grep -q "^sporades: SIG${signal%:*}: stopping after this iteration; a second" err
  check 'a sentence' grep -q "^sporades: interrupted by SIG${signal%:*} after iteration .*s.ktns.*--resume s.ck" err
  check 'the report says so' grep -q "\"stop_reason\": \"interrupted by SIG${signal%:*}\"" s.json
  iterations=$(grep -c '"iteration": ' s.json)
  run 0 cp-als five.tns --resume s.ck --iterations "$iterations" -o s2.ktns
  check 'the model of so many iterations' cmp <(grep -v ^// s.ktns) <(grep -v ^// s2.ktns)
done

# Without -o the model so far is in a new file of the current folder.
mkdir folder && cp five.tns folder/kept.tns
for name in kept.interrupted.ktns kept.interrupted-2.ktns; do
  begin cp-als folder/kept.tns --rank 6 --iterations 1000000 --tolerance 0
  wait_for '^iteration 4' out
  kill -TERM $process
  ends 143
  check 'its name is said' grep -q "the model so far is in $name\$" err
  check 'it is a model' test "$(head -1 $name)" = ktensor
  [[ $name == *-2* ]] || cp $name first.ktns
done
same kept.interrupted.ktns first.ktns
check 'nowhere else' test "$(ls folder)" = kept.tns

# A second signal, of any kind, ends a run that cannot look, as here in LAPACK.
printf '1 1 1 2\n1 2 2 1\n2 2 1 6\n2 1 1 3\n' > two.tns
begin cp-als two.tns --rank 3000 --no-dimension-tree
wait_for 'rank 3000' out
check 'the rank is more than can matter' grep -q '^sporades: note: rank 3000 is more than any tensor of 2 x 2 x 2 needs: rank 4,' err
check 'the first iteration is said to be long' grep -qE 'first iteration may take about [0-9]+ (s|min|h), .* [0-9.]+ [MG]B' out
sleep 1
kill -TERM $process
wait_for 'SIGTERM: stopping' err
check 'the first is answered at once' grep -q '^sporades: SIGTERM: stopping after this iteration; a second' err
begun=$SECONDS
kill -INT $process
ends 130
check 'the second ends it at once' test $((SECONDS - begun)) -le 5

# A long first iteration looks for the signal.
run 0 generate --dims 2000x60x2000 --nnz 20000 --seed 3 -o wide.spt
begin tucker wide.spt --ranks 300,60,300
wait_for 'ranks 300' out
sleep 1
kill -INT $process
begun=$SECONDS
ends 130
check 'soon' test $((SECONDS - begun)) -le 20
check 'no model yet' grep -q '^sporades: interrupted by SIGINT in iteration 1: there is no model yet' err
check_not 'so there is no file' test -e wide.interrupted.ttns
set +m

refuses 'a checkpoint is read twice' cp-als wide.spt --resume <(cat /dev/null)
finish
