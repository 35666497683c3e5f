# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Usage errors, help and Kokkos' options.
source "$(dirname "$0")/support.sh" "$@"

run 0 --help
for subcommand in info generate convert cp-als complete ranks split view; do says "$subcommand"; done
for subcommand in info generate convert cp-als complete ranks split view; do
  run 0 "$subcommand" --help
  says "Usage: sporades $subcommand"
  check_not "help is on standard output only" test -s err
done
run 0 --version
check "the version has three numbers" grep -qE '^sporades [0-9]+\.[0-9]+\.[0-9]+$' out

refuses 'subcommand'
refuses "'frobnicate' is no subcommand" frobnicate
refuses 'subcommand' ''
refuses 'FILE' info
refuses 'nonsense' info x.tns --nonsense
refuses 'no_such.tns' info no_such.tns
refuses '--rank' cp-als x.tns
refuses '--precision' cp-als x.tns --rank 2 --precision half
refuses '--strategy' cp-als x.tns --rank 2 --strategy alto3
refuses '--progress' cp-als x.tns --rank 2 --progress often
refuses '--index-base' info x.tns --index-base two

run 0 generate --dims 20x30x10 --nnz 500 --skew 0.5 -o x.tns
refuses "'--kokkos-num-threads=0'" info x.tns --kokkos-num-threads=0
refuses "'--kokkos-num-threads=two'" info x.tns --kokkos-num-threads=two
refuses "'--kokkos-threads=-1'" --kokkos-threads=-1 info x.tns
refuses "'--kokkos-num-threads'" info x.tns --kokkos-num-threads
run 2 info x.tns --kokkos-no-such-thing=3
check 'says which option' grep -qF "'--kokkos-no-such-thing=3'" err
for option in --kokkos-num-threads=1 --kokkos-threads=2 --threads=2; do
  run 0 info x.tns "$option"
  run 0 "$option" info x.tns
  check_not "no words on standard error" test -s err
done

# Numbers: one plain sentence, that names what came.
plain() { # TEXT ARGUMENT...
  refuses "$@"
  check 'in one short sentence' test "$(wc -c < err)" -lt 130
}
for rank in 0 -1 abc 2.5; do
  plain "--rank: '$rank' is not a whole number of 1 or more" cp-als x.tns --rank "$rank"
done
plain "the argument after '--rank' is empty" cp-als x.tns --rank ''
plain "--rank: '99999999999' is too large" cp-als x.tns --rank 99999999999
plain "--top: '0' is not a whole number of 1 or more" cp-als x.tns --rank 2 --top 0
refuses '--top says how many names of --labels are printed; there is no --labels' \
  cp-als x.tns --rank 2 --top 3
plain "--seed: '-1' is not a whole number of 0 or more" cp-als x.tns --rank 2 --seed -1
plain "--tolerance: 'small' is not a number" cp-als x.tns --rank 2 --tolerance small
plain "--tolerance: '1e999' is too large" cp-als x.tns --rank 2 --tolerance 1e999
plain "--ranks 2x0: expected whole numbers of 1 or more, as 8x8x4, found '0' for mode 1" \
  tucker x.tns --ranks 2x0
run 0 cp-als x.tns --rank 010 --iterations 1
says 'rank 10 in'
run 0 cp-als x.tns --rank 2 --iterations 1 --threads 1
[[ $(sed -n 's/.* on \([a-z]*\).*/\1/p' out) == openmp ]] || says 'rank 2'
check_not 'one thread is no plural' grep -q 'threads' out
if grep -q ' on openmp' out; then
  run 0 cp-als x.tns --rank 2 --iterations 1 --threads 3
  says 'on openmp with 3 threads'
fi
plain "--threads: '0' is not a whole number of 1 or more" info x.tns --threads 0

# Options that there are not come before those that are missing; the subcommand is the one typed.
refuses "'--nonsense' is no option of sporades cp-als (sporades cp-als --help" cp-als --nonsense
refuses "nothing takes the argument 'y.tns'" cp-als x.tns y.tns --rank 2
refuses '--rank is required (sporades cp-als --help' cp-als x.tns
refuses 'cp-als: rank 70000 ' cp-als x.tns --rank 70000
refuses 'cp-apr: kappa 0 ' cp-apr x.tns --rank 2 --kappa 0
refuses 'tucker: 2 ranks for' tucker x.tns --ranks 2,2
run 0 generate --dims 256x256x256x256x256x256x256x256x256 --nnz 20 -o nine.tns
refuses 'cp-als: strategy fibers: ' cp-als nine.tns --rank 2 --format fibers
run 0 convert x.tns x.spt
head -c 200 x.spt > hooi # a name of the user's is left alone
refuses 'hooi: ' info hooi

