# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Tables as tensors: what `convert` reads of CSV files, what it says, and what it refuses.
source "$(dirname "$0")/support.sh" "$@"

# holds FILE LINE...: the file has these lines and no others.
holds() {
  local file=$1
  shift
  checks=$((checks + 1))
  printf '%s\n' "$@" | cmp -s - "$file" || failed "$file is $(head -c 300 "$file" 2>&1), expected $*"
}
notes() { check "standard error says '$1'" grep -qF -- "$1" err; }
silent() { check 'nothing on standard error' test ! -s err; }

# Names become indices in the order of their bytes, numbers in theirs; values of equal keys are added.
cat > x.csv << 'END'
user,item,hour,amount
bob,tea,9,1.5
ann,"tea, green",10,2
bob,tea,9,0.25
ann,tea,101,-4e-1
END
run 0 convert x.csv x.tns --columns user,item,hour --value amount --labels names
says "x.tns: 2 x 2 x 3, 3 nonzeros, from x.csv (CSV, separator ',' by the header)"
says 'mode 0: user, 2 names'
notes '1 nonzeros were added to others of the same coordinates'
holds x.tns '1 1 3 -0.4' '1 2 2 2' '2 1 1 1.75'
holds names/mode-0.txt ann bob
holds names/mode-1.txt tea 'tea, green'
holds names/mode-2.txt 9 10 101
holds names/modes.txt user item hour
run 0 convert x.csv y.tns --columns item,user
says 'y.tns: 2 x 2, 3 nonzeros'
silent # rows are counted, which is no adding
holds y.tns '1 1 1' '1 2 2' '2 1 1'
run 0 convert x.csv y.tns --columns user,item,hour --value amount --duplicates keep
says '4 nonzeros'

for way in 'mean 0.875' 'last 0.25' 'max 1.5' 'min 0.25'; do
  run 0 convert x.csv y.tns --columns user,item,hour --value amount --duplicates ${way% *}
  notes "1 nonzeros had the coordinates of others; each value is the ${way% *} of its nonzeros"
  holds y.tns '1 1 3 -0.4' '1 2 2 2' "2 1 1 ${way#* }"
done
printf '1 1 3\n2 1 5\n1 1 4\n' > again.tns
run 0 convert again.tns y.tns --duplicates mean
holds y.tns '1 1 3.5' '2 1 5'

# A folder of labels that exists is used again; labels of more modes would stay in it.
run 0 convert x.csv y.tns --columns item,user --labels pair
holds pair/modes.txt item user
run 0 convert x.csv y.tns --columns user,item --labels pair
holds pair/modes.txt user item
refuses 'names has mode-2.txt, which is of another tensor' \
  convert x.csv z.tns --columns user,item --labels names
check_not 'no tensor without its labels' test -e z.tns
holds names/mode-2.txt 9 10 101

# The indices of another table's names; rows with others are left out.
printf 'user,item\nann,milk\neve,tea\nann,tea\n' > next.csv
mkdir pairs && cp names/mode-[01].txt pairs
run 0 convert next.csv y.tns --columns user,item --names pairs --labels next
notes "1 row has a name that --names has not in 'user' and was left out, at next.csv:3"
notes "1 row has a name that --names has not in 'item' and was left out, at next.csv:2"
says 'y.tns: 2 x 2, 1 nonzeros'
holds next/mode-0.txt ann bob
mkdir same && printf 'ann\nann\n' > same/mode-0.txt
refuses "--names has 'ann' twice in a mode" convert x.csv z.tns --columns user --names same
printf 'ann\nbob\n' > same/mode-0.txt
refuses 'has no names of mode 1' convert x.csv z.tns --columns user,item --names same

