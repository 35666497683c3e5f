# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Pages of models: what they show, that they stand alone, and what is refused.
source "$(dirname "$0")/support.sh" "$@"

count() { grep -o -- "$1" "$page" | wc -l; }
has() { check "$page has '$1'" grep -qF -- "$1" "$page"; }
has_not() { check_not "$page has no '$1'" grep -qF -- "$1" "$page"; }

# sound PAGE [FOLDER]: the page is well-formed XML, its elements are those of HTML, it refers to
# nothing but itself, and it has every name of the folder's files as it is.
cat > sound.py << 'PY'
import sys, pathlib, html.parser, xml.etree.ElementTree as xml
page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
root = xml.fromstring(page)
ids = [e.get("id") for e in root.iter() if e.get("id")]
assert len(ids) == len(set(ids)), "ids differ"
assert "style" in {e.tag for e in root.iter()} and not {"script", "link", "img"} & {e.tag for e in root.iter()}
for e in root.iter():
    for key, value in e.attrib.items():
        assert key != "src" and not key.startswith("on"), (e.tag, key)
        assert key != "href" or value[1:] in ids and value[0] == "#", value
    assert e.tag != "svg" or e.get("aria-label"), "drawings have words"
assert "url(" not in page and "@import" not in page and "://" not in page
class Names(html.parser.HTMLParser):
    shown, name, opened = set(), None, []
    def handle_starttag(self, tag, attributes):
        if tag != "meta": self.opened.append(tag)
        if tag == "bdi": self.name = ""
    def handle_startendtag(self, tag, attributes): pass
    def handle_data(self, data):
        if self.name is not None: self.name += data
    def handle_endtag(self, tag):
        assert self.opened.pop() == tag, tag
        if tag == "bdi": self.shown.add(self.name); self.name = None
names = Names()
names.feed(page)
assert names.opened == []
for folder in sys.argv[2:]:
    for file in pathlib.Path(folder).iterdir():
        for name in file.read_text(encoding="utf-8").splitlines():
            assert name in names.shown, name
PY
sound() {
  page=$1
  command -v python3 > /dev/null || return 0
  check "$page is sound" python3 sound.py "$@"
}

# A model by hand: the weights 4 and 2, both signs, and names that a page could garble.
cat > m.ktns << 'END'
ktensor
3
5 4 3
2
4 2
matrix
2
5 2
1 0
-0.5 0.25
0.25 0
0.125 0
0.0625 1
matrix
2
4 2
0.5 -1
0.5 -0.5
0.5 -0.25
0.25 -0.125
matrix
2
3 2
0 1
1 2
0.5 0
END
mkdir names
long=$(printf 'a name of %03d hundred letters, ' {1..10})
long=${long:0:299}.
printf '%s\n' '<b>bold</b> & "quoted" it'\''s &lt;' "$long" 'Ἑλλάς και αλφάβητο' '张量分解' \
  '</th></table><script>alert(1)</script>' > names/mode-0.txt
