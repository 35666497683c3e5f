# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# The command gives the numbers of tests/data/expected.txt.
source "$(dirname "$0")/support.sh" "$@"

declare -A options=([cp-als]='--init random --tolerance 0 --rank'
  [cp-apr]='--method mu --tolerance 1e-4 --rank' [tucker]='--tolerance 0 --ranks')
while read -r method tensor ranks expected; do
  [[ $method && $method != '#'* && $tensor != */* ]] || continue
  numbers=(${expected% converged})
  # Runs that end by themselves would go on for longer.
  iterations=${numbers[-2]}
  [[ $expected == *converged ]] && iterations=$((iterations + 50))
  run 0 "$method" "$data/$tensor.tns.gz" ${options[$method]} "$ranks" --iterations "$iterations" \
    --report report.json
  for ((k = 0; k < ${#numbers[@]}; k += 2)); do
    check "$method of $tensor: ${numbers[k + 1]} after iteration ${numbers[k]}" awk \
      -v iteration="${numbers[k]}" -v expected="${numbers[k + 1]}" '
        $1 == "\"iteration\":" { at = $2 + 0 }
        at == iteration && ($1 == "\"fit\":" || $1 == "\"log_likelihood\":") {
          difference = ($2 + 0) / expected - 1
          found = difference < 1e-8 && difference > -1e-8
          exit
        }
        END { exit !found }' report.json
  done
  check "$method of $tensor has ${numbers[-2]} iterations" \
    test "$(grep -c '"iteration": ' report.json)" = "${numbers[-2]}"
done < "$data/expected.txt"
check 'all methods were tried' test "$checks" -gt 40
finish
