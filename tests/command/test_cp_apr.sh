# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Every option of cp-apr, its outputs, and what it refuses.
source "$(dirname "$0")/support.sh" "$@"

value_of() { sed -n 's/^log-likelihood \([-+0-9.e]*\) after.*/\1/p' out; }
within() { awk -v a="$1" -v b="$2" -v d="$3" 'BEGIN { exit !(a - b <= d && b - a <= d) }'; }

# 2 (1 2) o (1 3) o (2 0 1) is what it says: the log-likelihood is sum x log x - x.
printf '1 1 1 4\n1 1 3 2\n1 2 1 12\n1 2 3 6\n2 1 1 8\n2 1 3 4\n2 2 1 24\n2 2 3 12\n' > one.tns
exact=$(awk '{ sum += $4 * log($4) - $4 } END { printf "%.8f", sum }' one.tns)
run 0 cp-apr one.tns --rank 1 -o one.ktns --report one.json
check "an exact tensor is fitted ($exact)" within "$(value_of)" "$exact" 1e-6
says 'KKT violation below the tolerance'
check 'converged' grep -q '"converged": true' one.json
check 'the model is a ktensor' grep -qx 'ktensor' one.ktns
check 'its weight is the sum of the counts' test "$(sed -n '5p' one.ktns | awk '{ printf "%.6f", $1 }')" = 72.000000
check_not 'nothing on standard error' test -s err

run 0 generate --dims 40x30x20 --nnz 3000 --skew 0.7 --seed 3 -o plain.tns
awk '{ $NF = 1 + (NR * 7) % 5; print }' plain.tns > x.tns
base=(cp-apr x.tns --rank 4 --iterations 8 --tolerance 0 --method mu)
run 0 "${base[@]}" -o m.ktns --report r.json
value=$(value_of)
for key in algorithm version backend threads precision file dims nnz rank seed iterations iteration \
  seconds log_likelihood kkt_violation inner_iterations zero_model_nonzeros converged stop_reason \
  read build solve write total kernels calls bytes_peak method kappa; do
  check "the report has $key" grep -q "\"$key\": " r.json
done
check 'eight iterations' test "$(grep -c '"iteration": ' r.json)" = 8
check 'one line an iteration' test "$(grep -c '^iteration [0-9]*: log-likelihood ' out)" = 8
check 'all inner iterations are done' test "$(grep -c '"inner_iterations": 30' r.json)" = 8
check 'log-likelihood' test "$(grep -c "\"log_likelihood\": ${value:0:10}" r.json)" = 2
check 'the last line has all digits of the report' awk -v value="$value" \
  -F'[:,]' '/^  "log_likelihood": / { same = $2 == value } END { exit !same }' r.json
check 'whole numbers are whole' grep -q '"zero_model_nonzeros": 0$' r.json
check 'it rises' awk -F'[:,]' '/"log_likelihood": -/ { if (NR > 1 && last && $2 < last - 1e-6) bad = 1; last = $2 } END { exit bad || !last }' r.json
check 'not converged' grep -q '"converged": false' r.json
check 'kernels are timed' grep -q '"phi mode 2"' r.json
check_not 'no entry is negative' awk '/^-?[0-9.]+(e[-+][0-9]+)?( |$)/ && /(^| )-/ { found = 1 } END { exit !found }' m.ktns
backend=$(sed -n 's/.*"backend": "\(.*\)".*/\1/p' r.json)

# The same bits on another number of threads and from another file format; others for other seeds.
run 0 "${base[@]}" -o threads.ktns --kokkos-num-threads=1
same m.ktns threads.ktns
run 0 convert x.tns x.spt
run 0 cp-apr x.spt "${base[@]:2}" -o spt.ktns
same m.ktns spt.ktns
run 0 "${base[@]}" --seed 8 -o seed.ktns
check_not 'another seed, another model' cmp -s m.ktns seed.ktns
run 0 "${base[@]}" --backend "$backend" -o backend.ktns
same m.ktns backend.ktns

