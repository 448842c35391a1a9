#!/bin/sh
# Shows Poise at work on generated data: `demo.sh PROGRAM`.
set -eu
poise=$1
work=build/demo
rm -rf "$work"
mkdir -p "$work"

show() {
  printf '\n$ poise'
  printf ' %s' "$@"
  printf '\n'
  "$poise" "$@"
}

show synth --like demo --values --out "$work/interactions.csv"
show prepare "$work/interactions.csv" --out "$work/demo"
show train "$work/demo" --model full-rank --zero-diagonal --lambda 50 --out "$work/ease.model"
show evaluate "$work/ease.model" "$work/demo"
show recommend "$work/ease.model" --items 1,2,3 -k 3 --explain
show similar "$work/ease.model" --item 1 -k 3
printf '\n# Does weighting help on these data?\n'
show study "$work/demo" --ranks 10,50 --out "$work/study"
printf '\nThe page to read: %s\n' "$work/study/report.html"
printf '\nTo explore models in a browser: %s serve --demo\n' "$poise"