# Labels that convert wrote are found again. Line ends count as blanks in names; other characters stay.
printf 'a,n\n"x\ty",1\n"p\nq",2\np q,4\n\xEF\xBB\xBFz,8\n' > odd.csv
run 0 convert odd.csv x1.tns --columns a --value n --labels odd
holds x1.tns '1 6' '2 1' '3 8'
holds odd/mode-0.txt $'p q' $'x\ty' $'\xEF\xBB\xBFz'
printf 'a\n\xEF\xBB\xBFz\n' > mark.csv
run 0 convert mark.csv y.tns --columns a --labels mark
for names in odd mark; do
  run 0 convert $names.csv y.tns --columns a --names $names
  silent
done
run 0 convert x1.tns y.tns --names odd --min-slice 1 --labels odd-kept
same odd/mode-0.txt odd-kept/mode-0.txt

# One table as several programs write it: the same bytes.
sed 's/$/\r/' x.csv > crlf.csv
sed '1s/^/\xEF\xBB\xBF/' x.csv > bom.csv
head -c -1 x.csv > cut.csv
sed '2s/.*/"bob","tea","9","1.5"/; 4s/.*/"bob","tea","9","0.25"/; 1s/[a-z]*/"&"/g' x.csv > quoted.csv
check 'the header is quoted' grep -qxF '"user","item","hour","amount"' quoted.csv
sed '2i\\n' x.csv > empty-lines.csv
sed '1s/,/ , /g' x.csv > blanks.csv
gzip -c crlf.csv > x.csv.gz
for file in crlf.csv bom.csv cut.csv quoted.csv empty-lines.csv blanks.csv x.csv.gz; do
  run 0 convert "$file" y.tns --columns user,item,hour --value amount --labels again
  same x.tns y.tns
  for name in mode-0 mode-1 mode-2 modes; do same names/$name.txt again/$name.txt; done
done
run 0 convert - y.tns --columns user,item,hour --value amount < x.csv
same x.tns y.tns
for separator in ';' '|' tab; do
  byte=$separator
  [[ $separator == tab ]] && byte=$'\t'
  sed "s/,\([^ ]\)/$byte\1/g" x.csv > other.csv
  run 0 convert other.csv y.tns --columns user,item,hour --value amount --labels again
  same x.tns y.tns
  same names/mode-1.txt again/mode-1.txt
  says 'by the header'
  run 0 convert other.csv y.tns --columns user,item,hour --value amount --separator "$separator"
  same x.tns y.tns
done

# Quotation marks, separators and line ends in fields; blanks count in names; bytes of other encodings
# pass through.
printf 'a , "b" ,c\n"say ""hi""", x ,1\n"two\nlines",5" pipe,1\ncaf\xe9,"a,b",1\n"","",1\n' |
  sed '1s/.*/a,b,c/' > q.csv
run 0 convert q.csv q.tns --columns a,b --value c --labels q
holds q/mode-0.txt $'caf\xe9' 'say "hi"' 'two lines'
holds q/mode-1.txt ' x ' '5" pipe' 'a,b'
notes "1 row has no 'a' and was left out, at q.csv:6"
printf '"a","b,c",d\n1,2,3\n' > header.csv
run 0 convert header.csv h.tns --columns 'a,"b,c"' --value d
holds h.tns '1 1 3'
printf '7,x\n8,y\n' > bare.csv
run 0 convert bare.csv h.tns --columns 2 --value 1 --no-header
holds h.tns '1 7' '2 8'

# Rows with fields that are missing are left out, which is said with the place.
printf 'a,b,v\nx,y,1\n,y,2\nx,,3\nx,y,\nx,y,NA\nx\nz,y,5,,\n' > missing.csv
run 0 convert missing.csv m.tns --columns a,b --value v --labels m
holds m.tns '1 1 1' '2 1 5'
notes "1 row has no 'a' and was left out, at missing.csv:3"
notes "2 rows have no 'b' and were left out, the first at missing.csv:4"
notes "2 rows have no 'v' and were left out, the first at missing.csv:5"
printf 'a,b\n1,2\n1,2,3\n' > long.csv
refuses 'long.csv:3: the row has 3 fields, the header 2' convert long.csv y.tns --columns a,b

