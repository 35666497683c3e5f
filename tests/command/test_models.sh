# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Models that are there: evaluate, predict, score, info, and which components hold a name; what a
# model's file says of its run.
source "$(dirname "$0")/support.sh" "$@"

# dense MODEL: all entries "i j k m" of a model of order 3, by the definition.
dense() {
  sed 's,//.*,,' "$1" | awk '{ for (f = 1; f <= NF; ++f) t[++T] = $f }
    END {
      at = 3; for (n = 0; n < 3; ++n) I[n] = t[at++]
      if (t[1] == "ktensor") { size = R[0] = R[1] = R[2] = t[at++] }
      else { at += 2; size = 1; for (n = 0; n < 3; ++n) size *= R[n] = t[at++] }
      for (g = 0; g < size; ++g) core[g] = t[at++]
      for (n = 0; n < 3; ++n) {
        at += 4
        for (i = 1; i <= I[n]; ++i) for (r = 0; r < R[n]; ++r) A[n, i, r] = t[at++]
      }
      for (i = 1; i <= I[0]; ++i) for (j = 1; j <= I[1]; ++j) for (k = 1; k <= I[2]; ++k) {
        m = 0
        for (g = 0; g < size; ++g) {
          a = b = c = g
          if (t[1] == "ttensor") { a = g % R[0]; b = int(g / R[0]) % R[1]; c = int(g / (R[0] * R[1])) }
          m += core[g] * A[0, i, a] * A[1, j, b] * A[2, k, c]
        }
        printf "%d %d %d %.17g\n", i, j, k, m
      }
    }'
}

# expected MODEL TENSOR: by the definition, "all" and "given": cells fit rmse log-likelihood deviance
# explained.
expected() {
  dense "$1" > dense
  awk 'function line(name, cells, rr, xx, ll, dev, S, H,   null) {
      null = 2 * (H - S * log(S / cells))
      printf "%s %d %.8f %.8g %.9g %.8g %.6f\n", name, cells, 1 - sqrt(rr / xx), sqrt(rr / cells), ll, dev, 1 - dev / null }
    FNR == NR { x[$1, $2, $3] = $4; is[$1, $2, $3] = 1; next }
    { v = x[$1, $2, $3] + 0; m = $4; r = (v - m) ^ 2; l = (v > 0 ? v * log(m) : 0) - m
      d = 2 * ((v > 0 ? v * log(v / m) : 0) - v + m)
      ++C; RR += r; XX += v * v; L += l; D += d; S += v; H += v > 0 ? v * log(v) : 0
      if (is[$1, $2, $3]) { ++c; rr += r; ll += l; dd += d } }
    END { line("all", C, RR, XX, L, D, S, H); line("given", c, rr, XX, ll, dd, S, H) }' "$2" dense
}

