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
show train "$work/data" --model full-rank --zero-diagonal --lambda 50 --out "$work/ease.model"
show evaluate "$work/ease.model" "$work/data"
show train "$work/data" --model full-rank --lambda 50 --alpha 2 --out "$work/weighted.model"
show evaluate "$work/weighted.model" "$work/data"
show train "$work/data" --model awmf --regularizer dropout --rank 32 --lambda 50 --alpha 2 --out "$work/awmf.model"
show evaluate "$work/awmf.model" "$work/data"
show train "$work/data" --model wmf --rank 32 --lambda 5 --alpha 5 --out "$work/wmf.model"
show evaluate "$work/wmf.model" "$work/data"
show recommend "$work/ease.model" --items 1,2,3 -k 3 --explain
show similar "$work/ease.model" --item 1 -k 3