# The strategies agree.
for strategy in automatic atomic pull coo-alto-atomic coo-alto-pull; do
  for pi in on-the-fly stored; do
    if [[ $strategy == coo-* && $pi == stored ]]; then
      refuses 'pi is not stored' "${base[@]}" --strategy $strategy --pi stored
      continue
    fi
    run 0 "${base[@]}" --strategy $strategy --pi $pi --report r.json
    check "$strategy, $pi has the same log-likelihood" within "$(value_of)" "$value" 1e-5
    [[ $strategy == automatic ]] ||
      check "$strategy is reported" test "$(grep -c "^ *\"$strategy\"" r.json)" = 3
  done
done
run 0 "${base[@]}" --precision float --report r.json
check 'float has nearly the same log-likelihood' within "$(value_of)" "$value" 2
check 'float is reported' grep -q '"precision": "float"' r.json

# Starts.
run 0 cp-apr x.tns --rank 4 --iterations 1 --init m.ktns --tolerance 0
check 'goes on from a model' awk -v a="$(value_of)" -v b="$value" 'BEGIN { exit !(a >= b - 1e-6) }'
refuses 'rank' cp-apr x.tns --rank 5 --init m.ktns
refuses 'there is no start hosvd of this method' cp-apr x.tns --rank 1 --init hosvd
refuses 'absent' cp-apr x.tns --rank 1 --init one.ktns.absent
refuses 'rows' cp-apr x.tns --rank 1 --init one.ktns
sed '6,$s/^\([0-9]\)\./-\1./' one.ktns > minus.ktns
refuses 'has negative entries' cp-apr one.tns --rank 1 --init minus.ktns

run 0 "${base[@]}" --seed 7 --starts 3 -o best.ktns --report r.json
best_seed=$(sed -n 's/.*"best_seed": \([0-9]*\).*/\1/p' r.json)
says "of seed $best_seed, the best of 3 starts (log-likelihoods from -"
check 'the report has all three' test "$(grep -A3 '"start_scores": ' r.json | grep -c '^ *-')" = 3
last_ones() { sed -n 's/^iteration 8: log-likelihood \([-0-9.]*\),.*/\1/p' out | sort -g; }
check 'three different ones' test "$(last_ones | uniq | wc -l)" = 3
kept=$(sed -n 's/^log-likelihood \([-+0-9.e]*\) of seed.*/\1/p' out)
check 'the highest is kept' within "$kept" "$(last_ones | tail -1)" 1e-8
run 0 "${base[@]}" --seed "$best_seed" -o again.ktns
same best.ktns again.ktns
refuses 'a given one is the only one' "${base[@]}" --starts 2 --init best.ktns
run 0 cp-apr x.tns --rank 4 --iterations 2 --tolerance 0 --method mu --inner-iterations 1 --report r.json
check 'one inner iteration a mode' test "$(grep -c '"inner_iterations": 3,' r.json)" = 2

# A model that is 0 at a count is said: a large epsilon lets it decay.
printf '1 1 1000000\n2 2 1\n' > decay.tns
run 0 cp-apr decay.tns --rank 1 --iterations 20 --tolerance 0 --epsilon 1e4 --report r.json
says 'the model is 0 at 1 nonzeros'
check 'and has no log-likelihood' grep -q '"log_likelihood": null' r.json
check 'the next iteration mends it' test "$(grep -c '"zero_model_nonzeros": 0$' r.json)" = 19
# A run that ends so has failed: it says what to do, and leaves all its files.
run 1 cp-apr decay.tns --rank 1 --iterations 1 --tolerance 0 --epsilon 1e4 -o decay.ktns \
  --report r.json --checkpoint decay.check
check 'it says what to do' grep -q 'the model is 0 at 1 of the nonzeros.*--iterations' err
check 'one line of error' test "$(wc -l < err)" = 1
check 'the model is written' test -s decay.ktns
check 'the report too' grep -q '"log_likelihood": null' r.json
run 0 cp-apr decay.tns --rank 1 --iterations 20 --tolerance 0 --epsilon 1e4 --resume decay.check

