# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# --memory against what the whole program holds, and what refusals name.
source "$(dirname "$0")/support.sh" "$@"

mkdir files
export TMPDIR=$scratch/files
unset GLIBC_TUNABLES

# held STATUS ARGUMENT...: sporades exits so; $held is the most memory, in bytes, that it was seen to
# have that is no file's, from outside or, as its report tells, by itself.
held() {
  local expected=$1 process field value unit of_sporades now
  shift
  last="sporades $*"
  checks=$((checks + 1))
  "$sporades" "$@" --report r.json > out 2> err &
  process=$!
  held=0
  while now=-1; while read -r field value unit; do
    case $field in
      Name:) of_sporades=$value ;;
      RssAnon:) now=$value ;;
    esac
  done 2> /dev/null < /proc/$process/status; ((now >= 0)); do
    [[ $of_sporades == sporades ]] && ((now * 1024 > held)) && held=$((now * 1024))
  done
  wait $process
  local status=$?
  [[ $status == "$expected" ]] || failed "exit status $status, expected $expected"
  local told
  told=$(sed -nE 's/ *"bytes_peak": ([0-9]+),/\1/p' r.json)
  # A thread looks every 5 ms, or later beside other work: it may miss what is there for less.
  check "the report tells $told bytes, $held were seen" test "$told" -gt $((held / 2))
  ((told > held)) && held=$told
}

# least ARGUMENT...: $least is the least memory that the refusal names, as it names it, and $bytes.
least() {
  run 1 "$@" --memory 1000
  least=$(sed -nE 's/^sporades: error: .* needs ([0-9.]+ [kMG]B) of memory, 1.0 kB may be taken.*/\1/p' err)
  check 'a refusal has both numbers' test -n "$least"
  bytes=$(awk -v text="$least" 'BEGIN {
    split(text, part, " "); scale["kB"] = 1e3; scale["MB"] = 1e6; scale["GB"] = 1e9
    printf "%.0f", part[1] * scale[part[2]] }')
}

run 0 generate --dims 20000x10000x300 --nnz 600000 --skew 1 --seed 3 -o x.spt
backend=$("$sporades" cp-als x.spt --rank 1 --iterations 1 | sed -n 's/.* on \([a-z]*\).*/\1/p' | head -1)
case $backend in serial | openmp | threads) ;; *) finish ;; esac
grep -q RssAnon /proc/self/status || { echo 'skipped: the system does not tell RssAnon'; finish; }

# What the program takes whatever it computes, libraries and buffers of the reader included, and what
# the C library keeps.
printf '1 1 1 1\n2 2 2 1\n3 3 3 2\n' > tiny.tns
held 0 cp-als tiny.tns --rank 1 --iterations 20000 --tolerance 0 --init random
fixed=$((held + 3000000))
check "the program itself takes $held bytes" test "$held" -gt 500000 -a "$held" -lt 30000000

# stays_within ARGUMENT...: with the least memory that is named, and with more, it runs, and holds no
# more than that. Factors are 3.9 MB in rank 16, the nonzeros 12 MB.
stays_within() {
  local times limit
  least "$@"
  for times in 1 2.5; do
    limit=$(awk "BEGIN { printf \"%.0f\", $bytes * $times }")
    held 0 "$@" --memory "$limit"
    check "it holds $held bytes of the $limit that it may" test "$held" -le $((limit + fixed))
  done
}

als=(cp-als x.spt --rank 16 --iterations 2 --tolerance 0)
run 0 cp-als x.spt --rank 16 --iterations 1 --non-negative --init random -o given.ktns
stays_within "${als[@]}"
for start in random hosvd given.ktns; do stays_within "${als[@]}" --init $start; done
stays_within "${als[@]}" --init random --starts 3
stays_within "${als[@]}" --init random --starts 2 --checkpoint c.ck -o o.ktns
run 0 "${als[@]}" --init random --checkpoint c.ck
stays_within cp-als x.spt --rank 16 --iterations 3 --tolerance 0 --init random --resume c.ck
stays_within "${als[@]}" --init random --slices 4
for format in alto csf permuted atomic flycoo flycoo-blocks; do
  stays_within "${als[@]}" --init random --strategy $format
