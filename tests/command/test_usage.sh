# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Usage errors, help and Kokkos' options.
source "$(dirname "$0")/support.sh" "$@"

run 0 --help
for subcommand in info generate convert cp-als; do says "$subcommand"; done
for subcommand in info generate convert cp-als; do
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
refuses '--rank' cp-als x.tns --rank 0
refuses '--rank' cp-als x.tns --rank -3
refuses '--rank' cp-als x.tns --rank many
refuses '--precision' cp-als x.tns --rank 2 --precision half
refuses '--format' cp-als x.tns --rank 2 --format alto3
refuses '--progress' cp-als x.tns --rank 2 --progress often
refuses '--index-base' info x.tns --index-base two

run 0 generate --dims 20x30x10 --nnz 500 --skew 0.5 -o x.tns
refuses "'--kokkos-num-threads=0'" info x.tns --kokkos-num-threads=0
refuses "'--kokkos-num-threads=two'" info x.tns --kokkos-num-threads=two
refuses "'--kokkos-threads=-1'" --kokkos-threads=-1 info x.tns
refuses "'--kokkos-num-threads'" info x.tns --kokkos-num-threads
run 2 info x.tns --kokkos-no-such-thing=3
check 'says which option' grep -qF "'--kokkos-no-such-thing=3'" err
for option in --kokkos-num-threads=1 --kokkos-threads=2; do
  run 0 info x.tns "$option"
  run 0 "$option" info x.tns
  check_not "no words on standard error" test -s err
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
