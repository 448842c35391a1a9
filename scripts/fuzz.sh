#!/bin/sh
# Runs every fuzz target in BUILD for SECONDS each; inputs that reached new code are kept in BUILD/corpus.
set -eu
build=$1
seconds=$2
for target in "$build"/bin/fuzz_*; do
  [ -x "$target" ] || continue
  name=$(basename "$target")
  corpus=$build/corpus/$name
  mkdir -p "$corpus"
  echo "== $name, $seconds s"
  "$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="$build/" "$corpus"
done
