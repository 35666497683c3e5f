# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Every option of cp-als, its outputs, and what it refuses.
source "$(dirname "$0")/support.sh" "$@"

fit_of() { sed -n 's/^fit \([-0-9.]*\) .*after.*/\1/p' out; }
within() { awk -v a="$1" -v b="$2" -v d="$3" 'BEGIN { exit !(a - b <= d && b - a <= d) }'; }

# (1 2) o (1 3) o (2 0 1): rank 1 fits it exactly.
printf '1 1 1 2\n1 1 3 1\n1 2 1 6\n1 2 3 3\n2 1 1 4\n2 1 3 2\n2 2 1 12\n2 2 3 6\n' > one.tns
run 0 cp-als one.tns --rank 1 --tolerance 0 --iterations 6 -o one.ktns
check 'an exact tensor is fitted' within "$(fit_of)" 1 1e-7
check 'one line an iteration' test "$(grep -c '^iteration [0-9]*: fit ' out)" = 6
check 'the model is a ktensor' grep -qx 'ktensor' one.ktns
check 'of order 3, 2 x 2 x 3' test "$(sed -n '3p' one.ktns | tr -d '\r' | xargs)" = '2 2 3'
check_not 'nothing on standard error' test -s err

run 0 generate --dims 40x30x20 --nnz 3000 --skew 0.7 --seed 3 -o x.tns
base=(cp-als x.tns --rank 4 --iterations 8 --tolerance 0)
run 0 "${base[@]}" -o m.ktns --report r.json
fit=$(fit_of)
for key in algorithm version backend threads precision file dims nnz rank seed iterations iteration \
  seconds fit converged stop_reason read build solve write total kernels calls bytes_peak; do
  check "the report has $key" grep -q "\"$key\": " r.json
done
check 'eight iterations' test "$(grep -c '"iteration": ' r.json)" = 8
check 'fit' grep -q "\"fit\": ${fit:0:8}" r.json
check 'not converged' grep -q '"converged": false' r.json
check 'kernels are timed' grep -q '"mttkrp' r.json
check 'peak memory' awk -F: '/"bytes_peak":/ { found = $2 + 0 > 1000000 } END { exit !found }' r.json
mv r.json r1.json

# The same bits on another number of threads and from another file format; others for other seeds.
run 0 "${base[@]}" -o threads.ktns --kokkos-num-threads=1
same m.ktns threads.ktns
run 0 convert x.tns x.spt
run 0 cp-als x.spt --rank 4 --iterations 8 --tolerance 0 -o spt.ktns
same m.ktns spt.ktns
run 0 "${base[@]}" --seed 2 -o seed.ktns
check_not 'another seed, another model' cmp -s m.ktns seed.ktns

# The strategies agree.
backend=$(sed -n 's/.*"backend": "\(.*\)".*/\1/p' r1.json)
for strategy in automatic atomic duplicated permuted sorted fibers csf alto alto-atomic flycoo flycoo-blocks; do
  if [[ $strategy == alto && $backend == cuda ]]; then
    refuses 'alto-atomic allows' "${base[@]}" --format alto
    continue
  fi
  run 0 "${base[@]}" --format $strategy --report r.json
  check "$strategy has the same fit" within "$(fit_of)" "$fit" 1e-7
  [[ $strategy == automatic ]] ||
    check "$strategy is reported" test "$(grep -c "^ *\"$strategy\"" r.json)" = 3
done
run 0 "${base[@]}" --strategy csf
run 0 generate --dims 20000x300x200 --nnz 60000 --seed 2 -o seldom.tns
refuses 'alto needs atomics on mode 0' cp-als seldom.tns --rank 4 --format alto
refuses 'alto needs atomics on mode 0' cp-apr seldom.tns --rank 4 --format alto
run 0 generate --dims 60x5x6x40 --nnz 6000 --seed 2 -o short.tns
run 0 cp-als short.tns --rank 4 --iterations 8 --tolerance 0 --report r.json
fused=$(fit_of)
check 'short modes are fused' grep -q 'fused' r.json
run 0 cp-als short.tns --rank 4 --iterations 8 --tolerance 0 --no-dimension-tree --report r.json
check_not 'unless that is not wanted' grep -q 'fused' r.json
check 'which fits the same' within "$(fit_of)" "$fused" 1e-9
run 0 "${base[@]}" --precision float --report r.json -o float.ktns
check 'float has nearly the same fit' within "$(fit_of)" "$fit" 1e-3
check 'float is reported' grep -q '"precision": "float"' r.json
run 0 "${base[@]}" --backend "$backend" -o backend.ktns
same m.ktns backend.ktns

