# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Every option of tucker, its outputs, and what it refuses.
source "$(dirname "$0")/support.sh" "$@"

fit_of() { sed -n 's/^fit \([-0-9.]*\) .*after.*/\1/p' out; }
within() { awk -v a="$1" -v b="$2" -v d="$3" 'BEGIN { exit !(a - b <= d && b - a <= d) }'; }

# (1 2) o (1 3) o (2 0 1): ranks 1,1,1 fit it exactly; its norm is the core.
printf '1 1 1 2\n1 1 3 1\n1 2 1 6\n1 2 3 3\n2 1 1 4\n2 1 3 2\n2 2 1 12\n2 2 3 6\n' > one.tns
run 0 tucker one.tns --ranks 1,1,1 --tolerance 0 --iterations 4 -o one.ttns
check 'an exact tensor is fitted' within "$(fit_of)" 1 1e-7
check 'one line an iteration' test "$(grep -c '^iteration [0-9]*: fit ' out)" = 4
says 'ranks 1,1,1 in double precision'
run 0 tucker --ranks 1x1x1 one.tns --tolerance 0 --iterations 4 -o x.ttns
same one.ttns x.ttns
check 'the model is a ttensor' test "$(head -1 one.ttns)" = ttensor
check 'of 2 x 2 x 3' test "$(sed -n '3p' one.ttns | xargs)" = '2 2 3'
check 'with a core of ranks' test "$(sed -n '4,6p' one.ttns | xargs)" = 'tensor 3 1 1 1'
check 'which is the norm' within "$(sed -n '7p' one.ttns)" 15.8113883 1e-6
check 'and a factor a mode' test "$(grep -cx 'matrix' one.ttns)" = 3
check_not 'nothing on standard error' test -s err

run 0 generate --dims 40x30x20 --nnz 3000 --skew 0.7 --seed 3 -o x.tns
base=(tucker x.tns --ranks 4,3,5 --iterations 8 --tolerance 0)
run 0 "${base[@]}" -o m.ttns --report r.json
fit=$(fit_of)
for key in algorithm version backend threads precision file dims nnz ranks seed iterations iteration \
  seconds fit converged stop_reason read build solve write total kernels calls bytes_peak; do
  check "the report has $key" grep -q "\"$key\": " r.json
done
check_not 'and no rank' grep -q '"rank": ' r.json
check 'the ranks' test "$(grep -A4 '"ranks": ' r.json | tr -d ' \n')" = '"ranks":[4,3,5],'
check 'eight iterations' test "$(grep -c '"iteration": ' r.json)" = 8
check 'fit' grep -q "\"fit\": ${fit:0:8}" r.json
check 'not converged' grep -q '"converged": false' r.json
check 'kernels are timed' grep -q '"ttm_chain mode 2"' r.json

# The order of a core's entries: ranks as large as the modes leave nothing out.
printf '1 1 1 1\n2 1 1 2\n1 2 1 3\n2 3 1 5\n1 1 2 7\n2 2 2 11\n1 3 2 13\n' > full.tns
run 0 tucker full.tns --ranks 2,3,2 --iterations 3 -o model.ttns
check 'nothing is left out' within "$(fit_of)" 1 1e-7
awk '$1 == "tensor" { part = "core"; n = -2; next } $1 == "matrix" { part = ++m; row = -2; next }
  part == "core" && ++n > 0 { core[n - 1] = $1 }
  part > 0 && ++row > 0 { for (r = 1; r <= NF; r++) A[part, row, r] = $r }
  END { for (i = 1; i <= 2; i++) for (j = 1; j <= 3; j++) for (k = 1; k <= 2; k++) {
    x = 0
    for (a = 0; a < 2; a++) for (b = 0; b < 3; b++) for (c = 0; c < 2; c++)
      x += core[a + 2 * (b + 3 * c)] * A[1, i, a + 1] * A[2, j, b + 1] * A[3, k, c + 1]
    if (x > 1e-9 || x < -1e-9) printf "%d %d %d %.6g\n", i, j, k, x } }' model.ttns | sort > rebuilt
