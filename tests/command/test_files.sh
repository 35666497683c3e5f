# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# generate, convert, and where outputs go.
source "$(dirname "$0")/support.sh" "$@"

# generate: reproducible, on any number of threads, in any format.
run 0 generate --like uber --nnz 20000 -o a.tns
says '183 x 24 x 1140 x 1717, 20000 nonzeros'
check 'one line a nonzero' test "$(grep -vc '^#' a.tns)" = 20000
run 0 generate --like uber --nnz 20000 -o b.tns --kokkos-num-threads=1
same a.tns b.tns
run 0 generate --like uber --nnz 20000 --seed 7 -o c.tns
check_not 'another seed gives another tensor' cmp a.tns c.tns
run 0 generate --dims 18x24x114x171 --nnz 30000 --skew 1.5 --seed 1 -o d.tns
run 0 generate --dims 18x24x114x171 --nnz 30000 --skew 1.5 --seed 1 -o d2.tns --kokkos-threads=1
same d.tns d2.tns
check 'exactly the nonzeros asked for' test "$(grep -vc '^#' d.tns)" = 30000
run 0 generate --dims 4294967297x3 --nnz 50 --seed 1 -o long.tns
check 'indices past 32 bits' awk '!/^#/ && $1 > 4294967296 / 8 { found = 1 } END { exit !found }' long.tns

refuses '13 nonzeros are wanted, but a tensor of 3 x 4 has 12 cells' \
  generate --dims 3x4 --nnz 13 -o no.tns
refuses 'nell-2' generate --like nell -o no.tns
refuses '--nnz' generate --dims 3x4 -o no.tns
refuses '--dims' generate -o no.tns
refuses '--dims' generate --like uber --dims 3x4 -o no.tns
refuses '--nnz' generate --dims 3x4 --nnz -5 -o no.tns
refuses '--nnz' generate --dims 3x4 --nnz 2.5 -o no.tns
refuses 'skew is -1' generate --dims 3x4 --nnz 5 --skew -1 -o no.tns
refuses "found 'a4' for mode 1" generate --dims 3xa4 --nnz 5 -o no.tns
refuses "mode 1" generate --dims 3x --nnz 5 -o no.tns
refuses '.tns.gz or .spt' generate --dims 3x4 --nnz 5 -o no.txt
refuses 'no folder' generate --dims 3x4 --nnz 5 -o no/such/folder.tns
mkdir folder.tns
refuses 'is a folder' generate --dims 3x4 --nnz 5 -o folder.tns
run 1 generate --dims 4000000x4000000 --nnz 4000000000 -o no.tns
check 'names both sizes' grep -qE 'needs [0-9.]+ GB .* [0-9.]+ [GT]B' err
check_not 'nothing was written' test -e no.tns

# convert: there and back again.
for tensor in a d long; do
  run 0 convert $tensor.tns $tensor.spt
  run 0 convert $tensor.spt $tensor.tns.gz
  check 'gzip can read it' gzip -t $tensor.tns.gz
  run 0 convert $tensor.tns.gz back.tns
  same $tensor.tns back.tns
  run 0 convert back.tns back.spt
  same $tensor.spt back.spt
done
run 0 convert "$data/packages-small.tns.gz" p.spt
run 0 convert p.spt p.tns
check 'the same lines' cmp <(grep -v '^#' p.tns) <(gzip -dc "$data/packages-small.tns.gz" | grep -v '^#')
# Content decides how a file is read, not its name.
cp a.spt named.tns
run 0 convert named.tns named2.tns
same a.tns named2.tns

printf '1 1 1\n2 3 0.1\n1 1 2.5\n' > twice.tns
run 0 convert twice.tns summed.tns
check 'duplicates are summed' grep -qx '1 1 3.5' summed.tns
run 0 convert twice.tns kept.tns --duplicates keep
same twice.tns kept.tns
run 0 convert twice.tns float.tns --precision float
check 'the shortest decimals of a float' grep -qx '2 3 0.1' float.tns
run 0 convert twice.tns dims.tns --dims 5x6
run 0 info dims.tns
says '5 x 6'
refuses 'twice.tns' convert twice.tns no.tns --dims 1x3
printf '0 0 1\n1 2 5\n' > zero.tns
refuses 'zero.tns' convert zero.tns no.tns
run 0 convert zero.tns one.tns --index-base zero
check 'index base zero' grep -qx '2 3 5' one.tns
printf '1 1\n2 3\n' > pattern.tns
run 0 convert pattern.tns ones.tns --pattern
check 'values of one' grep -qx '2 3 1' ones.tns

refuses '.tns.gz or .spt' convert a.tns no.mat
refuses 'no_such.tns' convert no_such.tns no.tns
head -c 1000 a.spt > cut.spt
refuses 'cut.spt' convert cut.spt no.tns
printf '1 2 3\n1 2\n' > ragged.tns
refuses 'ragged.tns:2' convert ragged.tns no.tns
: > empty.tns
refuses 'empty.tns' convert empty.tns no.tns
check_not 'nothing was written' test -e no.tns

# A full disk: the output is whole or not there, and what was there stays.
cp a.tns kept.tns
for target in full.tns full.spt full.tns.gz kept.tns; do
  last="convert a.tns $target under ulimit -f"
  (ulimit -f 8 && trap '' XFSZ && exec "$sporades" convert a.tns $target) > out 2> err
  check 'a full disk is a failure while running' test $? = 1
  check 'and said' grep -q "^sporades: error: .*$target" err
