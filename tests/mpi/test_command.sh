# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# The command on several processes: test_command.sh COMMAND SCRATCH_FOLDER MPIEXEC...
source "$(dirname "$0")/../command/support.sh"
shift 2
mpiexec=("$@") # followed by the number of processes
export OMP_NUM_THREADS=1

# together PROCESSES STATUS ARGUMENT...: as run, on so many processes.
together() {
  local processes=$1 expected=$2
  shift 2
  last="$processes x sporades $*"
  checks=$((checks + 1))
  timeout 120 "${mpiexec[@]}" "$processes" "$sporades" "$@" > out 2> err
  local status=$?
  [[ $status == "$expected" ]] || failed "exit status $status, expected $expected"
}

# says TEXT: one line of standard error is the command's, and has the text.
says() {
  check "one line of the command on standard error" test "$(grep -c '^sporades: ' err)" = 1
  check "standard error says '$1'" grep -qF -- "$1" err
}

police=$data/police-deaths-3d.tns.gz
base=(cp-als "$police" --rank 5 --tolerance 0)

# The same bytes of a model, lines and checkpoints that go on, on every number of processes.
run 0 "${base[@]}" --iterations 30 -o one.ktns --labels "$data/police-deaths-labels"
grep -v '^iteration\|^fit\|police' out > one.txt
run 0 "${base[@]}" --iterations 13 --checkpoint one.ck
for processes in 1 2 3 5 8; do
  together "$processes" 0 "${base[@]}" --iterations 30 -o many.ktns --report many.json \
    --labels "$data/police-deaths-labels"
  check "the model of $processes processes" cmp one.ktns many.ktns
  grep -v '^iteration\|^fit\|police' out > many.txt
  check "the same names once" cmp one.txt many.txt
  check "nothing on standard error" test ! -s err
  check "the report's processes" grep -q "\"processes\": $processes," many.json
done
for processes in 2 8; do
  together "$processes" 0 "${base[@]}" --iterations 30 --resume one.ck -o resumed.ktns
  check "the model of a run of $processes processes that went on" cmp one.ktns resumed.ktns
done
check "the report's traffic" grep -q '"rows of factors"' many.json
together 3 0 "${base[@]}" --iterations 13 --checkpoint three.ck
together 2 0 "${base[@]}" --iterations 30 --resume three.ck -o resumed.ktns
check "the model from a checkpoint of three on two" cmp one.ktns resumed.ktns
run 0 "${base[@]}" --iterations 30 --resume three.ck -o resumed.ktns
check "the model from a checkpoint of three on one" cmp one.ktns resumed.ktns
run 0 "${base[@]}" --init random --starts 3 --iterations 7 -o one.ktns
together 3 0 "${base[@]}" --init random --starts 3 --iterations 7 -o many.ktns
check "the best of three starts" cmp one.ktns many.ktns

# What info --processes says of an iteration is what the command exchanges in one, on the backend
# that it names: a host's.
total() { grep -o "\"$1\": [0-9]*" "$2" | awk '{ sum += $2 } END { print sum }'; }
run 0 info "$police" --rank 5 --processes 3 --seconds 1
read -r _ _ _ _ bytes _ messages _ < <(grep '^ *3 ' out)
backend=$(sed -nE '1s/.* on ([a-z]+):$/\1/p' out)
for iterations in 2 4; do
  together 3 0 "${base[@]}" --backend "$backend" --init random --iterations $iterations --report $iterations.json
done
for name in bytes messages; do
  check "info's $name" \
    test $((2 * ${!name})) = $(($(total $name 4.json) - $(total $name 2.json)))
done

# In slices, rows of hundreds of nonzeros among them.
sliced=(cp-als "$data/packages-small.tns.gz" --rank 5 --slices 2 --strategy sorted --init random
  --tolerance 0)
run 0 "${sliced[@]}" --iterations 5 -o one.ktns
for processes in 2 3; do
  together "$processes" 0 "${sliced[@]}" --iterations 5 -o many.ktns
  check "the model of $processes processes in slices" cmp one.ktns many.ktns
done
together 2 0 "${sliced[@]}" --iterations 2 --checkpoint sliced.ck
together 3 0 "${sliced[@]}" --iterations 5 --resume sliced.ck -o resumed.ktns
check "the model in slices from a checkpoint of two on three" cmp one.ktns resumed.ktns

run 0 "${base[@]}" --iterations 2 -o given.ktns
for options in "--init random --no-dimension-tree --strategy sorted" "--init hosvd" \
  "--init given.ktns" "--non-negative --gather half" "--regularization 0.5 --init random"; do
  read -ra options <<< "$options"
  run 0 "${base[@]}" "${options[@]}" --iterations 7 -o one.ktns
  together 3 0 "${base[@]}" "${options[@]}" --iterations 7 -o many.ktns
  check "the model with ${options[*]}" cmp one.ktns many.ktns
