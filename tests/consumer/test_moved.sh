# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# test_moved.sh PREFIX MOVED PATH...: a copy of the installation in PREFIX runs in MOVED, and names
# neither PREFIX nor any other of these paths of the machine that it was built on.
set -euo pipefail

prefix=$1 moved=$2
shift 2
unset LD_LIBRARY_PATH
rm -rf "$moved"
cp -a "$prefix" "$moved"
"$moved/bin/sporades" --version

readelf -d "$moved/bin/sporades" | grep -E 'R(UN)?PATH' | tee "$moved/run_path"
grep -qF '$ORIGIN' "$moved/run_path"
status=0
for path in "$prefix" "$@"; do
  while IFS= read -r file; do
    if grep -nF -- "$path" "$file"; then
      echo "FAILED: $file names $path"
      status=1
    fi
  done < <(find "$moved" -name '*.cmake' -o -name '*.hpp' -o -name run_path)
done
exit $status