# Starts.
run 0 "${base[@]}" --init hosvd
check 'hosvd fits' awk -v fit="$(fit_of)" 'BEGIN { exit !(fit > 0.01) }'
run 0 cp-als x.tns --rank 4 --iterations 1 --init m.ktns --tolerance 0
check 'goes on from a model' awk -v a="$(fit_of)" -v b="$fit" 'BEGIN { exit !(a >= b - 1e-9) }'
refuses 'rank' cp-als x.tns --rank 5 --init m.ktns
refuses 'one.ktns' cp-als x.tns --rank 1 --init one.ktns.absent
refuses 'rows' cp-als x.tns --rank 1 --init one.ktns
refuses 'x.tns' cp-als x.tns --rank 1 --init x.tns
refuses 'is a pipe' cp-als x.tns --rank 4 --init <(cat m.ktns)
refuses 'give a file, or /dev/stdout' cp-als x.tns --rank 4 -o -

best_seed() { sed -n 's/.*"best_seed": \([0-9]*\).*/\1/p' r.json; }
run 0 "${base[@]}" --seed 7 --starts 3 --init random -o best.ktns --report r.json
says "of seed $(best_seed), the best of 3 starts (fits from 0."
last_fits() { sed -n 's/^iteration 8: fit \([-0-9.]*\),.*/\1/p' out | sort -g; }
check 'three different fits' test "$(last_fits | uniq | wc -l)" = 3
check 'the best of them' grep -q "^fit $(last_fits | tail -1) of seed" out
check 'from the least to the best' \
  grep -qF "(fits from $(last_fits | head -1) to $(last_fits | tail -1))" out
check 'each is announced' test "$(grep -c '^start [1-3] of 3, seed [0-9]*$' out)" = 3
check 'the report has all fits' test "$(grep -A3 '"start_scores": ' r.json | grep -c '^ *0\.')" = 3
run 0 "${base[@]}" --seed "$(best_seed)" --init random -o again.ktns
same best.ktns again.ktns
refuses 'a given one is the only one' "${base[@]}" --starts 2 --init m.ktns

# Models of starts are compared as `score` does it: here of two, the second of which is better.
for seed in 1 2 3 4 5 6 7 8; do
  run 0 "${base[@]}" --seed $seed --starts 2 --init random -o second.ktns --report r.json
  grep -q '"best_start": 1,' r.json && break
done
check 'the second start is better' grep -q '"best_start": 1,' r.json
says "the other starts' models match it by "
list() { tr -d '\n ' < r.json | sed -n "s/.*\"$1\":\[\([^]]*\)\].*/\1/p"; }
check 'a number a component' test "$(list components_again | tr ',' '\n' | grep -c .)" = 4
run 0 "${base[@]}" --seed $seed --init random -o first.ktns
run 0 score first.ktns second.ktns
check "score has $(list start_matches), too" awk -v a="$(list start_matches)" \
  -v b="$(sed -n 's/^factor match score \([0-9.]*\) .*/\1/p' out)" 'BEGIN { exit !(b > 0 && (a - b) ^ 2 < 1e-16) }'
# A component counts as come again by any other start: by `score` of the best with each.
for seed in 1 2 3 4 5 6 7 8 9; do
  run 0 "${base[@]}" --seed $seed --starts 3 --init random -o third.ktns --report r.json
  grep -q '"best_start": 2,' r.json && break
done
check 'the third start is the best' grep -q '"best_start": 2,' r.json
run 0 "${base[@]}" --seed $seed --init random -o first.ktns
run 0 score first.ktns third.ktns
first=$(sed -n 's/^factor match score \([0-9.]*\) .*/\1/p' out)
check 'the first match is that of the first start' awk -v a="$(list start_matches)" -v b="$first" \
  'BEGIN { split(a, m, ","); exit !((m[1] - b) ^ 2 < 1e-16) }'
check 'and no component came again less' awk -v a="$(list components_again)" -v b="$(sed -n 's/^  component [0-9]* of third.ktns is .*: //p' out | tr '\n' ',')" \
  'BEGIN { n = split(a, c, ","); split(b, d, ","); for (r = 1; r <= n; ++r) if (c[r] < d[r] - 1e-6) exit 1; exit !(n == 4) }'
# The same model from all starts.
run 0 cp-als one.tns --rank 1 --starts 3 --init random
says 'models match it by 1.000 to 1.000; all components came again'

