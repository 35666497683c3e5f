# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Every option of complete and split, their outputs, and what they refuse.
source "$(dirname "$0")/support.sh" "$@"

within() { awk -v a="$1" -v b="$2" -v d="$3" 'BEGIN { exit !(a - b <= d && b - a <= d) }'; }
error_of() { sed -n 's/^root mean square error \([0-9.e-]*\).*/\1/p' out; }
rmse_of() { sed -n 's/^RMSE *\([0-9.e-]*\).*/\1/p' out; }

# Ratings 3 + offsets of users and films + a taste, with some noise, of half of the cells.
awk 'BEGIN {
  for (i = 1; i <= 40; ++i) for (j = 1; j <= 30; ++j) for (k = 1; k <= 12; ++k)
    if ((i * 7919 + j * 104729 + k * 1299709) % 97 < 30)
      print i, j, k, 3 + (i % 5 - 2) * 0.3 + (j % 7 - 3) * 0.2 + sin(i) * cos(j) + 0.02 * k + \
            0.01 * ((i * 31 + j * 17 + k * 13) % 11 - 5)
}' > x.tns
all=$(wc -l < x.tns)

# Split: nothing is lost, and neither order nor format matters.
run 0 split x.tns --fraction 0.2 --train train.tns --test test.tns
says "train.tns: "
check 'all values are there' test "$(cat train.tns test.tns | grep -c .)" = "$all"
check 'each once' test "$(cat train.tns test.tns | sort | uniq -d | wc -l)" = 0
check 'about a fifth is for the test' \
  awk -v part="$(grep -c . test.tns)" -v all="$all" 'BEGIN { exit !(part > all / 6 && part < all / 4) }'
tac x.tns > back.tns
run 0 split back.tns --fraction 0.2 --train t1.tns --test t2.tns -q
check 'in another order they are the same' cmp -s <(sort test.tns) <(sort t2.tns)
check_not 'quiet says nothing' test -s out
run 0 split x.tns --fraction 0.2 --seed 2 --train t1.tns --test t2.tns
check_not 'another seed draws others' cmp -s test.tns t2.tns
run 0 split x.tns --fraction 0.25 --by-slice 3 --train t1.tns --test t2.tns
check 'a month is on one side' test -z "$(comm -12 <(awk '{ print $3 }' t1.tns | sort -u) <(awk '{ print $3 }' t2.tns | sort -u))"
check 'nothing is lost' test "$(cat t1.tns t2.tns | grep -vc '^#')" = "$all"
refuses '--by-slice 4: the tensor has 3 modes' split x.tns --by-slice 4 --train t1.tns --test t2.tns
refuses 'fraction' split x.tns --fraction 1 --train t1.tns --test t2.tns
refuses 'train' split x.tns --test t2.tns
refuses '0 to test with' split x.tns --fraction 1e-12 --train t1.tns --test t2.tns
refuses 'x.tns' split x.tns --train x.tns --test t2.tns

dims=(--dims 40x30x12)
base=(complete train.tns "${dims[@]}" --rank 3 --iterations 10 --tolerance 0)
run 0 "${base[@]}" -o m.ktns --report r.json
for key in algorithm version backend threads precision file dims nnz rank seed iterations iteration \
  seconds rmse offsets penalty offset_penalty power smoothness holdout held_out mean differences patience \
  model_iteration converged stop_reason read build solve write total bytes_peak; do
  check "the report has $key" grep -q "\"$key\": " r.json
done
check 'one line an iteration' test "$(grep -c '^iteration [0-9]*: error ' out)" = 10
check 'it tells what the last components are' grep -q 'last components: offsets' m.ktns
error=$(error_of)
run 0 evaluate m.ktns train.tns "${dims[@]}" --cells given
check 'the error is that of the model' within "$(rmse_of)" "$error" 1e-6
run 0 complete train.tns "${dims[@]}" --rank 1 --penalty 0.01 --offset-penalty 0.01 -o one.ktns
run 0 evaluate one.ktns test.tns "${dims[@]}" --cells given
with=$(rmse_of)
run 0 complete train.tns "${dims[@]}" --rank 1 --penalty 0.01 --no-offsets -o plain.ktns
run 0 evaluate plain.ktns test.tns "${dims[@]}" --cells given
check "offsets are worth it ($with)" awk -v a="$with" -v b="$(rmse_of)" 'BEGIN { exit !(a < b) }'
run 0 predict m.ktns test.tns "${dims[@]}" -o predicted.tns
check 'predict takes the model' test "$(grep -c . predicted.tns)" = "$(grep -c . test.tns)"

# Predictions within bounds.
run 0 predict m.ktns test.tns "${dims[@]}" --bounds 2.9:3.1 -o bounded.tns
check 'all are within them' \
  awk '!/^#/ { if ($4 < 2.9 || $4 > 3.1) exit 1; inside += $4 > 2.9 && $4 < 3.1 } END { exit !inside }' bounded.tns