sort full.tns > expected
same expected rebuilt
# The lines of numpy in formats/README.md read it in the same order.
if python3 -c 'import numpy' 2> err; then
  { sed -n '/^```python/,/^```$/p' "$(dirname "${BASH_SOURCE[0]}")/../../formats/README.md" | sed '1d;$d'
    echo 'X = np.einsum("abc,ia,jb,kc->ijk", core, *factors)'
    echo 'for i in np.argwhere(abs(X) > 1e-9): print(*(i + 1), "%.6g" % X[tuple(i)])'
  } > read.py
  python3 read.py 2> err | sort > rebuilt
  same expected rebuilt
fi

# The same bits on another number of threads and from another file format; others for other seeds.
run 0 "${base[@]}" -o threads.ttns --kokkos-num-threads=1
same m.ttns threads.ttns
run 0 convert x.tns x.spt
run 0 tucker x.spt --ranks 4,3,5 --iterations 8 --tolerance 0 -o spt.ttns
same m.ttns spt.ttns
run 0 "${base[@]}" --seed 2 -o seed.ttns
check_not 'another seed, another model' cmp -s m.ttns seed.ttns

# The strategies agree.
for strategy in automatic semi_sparse csf fused; do
  run 0 "${base[@]}" --format $strategy --report r.json
  check "$strategy has the same fit" within "$(fit_of)" "$fit" 1e-9
  [[ $strategy == automatic ]] ||
    check "$strategy is reported" test "$(grep -c "^ *\"$strategy, modes" r.json)" = 3
done
run 0 "${base[@]}" --precision float --report r.json
check 'float has nearly the same fit' within "$(fit_of)" "$fit" 1e-3
check 'float is reported' grep -q '"precision": "float"' r.json

# Starts.
run 0 "${base[@]}" --init hosvd
check 'hosvd fits' awk -v fit="$(fit_of)" 'BEGIN { exit !(fit > 0.01) }'
run 0 tucker x.tns --ranks 4,3,5 --iterations 1 --init m.ttns --tolerance 0
check 'goes on from a model' awk -v a="$(fit_of)" -v b="$fit" 'BEGIN { exit !(a >= b - 1e-9) }'
refuses 'factor of mode 0 is 40 x 4, expected 40 x 3' tucker x.tns --ranks 3,3,5 --init m.ttns
refuses 'm.ttns.absent' tucker x.tns --ranks 4,3,5 --init m.ttns.absent
refuses 'expected "ttensor"' tucker x.tns --ranks 4,3,5 --init x.tns
run 0 "${base[@]}" --seed 7 --starts 3 -o best.ttns --report r.json
best=$(fit_of)
best_seed=$(sed -n 's/.*"best_seed": \([0-9]*\).*/\1/p' r.json)
last_fits() { sed -n 's/^iteration 8: fit \([-0-9.]*\),.*/\1/p' out | sort -g; }
says "of seed $best_seed, the best of 3 starts"
check 'three different fits' test "$(last_fits | uniq | wc -l)" = 3
check 'the best of three starts' test "$(last_fits | tail -1)" = "$best"
check 'all of them are shown' test "$(grep -c '^iteration' out)" = 24
run 0 "${base[@]}" --seed "$best_seed" -o again.ttns
same best.ttns again.ttns
check 'the report has all of them' test "$(grep -A3 '"start_scores": ' r.json | grep -c '^ *0\.')" = 3
refuses 'a given one is the only one' "${base[@]}" --starts 2 --init m.ttns
run 0 "${base[@]}" --init hosvd
one=$(fit_of)
run 0 "${base[@]}" --init hosvd --starts 2
says 'start 1 of 2, singular vectors'
check 'the first start is that of singular vectors' grep -q "^iteration 8: fit $one," out
check 'two are as good as one' awk -v a="$(fit_of)" -v b="$one" 'BEGIN { exit !(a >= b) }'

