# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Every option of gcp, its outputs, and what it refuses.
source "$(dirname "$0")/support.sh" "$@"

value_of() { sed -n 's/^loss \([-+0-9.e]*\) after.*/\1/p' out; }
within() { awk -v a="$1" -v b="$2" -v d="$3" 'BEGIN { exit !(a - b <= d && b - a <= d) }'; }

# 2 (1 2) o (1 3) o (2 0 1) is what it says: the Poisson loss is sum x - x log x.
printf '1 1 1 4\n1 1 3 2\n1 2 1 12\n1 2 3 6\n2 1 1 8\n2 1 3 4\n2 2 1 24\n2 2 3 12\n' > one.tns
exact=$(awk '{ sum += $4 - $4 * log($4) } END { printf "%.8f", sum }' one.tns)
run 0 gcp one.tns --rank 1 --loss poisson -o one.ktns --report one.json
check "an exact tensor is fitted ($exact)" within "$(value_of)" "$exact" 1e-4
says 'the loss falls by less than the tolerance'
check 'the model is a ktensor' grep -qx 'ktensor' one.ktns
check 'it tells the loss' grep -q 'loss: poisson' one.ktns
check_not 'nothing on standard error' test -s err

run 0 generate --dims 40x30x20 --nnz 3000 --skew 0.7 --seed 3 -o plain.tns
awk '{ $NF = 1 + (NR * 7) % 5; print }' plain.tns > x.tns
base=(gcp x.tns --rank 4 --iterations 8 --tolerance 0 --loss poisson)
run 0 "${base[@]}" -o m.ktns --report r.json
value=$(value_of)
for key in algorithm version backend threads precision file dims nnz rank seed iterations iteration \
  seconds loss loss_function gradient step evaluations absent_entries non_negative history converged stop_reason \
  read build solve write total bytes_peak method; do
  check "the report has $key" grep -q "\"$key\": " r.json
done
check 'eight iterations' test "$(grep -c '"iteration": ' r.json)" = 8
check 'one line an iteration' test "$(grep -c '^iteration [0-9]*: loss ' out)" = 8
check 'the last line has all digits of the report' awk -v value="$value" \
  -F'[:,]' '/^  "loss": / { same = $2 == value } END { exit !same }' r.json
check 'it falls' awk '/^iteration/ { if (seen++ && $4 + 0 > last) bad = 1; last = $4 + 0 } END { exit bad || seen < 8 }' out
check_not 'no entry is negative' awk '/^-?[0-9.]+(e[-+][0-9]+)?( |$)/ && /(^| )-/ { found = 1 } END { exit !found }' m.ktns

# The same bits on another number of threads, and of a run that goes on; others for other seeds.
run 0 "${base[@]}" -o threads.ktns --kokkos-num-threads=1
same m.ktns threads.ktns
run 0 gcp x.tns --rank 4 --iterations 5 --tolerance 0 --loss poisson --checkpoint c.check
run 0 gcp x.tns --resume c.check --iterations 8 -o resumed.ktns
same m.ktns resumed.ktns
run 2 gcp x.tns --resume c.check --loss gaussian
check 'the losses are named' grep -qF 'loss is poisson there and gaussian here' err
run 0 "${base[@]}" --seed 8 -o seed.ktns
check_not 'another seed, another model' cmp -s m.ktns seed.ktns
run 0 "${base[@]}" --starts 3
says 'the best of 3 starts (losses from '
run 0 "${base[@]}" --init m.ktns
run 0 "${base[@]}" --precision float
run 0 gcp x.tns --rank 4 --iterations 4 --loss poisson --tune --tune-file tuned.json
says 'by --tune'

# What is missing does not count: of a tensor of rank one, five cells of nine.
printf '1 1 2\n1 2 4\n2 1 3\n2 3 12\n3 3 4\n' > some.tns
run 0 gcp some.tns --rank 1 --missing --seed 3 -o some.ktns
check 'all that is known is fitted' within "$(value_of)" 0 1e-4
run 0 gcp x.tns --rank 2 --missing --iterations 25 --tolerance 0 --checkpoint m.check
run 0 gcp x.tns --resume m.check --iterations 30 -o on.ktns
run 0 gcp x.tns --rank 2 --missing --iterations 30 --tolerance 0 -o whole.ktns
same on.ktns whole.ktns
printf '3 2 1\n' > at.tns
run 0 predict some.ktns at.tns -o there.tns
check 'a cell that is missing is found' within "$(awk '!/^#/ { print $3 }' there.tns)" 2 0.02
run 0 gcp some.tns --rank 1
check_not 'with zeros it is not' within "$(value_of)" 0 1e-3