# The start of singular vectors is one of several; more starts contain the fewer ones.
at_least() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a >= b - 2e-10) }'; }
before=-1
for starts in 1 2 3 5; do
  run 0 "${base[@]}" --seed 7 --starts $starts
  check "$starts starts are as good as fewer" at_least "$(fit_of)" "$before"
  before=$(fit_of)
done
says 'start 1 of 5, singular vectors'
says 'start 2 of 5, seed 7'
run 0 "${base[@]}" --seed 7 --starts 4 --init random
check 'as good as the random ones among them' at_least "$before" "$(fit_of)"
run 0 "${base[@]}" --init hosvd
one=$(fit_of)
run 0 "${base[@]}" --init hosvd --starts 3 --report r.json -o m3.ktns
check 'several with --init hosvd' at_least "$(fit_of)" "$one"
check 'the first of them is that one' grep -q "^iteration 8: fit $one," out
check 'which start is best is told' grep -q '"best_start": [012],' r.json

# By default a race decides between a random start and singular vectors: three components in
# disjoint slices, of which two random columns may take one.
awk 'BEGIN { for (r = 0; r < 3; r++) for (i = 0; i < 64; i++)
  print 4 * r + int(i / 16) + 1, 4 * r + int(i / 4) % 4 + 1, 4 * r + i % 4 + 1, r + 1 }' > blocks.tns
misses=0
for seed in 0 4 8 12 16 20 24 28 32 36; do
  run 0 cp-als blocks.tns --rank 3 --seed $seed --init random
  within "$(fit_of)" 1 1e-3 || misses=$((misses + 1))
  run 0 cp-als blocks.tns --rank 3 --seed $seed --report r.json
  check "the default start of seed $seed is good" within "$(fit_of)" 1 1e-3
done
check 'random ones may not be' test $misses -gt 0
says 'start: hosvd; fits so far: hosvd '
check 'iterations count from the first' grep -q '^iteration 1: ' out
check 'the report has the race' grep -q '"race_fits": ' r.json

# A rank that no tensor of the shape needs.
run 0 cp-als one.tns --rank 5
check 'is noted' grep -qx 'sporades: note: rank 5 is more than any tensor of 2 x 2 x 3 needs: rank 4, the product of all modes but the longest, fits it' err
run 0 cp-als one.tns --rank 4
check_not 'one that may be needed is not' grep -q 'is more than' err

# Stopping.
run 0 cp-als x.tns --rank 4 --iterations 200 --tolerance 1e-3 --report r.json
check 'converged' grep -q '"converged": true' r.json
says 'tolerance'
check 'before the last iteration' test "$(grep -c '^iteration' out)" -lt 100
refuses 'iterations' cp-als x.tns --rank 2 --iterations 0
refuses 'tolerance' cp-als x.tns --rank 2 --tolerance -1
refuses 'regularization' cp-als x.tns --rank 2 --regularization -1
refuses '65535' cp-als x.tns --rank 70000
refuses '--backend abacus' cp-als x.tns --rank 2 --backend abacus
check 'says which backends there are' grep -qE 'it has .*(serial|openmp|cuda|hip)' err

run 0 "${base[@]}" --non-negative -o positive.ktns
check 'no entry is negative' awk '/-[0-9]/ && !/e-/ { bad = 1 } / -[0-9]/ || /^-/ { bad = 1 } END { exit bad }' positive.ktns
check 'while some are without it' grep -qE '(^| )-[0-9]' m.ktns
run 0 "${base[@]}" --regularization 10
check 'regularization lowers the fit' awk -v a="$(fit_of)" -v b="$fit" 'BEGIN { exit !(a < b) }'

# Cells without a value are zeros, or unknown; a value of 0 is known.
for i in 1 2 3 4; do for j in 1 2 3 4; do for k in 0 1 2 3; do
  (((i + 2 * j + k) % 5 == 0)) || echo "$i $j $((k + 1)) $((i * j * k))"
done; done; done > part.tns
printf '4 4 4 48\n1 2 1 0\n3 3 2 9\n' > absent.tns
run 0 cp-als part.tns --rank 1 --missing --iterations 100 --tolerance 1e-9 -o whole.ktns --report r.json
check 'the entries are fitted' awk -v f="$(fit_of)" 'BEGIN { exit !(f > 0.99999) }'
check 'the report says so' grep -q '"absent_entries": "missing"' r.json
run 0 predict whole.ktns absent.tns -o there.tns
check 'the absent ones are found' awk '{ bad = bad || ($4 - $1 * $2 * ($3 - 1))^2 > 1e-6 }
  END { exit bad || NR != 3 }' there.tns
