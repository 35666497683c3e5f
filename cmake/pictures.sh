#!/usr/bin/env bash
# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# pictures.sh: makes the pictures of README.md and perf/README.md and the pages beside the results
# anew: perf/results/*.png, README.md and inventory.md there, and the tables of perf/README.md and
# perf/results/tables.md. Needs the command sporades (cmake/build.sh), Python with matplotlib
# (/usr/bin/python3 of Debian has it as python3-matplotlib) and Chromium.
set -euo pipefail
cd "$(dirname "$0")/.."
# of rows that two files of one machine have, those of the later date count
results=(perf/results/{h200-two-tensors,h200,h200-more,xeon-two-tensors,xeon,xeon-ranks,xeon-sparten}.json)
papers=(perf/results/papers/*.json)
made=build/pictures
mkdir -p $made

python=${PYTHON:-python3}
"$python" perf/report "${results[@]}" --output $made/report.html --pictures $made
cp $made/portability.png perf/results/portability.png
"$python" perf/tables "${results[@]}" --summary --into perf/README.md
"$python" perf/tables "${results[@]}" --into perf/results/tables.md
"$python" perf/claims "${papers[@]}" "${results[@]}" > $made/claims.md
mv $made/claims.md perf/results/README.md
"$python" perf/report "${papers[@]}" --output $made/papers.html --inventory perf/results/inventory.md

build/bin/sporades cp-apr tests/data/packages-small.tns.gz --rank 6 --seed 300 --iterations 30 --quiet \
  -o $made/packages.ktns
build/bin/sporades view $made/packages.ktns --labels tests/data/labels --components 3 --top 5 \
  -o $made/packages.html
chromium --headless --no-sandbox --disable-gpu --no-first-run --hide-scrollbars --user-data-dir=$made/chromium \
  --window-size=1100,1000 --screenshot=perf/results/model.png "file://$PWD/$made/packages.html" > /dev/null 2>&1
rm -rf $made/chromium
ls perf/results/*.png