done
for file in marvel-characters-7d shakespeare-trigram-3d packages-small; do
  run 0 cp-als "$data/$file.tns.gz" --rank 4 --iterations 5 -o one.ktns
  together 5 0 cp-als "$data/$file.tns.gz" --rank 4 --iterations 5 -o many.ktns
  check "the model of $file of 5 processes" cmp one.ktns many.ktns
done

# CP-APR, by all methods.
apr=(cp-apr "$police" --rank 5 --tolerance 0)
for options in "" "--method pdnr" "--method mu --strategy pull" "--starts 2"; do
  read -ra options <<< "$options"
  run 0 "${apr[@]}" "${options[@]}" --iterations 4 -o one.ktns
  together 5 0 "${apr[@]}" "${options[@]}" --iterations 4 -o many.ktns
  check "the model of cp-apr ${options[*]} of 5 processes" cmp one.ktns many.ktns
done
run 0 "${apr[@]}" --iterations 2 -o given.ktns
run 0 "${apr[@]}" --iterations 4 -o one.ktns
for processes in 2 8; do
  together "$processes" 0 "${apr[@]}" --iterations 4 -o many.ktns
  check "the model of cp-apr of $processes processes" cmp one.ktns many.ktns
done
together 3 0 "${apr[@]}" --iterations 2 --checkpoint three.ck
together 2 0 "${apr[@]}" --iterations 4 --resume three.ck -o resumed.ktns
check "the model of cp-apr from a checkpoint of three on two" cmp one.ktns resumed.ktns
run 0 "${apr[@]}" --iterations 4 --resume three.ck -o resumed.ktns
check "the model of cp-apr from a checkpoint of three on one" cmp one.ktns resumed.ktns
run 0 "${apr[@]}" --iterations 2 --init given.ktns -o one.ktns
together 3 0 "${apr[@]}" --iterations 2 --init given.ktns -o many.ktns
check "the model of cp-apr from a given one" cmp one.ktns many.ktns
together 3 2 "${apr[@]}" --method mu --strategy alto
says 'strategy alto works on one process'

# GCP, whose last digits depend on the number of processes.
gcp=(gcp "$police" --loss poisson --rank 5 --tolerance 0)
near() { # near REPORT REPORT: their losses
  check "the losses of $1 and $2" awk '/^ *"loss": [-0-9]/ { loss[FILENAME] = $2 + 0 }
    END { a = loss[ARGV[1]]; b = loss[ARGV[2]]; exit !(a != 0 && (a - b) ^ 2 < (1e-9 * a) ^ 2) }' "$1" "$2"
}
run 0 "${gcp[@]}" --iterations 8 -o one.ktns --report one.json
together 3 0 "${gcp[@]}" --iterations 8 -o many.ktns --report many.json
near one.json many.json
together 3 0 "${gcp[@]}" --iterations 4 --checkpoint three.ck
together 3 0 "${gcp[@]}" --iterations 8 --resume three.ck -o resumed.ktns
check "the model of gcp from a checkpoint on as many" cmp many.ktns resumed.ktns
together 2 0 "${gcp[@]}" --iterations 8 --resume three.ck --report two.json
near one.json two.json
run 0 "${gcp[@]}" --iterations 8 --resume three.ck --report alone.json
near one.json alone.json
run 0 "${gcp[@]}" --iterations 2 --init one.ktns --report one.json
together 3 0 "${gcp[@]}" --iterations 2 --init one.ktns --report many.json
near one.json many.json

# Tucker, whose strategy on several processes is fused.
tucker=(tucker "$police" --ranks 4,3,5 --tolerance 0 --strategy fused)
run 0 "${tucker[@]}" --iterations 9 -o one.ttns
run 0 "${tucker[@]}" --iterations 4 --checkpoint one.tck
for processes in 2 8; do
  together "$processes" 0 "${tucker[@]}" --iterations 9 -o many.ttns --report many.json
  check "the Tucker tensor of $processes processes" cmp one.ttns many.ttns
  check "nothing on standard error" test ! -s err
done
together 5 0 "${tucker[@]}" --iterations 9 --resume one.tck -o resumed.ttns
check "the Tucker tensor of 5 processes that went on" cmp one.ttns resumed.ttns
check "the report's traffic" grep -q '"rows of products"' many.json
together 3 0 "${tucker[@]/fused/automatic}" --iterations 9 -o many.ttns
check "the Tucker tensor by automatic" cmp one.ttns many.ttns
together 3 0 "${tucker[@]}" --iterations 4 --checkpoint three.tck
run 0 "${tucker[@]}" --iterations 9 --resume three.tck -o resumed.ttns
check "the Tucker tensor from a checkpoint of three on one" cmp one.ttns resumed.ttns
run 0 "${tucker[@]}" --iterations 2 -o given.ttns
for options in "--init hosvd" "--init given.ttns" "--starts 3" "--precision float"; do
  read -ra options <<< "$options"
  run 0 "${tucker[@]}" "${options[@]}" --iterations 4 -o one.ttns
  together 3 0 "${tucker[@]}" "${options[@]}" --iterations 4 -o many.ttns
  check "the Tucker tensor with ${options[*]}" cmp one.ttns many.ttns
