# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# --memory on a CPU: the nonzeros of a tensor that does not fit stay in files.
source "$(dirname "$0")/support.sh" "$@"

mkdir files
export TMPDIR=$scratch/files
no_files() { check 'nothing is left in TMPDIR' test -z "$(ls -A files)"; }

run 0 generate --dims 900x700x400 --nnz 300000 --seed 5 -o x.spt
backend=$("$sporades" cp-als x.spt --rank 1 --iterations 1 | sed -n 's/.* on \([a-z]*\).*/\1/p' | head -1)
case $backend in serial | openmp | threads) ;; *) finish ;; esac

streams() {
  check 'it is said with the numbers' grep -qE '^sporades: note: .* needs [0-9.]+ [kMG]B of memory( at least)?, [0-9.]+ [kM]B may be taken: the nonzeros stay in files in [^ ]*/files \(TMPDIR\), of up to [0-9.]+ [MG]B, and are streamed; the rest takes [0-9.]+ [kM]B$' err
  no_files
}

# The same model from each kind of file, in each precision.
run 0 convert x.spt x.tns
run 0 convert x.spt x.tns.gz
als=(--rank 4 --iterations 3 --tolerance 0 --init random)
for precision in double float; do
  run 0 cp-als x.spt "${als[@]}" --precision $precision -o near.ktns
  check_not 'what fits is not streamed' test -s err
  for file in x.spt x.tns x.tns.gz; do
    run 0 cp-als $file "${als[@]}" --precision $precision --memory 4M -o far.ktns
    streams
    same near.ktns far.ktns
  done
done
run 0 cp-als x.spt "${als[@]}" --memory 1G -o far.ktns
check_not 'what fits is not streamed' test -s err

# Nonzeros in any order that repeat.
grep -v '#' x.tns | head -50000 | cat - x.tns | shuf --random-source=x.tns > mixed.tns
run 0 cp-als mixed.tns "${als[@]}" -o near.ktns
run 0 cp-als mixed.tns "${als[@]}" --memory 4M -o far.ktns
streams
check 'duplicates are summed' grep -q '^50000 nonzeros were added to others' out
same near.ktns far.ktns

# From a given start.
run 0 cp-als x.spt "${als[@]}" -o start.ktns
given=(cp-als x.spt --rank 4 --iterations 2 --tolerance 0 --init start.ktns)
run 0 "${given[@]}" -o near.ktns
run 0 "${given[@]}" --memory 4M -o far.ktns
streams
same near.ktns far.ktns

# A run may go on with another limit.
run 0 cp-als x.spt "${als[@]}" -o near.ktns
run 0 cp-als x.spt --rank 4 --iterations 2 --tolerance 0 --init random --memory 4M --checkpoint c.ck
run 0 cp-als x.spt --iterations 3 --tolerance 0 --resume c.ck -o far.ktns
same near.ktns far.ktns

run 0 generate --like uber --nnz 100000 -o counts.spt
for method in 'mu --strategy pull' pqnr pdnr; do
  apr=(cp-apr counts.spt --rank 3 --iterations 2 --inner-iterations 2 --method $method)
  run 0 "${apr[@]}" -o near.ktns
  run 0 "${apr[@]}" --memory 3M -o far.ktns
  streams
  same near.ktns far.ktns
done
run 0 "${apr[@]}" --init near.ktns -o given.ktns
run 0 "${apr[@]}" --init near.ktns --memory 3M -o far.ktns
streams
same given.ktns far.ktns

tucker=(tucker x.spt --ranks 3,2,3 --iterations 2)
run 0 "${tucker[@]}" --strategy fused -o near.ttns
run 0 "${tucker[@]}" --memory 4M -o far.ttns
streams
same near.ttns far.ttns
run 0 "${tucker[@]}" --strategy fused --init near.ttns -o given.ttns
run 0 "${tucker[@]}" --init near.ttns --memory 4M -o far.ttns
streams
same given.ttns far.ttns

# A run does without what it can before it is streamed or refused.
run 0 generate --dims 50x40x30 --nnz 5000 --seed 2 -o small.spt
small=(cp-als small.spt --rank 2 --iterations 3 --tolerance 0)
run 0 "${small[@]}" --init random -o near.ktns
run 0 "${small[@]}" --memory 600K -o far.ktns
check 'no singular vectors, which is said' grep -qE '^sporades: note: .* needs [0-9.]+ kB of memory, 614.4 kB may be taken: no singular vectors are computed for a start \(init random\)$' err
same near.ktns far.ktns
run 0 generate --dims 200x300x20x10x15x7 --nnz 200000 --skew 0.5 --seed 2 -o six.spt
six=(cp-als six.spt --rank 4 --iterations 2 --tolerance 0)
run 0 "${six[@]}" --init random --strategy alto -o near.ktns
run 0 "${six[@]}" --memory 13M --report r.json -o far.ktns
check 'one copy, which is said' grep -qE '\(init random\), and one copy of the nonzeros serves all modes$' err
check 'and reported' grep -q '"alto"' r.json
same near.ktns far.ktns
run 0 generate --dims 20x30x2000x10x15 --nnz 50000 --skew 1 --seed 2 -o short.spt
short=(cp-als short.spt --rank 8 --iterations 3 --tolerance 0 --init random --memory 1750000)
run 0 "${short[@]}" --no-dimension-tree -o near.ktns
run 0 "${short[@]}" -o far.ktns
check 'no fused modes, which is said' grep -qE 'may be taken: no modes are fused; the nonzeros stay in files' err
same near.ktns far.ktns

