# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# The ten commands of algorithms/README.md, from a table to a model that is compared, judged and
# predicts, and the six from ratings to predictions: exactly the lines of that page. And its list of
# the reports' fields.
source "$(dirname "$0")/support.sh" "$@"

page=$(realpath "$data/../../algorithms/README.md")
cp "$data/sales.csv" "$data/check.csv" "$data/ratings.csv" .
sed -n '/^```$/,/^```$/p' "$page" | grep -v '^```' > commands
check 'ten commands, six and one' test "$(grep -c '^sporades ' commands)" = 17
check 'and nothing else' test "$(wc -l < commands)" = 17
number=0
while read -r line; do
  number=$((number + 1))
  last=$line
  checks=$((checks + 1))
  bash -c "sporades() { '$sporades' \"\$@\"; }; $line" > out 2> err < /dev/null || failed "command $number fails"
  cp out out-$number
  cp err err-$number
done < commands

# What they say: three groups that two runs agree on, rows that are left out, and numbers that judge.
check 'the tensor' grep -q '^sales.tns: 40 x 11 x 24, ' out-1
check 'two rows have no value' grep -q "2 rows have no 'items' and were left out, the first at sales.csv:102" err-1
check 'months' grep -q '^mode 2: date, 24 months from 2023-01 to 2024-12$' out-1
check 'names of the modes' grep -q 'mode 0: customer *mode 1: product *mode 2: date' out-3
score=$(sed -n 's/^factor match score \([0-9.]*\) .*/\1/p' out-5)
check "both runs find the components: $score" awk "BEGIN { exit !($score > 0.98) }"
check 'a page' grep -q 'Mode 1: <bdi>product</bdi>' sales.html
check 'the page tells the run' grep -q 'method cp-apr, ' sales.html
for n in 1 2; do
  check 'a product of two groups' grep -Eq "^  component [123]: [0-9.]+ % of it, with 0\.[0-9]+, place [1-4] of 11" \
    <(sed -n "$((n + 1))p" out-7)
done
explained=$(sed -n 's/^deviance explained *\([0-9.]*\) .*/\1/p' out-9)
check "half of the deviance of unseen rows: $explained" awk "BEGIN { exit !($explained > 0.4 && $explained < 0.9) }"
check 'a prediction a cell' test "$(grep -vc '^#' predicted.tns)" = "$(grep -vc '^#' check.tns)"
check 'of its coordinates' cmp <(cut -d' ' -f1-3 predicted.tns) <(cut -d' ' -f1-3 check.tns)
# Ratings: what the page says of their errors.
rmse=$(sed -n 's/^RMSE *\([0-9.]*\).*/\1/p' out-15)
check "ratings that were not seen: $rmse" awk "BEGIN { exit !($rmse > 0.42 && $rmse < 0.44) }"
check 'three components are proposed' grep -q '^proposes rank 3: ' out-17
check 'some ratings are held out' grep -q ', held out 0.4' out-13
check 'a rating a cell' test "$(grep -vc '^#' stars.tns)" = "$(grep -vc '^#' test.tns)"
# More components explain less of what they have not seen.
run 0 cp-apr sales.tns --rank 25 -q -o many.ktns
run 0 evaluate many.ktns check.tns --epsilon 1e-3
many=$(sed -n 's/^deviance explained *\(-\?[0-9.]*\) .*/\1/p' out)
check "25 components do worse: $many" awk "BEGIN { exit !($many < $explained) }"
# Names that the first table has not are left out.
sed '3s/^[^,]*/Nobody/; 5s/^[^,]*/Nobody/' check.csv > strangers.csv
run 0 convert strangers.csv strangers.tns --columns customer,product,date --value items --bin month --names names
check 'they are counted' grep -q \
  "2 rows have a name that --names has not in 'customer' and were left out, the first at strangers.csv:3" err
check 'the dims are those of the names' grep -q '^strangers.tns: 40 x 11 x 24, ' out

# Every field of the reports is on the page.
run 0 info sales.tns --report info.json
run 0 info sales.ktns --report model.json
run 0 evaluate sales.ktns check.tns --report evaluate.json
run 0 score sales.ktns other.ktns --json
cp out score.json
run 0 cp-als sales.tns --rank 2 --starts 2 --labels names --report als.json -q
run 0 cp-als sales.tns --rank 2 --report race.json -q
run 0 tucker sales.tns --ranks 2,2,2 --labels names --report tucker.json -q
run 0 complete train.tns --dims 60x36x18 --rank 2 --holdout 0.1 --report complete.json -q
run 0 info sales.tns --report info.json
if command -v python3 > /dev/null; then
  cat > fields.py << 'PY'
import json, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
known = set(re.findall(r"`([a-z0-9_]+)`", page[page.index("## Reports"):]))
by_name = {"kernels", "storage_words", "automatic", "bytes", "run", "traffic"}  # keys are not fields
def look(node, where):
    if isinstance(node, list):
        for one in node: look(one, where)
    if isinstance(node, dict):
        for key, value in node.items():
            if where not in by_name and key not in known: sys.exit(f"{file}: {key} in {where} is not on the page")
            look(value, key if where not in by_name else "")
for file in sys.argv[2:]:
    report = json.load(open(file, encoding="utf-8"))
    assert report["report_version"] == 1, file
    look(report, "")
PY
  for report in *.json; do
    check "all fields of $report" python3 fields.py "$page" "$report"
  done
fi
no_litter
finish