done

# Files of other kinds; each process reads its share.
run 0 convert "$police" police.tns
run 0 convert "$police" police.spt
run 0 "${base[@]}" --iterations 5 -o one.ktns
for file in police.tns police.spt; do
  together 3 0 "${base[@]/$police/$file}" --iterations 5 -o many.ktns
  check "the model of $file" cmp one.ktns many.ktns
done

# What is wrong is said once, with the place, and no model appears.
together 3 2 "${base[@]/$police/no-such.tns}"
says 'no-such.tns'
together 3 2 "${base[@]}" --rank 0
says '--rank'
together 3 2 "${tucker[@]/fused/csf}"
says 'csf works on one process'
{ cat police.tns && echo '1 2 3 x'; } > wrong.tns
together 3 2 "${base[@]/$police/wrong.tns}" -o wrong.ktns
says "wrong.tns:$(wc -l < wrong.tns): "
check_not "a model of a wrong file" test -e wrong.ktns
together 3 2 "${base[@]}" --iterations 2 -o no-such-folder/x.ktns
says 'no-such-folder'
together 3 2 info "$police"
says 'info: works on one process, and 3 were started'
together 2 2 ranks cp-als "$police" --ranks 2
says 'ranks: works on one process, and 2 were started'
together 2 2 complete "$police" --rank 2
says 'complete: works on one process, and 2 were started'
for option in "--memory 1G" --tune; do
  read -ra options <<< "$option"
  together 2 2 "${base[@]}" "${options[@]}"
  says "${options[0]}: works on one process, and 2 were started"
done
together 3 2 "${base[@]}" --resume one.ktns
says 'no checkpoint'
head -c "$(($(wc -c < three.ck) - 1))" three.ck > cut.ck
together 3 2 "${base[@]}" --resume cut.ck
says 'cut.ck'
together 3 1 "${base[@]}" --iterations 2 -o /dev/full
says '/dev/full'
together 3 0 --version
check "the version, once" test "$(grep -c '^sporades ' out)" = 1

run 0 generate --dims 400x300x200 --nnz 200000 -o made.spt
long=(cp-als made.spt --rank 8 --init random --tolerance 0 --no-dimension-tree --strategy sorted)

# begin OPTION...: starts the long run on three processes, with an end far away, and returns some
# time after its second iteration: its processes are pids, their starter is runner.
begin() {
  last="3 x sporades ${long[*]} $*"
  timeout 60 "${mpiexec[@]}" 3 "$sporades" "${long[@]}" --iterations 1000000 "$@" > out 2> err &
  runner=$!
  for ((k = 0; k < 300; ++k)); do
    grep -q '^iteration 2' out && break
    sleep 0.1
  done
  sleep "0.$RANDOM"
  mapfile -t pids < <(pgrep -f "^$sporades cp-als made.spt")
  check "three processes" test ${#pids[@]} = 3
  began=$SECONDS
}

# ended: waits for the end, whose exit status is then in `status`.
ended() {
  wait "$runner"
  status=$?
  check "an end within 10 s" test $((SECONDS - began)) -le 10
  check_not "processes that stay" pgrep -f "^$sporades cp-als made.spt"
}

# A process that is killed ends the others, and what it did is not lost.
for victim in 1 3; do
  rm -f killed.ck
  begin -o killed.ktns --checkpoint killed.ck --checkpoint-every 1
  kill -9 "${pids[$((victim - 1))]}"
  ended
  check_not "exit status 0 of a run whose process was killed" test $status = 0
  check "a sentence" grep -qiE 'signal:? 9' err
  check_not "a model" test -e killed.ktns
  together 2 0 "${long[@]}" --iterations 1 --resume killed.ck
  iterations=$(($(sed -n 's/^going on from killed.ck after iteration //p' out) + 5))
  run 0 "${long[@]}" --iterations $iterations -o one.ktns
  together 2 0 "${long[@]}" --iterations $iterations --resume killed.ck -o resumed.ktns
  check "the model of two that went on from the checkpoint of three" cmp one.ktns resumed.ktns
done

# ^C in one process stops all after an iteration, with the model so far.
begin -o stopped.ktns
kill -INT "${pids[1]}"
ended
check "exit status 130, not $status" test $status = 130
iterations=$(sed -n 's/^iteration \([0-9]*\).*/\1/p' out | tail -n 1)
run 0 "${long[@]}" --iterations "$iterations" -o one.ktns
check "the model of $iterations iterations" cmp <(grep -v '^// ' one.ktns) <(grep -v '^// ' stopped.ktns)

# info --processes: the network is measured, and one process counts.
for processes in 2 3; do
  together "$processes" 0 info "$police" --processes 2,65536 --seconds 1
  check "one table" test "$(grep -c '^ *65536 ' out)" = 1
  check "a measured network" grep -q 'bytes (measured)$' out
done

finish
