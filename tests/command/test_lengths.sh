# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Modes so long that sums and products of their lengths are past 2^64, as hashes make them.
source "$(dirname "$0")/support.sh" "$@"

# quickly STATUS ARGUMENT...: run, within 20 seconds.
quickly() {
  local expected=$1
  shift
  last="sporades $*"
  checks=$((checks + 1))
  timeout -s KILL 20 "$sporades" "$@" > out 2> err
  local status=$?
  [[ $status == "$expected" ]] || failed "exit status $status, expected $expected"
}

# too_long ARGUMENT...: refused in one sentence with both numbers.
too_long() {
  quickly 1 "$@"
  check 'one sentence with both numbers' grep -qE '^sporades: error: .* needs [0-9.]+ [MGTPE]B of memory( at least)?, [0-9.]+ [kMGTP]B may be taken' err
  check 'one line' test "$(wc -l < err)" = 1
}

for length in 2147483648 4294967296 9223372036854775807 9223372036854775808 9223372036854775809 \
  18446744073709551615; do
  printf '%s 1 1 2\n1 2 1 1\n5 3 2 4\n7 3 2 1\n' $length > long.tns
  # Some machines may have what the shorter modes need.
  limit=()
  ((${#length} < 15)) && limit=(--memory 1G)
  quickly 0 info long.tns
  says "$length"
  quickly 0 convert long.tns long.spt
  quickly 0 convert long.spt back.tns
  check 'the same nonzeros' cmp <(sort long.tns) <(grep -v '#' back.tns | sort)
  for format in automatic atomic duplicated permuted sorted fibers csf alto flycoo flycoo-blocks; do
    too_long cp-als long.spt --rank 2 --format $format "${limit[@]}"
  done
  for start in random hosvd; do
    too_long cp-als long.tns --rank 2 --init $start "${limit[@]}"
  done
  too_long cp-als long.tns --rank 2 --starts 2 --memory 1G
  too_long cp-als long.tns --rank 2 --slices 2 "${limit[@]}"
  for options in mu 'mu --strategy alto' 'mu --strategy atomic' pqnr pdnr; do
    read -ra words <<< "$options"
    too_long cp-apr long.tns --rank 2 --method "${words[@]}" "${limit[@]}"
  done
  for strategy in automatic semi_sparse csf fused; do
    too_long tucker long.tns --ranks 2,2,2 --strategy $strategy "${limit[@]}"
  done
  ((${#limit[@]})) || too_long info long.tns --processes 2,8
done
for dims in 18446744073709551615x3x2 9223372036854775809x3x2 4294967297x4294967297x9; do
  quickly 0 generate --dims $dims --nnz 5 -o long.tns
  check 'five nonzeros' test "$(grep -vc '#' long.tns)" = 5
done
finish
