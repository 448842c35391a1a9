"""How much of a machine several processes use: P processes of one thread each against one process of P threads.

    python3 bench/mpi_efficiency.py PROGRAM WORK [--processes 2] [--minutes 6] [--parts wmf,study,columns,inverse,memory]

On an idle machine with at least that many cores. Synthesizes the ML-20M shape into WORK (kept there for the next time) and prints a line for each
part: seconds of one process with P threads, seconds of P processes with one thread, and their ratio, the efficiency (the slowest process counts),
beside its target:

    wmf       a round of weighted matrix factorization, the mean after the first two               >= 0.80
    study     the points of a search                                                               >= 0.90
    columns   the weighted columns of a dense model, conjugate gradients and certificate, with     >= 0.80
              item weights, for which one process too takes the route that several always take
              (no Woodbury); at --columns-scale of the users, which has fewer items
    inverse   G and A^-1 of a dense model                                                           >= 0.80

and then the peak of memory of each process for P = 1, 2, 4, in which what a host holds once (X and its transpose) counts for all that share it,
beside 8 n^2 / P + 2048 n + the memory before training (the program and this share of X), in bytes (<= 1.15): for the dense model without weights at
the whole shape (P = 1 and 2, of the part `inverse`), and without and with weights at --memory-scale, where blocks of columns, 256 at the least, are
a larger part than at the whole shape. What is expected to end after --minutes is left out, and said to be."""
import argparse
import csv
import json
import os
import pathlib
import subprocess
import time

SETTINGS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "OMPI_MCA_hwloc_base_binding_policy": "none"}
TARGETS = {"wmf": 0.8, "study": 0.9, "columns": 0.8, "inverse": 0.8}
MOST_MEMORY = 1.15
COLUMNS = ("woodbury T", "woodbury", "iterations", "others' iterations", "columns", "objective", "certificate", "correct")
INVERSE = ("gram", "inverse", "inverse rows")


def beside(met, target):
    return f"{target}, {'met' if met else 'missed'}"


def phases(trained, names):
    return sum(trained["seconds"].get(name, 0) for name in names)