done
apr=(cp-apr x.spt --rank 16 --iterations 1 --inner-iterations 2)
for method in mu pqnr pdnr; do stays_within "${apr[@]}" --method $method; done
stays_within "${apr[@]}" --method mu --starts 2
stays_within "${apr[@]}" --method mu --strategy alto
stays_within "${apr[@]}" --init given.ktns --checkpoint c.ck
tucker=(tucker x.spt --ranks 4,4,4 --iterations 1)
run 0 "${tucker[@]}" -o given.ttns
stays_within "${tucker[@]}"
for start in hosvd given.ttns; do stays_within "${tucker[@]}" --init $start; done
stays_within "${tucker[@]}" --starts 3
for format in semi_sparse csf; do stays_within "${tucker[@]}" --strategy $format; done
run 0 convert x.spt x.tns
stays_within cp-als x.tns --rank 16 --iterations 2 --tolerance 0 --init random
stays_within "${als[@]}" --tune

# Labels count: 20,000 names of 200 bytes.
mkdir labels
seq 20000 | awk '{ printf "%0200d\n", $1 }' > labels/mode-0.txt
least "${als[@]}" --init random
without=$bytes
least "${als[@]}" --init random --labels labels
check 'labels count' test $((bytes - without)) -gt 4000000 -a $((bytes - without)) -lt 7000000
stays_within "${als[@]}" --init random --labels labels

# The number that a refusal names suffices, written as it names it, on real tensors.
for tensor in police-deaths-3d packages-small shakespeare-trigram-3d marvel-characters-7d; do
  cp "$data/$tensor.tns.gz" .
  for method in 'cp-als' 'cp-als --init hosvd' 'cp-als --starts 2' 'cp-als --strategy csf' \
    'cp-als --slices 2' 'cp-apr --method mu' 'cp-apr --method pqnr' 'tucker' 'tucker --strategy csf'; do
    ranks='--rank 3'
    [[ $method == tucker* ]] && ranks="--ranks 2,2,2$([[ $tensor == *7d ]] && echo ,2,2,2,2)"
    read -ra words <<< "$method $ranks --iterations 1"
    real=("${words[0]}" $tensor.tns.gz "${words[@]:1}")
    least "${real[@]}"
    run 0 "${real[@]}" --memory "$least"
  done
done

# It is one number, whatever limit was refused.
run 0 generate --dims 30x25x12 --nnz 1060 --seed 4 -o small.tns
for limit in 1K 5K 20K; do
  run 1 cp-als small.tns --rank 2 --memory $limit
  sed -nE 's/.*needs ([0-9.]+ [kM]?B) of memory.*/\1/p' err
done | sort -u > numbers
check "one least number ($(tr '\n' ' ' < numbers))" test "$(wc -l < numbers)" = 1

# What the options do not allow is not tried, and the refusal says what would do.
run 1 "${als[@]}" --init random --slices 4 --memory 30M
check 'slices are not streamed' grep -qE 'needs [0-9.]+ MB of memory, 31.4 MB may be taken; .*without --slices it would be streamed$' err
run 1 "${als[@]}" --init hosvd --memory 30M
check 'hosvd is not streamed' grep -qE 'needs [0-9.]+ MB of memory, 31.4 MB may be taken; .*--init random would stream it$' err
run 0 generate --dims 300000x20x5 --nnz 2000 --seed 1 -o rows.spt
run 1 cp-als rows.spt --rank 8 --init hosvd --memory 20M
check 'the factors alone are too large' grep -q 'needs [0-9.]* MB of memory, 20.9 MB may be taken' err
check_not 'so that streaming would not do' grep -q 'would stream it' err
finish
