#!/bin/sh
# sanitize.sh TESTS TOOL: compute-sanitizer's TOOL (memcheck, racecheck, ...) over every test of the program TESTS that uses a
# GPU, each in a process of its own, several at a time. Watches our kernels, not the libraries', and of each test the first
# launches (POISE_LAUNCHES, 200; 0 for all): some start thousands of the same kernels. Says which tests failed.
# racecheck leaves out tests/backend: it cannot run cuBLAS's products of half precision ("failed to handle a hardware exception").
set -eu
tests=$(realpath "$1")
tool=$2
cd "$(dirname "$0")/.."
sources="solver/*_test.cpp model/*_test.cpp search/*_test.cpp"
[ "$tool" = racecheck ] || sources="$sources backend/*_test.cpp"
suites=$(cat $sources | sed -nE 's/^TEST(_F|_P)?\(([A-Za-z0-9]+).*/\2/p' | sort -u)
filter='Backends/*cuda*'
for suite in $suites; do filter="$filter:$suite.*:*/$suite.*"; done
export POISE_TEST_DEVICE=cuda tests tool
results=$(mktemp)
"$tests" --gtest_filter="$filter" --gtest_list_tests | awk '/^[A-Z].*\.$/ {suite = $1} /^  / {print suite $1}' |
  xargs -P "$(nproc)" -I{} sh -c '
    log=$(mktemp)
    compute-sanitizer --tool "$tool" --error-exitcode 9 --kernel-name kns=poise --launch-count "${POISE_LAUNCHES:-200}" \
      "$tests" --gtest_brief=1 --gtest_filter="$1" > "$log" 2>&1 && result=clean || result=FAILED
    grep -q "before first instrumented API call" "$log" && grep -q "PASSED" "$log" && result=unused
    [ $result = FAILED ] && cat "$log"
    rm "$log"
    echo "$result $1"' sh {} > "$results"
grep -v '^clean\|^unused' "$results" || true
echo "$tool: $(grep -c '^clean' "$results") clean, $(grep -c '^unused' "$results" || true) without a GPU, $(grep -c '^FAILED' "$results" || true) failed"
! grep -q '^FAILED' "$results"