printf '%s\n' 'مرحبا بالعالم' '🦀👩‍👩‍👧' '  two blanks  inside' '%s {} \n' > names/mode-1.txt
printf '2000\n2001\n2003\n' > names/mode-2.txt
run 0 view m.ktns --labels names
says 'm.html: CP model, 5 x 4 x 3, rank 2, from m.ktns'
sound m.html names
has '<bdi>&lt;b&gt;bold&lt;/b&gt; &amp; &quot;quoted&quot; it&#39;s &amp;lt;</bdi>'
has "<bdi>$long</bdi>"
check 'which has 300 letters' test ${#long} = 300
for name in 'Ἑλλάς και αλφάβητο' '张量分解' 'مرحبا بالعالم' '🦀👩‍👩‍👧' '  two blanks  inside' '%s {} \n'; do
  has "<dt><bdi>$name</bdi></dt>"
done
has_not '<script'
has_not '<b>bold'
has '<meta charset="utf-8"/>'
has '<html lang="en">'
has 'name="viewport"'
has '@media print'
has 'prefers-color-scheme: dark'

# Two rows of three panels. The first panel's five bars lie between -0.5 and 1.
check 'two components' test "$(count '<section class="row" id="c[12]">')" = 2
check 'six panels' test "$(count '<figure class="panel">')" = 6
check 'two weights at the side' test "$(count '<p>weight [24]\.00</p>')" = 2
has '</bdi></dt><dd><i style="margin-left:33.33%;width:66.67%"></i></dd><dd>1.00</dd>'
has '</bdi></dt><dd><i class="minus" style="width:33.33%"></i></dd><dd>-0.500</dd>'
has '</bdi></dt><dd><i style="margin-left:33.33%;width:16.67%"></i></dd><dd>0.250</dd>'
has '</bdi></dt><dd><i style="margin-left:33.33%;width:4.17%"></i></dd><dd>0.0625</dd>'
has '<i style="width:100.00%"></i></td><td>4.00</td>'
has '<i style="width:50.00%"></i></td><td>2.00</td>'
# The second mode's bars of the second component all run left, from the right edge.
has '<i class="minus" style="width:100.00%"></i></dd><dd>-1.00</dd>'
has '<i class="minus" style="margin-left:75.00%;width:25.00%"></i></dd><dd>-0.250</dd>'
# Entries of 0 are not named: 5 + 2, 4 + 4 and 2 + 2 bars.
check 'nineteen bars' test "$(count '<dt>')" = 19
check 'two rows of weights' test "$(count '<tr><th>')" = 2
has '<b>Mode 0:</b> 5 entries, strongest first.'
has '<b>Mode 0:</b> the 2 of 5 above 0.1% of the strongest.'
# The third mode is years: 2001 lies at a third of the way to 2003.
check 'two lines and an example' test "$(count '<path class="line"')" = 3
has 'd="M0 100L333 0L1000 50"/><path class="dot" d="M333 0h0"/>'
has 'd="M0 50L333 0L1000 100"/>'
has 'aria-label="Line of 3 entries, from 2000 to 2003; the strongest is 2001 with 1.00"'
has '<b>Mode 2:</b> all 3, and the 2 above 0.1% of the strongest.'
has 'A line shows a mode'
has_not 'A profile shows'

# Without names there are indices, and no guess of time; --lines says what is one.
run 0 view m.ktns -o plain.html
sound plain.html
has '<dt><bdi>5</bdi></dt><dd><i style="width:100.00%"></i></dd><dd>1.00</dd>'
has_not '<path class="line"'
run 0 view m.ktns -o plain.html --lines 0,2
sound plain.html
check 'four lines and an example' test "$(count '<path class="line"')" = 5
has 'd="M0 50L500 0L1000 100"/>'
run 0 view m.ktns --labels names -o plain.html --lines none
sound plain.html names
has_not '<path class="line"'
refuses '--lines 3: the model has modes 0 to 2' view m.ktns --lines 3
refuses "--lines 1,x: expected modes, which count from 0, as 1,3, found 'x'" view m.ktns --lines 1,x
refuses '--lines -1' view m.ktns --lines=-1

# Names that are times, and some that are not.
times_model() { # ROWS
  printf 'ktensor\n1\n%d\n1\n1\nmatrix\n2\n%d 1\n' "$1" "$1"
  seq "$1"
}
mkdir times
is_time() { # EXPECTED NAME...
  local expected=$1
  shift
  printf '%s\n' "$@" > times/mode-0.txt
  times_model $# > times.ktns
  run 0 view times.ktns --labels times
  page=times.html
  check "$1 ... ${*: -1}: $expected" test "$(count '<path class="line"')" = "$([[ $expected == line ]] && echo 2 || echo 0)"
}
is_time line 1791 1792 1797
is_time line 2014-01 2014-02 2015-01
is_time line 2014-01-31 2014-02-01 2015-01-01
is_time line 20140131 20140201 20150101
is_time line 4/9/2014 4/10/2014 12/1/2014
is_time line 9.4.2014 31.10.2014 1.12.2014
is_time line '2014-01-31 08:00' '2014-01-31 09:30' '2014-02-01 00:00'
is_time line 2014-01-31T08:00:00.25Z 2014-01-31T08:00:00.5Z 2014-02-01T00:00:00Z
is_time line 8:30 9:00 10:15
is_time line {0..23}
is_time line {01..24}
is_time line Jan Feb March Dec
is_time line january february march april may
is_time line Mon Tue Wed Thu Fri Sat Sun
is_time line Sunday Monday Tuesday
is_time bars 1792 1791 1797
is_time bars 1791 1791 1797
is_time bars 1791 1792
is_time bars 1 2 3 4 5
is_time bars {0..24}
is_time bars 2014-01 2014-02 2014
is_time bars 2014-13 2014-14 2014-15
is_time bars 2014-01-31x 2014-02-01x 2015-01-01x
is_time bars Jan Feb Mat
is_time bars Ja Fe Ma
is_time bars a b c
# They lie where the calendar has them: of 366 days of 2012, 31 and 60 have passed.
is_time line 2012-01-01 2012-02-01 2012-03-01 2013-01-01
has 'd="M0 75L85 50L164 25L1000 0"/>'

# --top and --components: the strongest, and how many are left out.
run 0 view m.ktns --labels names --top 2 --components 1 -o few.html
sound few.html
has '<section class="row" id="c1">'
has_not 'id="c2"'
has '5 × 4 × 3: 2 components. Left out: 1 of smaller weight.'
has '<b>Mode 0:</b> the 2 strongest of 5.'
check 'no more bars than asked for' test "$(count '<dt>')" = 6
sed '5s/.*/-1 -8/' m.ktns > minus.ktns
run 0 view minus.ktns --components 1
sound minus.html
has 'id="c2"'
has_not 'id="c1"'
has '<p>weight -8.00</p><i class="minus"'
refuses "--top: '0'" view m.ktns --top 0
refuses "--components: '0'" view m.ktns --components 0

# A long mode has a profile, each step of which is its strongest entry, and the page stays small.
awk 'BEGIN {
  n = 200000
  printf "ktensor\n2\n%d 1\n2\n1 1\nmatrix\n2\n%d 2\n", n, n
  for (i = 1; i <= n; i++) print (i == 150000 ? 1 : i == 3 ? -1 : 0), (i * 7919) % 1000 / 1000
  print "matrix\n2\n1 2\n1 1"
}' > long.ktns
run 0 view long.ktns
sound long.html
has 'all 200,000, 1,667 a step, and the 2 above 0.1% of the strongest.'
has 'all 200,000, 1,667 a step, and the 10 strongest.'
has 'd="M0 50V100h1V50h88V0h1V50h30V50z"'
check 'the page is small' test "$(wc -c < long.html)" -lt 40000
run 0 view long.ktns --lines 0
sound long.html
has 'all 200,000, 500 a point, and the 3 strongest.'
has '<path class="dot" d="M0 100h0"/>'