# Losses and methods.
run 0 gcp x.tns --rank 3 --iterations 3 --loss huber:0.5 --missing
run 0 gcp x.tns --rank 3 --iterations 3 --loss gamma --missing
run 0 gcp x.tns --rank 3 --iterations 3 --non-negative -o above.ktns
check_not 'no entry is negative' awk '/^-?[0-9.]+(e[-+][0-9]+)?( |$)/ && /(^| )-/ { found = 1 } END { exit !found }' above.ktns
run 0 gcp x.tns --rank 3 --iterations 3 --loss poisson --method lbfgsb --history 2
run 0 convert x.tns ones.tns --binarize
run 0 gcp ones.tns --rank 3 --iterations 5 --loss bernoulli-poisson
run 0 gcp ones.tns --rank 3 --iterations 5 --loss bernoulli-odds --missing
refuses 'bernoulli-logit' gcp x.tns --rank 2 --loss nonsense
refuses 'no closed form' gcp ones.tns --rank 2 --loss bernoulli-odds --zeros closed_form
run 2 gcp x.tns --rank 2 --loss bernoulli-odds --missing
check 'the entry is named' grep -qF 'nonzero 0, of indices 0, 0, 0 (from 0), is 3, and bernoulli-odds takes 0, 1' err
refuses 'non_negative' gcp x.tns --rank 2 --method lbfgs_square_roots
refuses '--rank is required' gcp x.tns
refuses "'-1' is not a whole number" gcp x.tns --rank 2 --history -1
run 1 gcp x.tns --rank 4 --memory 100K
check 'it says so' grep -q 'gcp streams nothing' err

# Zeros of other losses: all cells, or samples, with all that runs have.
run 0 gcp ones.tns --rank 3 --iterations 6 --loss bernoulli-odds --report all.json
check 'few cells are enumerated' grep -q '"zeros": "enumeration"' all.json
check 'and it says why' grep -q '"zeros_reason": "a gradient of all cells takes 72000' all.json
check 'the loss is exact' grep -q '^  "loss_error": 0' all.json
for method in automatic lbfgsb adam; do
  base=(gcp ones.tns --rank 3 --loss bernoulli-odds --zeros samples --method $method --epoch 5 \
    --samples 5000 --failures 20 --rate 0.3 --decay 0.5 --tolerance 0)
  run 0 "${base[@]}" --iterations 7 -o s.ktns --report s.json
  check 'iterations tell their errors' grep -q '^iteration 1: loss [0-9.]* +- [0-9.]*, ' out
  check 'the report has samples' grep -q '"samples": 5000' s.json
  check 'and what was undone' grep -q '"undone": ' s.json
  run 0 "${base[@]}" --iterations 7 -o t.ktns --kokkos-num-threads=1
  same s.ktns t.ktns
  run 0 "${base[@]}" --iterations 4 --checkpoint s.check
  run 0 gcp ones.tns --resume s.check --iterations 7 -o resumed.ktns
  same s.ktns resumed.ktns
  run 2 gcp ones.tns --resume s.check --samples 6000
  check 'the samples are named' grep -qF 'samples is 5000 there and 6000 here' err
done
run 0 gcp ones.tns --rank 2 --loss bernoulli-logit --zeros samples --rate 1e6 --failures 1 --epoch 3
check 'what diverges is undone' test "$(grep -c ', undone' out)" = 2
run 0 gcp ones.tns --rank 2 --loss bernoulli-odds --zeros samples --method adam --nonzeros 500 \
  --iterations 3
refuses 'L-BFGS with sampled zeros needs m >= 0' gcp ones.tns --rank 2 --loss bernoulli-logit --zeros samples --method lbfgsb
printf '1 1 1 1\n9000 9000 9000 1\n' > wide.tns
refuses 'are 729000000000 cells, more than' gcp wide.tns --rank 2 --loss bernoulli-odds --zeros enumeration
refuses 'zeros are asked for by `samples`' gcp ones.tns --rank 2 --missing --zeros samples
refuses 'L-BFGS takes all nonzeros' gcp ones.tns --rank 2 --loss bernoulli-odds --nonzeros 9
refuses 'a decay of 2' gcp ones.tns --rank 2 --loss bernoulli-odds --decay 2

no_litter
finish
