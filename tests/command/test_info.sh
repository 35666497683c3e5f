# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# info.
source "$(dirname "$0")/support.sh" "$@"

# numbers KEY: the report's values of this key, above those of "bytes", on one line. The report is
# the last that was printed.
numbers() { sed '/"bytes"/,$d' out | sed -n "s/^ *\"$1\": \([^,]*\),*$/\1/p" | paste -sd ' '; }

# reports KEY NUMBERS: the report has these, one a mode where the key is of a mode.
reports() { check "$1: $(numbers "$1")" test "$(numbers "$1")" = "$2"; }

# table MODE: the words a nonzero of this mode, and the smallest formats, as printed.
table() { sed -n '/^words a nonzero/,/^(/p' out | sed -n "s/^ *$1 //p" | tr -s ' '; }

run 0 generate --like uber --nnz 20000 -o a.tns
run 0 info a.tns
says '20000 nonzeros'
says '183 x 24 x 1140 x 1717'
for word in slices fibers longest coo permuted sorted csf automatic; do says "$word"; done
for choice in 'mttkrp    mode 3: sorted: ' 'phi       mode 3: ' 'spttm     mode 0: lanes: ' \
  'sptv      mode 1: hocfs: ' 'ttm_chain mode 2: '; do
  says "$choice"
done
says 'fibers hold 1.02 nonzeros'
check 'the backend' grep -qE 'buffers on (openmp|serial|threads) at rank 16:$' out
run 0 convert a.tns a.spt
run 0 info a.spt --json
says '"reason": "'
for key in file order dims nnz density modes slices slice_mean slice_max fibers fiber_mean \
  fiber_max automatic mttkrp phi spttm sptv ttm_chain strategy bytes coo csf; do
  says "\"$key\": "
done
says '"nnz": 20000'
# 2 x 3 x 2 with nonzeros (0,0,0) (0,0,1) (0,2,0) (1,0,0): everything can be counted by hand.
printf '1 1 1 1\n1 1 2 2\n1 3 1 2\n2 1 1 4\n' > hand.tns
run 0 info hand.tns --json
says '"norm": 5.0'
says '"least": 1.0'
says '"greatest": 4.0'
reports slices '2 2 2'
reports slice_max '3 3 3'
reports fibers '3 3 3'
reports fiber_max '2 2 2'
check 'density' grep -q '"density": 0.3333' out
# The linear order takes ceil(log2 I) bits a mode: 1 + 2 + 1, in one word beside a value; two words
# past 64 bits, and none past 128. parts: what a tensor of one part keeps to find its rows.
order() { tr -d ' \n' < out | grep -o '"linear_order":{[^}]*}'; }
alto_bytes() { sed -n 's/^ *"alto": \([0-9]*\).*/\1/p' out; }
is() { test "$1" = "$2"; }
check 'bits of the linear order' is "$(order)" '"linear_order":{"mode_bits":[1,2,1],"bits":4,"words":1}'
parts=$(($(alto_bytes) - 4 * 16))
run 0 info hand.tns
says "linear order of all modes: 1 + 2 + 1 = 4 bits, one word a nonzero, $((4 * 16 + parts)) bytes"
check 'its bytes are among the formats' grep -qE '^  alto +[0-9]+  ' out
run 0 info hand.tns --dims 1000000000x1000000000x1000000000 --json
check 'two words past 64 bits' is "$(order)" '"linear_order":{"mode_bits":[30,30,30],"bits":90,"words":2}'
run 0 generate --dims 4294967297x3 --nnz 50 --seed 1 -o long.tns
run 0 info long.tns --json
check 'bits of a long mode' is "$(order)" '"linear_order":{"mode_bits":[33,2],"bits":35,"words":1}'
printf '1 1 1 1 1 1\n3 2 4 1 1 2\n' > wide.tns
run 0 info wide.tns --dims 4294967296x4294967296x4294967296x4294967296x1
says 'linear order of all modes: 32 + 32 + 32 + 32 + 0 = 128 bits, two words a nonzero, '
check 'rows that hold nothing take nothing' test "$(sed -n 's/^  alto *\([0-9]*\).*/\1/p' out)" -lt 1000
run 0 info wide.tns --dims 4294967296x4294967296x4294967296x4294967296x2
says '32 + 32 + 32 + 32 + 1 = 129 bits, more than its 128: there is no `alto`'
check_not 'nor has it bytes' grep -qE '^  alto' out

# Words of storage. They were counted by hand: a word is an index, a position or a value.
# The tensor of Yang, Li & Li, 2019. Its fibers along modes 0, 1 and 2 are 17, 12 and 13, its slices
# 3, 5 and 4. HOCFS for products on mode n counts the slices of mode n + 1.
cat > paper.tns << 'END'
1 1 1 3
1 1 2 1
1 2 2 9
1 3 2 7
1 3 3 3
1 4 3 5
1 4 4 8
1 5 1 2
3 1 3 4
3 2 4 7
3 3 1 5
3 3 4 2
3 4 2 1
3 4 3 6
4 1 2 7
4 1 4 8
4 2 1 3
4 3 3 2
4 3 4 1
4 5 3 6
4 5 4 5
END
run 0 info paper.tns --report paper.json
says 'words a nonzero in the formats for products on a mode:'
check 'formats' grep -qE '^mode +coo +permuted +hocoo +hocsr +cfb +hocfs +hierarchical +smallest$' out
check 'mode 0' test "$(table 0)" = ' 4 7 4 2.952 3.619 4.095 4.476 hocsr'
check 'mode 1' test "$(table 1)" = ' 4 7 4 2.762 3.143 3.524 3.762 hocsr'
check 'mode 2' test "$(table 2)" = ' 4 7 4 2.952 3.238 3.524 3.905 hocsr'
says 'break even: coo and dense at density 0.25, permuted and dense at density 0.1429'
run 0 info paper.tns --json
same out paper.json
reports length '4 5 4'
reports slices '3 5 4'
reports fibers '17 12 13'
reports coo '84 84 84'
reports permuted '147 147 147'
reports hocoo '84 84 84'
reports hocsr '62 58 62'
reports cfb '76 66 68'
reports hocfs '86 74 74'
reports hierarchical '94 79 82'
# A dense array takes 80 words: as many as coo with 80 / 4 nonzeros and permuted with 80 / 7.
reports density '0.2625 0.25 0.14285714285714285'
reports nonzeros '20 11'
between() { tr -d ' \n' < out | grep -oE '"formats":\["[a-z]+","[a-z]+"\]' | paste -sd ' '; }
check 'between these formats' test "$(between)" = \
  '"formats":["coo","dense"] "formats":["permuted","dense"]'