# Any order; modes of 1; none; extreme numbers; names that are no UTF-8, or empty.
model_of_order() { # ORDER
  printf 'ktensor\n%d\n' "$1"
  for ((n = 0; n < $1; n++)); do printf '%d ' $((n % 3 + 1)); done
  printf '\n3\n3 0 1e-300\n'
  for ((n = 0; n < $1; n++)); do
    printf 'matrix\n2\n%d 3\n' $((n % 3 + 1))
    printf '%s\n' '1e300 0 4.9e-324' '-1e-300 0 -4.9e-324' '1.7e308 0 0' | head -$((n % 3 + 1))
  done
}
for order in 1 2 7; do
  model_of_order $order > order.ktns
  run 0 view order.ktns
  sound order.html
  check "panels of order $order" test "$(count '<figure class="panel">')" = $((3 * order))
  check_not "numbers of order $order" grep -qiE 'nan|inf[^o]' order.html
done
has 'all entries are 0.'
has '1.70e+308'
has '<p>weight 0</p></div>'
has '<i class="minus" style="width:50.00%"></i></dd><dd>-4.94e-324</dd>'
printf 'ktensor\n2\n0 2\n1\n1\nmatrix\n2\n0 1\nmatrix\n2\n2 1\n1\n1\n' > none.ktns
run 0 view none.ktns
sound none.html
has 'no entries.'
mkdir bytes
printf 'caf\xe9 \xf0\x9f\n\n\xed\xa0\x80tab\there\n' > bytes/mode-0.txt
times_model 3 > bytes.ktns
run 0 view bytes.ktns --labels bytes
sound bytes.html
has '<bdi>caf� ��</bdi>'
has '<bdi>(2)</bdi>'
has '<bdi>���tab?here</bdi>'
cp m.ktns '<i>"&.ktns'
run 0 view '<i>"&.ktns' -q
sound '<i>"&.html'
has '<title>&lt;i&gt;&quot;&amp;.ktns</title>'
check 'it is quiet' test ! -s out

