# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# test_two_commands.sh SOURCE SCRATCH_FOLDER ARGUMENT...: after README's first command, the second is
# configured as it is alone. Copies of the scripts run as far as CMake configures; the arguments are
# what bootstrap.sh prints there.
set -euo pipefail

source=$1 scratch=$2
shift 2
rm -rf "$scratch"
mkdir -p "$scratch/bin"
for path in "$source"/*; do
  name=$(basename "$path")
  case $name in
    build*) ;;
    cmake) cp -r "$path" "$scratch" ;;
    *) ln -s "$path" "$scratch/$name" ;;
  esac
done
printf '%s\n' '#!/usr/bin/env bash' "printf '%s\n'$(printf ' %q' "$@")" > "$scratch/cmake/bootstrap.sh"
cat > "$scratch/bin/cmake" << END
#!/usr/bin/env bash
if [[ \$1 == --build ]]; then exit 3; fi
exec $(command -v cmake) "\$@"
END
chmod +x "$scratch/bin/cmake" "$scratch/cmake/bootstrap.sh"
export PATH=$scratch/bin:$PATH

# configured COMMAND NAME: the command is run up to its build; NAME holds the options that CMake then has.
configured() {
  local status=0
  "$scratch/cmake/$1" > "$scratch/log" 2>&1 || status=$?
  if [[ $status != 3 ]]; then
    echo "FAILED: $1 did not come to its build:"
    cat "$scratch/log"
    exit 1
  fi
  grep -E '^[^#/].*=' "$scratch/build/CMakeCache.txt" > "$scratch/$2"
}

configured test.sh alone
configured demo.sh demonstration
configured test.sh after
if cmp -s "$scratch/alone" "$scratch/demonstration"; then
  echo "FAILED: the demonstration sets no options, and nothing was tested"
  exit 1
fi
diff "$scratch/alone" "$scratch/after"