# Options that change the run.
run 0 cp-apr x.tns --rank 4 --iterations 500 --tolerance 1e-2 --method mu --report r.json
check 'converged' grep -q '"converged": true' r.json
says 'KKT violation below the tolerance'
check 'before the last iteration' test "$(grep -c '^iteration' out)" -lt 500
check 'its last iteration changes nothing' test "$(grep -c '"inner_iterations": 3,' r.json)" = 1
refuses 'iterations' cp-apr x.tns --rank 2 --iterations 0
refuses 'inner-iterations' cp-apr x.tns --rank 2 --inner-iterations 0
refuses 'tolerance' cp-apr x.tns --rank 2 --tolerance -1
refuses 'kappa 0' cp-apr x.tns --rank 2 --kappa 0
refuses 'kappa tolerance -1' cp-apr x.tns --rank 2 --kappa-tolerance -1
refuses 'epsilon 0' cp-apr x.tns --rank 2 --epsilon 0
refuses '65535' cp-apr x.tns --rank 70000
for method in pdnr pqnr; do
  run 0 cp-apr x.tns --rank 4 --iterations 30 --tolerance 0 --method $method --report r.json
  check "$method reaches what mu does" awk -v a="$(value_of)" -v b="$value" 'BEGIN { exit !(a >= b - 1e-6) }'
  check "$method is reported" grep -q "\"method\": \"$method\"" r.json
done
# The same counts times 1e-8 reach the same likelihood, told in the unit of the first.
awk '{ $NF = sprintf("%.17g", $NF * 1e-8); print }' x.tns > small.tns
mass=$(awk '{ sum += $NF } END { print sum }' x.tns)
reached() { sed -n 's/^  "log_likelihood": \([-0-9.e]*\).*/\1/p' r.json; }
for method in mu pdnr pqnr; do
  run 0 cp-apr x.tns --rank 4 --iterations 20 --method $method --report r.json
  value=$(reached)
  run 0 cp-apr small.tns --rank 4 --iterations 20 --method $method --fractional-counts --report r.json
  check "$method does not depend on the unit ($value)" awk -v a="$value" -v b="$(reached)" \
    -v mass="$mass" 'BEGIN { b = b * 1e8 - mass * log(1e-8); exit !(a < 0 && a - b < -1e-4 * a && b - a < -1e-4 * a) }'
done
refuses 'nonsense' cp-apr x.tns --rank 2 --method nonsense
run 0 cp-apr x.tns --rank 4 --iterations 2 --report r.json
check 'pqnr is the default' grep -q '"method": "pqnr"' r.json
for option in '--pi stored' '--strategy pull' '--epsilon 1e-9'; do
  run 0 cp-apr x.tns --rank 4 --iterations 2 $option --report r.json
  check "$option asks for mu" grep -q '"method": "mu"' r.json
  refuses 'mu alone has' cp-apr x.tns --rank 4 --method pdnr $option
done
refuses '--backend abacus' cp-apr x.tns --rank 2 --backend abacus

# What is no count is refused, with its place.
bad() { # VALUE TEXT
  { head -3 x.tns && echo "1 1 1 $1" && tail -n +4 x.tns; } > bad.tns
  refuses "$2" cp-apr bad.tns --rank 2
  gzip -kf bad.tns
  refuses "${2/tns:/tns.gz:}" cp-apr bad.tns.gz --rank 2
}
bad -3 'bad.tns:4: column 4 (the value): "-3" is negative, where counts are expected'
bad nan 'is not finite'
bad inf 'is not finite'
bad 1e999 'is out of range'
bad 1.5 'bad.tns:4: column 4 (the value): "1.5" is not a whole number, where counts are expected'
cp bad.tns fraction.tns
run 0 cp-apr fraction.tns --rank 2 --iterations 2 --fractional-counts
sed 's/ 1\.5$/ 2.0e1/' bad.tns > good.tns
run 0 cp-apr good.tns --rank 2 --iterations 1
sed 's/ 1\.5$/ 0.25/' bad.tns > part.tns
run 0 convert part.tns part.spt --duplicates keep
refuses 'part.spt: the value 0.25 of nonzero 3' cp-apr part.spt --rank 2
run 0 cp-apr part.spt --rank 2 --iterations 1 --fractional-counts
sed 's/ \([0-9.]*\)$/ -\1/' plain.tns > minus.tns
refuses 'minus.tns:1: ' cp-apr minus.tns --rank 2 --fractional-counts
printf 'tensor\n2\n2 2\n1 2\n3 -4\n' > dense.tns
refuses 'dense.tns:5: "-4" is negative' cp-apr dense.tns --rank 1
printf '1 1 0\n2 2 0\n' > zero.tns
refuses 'all counts of X are 0' cp-apr zero.tns --rank 1
printf '1 1 3\n2 2 0\n2 1 4\n' > some.tns
run 0 cp-apr some.tns --rank 1 --report r.json
check 'a stored zero is no count' grep -q '"zero_model_nonzeros": 0' r.json

