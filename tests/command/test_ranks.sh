# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# `ranks`: the table, the rank that it proposes, its page and report, and what it refuses.
source "$(dirname "$0")/support.sh" "$@"

# The list of a name in the report r.json, its numbers with spaces between them.
list() { tr -d '\n ' < r.json | sed -n "s/.*\"$1\":\[\([^]]*\)\].*/\1/p" | tr ',' ' '; }
proposed() { sed -n 's/^ *"proposed_rank": \([0-9]*\),*$/\1/p' r.json; }

# Three components of counts, with noise, of 15 x 12 x 10.
awk 'BEGIN {
  srand(3)
  for (i = 1; i <= 15; ++i) for (j = 1; j <= 12; ++j) for (k = 1; k <= 10; ++k) {
    x = 0
    for (r = 1; r <= 3; ++r)
      x += 40 * (1 + sin(r * i * 1.7 + r)) * (1 + cos(r * j * 0.9)) * (1 + sin(r * k * 2.3 + 2 * r))
    x = int(x + 3 * rand())
    if (x > 0) print i, j, k, x
  }
}' > x.tns

run 0 ranks cp-als x.tns --ranks 1:5 --tolerance 1e-8 --iterations 500 -o t.html --report r.json
says 'rank                fit consistency   match  s a start'
says 'proposes rank 3: it is the largest whose core consistency is 80 or more, and starts match by 0.9'
check 'five ranks' test "$(list ranks)" = '1 2 3 4 5'
check 'fits rise' awk 'BEGIN { for (k = 2; k < ARGC; ++k) if (ARGV[k] < ARGV[k - 1]) exit 1 }' $(list scores)
check 'the core consistency of three is near 100, and falls' \
  awk -v a="$(list core_consistency)" 'BEGIN { split(a, c, " "); exit !(c[3] > 95 && c[5] < 60) }'
check 'components of three come again' \
  awk -v a="$(list match)" 'BEGIN { split(a, m, " "); exit !(m[3] > 0.99 && m[3] <= 1) }'
check 'nothing is held out' test "$(list held_out)" = 'null null null null null'
for key in method file precision seed starts score seconds proposed_because; do
  check "the report has $key" grep -q "\"$key\": " r.json
done
check 'the page is whole' python3 -c '
import xml.etree.ElementTree as xml
page = xml.parse("t.html").getroot()
text = "".join(page.itertext())
assert "proposes rank 3" in text and "core consistency" in text and "held-out" not in text
assert len([e for e in page.iter() if e.tag.endswith("svg")]) == 3
assert len([e for e in page.iter() if e.tag.endswith("tr")]) == 6'
# The fit is that of the best start by cp-als.
fit=$(list scores | cut -d' ' -f2)
run 0 cp-als x.tns --rank 2 --init random --starts 5 --tolerance 1e-8 --iterations 500
check 'as cp-als has it' grep -q "^fit ${fit:0:10}" out

# The same bits on another number of threads.
cp r.json two.json
OMP_NUM_THREADS=1 run 0 ranks cp-als x.tns --ranks 1:5 --tolerance 1e-8 --iterations 500 --report r.json
check 'the same on one thread' cmp <(sed '/"seconds"/,/\]/d' two.json) <(sed '/"seconds"/,/\]/d' r.json)

run 0 ranks cp-apr x.tns --ranks 2,3,5 --starts 3 --precision float --report r.json
says 'deviance explained'
check 'float finds three, too' test "$(proposed)" = 3
run 0 ranks gcp x.tns --loss poisson --ranks 3:1000:997 --starts 2 --iterations 3 --report r.json
check 'steps' test "$(list ranks)" = '3 1000'
check 'a core of 1e9 numbers is not computed' grep -q '^[0-9.]* null$' <<< "$(list core_consistency)"
check 'and what is unknown is no reason' test "$(proposed)" != 1000
run 0 ranks cp-als x.tns --ranks 2,3 --starts 1 --report r.json
says 'it is the largest whose core consistency is 80 or more; a rule'
# The match is that of cp-als, whose starts are the same.
run 0 cp-als x.tns --rank 3 --init random --starts 4 --seed 5 --iterations 9 --report r.json
matches=$(list start_matches)
run 0 ranks cp-als x.tns --ranks 3 --starts 4 --seed 5 --iterations 9 --report r.json
check "the match is the mean of $matches" awk -v a="$matches" -v b="$(list match)" \
  'BEGIN { n = split(a, m, " "); exit !(n == 3 && (b - (m[1] + m[2] + m[3]) / 3) ^ 2 < 1e-16) }'
run 0 ranks gcp x.tns --loss negative-binomial:2 --ranks 2 --starts 1 --iterations 2 --report r.json
check 'nothing to judge by' test "$(proposed)" = 0
says 'proposes no rank: there is nothing to judge by'