run 0 cp-als part.tns --rank 1 --iterations 100 --report r.json
check 'as zeros they are not' awk -v f="$(fit_of)" 'BEGIN { exit !(f < 0.9) }'
check 'the report says that' grep -q '"absent_entries": "zero"' r.json
refuses 'sorted or fibers' cp-als part.tns --rank 1 --missing --strategy alto
refuses 'gcp can' cp-als part.tns --rank 1 --missing --non-negative

# Dead components are said; nothing non-negative fits negative numbers.
check_not 'none is dead' grep -q 'have weight 0' out
check 'none is dead' grep -q '"dead_components": 0' r1.json
printf '1 1 1 -1\n2 2 2 -1\n' > negative.tns
run 0 cp-als negative.tns --rank 2 --non-negative --report r.json
says '2 of 2 components have weight 0'
check 'dead components are reported' grep -q '"dead_components": 2' r.json

# Values of any size have the same fit.
for unit in 1e-25 1e-33 1e30; do
  awk -v unit=$unit 'NF == 4 && !/#/ { $4 *= unit } { print }' CONVFMT=%.9g OFMT=%.9g x.tns > unit.tns
  run 0 cp-als unit.tns --rank 4 --iterations 8 --tolerance 0 --precision float
  check "values times $unit fit the same in float" within "$(fit_of)" "$fit" 1e-3
done
awk 'NF == 4 && !/#/ { $4 *= 1e-200 } { print }' CONVFMT=%.17g OFMT=%.17g x.tns > unit.tns
run 0 cp-als unit.tns --rank 4 --iterations 8 --tolerance 0
check 'values times 1e-200 fit the same' within "$(fit_of)" "$fit" 1e-6
sed 's/[^ ]*$/0/' one.tns > zero.tns
refuses 'the norm of X is 0' cp-als zero.tns --rank 1

# The live line.
run 0 "${base[@]}" --progress always
check 'a live line' grep -q 'iteration 8 of 8' err
run 0 "${base[@]}" --progress never
check_not 'none' test -s err
run 0 "${base[@]}"
check_not 'none without a terminal' test -s err

# Labels.
mkdir labels
for n in 0:40 1:30 2:20; do seq -f "name-${n%:*}-%g" "${n#*:}" > labels/mode-${n%:*}.txt; done
run 0 "${base[@]}" --labels labels --top 3 -o labelled.ktns
same m.ktns labelled.ktns
check 'four components' test "$(grep -c '^component [1-4] of 4, weight [0-9.e+]*$' out)" = 4
check 'three lines each' test "$(grep -cE '^  name-0-[0-9]+ +-?[0-9.]+ +name-1-[0-9]+ +-?[0-9.]+ +name-2-[0-9]+ +-?[0-9.]+$' out)" = 12
# The strongest name of component 1 and mode 0 is the row of its largest entry in the model.
strongest=$(awk '$1 == "matrix" { matrices++ ; row = -2 ; next } matrices == 1 { row++; if (row > 0) { a = $1 < 0 ? -$1 : $1; if (a > most) { most = a; best = row } } } END { print "name-0-" best }' m.ktns)
check "the strongest name is $strongest" test "$(grep -A2 '^component 1 of' out | awk 'NR == 3 { print $1 }')" = "$strongest"
mkdir other
cp labels/mode-0.txt other/a-first && cp labels/mode-1.txt other/b && sed 's/$/\r/' labels/mode-2.txt > other/c
run 0 "${base[@]}" --labels other --top 3
says 'name-2-'
check_not 'no carriage return is printed' grep -q $'\r' out
cp labels/mode-0.txt other/d
refuses 'has 4 files' "${base[@]}" --labels other
refuses 'nowhere is not a folder' "${base[@]}" --labels nowhere
sed -i 1d labels/mode-1.txt
run 2 "${base[@]}" --labels labels
check 'both numbers are named' grep -q 'mode-1.txt has 29 lines, mode 1 of the tensor has length 30' err
# Modes without labels show their indices, which count from 1.
rm labels/mode-1.txt
run 0 "${base[@]}" --labels labels --top 3 --report r.json
check 'three lines each' test "$(grep -cE '^  name-0-[0-9]+ +-?[0-9.]+ +[0-9]+ +-?[0-9.]+ +name-2-[0-9]+ +-?[0-9.]+$' out)" = 12
check 'four components in the report' test "$(grep -c '"weight": ' r.json)" = 4
check 'with their names' test "$(grep -c '"name": "name-[02]-' r.json)" = 24
check 'as they are printed' grep -qF "\"name\": \"$strongest\"" r.json
indexed=$(awk -F'[:,]' '$1 ~ /"index"/ { i = $2 + 0 } $1 ~ /"name"/ { gsub(/[" ]|name-[02]-/, "", $2); if ($2 == i) same++ } END { print same + 0 }' r.json)
check "and the indices that they stand for ($indexed)" test "$indexed" = 36
rm labels/mode-[02].txt
refuses 'has 0 files' "${base[@]}" --labels labels
# Long names are cut between characters, not between bytes.
mkdir long
for n in $(seq 40); do echo "ééééééééééééééééééééééééééééééééééééé$n"; done > long/mode-0.txt
run 0 "${base[@]}" --labels long --top 3
says "$(printf 'é%.0s' $(seq 31))~ "
check 'what is printed is UTF-8' iconv -f UTF-8 -t UTF-8 out
run 0 cp-als "$data/packages-small.tns.gz" --rank 3 --iterations 3 --labels "$data/labels" --top 4
says 'python3'