# Dates.
printf '%s\n' when,n 2024-03-01,1 2024-02-29T23:59:59.5+01:00,2 '2023-12-31 12:00,4' \
  2024-03-04T00:00Z,8 > dates.csv
run 0 convert dates.csv d.tns --columns when --value n --bin day --labels d
holds d/mode-0.txt 2023-12-31 2024-02-29 2024-03-01 2024-03-04
holds d.tns '1 4' '2 2' '3 1' '4 8'
run 0 convert dates.csv d.tns --columns when --value n --bin week --labels d
holds d/mode-0.txt 2023-12-25 2024-02-26 2024-03-04
holds d.tns '1 4' '2 3' '3 8'
says 'mode 0: when, 3 weeks from 2023-12-25 to 2024-03-04; 8 between have no rows'
run 0 convert dates.csv d.tns --columns when --value n --bin month --labels d
holds d/mode-0.txt 2023-12 2024-02 2024-03
holds d.tns '1 4' '2 2' '3 9'
says 'mode 0: when, 3 months from 2023-12 to 2024-03; 1 between have no rows'
mkdir months && printf '2024-03\n2024-02\n2023-12\nlater\n' > months/mode-0.txt
run 0 convert dates.csv d.tns --columns when --value n --bin month --names months
check 'names that are given need not be bins in order' grep -qx 'mode 0: when, 4 names' out
holds d.tns '# sporades dims: 4' '1 9' '2 2' '3 4'
run 0 convert dates.csv d.tns --columns when,n --bin when=year --labels d2
holds d2/mode-0.txt 2023 2024
holds d2/mode-1.txt 1 2 4 8
for date in 2024-02-30 2023-02-29 1900-02-29 2024-13-01 01/03/2024 20240301 2024-3-1 2024-03-01T25:00 \
  2024-03-01x 2024-03-01T12:00+1 2024-03 tomorrow; do
  printf 'a,when\nx,2024-01-01\nx,%s\n' "$date" > bad.csv
  refuses "bad.csv:3: column 'when': '$date' is no date as 2024-03-01" \
    convert bad.csv y.tns --columns a,when --bin day
  printf 'a,when\nx,%s\n' "$date" > bad.csv
  refuses "bad.csv:2: --bin day: no column has dates as 2024-03-01 or 2024-03-01T12:00; there are 'x', '$date'" \
    convert bad.csv y.tns --columns a,when --bin day
done
refuses '--bin hour: expected day, week, month or year' convert dates.csv y.tns --columns when --bin hour
refuses "'who' is none of --columns" convert dates.csv y.tns --columns when --bin who=day

# Values.
for value in 1,5 '"1,234.5"'; do
  printf 'a;v\n"x\ny";1\nx;%s\n' "$value" > comma.csv
  refuses "comma.csv:4: column 'v': '${value//\"/}' has a comma; numbers are written as 1234.5" \
    convert comma.csv y.tns --columns a --value v
done
for value in abc 1.5x 0x10 '$5' --; do
  printf 'a,v\nx,%s\n' "$value" > number.csv
  refuses "number.csv:2: column 'v': '$value' is not a number" convert number.csv y.tns --columns a --value v
done
printf 'a,v\nx,inf\n' > number.csv
refuses "number.csv:2: column 'v': 'inf' is not finite" convert number.csv y.tns --columns a --value v
printf 'a,v\nx,1e999\n' > number.csv
refuses "number.csv:2: column 'v': '1e999' is too large" convert number.csv y.tns --columns a --value v
printf 'a,v\nx, 2 \n' > number.csv
run 0 convert number.csv y.tns --columns a --value v
holds y.tns '1 2'

# What is no CSV, and columns that are not there; nothing is left behind.
refuses "--columns: x.csv has no column 'users'; with the separator ',' its columns are 'user', 'item', 'hour', 'amount'" \
  convert x.csv none.tns --columns users,item --labels none
