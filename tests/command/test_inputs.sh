# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# What is read from where, and which files may be written.
source "$(dirname "$0")/support.sh" "$@"

printf '1 1 1\n1 2 3\n2 3 0.5\n' > a.tns
run 0 convert a.tns a.spt

# Standard input and pipes, text, gzipped or binary.
run 0 convert - piped.tns < a.tns
same a.tns piped.tns
run 0 convert /dev/stdin piped.tns < <(gzip -c a.tns)
same a.tns piped.tns
run 0 convert <(gzip -c a.tns) piped.tns
same a.tns piped.tns
run 0 convert <(cat a.spt) piped.tns
same a.tns piped.tns
mkfifo named.pipe
cat a.tns > named.pipe &
run 0 convert named.pipe piped.tns
same a.tns piped.tns
{
  read -r _
  run 0 convert - rest.tns --dims 2x3
} < <(cat a.tns)
check 'what is left of the standard input' grep -qx '1 2 3' rest.tns
: > empty.tns
refuses 'standard input: the file is empty' info - < empty.tns
printf '1 2 3\n1 2\n' > ragged.tns
refuses 'standard input:2: found 2 columns' info - < <(cat ragged.tns)

printf '%%%%MatrixMarket matrix coordinate pattern symmetric\n%% a comment\n3 3 2\n2 1\n3 3\n' > m.mtx
run 0 convert m.mtx m.tns
check 'both entries' test "$(cat m.tns)" = $'1 2 1\n2 1 1\n3 3 1'

# A first line of dims and number of nonzeros is a header, and what it was taken for is said.
noted() { check "standard error says '$1'" grep -qF -- "$1" err; }
printf '6 5 7 4\n1 3 2 1.5\n2 1 3 2.5\n3 5 5 3.0\n2 2 7 1\n' > header.tns
run 0 convert header.tns out.tns
says '6 x 5 x 7, 4 nonzeros, from header.tns (FROSTT with a header)'
noted 'note: the first line, "6 5 7 4", was read as dims and number of nonzeros'
run 0 info header.tns
says '4 nonzeros (FROSTT with a header)'
says 'norm 4.301162634'
says '1.9 % of the cells have values; the others count as 0'
run 0 info header.tns --first-line nonzero
says '5 nonzeros (FROSTT), '
check_not 'no note' test -s err
printf '2 2 1\n1 1 5\n' > few.tns
run 0 info few.tns
says '2 nonzeros (FROSTT), '
noted 'and may be dims and number of nonzeros: --first-line header reads it so'
run 0 info few.tns --first-line header
says '1 nonzeros (FROSTT with a header), '
printf '4 4 3\n2 1\n3 1\n4 3\n' > pattern.mtx
refuses '--pattern reads lines without values' info pattern.mtx
run 0 info pattern.mtx --pattern
says '3 nonzeros (FROSTT with a header)'
printf '4 5 3\n1 2 1\n3 4 2\n2 2 5\n' > counts.tns
run 0 cp-apr counts.tns --rank 1 --iterations 2 -o m.ktns
check 'the weight is the total count' test "$(sed -n 5p m.ktns | awk '{ printf "%.6f", $1 }')" = 8.000000
# The checkpoint knows how its tensor is read.
run 0 cp-als few.tns --first-line header --rank 1 --iterations 2 --checkpoint c
run 0 cp-als few.tns --resume c --iterations 3
says 'going on from c'

# Values that are not held are counted; a byte-order mark belongs to no name.
printf '1 1 9007199254740993\n1 2 1e-400\n' > big.tns
run 0 info big.tns
noted 'note: 1 integer was rounded: past 2^53 = 9007199254740992'
noted 'note: 1 value was rounded to 0'
mkdir names
printf '\xef\xbb\xbfAda\nBob\nCyd\n' > names/mode-1.txt
run 0 cp-als a.tns --rank 1 --labels names --top 3
check 'the name alone' grep -qE ' Ada +[0-9]' out
printf '\xef\xbb\xbf' | cat - m.ktns > marked.ktns
run 0 cp-apr counts.tns --rank 1 --iterations 1 --init marked.ktns

# Cells without a value: noted where values look like measurements.
awk 'BEGIN { for (k = 0; k < 60; ++k) print k % 20 + 1, (k * 7) % 11 + 1, 1 + (k * 5) % 9 / 2 }' > stars.tns
run 0 cp-als stars.tns --rank 1 --iterations 1
noted 'note: 27.3 % of the cells have values, which look like measurements; the others count as 0'
awk '{ $3 = $3 * 10; print }' stars.tns > whole.tns
run 0 tucker whole.tns --ranks 1x1 --iterations 1
check_not 'whole numbers past 10 are counts' grep -q measurements err
awk '{ $3 = log(1 + (NR % 3 == 0) * NR); if ($3 == 0) $3 = log(2); print }' stars.tns > logs.tns
run 0 cp-als logs.tns --rank 1 --iterations 1
check_not 'most values are the least: logarithms of counts' grep -q measurements err
check 'help says so' grep -q 'count as 0, not as unknown' <("$sporades" cp-als --help)