# The live line and labels.
run 0 "${base[@]}" --progress always
check 'a live line' grep -q 'iteration 8 of 8' err
run 0 "${base[@]}"
check_not 'none without a terminal' test -s err
mkdir labels
for n in 0:40 1:30 2:20; do seq -f "name-${n%:*}-%g" "${n#*:}" > labels/mode-${n%:*}.txt; done
run 0 "${base[@]}" --labels labels --top 3 -o labelled.ktns
same m.ktns labelled.ktns
check 'four components' test "$(grep -c '^component [1-4] of 4, weight [0-9.e+]*$' out)" = 4
# The exact tensor above is one component, (1 2)/3 o (1 3)/4 o (2 0 1)/3: names and values, strongest
# first, entries of 0 left out, and no more than asked for.
mkdir names
printf 'a\nbb\n' > names/mode-0.txt && printf 'c\nd\n' > names/mode-1.txt && printf 'e\nf\ng\n' > names/mode-2.txt
run 0 cp-apr one.tns --rank 1 --labels names
sed -n '/^component/,/^$/p' out > component
cat > expected << 'END'
component 1 of 1, weight 72
  mode 0         mode 1         mode 2
  bb     0.667   d      0.750   e      0.667
  a      0.333   c      0.250   g      0.333

END
same expected component
run 0 cp-apr one.tns --rank 1 --labels names --top 1
check 'only the strongest' test "$(sed -n '/^component/,/^$/p' out | grep -c '0\.')" = 1

# The demonstration's components: worlds of their own.
run 0 cp-apr "$data/packages-small.tns.gz" --rank 24 --seed 300 --iterations 20 \
  --labels "$data/labels" --top 5
whole() { # PATTERN: the first mode's five names are like it in one component
  awk -v name="^  $1" '/^component/ { n = 0 } $0 ~ name { n++ } n == 5 { found = 1 } END { exit !found }' out
}
for world in python3- 'lib[a-z0-9-]*-p[erl~]' r-cran- librust-; do check "a component of $world" whole "$world"; done
together() { awk -v a="$1" -v b="$2" '/^component/ { p = q = 0 } $0 ~ a { p = 1 } $0 ~ b { q = 1 } p && q { found = 1 } END { exit !found }' out; }
check 'KDE relates to Qt' together plasma-workspace libqt5core5a
check 'Node relates to nodejs' together '^  node-' 'nodejs'
check_not 'R is not with Rust' together '^  r-cran-' '^  librust-'

# Outputs that cannot be made are found before anything is computed.
refuses 'no folder' "${base[@]}" -o no/m.ktns
refuses 'are the same file' "${base[@]}" -o same --report same
run 1 cp-apr one.tns --rank 60000 --dims 2000000000x2000000000x3
check 'memory that cannot be had is told' grep -qE 'needs [0-9.]+ [PT]B of memory, [0-9.]+ [GT]B may be taken' err
# The row solvers keep an order of the counts for each mode: 16 times 72 MB.
if [[ $backend != cuda && $backend != hip ]]; then
  run 0 generate --dims 4x4x4x4x4x4x4x4x4x4x4x4x4x4x4x4 --nnz 1000000 --seed 1 -o many.spt
  last='cp-apr many.spt under ulimit -v'
  (ulimit -v 900000 && exec "$sporades" cp-apr many.spt --rank 2 --fractional-counts --method pdnr) > out 2> err
  check 'is a failure while running' test $? = 1
  check 'their bytes are told' grep -qE 'rank 2 for .* needs 1[.][0-9] GB of memory, [0-9.]+ MB may be taken; with --memory it is streamed from files$' err
fi
no_litter
finish
