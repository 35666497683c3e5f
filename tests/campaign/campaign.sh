# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# campaign.sh EXECUTABLE [--seed S] [--first K] [--draws N]: the draws on one thread, again on three,
# and both must give the same bits.
set -u
campaign=$1
shift
bits=$(mktemp -d)
trap 'rm -rf "$bits"' EXIT
export OMP_WAIT_POLICY=passive OMP_PROC_BIND=false
status=0
for threads in 1 3; do
  echo "$threads threads: $campaign $*"
  OMP_NUM_THREADS=$threads "$campaign" "$@" --bits "$bits/$threads" || status=1
done
if ! cmp -s "$bits/1" "$bits/3"; then
  echo "other bits on three threads than on one:"
  diff "$bits/1" "$bits/3" | grep '^[<>]' | head -6
  status=1
fi
[[ -s $bits/1 ]] || status=1 # a campaign that writes no bits compares none
exit $status