# Ranks that cannot be, and other bad usage.
refuses 'ranks for a tensor of order 3' tucker x.tns --ranks 4,3
refuses 'rank 31 of mode 1 is larger than the mode, 30' tucker x.tns --ranks 4,31,8
refuses 'rank 13 of mode 0 is larger than the product of the other ranks, 12' tucker x.tns --ranks 13,3,4
refuses 'ranks' tucker x.tns
refuses 'ranks' tucker x.tns --ranks 4,0,5
refuses 'ranks' tucker x.tns --ranks 4,x,5
refuses 'iterations' tucker x.tns --ranks 4,3,5 --iterations 0
refuses 'tolerance' tucker x.tns --ranks 4,3,5 --tolerance -1
run 0 tucker x.tns --ranks 4,3,5 --iterations 200 --tolerance 1e-3 --report r.json
check 'converged' grep -q '"converged": true' r.json
says 'tolerance'

# The live line.
run 0 "${base[@]}" --progress always
check 'a live line' grep -q 'iteration 8 of 8' err
run 0 "${base[@]}"
check_not 'none without a terminal' test -s err

# Labels: the core's strongest entries, then the strongest names of every column.
mkdir labels
for n in 0:40 1:30 2:20; do seq -f "name-${n%:*}-%g" "${n#*:}" > labels/mode-${n%:*}.txt; done
run 0 "${base[@]}" --labels labels --top 3 -o labelled.ttns --report r.json
same m.ttns labelled.ttns
check 'the core in the report' test "$(grep -A12 '"core": ' r.json | grep -c '"value": ')" -ge 1
check 'and names of twelve columns' test "$(grep -c '"name": "name-' r.json)" = 36
check 'three entries of the core' test "$(grep -cE '^  [1-4] [1-3] [1-5]  -?[0-9.]+$' out)" = 3
most=$(awk '$1 == "tensor" { getline; getline; getline; while ($1 != "matrix") { a = $1 < 0 ? -$1 : $1; if (a > most) most = a; getline } print most; exit }' m.ttns)
shown=$(awk '$1 == "core" { getline; print $4 < 0 ? -$4 : $4; exit }' out)
check "the first is the largest, $most" within "$shown" "$most" "$(awk -v m="$most" 'BEGIN { print m * 1e-5 }')"
check 'a block for four columns a mode' test "$(grep -c '^mode [0-2]$' out)" = 4
strongest=$(awk '$1 == "matrix" { matrices++ ; row = -2 ; next } matrices == 1 { row++; if (row > 0) { a = $1 < 0 ? -$1 : $1; if (a > most) { most = a; best = row } } } END { print "name-0-" best }' m.ttns)
check "the strongest name is $strongest" test "$(grep -A2 '^mode 0$' out | awk 'NR == 3 { print $1 }')" = "$strongest"

# Outputs that cannot be made; a full disk leaves what was there.
refuses 'no folder' "${base[@]}" -o no/m.ttns
cp m.ttns before.ttns
last='tucker -o m.ttns under ulimit -f'
(ulimit -f 2 && trap '' XFSZ && exec "$sporades" "${base[@]}" -o m.ttns) > out 2> err
check 'a full disk is a failure while running' test $? = 1
check 'and said' grep -q '^sporades: error: .*m.ttns' err
same before.ttns m.ttns

# A core that cannot be held is refused before any work.
backend=$(sed -n 's/.*"backend": "\(.*\)".*/\1/p' r.json)
run 0 generate --dims 2000x2000x2000 --nnz 30000 --seed 1 -o wide.spt
if [[ $backend != cuda && $backend != hip ]]; then
  last='tucker wide.spt under ulimit -v'
  begin=$(date +%s)
  (ulimit -v 4000000 && exec "$sporades" tucker wide.spt --ranks 1000,1000,1000) > out 2> err
  check 'is a failure while running' test $? = 1
  check 'at once' test $(($(date +%s) - begin)) -lt 10
  check 'with both numbers' grep -qE 'ranks 1000,1000,1000 for 2000 x 2000 x 2000 needs [0-9.]+ GB of memory, [0-9.]+ GB may be taken' err
  (ulimit -v 4000000 && exec "$sporades" tucker wide.spt --ranks 500,500,500) > out 2> err
  check 'a product that cannot be held is refused' test $? = 1
  check 'with ranks that fit' grep -qE '[0-9.]+ GB may be taken; ranks [0-9]+,[0-9]+,[0-9]+ would fit$' err
fi
no_litter
finish
