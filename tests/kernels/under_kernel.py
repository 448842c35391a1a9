#!/usr/bin/python3
"""under_kernel.py CORE POISE_TESTS POISE: results do not depend on the number of threads with OpenBLAS' kernels for CORE.

Runs the tests that compare bytes over thread counts, then trains one model of every kind on 1, 2 and 3 threads and compares
the files. Exits with 77, which ctest shows as skipped, where the processor cannot run the kernels or OpenBLAS lacks them.
Kernels differ from each other in the last bits; each has to agree with itself."""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

NEEDS = {
    "Prescott": {"pni"},
    "Sandybridge": {"avx"},
    "Haswell": {"avx2", "fma"},
    "Zen": {"avx2", "fma"},
    "SkylakeX": {"avx512f", "avx512bw", "avx512dq", "avx512vl"},
}
# What calls BLAS or LAPACK. An inverse of large blocks takes as long as all of the others.
TESTS = ["Backends/InvertSpd.*/cpu3", "Backends/Gemm.*/cpu3", "Backends/*Factor*.*/cpu3", "Backends/*Row*.*/cpu3",
         "SolveRowsOnHost.*Threads*", "*Fit*.*Thread*", "*SpectrumRoute.*Threads*", "-*WideBlocks*:*NotPositive*"]
FULL_RANK = ["--model", "full-rank", "--lambda", "20"]
AWMF = ["--model", "awmf", "--rank", "24", "--lambda", "5", "--alpha", "3", "--rounds", "6"]
MODELS = {
    "full rank": FULL_RANK,
    "full rank, nearly singular": ["--model", "full-rank", "--lambda", "1e-4"],
    "full rank, zero diagonal": [*FULL_RANK, "--zero-diagonal", "--dropout", "0.3"],
    "full rank, weighted": [*FULL_RANK, "--alpha", "2"],
    "full rank, weighted, zero diagonal": [*FULL_RANK, "--alpha", "10", "--zero-diagonal"],
    "dropout, closed form": ["--model", "awmf", "--rank", "24", "--lambda", "5", "--regularizer", "dropout"],
    "dropout": [*AWMF, "--regularizer", "dropout"],
    "weight decay": [*AWMF, "--regularizer", "weight-decay"],
    "data-weighted decay": [*AWMF, "--regularizer", "data-weight-decay"],
    "matrix factorization": ["--model", "wmf", "--rank", "24", "--lambda", "0.1", "--alpha", "5", "--rounds", "6"],
}


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def flags():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            return set(line.split(":")[1].split())
    return set()


def main():
    core, tests, poise = sys.argv[1:]
    missing = NEEDS[core] - flags()
    if missing:
        skip(f"this processor has no {' '.join(sorted(missing))}, which the kernels for {core} need")
    os.environ["OPENBLAS_CORETYPE"] = core

    def run(*arguments):
        process = subprocess.run([poise, *map(str, arguments)], capture_output=True, text=True)
        if process.returncode != 0:
            sys.exit(f"poise {' '.join(map(str, arguments))}: exit {process.returncode}: {process.stderr}")
        return process.stdout

    if json.loads(run("doctor", "--json"))["kernels"]["core"] != core:
        skip(f"this OpenBLAS has no kernels for {core}")
    if subprocess.run([tests, "--gtest_filter=" + ":".join(TESTS).replace(":-", "-"), "--gtest_brief=1"]).returncode != 0:
        sys.exit(f"tests of thread counts fail with the kernels for {core}")

    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run("synth", "--like", "demo", "--out", folder / "data")
        for kind, options in MODELS.items():
            digests = []
            for threads in (1, 2, 3):
                run("train", folder / "data", *options, "--threads", threads, "--out", folder / "model", "--quiet", "--device", "cpu")
                digests.append(hashlib.sha256((folder / "model").read_bytes()).hexdigest())
            if len(set(digests)) > 1:
                failures.append(kind)
    if failures:
        sys.exit(f"with the kernels for {core} these models depend on the number of threads: {'; '.join(failures)}")
    print(f"{len(MODELS)} kinds of models: the same bytes on 1, 2 and 3 threads with the kernels for {core}")


main()