# Order 4. HOCFS counts what differs of the first one, two and three indices of the cyclic order:
# 3 + 4 + 5 nodes for mode 0, then 2 + 5 + 5, 4 + 4 + 5, 2 + 4 + 4.
printf '1 1 1 1 1\n1 1 1 2 1\n1 2 2 1 1\n2 2 1 3 1\n2 3 2 4 1\n' > four.tns
run 0 info four.tns --json
reports length '2 3 2 4'
reports slices '2 3 2 4'
reports slice_max '3 2 3 2'
reports fibers '5 5 5 4'
reports fiber_max '1 1 1 2'
reports coo '25 25 25 25'
reports permuted '45 45 45 45'
reports hocoo '25 25 25 25'
reports hocsr '34 26 34 22'
reports cfb '20 20 20 18'
reports hocfs '34 34 36 30'
reports hierarchical '31 31 31 27'
reports nonzeros '9 5'

# Order 2: fibers are slices, and count once. The smallest is all that are as small.
printf '1 1 1\n1 3 1\n1 4 1\n2 3 1\n' > two.tns
run 0 info two.tns --dims 3x4
check 'three are the smallest' test "$(table 0)" = ' 3 5 3 3 3.5 3.5 3.75 coo, hocoo, hocsr'
run 0 info two.tns --dims 3x4 --json
reports slices '2 3'
reports fibers '3 2'
reports coo '12 12'
reports permuted '20 20'
reports hocoo '12 12'
reports hocsr '12 11'
reports cfb '14 12'
reports hocfs '14 12'
reports hierarchical '15 13'
reports nonzeros '4 2'

# Order 1: one fiber, and no other index.
printf '2 1.5\n3 2\n5 1\n' > one.tns
run 0 info one.tns --json
reports length 5
reports slices 3
reports fibers 1
reports coo 6
reports permuted 9
reports hocoo 6
reports hocsr 7
reports cfb 8
reports hocfs 6
reports hierarchical 8
reports nonzeros '2 1'

# No nonzeros: there are no words a nonzero.
printf '%%%%MatrixMarket matrix coordinate real general\n3 4 0\n' > empty.mtx
run 0 info empty.mtx
check_not 'no table' grep -q 'words a nonzero' out
run 0 info empty.mtx --json
reports slices '0 0'
reports fibers '0 0'
reports coo '0 0'
reports hocsr '4 3'
reports hierarchical '1 1'

# HOCSR is exact up to 2^64 - 1 words, and a double past them, which 2^64 - 1 rows are, too, with
# their nonzeros.
run 0 info two.tns --dims 3x18446744073709551607 --json
reports hocsr '18446744073709551615 11'
run 0 info two.tns --dims 3x18446744073709551608 --json
reports hocsr '1.8446744073709552e+19 11'
run 0 info hand.tns --dims 2x4294967295x4294967297 --json
reports hocsr '1.8446744073709552e+19 8589934602 8589934598'
run 0 info hand.tns --dims 2x4294967295x4294967296 --json
reports hocsr '18446744069414584328 8589934600 8589934598'
run 0 info wide.tns --dims 4294967296x4294967296x4294967296x4294967296x1 --json
reports hocsr "7.922816251426434e+28 7.922816251426434e+28 7.922816251426434e+28 \
7.922816251426434e+28 3.402823669209385e+38"
says '"nonzeros": 5.671372782015641e+37'

refuses 'are the same file' info two.tns --report two.tns
refuses 'there is no folder' info two.tns --report no/report.json

# What an iteration of cp-als is expected to send, hold and take.
run 0 info a.tns --processes 1,8,65536 --rank 4 --seconds 0.5 --latency 1e-5 --bandwidth 1e9
says 'an iteration of cp-als --rank 4 --precision double'
says 'mode 3: rows in order: '
says 'one process takes 0.5 s (--seconds); a message 1e-05 s and a second for 1e+09 bytes'
check 'one process sends nothing' grep -qE '^ +1 +20000 .* 0 +0 +0 0.00e\+00 s 5.00e-01 s$' out
check 'more processes send more' test "$(sed -n 's/ .B / /; s/^ *65536 //p' out | awk '{print $3}')" -gt \
  "$(sed -n 's/ .B / /; s/^ *8 //p' out | awk '{print $3}')"
run 0 info hand.tns --processes 2 --strategy alto --precision float
says 'mode 0: one copy in linear order: asked for'
says 'one process takes '
refuses '65537 is more than 65536' info a.tns --processes 65537
refuses 'strategy csf works on one process' info a.tns --processes 2 --strategy csf --seconds 1
refuses 'requires --processes' info a.tns --precision float
refuses 'excludes --processes' info a.tns --processes 2 --json

no_litter
finish