check 'those inside are as they were' test "$(grep -cxFf predicted.tns bounded.tns)" -gt 1
run 0 evaluate m.ktns test.tns "${dims[@]}" --cells given
free=$(rmse_of)
run 0 evaluate m.ktns test.tns "${dims[@]}" --cells given --bounds :9
check 'bounds that do not bind change nothing' test "$(rmse_of)" = "$free"
run 0 evaluate m.ktns test.tns "${dims[@]}" --cells given --bounds 3:3
check 'of one value the error is that of a constant' within "$(rmse_of)" \
  "$(awk '!/^#/ { s += ($4 - 3) ^ 2; ++n } END { print sqrt(s / n) }' test.tns)" 1e-5
refuses '--cells given' evaluate m.ktns test.tns "${dims[@]}" --bounds 1:5
for bounds in 5 5:1 a:b 1:2:3 nan: inf: 1:inf :; do
  refuses "--bounds $bounds" predict m.ktns test.tns "${dims[@]}" --bounds $bounds -o bounded.tns
done

# The same bits on another number of threads, and of a run that goes on; others for other options.
run 0 "${base[@]}" -o threads.ktns --kokkos-num-threads=1
same m.ktns threads.ktns
run 0 complete train.tns "${dims[@]}" --rank 3 --iterations 5 --tolerance 0 --checkpoint c.check
run 0 complete train.tns "${dims[@]}" --resume c.check --iterations 10 -o resumed.ktns
same m.ktns resumed.ktns
for option in '--penalty 5' '--penalty 1,1,5' '--offset-penalty 9' '--power 0' '--smooth 3:2' '--smooth 3:2:2' \
  '--seed 2' '--precision float' '--no-offsets'; do
  run 0 "${base[@]}" $option -o other.ktns
  check_not "$option changes the model" cmp -s m.ktns other.ktns
done
# What a checkpoint tells of each mode is taken, and compared.
run 0 "${base[@]}" --smooth 3:2,1:0.5 --penalty 0.3,1,0.1 -o modes.ktns
run 0 complete --rank 3 --iterations 5 --tolerance 0 --smooth 3:2,1:0.5 --penalty 0.3,1,0.1 \
  "${dims[@]}" --checkpoint c.check train.tns
run 0 complete train.tns "${dims[@]}" --resume c.check --iterations 10 -o resumed.ktns
same modes.ktns resumed.ktns
run 0 complete train.tns "${dims[@]}" --resume c.check --iterations 10 --smooth 1:0.5,3:2 \
  --penalty 0.3,1,0.1 -o resumed.ktns
same modes.ktns resumed.ktns
refuses 'penalty is' complete train.tns "${dims[@]}" --resume c.check --penalty 0.1
refuses 'smooth is' complete train.tns "${dims[@]}" --resume c.check --smooth 3:2
run 0 "${base[@]}" --starts 3
says 'the best of 3 starts (errors from '
run 0 complete train.tns "${dims[@]}" --rank 3 --init m.ktns --iterations 1 --tolerance 0
check 'goes on from a model' awk -v a="$(error_of)" -v b="$error" 'BEGIN { exit !(a < 2 * b) }'

# Each of several values of a cell counts.
{ cat train.tns; head -1 train.tns; head -1 train.tns; } > again.tns
run 0 complete again.tns "${dims[@]}" --rank 3 --iterations 10 --tolerance 0 -o again.ktns
says "$(($(grep -c . train.tns) + 2)) nonzeros"
check_not 'and changes the model' cmp -s m.ktns again.ktns
error=$(error_of)
run 0 evaluate again.ktns again.tns "${dims[@]}" --cells given
check 'in evaluate, too' within "$(rmse_of)" "$error" 1e-6
run 0 complete train.tns "${dims[@]}" --rank 3 --iterations 10 --tolerance 0 --strategy fibers \
  --offsets --smooth none -o fibers.ktns
run 0 split train.tns --seed 9 --train a.spt --test b.tns.gz
run 0 complete a.spt "${dims[@]}" --rank 3 --iterations 2

# Values held out.
run 0 complete train.tns "${dims[@]}" --rank 9 --penalty 0.001 --offset-penalty 0.001 --power 0 \
  --holdout 0.3 --patience 2 --tolerance 0 --iterations 500 -o held.ktns --report held.json
says 'held out falls no more'
says ', held out '
check 'the report has them' grep -q '"held_out_rmse": ' held.json
check 'the model tells them' grep -q 'of values held out: ' held.ktns

refuses 'rank' complete train.tns --rank 0
refuses 'MODE:PENALTY' complete train.tns --rank 2 --smooth 3:1:3
refuses 'MODE:PENALTY' complete train.tns --rank 2 --smooth 3:1:2:2
refuses 'MODE:PENALTY' complete train.tns --rank 2 --smooth 3
refuses 'MODE:PENALTY' complete train.tns --rank 2 --smooth 0:1
refuses 'MODE:PENALTY' complete train.tns --rank 2 --smooth 1:-1
refuses 'mode 3 twice' complete train.tns --rank 2 --smooth 3:1,3:2
refuses '4 modes' complete train.tns --rank 2 --smooth 4:1
refuses 'penalties for order 3' complete train.tns --rank 2 --penalty 1,2
refuses 'held out' complete train.tns --rank 2 --holdout 1
refuses 'power' complete train.tns --rank 2 --power 2
refuses 'without offsets' complete train.tns --rank 2 --no-offsets --power 0.5
refuses 'rank' complete train.tns "${dims[@]}" --rank 4 --init m.ktns

no_litter
finish
