"""How much of a machine several processes use: P processes of one thread each against one process of P threads.

    python3 bench/mpi_efficiency.py PROGRAM WORK [--processes 2] [--like ml-20m] [--scale 1] [--parts inverse,columns,wmf,study]

On an idle machine with at least that many cores. Synthesizes the shape into WORK (kept there for the next time) and prints a line for each part:
seconds of one process with P threads, seconds of P processes with one thread, and their ratio, the efficiency (the slowest process counts):

    inverse   G and A^-1 of a dense model (ScaLAPACK against the sweep)
    columns   the weighted columns of a dense model, conjugate gradients and certificate, within --memory-limit: at the ML-20M shape 6 GB do not hold
              T = X A^-1, so that one process takes the route that several always take
    wmf       a round of weighted matrix factorization
    study     the points of a search

and then the peak of memory of each process for P = 1, 2, 4 beside 8 n^2 / P + 2048 n + the memory before training, in bytes."""
import argparse
import json
import os
import pathlib
import subprocess
import time

SETTINGS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "OMPI_MCA_hwloc_base_binding_policy": "none"}


def measured(program, arguments, processes, threads):
    """Wall seconds and the JSON of a command."""
    launcher = ["mpirun", "-n", str(processes)] if processes > 1 else []
    command = [*launcher, program, *map(str, arguments), "--threads", str(threads), "--quiet", "--json"]
    begin = time.monotonic()
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **SETTINGS}).stdout
    return time.monotonic() - begin, json.loads(output)


def phases(trained, names):
    return sum(trained["seconds"].get(name, 0) for name in names)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--like", default="ml-20m")
    parser.add_argument("--scale", default="1")
    parser.add_argument("--memory-limit", default="6G")
    parser.add_argument("--parts", default="inverse,columns,wmf,study,memory")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    data = options.work / f"{options.like}-{options.scale}"
    if not data.exists():
        subprocess.run([options.program, "synth", "--like", options.like, "--scale", options.scale, "--quiet", "--out", data], check=True,
                       stdout=subprocess.DEVNULL)
    model = options.work / "mpi_efficiency.model"
    count = options.processes
    parts = options.parts.split(",")

    def line(name, alone, together):
        print(f"{name:<10} {alone:>9.2f} s {together:>9.2f} s   efficiency {alone / together:.2f}", flush=True)

    def train(processes, threads, *flags):
        wall, trained = measured(options.program, ["train", data, *flags, "--out", model], processes, threads)
        model.unlink()
        return wall, trained

    print(f"{'':<10} {'1 x ' + str(count):>9}   {str(count) + ' x 1':>9}")
    if "inverse" in parts:
        of = [train(*shape, "--model", "ease", "--lambda", "500")[1] for shape in ((1, count), (count, 1))]
        line("inverse", *(phases(each, ("gram", "inverse", "inverse rows")) for each in of))
        line("whole", *(each["seconds"]["total"] for each in of))
    if "columns" in parts:
        names = ("woodbury T", "woodbury", "iterations", "others' iterations", "columns", "objective", "certificate", "correct")
        of = [train(*shape, "--model", "full-rank", "--lambda", "500", "--alpha", "2", "--memory-limit", options.memory_limit)[1] for shape in ((1, count), (count, 1))]
        line("columns", *(phases(each, names) for each in of))
        line("whole", *(each["seconds"]["total"] for each in of))
    if "wmf" in parts:
        of = [train(*shape, "--model", "wmf", "--rank", "64", "--lambda", "5", "--alpha", "5", "--rounds", "3") for shape in ((1, count), (count, 1))]
        line("wmf", *(each["seconds"]["train"] for _, each in of))
    if "study" in parts:
        walls = []
        for shape in ((1, count), (count, 1)):
            journal = options.work / f"journal-{shape[0]}"
            journal.unlink(missing_ok=True)
            walls.append(measured(options.program, ["search", data, "--model", "awmf", "--regularizer", "dropout", "--rank", "32", "--lambda",
                                                    "20,50,100,200", "--grid", "paper", "--alpha", "1,2,5", "--no-expand", "--journal", journal],
                                  *shape)[0])
        line("study", *walls)
    if "memory" in parts:
        n = json.loads(subprocess.run([options.program, "info", data, "--json"], check=True, stdout=subprocess.PIPE).stdout)["items"]
        for processes in (1, 2, 4):
            trained = train(processes, 1, "--model", "full-rank", "--lambda", "500", "--alpha", "2", "--memory-limit", options.memory_limit)[1]
            peak = max(trained.get("peak_bytes_of_ranks", [trained["peak_bytes"]]))
            model_bytes = 8 * n * n / processes + 2048 * n + trained["bytes_before_training"]
            print(f"memory     P = {processes}: {peak * 1e-9:.3f} GB a process, model {model_bytes * 1e-9:.3f} GB, ratio {peak / model_bytes:.2f}",
                  flush=True)


if __name__ == "__main__":
    main()