# --quiet: nothing on standard output, the files all the same.
run 0 cp-als x.tns --rank 2 --iterations 3 --quiet -o quiet.ktns --report quiet.json
check_not 'nothing is said' test -s out
check 'three iterations' test "$(grep -c '"iteration": ' quiet.json)" = 3
run 0 cp-als x.tns --rank 2 --iterations 3 -o loud.ktns
same quiet.ktns loud.ktns
run 0 generate --dims 5x5 --nnz 5 -o quiet.tns -q
check_not 'nothing is said' test -s out
run 0 convert quiet.tns quiet.spt -q
check_not 'nothing is said' test -s out

# What automatic chose, for the rank that runs.
run 0 cp-als x.tns --rank 5 --iterations 1
says 'mode 0: automatic chose '
if ! grep -qE ' on (cuda|hip)' out; then
  says 'factors / second-level cache 0.'
  run 0 generate --dims 10x10x900 --nnz 500 -o long.tns
  share() { sed -nE 's/.*factors . second-level cache ([0-9.e-]+) .*/\1/p' out | head -1; }
  run 0 info long.tns --rank 8
  small=$(share)
  run 0 info long.tns --rank 80
  check "ten times the rank: $(share) of $small" \
    awk "BEGIN { exit !($(share) / $small > 9.9 && $(share) / $small < 10.1) }"
fi
run 0 cp-als x.tns --rank 5 --iterations 1 --format csf --report r.json
check_not 'unless one was asked for' grep -q 'automatic' out

# Iterations as a person would read them; the report has all.
run 0 cp-als x.tns --rank 2 --iterations 345 --tolerance 0 --report r.json
check 'all in the report' test "$(grep -c '"iteration": ' r.json)" = 345
shown=$(sed -n 's/^iteration \([0-9]*\):.*/\1/p' out | xargs)
check "round ones and the last ($shown)" \
  test "$shown" = "$(seq 10 | xargs) $(seq 20 10 100 | xargs) 200 300 345"
run 0 cp-als x.tns --rank 2 --iterations 500 --tolerance 1e-7 --report r.json
last_one=$(grep -c '"iteration": ' r.json)
check "the last before the tolerance, $last_one" grep -q "^iteration $last_one: " out

# The live line fits its terminal.
longest() { tr '\r' '\n' < err | sed 's/\x1b\[K//' | awk '{ if (length > most) most = length } END { print most + 0 }'; }
COLUMNS=30 run 0 cp-als x.tns --rank 2 --iterations 3 --progress always
check "29 places of 30 are used ($(longest))" test "$(longest)" = 29

# programs_of PAGE NAME: NAME-1.cpp, NAME-2.cpp ... are what the page shows in C++.
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
programs_of() {
  awk -v of="$2" '/^```cpp/ { name = of "-" ++k ".cpp"; next } /^```/ { name = "" } name { print > name }' "$1"
}
# The programs in the README are examples, which are tested.
programs_of "$root/README.md" readme
check 'the README has a program' test -s readme-1.cpp
for program in readme-*.cpp; do
  is_example=no
  for example in "$root"/tests/examples/*.cpp; do
    sed -n '/^#include/,$p' "$example" | cmp -s - "$program" && is_example=yes
  done
  check "$(head -1 "$program") ... in the README is an example" test $is_example = yes
done
# Those of the folders' pages are parts of examples.
for page in core formats kernels algorithms cmake; do programs_of "$root/$page/README.md" "page-$page"; done
check 'the page of kernels shows a loop' test -s page-kernels-1.cpp
for program in page-*.cpp; do
  is_part=no
  for example in "$root"/tests/examples/*.cpp; do
    [[ $(< "$example") == *"$(< "$program")"* ]] && is_part=yes
  done
  check "$program: $(head -1 "$program") ... is a part of an example" test $is_part = yes
done

refuses 'abacus' cp-als x.tns --rank 2 --backend abacus
check 'says which backends there are' grep -qiE 'serial|openmp|cuda|hip' err

last='sporades info x.tns > /dev/full'
if [[ -w /dev/full ]]; then
  "$sporades" info x.tns > /dev/full 2> err
  check 'a full standard output is a failure' test $? = 1
  check 'and said' grep -q 'standard output' err
fi
no_litter
finish
