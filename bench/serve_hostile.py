#!/usr/bin/python3
"""How long honest clients wait while hostile ones are at work, and how much memory that takes: runs tests/cli/test_serve_hostile.py against a
program, `bench/serve_hostile.py build/release/bin/poise`, and prints the largest waits. Targets: 100 ms, 32 MB. Fails where a target is missed."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SUITE = pathlib.Path(__file__).resolve().parents[1] / "tests" / "cli" / "test_serve_hostile.py"
LONGEST_WAIT = 0.1  # seconds
MOST_GROWTH = 32e6  # bytes


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        environment = {**os.environ, "POISE": program, "POISE_TEST_DATA": folder, "POISE_HOSTILE_REPORT": report, "OMP_WAIT_POLICY": "passive"}
        subprocess.run(["/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", str(SUITE)], env=environment, check=True)
        with open(report) as file:
            cases = json.load(file)
    by_wait = sorted(cases.items(), key=lambda case: -case[1]["wait"])
    print(f"{sum(case['requests'] for case in cases.values())} honest requests beside {len(cases)} hostile cases; the longest waits:")
    for name, case in by_wait[:5]:
        print(f"  {1e3 * case['wait']:7.1f} ms  {name}")
    wait, growth = by_wait[0][1]["wait"], max(case["growth"] for case in cases.values())
    print(f"longest wait {1e3 * wait:.1f} ms (target {1e3 * LONGEST_WAIT:.0f}), most growth of memory {growth / 1e6:.1f} MB (target {MOST_GROWTH / 1e6:.0f})")
    return 0 if wait <= LONGEST_WAIT and growth < MOST_GROWTH else 1


if __name__ == "__main__":
    sys.exit(main())