class Bench:
    def __init__(self, options):
        self.options = options
        self.end = time.monotonic() + 60 * options.minutes
        self.model = options.work / "mpi_efficiency.model"
        self.n = {}

    def data(self, scale):
        folder = self.options.work / f"ml-20m-{scale}"
        if not folder.exists():
            subprocess.run([self.options.program, "synth", "--like", "ml-20m", "--scale", str(scale), "--quiet", "--out", folder], check=True,
                           stdout=subprocess.DEVNULL)
        info = subprocess.run([self.options.program, "info", folder, "--json"], check=True, stdout=subprocess.PIPE).stdout
        self.n[scale] = json.loads(info)["items"]
        return folder

    def measured(self, shape, *arguments):
        """Wall seconds and the JSON of a command in so many processes of so many threads."""
        processes, threads = shape
        launcher = ["mpirun", "-n", str(processes)] if processes > 1 else []
        command = [*launcher, self.options.program, *map(str, arguments), "--threads", str(threads), "--quiet", "--json"]
        begin = time.monotonic()
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **SETTINGS}).stdout
        return time.monotonic() - begin, json.loads(output)

    def train(self, shape, scale, *flags):
        trained = self.measured(shape, "train", self.data(scale), *flags, "--out", self.model)[1]
        self.model.unlink()
        return trained

    def rounds(self, shape, scale, *flags):
        """The same of a model in rounds, with `round`: the mean seconds of one, without the first two, in which work is still being balanced."""
        trace = self.options.work / "trace.csv"
        trained = self.train(shape, scale, *flags, "--trace", trace)
        with open(trace, newline="") as lines:
            seconds = [float(row["seconds"]) for row in csv.DictReader(lines)]
        trace.unlink()
        return {"round": (seconds[-1] - seconds[2]) / (len(seconds) - 3), **trained}

    def fits(self, what, seconds):
        left = self.end - time.monotonic()
        if seconds > left:
            print(f"{what}: left out, as it takes some {seconds:.0f} s and {max(0, left):.0f} s are left", flush=True)
        return seconds <= left

    def both(self, name, of, figures):
        """The part alone and together; the second is expected to take 1.5 times as long. `figures`: a name and seconds of a result, each."""
        count = self.options.processes
        begin = time.monotonic()
        alone = of((1, count))
        if not self.fits(name, 1.5 * (time.monotonic() - begin)):
            return [alone]
        together = of((count, 1))
        for title, seconds in figures:
            a, b = seconds(alone), seconds(together)
            target = TARGETS.get(title)
            said = "" if target is None else f"   target >= {beside(a / b >= target, f'{target:.2f}')}"
            print(f"{title:<10} {a:>9.2f} s {b:>9.2f} s   efficiency {a / b:.2f}{said}", flush=True)
        return [alone, together]

    def memory(self, trained, processes, scale, kind):
        n = self.n[scale]
        peak = max(trained.get("peak_bytes_of_ranks", [trained["peak_bytes"]]))
        model = 8 * n * n / processes + 2048 * n + trained["bytes_before_training"]
        print(f"memory     P = {processes}, {n} items, {kind}: {peak * 1e-9:.3f} GB a process, model {model * 1e-9:.3f} GB, "
              f"ratio {peak / model:.2f}   target <= {beside(peak <= MOST_MEMORY * model, MOST_MEMORY)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--columns-scale", type=float, default=0.004)
    parser.add_argument("--memory-scale", type=float, default=0.02)
    parser.add_argument("--minutes", type=float, default=6)
    parser.add_argument("--parts", default="wmf,study,columns,inverse,memory")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    bench = Bench(options)
    for scale in (options.scale, options.columns_scale, options.memory_scale):
        bench.data(scale)
    bench.end = time.monotonic() + 60 * options.minutes  # the data are made once
    count = options.processes
    parts = options.parts.split(",")
    print(f"{'':<10} {'1 x ' + str(count):>9}   {str(count) + ' x 1':>9}")

    if "wmf" in parts:
        # The eigenpairs that rounds begin from are made and stored by the first run.
        wmf = ["--model", "wmf", "--rank", "64", "--lambda", "5", "--alpha", "5", "--start", "random", "--rounds"]
        bench.both("wmf", lambda shape: bench.rounds(shape, options.scale, *wmf, "8"),
                   [("wmf", lambda each: each["round"]), ("whole", lambda each: each["seconds"]["train"])])
    if "study" in parts:
        def search(shape):
            journal = options.work / "journal"
            journal.unlink(missing_ok=True)
            wall, found = bench.measured(shape, "search", bench.data(options.columns_scale), "--model", "wmf", "--rank", "32", "--lambda", "1,5,20,50",
                                         "--grid", "paper", "--alpha", "1.5,5,10", "--no-expand", "--memory-limit", "4G", "--journal", journal)
            return {"wall": wall, **found}
        bench.both("study", search, [("study", lambda each: each["wall"])])
    if "columns" in parts:
        flags = ["--model", "full-rank", "--lambda", "500", "--weighting", "item-oriented", "--alpha", "2"]
        bench.both("columns", lambda shape: bench.train(shape, options.columns_scale, *flags),
                   [("columns", lambda each: phases(each, COLUMNS)), ("whole", lambda each: each["seconds"]["total"])])
    if "inverse" in parts:
        flags = ["--model", "ease", "--lambda", "500"]
        found = bench.both("inverse", lambda shape: bench.train(shape, options.scale, *flags),
                           [("inverse", lambda each: phases(each, INVERSE)), ("whole", lambda each: each["seconds"]["total"])])
        for trained, processes in zip(found, (1, count)):
            bench.memory(trained, processes, options.scale, "unweighted")
    if "memory" in parts:
        shapes = [(1, 2), (2, 1), (4, 1)]
        for kind, weights in (("unweighted", []), ("weighted", ["--alpha", "1.01"])):
            seconds = 0
            for shape in shapes:
                if not bench.fits(f"memory of {shape[0]}, {kind}", 1.5 * seconds):
                    continue
                trained = bench.train(shape, options.memory_scale, "--model", "ease", "--lambda", "500", *weights)
                seconds = trained["seconds"]["total"]
                bench.memory(trained, shape[0], options.memory_scale, kind)


if __name__ == "__main__":
    main()