# seen: the same from the JSON report `r.json`; null is -.
seen() {
  awk -F'[:,]' '/"(all|given)": \{/ { gsub(/[ "]/, "", $1); name = $1 }
    name { key = $1; gsub(/[ "]/, "", key); value[name, key] = $2 + 0 }
    END { n = split("all given", names, " ")
      for (k = 1; k <= n; ++k) { g = names[k]
        printf "%s %d %.8f %.8g %.9g %.8g %.6f\n", g, value[g, "cells"], value[g, "fit"], value[g, "rmse"],
          value[g, "log_likelihood"], value[g, "deviance"], value[g, "deviance_explained"] } }' r.json
}
agrees() {
  expected "$1" "$2" > expected.txt
  seen > seen.txt
  checks=$((checks + 1))
  diff expected.txt seen.txt > difference || failed "evaluate $1 $2: $(tail -n +1 expected.txt seen.txt)"
}

# A model with one sign, and one with both.
cat > m.ktns << 'END'
ktensor
3
5 4 3
2
4 2
matrix
2
5 2
1 0.5
0.5 0.25
0.25 0.125
0.125 1
0.0625 1
matrix
2
4 2
0.5 1
0.5 0.5
0.5 0.25
0.25 0.125
matrix
2
3 2
0.25 1
1 2
0.5 0.125
END
sed '9s/.*/-1 -0.5/; 10s/.*/-0.5 -0.25/; 11s/.*/-0.25 -0.125/; 12s/.*/-0.125 -1/; 13s/.*/-0.0625 -1/; 5s/.*/-4 -2/' \
  m.ktns > flipped.ktns
sed '9s/.*/1 -0.5/' m.ktns > signs.ktns
printf '%s\n' '1 1 1 3' '2 1 2 2' '5 4 3 1' '4 2 2 7' '3 3 1 0' '1 2 2 4' > x.tns
run 0 evaluate m.ktns x.tns --report r.json
says 'm.ktns: CP model, 5 x 4 x 3, rank 2'
says 'x.tns: 6 values (FROSTT)'
agrees m.ktns x.tns
check 'a log-likelihood' grep -Eq '^log-likelihood +-[0-9.]+ +-?[0-9.]+$' out
run 0 evaluate flipped.ktns x.tns --report r.json # the same entries, with signs that cancel
agrees m.ktns x.tns
run 0 evaluate m.ktns x.tns --cells given
check_not 'no other column' grep -q 'all cells' out
run 0 evaluate m.ktns x.tns --json
check 'the version of the report' grep -q '"report_version": 1,' out

# The tensor may be shorter than the model, not longer.
printf '1 1 1 3\n2 2 1 1\n' > short.tns
run 0 evaluate m.ktns short.tns --report r.json
agrees m.ktns short.tns
printf '1 1 1 3\n2 5 1 1\n' > longer.tns
refuses 'evaluate: longer.tns is 2 x 5 x 1, the model 5 x 4 x 3' evaluate m.ktns longer.tns
refuses 'the model 5 x 4 x 3' evaluate m.ktns <(printf '1 1 3\n')

# Where there is no likelihood, it says why not; fits are there all the same.
run 0 evaluate signs.ktns x.tns --report r.json
says 'all cells: no log-likelihood, as column 2 of mode 0 has entries of both signs'
check 'null in the report' grep -q '"log_likelihood": null' r.json
check 'a fit' grep -Eq '^fit +-?[0-9.]+ +-?[0-9.]+$' out
printf '1 1 1 1.5\n2 1 1 2\n' > fraction.tns
run 0 evaluate m.ktns fraction.tns
says 'given cells: no log-likelihood, as the value 1.5 is no count'
run 0 evaluate m.ktns fraction.tns --fractional-counts --report r.json
agrees m.ktns fraction.tns
printf '1 1 1 -2\n' > negative.tns
run 0 evaluate m.ktns negative.tns
says 'the value -2 is no count'
printf '1 1 1 0\n' > zeros.tns
run 0 evaluate m.ktns zeros.tns
check 'no fit of zeros' grep -Eq '^fit +- +-$' out
sed '9s/.*/0 0/' m.ktns > zero.ktns
run 0 evaluate zero.ktns x.tns
says 'all cells: no log-likelihood, as the model is 0 at 2 counts, which makes it -infinity'
run 0 evaluate zero.ktns x.tns --epsilon 1e-3 --report r.json
sum=$(dense zero.ktns | awk '{ s += $4 } END { printf "%.12g", s }')
logs=$(dense zero.ktns | awk 'FNR == NR { x[$1, $2, $3] = $4; next }
  x[$1, $2, $3] > 0 { m = $4 > 1e-3 ? $4 : 1e-3; l += x[$1, $2, $3] * log(m); s += $4 < 1e-3 ? 1e-3 - $4 : 0 }
  END { printf "%.9g", l - s - '"$sum"' }' x.tns -)
check "epsilon: $logs" test "$(awk '/^log-like/ { printf "%.9g", $2 }' out)" = "$logs"
refuses '-1' evaluate m.ktns x.tns --epsilon -1

# Tucker models, and models of the command: the fit is that of the run.
cat > m.ttns << 'END'
ttensor
3
5 4 3
tensor
3
2 2 1
1
0.5
0.25
2
matrix
2
5 2
1 0.5
0.5 0.25
0.25 0.125
0.125 1
0.0625 1
matrix
2
4 2
0.5 1
0.5 0.5
0.5 0.25
0.25 0.125
matrix
2
3 1
0.25
1
0.5
END
run 0 evaluate m.ttns x.tns --report r.json
agrees m.ttns x.tns
gunzip -c "$data/police-deaths-3d.tns.gz" > police.tns
run 0 cp-als police.tns --rank 4 --iterations 10 -o p.ktns
fit=$(sed -n 's/^fit \([0-9.]*\) after.*/\1/p' out)
run 0 evaluate p.ktns police.tns
check 'the fit of the run' test "$(awk '/^fit/ { printf "%.8f", $2 }' out)" = "$(printf %.8f "$fit")"
run 0 tucker police.tns --ranks 4,4,3 --iterations 5 -o p.ttns
fit=$(sed -n 's/^fit \([0-9.]*\) after.*/\1/p' out)
run 0 evaluate p.ttns police.tns
check 'the fit of the run' test "$(awk '/^fit/ { printf "%.8f", $2 }' out)" = "$(printf %.8f "$fit")"
run 0 cp-apr police.tns --rank 3 --iterations 30 -o apr.ktns --report apr.json
run 0 evaluate apr.ktns police.tns --report r.json
for field in log_likelihood deviance deviance_explained; do
  value() { grep "\"$field\": [-0-9]" "$1" | tail -n "$2" | head -1 | awk -F'[:,]' '{ printf "%.9g", $2 }'; }
  check "$field of the run" test "$(value apr.json 1)" = \
    "$(sed -n '/"all"/,/}/p' r.json | awk -F'[:,]' -v f="\"$field\"" '$1 ~ f { printf "%.9g", $2; exit }')"
done

# predict: in the order of the file, coordinates that come twice, with values and without.
printf '%s\n' '5 4 3 9' '1 1 1 9' '5 4 3 9' '2 3 2 9' > at.tns
cut -d' ' -f1-3 at.tns > bare.tns
while read -r i j k _; do grep "^$i $j $k " dense.m; done < at.tns > /dev/null 2>&1
for model in m.ktns m.ttns; do
  dense $model > dense
  while read -r i j k _; do grep "^$i $j $k " dense; done < at.tns | awk '{ printf "%s %s %s %.12g\n", $1, $2, $3, $4 }' > wanted
  for file in at.tns bare.tns; do
    run 0 predict $model $file -o values.tns
    says "values.tns: 4 values of $model at the coordinates of $file"
    grep -v '^#' values.tns | awk '{ printf "%s %s %s %.12g\n", $1, $2, $3, $4 }' > got
    same wanted got
  done
done
run 0 predict m.ktns - -o values.tns --pattern < bare.tns
printf '1 1 1\n5 4 3\n' > two.tns
refuses 'cannot be read twice: give --pattern' predict m.ktns - -o values.tns < two.tns
printf '1 1 1 1\n1 9 1 1\n' > far.tns
refuses 'predict: far.tns is 1 x 9 x 1, the model' predict m.ktns far.tns -o v.tns
refuses 'has 4 modes, the model 3' predict m.ktns <(printf '1 1 1 1 1\n') -o v.tns
check_not 'nothing was left' test -e v.tns

# score: components in another order, of other signs and lengths, match.
cat > other.ktns << 'END'
ktensor
3
5 4 3
3
2 8 1
matrix
2
5 3
-0.5 0.5 1
-0.25 0.25 0
-0.125 0.125 0
-1 0.0625 0
-1 0.03125 0
matrix
2
4 3
-1 0.5 0
-0.5 0.5 0
-0.25 0.5 0
-0.125 0.25 1
matrix
2
3 3
1 0.25 0
2 1 0
0.125 0.5 1
END
run 0 score other.ktns m.ktns
says 'factor match score 1.0000000000 of other.ktns and m.ktns'
says 'component 1 of m.ktns is component 2 of other.ktns: 1.000000'
says 'component 2 of m.ktns is component 1 of other.ktns: 1.000000'
says 'component 3 of other.ktns has no partner'
cp out first
run 0 score m.ktns other.ktns # which has more does not count
check 'the same but for the first line' cmp <(tail -n +2 first) <(tail -n +2 out)
run 0 score other.ktns m.ktns --json
check 'the permutation' test "$(tr -d ' \n' < out | grep -o '"permutation":\[[0-9,]*\]')" = '"permutation":[2,1,3]'
refuses 'm.ttns: score compares CP models, and this is a Tucker model' score m.ktns m.ttns
run 0 cp-als police.tns --rank 2 --iterations 2 -q -o small.ktns
refuses 'score: m.ktns is 5 x 4 x 3, small.ktns' score m.ktns small.ktns

# Equal counts in all cells have no deviance that a model could explain; with all cells given, all
# and given are the same.
printf '1 1 3\n1 2 3\n1 3 3\n2 1 3\n2 2 3\n2 3 3\n' > equal.tns
for method in mu pdnr pqnr; do
  run 0 cp-apr equal.tns --rank 2 --method $method -q -o equal.ktns --report equal.json
  check 'no share in the report' grep -q '"deviance_explained": null' equal.json
  check_not 'nor in the model' grep -q 'deviance explained' equal.ktns
  run 0 evaluate equal.ktns equal.tns
  check 'no share of equal counts' grep -Eq '^deviance explained +- +-$' out
  for line in fit RMSE log-likelihood deviance; do
    check "$line of all and given" awk -v line="$line" '$1 == line && $2 != "explained" { exit $2 != $3 }' out
  done
done
printf '1 1 5\n2 1 5\n' > five.tns
run 0 evaluate equal.ktns five.tns --cells given
check 'no share of two equal counts' grep -Eq '^deviance explained +-$' out

# info of a model, and what its file says of the run that made it.
run 0 info m.ktns
says 'm.ktns: CP model, 5 x 4 x 3, rank 2'
norm=$(dense m.ktns | awk '{ s += $4 ^ 2 } END { printf "%.8f", sqrt(s) }')
check 'the norm' test "$(awk '/^norm/ { printf "%.8f", $2 }' out)" = "$norm"
share=$(awk 'BEGIN { a = 4 * 1.9375 * 1.75 * 1.75; b = 2 * 2.875 * 1.875 * 3.125; printf "%.1f", 100 * a / (a + b) }')
check 'shares of the sum' grep -Eq "^ +1 +4 +$share %$" out
run 0 info p.ktns
says 'method cp-als, fit 0.'
check 'iterations, stop and seed' grep -q ', iterations 10, stopped all iterations done, seed 1$' out
run 0 info apr.ktns --json
check 'the run' grep -q '"deviance explained": "0\.[0-9]*"' out
run 0 info m.ttns
says 'm.ttns: Tucker model, 5 x 4 x 3, core 2 x 2 x 1'
check 'the strongest entry' grep -Eq '^ +2,2,1 +2$' out
refuses 'is a model' info m.ktns --processes 4
mkdir names
printf '%s\n' ann bob cid dan eve > names/mode-0.txt
printf '%s\n' tea coffee 'green tea' milk > names/mode-1.txt
printf '%s\n' who what when > names/modes.txt
dense m.ktns | awk '{ print $1, $2, $3, int(10 * $4 + 0.5) }' > named.tns
run 0 cp-als named.tns --rank 2 --labels names -q -o named.ktns
check 'names of modes in the file' grep -qx '// sporades mode 1: what' named.ktns
run 0 info named.ktns
says 'mode 1: what, length 4'

# Files of the command are read as before comments, and view shows what they say.
run 0 view named.ktns -o page.html
says 'method cp-als, fit 0.'
check 'on the page' grep -q '<p><bdi>method cp-als, fit 0\.[0-9]*, iterations' page.html
check 'names of modes without --labels' grep -q 'Mode 1: <bdi>what</bdi>' page.html
run 0 view m.ktns -o page.html
check 'no run' test "$(grep -c '<bdi>method' page.html)" = 0
check 'shares' grep -q "<td>$share %</td>" page.html
sed '5s/.*/1 1/' m.ktns > units.ktns
run 0 view units.ktns -o page.html
check 'unit weights are normalised, which is said' grep -q \
  'All weights of the file are 1: here columns have the sum 1' page.html
check 'the weight' grep -q '<p>weight 5.93</p>' page.html
run 0 cp-als named.tns --rank 2 --init named.ktns -q -o again.ktns
printf '// sporades stopped: \033[31mred\n// sporades no colon\n//sporades fit: 2\n' >> m.ktns
run 0 info m.ktns
says 'stopped ?[31mred'
check_not 'other comments are none' grep -q 'fit 2\|no colon' out

# Which components hold a name.
run 0 view m.ktns --labels names --name 'green tea'
check 'no page' test ! -e m.html
says "mode 1: what, 'green tea', index 3"
# In 1-norm: weights 4 * 1.9375 * 1.75 * 1.75 and 2 * 2.875 * 1.875 * 3.125; 0.5 / 1.75 and 0.25 / 1.875.
wanted=$(awk 'BEGIN { a = 4 * 1.9375 * 1.75 * 0.5; b = 2 * 2.875 * 3.125 * 0.25
  printf "component 1: %.1f %% of it, with 0.286, place 1 of 4", 100 * a * 1 / (a + b) }')
says "$wanted"
check 'the weaker one after it' grep -q '^  component 2: ' <(tail -n 1 out)
run 0 view m.ktns --labels names --name 3
says "mode 2: when, '3'"
run 0 view m.ktns --labels names --name bob -o page.html
check 'a page, too, where it is asked for' grep -q '<title>' page.html
refuses "--name: no mode has the name 'TEA'; names that contain it are 'tea', 'green tea'" \
  view m.ktns --labels names --name TEA
refuses "--name: no mode has the name 'x'" view m.ktns --labels names --name x
run 0 view m.ttns --labels names --name bob
says "mode 0: who, 'bob', index 2"
check 'columns' grep -q '^  column [12]: ' out
no_litter
finish
