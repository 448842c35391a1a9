#!/usr/bin/env python3
"""What an update takes beside a training, at the shape of MovieLens 20M:

    bench/update.py PROGRAM OUTDIR [MODEL FLAGS...]

synthesizes the data into OUTDIR (kept for the next time), trains with --keep-inverse (kept too), brings in 200 new users three times, and prints the processor time (user and system) of
both commands, of the update the median, their ratio, and the phases. Processor time, because it does not depend on what else the machine does. The bound is what no update can do without: the identity's
product of 2 n^2 r operations into memory that the system hands out (and clears) for it, by NumPy; the median of three, as clearing takes a virtual machine a fifth or all of its time."""
import json
import os
import pathlib
import random
import resource
import statistics
import subprocess
import sys
import time

import numpy as np

USERS = 200
ITEMS = 73  # of a new user: the mean of the data


def run(program, *arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, *map(str, arguments), "--json", "--quiet"], check=True, stdout=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return json.loads(done.stdout), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def bound(items, rank):
    left, right = np.ones((items, rank), np.float32), np.ones((rank, items), np.float32)

    def product():
        before = time.process_time()
        np.matmul(left, right)
        return time.process_time() - before

    return statistics.median(product() for _ in range(3))


def main():
    program, folder, *flags = sys.argv[1:]
    flags = flags or ["--model", "ease", "--lambda", "500"]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    data, model, log = folder / "data", folder / "-".join(flags).replace("--", ""), folder / "new.csv"
    if not (data / "data.poise").exists():
        subprocess.run([program, "synth", "--like", "ml-20m", "--out", data, "--quiet"], check=True)
    figures = folder / f"{model.name}.json"
    if not figures.exists():
        report, seconds = run(program, "train", data, *flags, "--keep-inverse", "--out", model)
        figures.write_text(json.dumps({"processor": seconds, "report": report}))
    trained = json.loads(figures.read_text())
    draw = random.Random(1)
    items = json.loads(subprocess.run([program, "info", data, "--json"], check=True, stdout=subprocess.PIPE).stdout)["items"]
    rows = [f"new{user},{1 + min(int(draw.expovariate(8 / items)), items - 1)}" for user in range(USERS) for _ in range(ITEMS)]
    log.write_text("user,item\n" + "\n".join(rows) + "\n")
    runs = []
    for _ in range(3):
        runs.append(run(program, "update", model, data, "--log", log, "--out", folder / "updated", "--out-data", folder / "merged"))
        for name in ("updated", "updated.inverse"):
            os.remove(folder / name)
    updated, seconds = sorted(runs, key=lambda each: each[1])[1]
    assert updated["converged"] and updated["update"]["refitted"] is None, updated["update"]
    print("updates:", ", ".join(f"{each:.1f} s" for _, each in runs))
    print(f"training {trained['processor']:.1f} s of processor time, update of {updated['update']['rank']} rows {seconds:.1f} s: "
          f"{100 * seconds / trained['processor']:.1f} %")
    least = bound(items, updated["update"]["rank"])
    print(f"the identity's product into fresh memory: {least:.1f} s, {100 * least / trained['processor']:.1f} %; the update takes {seconds / least:.1f} times that")
    print("training:", {key: round(value, 2) for key, value in trained["report"]["seconds"].items()})
    print("update:  ", {key: round(value, 2) for key, value in updated["seconds"].items()})


if __name__ == "__main__":
    main()