# With limits from the least that is named to 60 times that, in ten steps, no run fails. Runs with the same choice make the same model.
for file in x small six; do
  any=(cp-als $file.spt --rank 6 --iterations 2 --tolerance 0)
  run 1 "${any[@]}" --memory 1000
  least=$(sed -nE 's/.* needs ([0-9.]+) ([kM])B of memory.*/\1 \2/p' err |
    awk '{ print $1 * ($2 == "k" ? 1e3 : 1e6) }')
  rm -f way-*.ktns
  for step in 0 1 2 3 4 5 6 7 8 9; do
    run 0 "${any[@]}" --memory "$(awk "BEGIN { print int(1.02 * $least * 60 ^ ($step / 9)) }")" -o limited.ktns
    # What it does without, and what it does for each mode.
    way=way-$( (grep -o 'automatic chose [a-z]*' out; sed 's/.* may be taken: //; s/of up to.*//' err) |
      cksum | tr ' ' -).ktns
    if [[ -f $way ]]; then same "$way" limited.ktns; else cp limited.ktns "$way"; fi
  done
  check "$file has several ways" test "$(ls way-*.ktns | wc -l)" -ge 3
done

# A refusal names the least memory that does, and ranks that do.
run 1 cp-als x.spt --rank 8 --iterations 1 --memory 1M
needs=$(sed -nE 's/.* needs ([0-9.]+) MB of memory, .* may be taken.*/\1/p' err)
run 0 cp-als x.spt --rank 8 --iterations 1 --memory "$(awk "BEGIN { print int($needs * 1e6 * 1.05) }")"
run 1 cp-als x.spt --rank 400 --iterations 1 --memory 6M
fits=$(sed -nE 's/.*; rank ([0-9]+) would fit$/\1/p' err)
run 0 cp-als x.spt --rank "$fits" --iterations 1 --memory 6M

# What does not stream is refused.
run 1 cp-als x.spt "${als[@]}" --strategy csf --memory 4M
check 'with what would' grep -q '; --strategy sorted or fibers would stream it$' err
run 1 tucker x.spt --ranks 2,2,2 --strategy csf --memory 4M
check 'with the numbers' grep -qE 'needs [0-9.]+ MB of memory, 4.1 MB may be taken.*; --strategy fused would stream it$' err

# Memory that is not of files stays within the limit, and what the program takes for itself.
run 0 generate --dims 900x700x400 --nnz 3000000 --seed 5 -o large.spt
als=(cp-als large.spt --rank 4 --iterations 1 --tolerance 0 --init random)
within() { (ulimit -d "$1" && exec "$sporades" "${@:2}") > out 2> err; }
last='cp-als large.spt under ulimit -d'
run 0 "${als[@]}" -o near.ktns
# (OpenBLAS maps 134 MB for some processors.)
last='cp-als large.spt --memory 16M under ulimit -d'
(ulimit -d 80000 && exec timeout 20 "$sporades" cp-als x.spt --rank 1 --iterations 1) > out 2> err
if [[ $? == 124 ]] || grep -q 'LAPACK (OpenBLAS) needs' err; then # or hangs while it is loaded
  echo 'skipped: LAPACK needs more than 80 MB here'
else
  within 80000 "${als[@]}" --memory 16M -o far.ktns
  check 'a run with a limit keeps it' test $? = 0
  streams
  same near.ktns far.ktns
  within 80000 "${als[@]}"
  check_not 'which takes more without' test $? = 0
fi

# Files that cannot be had.
last='cp-als large.spt --memory 16M under ulimit -f'
(ulimit -f 1000 && trap '' XFSZ && exec "$sporades" "${als[@]}" --memory 16M) > out 2> err
check 'a full disk is a failure while running' test $? = 1
check 'and said' grep -qE '^sporades: error: a tensor that does not fit memory needs [0-9.]+ MB in [^ ]*/files \(TMPDIR names another folder\): ' err
TMPDIR=$scratch/nowhere run 1 "${als[@]}" --memory 16M
check 'so is no folder' grep -qF "in $scratch/nowhere (TMPDIR names another folder): No such file" err
if grep -q ' /dev/shm tmpfs ' /proc/mounts; then
  TMPDIR=/dev/shm run 1 "${als[@]}" --memory 16M
  check 'files in memory are none' grep -qF 'needs files on a disk, and /dev/shm lies in memory (TMPDIR names another folder)' err
fi
if [[ $sporades != /tmp/* ]] && unshare -rm mount -t tmpfs tmpfs /tmp 2> /dev/null; then
  last='cp-als large.spt --memory 16M, /tmp in memory'
  unshare -rm env -u TMPDIR sh -c 'mount -t tmpfs tmpfs /tmp && exec "$@"' - "$sporades" "${als[@]}" --memory 16M > out 2> err
  check '/var/tmp is taken' grep -qF 'the nonzeros stay in files in /var/tmp (TMPDIR)' err
fi
last='cp-als large.spt --memory 16M, killed'
"$sporades" cp-als large.spt --rank 4 --iterations 1000 --tolerance 0 --memory 16M > out 2> err &
for ((k = 0; k < 100; k++)); do
  grep -qF "$TMPDIR/" "/proc/$!/maps" && break
  sleep 0.1
done
check 'it has files' test $k -lt 100
kill -9 $!
wait $! 2> /dev/null
no_files
no_litter
finish