# gcp takes the best of three random starts, here too.
run 0 gcp x.tns --loss poisson --rank 2 --iterations 3 --seed 3
loss=$(sed -n 's/^loss \([0-9.e+-]*\) .*/\1/p' out)
run 0 ranks gcp x.tns --loss poisson --ranks 2 --starts 1 --iterations 3 --seed 3 --report r.json
check "as gcp has it: $loss" awk -v a="$loss" -v b="$(list scores)" 'BEGIN { exit !(a != 0 && (a - b) ^ 2 < 1e-12 * a * a) }'

# Values held out decide where others are unknown: by the rule, and the table has them.
awk 'NR % 3' x.tns > seen.tns
by_held_out='BEGIN {
  n = split(ranks, rank, " "); split(held, error, " "); split(spreads, spread, " ")
  for (k = least = 1; k <= n; ++k) if (error[k] < error[least]) least = k
  for (k = 1; error[k] > error[least] + spread[least]; ++k);
  exit !(rank[k] == proposed)
}'
held_out() {
  run 0 ranks "$@" --report r.json
  says 'held-out'
  says 'proposes rank'
  check "the rule chose $(proposed)" awk -v ranks="$(list ranks)" -v held="$(list held_out)" \
    -v spreads="$(list held_out_spread)" -v proposed="$(proposed)" "$by_held_out"
  check_not 'no core consistency' grep -q consistency out
}
held_out cp-als seen.tns --missing --ranks 1:4 --starts 3 --iterations 100 --holdout 0.2
check 'three' test "$(proposed)" = 3
held_out gcp seen.tns --missing --loss huber:5 --ranks 1:4 --starts 2 --iterations 100
held_out complete seen.tns --ranks 1:3 --starts 2 --penalty 0.01 --offset-penalty 0.01
run 0 ranks complete seen.tns --ranks 2 --holdout 0 --starts 2
check_not 'or nothing is held out' grep -q held-out out

# The error of values held out is that of `complete`, which holds out the same ones.
run 0 ranks complete seen.tns --ranks 2 --starts 1 --holdout 0.2 --seed 1 --report r.json
error=$(list held_out)
check 'there is an error' grep -q '^0\.[0-9]\{6\}\|^[1-9]' <<< "$error"
run 0 complete seen.tns --rank 2 --holdout 0.2 --seed 1
check "complete has $error, too" grep -qF "held out ${error:0:8}" out

# Interrupted, what was found is told, and the files are written; nothing is without a rank.
run 0 generate --dims 300x300x300 --nnz 200000 --skew 1 -o large.spt
# interrupted TEXT RANKS TOLERANCE: by SIGINT, once a line of the output has the text.
interrupted() {
  set -m # a shell's background jobs would ignore SIGINT
  "$sporades" ranks cp-als large.spt --ranks "$2" --starts 1 --iterations 100000 --tolerance "$3" \
    --report r.json > out 2> err &
  local process=$!
  for ((k = 0; k < 600; ++k)); do grep -q "$1" out && break || sleep 0.1; done
  kill -INT $process
  wait $process
  check 'the status is that of the signal' test $? = 130
  set +m
}
interrupted '^ *1 ' 1,60 1e-12
check 'a report was written' grep -q '"proposed_rank": 1,' r.json
says '; without rank 60 and above: interrupted'
check 'it tells what is missing' grep -q '"left_out": "without rank 60 and above: interrupted"' r.json
cp r.json kept.json
interrupted '1 rank' 60 0
check 'it says that there is nothing' grep -q '^sporades: interrupted by SIGINT: no rank was finished' err
same r.json kept.json

refuses '--ranks is required' ranks cp-als x.tns
refuses 'expected FROM:TO' ranks cp-als x.tns --ranks 5:2
refuses 'expected FROM:TO' ranks cp-als x.tns --ranks 2:3:4:5
refuses 'expected FROM:TO' ranks cp-als x.tns --ranks 2:3,4
refuses 'expected FROM:TO' ranks cp-als x.tns --ranks 0:3
refuses 'of ranks from 1 to 65535' ranks cp-als x.tns --ranks 2,70000
refuses 'no values can be held out' ranks cp-als absent.tns --ranks 2 --holdout 0.1
for part in 1 nan -0.1; do
  refuses "--holdout" ranks cp-als x.tns --missing --ranks 2 --holdout $part
done
printf '1 1 1\n2 2 2\n3 1 2\n' > few.tns
refuses 'leaves 3 to learn from and 0 to judge by' ranks cp-als few.tns --missing --ranks 1 --holdout 0.001
refuses "'--rank' is no option of sporades ranks cp-als" ranks cp-als x.tns --rank 2 --ranks 2:3
refuses 'x.tns' ranks cp-als x.tns --ranks 2 -o x.tns
refuses 'sporades ranks' ranks x.tns --ranks 2
refuses 'needs' ranks cp-als large.spt --ranks 60000 --memory 20M
run 0 ranks cp-als large.spt --ranks 2,60000 --starts 1 --iterations 1 --memory 200M
check 'what does not fit ends the table with a note' grep -q '^sporades: note: ' err
says '; without rank 60000 and above: cp-als: rank 60000 for 300 x 300 x 300 needs '
run 0 ranks --threads 1 cp-als x.tns --ranks 2 -q
check_not 'quiet says nothing' test -s out

no_litter
finish