# Outputs that cannot be made are found before anything is computed.
refuses 'no folder' "${base[@]}" -o no/m.ktns
refuses 'no folder' "${base[@]}" --report no/r.json
refuses 'no folder' "${base[@]}" --checkpoint no/c.ck
refuses 'is a folder' "${base[@]}" -o labels
refuses 'are the same file' "${base[@]}" -o same --report same
mkdir closed && chmod a-w closed
[[ -w closed ]] || refuses 'cannot be written to' "${base[@]}" -o closed/m.ktns # root may always

# A full disk leaves what was there.
cp m.ktns before.ktns
last='cp-als -o m.ktns under ulimit -f'
(ulimit -f 2 && trap '' XFSZ && exec "$sporades" "${base[@]}" -o m.ktns) > out 2> err
check 'a full disk is a failure while running' test $? = 1
check 'and said' grep -q '^sporades: error: .*m.ktns' err
same before.ktns m.ktns
last='cp-als --checkpoint c.ck under ulimit -f'
(ulimit -f 2 && trap '' XFSZ && exec "$sporades" "${base[@]}" --checkpoint c.ck) > out 2> err
check 'so is a checkpoint that cannot be written' test $? = 1
check 'but only at the end' test "$(grep -c '^iteration' out)" = 8
check_not 'it is not there' test -e c.ck

run 1 cp-als one.tns --rank 60000 --dims 2000000000x2000000000x3
check 'memory that cannot be had is told' grep -qE 'needs [0-9.]+ [PT]B of memory, [0-9.]+ [GT]B may be taken' err

# What does not fit is refused with the rank that would, and that rank runs.
if [[ $backend != cuda && $backend != hip ]]; then
  run 0 generate --dims 200000x300000x1000 --nnz 100000 --seed 1 -o long.spt
  limited() { (ulimit -v 1500000 && exec "$sporades" cp-als long.spt --iterations 1 "$@") > out 2> err; }
  last='cp-als long.spt under ulimit -v'
  limited --rank 300
  check 'too high a rank is a failure while running' test $? = 1
  check 'with both numbers and a rank' grep -qE 'rank 300 for .* needs [0-9.]+ GB of memory, [0-9.]+ [GM]B may be taken; rank [0-9]+ would fit$' err
  fits=$(sed -nE 's/.*; rank ([0-9]+) would fit$/\1/p' err)
  limited --rank "$fits"
  check "rank $fits runs" test $? = 0
fi

# --memory sets the limit by hand.
for size in 0 8X -1 1e3 1.5Q MB nan; do
  refuses 'is not a size' cp-als x.tns --rank 2 --memory "$size"
done
for size in 20000000T 99999999999999999999; do
  refuses 'is too large' cp-als x.tns --rank 2 --memory $size
done
run 0 generate --dims 3000x2000x1000 --nnz 20000 --seed 1 -o limited.spt
run 1 cp-als limited.spt --rank 50 --iterations 1 --memory 1M
check 'the limit is told' grep -qE 'needs [0-9.]+ MB of memory, 1[.]0?[0-9]* MB may be taken' err
run 0 cp-als limited.spt --rank 50 --iterations 1 --memory 1G -o in_core.ktns
run 0 cp-als limited.spt --rank 50 --iterations 1 -o free.ktns
same in_core.ktns free.ktns