# A Tucker model by hand: its core in percent of the largest, slice by slice, and its columns.
cat > t.ttns << 'END'
ttensor
3
3 4 2
tensor
3
2 3 2
8
-4
0
0.02
2
0
0
0
0
0
0
-0.96
matrix
2
3 2
1 0
0 1
0 -0.5
matrix
2
4 3
1 0 0
0 1 0
0 0 1
0 0 0
matrix
2
2 2
1 0
0 1
END
run 0 view t.ttns
says 't.html: Tucker model, 3 x 4 x 2, core 2 x 3 x 2, from t.ttns'
sound t.html
check 'two slices' test "$(count '<figure class="map">')" = 2
has '<figcaption>Column 2 of mode 2</figcaption>'
has '<tr><th>1</th><td style="--part:1.00">100</td><td>·</td><td style="--part:0.25">25</td></tr>'
has '<tr><th>2</th><td class="minus" style="--part:0.50">-50</td><td>·</td><td>·</td></tr>'
has '<tr><th>2</th><td>·</td><td>·</td><td class="minus" style="--part:0.12">-12</td></tr>'
has 'in percent of the largest magnitude, 8.00.'
has 'Downwards are the columns of mode 0, across those of mode 1.'
has '<tr><th>1, 1, 1</th><td><i style="margin-left:33.33%;width:66.67%"></i></td><td>8.00</td><td><bdi>1</bdi> · <bdi>1</bdi> · <bdi>1</bdi></td></tr>'
has '<tr><th>2, 3, 2</th><td><i class="minus" style="margin-left:25.33%;width:8.00%"></i></td><td>-0.960</td><td><bdi>2</bdi> · <bdi>3</bdi> · <bdi>2</bdi></td></tr>'
check 'a panel for each of seven columns' test "$(count '<figure class="panel">')" = 7
has '<b>Column 1:</b> the strongest of 3; no other reaches 0.1% of it.'
has '<b>Column 2:</b> the 2 of 3 above 0.1% of the strongest.'
run 0 view t.ttns --components 2 --top 1
sound t.html
check 'two columns of each mode' test "$(count '<figure class="panel">')" = 6
has '<tr><td></td><th>1</th><th>3</th></tr>'
has '3 columns of 4 entries. Left out: 1 of smaller entries in the core.'
for ranks in 1 3 2,2 2,2,2,2 2,1,2,2,1,2,2 2,2,2,2,2,2; do
  IFS=, read -ra all <<< "$ranks"
  awk -v ranks="${all[*]}" 'BEGIN {
    order = split(ranks, R, " ")
    print "ttensor\n" order
    for (size = n = 1; n <= order; n++) { printf "%d ", R[n]; size *= R[n] }
    print "\ntensor\n" order "\n" ranks
    for (g = 1; g <= size; g++) print g * (g % 2 ? 1 : -1)
    for (n = 1; n <= order; n++) {
      print "matrix\n2\n" R[n], R[n]
      for (i = 1; i <= R[n]; i++) for (j = 1; j <= R[n]; j++) printf "%d%s", i == j, j < R[n] ? " " : "\n"
    }
  }' > order.ttns
  run 0 view order.ttns -o "ranks-$ranks.html"
  sound "ranks-$ranks.html"
  columns=0 size=1
  for rank in "${all[@]}"; do columns=$((columns + rank)) size=$((size * rank)); done
  check "panels of ranks $ranks" test "$(count '<figure class="panel">')" = $columns
  slices=$((size / 4 > 0 && ${#all[@]} > 1 ? size / 4 : 1))
  check "slices of ranks $ranks" test "$(count '<figure class="map">')" = $((slices < 12 ? slices : 12))
done
# The entries grow from the first to the last, so that the last slices of 16 are drawn.
has 'The 12 of 16 slices with the largest entries are drawn.'
for slice in '1, 1, 2, 1' '2, 2, 2, 2'; do has "<figcaption>↓, →, $slice</figcaption>"; done
for slice in '1, 1, 1, 1' '2, 2, 1, 1'; do has_not "<figcaption>↓, →, $slice</figcaption>"; done
page=ranks-2,1,2,2,1,2,2.html
has 'core of 2 × 1 × 2 × 2 × 1 × 2 × 2'
has '<figcaption>↓, 1, →, 2, 1, 2, 2</figcaption>'

# Models of the command itself, and the same bytes again.
run 0 cp-apr "$data/police-deaths-3d.tns.gz" --rank 3 --iterations 3 --tolerance 0 -o police.ktns
run 0 view police.ktns --labels "$data/police-deaths-labels"
sound police.html
check 'its years are lines' test "$(count '<path class="line"')" = 4
check 'with ten, three and ten names a row' test "$(count '<dt>')" = 69
mv police.html before.html
run 0 view police.ktns --labels "$data/police-deaths-labels" -o police.html --kokkos-num-threads=1
same before.html police.html
run 0 view police.ktns --labels "$data/police-deaths-labels" -o /dev/stdout
same police.html out
last='view - < police.ktns'
"$sporades" view - --labels "$data/police-deaths-labels" -o piped.html < police.ktns > out 2> err
check 'a model from a pipe' test $? = 0
page=piped.html
has '<title>standard input</title>'
refuses 'name it with -o' view -
mkfifo pipe
refuses 'name it with -o' view pipe

# What is no model, and outputs that cannot be made: found before anything is written.
rm -f ./*.html
refuses 'MODEL' view
refuses 'absent.ktns' view absent.ktns
: > empty.ktns
refuses 'empty.ktns: the file is empty' view empty.ktns
printf '1 1 1 2.5\n' > x.tns
refuses 'x.tns:1: expected a model, which begins with "ktensor" or "ttensor", found "1"' view x.tns
gzip -k m.ktns
refuses 'is gzipped' view m.ktns.gz
head -12 m.ktns > cut.ktns
refuses 'cut.ktns:' view cut.ktns
sed '7s/2/nan/' m.ktns > nan.ktns
refuses 'nan.ktns:' view nan.ktns
refuses '--labels no_such is not a folder' view m.ktns --labels no_such
cp -r names wrong && echo 2004 >> wrong/mode-2.txt
refuses 'mode-2.txt has 4 lines, mode 2 of the tensor has length 3' view m.ktns --labels wrong
refuses 'no folder' view m.ktns -o no/m.html
refuses 'is a folder' view m.ktns -o names
refuses '-o -: give a file, or /dev/stdout' view m.ktns -o -
refuses 'are the same file' view m.ktns -o m.ktns
refuses 'are the same file' view m.ktns --labels names -o names/mode-0.txt
check 'nothing is written' test -z "$(find . -name '*.html')"
echo before > m.html
last='view m.ktns under ulimit -f'
(ulimit -f 2 && trap '' XFSZ && exec "$sporades" view m.ktns) > out 2> err
check 'a full disk is a failure while running' test $? = 1
check 'and said' grep -q '^sporades: error: .*m.html' err
check 'and leaves what was there' test "$(cat m.html)" = before
no_litter
finish