refuses "--value: x.csv has no column 'Amount'" convert x.csv none.tns --columns user --value Amount
refuses "--columns has 'user' twice" convert x.csv none.tns --columns user,user
refuses "x.csv: a CSV file becomes a tensor with --columns, which names columns of it: 'user', 'item', 'hour', 'amount'" \
  convert x.csv none.tns
refuses '; `sporades convert --columns` makes a tensor of a CSV file' info x.csv
printf 'a,a\n1,2\n' > twice.csv
refuses "the header of twice.csv has 2 columns 'a'" convert twice.csv none.tns --columns a
printf 'a,b\n"x"y,1\n' > quote.csv
refuses "quote.csv:2: 'y' follows the quotation mark that ends field 1, which begins at quote.csv:2" \
  convert quote.csv none.tns --columns a,b --labels none
printf 'a,b\nx,"y\nz,1\n' > open.csv
refuses 'open.csv:2: a quotation mark begins a field here, and none ends it' \
  convert open.csv none.tns --columns a,b
printf 'a,b\rx,y\r' > mac.csv
refuses 'mac.csv:1: a carriage return inside a line; lines end in LF or CRLF' \
  convert mac.csv none.tns --columns a,b
printf '\xff\xfea\0,\0b\0' > utf16.csv
refuses 'utf16.csv: expected a CSV file, and this is UTF-16 text' convert utf16.csv none.tns --columns a,b
printf 'a,b\nx,\0y\n' > zero.csv
refuses 'zero.csv:2: a zero byte' convert zero.csv none.tns --columns a,b
printf 'a,b\nx,"1\n2\n3\0y"\n' > zero.csv
refuses 'zero.csv:4: a zero byte' convert zero.csv none.tns --columns a,b
printf "a\n" | gzip -nc | gzip -c > twice.csv.gz  # -n: a time could have a line end before the zero byte
refuses 'twice.csv.gz:1: a zero byte' convert twice.csv.gz none.tns --columns a
printf '"a\nb",1' > one.csv
run 0 convert one.csv y.tns --columns 1 --value 2 --no-header
holds y.tns '1 1'
printf 'a,v\nx,"\e[31mred\nline"\n' > red.csv
refuses "red.csv:2: column 'v': '?[31mred line' is not a number" \
  convert red.csv none.tns --columns a --value v
printf 'PK\3\4sheet' > sheet.csv
refuses 'sheet.csv: expected a CSV file, and this is a zip archive' convert sheet.csv none.tns --columns a
: > nothing.csv
refuses 'nothing.csv: the file is empty' convert nothing.csv none.tns --columns a
printf '\n\n' > lines.csv
refuses 'lines.csv: there is no line with text' convert lines.csv none.tns --columns a
printf 'a,b\n' > rows.csv
refuses 'rows.csv: there is no row' convert rows.csv none.tns --columns a,b
refuses '--labels x.csv is not a folder' convert x.csv none.tns --columns user --labels x.csv
check_not 'nothing was left behind' test -e none.tns -o -e none
refuses '--separator: x.tns is no CSV file' convert x.tns none.tns --separator ';'
refuses "--separator ';;': expected one character" convert x.csv none.tns --columns user --separator ';;'
refuses '--dims: x.csv is a CSV file' convert x.csv none.tns --columns user --dims 3

# A large file, across blocks of text, and memory.
awk 'BEGIN { print "a,b,text,n"; for (i = 0; i < 400000; ++i)
  printf "u%d,%d,\"%s\nend %d\",%d\n", i % 1000, i % 777, "some words that fill the blocks of the reader", i, i % 3 }' \
  > large.csv
run 0 convert large.csv l.tns --columns a,b --value n -q
check 'an empty output' test ! -s out
check 'the sum of the values' test "$(awk '{ s += $3 } END { print s }' l.tns)" = \
  "$(awk 'BEGIN { for (i = 0; i < 400000; ++i) s += i % 3; print s }')"
run 1 convert large.csv none.tns --columns a,text --memory 10M
notes 'the rows so far and their names need'
check 'the refusal names line and bytes' grep -Eq 'large.csv:[0-9]+: .* need [0-9.]+ MB, and may have 10.5 MB' err

