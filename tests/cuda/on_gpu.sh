#!/bin/sh
# on_gpu.sh POISE COMMAND...: runs the command where that program has a GPU; elsewhere ends with 77, which ctest shows as skipped.
set -eu
poise=$1
shift
"$poise" doctor --json | grep -q compute_capability || { echo "no GPU"; exit 77; }
exec "$@"
