#!/usr/bin/env python3
"""Runs the benchmarks that have a target and fails if one is missed: check.py FOLDER_OF_THE_PROGRAMS."""
import json
import pathlib
import subprocess
import sys
import tempfile


def run(program, pattern):
    """The counters of every benchmark that matches, by name."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([program, f"--benchmark_filter={pattern}", f"--benchmark_out={out.name}",
                        "--benchmark_out_format=json"], check=True)
        return {row["name"]: row for row in json.load(open(out.name))["benchmarks"]}


def main():
    folder = pathlib.Path(sys.argv[1])
    targets = json.loads((pathlib.Path(__file__).parent / "targets.json").read_text())
    pattern = "|".join(sorted({f"^{target['benchmark']}(/|$)" for target in targets}))
    rows = run(folder / "poise_bench", pattern)
    missed = 0
    print(f"\n{'benchmark':<24}{'counter':<28}{'measured':>12}{'target':>14}")
    for target in targets:
        row = next((r for name, r in rows.items() if name.split("/")[0] == target["benchmark"]), None)
        if row is None or target["counter"] not in row:
            sys.exit(f"bench-check: no figure for {target['benchmark']} {target['counter']}")
        value = row[target["counter"]]
        low, high = target.get("min", float("-inf")), target.get("max", float("inf"))
        met = low <= value <= high
        missed += not met
        bound = f">= {low:g}" if "min" in target else f"<= {high:g}"
        print(f"{target['benchmark']:<24}{target['counter']:<28}{value:>12.4g}{bound:>14}{'' if met else '  MISSED'}")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