# Gzipped text is refused as soon as it would not fit, before all of it is held.
if (ulimit -v 600000 && exec "$sporades" info a.tns) > out 2> err; then
  yes '1 1 1' | head -100000 | gzip > part.gz
  for _ in {1..200}; do cat part.gz; done > many.tns.gz
  last='info many.tns.gz under ulimit -v'
  (ulimit -v 600000 && exec "$sporades" info many.tns.gz) > out 2> err
  check 'a failure while running' test $? = 1
  # Whichever asks first: the list that grows, or what else reading takes.
  check 'both numbers' grep -qE '([0-9]+ nonzeros .* held twice .* 614400000 bytes|: memory ran out: [0-9.]+ MB were in use of the 614.4 MB .*)$' err
else
  echo 'skipped: this build needs more than 600 MB of addresses'
fi

# What other files look like, and nothing of theirs that a terminal obeys.
printf 'ttensor\n2\n2 2\n' > model.ttns
refuses 'expected "tensor", the core' info model.ttns
refuses 'this is a Tucker tensor' cp-als model.ttns --rank 2
printf '1,1,2.5\n' > x.csv
refuses 'looks like CSV' info x.csv
printf '0 0 1\n1 2 5\n' > zero.tns
refuses '--index-base zero' info zero.tns
run 0 info zero.tns --index-base zero
refuses 'binary data' info "$sporades"
for packed in 'PK\3\4 a zip archive' 'BZh9 a bzip2 file' '\xfd7zXZ an xz file' '\x28\xb5\x2f\xfd a zstd file'; do
  printf "${packed%% *}\n" > packed
  refuses "packed:1: this is ${packed#* }" info packed
done
tar -cf x.tar a.tns
refuses 'this is a tar archive' info x.tar
refuses 'this is a tar archive' info - < <(gzip -c x.tar)
printf '1 1 1\n1 1 \033[31m\233\n' > escape.tns
refuses '\x1b[31m\x9b' info escape.tns
check 'nothing but text' test -z "$(tr -d '[:print:]\n' < err)"

# Outputs are told from inputs and from each other as files, before any work.
cp a.tns in.tns
ln in.tns hard.tns
ln -s in.tns soft.tns
for output in in.tns ./in.tns "$PWD/in.tns" hard.tns soft.tns; do
  refuses 'are the same file' convert in.tns $output
done
refuses 'are the same file' convert - in.tns < in.tns
als=(cp-als in.tns --rank 1 --iterations 1)
ln -s new link
ln -s ./new other_link
for outputs in '-o in.tns' '--report ./hard.tns' '--checkpoint soft.tns' '-o q --report ./q' \
  "--report q --checkpoint $PWD/q" '-o link --report other_link' '-o new --checkpoint link'; do
  refuses 'are the same file' "${als[@]}" $outputs
done
refuses 'are the same file' cp-apr in.tns --rank 1 -o in.tns
refuses 'are the same file' tucker in.tns --ranks 1,1 -o hard.tns
same a.tns in.tns
check_not 'nothing was written' ls q new
run 0 "${als[@]}" -o model.ktns --checkpoint run.check
# The model may take the place of the start, and nothing else may.
run 0 "${als[@]}" --init model.ktns -o expected.ktns
run 0 "${als[@]}" --init model.ktns -o ./model.ktns
same expected.ktns model.ktns
ln model.ktns hard.ktns
run 0 "${als[@]}" --init model.ktns -o hard.ktns
same expected.ktns model.ktns
refuses 'are the same file' "${als[@]}" --init model.ktns --report model.ktns
refuses 'are the same file' "${als[@]}" --init model.ktns --checkpoint ./model.ktns
refuses 'are the same file' "${als[@]}" --resume run.check -o ./run.check
run 0 cp-als in.tns --rank 1 --iterations 2 --resume run.check --checkpoint run.check
mkdir labels
printf 'a\nb\n' > labels/mode-0.txt
printf 'c\nd\ne\n' > labels/mode-1.txt
refuses 'are the same file' "${als[@]}" --labels labels -o labels/mode-1.txt
run 0 "${als[@]}" --labels labels -o labels/model.ktns
run 0 "${als[@]}" -o /dev/null --report /dev/null

# An output through a link writes what it leads to.
mkdir below
ln -s below/made.tns dangling.tns
run 0 convert in.tns dangling.tns
check 'the link stays' test -L dangling.tns
same in.tns below/made.tns
refuses 'no folder' convert in.tns below/no/x.tns

# A folder that may not be written to says so; root may write to all.
mkdir read_only
chmod 555 read_only
user=()
[[ -w read_only ]] && user=(setpriv --reuid 65534 --clear-groups)
if "${user[@]}" "$sporades" --version > out 2> err && "${user[@]}" test -r a.tns; then
  last='convert a.tns read_only/x.tns'
  "${user[@]}" "$sporades" convert a.tns read_only/x.tns > out 2> err
  check 'refused' test $? = 2
  check 'with the reason' grep -qF 'cannot be written to (Permission denied)' err
else
  echo 'skipped: no folder is read-only to this user'
fi

# Labels of any length, and nothing in them that a terminal obeys.
head -c 2000000 /dev/zero | tr '\0' x > labels/mode-0.txt
printf '\n\033[31mred\n' >> labels/mode-0.txt
start=$SECONDS
run 0 "${als[@]}" --init random --labels labels
check 'long labels are cut in no time' test $((SECONDS - start)) -lt 20
check 'with a sign' grep -q ' x\{31\}~ ' out
says '?[31mred'
no_litter
finish