# Values and slices of any tensor.
printf '1 1 3\n1 2 0\n2 1 -0.5\n4 3 7\n' > t.tns
run 0 convert t.tns y.tns --log1p
check 'log1p' test "$(sed -n 1p y.tns | cut -c1-10)" = '1 1 1.3862'
run 0 convert t.tns y.tns --binarize
holds y.tns '1 1 1' '1 2 0' '2 1 1' '4 3 1'
run 0 convert large.csv l.tns --columns a,b --value n --binarize
check 'zeros and ones' test "$(awk '{ print $3 }' l.tns | sort -u | tr '\n' ' ')" = '0 1 '
gunzip -c "$data/packages-small.tns.gz" > far.tns
run 0 convert far.tns near.spt --log1p
run 0 convert far.tns far.spt --log1p --memory 100K
same near.spt far.spt
printf '1 1 -1\n' > low.tns
refuses '--log1p: low.tns has the value -1' convert low.tns none.tns --log1p
refuses 'excludes' convert t.tns none.tns --log1p --binarize
# Slices lose nonzeros with others, until all that stay have two: rows 1 and 3, columns 1 and 2.
printf '1 1 1\n1 2 2\n3 1 3\n3 2 4\n3 4 5\n5 4 6\n5 5 7\n6 5 8\n' > s.tns
run 0 convert s.tns y.tns --min-slice 2 --labels kept
holds y.tns '1 1 1' '1 2 2' '2 1 3' '2 2 4'
holds kept/mode-0.txt 1 3
holds kept/mode-1.txt 1 2
says '4 nonzeros are in slices of fewer than 2, and left out'
mkdir all && printf '%s\n' a b c d e f > all/mode-0.txt && printf '%s\n' v w x y z > all/mode-1.txt &&
  printf 'row\ncolumn\n' > all/modes.txt
run 0 convert s.tns y.tns --min-slice 2 --names all --labels kept
holds kept/mode-0.txt a c
holds kept/modes.txt row column
refuses '--min-slice 9: no nonzero is left of 6 x 5' convert s.tns none.tns --min-slice 9
refuses '--labels: s.tns has no names' convert s.tns none.tns --labels other
run 0 convert x.csv y.tns --columns user,item --min-slice 1 --labels small
holds small/mode-0.txt ann bob
refuses '--min-slice 2: no nonzero is left' convert x.csv none.tns --columns user,item,hour --min-slice 2
check_not 'nothing was left behind' test -e none.tns -o -e other

# The names of the modes, on screen, in the report and on the page; files that have other numbers.
run 0 cp-als x.tns --rank 1 --labels names --report r.json -o m.ktns
check 'headings' grep -Eq '^  mode 0: user +mode 1: item +mode 2: hour$' out
check 'the report' grep -q '"mode_names": \[' r.json
run 0 tucker x.tns --ranks 1,1,1 --labels names -o m.ttns
says 'mode 2: hour'
for model in m.ktns m.ttns; do
  run 0 view "$model" --labels names -o m.html
  for n in 0 1 2; do
    check "the page names mode $n" grep -q "Mode $n: <bdi>$(sed -n $((n + 1))p names/modes.txt)</bdi>" m.html
  done
done
printf 'user\nitem\n' > again/modes.txt
refuses '--labels: again/modes.txt has 2 lines, the tensor has 3 modes' view m.ktns --labels again
mkdir only && printf 'a\nb\n' > only/x.txt && cp names/modes.txt only
refuses '--labels only has 1 files, the tensor has 3 modes' view m.ktns --labels only
refuses 'are the same file' view m.ktns --labels names -o names/modes.txt

# A tensor that cannot be written leaves no labels.
ln -s /dev/full full.tns
if [[ -w /dev/full ]]; then
  run 1 convert x.csv full.tns --columns user --labels fresh
  check_not 'no labels without their tensor' test -e fresh
fi
no_litter
finish
