#!/bin/sh
# Installs the build, then builds and runs a small outside project against it: install_test.sh BUILD SOURCE.
set -eu
build=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
"$work/prefix/bin/poise" --version
test -s "$work/prefix/share/bash-completion/completions/poise"
cmake -S "$source/tests/install/outside" -B "$work/outside" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DEXAMPLE="$source/examples/cpp" -DTUTORIAL="$source/docs/tutorial-cpp.md" >/dev/null
cmake --build "$work/outside"
"$work/outside/train_weighted" "$work/m.model" | tee "$work/printed"
grep -q "^ndcg@100 0.4" "$work/printed"
"$work/prefix/bin/poise" info "$work/m.model" >/dev/null
"$work/prefix/bin/poise" synth --like demo --values --out "$work/ratings.csv" --quiet
(cd "$work" && ./outside/tutorial) | grep -q "^tutorial 3 figures, 3 of the sequels"
# Private headers are not installed.
test ! -e "$work/prefix/include/poise/backend"
