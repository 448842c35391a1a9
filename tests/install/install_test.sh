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
cmake -S "$source/tests/install/outside" -B "$work/outside" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build "$work/outside"
"$work/outside/outside"
