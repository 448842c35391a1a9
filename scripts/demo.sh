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
show prepare "$work/interactions.csv" --out "$work/data"
show train "$work/data" --model popularity --out "$work/popularity.model"
show evaluate "$work/popularity.model" "$work/data"
show recommend "$work/popularity.model" --items 1,2,3 -k 5