done
check_not 'nothing was written' ls full.tns full.spt full.tns.gz
same a.tns kept.tns

# Standard streams are written where they stand, whatever file they lead to.
printf '1 1 1 2\n2 2 2 3\n' > two.tns
echo precious > log
"$sporades" cp-als two.tns --rank 1 -q -o /dev/stdout >> log
check 'what was there stays' test "$(head -n 1 log)" = precious
check 'the model follows' grep -q '^ktensor' log
{ echo before; "$sporades" cp-als two.tns --rank 1 -q -o /dev/fd/1; echo after; } > log
check 'all of it in order' test "$(head -n 1 log) $(sed -n 2p log) $(tail -n 1 log)" = \
  'before ktensor after'
refuses 'is not open for writing' cp-als two.tns --rank 1 -o /dev/fd/77
refuses 'can be replaced: give a file' cp-als two.tns --rank 1 --checkpoint /dev/stdout

# A stream that is closed: no file gets its number, and with it what is printed.
"$sporades" cp-als a.tns --rank 8 --iterations 100000 --tolerance 0 -q -o m.ktns 2>&- &
long=$!
for _ in {1..500}; do
  [ "$(readlink /proc/$long/fd/2)" = /dev/null ] && break
  sleep 0.01
done
check 'closed streams lead nowhere' test "$(readlink /proc/$long/fd/2)" = /dev/null
kill -KILL $long
wait $long 2> /dev/null

# What cannot be written is refused before any work, and what can is written.
long_name=$(printf 'n%.0s' {1..250})
run 0 cp-als two.tns --rank 1 -o "$long_name.ktn"
check 'a name of 254 letters' test -s "$long_name.ktn"
refuses 'a name has at most 255' cp-als two.tns --rank 1 -o "$long_name.ktensor"
if [ "$(id -u)" != 0 ]; then
  touch read-only.ktns
  chmod 444 read-only.ktns
  refuses 'cannot be written to' cp-als two.tns --rank 1 -o read-only.ktns
fi
touch mounted.ktns other.ktns
if [ "$(id -u)" = 0 ] && mount --bind other.ktns mounted.ktns 2> /dev/null; then
  run 0 cp-als two.tns --rank 1 -o mounted.ktns
  umount mounted.ktns
  check 'a mounted file is overwritten' grep -q '^ktensor' other.ktns
fi
(ulimit -f 100 && exec "$sporades" generate --dims 1000x1000x1000 --nnz 1000000 -o limited.tns 2> err)
check 'a limit of sizes is an error' test $? = 1
check 'and it is said' grep -q 'File too large' err
check_not 'nothing is left' ls limited.tns .sporades-*

# What is given and empty is not taken for what is not given.
refuses "the argument after '-o' is empty" cp-als two.tns --rank 1 -o ''
refuses "'--report=' has an empty value" cp-als two.tns --rank 1 --report=
refuses 'at most 512' info two.tns --threads 600
OMP_NUM_THREADS=600 refuses 'OMP_NUM_THREADS is 600: at most 512' info two.tns
refuses 'at most 512' info two.tns --threads 999999999
KOKKOS_NUM_THREADS=many refuses "KOKKOS_NUM_THREADS is 'many'" info two.tns
# OpenMP's own library warns of these, too.
for threads in 99999999999 many 0 -2; do
  checks=$((checks + 1)) last="info two.tns of OMP_NUM_THREADS=$threads"
  OMP_NUM_THREADS=$threads "$sporades" info two.tns > out 2> err
  check 'is refused' test $? = 2
  check 'in a sentence' grep -qE \
    "^sporades: error: OMP_NUM_THREADS is ('$threads': no number of threads|$threads: at most 512)$" err
done
OMP_NUM_THREADS='2,1' run 0 info two.tns
OMP_NUM_THREADS= run 0 info two.tns
# The command executes itself again, which is not seen.
for file in two.tns nowhere.tns; do
  env -u OMP_WAIT_POLICY OMP_SCHEDULE=nonsense "$sporades" info $file > out 2> err
  last="info $file of OMP_SCHEDULE=nonsense"
  check 'OpenMP warns at most once' test "$(grep -c OMP_SCHEDULE err)" -le 1
done
check 'errors are said' grep -q '^sporades: error: .*nowhere.tns' err

# Processes that were started together, and that MPI does not join, write nothing.
copies() { SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0 "$@"; }
for outputs in 'cp-als two.tns --rank 1 -o copies' 'cp-als two.tns --rank 1 --report copies' \
  'tucker two.tns --ranks 1,1,1 --checkpoint copies' 'cp-als two.tns --rank 1 --tune --tune-file copies' \
  'convert two.tns copies.tns' 'generate --dims 3x4 --nnz 5 -o copies.tns' 'view long_model -o copies' \
  'info two.tns --report copies'; do
  copies refuses 'and each of 4 processes would write this file' $outputs
done
check_not 'nothing was written' ls copies copies.tns
copies run 0 info two.tns
check 'which is told' grep -q '^sporades: warning: .* each of 4 processes did the whole work$' err
SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=3 run 2 cp-als two.tns --rank 1 -o copies
check 'by one of them' test ! -s err
SLURM_NTASKS=4 SLURM_PROCID=0 run 0 cp-als two.tns --rank 1 -o script.ktns
refuses '1 to 65535' info two.tns --rank 70000

no_litter
finish