# --tune measures once, and remembers.
run 0 generate --dims 300x20x4000 --nnz 20000 --seed 1 -o tuned.spt
run 0 cp-als tuned.spt --rank 4 --iterations 2 --tune -o one.ktns
check 'what was measured' grep -qE '^strategy [a-z]+, by --tune; milliseconds an iteration: ' out
grep '^strategy' out > first
check 'it is remembered' grep -q '"seconds"' tuned.spt.tune
cp tuned.spt.tune before.tune
run 0 cp-als tuned.spt --rank 4 --iterations 2 --tune --seed 3
grep '^strategy' out > second
same first second
same tuned.spt.tune before.tune
chosen=$(sed -nE 's/^strategy ([a-z]+),.*/\1/p' first)
run 0 cp-als tuned.spt --rank 4 --iterations 2 --strategy "$chosen" -o asked.ktns
same one.ktns asked.ktns
run 0 cp-als tuned.spt --rank 5 --iterations 2 --tune
check 'another rank is measured for itself' test "$(grep -c '"facts"' tuned.spt.tune)" = 2
refuses 'excludes --tune' cp-als tuned.spt --rank 4 --iterations 2 --tune --strategy sorted
run 0 tucker tuned.spt --ranks 2,2,2 --iterations 2 --tune
run 0 generate --like uber --nnz 5000 -o counts.spt
run 0 cp-apr counts.spt --rank 2 --iterations 2 --tune
check 'other decompositions, too' grep -q 'by --tune.* pull ' out
refuses 'method pqnr has one alone' cp-apr counts.spt --rank 2 --tune --method pqnr
check_not 'it does not say where it is looked for' grep -q kept first
# Where nothing can be kept beside the tensor: in a folder that cannot be written to, with a name that
# gets too long, from a pipe.
long_name=$(printf 'n%.0s' {1..250}).spt
cp tuned.spt "$long_name"
export XDG_CACHE_HOME=$PWD/caches/of/mine
for tensor in /proc/self/fd/7 "$long_name" -; do
  run 0 cp-als "$tensor" --rank 4 --iterations 2 --tune < tuned.spt 7< tuned.spt
  says "; kept in $XDG_CACHE_HOME/sporades/tune.json"
  grep '^strategy' out | sed 's/; kept in.*//' > where
  [ "$tensor" = /proc/self/fd/7 ] && cp where elsewhere
  same where elsewhere
done
(unset XDG_CACHE_HOME && HOME=$PWD/home && export HOME && run 0 cp-als - --rank 4 --iterations 2 --tune < tuned.spt)
check 'in the home' test -s home/.cache/sporades/tune.json
XDG_CACHE_HOME=/proc refuses 'name a file by --tune-file' cp-als - --rank 4 --tune < tuned.spt
check_not 'nothing is left beside it' test -e ./-.tune
run 0 cp-als - --rank 4 --iterations 2 --tune --tune-file named.json < tuned.spt
check_not 'a file that was asked for is not told' grep -q kept out
check 'but kept' grep -q '"seconds"' named.json
refuses 'requires --tune' cp-als tuned.spt --rank 4 --tune-file named.json
refuses 'are the same file' cp-als tuned.spt --rank 4 --tune --tune-file named.json -o named.json
refuses 'are the same file' cp-als tuned.spt --rank 4 --tune --tune-file tuned.spt
run 0 cp-als tuned.spt --rank 4 --iterations 2 --tune --memory 1G
check 'another limit is measured for itself' grep -q '"memory": "1.1 GB"' tuned.spt.tune
run 1 cp-als tuned.spt --rank 4000 --iterations 1 --tune --memory 20M
check 'why nothing was measured' grep -q 'nothing was measured: .*needs' out err
mkfifo fifo.spt.tune
cp tuned.spt fifo.spt
refuses 'fifo.spt.tune is there and is not a file' cp-als fifo.spt --rank 4 --tune
sed 's/"fibers"\|"sorted"\|"alto"/"nonsense"/' tuned.spt.tune > other.tune
mv other.tune tuned.spt.tune
run 0 cp-als tuned.spt --rank 4 --iterations 2 --tune
check 'names that are none are measured again' grep -qE 'fibers|sorted|alto' tuned.spt.tune
echo '{"facts": 7}' > tuned.spt.tune
refuses 'tuned.spt.tune is not a file that it has written' cp-als tuned.spt --rank 4 --tune
no_litter
finish
